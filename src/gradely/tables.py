"""One table, many formats: for the terminal, for spreadsheets, for papers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from gradely.errors import InputError, MissingExtra

LIBRARIES: dict[str, Literal["pandas", "polars", "pyarrow"]] = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
}


def to_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Return a dataframe of columns by name, of pandas, polars or pyarrow."""
    import narwhals.stable.v2 as nw

    if library not in LIBRARIES:
        raise InputError(f"no dataframe library {library!r} here: use {' or '.join(LIBRARIES)}")
    try:
        return nw.from_dict(dict(columns), backend=LIBRARIES[library]).to_native()
    except ImportError:
        extra = "parquet" if library == "pyarrow" else None  # the others are brought by no extra of ours
        raise MissingExtra(library, extra) from None


class MarkedNumber(NamedTuple):
    """A number that stands out: the best of its column, or one with marks at its shoulder."""

    value: float
    best: bool = False
    marks: str = ""


class PValue(float):
    """A p-value, shown as format_p has it, by the significance level that it is compared with."""

    alpha: float

    def __new__(cls, value: float, alpha: float = 0.05) -> Self:
        """Take the p-value and the level."""
        self = super().__new__(cls, value)
        self.alpha = alpha
        return self


Cell: TypeAlias = str | float | int | MarkedNumber | None
SAFE: ContextVar[bool] = ContextVar("safe", default=False)
"""whether CSV and TSV are written so that a spreadsheet takes no cell for a formula"""
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""with these, a formula begins"""
MARKDOWN = str.maketrans({"<": "&lt;"} | {character: "\\" + character for character in "\\|[]!"})
"""what begins a cell, a tag, a link or an image"""
RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")
"""marks in plain text; there is no raised q"""
GAP = 2
"""blanks between two columns"""
LEAST_PROSE = 24
"""characters of a column of sentences; in a narrower one nobody reads them"""
LARGE = 1e15
"""from here on a double has no decimals worth printing: they would stand behind its 16 digits"""
LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {c: "\\" + c for c in "&%$#_{}"}
)


class Table(NamedTuple):
    """A header and rows; numbers are aligned right, with `digits` decimals where people read them."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 4
    bold: bool = False
    """in plain text, too, the best are bold, as terminals have it"""
    more: str = ""
    """a line below the rows where people read them: how many are not shown"""
    width: int | None = None
    """how many columns plain text has, such as those of a terminal; None where it may be as wide as it likes"""

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Cell]], digits: int = 4) -> "Table":
        """Make it from at least one record; all have the same columns."""
        return cls(list(records[0]), [list(record.values()) for record in records], digits)

    def cells(self) -> list[list[str]]:
        """Return all cells as people read them, without marks, the header first."""
        return [[*self.header], *([self._show(cell) for cell in row] for row in self.rows)]

    def _show(self, cell: Cell) -> str:
        if isinstance(cell, PValue):
            return format_p(cell, cell.alpha)
        value = plain_cell(cell)
        if value is None:
            return "-"
        return show_number(value, self.digits) if isinstance(value, float) else str(value)

    def records(self) -> list[dict[str, str | float | None]]:
        """Return one dict per row, without marks."""
        return [dict(zip(self.header, map(plain_cell, row), strict=True)) for row in self.rows]

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the table as a dataframe, of pandas, polars or pyarrow."""
        return to_frame(
            {name: [plain_cell(row[i]) for row in self.rows] for i, name in enumerate(self.header)}, library
        )

    def __str__(self) -> str:
        """Return the table as the command line shows it."""
        return to_text(self).rstrip("\n")

    def numeric(self) -> list[bool]:
        """Return which columns hold numbers."""
        numbers = (float, int, MarkedNumber)
        return [any(isinstance(row[i], numbers) for row in self.rows) for i in range(len(self.header))]

    def marks(self) -> list[list[MarkedNumber]]:
        """Return how each cell stands out, the header first."""
        plain = MarkedNumber(0.0)
        rows = ([cell if isinstance(cell, MarkedNumber) else plain for cell in row] for row in self.rows)
        return [[plain] * len(self.header), *rows]


def show_number(number: float, digits: int = 4) -> str:
    """Return a number with that many decimals; a very large one, of which no reader wants all digits, as 1.2346e+20."""
    return f"{number:.{digits}f}" if abs(number) < LARGE else f"{number:.{digits}e}"


def plain_cell(cell: Cell) -> str | float | None:
    """Return what a cell holds, without marks."""
    if isinstance(cell, PValue):
        return float(cell)
    return cell.value if isinstance(cell, MarkedNumber) else cell


def to_text(table: Table) -> str:
    """Return columns padded with blanks and a line below the header; marks have their own room, to align decimals.

    What is too wide for the table's width is laid out in several tables or in records, never broken inside of words.

    >>> print(to_text(Table(["run", "AP", "RR"], [["bm25", 0.25, 0.5]], width=16)), end="")
    run       AP
    ────  ──────
    bm25  0.2500
    <BLANKLINE>
    run       RR
    ────  ──────
    bm25  0.5000
    """
    more = f"{fill(table.more, table.width)}\n" if table.more else ""
    return _fit(table) + more


def _fit(table: Table) -> str:
    """Return the rows, laid out so that they fit the table's width where it has one."""
    grid = Grid.of(table)
    if table.width is None or grid.total(grid.columns) <= table.width:
        return grid.text(grid.columns)
    wrapped = grid.wrap(table.width)
    if wrapped is not None:
        return wrapped.text(grid.columns)
    blocks = grid.split(table.width)
    return "\n".join(map(grid.text, blocks)) if blocks else grid.stack()


class Grid(NamedTuple):
    """The cells of a table as plain text, the header first."""

    cells: list[list[str]]
    best: list[list[bool]]
    """which cells are bold"""
    right: list[bool]
    """which columns are aligned right"""
    widths: list[int]

    @classmethod
    def of(cls, table: Table) -> "Grid":
        """Take a table; marks have the same room in all rows of a column."""
        marks = table.marks()
        room = [max(len(mark.marks) for mark in column) for column in zip(*marks, strict=True)]
        cells = [
            [
                plain_line(text) + mark.marks.translate(RAISED).ljust(space)
                for text, mark, space in zip(*row, strict=True)
            ]
            for row in zip(table.cells(), marks, [room] * len(marks), strict=True)
        ]
        best = [[mark.best and table.bold for mark in row] for row in marks]
        return cls(cells, best, table.numeric(), [max(map(len, column)) for column in zip(*cells, strict=True)])

    @property
    def columns(self) -> list[int]:
        """All columns, by number."""
        return list(range(len(self.widths)))

    def total(self, columns: Iterable[int]) -> int:
        """Return how wide some columns are."""
        widths = [self.widths[i] for i in columns]
        return sum(widths) + GAP * (len(widths) - 1)

    def text(self, columns: list[int]) -> str:
        """Return some columns, padded, with a line below the header."""
        lines = [
            (" " * GAP).join(self._pad(row[i], i, bold=best[i]) for i in columns).rstrip()
            for row, best in zip(self.cells, self.best, strict=True)
        ]
        return "\n".join([lines[0], (" " * GAP).join("─" * self.widths[i] for i in columns), *lines[1:]]) + "\n"

    def _pad(self, text: str, column: int, *, bold: bool) -> str:
        width = self.widths[column]
        padded = text.rjust(width) if self.right[column] else text.ljust(width)
        return f"\x1b[1m{padded}\x1b[0m" if bold else padded

    def wrap(self, width: int) -> "Grid | None":
        """Return the table with its widest column of prose on several lines; None where it would be too narrow."""
        prose = [i for i in self.columns if not self.right[i] and any(" " in row[i] for row in self.cells[1:])]
        if not prose:
            return None
        wide = max(prose, key=self.widths.__getitem__)
        room = width - (self.total(self.columns) - self.widths[wide])
        if room < max(LEAST_PROSE, *(len(word) for row in self.cells for word in row[wide].split())):
            return None
        cells, best = [], []
        for row, flags in zip(self.cells, self.best, strict=True):
            for n, line in enumerate(fill(row[wide], room).split("\n")):
                cells.append([line if i == wide else cell if n == 0 else "" for i, cell in enumerate(row)])
                best.append([flag and n == 0 for flag in flags])
        return Grid(cells, best, self.right, [room if i == wide else self.widths[i] for i in self.columns])

    def split(self, width: int) -> list[list[int]]:
        """Return the columns in blocks that fit, each after the columns that name the row; none if one is too wide.

        No more blocks than it takes, and all of about the same width.
        """
        blocks = self._fill_blocks(width)
        while blocks and len(narrower := self._fill_blocks(width - 1)) == len(blocks):
            width, blocks = width - 1, narrower
        return blocks

    def _fill_blocks(self, width: int) -> list[list[int]]:
        names = list(range(self.right.index(True))) if True in self.right else [0]
        blocks: list[list[int]] = []
        for i in self.columns[len(names) :]:
            if blocks and self.total([*blocks[-1], i]) <= width:
                blocks[-1].append(i)
            else:
                blocks.append([*names, i])
        return blocks if all(self.total(block) <= width for block in blocks) else []

    def stack(self) -> str:
        """Return one line per cell, after the name of its column, and a blank line between rows."""
        header, *rows = self.cells
        label = max(map(len, header)) + GAP
        records = (zip(header, row, strict=True) for row in rows)
        lines = ("".join(f"{name.ljust(label)}{cell.strip()}".rstrip() + "\n" for name, cell in one) for one in records)
        return "\n".join(lines) if rows else self.text(self.columns)


def fill(text: str, width: int | None) -> str:
    """Return a line of text on several lines no longer than the width, broken between words; as it is without one."""
    if width is None or len(text) <= width:
        return text
    import textwrap

    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def to_delimited(table: Table, delimiter: str) -> str:
    """Return CSV or TSV with all digits; where SAFE is set, text that looks like a formula has a quote before it."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    to_cell = _no_formula if SAFE.get() else plain_cell
    writer.writerows([to_cell(cell) for cell in row] for row in [table.header, *table.rows])
    return out.getvalue()


def _no_formula(cell: Cell) -> str | float | None:
    value = plain_cell(cell)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def to_markdown(table: Table, *, escape: bool = True) -> str:
    """Return a pipe table; with escape=False the cells are Markdown already."""
    safe = [[escape_markdown(cell) if escape else cell for cell in row] for row in table.cells()]
    cells = _mark(table, safe, "**{}**", "<sup>{}</sup>")
    rule = ["---:" if number else "---" for number in table.numeric()]
    more = f"\n{escape_markdown(table.more)}\n" if table.more else ""
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]]) + "\n" + more


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return plain_line(text).translate(MARKDOWN).replace("://", "&#58;//").replace("www.", "www&#46;")


def _mark(table: Table, cells: list[list[str]], best: str, marks: str) -> list[list[str]]:
    """Return the cells with the best and the marks dressed as a format has it."""
    return [
        [
            (best.format(text) if mark.best else text) + (marks.format(mark.marks) if mark.marks else "")
            for text, mark in zip(*row, strict=True)
        ]
        for row in zip(cells, table.marks(), strict=True)
    ]


def to_latex(table: Table) -> str:
    """Return a tabular of booktabs."""
    safe = [[plain_line(cell).translate(LATEX) for cell in row] for row in table.cells()]
    cells = _mark(table, safe, r"\textbf{{{}}}", "$^{{{}}}$")
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
                *([f"% {plain_line(table.more).translate(LATEX)}"] if table.more else []),
            ]
        )
        + "\n"
    )


def plain_line(text: str) -> str:
    """Return text that stays on its line and cannot steer the terminal."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "�" for character in text)


def count_of(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> count_of(1, "query"), count_of(2000, "query"), count_of(2, "run")
    ('1 query', '2,000 queries', '2 runs')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def format_p(p: float, alpha: float = 0.05, words: str = "") -> str:
    """Return a p-value with as many digits as it takes to see on which side of alpha it lies.

    With the words "at least" or "at most" it is rounded down or up, so that they are true.

    >>> format_p(0.912, 0.05), format_p(0.0496, 0.05), format_p(0.00002, 0.05), format_p(0.507, 0.05, "at least")
    ('.91', '.0496', '< .001', 'at least .50')
    """
    places = 3
    while 10.0**-places >= alpha and places < 12:
        places += 1
    if p < 10.0**-places:
        return f"< {format_short(10.0**-places, places)}"
    digits = 2 if p >= 0.095 else places
    while digits < 12 and (_round_p(p, digits, words) < alpha) != (p < alpha):
        digits += 1
    return f"{words} {format_short(_round_p(p, digits, words), digits)}".strip()


def _round_p(p: float, digits: int, words: str) -> float:
    """Return a rounded number: the nearest, for "at least" one that is not above it, for "at most" not below."""
    nearest = round(p, digits)
    step = {"at least": -1, "at most": 1}.get(words, 0)
    return nearest + step * 10.0**-digits if step * (nearest - p) < 0 else nearest


def format_short(value: float, digits: int | None = None) -> str:
    """Return a number without the 0 before its point.

    >>> format_short(0.01), format_short(0.5, 2), format_short(1.0, 2)
    ('.01', '.50', '1.00')
    """
    text = f"{value:g}" if digits is None else f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def to_html(table: Table) -> str:
    """An HTML table: numbers right, the best bold, marks raised; hostile text stays text."""
    safe = [[escape_html(cell) for cell in row] for row in table.cells()]
    cells = _mark(table, safe, "<strong>{}</strong>", "<sup>{}</sup>")
    align = [f'style="text-align:{"right" if number else "left"}"' for number in table.numeric()]

    def line(row: list[str], tag: str) -> str:
        columns = "".join(f"<{tag} {side}>{cell}</{tag}>" for cell, side in zip(row, align, strict=True))
        return f"<tr>{columns}</tr>"

    body = "".join(line(row, "td") for row in cells[1:])
    more = sentence(table.more) if table.more else ""
    return f"<table><thead>{line(cells[0], 'th')}</thead><tbody>{body}</tbody></table>{more}"


def escape_html(text: str) -> str:
    """Return text that HTML shows as it is."""
    from html import escape

    return escape(plain_line(text))


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": to_text,
    "tsv": lambda table: to_delimited(table, "\t"),
    "csv": lambda table: to_delimited(table, ","),
    "markdown": to_markdown,
    "latex": to_latex,
    "html": lambda table: to_html(table) + "\n",
}


def render(table: Table, name: str) -> str:
    """Return the table in a format by name."""
    return FORMATS[name](table)


MOST = 100
"""a table in a notebook has no more rows than this, and says how many there are"""
NOTES = 20
"""nor are there more notes than this"""
UNTOUCHED = "tex2jax_ignore mathjax_ignore"
"""keeps notebooks from taking $ in a name for the beginning of a formula"""


def box(*parts: str) -> str:
    """Return parts of HTML as what a notebook shows for one object."""
    return f'<div class="{UNTOUCHED}">{"".join(parts)}</div>'


def sentence(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape_html(text)}</p>"


def heading(text: str) -> str:
    """Return what stands above a table, in bold."""
    return f"<p><strong>{escape_html(text)}</strong></p>"


def formula(text: str) -> str:
    """Return lines as they are."""
    return f"<pre>{escape_html(text)}</pre>"


def bullets(texts: Iterable[object]) -> str:
    """Return sentences as a list; of very many, the first."""
    lines = [escape_html(str(text)) for text in texts]
    rest = len(lines) - NOTES
    lines = [*lines[:NOTES], f"… and {rest:,} more"] if rest > 0 else lines
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else ""


def fold(title: str, *parts: str) -> str:
    """Return parts that are hidden until the reader asks for them."""
    return f"<details><summary>{escape_html(title)}</summary>{''.join(parts)}</details>"


def grid(table: Table) -> str:
    """Return a table: numbers right, the best bold, marks raised.

    >>> grid(Table(["run", "AP"], [["<b>", 0.5]]))[-107:]
    '<tr><td style="text-align:left">&lt;b&gt;</td><td style="text-align:right">0.5000</td></tr></tbody></table>'
    """
    rest = len(table.rows) - MOST
    more = f"<p>… and {rest:,} more rows</p>" if rest > 0 else ""
    return to_html(table._replace(rows=table.rows[:MOST])) + more
