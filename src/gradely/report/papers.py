"""What an experiment of a paper leaves: numbers as CSV, figures as SVG and PNG, and one page that tells the story."""

from base64 import b64encode
from importlib import resources
from typing import Any

from gradely.errors import MissingExtra
from gradely.experiments.charts import picture
from gradely.experiments.papers import PAPERS
from gradely.experiments.papers.outcome import Experiment, Outcome
from gradely.formats import Table, render

ROWS = 40
"""how many rows of a table the page shows; the file has all"""


def files(experiment: Experiment, outcome: Outcome, seed: int) -> dict[str, bytes]:
    """Return the content of each file by name."""
    drawings = {name: picture(figure.chart, "svg") for name, figure in outcome.figures.items()}
    out = {f"{name}.svg": drawing for name, drawing in drawings.items()}
    out |= {f"{name}.png": picture(figure.chart, "png") for name, figure in outcome.figures.items()}
    out |= {f"{name}.csv": render(sheet.table, "csv").encode() for name, sheet in outcome.sheets.items()}
    out["claims.csv"] = render(outcome.claims_table(), "csv").encode()
    out["index.html"] = page(experiment, outcome, seed, drawings).encode()
    return out


def page(experiment: Experiment, outcome: Outcome, seed: int, drawings: dict[str, bytes]) -> str:
    """Return the page: what the paper claims, what was done, what came out, ours beside theirs."""
    return str(
        _template("paper.html").render(
            experiment=experiment,
            paper=PAPERS[experiment.paper],
            outcome=outcome,
            seed=seed,
            drawings={name: b64encode(drawing).decode() for name, drawing in drawings.items()},
            sheets={name: (sheet.title, *_excerpt(sheet.table)) for name, sheet in outcome.sheets.items()},
        )
    )


def overview(outcomes: list[tuple[Experiment, Outcome]]) -> str:
    """Return the page that leads to the others: every claim and whether it holds."""
    return str(_template("papers.html").render(outcomes=outcomes, papers=PAPERS))


def _excerpt(table: Table) -> tuple[list[list[str]], list[bool], int]:
    """Return the cells that the page shows, the header first; which columns are numbers; how many rows are left out."""
    return table._replace(rows=table.rows[:ROWS]).shown(), table.numeric(), max(0, len(table.rows) - ROWS)


def _template(name: str) -> Any:
    try:
        import jinja2
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    folder = str(resources.files("gradely.report") / "templates")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    ).get_template(name)
