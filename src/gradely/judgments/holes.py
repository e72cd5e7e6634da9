"""holes: what unjudged documents could change, and which of them to judge next."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.sentences import list_names
from gradely.comparison.tests import all_pairs
from gradely.data.column_roles import Names
from gradely.data.ids import Floats, Ints
from gradely.data.selection import read_selected, split_queries
from gradely.errors import DataError
from gradely.evaluation.evaluate import Progress, ignore, name_runs, open_runs
from gradely.evaluation.label_bounds import LabelRanges, bound_labels
from gradely.evaluation.label_ranges import Range, is_decided
from gradely.evaluation.notes import SAME, Note, note_inputs
from gradely.evaluation.result import MOST, Result, Section
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import DuplicatePolicy, Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Cell, Table, count_of

DEFAULT = ("nDCG@10",)
"""the default measure; for others, ranges of differences may only be bounds"""


class OpenPair(NamedTuple):
    """The difference of two runs by a measure, a minus b, and its range over the labels of unjudged documents."""

    a: str
    b: str
    measure: str
    difference: float
    """the difference by the judgments, where unjudged documents count as not relevant"""
    low: float
    high: float
    decided: bool
    """whether the same run is better, or both are equal, whatever the labels"""
    exact: bool
    """whether some labels reach the ends of the range; if not, more pairs may in fact be decided"""


@dataclass(eq=False, repr=False)
class Holes(Result):
    """The range of every mean and every difference over all labels that unjudged documents may have.

    >>> from gradely import holes
    >>> h = holes({"q": {"a": 1, "b": 0}}, {"one": {"q": ["a", "x", "b"]}, "two": {"q": ["b", "y"]}}, ["P@2"])
    >>> h.ranges["one"]["P@2"], h.ranges["two"]["P@2"]
    ((0.5, 1.0), (0.0, 0.5))
    >>> print(h.pairs_table())
    measure  a    b     a - b     low    high  decided
    ───────  ───  ───  ──────  ──────  ──────  ───────
    P@2      one  two  0.5000  0.0000  1.0000  no
    """

    names: list[str]
    found: LabelRanges
    queries: list[str]
    """the queries that count"""

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return list(self.found.bounds)

    @cached_property
    def _means(self) -> dict[str, tuple[Floats, Range]]:
        return {measure: self.found.means(measure) for measure in self.measures}

    @cached_property
    def values(self) -> dict[str, dict[str, float]]:
        """The means by the judgments, {run: {measure: mean}}."""
        return {
            name: {measure: float(mean[i]) for measure, (mean, _) in self._means.items()}
            for i, name in enumerate(self.names)
        }

    @cached_property
    def ranges(self) -> dict[str, dict[str, tuple[float, float]]]:
        """The ranges of the means, {run: {measure: (low, high)}}."""
        return {
            name: {measure: (float(low[i]), float(high[i])) for measure, (_, (low, high)) in self._means.items()}
            for i, name in enumerate(self.names)
        }

    @cached_property
    def by_query(self) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
        """The ranges by query, {run: {measure: {query: (low, high)}}}."""
        every = {measure: bounds.ranges for measure, bounds in self.found.bounds.items()}
        return {
            name: {measure: self._of_queries(low[i], high[i]) for measure, (low, high) in every.items()}
            for i, name in enumerate(self.names)
        }

    def _of_queries(self, low: Floats, high: Floats) -> dict[str, tuple[float, float]]:
        counted = self.found.counted
        ends = zip(low[counted].tolist(), high[counted].tolist(), strict=True)
        return dict(zip(self.queries, ends, strict=True))

    @cached_property
    def pairs(self) -> list[OpenPair]:
        """Every pair of runs by every measure, in the order of the runs."""
        return [pair for measure in self.measures for pair in self._pairs(measure)]

    def _pairs(self, measure: str) -> list[OpenPair]:
        first, second = all_pairs(len(self.names))
        mean, bounds = self._means[measure][0], self.found.bounds[measure]
        low, high = self.found.differences(measure, first, second)
        columns = (first, second, mean[first] - mean[second], low, high)
        return [
            OpenPair(self.names[a], self.names[b], measure, difference, x, y, is_decided(x, y), bounds.exact_pairs)
            for a, b, difference, x, y in zip(*(column.tolist() for column in columns), strict=True)
        ]

    @property
    def unjudged(self) -> dict[str, int]:
        """The number of unjudged documents that can be at the top of at least one run, by measure."""
        return self.found.unjudged

    def judge(self, count: int | None = None, measure: MeasureLike | None = None) -> "ToJudge":
        """Return the documents to judge next by a measure, which is the first by default; highest worth first.

        The worth of a document is its share of the range of the difference of two runs, or of the range of a single
        run, so the worths of all documents add up to 1. Of several open pairs, those near a decision count more. If the
        measure is a sum, like P and DCG, judging the document narrows the range by exactly this share, whatever its
        label. Without `count`, all documents with a positive worth are listed.
        """
        name = self.measures[0] if measure is None else next(iter(parse_all(measure)))
        if name not in self.measures:
            raise DataError(f"{name} was not bounded: use one of {', '.join(self.measures)}")
        if count is not None and count < 1:
            raise DataError(f"the number of documents to judge must be a whole number of at least 1; found {count!r}")
        bounds, pairs = self.found.bounds[name], [pair for pair in self.pairs if pair.measure == name]
        worth = self._worth(name)
        worth /= max(worth.sum(), LEAST)
        order = np.argsort(-worth.round(DIGITS), kind="stable")[: int(np.count_nonzero(worth))][:count]
        joined, rows = bounds.runs.stacked.qrels, np.flatnonzero(bounds.is_open)
        query = np.searchsorted(joined.start, rows, side="right") - 1
        documents = [
            OpenDocument(joined.queries[int(query[i])], bounds.runs.name(int(rows[i])), float(worth[i]))
            for i in order.tolist()
        ]
        total, undecided = int(np.count_nonzero(worth)), sum(not pair.decided for pair in pairs)
        elsewhere = list({pair.measure: None for pair in self.pairs if pair.measure != name and not pair.decided})
        return ToJudge(name, documents, total, len(pairs), undecided, elsewhere, tuple(self.notes))

    def _worth(self, measure: str) -> Floats:
        first, second = all_pairs(len(self.names))
        if len(self.names) == 1:
            return worth_alone(self.found, measure)
        undecided = np.array([not pair.decided for pair in self.pairs if pair.measure == measure])
        return worth_of(self.found, measure, first[undecided], second[undecided])

    @property
    def notes(self) -> list[Note]:
        """Notes on assumed labels, on ranges that are only bounds, and on queries and documents."""
        of_measures = {name: bounds.measure for name, bounds in self.found.bounds.items()}
        runs = next(iter(self.found.bounds.values())).runs
        about_labels, said = note_inputs(runs.stacked.qrels, of_measures), set(map(str, runs.notes))
        return [
            *_note_labels(self),
            *_note_depths(self),
            *_note_bounds("bounds", self, {name: not of.exact for name, of in self.found.bounds.items()}, "the ranges"),
            *_note_bounds(
                "bounds",
                self,
                {
                    name: of.exact and not of.exact_pairs and len(self.names) > 1
                    for name, of in self.found.bounds.items()
                },
                "the ranges of differences",
            ),
            *(note for note in about_labels if str(note) not in said),
            *runs.notes,
        ]

    def summary(self) -> str:
        """Return a sentence with the answer by the first measure."""
        measure, first = self.measures[0], self.names[0]
        open_documents = count_of(self.unjudged[measure], "unjudged document")
        where = f"in the top {self.found.depths[measure]:,}"
        if not self.unjudged[measure]:
            return f"No document {where} is unjudged: {measure} is certain."
        if len(self.names) == 1:
            low, high = self.ranges[first][measure]
            value = f"{measure} of {first} is {self.values[first][measure]:.4f}, between {low:.4f} and {high:.4f}"
            return f"{value} whatever the labels of the {open_documents} {where}."
        pairs = [pair for pair in self.pairs if pair.measure == measure]
        if len(pairs) == 1:
            return f"{_say_pair(pairs[0])} the labels of the {open_documents} {where}."
        decided, labels = sum(pair.decided for pair in pairs), f"the labels of the {open_documents} {where}"
        if not decided:
            reverse = "could reverse" if pairs[0].exact else "may reverse"
            return f"No pair of runs is decided by {measure}: {labels} {reverse} all {len(pairs):,}."
        of = f"All {len(pairs):,}" if decided == len(pairs) else f"{decided:,} of {len(pairs):,}"
        are = "is" if decided == 1 else "are"
        return f"{of} pairs of runs {are} decided by {measure}, whatever {labels}."

    def table(self) -> Table:
        """Return one row per measure and run: the mean, its range, and the width of the range."""
        table = self.data_table()
        widths = [self.ranges[str(name)][str(measure)] for measure, name, *_ in table.rows]
        rows = [[*row, high - low] for row, (low, high) in zip(table.rows, widths, strict=True)]
        return Table([*table.header, "high - low"], rows)

    def data_table(self) -> Table:
        """Return one row per measure and run: the mean and its range."""
        rows: list[list[Cell]] = [
            [measure, name, self.values[name][measure], *self.ranges[name][measure]]
            for measure in self.measures
            for name in self.names
        ]
        return Table(["measure", "run", "value", "low", "high"], rows)

    def pairs_table(self) -> Table:
        """Return one row per measure and pair: the difference, its range, and whether it is decided."""
        rows: list[list[Cell]] = [
            [pair.measure, pair.a, pair.b, pair.difference, pair.low, pair.high, "yes" if pair.decided else "no"]
            for pair in self.pairs
        ]
        return Table(["measure", "a", "b", "a - b", "low", "high", "decided"], rows)

    def caption(self) -> str:
        """Return a description of the data, the settings and the possible labels."""
        settings = next(iter(self.found.bounds.values())).runs.stacked.settings
        policies = settings.describe(weighted=self.found.weights is not None)
        return (
            f"Data: means over {count_of(len(self.queries), 'query')}, ties: {settings.ties}, queries: "
            f"{settings.queries}, {settings.precision} precision{policies}. An unjudged document may have "
            f"{self.found.labels}"
        )

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the answer, and the ranges of all means and differences."""
        sections: list[Section] = [self.summary(), self.table()]
        if len(self.names) > 1:
            sections.append(self.pairs_table().cut(MOST, "pair"))
        return sections

    def remarks(self) -> list[str]:
        """Return the caption and, if a pair is undecided, what to type next."""
        undecided = not all(pair.decided for pair in self.pairs if pair.measure == self.measures[0])
        hint = "`gradely holes --judge 20` lists the documents to judge first"
        return [self.caption(), *([hint] if undecided else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data with all digits."""
        return {
            "summary": self.summary(),
            "caption": self.caption(),
            "labels": list(self.found.labels.values),
            "runs": [
                {
                    "run": name,
                    "measure": measure,
                    "value": self.values[name][measure],
                    "low": low,
                    "high": high,
                    "exact": self.found.bounds[measure].exact,
                    "queries": {query: list(ends) for query, ends in self.by_query[name][measure].items()},
                }
                for name in self.names
                for measure, (low, high) in self.ranges[name].items()
            ],
            "pairs": [pair._asdict() for pair in self.pairs],
            "unjudged": self.unjudged,
            "notes": self._list_notes(),
        }


def _say_pair(pair: OpenPair) -> str:
    """Return the beginning of a sentence that says which of two runs is better, or that the pair is undecided."""
    if not pair.decided:
        now = f"{pair.a} - {pair.b} is {pair.difference:+z.4f} by {pair.measure}"
        if not pair.exact:
            return f"Undecided: {now}, and never outside {pair.low:+z.4f} to {pair.high:+z.4f}, whatever"
        return f"Undecided: {now}, and between {pair.low:+z.4f} and {pair.high:+z.4f} depending on"
    if max(abs(pair.low), abs(pair.high)) <= SAME:
        return f"{pair.a} and {pair.b} are equal by {pair.measure}, whatever"
    better, worse = (pair.a, pair.b) if pair.low > 0 else (pair.b, pair.a)
    low, high = sorted((abs(pair.low), abs(pair.high)))
    return f"{better} is better than {worse} by {pair.measure}, by {low:.4f} to {high:.4f}, whatever"


def _note_labels(holes: Holes) -> list[Note]:
    if not holes.found.labels.assumed:
        return []
    text = "no judged document has a label above 0, so 1 is assumed to be the label of relevant documents"
    return [Note("labels", len(holes.queries), len(holes.queries), text)]


def _note_depths(holes: Holes) -> list[Note]:
    """Name the measures that depend on deeper ranks than those whose documents may be relevant."""
    shallow = [
        name
        for name, bounds in holes.found.bounds.items()
        if bounds.measure.k is None or bounds.measure.k > holes.found.depths[name]
    ]
    if not shallow:
        return []
    depth = holes.found.depths[shallow[0]]
    text = f"for {', '.join(shallow)}, unjudged documents below the top {depth:,} of every run count as not relevant"
    return [Note("depth", len(shallow), len(holes.measures), text)]


def _note_bounds(kind: str, holes: Holes, flags: dict[str, bool], what: str) -> list[Note]:
    names = [name for name, flag in flags.items() if flag]
    text = f"{what} of {', '.join(names)} are bounds: no labels lead outside them, but perhaps none reach their ends"
    return [Note(kind, len(names), len(holes.measures), text)] if names else []


class OpenDocument(NamedTuple):
    """A document to judge, and the share of the open ranges that depends on it."""

    query: str
    document: str
    worth: float


@dataclass(eq=False, repr=False)
class ToJudge(Result):
    """Documents to judge, highest worth first."""

    measure: str
    documents: list[OpenDocument]
    total: int
    """the number of documents with a positive worth"""
    pairs: int
    undecided: int
    elsewhere: list[str]
    """the other measures by which pairs are open"""
    notes: tuple[Note, ...] = ()

    def table(self) -> Table:
        """Return one row per document: query, document, worth."""
        return Table(list(OpenDocument._fields), [list(document) for document in self.documents])

    def remarks(self) -> list[str]:
        """Return what the worth means, and which other measures have open pairs."""
        if not self.elsewhere:
            return [self._about()]
        others = f"pairs are open by {list_names(self.elsewhere)}"
        return [self._about(), f"this list is about {self.measure}; name another measure first: {others}"]

    def _about(self) -> str:
        if self.pairs and not self.undecided:
            are = "The only pair of runs is" if self.pairs == 1 else f"All {self.pairs:,} pairs of runs are"
            end = "" if self.elsewhere else ": nothing needs to be judged"
            return f"{are} decided by {self.measure}, whatever the labels{end}."
        if not self.total:
            return f"No unjudged document matters to {self.measure}: nothing needs to be judged."
        share = f"{len(self.documents):,} of {count_of(self.total, 'document')} that matter"
        if not self.pairs:
            what, more = "the range", ""
        elif self.undecided == 1:
            what, more = f"the range of the {'difference' if self.pairs == 1 else 'only open pair of runs'}", ""
        else:
            what, more = (
                f"the ranges of the {self.undecided:,} open pairs of runs",
                "; pairs near a decision count more",
            )
        return f"{share}; worth by {self.measure}: the share of {what} that depends on the document{more}"


DIGITS = 12
"""the decimals to which worths are compared, since the last digits of sums are not reliable"""
NEAREST = 0.01
"""the least distance of a difference from its decision, as a share of its width"""
LEAST = 1e-300
"""the least divisor, which avoids division by 0 if nothing is open"""


def worth_of(found: LabelRanges, measure: str, first: Ints, second: Ints) -> Floats:
    """Return how much of the ranges of open differences depends on each open document, summed over the differences.

    The width of a range on a query is divided among its open documents in proportion to their weights, or equally if
    all weights are 0 and the documents change only the ideal ranking. Each difference is divided by its distance from a
    decision, which is the distance of the nearer end of its range from 0.
    """
    low, high = (end[found.counted].T * found.shares for end in found.bounds[measure].differences(first, second))
    ends = low.sum(axis=1), high.sum(axis=1)
    lacks = np.maximum(np.minimum(-ends[0], ends[1]), NEAREST * (ends[1] - ends[0]))
    return _share(found, measure, (high - low) / lacks[:, None], lambda table: np.abs(table[first] - table[second]))


def worth_alone(found: LabelRanges, measure: str) -> Floats:
    """Return how much of the range of the only run depends on each open document."""
    low, high = (end[:, found.counted] * found.shares for end in found.bounds[measure].ranges)
    return _share(found, measure, high - low, np.abs)


def _share(found: LabelRanges, measure: str, width: Floats, weigh: Callable[[Floats], Floats]) -> Floats:
    """Divide widths [rows, queries that count] among the open documents of each query by their weights."""
    bounds = found.bounds[measure]
    stop, worth = np.cumsum(bounds.open_of), np.zeros(int(bounds.open_of.sum()))
    for column, query in enumerate(found.counted.tolist()):
        weights = weigh(bounds.weight_table(query))
        total = weights.sum(axis=1, keepdims=True)
        shares = np.divide(weights, total, out=np.full_like(weights, 1 / max(1, weights.shape[1])), where=total > 0)
        worth[stop[query] - bounds.open_of[query] : stop[query]] = width[:, column] @ shares
    return worth


def holes(
    qrels: Any,
    runs: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    labels: Iterable[float] | None = None,
    depth: int | None = None,
    *,
    top: float | None = None,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    weights: Any = None,
) -> Holes:
    """Find the range of each measure, and of the difference of each pair of runs, over labels of unjudged documents.

    `runs` are {name: run} or paths. `labels` are the labels that an unjudged document may have, by default all labels
    of the qrels; `top` allows all numbers from 0 to this one. Unjudged documents down to `depth` in the ranking of any
    run may have any of these labels, the same in all runs; the others count as not relevant. The default depth is the
    cut-off of the measure, or 100 without one. The other parameters are those of evaluate, but `ties` may not be "best"
    or "worst", whose order would depend on the labels.
    """
    policy, only = split_queries(queries)
    settings = Settings(
        ties,
        policy,
        precision=precision,
        seed=seed,
        threads=threads,
        exclude_self=exclude_self,
        duplicates=duplicates,
        document_pattern=document_pattern,
    )
    judgments = read_selected(qrels, settings, columns, only=only, exclude=exclude, weights=weights)
    opened = open_runs(name_runs(runs), columns, settings)
    named = parse_all(measures)
    found = bound_labels(judgments, opened, named, settings, labels=labels, top=top, depth=depth, progress=progress)
    return Holes(list(opened), found, [judgments.queries[i] for i in found.counted.tolist()])
