"""One table, many formats: for the terminal, for spreadsheets, for papers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradely.frames import to_frame

Cell: TypeAlias = str | float | int | None
LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {c: "\\" + c for c in "&%$#_{}"}
)


class Table(NamedTuple):
    """A header and rows; numbers are aligned right and shown with `digits` decimals where people read them."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 4

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Cell]], digits: int = 4) -> "Table":
        """Make it from at least one record; all have the same columns."""
        return cls(list(records[0]), [list(record.values()) for record in records], digits)

    def shown(self) -> list[list[str]]:
        """Return all cells as people read them, the header first."""
        return [[*self.header], *([self._show(cell) for cell in row] for row in self.rows)]

    def _show(self, cell: Cell) -> str:
        if cell is None:
            return "-"
        return f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the table as a dataframe, of pandas, polars or pyarrow."""
        return to_frame({name: [row[i] for row in self.rows] for i, name in enumerate(self.header)}, library)

    def numeric(self) -> list[bool]:
        """Return which columns hold numbers."""
        return [any(isinstance(row[i], float | int) for row in self.rows) for i in range(len(self.header))]


def to_text(table: Table) -> str:
    """Columns padded with blanks, a line below the header."""
    cells, right = [[plain_line(cell) for cell in row] for row in table.shown()], table.numeric()
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(w) if number else cell.ljust(w) for cell, w, number in zip(row, width, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("─" * w for w in width), *lines[1:]]) + "\n"


def to_delimited(table: Table, delimiter: str) -> str:
    """CSV or TSV, numbers in full."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table."""
    cells = [
        [plain_line(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in row]
        for row in table.shown()
    ]
    rule = ["---:" if number else "---" for number in table.numeric()]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]]) + "\n"


def to_latex(table: Table) -> str:
    """A booktabs tabular."""
    cells = [[plain_line(cell).translate(LATEX) for cell in row] for row in table.shown()]
    columns = "".join("r" if number else "l" for number in table.numeric())
    lines = [" & ".join(row) + r" \\" for row in cells]
    return (
        "\n".join(
            [
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )
        + "\n"
    )


def plain_line(text: str) -> str:
    """Return text that stays on its line and cannot steer the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": to_text,
    "tsv": lambda table: to_delimited(table, "\t"),
    "csv": lambda table: to_delimited(table, ","),
    "markdown": to_markdown,
    "latex": to_latex,
}


def render(table: Table, name: str) -> str:
    """Return the table in a format by name."""
    return FORMATS[name](table)


def jsonable(value: Any) -> Any:
    """Return NumPy's numbers as Python's own."""
    return value.item() if hasattr(value, "item") else value
