"""The error rates that documents print: drawn again with other numbers of trials, they are the same."""

import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks import error_rates

DOCS = Path(__file__).parents[2] / "docs"
TEXT = "\n\n".join(
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("inside/error-rates.md", "guides/estimate.md", "guides/gate.md", "guides/systems.md")
)


def printed(header):
    """Return the rows of the table of the document that begins with this header."""
    lines = TEXT[TEXT.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize(
    ("work", "trials", "names"),
    [
        (error_rates.type_one_errors, 400, 2),
        (error_rates.errors_of_few, 400, 2),
        (error_rates.family_errors, 60, 1),
        (error_rates.coverage, 400, 2),
        (error_rates.gate_verdicts, 400, 3),
        (error_rates.judge_coverage, 200, 3),
        (error_rates.simultaneous_coverage, 100, 1),
        (error_rates.seed_errors, 200, 2),
        (error_rates.uneven_seed_errors, 200, 2),
        (error_rates.collection_errors, 100, 2),
    ],
)
def test_the_document_prints_what_simulation_finds(work, trials, names, monkeypatch):
    monkeypatch.setattr(error_rates, "RESAMPLES", 399)
    table = work(trials)
    rows = printed("| " + " | ".join(table.header) + " |")
    assert [row[:names] for row in rows] == [[str(cell) for cell in row[:names]] for row in table.rows]
    for shown, found in zip(rows, table.rows, strict=True):
        expected = np.array(shown[names:], float)
        # fewer draws make another test, by up to .01; five standard errors of the rate are chance
        slack = 0.015 + 5 * np.sqrt(np.maximum(expected * (1 - expected), 0.005) / trials)
        assert np.all(np.abs(np.array(found[names:], float) - expected) <= slack), (shown, found)
