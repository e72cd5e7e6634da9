"""Result: the base of the results of public functions, with text, table, dataframe, JSON and notebook output."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gradely.evaluation.notes import Note
from gradely.tables import (
    LATEX,
    Cell,
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
"""a part of the text output: a table, a paragraph, or a list of lines"""
SCHEMA = 1
"""version of the JSON schema in docs/reference/schema.json; within a version, fields are only added"""
MOST = 20
"""largest number of notes that are printed below a table"""


class Result:
    """The result of a public function. It prints like the command of the same name, with its notes below.

    A subclass defines `table` and `notes`. It overrides `sections` and `remarks` if text contains more than the table,
    `data_table` if CSV and dataframes contain another table, and `as_dict` if JSON contains more than its rows.

    >>> from gradely import evaluate
    >>> print(evaluate({"q": {"d1": 1}, "r": {"d2": 1}}, {"q": ["d1"]}, ["RR"]))
    measure     run
    ───────  ──────
    RR       0.5000
    <BLANKLINE>
    1 of 2 judged queries is not in the run and counts as 0: r
    """

    digits = 4
    """number of decimals in text"""

    if TYPE_CHECKING:  # an attribute in some results, a property in others

        @property
        def notes(self) -> Sequence[Note]:
            """The notes on the result, each with its count."""

    def table(self) -> Table:
        """Return the main table of the text output."""
        raise NotImplementedError

    def data_table(self) -> Table:
        """Return the table of CSV and dataframes, with one row per observation."""
        return self.table()

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - for subclasses with numbers in sentences
        """Return the parts of the text output, in order: tables and sentences."""
        return [self.table()]

    def document(self, digits: int) -> list[Section]:
        """Return the parts of the Markdown, LaTeX and HTML output; by default, those of the text output."""
        return self.sections(digits)

    def caption(self) -> str:
        """Return a sentence that says how the numbers were computed, or an empty string."""
        return ""

    def remarks(self) -> list[str]:
        """Return lines above the notes that say how the numbers were computed and how to read them."""
        caption = self.caption()
        return [caption] if caption else []

    def notes_at(self, digits: int) -> Sequence[Note]:  # noqa: ARG002 - for notes that depend on printed digits
        """Return the notes on numbers that are printed with this number of decimals."""
        return self.notes

    def as_dict(self) -> dict[str, Any]:
        """Return the whole result as plain data, with values in full precision."""
        return {"rows": self.data_table().records(), "notes": self._list_notes()}

    def _list_notes(self) -> list[dict[str, Any]]:
        """Return the notes as plain data."""
        return [note.as_dict() for note in self.notes]

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return data_table as a dataframe of pandas, polars or pyarrow."""
        return self.data_table().to_frame(library)

    def to_json(self) -> str:
        """Return as_dict as JSON, with the version of its schema; NaN and infinite numbers become null."""
        import json

        return json.dumps({"schema": SCHEMA, **replace_infinite(self.as_dict())}, indent=2, ensure_ascii=False)

    def render(
        self, form: str = "table", digits: int | None = None, *, width: int | None = None, bold: bool = False
    ) -> str:
        """Return the result in a format: table, csv, tsv, json, markdown, latex or html.

        `digits` is the number of decimals, except in CSV, TSV and JSON. In text, the table fits into `width` columns if
        given, and the best values are printed in `bold` by terminal codes.
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
        if form == "latex":  # comments first, since a blank line inside a float starts a paragraph
            comments = [render_section(section, form) for section in sections if not isinstance(section, Table)]
            tables = [render(section, form) for section in sections if isinstance(section, Table)]
            return "".join(comments) + "\n".join(tables)
        return "\n".join(render_section(section, form) for section in sections)

    def lines_beside(self, form: str, digits: int | None = None) -> list[str]:
        """Return the lines to print beside the output of a format: remarks that it does not contain, and notes."""
        notes = [str(note) for note in self.notes_at(self.digits if digits is None else digits)]
        return shorten_list([*(self.remarks() if form in ("table", "json", "csv", "tsv") else []), *notes])

    def __str__(self) -> str:
        """Return the output of the command."""
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        """Return the output of the command."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the same content as HTML for notebooks."""
        first, *rest = self.sections(self.digits)
        top = heading(first) if isinstance(first, str) else to_html(first)
        return box(top, *map(to_html, rest), bullets([*self.remarks(), *self.notes]))


class Records(Result):
    """A result with `records`, one per observation, `tables` to read, and a `summary` that describes them."""

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per observation."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return the tables to read, the most important one first."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return a description of the numbers in one or more lines."""
        raise NotImplementedError

    def table(self) -> Table:
        """Return the first of the tables."""
        return self.tables()[0]

    def data_table(self) -> Table:
        """Return one row per record."""
        return Table.of(self.records())

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the tables."""
        return [*self.tables()]

    def remarks(self) -> list[str]:
        """Return the lines of the summary."""
        return self.summary().splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {"about": self.summary(), "values": self.records(), "notes": self._list_notes()}


def render_section(section: Section, form: str, width: int | None = None) -> str:
    """Return a table, a paragraph or lines in text, Markdown, LaTeX or HTML; in text, no wider than `width`."""
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
    return "".join(f"{fill(line, width)}\n" for line in lines)


def to_html(section: Section) -> str:
    """Return a table, a paragraph or a list in HTML for notebooks; a long table is cut."""
    if isinstance(section, Table):
        return grid(section)
    return sentence(section) if isinstance(section, str) else bullets(section)


def shorten_list(lines: list[str]) -> list[str]:
    """Return the lines; if there are more than MOST, only the first, with the number of the rest."""
    rest = len(lines) - MOST
    return [*lines[:MOST], f"… and {rest:,} more notes; the JSON output has them all"] if rest > 0 else lines


def replace_infinite(value: Any) -> Any:
    """Return plain data with NaN and infinite numbers replaced with None, since JSON does not support them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: replace_infinite(item) for key, item in value.items()}
    return [replace_infinite(item) for item in value] if isinstance(value, list | tuple) else value
