"""What an experiment of a paper leaves: numbers as CSV, figures as SVG and PNG, and one page that tells the story."""

from gradely.comparison.charts import picture
from gradely.report.page import chart, render
from gradely.tables import Table, to_delimited
from gradely_papers import PAPERS
from gradely_papers.ledger import Entry, count
from gradely_papers.outcome import Experiment, Outcome

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
    out["claims.csv"] = to_delimited(outcome.claims_table(), ",").encode()
    if outcome.observations:
        out["observations.csv"] = to_delimited(outcome.observations_table(), ",").encode()
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
