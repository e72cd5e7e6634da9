"""What the site shows of the demo's runs: for which users which run is better, and a sample report."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gradely
from gradely.data.demo import RUNS, collection

LEVELS = (1, 2, 3)
"""of the demo's labels"""
MEASURES = ("nDCG@10", "AP", "muAP")
"""of the sample report"""


@contextmanager
def files() -> Iterator[tuple[str, dict[str, str]]]:
    """Make the demo's collection for a while: its qrels, and its runs by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in collection().items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield str(Path(folder) / "qrels.txt"), {name: str(Path(folder) / f"{name}.run") for name in RUNS}


def corners() -> str:
    """Return eGAP of each run for users of one level alone, as JSON; it is linear in the shares of users."""
    shares = [[float(level == at) for level in LEVELS] for at in LEVELS]
    with files() as (qrels, runs):
        found = gradely.evaluate_runs(qrels, runs, [gradely.eGAP(g=g) for g in shares])
        return json.dumps({"levels": LEVELS, "runs": {name: list(found[name].mean().values()) for name in runs}})


def put_figure(text: str) -> str:
    """Return a page whose figure of users has its numbers."""
    return text.replace('data-figure="users"', f"data-figure=\"users\" data-users='{corners()}'")


def write_report(path: Path) -> None:
    """Write the sample report."""
    with files() as (qrels, runs):
        compared = gradely.compare(qrels, runs, list(MEASURES), test="tukey", details=True)
        path.write_text(compared.to_html(title="The demo's three runs"), encoding="utf-8")
