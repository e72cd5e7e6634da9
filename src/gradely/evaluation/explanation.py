"""An explanation: a value of a measure on one query, rank by rank, as a table and in words."""

from typing import NamedTuple

from gradely.measures.names import parse
from gradely.notebook import box, bullets, fold, grid, heading, sentence
from gradely.tables import Cell, Table, count_of, plain_line, show_number, to_text

NAMED = 5
"""how many of the documents that were not retrieved are named"""
DEPTH = 20
"""how many documents a notebook shows"""


class Line(NamedTuple):
    """A retrieved document: where it stands, what it is and what it adds."""

    first: int
    """its rank; of a tie group, the first rank"""
    last: int
    document: str
    score: float
    label: float | None
    """None where it is not judged"""
    relevance: float | None
    """the label as the measure sees it"""
    adds: float
    """what it adds to the sum; of very large gains, in units of a power of two that the norm is in, too"""
    gain: float | None = None
    """what its relevance earns, in the same units; None where it is not judged, or the measure has no discount"""
    weight: float | None = None
    """1 over the discount of its rank, of a tie group the mean of that, 0 below the cut-off: adds = gain · weight"""

    @property
    def rank(self) -> str:
        """The rank, or those that the tie group shares."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


class Explanation(NamedTuple):
    """A value of a measure on a query: a start and what the documents add, over a norm."""

    measure: str
    query: str
    ties: str
    lines: list[Line]
    missed: list[tuple[str, float]]
    """judged documents that were not retrieved, with their labels, best first"""
    start: float
    """what the sum begins with: 0, unless the measure counts other documents, too"""
    total: float
    norm: float
    value: float
    run: str
    answered: bool
    """False where the run has no results for the query, which then counts 0"""
    ideal: tuple[Line, ...]
    """the judged documents of the query, best first: the ranking to compare with"""
    ideal_total: float
    ideal_value: float
    unit: int
    """gains, what documents add, sum and norm are in units of 2 to this power, where they are too large for numbers"""

    def table(self, digits: int = 4, depth: int | None = None) -> Table:
        """Return one row per retrieved document, down to a depth."""
        header, rows = self._columns(self.lines[:depth], self.lines)
        scores = [f"{line.score:g}" for line in self.lines[:depth]]
        rows = [[*row[:2], score, *row[2:]] for row, score in zip(rows, scores, strict=True)]
        return Table([*header[:2], "score", *header[2:]], rows, digits)

    def ideal_table(self, digits: int = 4, depth: int | None = None) -> Table:
        """Return one row per document that adds something to the ideal ranking, down to a depth."""
        earning = [line for line in self.ideal if line.adds]
        return Table(*self._columns(earning[:depth], earning), digits)

    def _columns(self, lines: list[Line], every: list[Line]) -> tuple[list[str], list[list[Cell]]]:
        """Return a header and rows without scores; relevance and gain have columns where they say something."""
        graded = any(line.relevance is not None and line.relevance != line.label for line in every)
        discounted = any(line.gain is not None for line in every)
        header = ["rank", "document", "label", *(["relevance"] if graded else [])]
        rows: list[list[Cell]] = [
            [
                line.rank,
                line.document,
                None if line.label is None else f"{line.label:g}",
                *([line.relevance] if graded else []),
                *([line.gain, line.weight] if discounted else []),
                line.adds,
            ]
            for line in lines
        ]
        return [*header, *(["gain", "1/discount"] if discounted else []), "adds"], rows

    def text(self, digits: int = 4, depth: int | None = None) -> str:
        """Return the tables, and the sum, the norm and the value below, as the command line prints them."""
        parts = [to_text(self.table(digits, depth))] if self.lines else []
        parts.append("\n".join(self.sentences(digits, depth)) + "\n")
        ideal = self.ideal_table(digits, depth)
        if ideal.rows:
            parts.append(f"{self.describe_ideal(digits)}\n\n{to_text(ideal)}{self._rest_of_ideal(digits, depth)}")
        parts.append(f"`gradely measures {parse(self.measure).name}` has the formula\n")
        return "\n".join(parts)

    def sentences(self, digits: int = 4, depth: int | None = None) -> list[str]:
        """Return what comes below the table: the rest, the sum, the norm, the value."""
        lines, hidden = [], self.lines[depth:] if depth else []
        if not self.answered:
            lines.append(f"{plain_line(self.run)} has no results for query {plain_line(self.query)}, which counts 0")
        if hidden:
            lines.append(_count_hidden(hidden, digits))
        if self.missed:
            names = ", ".join(f"{plain_line(doc)} ({label:g})" for doc, label in self.missed[:NAMED])
            more = ", …" if len(self.missed) > NAMED else ""
            missed = f"judged but not retrieved: {count_of(len(self.missed), 'document')}"
            lines.append(f"{missed}, with {'its label' if len(self.missed) == 1 else 'their labels'}: {names}{more}")
        if self.start:
            lines.append(f"the sum begins with {show_number(self.start, digits)}, before any judged document")
        if self.unit:
            lines.append(f"gains, sums and norm are in units of 2^{self.unit}, since they are too large for numbers")
        total, norm, value = (show_number(number, digits) for number in (self.total, self.norm, self.value))
        return [*lines, f"ties: {self.ties}", f"sum {total} / norm {norm} = {self.measure} {value}"]

    def describe_ideal(self, digits: int = 4) -> str:
        """Return what the ideal ranking is worth."""
        total, value = (show_number(number, digits) for number in (self.ideal_total, self.ideal_value))
        worth = f"has sum {total} and {self.measure} {value}"
        return f"the ideal ranking, all judged documents of the query, best first, {worth}:"

    def _rest_of_ideal(self, digits: int, depth: int | None) -> str:
        hidden = [line for line in self.ideal if line.adds][depth:] if depth else []
        return f"{_count_hidden(hidden, digits)}\n" if hidden else ""

    def __repr__(self) -> str:
        """Show what `gradely explain` shows."""
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the tables in a notebook; the ideal ranking unfolds."""
        title = f"{self.measure} of query {self.query} in {self.run}: {self.value:.4f}"
        table = grid(self.table(depth=DEPTH)) if self.lines else ""
        ideal = self.ideal_table(depth=DEPTH)
        rest = sentence(self._rest_of_ideal(4, DEPTH).strip()) if len(self.ideal) > DEPTH else ""
        folded = fold(self.describe_ideal(), grid(ideal), rest) if ideal.rows else ""
        return box(heading(title), table, bullets(self.sentences(depth=DEPTH)), folded)


def _count_hidden(lines: list[Line], digits: int) -> str:
    """Return how many documents are not shown, and what they add."""
    adds = show_number(sum(line.adds for line in lines), digits)
    return f"… and {count_of(len(lines), 'more document')}, which {'adds' if len(lines) == 1 else 'add'} {adds}"
