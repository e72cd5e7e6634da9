"""Batch: the ranks of the judged documents of a block of queries. Levels: the labels of a collection.

A measure needs nothing else. A batch has one row per query, and one column per judged document that was retrieved, in
rank order. Unjudged documents matter only through `above`, `tied` and `retrieved`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, TypeAlias, TypeVar

from gradely.kernel.backend import device_of, is_any, is_numpy, namespace, to_lists
from gradely.kernel.subtopics import Subtopics
from gradely.lazy import lazy
from gradely.tables import Table, box, count_of, grid, heading, sentence

Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""
T = TypeVar("T")
LASTING = ("xp", "in_numpy", "device", "untied", "depth", "row", "ranks", "rank", "size", "edges")
"""cached properties of a batch that do not depend on its labels"""
OF_ROWS = ("xp", "in_numpy", "device", "row")
"""cached properties that do not depend on the ranking either"""
CELLS = 1 << 17
"""approximate number of cells in an array of a block of rows: few enough for the processor's cache"""


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Arrays of one library, on one device. Columns are sorted by `above`; padding comes last."""

    grade: Array
    """[Q, H] the label, a real number; 0 in padding"""
    judged: Array
    """[Q, H] true if the column holds a judged document"""
    above: Array
    """[Q, H] number of retrieved documents with a strictly better score"""
    tied: Array
    """[Q, H] number of retrieved documents with the same score, itself included; 1 = no tie"""
    first: Array
    """[Q, H] the first column of its tie group"""
    last: Array
    """[Q, H] one past the last column of its tie group"""
    pool: Array
    """[Q, B] the labels of all judged documents, best first; 0 in padding"""
    pooled: Array
    """[Q, B] true if `pool` holds a label"""
    retrieved: Array
    """[Q] the length of the ranking"""
    fixed: ClassVar[bool] = False
    """true if the batch must not depend on values, only on shapes; see Fixed"""
    padded: ClassVar[bool] = True
    """false only if every cell is known to hold a document"""
    by_place: ClassVar[bool] = False
    """true if sums are computed by rank; see by_place"""
    most_levels: ClassVar[int | None] = None
    """largest number of distinct positive labels of a query, if values must not be inspected; see Fixed"""
    ties: str = "expected"
    """how measures treat tie groups: the mean over their orders (expected), the best or the worst order"""
    subtopics: Subtopics | None = None
    """the labels by subtopic, if the judgments have them; `grade` and `pool` then hold the highest of a document"""
    memo: dict[object, Any] = field(default_factory=dict, init=False)
    """cache shared by measures that does not depend on labels: tables of discounts, precisions of levels"""
    pool_memo: dict[object, Any] = field(default_factory=dict, init=False)
    """cache that depends only on the pools, not on what was retrieved; see of_pools"""
    orders: dict[object, "Batch"] = field(default_factory=dict, init=False)
    """the batch with its ties in the best or worst order; the key is what determines the order, see Measure"""
    by_relevance: dict[object, "Batch"] = field(default_factory=dict, init=False)
    """the batch with labels replaced by relevance, by relevance function; these batches are freed with this one"""
    _tops: dict[int, "Batch | None"] = field(default_factory=dict, init=False)
    """the batch without columns below the top k, by k; None if it has none"""

    @lazy
    def xp(self) -> Any:
        """The array namespace of the fields."""
        return namespace(self.grade)

    @lazy
    def in_numpy(self) -> bool:
        """True if the fields are NumPy arrays, whose methods can be faster than the standard functions."""
        return is_numpy(self.grade)

    @lazy
    def device(self) -> Any:
        """The device of the fields."""
        return device_of(self.grade)

    @lazy
    def untied(self) -> bool:
        """True if no judged document shares its score."""
        return not is_any(self.tied > 1)

    @lazy
    def depth(self) -> int:
        """The lowest rank that a judged document can have."""
        places = self.above + self.tied
        return int(self.xp.max(places)) if 0 not in places.shape else 0

    @lazy
    def row(self) -> Array:
        """[Q, 1] the number of each row, for look-ups by row."""
        return self.xp.arange(self.grade.shape[0], dtype=self.first.dtype, device=self.device)[:, None]

    @lazy
    def ranks(self) -> Array:
        """The ranks 1, 2, … down to the lowest that a judged document can have."""
        return self.count_up(self.depth)

    def count_up(self, last: int) -> Array:
        """Return 1, 2, … up to the last, as the batch's real numbers."""
        return self.xp.arange(1, last + 1, dtype=self.grade.dtype, device=self.device)

    @lazy
    def rank(self) -> Array:
        """[Q, H] the best rank that each document can have, as a real number; its rank if it is not tied."""
        return self.to_real(self.above) + 1

    @lazy
    def size(self) -> Array:
        """[Q, H] the size of each document's tie group, as a real number."""
        return self.to_real(self.tied)

    @lazy
    def edges(self) -> tuple[Array, Array]:
        """[Q, H] the positions of the start and end of each document's tie group in a flat table of prefix sums."""
        start = self.row * (self.grade.shape[1] + 1)
        return start + self.first, start + self.last

    @property
    def parts(self) -> list["Batch"]:
        """The batch in blocks of rows that fit into the processor's cache, or in one if splitting does not help."""
        return self._blocks or [self]

    @lazy
    def _blocks(self) -> list["Batch"]:
        rows = rows_at_a_time(max(self.grade.shape[1], self.pool.shape[1]))
        if not self.in_numpy or len(self.grade) <= rows:
            return []
        return [self.rows(slice(i, i + rows)) for i in range(0, len(self.grade), rows)]

    def rows(self, part: slice) -> "Batch":
        """Return some of the rows."""
        arrays = [entry.name for entry in fields(Batch) if entry.init and entry.name not in ("ties", "subtopics")]
        subtopics = None if self.subtopics is None else self.subtopics.rows(part)
        return replace(self, subtopics=subtopics, **{name: getattr(self, name)[part, ...] for name in arrays})

    def top(self, k: int | None) -> "Batch":
        """Return the batch without columns that cannot be in the top k; computed once."""
        if k is None or k >= self.grade.shape[1]:
            return self
        if k not in self._tops:
            self._tops[k] = self._columns(self._reach(k))
        return self._tops[k] or self

    def _reach(self, k: int) -> int:
        """Return a number of columns that hold all documents of the top k, at most twice as many as needed."""
        width = k
        while width < self.grade.shape[1] and is_any(self.judged[:, width] & (self.above[:, width] < k)):
            width *= 2
        return min(width, int(self.grade.shape[1]))

    def _columns(self, width: int) -> "Batch | None":
        """Return the batch with only the first columns; None if it has no others."""
        if width == self.grade.shape[1]:
            return None
        # a tie group below the top k may lose columns; no measure with this cut-off counts it
        names = ("grade", "judged", "above", "tied", "first")
        last = self.xp.clip(self.last[:, :width], max=width)
        subtopics = None if self.subtopics is None else self.subtopics.columns(width)
        return self.reorder(last=last, subtopics=subtopics, **{name: getattr(self, name)[:, :width] for name in names})

    def reorder(self, **changes: Any) -> "Batch":
        """Return the batch with another ranking of the same pools; data that depend only on the pools stay cached."""
        other = replace(self, **changes)
        known = {name: vars(self)[name] for name in OF_ROWS if name in vars(self)}
        other.set_cached(pool_memo=self.pool_memo, **known)
        return other

    def with_ties(self, ties: str) -> "Batch":
        """Return the batch with another tie policy; data that depend on its pools and ranking stay cached."""
        other = replace(self, ties=ties)
        known = {name: vars(self)[name] for name in LASTING if name in vars(self)}
        tops = {k: top and top.with_ties(ties) for k, top in self._tops.items()}
        other.set_cached(pool_memo=self.pool_memo, _tops=tops, **known)
        return other

    def set_cached(self, **facts: Any) -> None:
        """Set cached properties that the caller knows, such as `untied`."""
        self.__dict__.update(facts)

    def relabel(self, grade: Array, pool: Array, pooled: Array) -> "Batch":
        """Return the batch with other labels; data that depend only on its ranking stay cached."""
        other = replace(self, grade=grade, pool=pool, pooled=pooled)
        other.set_cached(
            memo=self.memo,
            pool_memo=self.pool_memo,
            **{name: vars(self)[name] for name in LASTING if name in vars(self)},
        )
        return other

    def keep_top(self, x: Array, k: int | None) -> Array:
        """Return x with 0 for documents that have k or more others above them."""
        return x if k is None or k >= self.depth else self.xp.where(self.above < k, x, 0.0)

    def to_real(self, x: Array) -> Array:
        """Return an integer or boolean array as the batch's real numbers."""
        dtype = self.grade.dtype
        return x.astype(dtype) if self.in_numpy else self.xp.astype(x, dtype, copy=False)

    def of_pools(self, key: object, make: Callable[["Batch"], T]) -> T:
        """Return a value that depends only on the pools; computed once for all runs that are measured against them.

        The key contains everything else that it depends on, including the relevance function if labels were replaced.
        """
        try:
            value: T = self.pool_memo[key]
        except KeyError:
            value = self.pool_memo[key] = make(self)
        return value

    def constant(self, x: float) -> Array:
        """Return [Q]: the same real number for every query."""
        return self.of_pools((Batch, x), lambda batch: batch.xp.full_like(batch.grade[:, 0], x))

    @property
    def levels(self) -> "Levels":
        """The labels of all pools; calling it returns the distinct positive ones, ascending."""
        return Levels(self.pool, self.pooled, by_subtopic=self.subtopics is not None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the fields without the caches, which hold the array library and may be large."""
        return type(self), tuple(getattr(self, entry.name) for entry in fields(self) if entry.init)

    def __repr__(self) -> str:
        """Return its size, its array library and its tie policy."""
        return title(self)

    def _repr_html_(self) -> str:
        """Return the numbers of documents of the first queries as HTML for notebooks."""
        return card(self)


def rows_at_a_time(width: int) -> int:
    """Return the number of rows with this width that fit into the processor's cache."""
    return max(1, CELLS // max(1, width))


BLOCK, FEW = 1 << 16, 8
"""number of labels that are compared at a time, which fit into the cache, and largest number of levels for which
comparing is faster than sorting"""


class Levels:
    """The labels of a collection, inspected only if needed; calling it returns the distinct positive ones."""

    def __init__(
        self, labels: Any, counted: Any | None = None, *, by_subtopic: bool = False, uncertain: bool = False
    ) -> None:
        """Store the labels, flags of those that count, and whether they are by subtopic or probabilities."""
        self._labels, self._counted, self.by_subtopic, self.uncertain = labels, counted, by_subtopic, uncertain

    def __call__(self) -> Any:
        """Return the distinct positive labels, ascending."""
        return self._positive

    @lazy
    def _positive(self) -> Any:
        labels, xp = self._labels, namespace(self._labels)
        if self._counted is None and is_numpy(labels):
            labels = find_distinct(labels.reshape(-1))
        positive = labels > 0 if self._counted is None else self._counted & (labels > 0)
        values = sort_distinct(xp.where(positive, labels, xp.zeros_like(labels)))
        return values[1:] if values.shape[0] and float(values[0]) == 0 else values

    def lower_by(self, level: float) -> "Levels":
        """Return the labels, all lowered by a level."""
        lower = self._labels - level
        return Levels(lower, self._counted, by_subtopic=self.by_subtopic, uncertain=self.uncertain)

    @lazy
    def lowest(self) -> float:
        """The lowest label."""
        xp, highest = namespace(self._labels), float(namespace(self._labels).max(self._labels))
        return float(xp.min(self._labels if self._counted is None else xp.where(self._counted, self._labels, highest)))


def find_distinct(labels: Any) -> Any:
    """Return the distinct labels, in any order.

    Most collections have few. Comparing all labels with these takes a tenth of the time of sorting, and no memory.
    """
    xp, known = namespace(labels), labels[:0]
    for start in range(0, labels.shape[0], BLOCK):
        if known.shape[0] > FEW:
            return sort_distinct(labels)
        block = labels[start : start + BLOCK]
        new = xp.ones_like(block, dtype=xp.bool)
        for level in known:
            new &= block != level
        if xp.any(new):
            known = sort_distinct(xp.concat([known, block[new]]))
    return known


def sort_distinct(labels: Any) -> Any:
    """Return the distinct labels, ascending.

    unique_values would import numpy.ma, which takes a twentieth of the time of a small evaluation.
    """
    xp = namespace(labels)
    ordered = xp.sort(xp.reshape(labels, (-1,)))
    return xp.concat([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])


ROWS = 10
"""number of queries that a notebook shows"""


def title(batch: Batch) -> str:
    """Return the size of a batch, its array library and its tie policy."""
    size = count_of(int(batch.grade.shape[0]), "query")
    columns = count_of(int(batch.grade.shape[1]), "judged and retrieved document")
    kind = type(batch.grade).__module__.partition(".")[0]
    return f"Batch({size}, up to {columns}, {kind} arrays, ties {batch.ties})"


def card(batch: Batch) -> str:
    """Return the first queries as HTML: numbers of retrieved, judged and tied documents."""
    part = batch.rows(slice(0, ROWS))
    counts = [
        part.retrieved,
        part.xp.sum(part.to_real(part.judged), axis=1),
        part.xp.sum(part.to_real(part.judged & (part.tied > 1)), axis=1),
        part.xp.sum(part.to_real(part.pooled), axis=1),
    ]
    columns = [[int(count) for count in to_lists(part.to_real(counted))] for counted in counts]
    highest = [f"{label:g}" for label in to_lists(part.pool[:, 0])] if part.pool.shape[1] else ["-"] * len(columns[0])
    rows = [list(row) for row in zip(range(len(highest)), *columns, highest, strict=True)]
    header = ["row", "retrieved", "judged of these", "tied of these", "judged in all", "highest label"]
    more = f"… and {count_of(len(batch.grade) - ROWS, 'more query')}" if len(batch.grade) > ROWS else ""
    return box(heading(title(batch)), grid(Table(header, rows)), sentence(more))
