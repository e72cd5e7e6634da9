"""Results of experiments: the recorded verdicts, and the files and pages of a run."""

import csv
import json
from collections.abc import Iterable
from importlib import resources
from typing import NamedTuple

from gradely.report.page import chart, render
from gradely.tables import Cell, Table, to_delimited
from gradely_papers import PAPERS
from gradely_papers.charts import picture
from gradely_papers.experiment import CLAIM, THEOREM, Assessment, Experiment, Observation, Outcome
from gradely_papers.verdicts import DIFFERS, HOLDS, MARKS, tally

RECORD = "record.csv"
"""the verdicts of all claims on the public data sets: claims.csv of `gradely papers run all`, seed 0"""


class Found(NamedTuple):
    """The result of an experiment without its tables and figures, which are in its folder."""

    entries: list[Assessment]
    observations: list[Observation]
    skipped: dict[str, str]
    """the reason for each folder of data that could not be read"""
    failure: str | None = None
    """the reason if it could not be run"""

    @classmethod
    def of(cls, outcome: Outcome) -> "Found":
        """Take the claims, the observations and the skipped folders of an outcome."""
        return cls(list(outcome.claims), list(outcome.observations), dict(outcome.skipped))

    def to_bytes(self) -> bytes:
        """Return the bytes that another process can read."""
        return json.dumps(self).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Found":
        """Read the bytes from another process."""
        entries, observations, skipped, failure = json.loads(content)
        return cls([Assessment(*row) for row in entries], [Observation(*row) for row in observations], skipped, failure)


def to_csv(entries: Iterable[Assessment]) -> str:
    """Return the content of a file with these entries."""
    header = ["the paper" if field == "printed" else field for field in Assessment._fields]
    return to_delimited(Table(header, [list(entry) for entry in entries]), ",")


def read_entries(text: str) -> list[Assessment]:
    """Return the entries of a file."""
    return [Assessment(*row) for row in list(csv.reader(text.splitlines()))[1:]]


def read_record() -> list[Assessment]:
    """Return the recorded verdicts."""
    return read_entries((resources.files("gradely_papers") / RECORD).read_text("utf-8"))


def by_claim(entries: Iterable[Assessment]) -> list[list[Assessment]]:
    """Return the entries of each claim, including those of other experiments that test it."""
    groups: dict[tuple[str, str, str], list[Assessment]] = {}
    for entry in entries:
        groups.setdefault((entry.paper, entry.where, entry.claim), []).append(entry)
    return list(groups.values())


def of_kind(entries: Iterable[Assessment], kind: str) -> list[Assessment]:
    """Return the entries that are claims about data, or those that are theorems."""
    return [entry for entry in entries if entry.kind == kind]


def count(entries: list[Assessment]) -> Table:
    """Return the numbers of claims, verdicts and theorems: a row for each paper, and one for all if there are several.

    A theorem that holds says nothing about data, so theorems are counted separately.
    """
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    groups = {paper: [entry for entry in entries if entry.paper == paper] for paper in papers}
    groups |= {"all": entries} if len(papers) > 1 else {}
    rows = [[name, *_counts(group)] for name, group in groups.items()]
    return Table(["paper", "claims", *MARKS, "theorems", "confirmed"], rows)


def _counts(entries: list[Assessment]) -> list[Cell]:
    claims, theorems = of_kind(entries, CLAIM), by_claim(of_kind(entries, THEOREM))
    words = [{entry.verdict for entry in theorem} for theorem in theorems]
    confirmed = sum(HOLDS in given and DIFFERS not in given for given in words)
    verdicts = [sum(entry.verdict == word for entry in claims) for word in MARKS]
    return [len(by_claim(claims)), *verdicts, len(theorems), confirmed]


KEY = ", ".join(f"{mark} {word}" for word, mark in MARKS.items())


ROWS = 200
"""how many rows of a table the page shows; the CSV file has all"""


def files(experiment: Experiment, outcome: Outcome, seed: int) -> dict[str, bytes]:
    """Return the content of each file by name."""
    out = {
        f"{name}.{form}": picture(figure.chart, form)
        for name, figure in outcome.figures.items()
        for form in ("svg", "png")
    }
    out |= {f"{name}.csv": to_delimited(sheet.table, ",").encode() for name, sheet in outcome.sheets.items()}
    out["claims.csv"] = to_csv(outcome.claims).encode()
    if outcome.observations:
        table = Table(["question", "answer"], [list(observation) for observation in outcome.observations])
        out["observations.csv"] = to_delimited(table, ",").encode()
    out["index.html"] = page(experiment, outcome, seed).encode()
    return out


def page(experiment: Experiment, outcome: Outcome, seed: int) -> str:
    """Return the page of an experiment: claims, methods, verdicts, figures and tables."""
    return render(
        "paper.html",
        package="gradely_papers",
        title=experiment.shows,
        charts={name: chart(figure.chart, figure.title, still=True) for name, figure in outcome.figures.items()},
        experiment=experiment,
        paper=PAPERS[experiment.paper],
        outcome=outcome,
        groups=group_kinds(outcome.claims),
        marks=MARKS,
        tally=tally,
        seed=seed,
        sheets={name: (sheet.title, *_excerpt(sheet.table)) for name, sheet in outcome.sheets.items()},
    )


def group_kinds(entries: Iterable[Assessment]) -> dict[str, list[list[Assessment]]]:
    """Return the entries by kind and claim; kinds without entries are omitted."""
    kinds = {"The paper's claims": CLAIM, "Theorems and constructions": THEOREM}
    return {title: groups for title, kind in kinds.items() if (groups := by_claim(of_kind(entries, kind)))}


def overview(outcomes: list[tuple[Experiment, Found]], entries: list[Assessment]) -> str:
    """Return the page with links to all experiments and the counts of verdicts on each claim."""
    return render(
        "papers.html",
        package="gradely_papers",
        title="The papers' experiments",
        outcomes=[(experiment, found, group_kinds(found.entries)) for experiment, found in outcomes],
        papers=PAPERS,
        counts=count(entries).cells(),
        key=KEY,
        tally=tally,
    )


def _excerpt(table: Table) -> tuple[list[list[str]], list[bool], int]:
    """Return the cells that the page shows, header first; which columns are numeric; the number of omitted rows."""
    return table._replace(rows=table.rows[:ROWS]).cells(), table.numeric(), max(0, len(table.rows) - ROWS)
