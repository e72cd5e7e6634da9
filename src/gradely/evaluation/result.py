"""Result: what public functions return, as text, as a table, as a dataframe, as JSON and in a notebook."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gradely.evaluation.notes import Note
from gradely.tables import (
    LATEX,
    Table,
    box,
    bullets,
    escape_markdown,
    fill,
    grid,
    heading,
    plain_line,
    render,
    sentence,
    typed_frame,
)

Section: TypeAlias = Table | str | list[str]
"""of what people read: a table, a paragraph, or lines that belong together"""
SCHEMA = 1
"""the version of the JSON that results write; docs/reference/schema.json has it, and within a version it only grows"""
MOST = 20
"""below a table, no more notes than this are printed"""


class Result:
    """What a public function returns. It prints as the command of the same name does, with its notes below.

    A subclass has `table` and `notes`. It overrides `sections` and `remarks` where people read more than the table,
    `data_table` where programs read another one, and `as_dict` where JSON has more than the rows of that.

    >>> from gradely import evaluate
    >>> print(evaluate({"q": {"d1": 1}, "r": {"d2": 1}}, {"q": ["d1"]}, ["RR"]))
    measure     run
    ───────  ──────
    RR       0.5000
    <BLANKLINE>
    1 of 2 judged queries is not in the run and counts 0: r
    """

    digits = 4
    """decimals where people read numbers"""

    if TYPE_CHECKING:  # some results hold their notes, others find them when asked

        @property
        def notes(self) -> Sequence[Note]:
            """What happened and matters, each with its count."""

    def table(self) -> Table:
        """Return the table that people look at."""
        raise NotImplementedError

    def data_table(self) -> Table:
        """Return the table that programs read, in CSV and dataframes: one row per observation."""
        return self.table()

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - for texts that have numbers in them
        """Return what people read, from top to bottom: tables, and sentences between them."""
        return [self.table()]

    def document(self, digits: int) -> list[Section]:
        """Return what people read in a document: the same, unless a table says it better there."""
        return self.sections(digits)

    def caption(self) -> str:
        """Return how the numbers came about; empty if there is nothing to say."""
        return ""

    def remarks(self) -> list[str]:
        """Return how the numbers came about and how to read them, in lines that stand above the notes."""
        caption = self.caption()
        return [caption] if caption else []

    def notes_at(self, digits: int) -> Sequence[Note]:  # noqa: ARG002 - for notes about what is printed
        """Return the notes on numbers that are printed with this number of decimals."""
        return self.notes

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {"rows": self.data_table().records(), "notes": self._list_notes()}

    def _list_notes(self) -> list[dict[str, Any]]:
        """Return the notes as plain data."""
        return [note.as_dict() for note in self.notes]

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of data_table, of pandas, polars or pyarrow."""
        return self.data_table().to_frame(library)

    def to_json(self) -> str:
        """Return as_dict as JSON, with the version of its schema; a number that is not finite is null."""
        import json

        return json.dumps({"schema": SCHEMA, **replace_infinite(self.as_dict())}, indent=2, ensure_ascii=False)

    def render(
        self, form: str = "table", digits: int | None = None, *, width: int | None = None, bold: bool = False
    ) -> str:
        """Return the result in a format: table, csv, tsv, json, markdown, latex or html.

        `digits` are the decimals of formats for people. A table fits into `width` columns where that is given, and has
        its best values in `bold` as terminals show them.
        """
        if form == "json":
            return self.to_json() + "\n"
        if form in ("csv", "tsv"):
            return render(self.data_table(), form)
        digits = self.digits if digits is None else digits
        sections = [
            section._replace(digits=digits, width=width, bold=bold) if isinstance(section, Table) else section
            for section in (self.sections if form == "table" else self.document)(digits)
        ]
        if form == "table":
            below = shorten_list([*self.remarks(), *map(str, self.notes_at(digits))])
            sections += [below] if below else []
            return "\n".join(render_section(section, form, width) for section in sections)
        sections += self.remarks()
        if form == "latex":  # comments first: a blank line inside of a float would be a paragraph
            comments = [render_section(section, form) for section in sections if not isinstance(section, Table)]
            tables = [render(section, form) for section in sections if isinstance(section, Table)]
            return "".join(comments) + "\n".join(tables)
        return "\n".join(render_section(section, form) for section in sections)

    def lines_beside(self, form: str, digits: int | None = None) -> list[str]:
        """Return what a format leaves out: the notes, and in CSV and TSV the remarks."""
        notes = [str(note) for note in self.notes_at(self.digits if digits is None else digits)]
        return shorten_list([*(self.remarks() if form in ("table", "json", "csv", "tsv") else []), *notes])

    def __str__(self) -> str:
        """Return what the command prints."""
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        """Return what the command prints."""
        return str(self)

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        first, *rest = self.sections(self.digits)
        top = heading(first) if isinstance(first, str) else to_html(first)
        return box(top, *map(to_html, rest), bullets([*self.remarks(), *self.notes]))


def render_section(section: Section, form: str, width: int | None = None) -> str:
    """Return a table, a paragraph or lines in a format for people; in plain text, no wider than `width`."""
    if isinstance(section, Table):
        return render(section, form)
    if form == "html":
        return to_html(section) + "\n"
    lines = [section] if isinstance(section, str) else section
    if form == "markdown":
        mark = "" if isinstance(section, str) else "- "
        return "".join(f"{mark}{escape_markdown(line)}\n" for line in lines)
    if form == "latex":
        return "".join(f"% {plain_line(line).translate(LATEX)}\n" for line in lines)
    return "".join(f"{fill(plain_line(line), width)}\n" for line in lines)


def to_html(section: Section) -> str:
    """Return a table, a paragraph or a list in HTML, as a notebook shows it; of a long table, the first rows."""
    if isinstance(section, Table):
        return grid(section)
    return sentence(section) if isinstance(section, str) else bullets(section)


def shorten_list(lines: list[str]) -> list[str]:
    """Return lines, and of very many only the first."""
    rest = len(lines) - MOST
    return [*lines[:MOST], f"… and {rest:,} more notes; the JSON output has them all"] if rest > 0 else lines


def replace_infinite(value: Any) -> Any:
    """Return content with None in place of numbers that are not finite, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: replace_infinite(item) for key, item in value.items()}
    return [replace_infinite(item) for item in value] if isinstance(value, list | tuple) else value
