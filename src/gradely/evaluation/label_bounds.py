"""Ranges of measures, and of differences between runs, over all labels that open documents may have.

KINDS maps each measure to the class that computes its range; other measures are an error.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gradely.data import Blocks, Qrels
from gradely.data.hashing import ranges as index_ranges
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import DataError, MeasureError
from gradely.evaluation.evaluate import Progress, ignore
from gradely.evaluation.label_ranges import Ideal, Range, counted_range, ideal_of, linear_range, ratio_range
from gradely.evaluation.notes import DEPTH, LabelRange, Note, note_names
from gradely.evaluation.open_documents import Labels, OpenRuns, find_open
from gradely.evaluation.scores import means, normalize_weights
from gradely.evaluation.values import measure_blocks
from gradely.kernel.arrays import in_order
from gradely.kernel.backend import divide, sum_rows
from gradely.kernel.batch import Batch
from gradely.kernel.families import additive, rank_discount, threshold
from gradely.lazy import lazy
from gradely.measures import Binary, Graded, Measure
from gradely.measures.ap import AP, bpref, infAP
from gradely.measures.base import BinaryOrGraded, ScaleBased
from gradely.measures.dcg import DCG, NDCNG, SDCG, nDCG, nDCGphi
from gradely.measures.err import ERR
from gradely.measures.g import binG
from gradely.measures.gap import GAP, eGAP, muAP, xGAP
from gradely.measures.names import fit_all
from gradely.measures.precision import F1, F, Judged, P, R, RelativeP, Rprec, SetAP, Unjudged, Utility
from gradely.measures.rbp import RBP
from gradely.measures.rr import RR, Success
from gradely.relevance import AtLeast, Identity, Levels, Max, Relevance, Shift, Tabled
from gradely.settings import Settings, is_number

CELLS = 1 << 19
"""approximate number of cells of arrays that are processed at a time"""
ENUMERATED = 10
"""largest number of open documents of a query for which all labels are enumerated, to bound differences exactly"""


@dataclass(frozen=True, eq=False)
class Bounds(ABC):
    """The range of one fitted measure over all labels of the open documents."""

    measure: Any
    runs: OpenRuns
    labels: Labels
    exact: ClassVar[bool] = True
    """false if ranges are bounds that perhaps no labels reach"""

    @property
    def exact_pairs(self) -> bool:
        """True if the ranges of differences are exact."""
        return self.exact

    @property
    def queries(self) -> int:
        """The number of judged queries."""
        return len(self.runs.stacked.qrels)

    @property
    def is_open(self) -> Bools:
        """Flags of the open documents."""
        return self.runs.is_open

    @lazy
    def open_of(self) -> Ints:
        """[Q] the number of open documents of each query."""
        qrels = self.runs.stacked.qrels
        return np.diff(np.concatenate([[0], np.cumsum(self.is_open)])[qrels.start])

    @lazy
    def open_until(self) -> Ints:
        """[Q] the number of open documents of each query and those before it."""
        return np.cumsum(self.open_of)

    @lazy
    def relevant(self) -> Ints:
        """[Q] the number of relevant judged documents, for a binary measure."""
        joined = self.runs.stacked.qrels
        flags = ~self.is_open & (joined.grade >= self.measure.rel)
        return np.diff(np.concatenate([[0], np.cumsum(flags)])[joined.start])

    @lazy
    def values(self) -> Floats:
        """[runs, queries] the values by the judgments alone."""
        return self.runs.values({"": self.measure})[:, :, 0]

    @property
    @abstractmethod
    def ranges(self) -> Range:
        """The range of each run on each query, [runs, queries]."""

    def differences(self, first: Ints, second: Ints) -> Range:
        """Return bounds of the differences of pairs of runs, [queries, pairs], mostly wider than the exact range."""
        low, high = self.ranges
        return self.keep_equal(Range((low[first] - high[second]).T, (high[first] - low[second]).T), first, second)

    def keep_equal(self, found: Range, first: Ints, second: Ints) -> Range:
        """Return bounds of differences, [queries, pairs], set to 0 if both runs have the same ranking."""
        same = (self.rankings[first] == self.rankings[second]).T
        return Range(np.where(same, 0.0, found.low), np.where(same, 0.0, found.high))

    @lazy
    def rankings(self) -> Ints:
        """[runs, queries] a number for each distinct ranking; no labels distinguish runs with the same ranking."""
        hits = self.runs.stacked.hits
        columns = (hits.row, hits.above, hits.tied) if hits.place is None else (hits.row, hits.place)
        order = np.lexsort((hits.row, hits.query))
        table = np.stack([column[order].astype(np.int64) for column in columns])
        start = np.searchsorted(hits.query[order], np.arange(len(hits.retrieved) + 1)).tolist()
        known: dict[tuple[int, bytes], int] = {}
        lengths = zip(hits.retrieved.tolist(), pairwise(start), strict=True)
        numbers = [known.setdefault((length, table[:, a:b].tobytes()), len(known)) for length, (a, b) in lengths]
        return np.array(numbers).reshape(-1, self.queries)

    @lazy
    def weights(self) -> "Weights":
        """The weights of open documents in each run, 1/rank by default."""
        return self.gather(from_place)[1]

    def weight_table(self, query: int) -> Floats:
        """Return [runs, open documents of a query]: their weights in each run."""
        return self.look_up(query)[2][:, :-1]

    def look_up(self, query: int) -> tuple[Ints, Floats, Floats]:
        """Return the open documents of each run for a query, their weights, and a table of weights, run by document.

        Documents are numbered from 0. Runs with fewer documents are padded with the number of the table's last column,
        which is 0.
        """
        lines = np.arange(len(self.runs.stacked.names)) * self.queries + query
        documents, weights = self.weights.rows(lines)
        last = int(self.open_until[query])
        documents = np.where(documents < 0, last, documents) - (last - int(self.open_of[query]))
        table = np.zeros((len(lines), int(self.open_of[query]) + 1))
        np.put_along_axis(table, documents, weights, axis=1)
        return documents, weights, table

    def blocks(self, open_label: float) -> Blocks:
        """Return the hits of all runs, with the same label for all open documents."""
        joined = self.runs.stacked.qrels
        grade = np.where(self.is_open, open_label, joined.grade)
        qrels = Qrels(joined.queries, joined.start, (), grade, joined.name)
        return Blocks(qrels, self.runs.stacked.hits)

    def gather(self, terms: Callable[[Measure, Batch], Any], open_label: float = 0.0) -> tuple[Floats, "Weights"]:
        """Return the sum of the terms of judged documents, [runs, queries], and the terms of open ones as weights."""
        blocks = self.blocks(open_label)
        term = np.zeros(len(blocks.row))

        def fill(rows: Ints, batch: Batch) -> None:
            added = terms(self.measure, batch)
            start, size = blocks.start[rows], np.diff(blocks.start)[rows]
            cells = np.arange(added.shape[1])[None, :] < size[:, None]
            term[(start[:, None] + np.arange(added.shape[1]))[cells]] = added[cells]

        blocks.visit(fill, self.runs.stacked.settings.ties, np.flatnonzero(self.runs.stacked.hits.answered))
        line = np.repeat(np.arange(len(blocks.retrieved)), np.diff(blocks.start))
        is_open = self.is_open[blocks.row]
        judged = np.bincount(line[~is_open], term[~is_open], len(blocks.retrieved)).astype(float)
        number = np.cumsum(self.is_open) - 1
        kept = is_open & (term != 0)
        weights = Weights(
            np.searchsorted(line[kept], np.arange(len(blocks.retrieved) + 1)), number[blocks.row[kept]], term[kept]
        )
        return judged.reshape(-1, self.queries), weights


def split(rows: Ints, width: int) -> list[Ints]:
    """Return rows in parts of about CELLS cells each, for tables of some width."""
    return np.array_split(rows, -(-len(rows) * max(1, width) // CELLS) or 1)


def from_place(measure: Measure, batch: Batch) -> Any:
    """Return 1/rank of each document, the mean over the places that it can take, with 0 below the top k."""
    return additive(batch, batch.xp.ones_like(batch.grade), rank_discount, measure.k)


class Weights(NamedTuple):
    """The open documents with a weight in each run, sorted by row i = s·Q + q, which is query q of run s."""

    start: Ints
    """the index of the first entry of each row"""
    document: Ints
    """the number of the open document"""
    weight: Floats

    def rows(self, at: Ints) -> tuple[Ints, Floats]:
        """Return the documents and weights of some rows, padded with -1 and 0 to the longest of them."""
        size = self.start[at + 1] - self.start[at]
        cells = np.arange(int(size.max(initial=0)))[None, :] < size[:, None]
        entry = index_ranges(self.start[at], size)
        documents, weights = np.full(cells.shape, -1), np.zeros(cells.shape)
        documents[cells], weights[cells] = self.document[entry], self.weight[entry]
        return documents, weights


class Weighted(Bounds):
    """A measure whose sum is linear in the gains of open documents."""

    @lazy
    def parts(self) -> tuple[Floats, Weights]:
        """The sum over judged documents, [runs, queries], and the terms of open ones per unit of gain."""
        judged, weights = self.gather(_terms, self.top_label)
        return judged, weights._replace(weight=weights.weight / self.top_gain)

    @property
    def weights(self) -> Weights:
        """The terms of open documents per unit of gain."""
        return self.parts[1]

    @lazy
    def gains(self) -> Floats:
        """The gain of a document with each of the labels."""
        return label_gains(self.measure, np.asarray(self.labels.values))

    @property
    def top_gain(self) -> float:
        """The highest gain of an open document; 1 if no label has a gain."""
        return float(self.gains.max()) or 1.0

    @property
    def top_label(self) -> float:
        """A label with the highest gain."""
        return self.labels.values[int(np.argmax(self.gains))]

    @abstractmethod
    def extremes(self, base: Floats, weight: Floats, line: Ints) -> Range:
        """Return the range of sums; `line` is the row s·Q + q of each, or of the first of two runs."""

    @lazy
    def ranges(self) -> Range:
        """The range of each run on each query."""
        lines = np.arange(len(self.runs.stacked.names) * self.queries)
        longest = int(np.diff(self.weights.start).max(initial=1))
        parts = [
            self.extremes(self.parts[0].ravel()[part], self.weights.rows(part)[1], part)
            for part in split(lines, longest)
        ]
        low, high = (np.concatenate(ends).reshape(-1, self.queries) for ends in zip(*parts, strict=True))
        return Range(low, high)

    def differences(self, first: Ints, second: Ints) -> Range:
        """Return the range of the differences of pairs of runs, [queries, pairs]."""
        low, high = np.zeros((2, self.queries, len(first)))
        longest = 2 * max(1, int(np.diff(self.weights.start).max(initial=1)))
        waiting, cells = list[Differences](), 0
        for query in range(self.queries):
            of_query = self.look_up(query)
            for pairs in split(np.arange(len(first)), longest):
                waiting.append(self._difference(query, first[pairs], second[pairs], of_query)._replace(pairs=pairs))
                cells += waiting[-1].weight.size
                if cells >= CELLS:
                    self._find_extremes(waiting, low, high)
                    waiting, cells = [], 0
        if waiting:
            self._find_extremes(waiting, low, high)
        return Range(low, high)

    def _difference(
        self, query: int, first: Ints, second: Ints, of_query: tuple[Ints, Floats, Floats]
    ) -> "Differences":
        documents, weights, table = of_query
        ours, theirs = documents[first], documents[second]
        mine = weights[first] - table[second[:, None], ours]
        other = np.where(table[first[:, None], theirs] == 0, -weights[second], 0.0)  # documents of both are in `mine`
        base = self.parts[0][first, query] - self.parts[0][second, query]
        return Differences(query, first, base, np.concatenate([mine, other], axis=1), first * self.queries + query)

    def _find_extremes(self, parts: list["Differences"], low: Floats, high: Floats) -> None:
        """Write the ranges of differences on several queries to their cells of `low` and `high`."""
        widest = max(part.weight.shape[1] for part in parts)
        weight = np.concatenate([np.pad(part.weight, ((0, 0), (0, widest - part.weight.shape[1]))) for part in parts])
        ends = self.extremes(
            np.concatenate([part.base for part in parts]), weight, np.concatenate([part.line for part in parts])
        )
        stop = np.cumsum([len(part.pairs) for part in parts])[:-1]
        for part, least, most in zip(parts, np.split(ends.low, stop), np.split(ends.high, stop), strict=True):
            low[part.query, part.pairs], high[part.query, part.pairs] = least, most


class Differences(NamedTuple):
    """The differences of some pairs of runs on one query, ready to be bounded."""

    query: int
    pairs: Ints
    """the indices of the pairs"""
    base: Floats
    weight: Floats
    line: Ints
    """the row of the first run"""


def _terms(measure: Measure, batch: Batch) -> Any:
    return measure.parts(measure.apply_relevance(batch)).terms


def label_gains(measure: Any, labels: Floats) -> Floats:
    """Return the gains of documents with some labels; the gain of a label does not depend on the other labels."""
    if not len(labels):  # no run has a judged document, and none has an open one
        return np.zeros(0)
    batch = measure.apply_relevance(in_order(labels))
    if isinstance(measure, BinaryOrGraded):
        gains: Floats = measure.worth(batch)[0]
    elif isinstance(measure, Binary):
        gains = batch.to_real(measure.relevant(batch))[0]
    elif isinstance(measure, ScaleBased):
        gains = batch.grade[0] / float(measure.top or 1)
    else:
        gains = measure.gains(batch, batch.grade, None)[0]
    if not (np.abs(gains) < 2.0**500).all():  # their sums and ratios do not overflow
        raise MeasureError(f"{measure}: the gain of the label {float(labels.max()):g} is too large to bound its sums")
    return gains


def label_relevance(measure: Measure, labels: Floats) -> Floats:
    """Return the relevance of some labels; it does not depend on the other labels."""
    relevance: Floats = measure.apply_relevance(in_order(labels)).grade[0]
    return relevance


class Sums(Weighted):
    """A sum of discounted gains: DCG, RBP, P, Utility."""

    @lazy
    def parts(self) -> tuple[Floats, Weights]:
        """The values, and the terms of open documents."""
        return self.values, self.gather(_divided_terms, self.top_label)[1]

    def extremes(self, base: Floats, weight: Floats, line: Ints) -> Range:  # noqa: ARG002 - as all have it
        """Return the range of sums: each document has the highest gain or none."""
        return linear_range(base, weight)


def _divided_terms(measure: Measure, batch: Batch) -> Any:
    parts = measure.parts(measure.apply_relevance(batch))
    return divide(parts.terms, parts.norm[:, None])


class Ratios(Weighted):
    """A sum of discounted gains over that of the ideal ranking: nDCG."""

    @lazy
    def ideal(self) -> Ideal:
        """The ideal DCG as a function of the labels of open documents."""
        joined, measure = self.runs.stacked.qrels, self.measure
        levels = np.unique(self.gains[self.gains > 0])
        gains = label_gains(measure, joined.grade)
        place = self.place(max(1, int(np.diff(joined.start).max())))
        count = min(int(self.open_of.max(initial=0)), len(place))
        rows = [
            ideal_of(gains[a:b][~self.is_open[a:b]], levels, place, count) for a, b in pairwise(joined.start.tolist())
        ]
        judged, added = zip(*rows, strict=True)
        return Ideal(np.array(judged), np.diff(levels, prepend=0.0), np.stack(added), self.open_of)

    def place(self, longest: int) -> Floats:
        """Return the weight of a gain at each rank of an ideal ranking, down to the cut-off."""
        longest = longest if self.measure.k is None else min(longest, self.measure.k)
        weights: Floats = self.measure.factors(in_order(np.ones(longest)))[1][0]
        return weights

    def extremes(self, base: Floats, weight: Floats, line: Ints) -> Range:
        """Return the range of ratios; labels change both the sum and the ideal."""
        return ratio_range(base, weight, line % self.queries, self.ideal)


class Shares(Ratios):
    """The share of all relevance that is found: R with degrees of relevance."""

    def place(self, longest: int) -> Floats:
        """Return a weight of 1 for each rank."""
        return np.ones(longest)


def norms(measure: Binary, retrieved: Ints, base: Ints) -> Floats:
    """Return the norms of rankings from their lengths and the numbers of relevant documents, arrays of one shape."""
    cell = np.zeros((base.size, 1))
    one = np.ones((base.size, 1), np.int64)
    batch = Batch(cell, cell > 0, one - 1, one, one - 1, one, cell, cell > 0, retrieved.ravel())
    norm: Floats = measure.norm(measure.with_recall_base(batch, base.ravel().astype(float)))
    return norm.reshape(base.shape)


class Counts(Weighted):
    """The number of relevant documents in the top k over a norm that depends on the number of all: R, F1."""

    def extremes(self, base: Floats, weight: Floats, line: Ints) -> Range:
        """Return the range of ratios; labels change both the sum and the number of relevant documents."""
        query = line % self.queries
        retrieved, relevant = self.runs.stacked.hits.retrieved[line], self.relevant[query]

        def norm(count: Ints) -> Floats:
            shape = np.zeros_like(count)
            return norms(self.measure, retrieved[:, None] + shape, relevant[:, None] + count)

        most = self.open_of[query] * int(self.gains.any())
        return counted_range(base, weight, most, norm)


class Placed(Bounds):
    """A binary measure that increases if a relevant document moves up: AP.

    For each number of relevant open documents, the value is greatest if the highest ranked ones are relevant, and least
    if the lowest ranked ones are. For differences, the documents that are best for one run need not be worst for the
    other, so only bounds are known if a query has many open documents. If it has few, all labels are enumerated.
    """

    @property
    def exact_pairs(self) -> bool:
        """True if no query has many open documents."""
        return bool((self.open_of <= ENUMERATED).all())

    @lazy
    def curves(self) -> list[Range]:
        """For each query, the range of each run if 0, 1, … open documents are relevant, [runs, m]."""
        blocks = self.blocks(0.0)
        return [self._curve(blocks, query) for query in range(self.queries)]

    def _curve(self, blocks: Blocks, query: int) -> Range:
        most = int(self.open_of[query]) if self.reaches else 0
        low, high = np.zeros((2, len(self.runs.stacked.names), most + 1))
        for run, hits, _ in self._retrieved(blocks, query):
            low[run], high[run] = placed_values(self.measure, hits, int(self.relevant[query]), most)
        return Range(low, high)

    @lazy
    def reaches(self) -> bool:
        """True if any of the labels is relevant."""
        return bool(label_gains(self.measure, np.asarray(self.labels.values)).any())

    def _retrieved(self, blocks: Blocks, query: int) -> Iterator[tuple[int, "Retrieved", Ints]]:
        """Yield the runs that retrieve judged or open documents of a query, with these documents.

        Other runs have the value 0 by all labels.
        """
        for run in range(len(self.runs.stacked.names)):
            line = run * self.queries + query
            documents = blocks.row[blocks.start[line] : blocks.start[line + 1]].astype(np.int64)
            if len(documents):
                batch = blocks.batch_of_query(line, self.runs.stacked.settings.ties)
                yield run, Retrieved(batch, self.is_open[documents], batch.grade[0] >= self.measure.rel), documents

    @lazy
    def ranges(self) -> Range:
        """The range of each run on each query."""
        low = np.stack([curves.low.min(axis=1) for curves in self.curves], axis=1)
        return Range(low, np.stack([curves.high.max(axis=1) for curves in self.curves], axis=1))

    def differences(self, first: Ints, second: Ints) -> Range:
        """Return the range of differences.

        If many documents are open, it is a bound that assumes only that both runs have the same number of relevant
        documents.
        """
        low, high = np.zeros((2, self.queries, len(first)))
        blocks = self.blocks(0.0)
        for query in range(self.queries):
            few = self.open_of[query] <= ENUMERATED
            least, most = [self._values_of_all(blocks, query)] * 2 if few else self.curves[query]
            for pairs in split(np.arange(len(first)), least.shape[1]):
                a, b = first[pairs], second[pairs]
                low[query, pairs] = (least[a] - most[b]).min(axis=1)
                high[query, pairs] = (most[a] - least[b]).max(axis=1)
        return self.keep_equal(Range(low, high), first, second)

    def _values_of_all(self, blocks: Blocks, query: int) -> Floats:
        """Return [runs, labels]: the values of each run by all possible labels of the open documents of a query."""
        count = int(self.open_of[query]) if self.reaches else 0
        chosen = (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
        base = int(self.relevant[query]) + chosen.sum(axis=1)
        number = np.cumsum(self.is_open) - 1 - int(self.open_until[query] - self.open_of[query])
        values = np.zeros((len(self.runs.stacked.names), len(chosen)))
        for run, hits, documents in self._retrieved(blocks, query):
            flags = np.tile(hits.relevant & ~hits.is_open, (len(chosen), 1))
            if count:
                flags[:, hits.is_open] = chosen[:, number[documents[hits.is_open]]]
            norm = norms(self.measure, np.repeat(hits.batch.retrieved, len(chosen)), base)
            values[run] = divide(flagged_sums(self.measure, hits.batch, flags, base), norm)
        return values


class First(Placed):
    """A measure of the first relevant document: RR, Success.

    The difference between two runs is greatest if at most one open document is relevant, the first one of the better
    run: more relevant documents can only help the other run. So differences are exact if no open document is tied, for
    any number of open documents.
    """

    @lazy
    def tied(self) -> Bools:
        """[Q] true if an open document of the query is tied in one of the runs."""
        hits = self.runs.stacked.hits
        tied = self.is_open[hits.row] & (hits.tied > 1) & (hits.place is None)
        return np.isin(np.arange(self.queries), hits.query[tied] % self.queries)

    @property
    def exact_pairs(self) -> bool:
        """True if each query has no tied open documents, or few open documents."""
        return not (self.tied & (self.open_of > ENUMERATED)).any()

    def differences(self, first: Ints, second: Ints) -> Range:
        """Return the range of differences; without ties, at most one open document is relevant."""
        found = super().differences(first, second)
        for query in np.flatnonzero(~self.tied).tolist():
            alone = self.look_up(query)[2] * self.reaches
            alone = alone if isinstance(self.measure, RR) else np.sign(alone)
            values = np.maximum(self.values[:, query, None], alone)
            for pairs in split(np.arange(len(first)), values.shape[1]):
                apart = values[first[pairs]] - values[second[pairs]]
                found.low[query, pairs], found.high[query, pairs] = apart.min(axis=1), apart.max(axis=1)
        return found


class Retrieved(NamedTuple):
    """The judged and open documents that a run retrieves for a query, with their places in a batch of one row."""

    batch: Batch
    is_open: Bools
    relevant: Bools


def placed_values(measure: Binary, hits: Retrieved, relevant: int, most: int) -> tuple[Floats, Floats]:
    """Return the least and greatest value if 0, …, `most` open documents are relevant."""
    count, retrieved = np.arange(most + 1), min(most, int(hits.is_open.sum()))
    first = np.minimum(count, retrieved)
    last = np.maximum(count - (most - retrieved), 0)
    norm = norms(measure, np.repeat(hits.batch.retrieved, most + 1), relevant + count)
    low, high = (
        placed_sums(measure, hits, relevant + count, seen, best) for seen, best in ((last, False), (first, True))
    )
    return divide(low, norm), divide(high, norm)


def placed_sums(measure: Binary, hits: Retrieved, base: Ints, seen: Ints, best: bool) -> Floats:
    """Return the sums if `seen` of the retrieved open documents are relevant, those ranked highest or lowest.

    `base` is the number of all relevant documents. Only sums of Rprec depend on it; those of other measures are
    computed once for each number in `seen`.
    """
    number = np.cumsum(hits.is_open) - 1
    number = number if best else int(hits.is_open.sum()) - 1 - number

    def sums(base: Ints, seen: Ints) -> Floats:
        flags = (hits.relevant & ~hits.is_open) | (hits.is_open & (number < seen[:, None]))
        return flagged_sums(measure, hits.batch, flags, base)

    each = np.arange(int(seen.max()) + 1)
    return sums(base, seen) if isinstance(measure, Rprec) else sums(each, each)[seen]


def flagged_sums(measure: Binary, ranking: Batch, relevant: Bools, base: Ints) -> Floats:
    """Return the sums of one ranking for each row of relevance flags; `base` is the number of relevant documents."""
    every: dict[str, Any] = {
        name: np.broadcast_to(getattr(ranking, name), (len(relevant), *getattr(ranking, name).shape[1:]))
        for name in ("judged", "above", "tied", "first", "last", "pool", "pooled", "retrieved")
    }
    batch = Batch(grade=relevant.astype(float), ties=ranking.ties, **every)
    binary = measure.replace(rel=1)
    parts = binary.parts(binary.with_recall_base(batch, base.astype(float)))
    total: Floats = parts.total(sum_rows(parts.terms))
    return total


class Extremes(Bounds):
    """A measure that increases with every label: ERR."""

    @property
    def exact_pairs(self) -> bool:
        """False: perhaps no labels lead to the least value of one run and the greatest value of another."""
        return False

    @lazy
    def ranges(self) -> Range:
        """The values with the lowest and with the highest labels."""
        relevance = label_relevance(self.measure, np.asarray(self.labels.values))
        blocks = self.blocks(self.labels.values[int(np.argmax(relevance))])
        hits, settings = self.runs.stacked.hits, self.runs.stacked.settings
        answered = np.flatnonzero(hits.answered)
        high = measure_blocks(blocks, settings.ties, answered, {"": self.measure}, settings.workers)
        return Range(self.values, high[:, 0].reshape(-1, self.queries))


class Users(NamedTuple):
    """The relevance thresholds of users, with the share of users for each, and the relevance of documents."""

    levels: list[float]
    shares: list[float]
    relevance: Floats
    """the relevance of each document; 0 for open ones"""
    reachable: float
    """the highest relevance of an open document"""
    relevant: list[Ints]
    """[Q] for each level, the number of judged documents that reach it"""


class Population(Bounds):
    """A mean over users with different thresholds.

    Each user is bounded separately, as if labels could differ by user; a document that reaches a threshold also reaches
    all lower ones, but this is not used. The ranges are therefore bounds.
    """

    exact = False

    @lazy
    def users(self) -> Users:
        """The users by the relevance levels of judged and open documents."""
        joined = self.runs.stacked.qrels
        relevance = np.where(self.is_open, 0.0, label_relevance(self.measure, joined.grade))
        reachable = label_relevance(self.measure, np.asarray(self.labels.values))
        levels = np.unique(np.concatenate([relevance, reachable]))
        levels = levels[levels > 0]
        upto = self.measure.users().up_to(in_order(np.zeros(1)), levels)
        shares = np.diff(upto, prepend=0.0).tolist()
        counts = [np.concatenate([[0], np.cumsum(relevance >= level)])[joined.start] for level in levels.tolist()]
        return Users(levels.tolist(), shares, relevance, float(reachable.max()), [np.diff(count) for count in counts])

    @lazy
    def ranges(self) -> Range:
        """Bounds of each run on each query."""
        low, high = np.zeros((2, len(self.runs.stacked.names) * self.queries))
        blocks = self.blocks(0.0)
        for line in np.flatnonzero(np.diff(blocks.start)).tolist():
            documents = blocks.row[blocks.start[line] : blocks.start[line + 1]].astype(np.int64)
            batch = blocks.batch_of_query(line, self.runs.stacked.settings.ties)
            low[line], high[line] = self.range_of(batch, documents, line % self.queries)
        return Range(low.reshape(-1, self.queries), high.reshape(-1, self.queries))

    @abstractmethod
    def range_of(self, batch: Batch, documents: Ints, query: int) -> tuple[float, float]:
        """Return bounds of one run on one query, given the documents of the columns of its batch."""

    def most(self, query: int, level: float) -> int:
        """Return the number of open documents of a query that can reach a level."""
        return int(self.open_of[query]) if self.users.reachable >= level else 0


class Thresholds(Population):
    """A measure that combines the sums of AP at several thresholds: GAP, eGAP."""

    def range_of(self, batch: Batch, documents: Ints, query: int) -> tuple[float, float]:
        """Return the combined bounds of all thresholds."""
        parts, users = [], self.users
        for level, share, relevant in zip(users.levels, users.shares, users.relevant, strict=True):
            hits = Retrieved(batch, self.is_open[documents], users.relevance[documents] >= level)
            parts.append(self._threshold(hits, int(relevant[query]), self.most(query, level), share))
        if isinstance(self.measure, GAP):
            low = highest_of_sums([(part.share, -part.low, part.base) for part in parts])
            return -low, highest_of_sums([(part.share, part.high, part.base) for part in parts])
        least = sum(part.share * float(divide(part.low, part.base).min()) for part in parts)
        return least, sum(part.share * float(divide(part.high, part.base).max()) for part in parts)

    def _threshold(self, hits: Retrieved, relevant: int, most: int, share: float) -> "Threshold":
        count = np.arange(most + 1)
        retrieved = min(most, int(hits.is_open.sum()))
        measure, base = AP(k=self.measure.k), relevant + count
        low = placed_sums(measure, hits, base, np.maximum(count - (most - retrieved), 0), best=False)
        high = placed_sums(measure, hits, base, np.minimum(count, retrieved), best=True)
        return Threshold(share, low, high, base.astype(float))


class Redrawn(Population):
    """A mean over users, then over their relevant documents, then over thresholds drawn again at each document: xGAP.

    The mean precision at each document is bounded separately, and the relevant documents are chosen for each user.
    """

    def range_of(self, batch: Batch, documents: Ints, query: int) -> tuple[float, float]:
        """Return the combined bounds of all users."""
        users, is_open = self.users, self.is_open[documents]
        relevance = users.relevance[documents]
        least, most = self._precisions(batch, relevance, is_open)
        low = high = 0.0
        for level, share, relevant in zip(users.levels, users.shares, users.relevant, strict=True):
            judged, count = relevance >= level, self.most(query, level)
            base = (int(relevant[query]) + np.arange(count + 1)).astype(float)
            lowest = least[judged].sum() + running_sums(least[is_open], count, best=False)
            highest = most[judged].sum() + running_sums(most[is_open], count, best=True)
            low += share * float(divide(lowest, base).min())
            high += share * float(divide(highest, base).max())
        return low, high

    def _precisions(self, batch: Batch, relevance: Floats, is_open: Bools) -> tuple[Floats, Floats]:
        """Return the least and greatest mean precision at each document over the thresholds that it reaches.

        At an open document, the precision is at least 1/rank, if no other document is relevant. It is at most the
        precision for the lowest threshold with all open documents relevant.
        """
        users, k = self.users, self.measure.k
        least, most, total = np.zeros((3, len(relevance)))
        widest = np.zeros(len(relevance))
        for level, share in zip(users.levels, users.shares, strict=True):
            judged = relevance >= level
            reached = judged | (is_open & (users.reachable >= level))
            low, high = (threshold(batch, flags[None, :], k)[0] for flags in (judged, reached))
            least, most, total = least + share * low * judged, most + share * high * judged, total + share * judged
            widest = np.maximum(widest, high) if share > 0 else widest
        alone = additive(batch, np.ones((1, len(relevance))), rank_discount, k)[0]
        reaches = users.reachable > 0
        return (
            np.where(is_open, alone * reaches, divide(least, total)),
            np.where(is_open, widest, divide(most, total)),
        )


def running_sums(terms: Floats, count: int, *, best: bool) -> Floats:
    """Return the sums of the 0, …, `count` greatest or least terms, which are padded with 0."""
    every = np.zeros(count)
    every[: len(terms)] = terms[:count]
    every.sort()
    return np.concatenate([[0.0], np.cumsum(every[::-1] if best else every)])


class Threshold(NamedTuple):
    """The range of the sum of AP for users of one threshold, if 0, 1, … open documents are relevant."""

    share: float
    """the share of users with this threshold"""
    low: Floats
    high: Floats
    base: Floats
    """the number of relevant documents"""


def highest_of_sums(parts: list[tuple[float, Floats, Floats]]) -> float:
    """Return the greatest ratio of two weighted sums, by Dinkelbach's algorithm.

    Each part is (share, numerators, denominators) and adds one of its pairs of numerator and denominator to the sums.
    """
    above, below = (sum(share * float(column[i][0]) for share, *column in parts) for i in (0, 1))
    best, before = above / below if below > 0 else 0.0, -np.inf
    while best > before:
        before = best
        at = [(share, up, down, int(np.argmax(up - best * down))) for share, up, down in parts]
        above, below = (
            sum(share * float(up[i]) for share, up, _, i in at),
            sum(share * float(down[i]) for share, _, down, i in at),
        )
        best = max(best, above / below if below > 0 else 0.0)
    return best


KINDS: dict[type[Measure], type[Bounds]] = {
    **dict.fromkeys((P, DCG, SDCG, RBP, Utility), Sums),
    **dict.fromkeys((nDCG, NDCNG), Ratios),
    **dict.fromkeys((R, F1, F, RelativeP), Counts),
    **dict.fromkeys((AP, SetAP, Rprec, binG), Placed),
    **dict.fromkeys((RR, Success), First),
    ERR: Extremes,
    **dict.fromkeys((GAP, eGAP), Thresholds),
    xGAP: Redrawn,
}
"""how each measure is bounded; subclasses of a measure are not included, since their ranges may differ"""
_MAP = "a label changes what the labels of other documents are worth"
REFUSED: dict[type[Measure], str] = {
    muAP: _MAP,
    nDCGphi: _MAP,
    bpref: "it leaves unjudged documents out of the ranking",
    infAP: "it estimates the relevance of unjudged documents itself",
    Judged: "its value does not depend on the labels",
    Unjudged: "its value does not depend on the labels",
}
"""why some measures have no range; for the rest, no algorithm is known"""


def find_bounds(measure: Measure, qrels: Qrels, labels: Labels) -> type[Bounds]:
    """Return the class that bounds a measure; raise MeasureError if there is none."""
    kind = KINDS.get(type(measure))
    if kind is None:
        raise refusal(measure, REFUSED.get(type(measure), "no algorithm is known"))
    if isinstance(measure, Graded) and not is_settled(measure.relevance_function):
        raise refusal(measure, f"{_MAP}; state the scale, as in {measure.name}(relevance=max({labels.values[-1]:g}))")
    if isinstance(measure, Utility) and measure.c != measure.d:
        raise refusal(measure, "documents that are not retrieved count, and not all of them are known; use c = d")
    stated = Levels(np.concatenate([qrels.grade, [label for label in labels.values if label > 0]]))
    if measure.fit(stated) != measure.fit(qrels.levels):
        top = f"{labels.values[-1]:g}"
        example = f"{measure.name}(top={top})"
        raise refusal(measure, f"no judgment has a label of {top}, and its scale is theirs; state it, as in {example}")
    if isinstance(measure, R):
        return Counts if measure.relevance is None else Shares
    return Placed if kind is Counts and measure.k is None else kind


def refusal(measure: Measure, reason: str) -> MeasureError:
    """Return the error that says why a measure has no range over the labels, and which measures have one."""
    names = ", ".join(kind.name for kind in KINDS)
    return MeasureError(f"{measure} has no range over the labels of unjudged documents: {reason}. Others have: {names}")


def is_settled(relevance: Relevance) -> bool:
    """True if the relevance of a label does not depend on the labels of other documents."""
    if isinstance(relevance, Shift):
        return is_settled(relevance.then)
    return isinstance(relevance, Identity | AtLeast | Tabled) or (
        isinstance(relevance, Max) and relevance.scale is not None
    )


@dataclass(frozen=True, eq=False)
class LabelRanges:
    """The ranges of several measures over the labels of open documents, on the queries that count."""

    bounds: dict[str, Bounds]
    """the bounds by the name of the measure"""
    depths: dict[str, int]
    """the depth of open documents for each measure"""
    labels: Labels
    counted: Ints
    """the indices of the queries that count"""
    weights: Floats | None = None
    """the weights of these queries, with mean 1; None if the qrels have no weights"""

    @property
    def runs(self) -> list[str]:
        """The names of the runs in the order in which they were given."""
        return next(iter(self.bounds.values())).runs.stacked.names

    @property
    def shares(self) -> Floats:
        """The share of each query in a mean."""
        weights = np.ones(len(self.counted)) if self.weights is None else self.weights
        return weights / len(self.counted)

    @lazy
    def unjudged(self) -> dict[str, int]:
        """The number of unjudged documents that can be in the top of a run, for each measure."""
        return {measure: int(bounds.open_of[self.counted].sum()) for measure, bounds in self.bounds.items()}

    def of_runs(self) -> dict[str, list[LabelRange]]:
        """Return the range of each mean, by run."""
        found: dict[str, list[LabelRange]] = {name: [] for name in self.runs}
        for measure in self.bounds:
            values, (low, high) = self.means(measure)
            for i, ranges in enumerate(found.values()):
                ends = float(values[i]), float(low[i]), float(high[i])
                ranges.append(LabelRange(measure, *ends, self.unjudged[measure], self.depths[measure]))
        return found

    def means(self, measure: str) -> tuple[Floats, Range]:
        """Return the mean of each run, and its range."""
        bounds = self.bounds[measure]
        values, low, high = (
            np.array(means(table.T[self.counted], self.weights)) for table in (bounds.values, *bounds.ranges)
        )
        return values, Range(low, high)

    def differences(self, measure: str, first: Ints, second: Ints) -> Range:
        """Return the range of the mean difference of pairs of runs."""
        ends: list[list[float]] = [[], []]
        for pairs in split(np.arange(len(first)), len(self.counted)):
            part = self.bounds[measure].differences(first[pairs], second[pairs])
            for end, table in zip(ends, part, strict=True):
                end.extend(means(table[self.counted], self.weights))
        return Range(*map(np.array, ends))


def bound_labels(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Mapping[str, Measure],
    settings: Settings,
    *,
    labels: Iterable[float] | None = None,
    top: float | None = None,
    depth: int | None = None,
    progress: Progress = ignore,
) -> LabelRanges:
    """Return the ranges of measures over the labels of open documents of runs, {name: run}.

    Raise MeasureError for a measure that has no range, and DataError for settings under which labels cannot be open.
    """
    check_settings(settings)
    qrels.check_certain("holes")
    allowed = Labels.of(qrels, labels, top)
    kinds = {name: find_bounds(measure, qrels, allowed) for name, measure in measures.items()}
    depths = {name: depth_of(measure, depth) for name, measure in measures.items()}
    found = find_open(qrels, runs, settings, max(depths.values()), progress)
    answered = found.stacked.hits.answered.reshape(len(runs), -1).all(axis=0)
    counted = np.arange(len(qrels)) if settings.queries == "qrels" else np.flatnonzero(answered)
    if not len(counted):
        raise DataError("the runs have no query in common; by the query policy qrels, missing queries count as 0")
    at = {reach: found.down_to(reach) for reach in set(depths.values())}
    fitted = fit_all(measures, qrels.levels)
    bounds = {name: kinds[name](fitted[name], at[depths[name]], allowed) for name in measures}
    return LabelRanges(bounds, depths, allowed, counted, weigh(qrels, counted))


def weigh(qrels: Qrels, counted: Ints) -> Floats | None:
    """Return the weights of the queries that count; None if the qrels have no weights."""
    if qrels.weights is None:
        return None
    weights = qrels.weights
    return normalize_weights([weights[qrels.queries[i]] for i in counted.tolist()])


def bound_some(
    qrels: Qrels, runs: Mapping[str, Any], measures: Mapping[str, Measure], settings: Settings, progress: Progress
) -> tuple[LabelRanges | None, list[Note]]:
    """Return the ranges of the measures that have one, and notes that name the others; None if no measure has one."""
    qrels.check_certain("holes")
    bounded, allowed = {}, Labels.of(qrels)
    for name, measure in measures.items():
        with suppress(MeasureError):
            find_bounds(measure, qrels, allowed)
            bounded[name] = measure
    rest = [name for name in measures if name not in bounded]
    text = "{have} no range over the labels of unjudged documents"
    notes = note_names("unbounded", len(rest), len(measures), "measure", text, rest)
    return (bound_labels(qrels, runs, bounded, settings, progress=progress) if bounded else None), notes


def depth_of(measure: Measure, depth: int | None) -> int:
    """Return the depth of open documents for a measure; raise DataError if a stated depth is invalid."""
    if depth is not None and (not is_number(depth) or int(depth) != depth or depth < 1):
        raise DataError(
            f"the depth down to which unjudged documents may be relevant must be at least 1; found {depth!r}"
        )
    return int(depth or measure.k or DEPTH)


def check_settings(settings: Settings) -> None:
    """Raise DataError for policies that need the labels of open documents."""
    if settings.ties in ("best", "worst"):
        raise DataError(
            f"ties={settings.ties!r} chooses the order of ties by the labels, which are unknown here: use 'expected', "
            "the mean over all orders, or 'trec', 'order' or 'random'"
        )
    if settings.judged_only:
        raise DataError("judged_only drops unjudged documents, so their labels cannot matter: leave it out")
    if settings.empty != "zero":
        raise DataError(
            f"empty={settings.empty!r} depends on which queries have relevant documents, which is unknown here: use "
            "'zero'"
        )
    if settings.queries == "run":
        raise DataError("queries='run' counts queries without any judgments: use 'qrels' or 'both'")
