"""Tables, and the formats they are written in: plain text, CSV, TSV, Markdown, LaTeX, HTML and dataframes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar, cast, overload

from gradely.errors import InputError, MissingExtra

if TYPE_CHECKING:  # type checkers that do not find these libraries take Any
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    class ToFrame(Protocol):
        """A method that returns a dataframe; its type follows from the name of the library."""

        @overload
        def __call__(self, library: Literal["pandas"] = "pandas") -> "pd.DataFrame": ...
        @overload
        def __call__(self, library: Literal["polars"]) -> "pl.DataFrame": ...
        @overload
        def __call__(self, library: Literal["pyarrow"]) -> "pa.Table": ...
        @overload
        def __call__(self, library: str) -> Any: ...

    class ToWideFrame(Protocol):
        """The same with `wide`, for one column per measure."""

        @overload
        def __call__(self, library: Literal["pandas"] = "pandas", *, wide: bool = False) -> "pd.DataFrame": ...
        @overload
        def __call__(self, library: Literal["polars"], *, wide: bool = False) -> "pl.DataFrame": ...
        @overload
        def __call__(self, library: Literal["pyarrow"], *, wide: bool = False) -> "pa.Table": ...
        @overload
        def __call__(self, library: str, *, wide: bool = False) -> Any: ...

    Method_co = TypeVar("Method_co", covariant=True)

    class FrameMethod(Protocol[Method_co]):
        """What type checkers see in a class in place of its `to_frame`."""

        def __get__(self, instance: object, owner: type | None = None) -> Method_co:
            """Return the method of an object."""


LIBRARIES: dict[str, Literal["pandas", "polars", "pyarrow"]] = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
}


def typed_frame(method: Callable[..., Any]) -> "FrameMethod[ToFrame]":
    """Tell type checkers which dataframe a method returns; the method stays what it is."""
    return cast("FrameMethod[ToFrame]", method)


def typed_wide_frame(method: Callable[..., Any]) -> "FrameMethod[ToWideFrame]":
    """The same for a method that takes `wide`."""
    return cast("FrameMethod[ToWideFrame]", method)


def to_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Return named columns as a dataframe of pandas, polars or pyarrow."""
    import narwhals.stable.v2 as nw

    if library not in LIBRARIES:
        raise InputError(f"no dataframe library {library!r} here: use {' or '.join(LIBRARIES)}")
    try:
        return nw.from_dict(dict(columns), backend=LIBRARIES[library]).to_native()
    except ImportError:
        extra = "parquet" if library == "pyarrow" else None  # no extra of gradely installs the others
        raise MissingExtra(library, extra) from None


class MarkedNumber(NamedTuple):
    """A number that stands out: the best of its column, or one with raised marks."""

    value: float
    best: bool = False
    marks: str = ""


class PValue(float):
    """A p-value with the significance level it is compared with; format_p displays it."""

    alpha: float

    def __new__(cls, value: float, alpha: float = 0.05) -> Self:
        """Take the p-value and the significance level."""
        self = super().__new__(cls, value)
        self.alpha = alpha
        return self


Cell: TypeAlias = str | float | int | MarkedNumber | None
SAFE: ContextVar[bool] = ContextVar("safe", default=False)
"""whether CSV and TSV are written so that spreadsheets read no cell as a formula"""
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""the characters with which a formula begins"""
MARKDOWN = str.maketrans({"<": "&lt;"} | {character: "\\" + character for character in "\\|[]!"})
"""escapes the characters that begin a cell, a tag, a link or an image"""
RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")
"""marks in plain text; there is no raised q"""
GAP = 2
"""blanks between two columns"""
FILLER = "\0"
"""stands for the second column of a wide letter while text is wrapped"""
LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {c: "\\" + c for c in "&%$#_{}"}
)


class Table(NamedTuple):
    """A header and rows; in formats for people, numbers are aligned right and have `digits` decimals."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 4
    bold: bool = False
    """whether plain text shows the best numbers in bold, with the escape codes of terminals"""
    more: str = ""
    """a line below the rows, in formats for people, that says how many more rows there are"""
    width: int | None = None
    """the width of plain text in characters, such as that of the terminal; None if it is unlimited"""

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Cell]], digits: int = 4) -> "Table":
        """Return a table of at least one record; all records have the same columns."""
        return cls(list(records[0]), [list(record.values()) for record in records], digits)

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as formatted text, without marks."""
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

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return the table as a dataframe of pandas, polars or pyarrow."""
        return to_frame(
            {name: [plain_cell(row[i]) for row in self.rows] for i, name in enumerate(self.header)}, library
        )

    def __str__(self) -> str:
        """Return the table as the command line prints it."""
        return to_text(self).rstrip("\n")

    def cut(self, most: int | None, noun: str) -> "Table":
        """Return the first rows; a line below says how many more there are, counted by a noun such as pair."""
        rest = 0 if most is None else len(self.rows) - most
        more = f"… and {count_of(rest, f'more {noun}')}; --format json shows all" if rest > 0 else ""
        return self._replace(rows=self.rows[:most], more=more)

    def numeric(self) -> list[bool]:
        """Return which columns hold numbers."""
        numbers = (float, int, MarkedNumber)
        return [any(isinstance(row[i], numbers) for row in self.rows) for i in range(len(self.header))]

    def marks(self) -> list[list[MarkedNumber]]:
        """Return how each cell stands out, beginning with the header."""
        plain = MarkedNumber(0.0)
        rows = ([cell if isinstance(cell, MarkedNumber) else plain for cell in row] for row in self.rows)
        return [[plain] * len(self.header), *rows]


def show_number(number: float, digits: int = 4, sign: str = "-") -> str:
    """Return a number with this many decimals, or in scientific notation if it is very large; zero has no minus.

    With `sign` "+", positive numbers have a sign, too.

    >>> show_number(0.25), show_number(-0.00001), show_number(1.23456e20), show_number(0.25, 2, "+")
    ('0.2500', '0.0000', '1.2346e+20', '+0.25')
    """
    # from 1e15 on, the decimals of a double lie beyond its 16 significant digits
    return f"{number:{sign}z.{digits}f}" if abs(number) < 1e15 else f"{number:{sign}.{digits}e}"


def show_beside(number: float, *limits: float, sign: str = "-") -> str:
    """Return a number with as many decimals, four or more, as show on which side of each limit it lies.

    >>> show_beside(0.84996, 0.85), show_beside(0.7, 0.85), show_beside(-0.000012, 0.0)
    ('0.84996', '0.7000', '-0.00001')
    """
    digits = 4
    while digits < 12 and any(_hides(number, digits, limit) for limit in limits):
        digits += 1
    return show_number(number, digits, sign)


def _hides(number: float, digits: int, limit: float) -> bool:
    """Return whether a number moves to a limit, or beyond it, with this many decimals."""
    shown, beyond = round(number, digits) - limit, number - limit
    return abs(beyond) > 1e-12 and not shown * beyond > 0


def plain_cell(cell: Cell) -> str | float | None:
    """Return the content of a cell without marks."""
    if isinstance(cell, PValue):
        return float(cell)
    return cell.value if isinstance(cell, MarkedNumber) else cell


def to_text(table: Table) -> str:
    """Return the table as text: padded columns with a rule below the header.

    Marks have a column of their own, which keeps decimal points aligned. A table that is too wide is split into several
    tables or into records; words are never broken.

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
    """Return the rows, laid out to fit the width of the table if it has one."""
    grid = Grid.of(table)
    if table.width is None or grid.total(grid.columns) <= table.width:
        return grid.text(grid.columns)
    wrapped = grid.wrap(table.width)
    if wrapped is not None:
        return wrapped.text(grid.columns)
    blocks = grid.split(table.width)
    return "\n".join(map(grid.text, blocks)) if blocks else grid.stack_rows(table.width)


class Grid(NamedTuple):
    """The cells of a table as plain text; the first row is the header."""

    cells: list[list[str]]
    best: list[list[bool]]
    """which cells are bold"""
    right: list[bool]
    """which columns are aligned right"""
    widths: list[int]

    @classmethod
    def of(cls, table: Table) -> "Grid":
        """Return the grid of a table."""
        marks = table.marks()
        # marks take the same space in all rows of a column, to align decimal points
        room = [max(len(mark.marks) for mark in column) for column in zip(*marks, strict=True)]
        cells = [
            [
                plain_line(text) + mark.marks.translate(RAISED).ljust(space)
                for text, mark, space in zip(*row, strict=True)
            ]
            for row in zip(table.cells(), marks, [room] * len(marks), strict=True)
        ]
        best = [[mark.best and table.bold for mark in row] for row in marks]
        return cls(cells, best, table.numeric(), [max(map(width_of, column)) for column in zip(*cells, strict=True)])

    @property
    def columns(self) -> list[int]:
        """The indices of all columns."""
        return list(range(len(self.widths)))

    def total(self, columns: Iterable[int]) -> int:
        """Return the total width of some columns."""
        widths = [self.widths[i] for i in columns]
        return sum(widths) + GAP * (len(widths) - 1)

    def text(self, columns: list[int]) -> str:
        """Return some columns as padded text with a rule below the header."""
        lines = [
            (" " * GAP).join(self._pad(row[i], i, bold=best[i]) for i in columns).rstrip()
            for row, best in zip(self.cells, self.best, strict=True)
        ]
        return "\n".join([lines[0], (" " * GAP).join("─" * self.widths[i] for i in columns), *lines[1:]]) + "\n"

    def _pad(self, text: str, column: int, *, bold: bool) -> str:
        space = " " * (self.widths[column] - width_of(text))
        padded = space + text if self.right[column] else text + space
        return f"\x1b[1m{padded}\x1b[0m" if bold else padded

    def wrap(self, width: int) -> "Grid | None":
        """Return the table with its widest column of prose wrapped, or None if that column would be too narrow."""
        prose = [i for i in self.columns if not self.right[i] and any(" " in row[i] for row in self.cells[1:])]
        if not prose:
            return None
        wide = max(prose, key=self.widths.__getitem__)
        room = width - (self.total(self.columns) - self.widths[wide])
        comfortable = 24
        if room < max(comfortable, *(width_of(word) for row in self.cells for word in row[wide].split())):
            return None
        cells, best = [], []
        for row, flags in zip(self.cells, self.best, strict=True):
            for n, line in enumerate(fill(row[wide], room).split("\n")):
                cells.append([line if i == wide else cell if n == 0 else "" for i, cell in enumerate(row)])
                best.append([flag and n == 0 for flag in flags])
        return Grid(cells, best, self.right, [room if i == wide else self.widths[i] for i in self.columns])

    def split(self, width: int) -> list[list[int]]:
        """Return the columns in as few blocks as fit, each with the columns that name the row; none if one is too wide.

        All blocks have about the same width.
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

    def stack_rows(self, width: int) -> str:
        """Return one line per cell, with the name of its column, and a blank line between rows.

        A cell that is too long for this has a line of its own, below the name of its column.
        """
        header, *rows = self.cells
        names = [name.strip() for name in header]
        label = max(map(width_of, names)) + GAP

        def line(name: str, cell: str) -> str:
            if label + width_of(cell) > width:
                return f"{name}\n{' ' * GAP}{cell}\n"
            return f"{name}{' ' * (label - width_of(name))}{cell}".rstrip() + "\n"

        texts = ("".join(map(line, names, map(str.strip, row))) for row in rows)
        return "\n".join(texts) if rows else self.text(self.columns)


def fill(text: str, width: int | None) -> str:
    """Return text without control characters, wrapped between words to lines of at most this width, if there is one."""
    text = plain_line(text)
    if width is None or width_of(text) <= width:
        return text
    import textwrap

    spread = "".join(letter + FILLER * (width_of(letter) - 1) for letter in text)  # textwrap counts letters
    return textwrap.fill(spread, width, break_long_words=False, break_on_hyphens=False).replace(FILLER, "")


def width_of(text: str) -> int:
    """Return the number of columns that text takes in a terminal: wide letters take two, combining marks none.

    >>> width_of("bm25"), width_of("検索"), width_of("re\u0301sume\u0301")
    (4, 4, 6)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(1 + (east_asian_width(x) in "WF") for x in text if category(x) not in ("Mn", "Me"))


def to_delimited(table: Table, delimiter: str) -> str:
    """Return CSV or TSV with all digits; if SAFE is set, a quote precedes text that looks like a formula."""
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
    """Return a Markdown table; escape=False means that the cells already are Markdown."""
    safe = [[escape_markdown(cell) if escape else cell for cell in row] for row in table.cells()]
    cells = _mark(table, safe, "**{}**", "<sup>{}</sup>")
    rule = ["---:" if number else "---" for number in table.numeric()]
    more = f"\n{escape_markdown(table.more)}\n" if table.more else ""
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]]) + "\n" + more


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows literally."""
    return plain_line(text).translate(MARKDOWN).replace("://", "&#58;//").replace("www.", "www&#46;")


def _mark(table: Table, cells: list[list[str]], best: str, marks: str) -> list[list[str]]:
    """Return the cells with the format's markup for the best values and the marks."""
    return [
        [
            (best.format(text) if mark.best else text) + (marks.format(mark.marks) if mark.marks else "")
            for text, mark in zip(*row, strict=True)
        ]
        for row in zip(cells, table.marks(), strict=True)
    ]


def to_latex(table: Table) -> str:
    """Return a LaTeX tabular with the rules of booktabs."""
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
    """Return text without line breaks and control characters, which could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "�" for character in text)


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> count_of(1, "query"), count_of(2000, "query"), count_of(2, "run")
    ('1 query', '2,000 queries', '2 runs')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def format_p(p: float, alpha: float = 0.05, words: str = "") -> str:
    """Return a p-value with enough digits to show on which side of alpha it lies.

    With the words "at least" or "at most", it is rounded down or up to keep the statement true.

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
    """Return p rounded to the nearest number, or down for "at least", or up for "at most"."""
    nearest = round(p, digits)
    step = {"at least": -1, "at most": 1}.get(words, 0)
    return nearest + step * 10.0**-digits if step * (nearest - p) < 0 else nearest


def format_short(value: float, digits: int | None = None) -> str:
    """Return a number without the 0 before its decimal point.

    >>> format_short(0.01), format_short(0.5, 2), format_short(1.0, 2)
    ('.01', '.50', '1.00')
    """
    text = f"{value:g}" if digits is None else show_number(value, digits)
    return text[1:] if text.startswith("0.") else text


def to_html(table: Table) -> str:
    """Return an HTML table; text in cells is escaped."""
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
    """Return text that HTML shows literally."""
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
    """Return the table in the named format."""
    return FORMATS[name](table)


MOST = 100
"""the most rows of a table in a notebook; a line below says how many more there are"""
NOTES = 20
"""the most notes in a notebook"""


def box(*parts: str) -> str:
    """Return parts of HTML as the notebook view of one object."""
    # the classes keep notebooks from reading a $ in a name as the beginning of a formula
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def sentence(text: str) -> str:
    """Return text as an HTML paragraph."""
    return f"<p>{escape_html(text)}</p>"


def heading(text: str) -> str:
    """Return text in bold, as the heading of a table."""
    return f"<p><strong>{escape_html(text)}</strong></p>"


def formula(text: str) -> str:
    """Return preformatted text."""
    return f"<pre>{escape_html(text)}</pre>"


def bullets(texts: Iterable[object]) -> str:
    """Return sentences as a list, and only the first ones if there are very many."""
    lines = [escape_html(str(text)) for text in texts]
    rest = len(lines) - NOTES
    lines = [*lines[:NOTES], f"… and {rest:,} more"] if rest > 0 else lines
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else ""


def fold(title: str, *parts: str) -> str:
    """Return parts that are hidden until the reader opens them."""
    return f"<details><summary>{escape_html(title)}</summary>{''.join(parts)}</details>"


def grid(table: Table) -> str:
    """Return a table for a notebook, with a limited number of rows.

    >>> grid(Table(["run", "AP"], [["<b>", 0.5]]))[-107:]
    '<tr><td style="text-align:left">&lt;b&gt;</td><td style="text-align:right">0.5000</td></tr></tbody></table>'
    """
    rest = len(table.rows) - MOST
    more = f"<p>… and {rest:,} more rows</p>" if rest > 0 else ""
    return to_html(table._replace(rows=table.rows[:MOST])) + more
