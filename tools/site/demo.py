"""The demo's runs on the site: which run is better for which users, and a sample report."""

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
    """Return a context with the demo collection: its qrels, and its runs by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in collection().items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield str(Path(folder) / "qrels.txt"), {name: str(Path(folder) / f"{name}.run") for name in RUNS}


def corners() -> str:
    """Return the eGAP of each run for users who all want one level, as JSON; eGAP is linear in the shares of users."""
    shares = [[float(level == at) for level in LEVELS] for at in LEVELS]
    with files() as (qrels, runs):
        found = gradely.evaluate_runs(qrels, runs, [gradely.eGAP(g=g) for g in shares])
        return json.dumps({"levels": LEVELS, "runs": {name: list(found[name].mean().values()) for name in runs}})


def put_figure(text: str) -> str:
    """Return a page with the numbers of its figure of users filled in."""
    return text.replace('data-figure="users"', f"data-figure=\"users\" data-users='{corners()}'")


def write_report(path: Path) -> None:
    """Write the sample report."""
    with files() as (qrels, runs):
        compared = gradely.compare(qrels, runs, list(MEASURES), test="tukey", details=True)
        path.write_text(compared.to_html(title="The demo's three runs"), encoding="utf-8")
