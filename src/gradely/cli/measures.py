"""gradely measures: the list of measures, the description of one, or a Markdown page about all of them."""

import inspect
from collections.abc import Sequence
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import MEASURE
from gradely.cli.output import OutputOptions, write, write_result
from gradely.errors import MeasureError
from gradely.evaluation.notes import Note
from gradely.evaluation.properties import FAMILIES, Properties, find_family, measures_of
from gradely.evaluation.result import Result, Section
from gradely.kernel.parameters import show
from gradely.measures import ALL, Measure, parameters
from gradely.measures.names import parse
from gradely.relevance import AtLeast, Identity, Max, Phi, Relevance, Shift, Tabled
from gradely.settings import TIES
from gradely.tables import Cell, Table, to_markdown

HEAD = """\
# Measures

<!-- Written by `make docs` from the docstrings of the measures: change those. -->

Every measure accepts a cut-off, as in `nDCG@10`, and real-valued labels. Write parameters in the name,
`AP(rel=2)@100`, or pass them to the class, `gradely.AP(rel=2, k=100)`. The value of a run is the mean over its queries.
`gradely measures NAME` prints a section of this page.

"""
WORDS = """
## Terms

- The **pool** of a query is all its judged documents, retrieved or not. The **recall base** RB is the number of
  relevant documents in the pool, and RB(k) the number of those of at least level k.
- A document is **relevant** to a binary measure if its label is at least `rel`. An unjudged document is not
  relevant. A negative label has no gain.
- A **tie group** is the set of all documents of a ranking with the same score. In formulas, it has n documents, r of
  them relevant, and t documents are ranked above it. A cut-off k **splits** it if some of its ranks, but
  not all, are in the top k.
"""
FUNCTIONS: dict[str, type[Relevance]] = {
    "'identity'": Identity,
    "'binary' or binary(2)": AtLeast,
    "'max' or max(4)": Max,
    "'shift', shift(1) or shift(1, 'max')": Shift,
    "{1: 0.5, 2: 1}": Tabled,
    "'phi', phi('code') or phi([(0, 0), (10, 1)])": Phi,
}
"""relevance functions by examples of how they are written"""


class Overview(Result):
    """The list of all measures or of a family; in Markdown, the page about all measures."""

    notes: Sequence[Note] = ()

    def __init__(self, family: str | None = None) -> None:
        """Take the name of a family."""
        self.family = family

    def table(self) -> Table:
        """Return one row per measure."""
        measures = measures_of(self.family)
        rows: list[list[Cell]] = [
            [measure.name, summary(measure), ", ".join(parameters(measure))] for measure in measures
        ]
        return Table(["measure", "what it measures", "parameters"], rows)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the table, and a hint to other options."""
        about = [] if self.family is None else [f"{FAMILIES[self.family][0]}."]
        families = "" if self.family else f" Families, for --family: {', '.join(FAMILIES)}."
        return [
            *about,
            self.table(),
            f"`gradely measures NAME` describes one, `--compare` shows how they differ.{families}",
        ]

    def markdown(self) -> str:
        """Return the page about all measures, or the table of a family."""
        return page() if self.family is None else to_markdown(self.table())


class Card(Result):
    """The documentation and the parameters of one measure."""

    notes: Sequence[Note] = ()

    def __init__(self, name: str) -> None:
        """Take the name of the measure, in gradely or another library, with or without a cut-off."""
        read = parse(name)
        self.measure = type(read)
        self.reading = [] if str(read) in (self.measure.name, name) else [f"{name} is read as {read}"]
        """a line on how the name was read, if it is not the measure's own"""

    def table(self) -> Table:
        """Return one row per parameter."""
        rows: list[list[Cell]] = [
            [name, show(declared.default), declared.doc] for name, declared in parameters(self.measure).items()
        ]
        return Table(["parameter", "default", "meaning"], rows)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the name, the documentation and the parameters."""
        text = (inspect.getdoc(self.measure) or "").split("\n")
        return [self.measure.name, *self.reading, text, self.table()]

    def as_dict(self) -> dict[str, Any]:
        """Return the name, the documentation and the parameters as plain data."""
        text = inspect.getdoc(self.measure)
        return {"measure": self.measure.name, "documentation": text, "parameters": self.table().records()}

    def markdown(self) -> str:
        """Return the section about the measure."""
        return section(self.measure)


@options.command("measures")
@click.argument("name", type=MEASURE, required=False)
@click.option("--family", "relatives", metavar="NAME", help=f"List the measures of one family: {', '.join(FAMILIES)}.")
@click.option(
    "--compare",
    "differences",
    is_flag=True,
    help="Show how measures differ: grades, ties, top-heavy, normalised, axioms.",
)
@options.output
def command(name: str | None, relatives: str | None, output: OutputOptions, *, differences: bool) -> None:
    """List all measures, or describe one: formula, parameters, ties, reference.

    Without NAME, --format markdown writes a page about all measures.
    """
    if name and (relatives or differences):
        raise MeasureError("give the name of a measure, or --family and --compare, not both")
    if name:
        result: Card | Overview | Properties = Card(name)
    else:
        family = None if relatives is None else find_family(relatives)
        result = Properties(family) if differences else Overview(family)
    if output.form == "markdown" and not isinstance(result, Properties):
        write(result.markdown(), output.path)
    else:
        write_result(result, output)


def page() -> str:
    """Return the page about all measures: contents, terms, tie policies, relevance functions, one section each."""
    rows = [[f"[{measure.name}](#{measure.name.lower()})", summary(measure)] for measure in ALL]
    contents = to_markdown(Table(["measure", "what it measures"], rows), escape=False)
    return HEAD + contents + WORDS + _ties() + _functions() + "".join(f"\n{section(measure)}" for measure in ALL)


def section(measure: type[Measure]) -> str:
    """Return the section about a measure in Markdown."""
    rows = [[f"`{name}`", f"`{show(field.default)}`", field.doc] for name, field in parameters(measure).items()]
    *text, example = (_paragraph(part) for part in (inspect.getdoc(measure) or "").split("\n\n"))
    table = to_markdown(Table(["parameter", "default", "meaning"], rows), escape=False)
    return "\n".join([f"## {measure.name}\n", *text, table, example])


def summary(subject: object) -> str:
    """Return the first line of the docstring, without its full stop."""
    return (inspect.getdoc(subject) or "").split("\n")[0].rstrip(".")


def _ties() -> str:
    rows = [[f"`{name}`", meaning] for name, meaning in TIES.items()]
    return "\n## Tie policies\n\nOne policy holds for all measures of a call.\n\n" + to_markdown(
        Table(["`ties=`", "tied documents"], rows), escape=False
    )


def _functions() -> str:
    """Return the section on relevance functions."""
    parts = [f"**`{name}`**: {inspect.getdoc(function)}\n" for name, function in FUNCTIONS.items()]
    intro = "Every measure with the parameter `relevance` takes any of these; the gain is computed from the result.\n"
    return "\n".join(["\n## Relevance functions\n", intro, *parts])


def _paragraph(text: str) -> str:
    """Return a paragraph of a docstring in Markdown: an example, a list of labelled lines, or prose."""
    if text.startswith(">>>"):
        return f"```python\n{text}\n```\n"
    if text.startswith("Ties:"):
        return "".join(_item(line) for line in text.split("\n"))
    return f"{text}\n"


def _item(line: str) -> str:
    """Return a line of a list in Markdown; a label begins a new item."""
    label, colon, rest = line.partition(": ")
    return f"- **{label}**: {rest}\n" if colon and label in ("Ties", "Reference") else f"  {line}\n"
