"""What comes out of experiments: the claims of all papers with their verdicts, and the files and pages of one run."""

import csv
from collections.abc import Iterable
from importlib import resources
from typing import NamedTuple

from gradely.report.page import chart, render
from gradely.tables import Cell, Table, to_delimited, to_markdown
from gradely_papers import PAPERS
from gradely_papers.charts import picture
from gradely_papers.experiment import COLUMNS, Assessment, Experiment, Outcome
from gradely_papers.verdicts import UNTESTED, WORDS, Verdict

RECORD = "record.csv"
"""verdicts of all claims on the public data sets, seed 0, as `gradely papers run all` left them in claims.csv"""


class Entry(NamedTuple):
    """One claim on one set of data."""

    paper: str
    experiment: str
    where: str
    claim: str
    printed: str
    criterion: str
    data: str
    here: str
    verdict: str


def enter(outcomes: Iterable[tuple[Experiment, Outcome]]) -> list[Entry]:
    """Return the claims of all experiments that were run."""
    return [
        Entry(experiment.paper, experiment.name, *tested.row())
        for experiment, outcome in outcomes
        for tested in outcome.claims
    ]


def leave_out(experiment: Experiment) -> list[Entry]:
    """Return the claims of an experiment that was not run, since its data is not public or a library is absent."""
    verdict = Verdict(UNTESTED, experiment.skip_reason)
    return [Entry(experiment.paper, experiment.name, *Assessment(claim, verdict).row()) for claim in experiment.claims]


def to_csv(entries: list[Entry]) -> str:
    """Return the entries as a file."""
    return to_delimited(Table(["paper", "experiment", *COLUMNS], [list(entry) for entry in entries]), ",")


def read_record() -> list[Entry]:
    """Return the verdicts as they were recorded."""
    text = (resources.files("gradely_papers") / RECORD).read_text("utf-8")
    return [Entry(*row) for row in list(csv.reader(text.splitlines()))[1:]]


def count(entries: list[Entry]) -> Table:
    """Return how many claims and verdicts of each kind there are, one row per paper and one for all.

    A claim that two experiments test is one.
    """
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    groups = {paper: [entry for entry in entries if entry.paper == paper] for paper in papers} | {"all": entries}
    rows: list[list[Cell]] = [
        [
            paper,
            len({(entry.paper, entry.claim, entry.where) for entry in group}),
            *(sum(entry.verdict == word for entry in group) for word in WORDS),
        ]
        for paper, group in groups.items()
    ]
    return Table(["paper", "claims", *WORDS], rows)


def tabulate_claims(entries: list[Entry]) -> Table:
    """Return all claims in one table to read: what the paper says, on what data, what came out here.

    The first row of a claim has what the paper says; the rows below it are other data.
    """
    firsts = {(entry.experiment, entry.where, entry.claim): entry for entry in reversed(entries)}.values()
    claims = {id(entry): [entry.paper, entry.where, entry.claim, entry.printed] for entry in firsts}
    rows = [[*claims.get(id(entry), [""] * 4), entry.data, entry.here, entry.verdict] for entry in entries]
    return Table(["paper", "where", "the paper says", "its number", "data", "here", "verdict"], rows)


def markdown(entries: list[Entry]) -> str:
    """Return the counts and the table as the documents show them."""
    return f"{to_markdown(count(entries))}\n{to_markdown(tabulate_claims(entries))}"


ROWS = 200
"""how many rows of a table the page shows; the file has all"""


def files(experiment: Experiment, outcome: Outcome, seed: int) -> dict[str, bytes]:
    """Return the content of each file by name."""
    out = {
        f"{name}.{form}": picture(figure.chart, form)
        for name, figure in outcome.figures.items()
        for form in ("svg", "png")
    }
    out |= {f"{name}.csv": to_delimited(sheet.table, ",").encode() for name, sheet in outcome.sheets.items()}
    out["claims.csv"] = to_delimited(Table(list(COLUMNS), [tested.row() for tested in outcome.claims]), ",").encode()
    if outcome.observations:
        table = Table(["question", "answer"], [list(observation) for observation in outcome.observations])
        out["observations.csv"] = to_delimited(table, ",").encode()
    out["index.html"] = page(experiment, outcome, seed).encode()
    return out


def page(experiment: Experiment, outcome: Outcome, seed: int) -> str:
    """Return the page: what the paper claims, what was done, what came out, ours beside theirs."""
    return render(
        "paper.html",
        package="gradely_papers",
        title=experiment.shows,
        charts={name: chart(figure.chart, figure.title, still=True) for name, figure in outcome.figures.items()},
        experiment=experiment,
        paper=PAPERS[experiment.paper],
        outcome=outcome,
        seed=seed,
        sheets={name: (sheet.title, *_excerpt(sheet.table)) for name, sheet in outcome.sheets.items()},
    )


def overview(outcomes: list[tuple[Experiment, Outcome]], entries: list[Entry]) -> str:
    """Return the page that leads to the others: every claim and whether it holds."""
    return render(
        "papers.html",
        package="gradely_papers",
        title="The papers' experiments",
        outcomes=outcomes,
        papers=PAPERS,
        counts=count(entries).cells(),
    )


def _excerpt(table: Table) -> tuple[list[list[str]], list[bool], int]:
    """Return the cells that the page shows, the header first; which columns are numbers; how many rows are left out."""
    return table._replace(rows=table.rows[:ROWS]).cells(), table.numeric(), max(0, len(table.rows) - ROWS)
