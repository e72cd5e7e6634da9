"""Boundaries that a small change of the code would move: draws, the top of p-values, runs that touch, long numbers."""

import json
import random

import numpy as np
import pytest

import gradely
from gradely.cli.main import run
from gradely.comparison.tests import adjust
from gradely.errors import DataError


def rankings(*values):
    """Return a run whose reciprocal ranks, query by query, are 1 over these ranks; (1, 2) is a tie of both."""
    found = {}
    for i, rank in enumerate(values):
        if isinstance(rank, tuple):
            found[f"q{i}"] = {"rel": 1.0, rank[2] if len(rank) > 2 else "a": 1.0}
        else:
            found[f"q{i}"] = {**{f"x{j}": 9.0 - j for j in range(rank - 1)}, "rel": 1.0}
    return found


def judged(queries):
    return {f"q{i}": {"rel": 1} for i in range(queries)}


def test_a_draw_is_neither_won_nor_lost():
    pair = gradely.compare(judged(6), {"a": rankings(1, 1, 1, 2, 3, 1), "b": rankings(2, 1, 1, 2, 1, 4)}, ["RR"]).pairs[
        0
    ]
    wins, losses = (pair.wins, pair.losses) if pair.first == "a" else (pair.losses, pair.wins)
    assert (wins, losses) == (2, 1)
    assert pair.ties == 3


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_a_corrected_p_value_is_at_most_1_and_at_least_what_it_was(correction):
    for raw in ([0.9, 0.5, 0.7], [1.0, 1.0], [0.3, 0.4, 0.34], [0.0, 1.0, 0.02, 0.5], [1.0]):
        after = adjust(raw, correction)
        assert (after <= 1).all() and (after >= raw).all()
    assert adjust([0.6, 0.6], correction).max() == (1 if correction != "bh" else 0.6)


@pytest.mark.parametrize("alpha", [0, 1, -0.05, 1.5, float("nan")])
def test_a_level_of_significance_lies_between_0_and_1(alpha):
    with pytest.raises(DataError, match="alpha"):
        gradely.compare(judged(2), {"a": rankings(1, 2), "b": rankings(2, 1)}, ["RR"], alpha=alpha)


TIE_WON, TIE_LOST = (1, 2, "a"), (1, 2, "z")
"""tied with a document that stands below it, or above it, where ties go by name"""


@pytest.mark.parametrize(
    ("first", "second", "swaps"),
    [
        ((TIE_WON, TIE_WON), (1, 3), [("yes", "no")]),  # 0.75, from 0.5 to 1; and 2/3
        ((TIE_LOST, TIE_LOST), (1, 3), [("yes", "yes")]),
        ((TIE_WON,), (1,), []),  # they touch: 0.5 … 1 and 1
        ((TIE_WON,), (2,), []),  # they touch: 0.5 … 1 and 0.5
        ((TIE_WON,), (3,), []),  # always above
        ((1,), (1,), []),  # equal, without ties
        ((TIE_WON,), (TIE_WON,), [("no", "no")]),  # the same range: one at its best, the other at its worst
        ((TIE_WON, 1), (TIE_LOST, 2), []),  # they touch: 0.75 … 1 and 0.5 … 0.75
    ],
)
def test_when_two_runs_change_places(first, second, swaps):
    found = gradely.tie_sensitivity(judged(len(first)), {"a": rankings(*first), "b": rankings(*second)}, ["RR"])
    assert [tuple(row[3:]) for row in found.swaps_table().rows] == swaps


def read_back(tmp_path, texts):
    """Return the numbers that the fast reader makes of texts."""
    path = tmp_path / "qrels"
    path.write_text("".join(f"1 0 d{i} {text}\n" for i, text in enumerate(texts)))
    return np.asarray(gradely.read_qrels(path).grade)


def halfway(count):
    """Return numbers of 17 to 19 digits that lie next to the middle between two doubles."""
    draw, found = random.Random(1), []
    while len(found) < count:
        value, decimals = draw.randrange(10**16, 10**19), draw.randrange(0, 19)
        quotient = np.longdouble(value) / np.longdouble(10) ** decimals
        dropped = int(np.array([quotient]).view(np.uint64)[0]) & 0x7FF if np.finfo(np.longdouble).nmant == 63 else 0x400
        if 0x3FC <= dropped <= 0x404:
            digits = str(value)
            found.append(
                f"{digits[: len(digits) - decimals] or '0'}.{digits[len(digits) - decimals :]}" if decimals else digits
            )
    return found


@pytest.mark.parametrize(
    "texts",
    [
        [str(2**53 + i) for i in range(-3, 4)],
        [str(2**53 - i) for i in range(1, 4)],
        ["9999999999999999", "9007199254740993"],
        ["9007199254740993", "1"],
        [str(2**54 + i) for i in range(-3, 4)],
        [str(2**63 + i) for i in range(-3, 4)] + [str(2**64 + i) for i in range(-3, 4)],
        ["999999999999999", "123456789012345", "000000000000001"],
        ["99999999.9999999", "12345678.1234567", "00000000.0000001"],
        ["9999999.99999999", "1234567.12345678"],
        ["0." + "0" * 21 + "1", "0." + "0" * 20 + "12", "1." + "0" * 22],
        ["0." + "1" * 22, "0." + "1" * 21, "." + "9" * 23, "." + "9" * 22],
        ["1" * 19, "9" * 19, "1" * 20, "9" * 24, "9" * 25],
        ["-" + "1" * 19, "-0", "-0.0", "0", "-9007199254740993", "-.5", "-5."],
        ["0.1", "0.2", "0.3", "1.005", "2.675", "1e22", "1e23", "8.5e-5"],
        ["12345678", "1234567", "123456789", "00000000"],
    ],
    ids=lambda texts: texts[0],
)
def test_numbers_at_the_boundaries_of_exact_arithmetic(tmp_path, texts):
    want = np.array([float(text) for text in texts])
    assert read_back(tmp_path, texts).tobytes() == want.tobytes()
    for text in texts:
        assert read_back(tmp_path, [text, text]).tobytes() == np.array([float(text)] * 2).tobytes()


def test_numbers_next_to_the_middle_between_two_doubles(tmp_path):
    texts = halfway(500)
    assert read_back(tmp_path, texts).tobytes() == np.array([float(text) for text in texts]).tobytes()


def test_a_measure_with_braces_in_its_name_has_notes():
    scores = gradely.evaluate({"1": {"a": 1}, "2": {"a": 0}}, {"1": {"a": 1}, "2": {"a": 1}}, ["eGAP(g={1: 1})"])
    assert any("eGAP(g={1: 1})" in str(note) for note in scores.notes)


@pytest.mark.parametrize(("runs", "more"), [(2, None), (20, None), (21, 1), (40, 20)])
def test_many_notes_are_summed_up(tmp_path, monkeypatch, capfd, runs, more):
    """Each run has a note of its own: it lacks a query that others have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(judged(runs)))
    names = [f"r{i:04d}.json" for i in range(runs)]
    for i, name in enumerate(names):
        found = {query: docs for query, docs in rankings(*[1] * runs).items() if query != f"q{i}"}
        (tmp_path / name).write_text(json.dumps(found))
    assert run(["evaluate", "qrels.json", *names, "-m", "RR", "--format", "csv"]) == 0
    notes = capfd.readouterr().err.splitlines()
    assert len(notes) == min(runs, 20) + (more is not None)
    assert [line.split(":")[0] for line in notes[:20]] == [f"r{i:04d}" for i in range(min(runs, 20))]
    if more:
        assert notes[-1].startswith(f"… and {more:,} more note")
