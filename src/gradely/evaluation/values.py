"""The values of one run, computed batch by batch from the ranks of its judged documents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.columns import concatenate
from gradely.data.hits import Unjudged
from gradely.data.ids import Bools, Floats, Ids, Ints, as_tokens
from gradely.data.selection import leave_out
from gradely.data.uncertain import UncertainQrels
from gradely.errors import DataError, MeasureError, NotFinite, clip
from gradely.evaluation.notes import DEPTH, SAME, TieRange, UnjudgedShare, notes_of
from gradely.evaluation.scores import Scores, means, normalize_weights
from gradely.kernel.backend import divide, ignore_overflow, sum_rows
from gradely.kernel.batch import Batch
from gradely.kernel.uncertain import UncertainBatch
from gradely.lazy import lazy
from gradely.measures import Measure
from gradely.measures.names import fit_all
from gradely.settings import Settings, TiePolicy

if TYPE_CHECKING:
    from gradely.data.tops import RunDetails


@dataclass(eq=False, repr=False)
class Evaluation:
    """Qrels, the hits of one run, the settings, and the measures by name, fitted to the qrels."""

    qrels: Qrels
    hits: Hits
    measures: Mapping[str, Measure]
    settings: Settings
    name: str
    placed: TiePolicy
    """the tie policy that determined the places of the hits"""
    workers: int = 1
    """number of threads that compute values"""
    details: "RunDetails | None" = None
    """the number of tied documents and the tops of the rankings, if requested"""
    id_mismatch: str | None = None
    """a note if the run and the qrels have no documents in common"""
    about_run: Sequence[str] = ()
    """notes on assumptions made when the run was read, and on likely mistakes"""
    judged_queries: Ints = field(init=False)
    """the judged queries that count, as indices"""
    queries: Sequence[str] = field(init=False)
    """all queries that count, by name; those without judgments last"""

    def __post_init__(self) -> None:
        """Find the queries that count."""
        if self.settings.queries == "qrels":
            self.judged_queries, self.queries = np.arange(len(self.qrels)), self.qrels.queries
        else:
            self.judged_queries = np.flatnonzero(self.hits.answered)
            judged = Ids.of(as_tokens(self.qrels.queries)).take(self.judged_queries)
            self.queries = concatenate([judged, Ids.of(as_tokens(self.unjudged))]).tokens()

    def scores(self) -> Scores:
        """Return the scores of the queries that count."""
        return Scores(
            self.queries,
            list(self.measures),
            self.table,
            settings=self.settings,
            name=self.name,
            ranges=self.tie_ranges,
            unjudged=self.unjudged_share,
            notes=partial(notes_of, self),
            whole=self.qrels.whole,
            segment_of=self.qrels.segments,
            weights=self.weights,
            errors=self.sampling_errors,
        )

    def with_ties(self, ties: TiePolicy) -> "Evaluation":
        """Return the evaluation under another tie policy; if it orders documents, it must be that of the hits."""
        return replace(self, settings=self.settings.replace(ties=ties))

    def with_queries(self, answered: Bools, unjudged: Unjudged) -> "Evaluation":
        """Return the evaluation as if the run had answered only some of its queries; values are not recomputed."""
        other = replace(self, hits=self.hits._replace(answered=answered, unjudged=unjudged))
        if self.settings.queries != "qrels":  # the table then has no rows for queries that do not count
            other.__dict__["_measured"] = self._measured
        return other

    def with_measures(self, measures: Mapping[str, Measure]) -> "Evaluation":
        """Return the evaluation by other measures."""
        return replace(self, measures=fit_all(measures, self.qrels.levels))

    @lazy
    def table(self) -> Floats:
        """The values, [queries that count, measures]."""
        values = self._measured[0]
        if self.settings.empty == "one":
            values = self._fill_empty(values, np.arange(len(self.qrels)))
        if self.settings.queries == "qrels":
            return values
        worth = 1.0 if self.settings.empty == "one" else 0.0
        return np.vstack([values[self.judged_queries], np.full((len(self.unjudged), values.shape[1]), worth)])

    def _fill_empty(self, values: Floats, queries: Ints) -> Floats:
        """Return values [these queries, measures], with 1 for queries without relevant documents."""
        empty = np.stack([flags[queries] for flags in self.degenerate.values()], axis=1)
        return np.where(empty, 1.0, values)

    @lazy
    def measured_hits(self) -> Hits:
        """The hits that count; with judged_only, as if unjudged documents had not been retrieved."""
        return self.placed_hits.judged_only() if self.settings.judged_only else self.placed_hits

    @property
    def placed_hits(self) -> Hits:
        """All hits, with places if the tie policy orders documents."""
        if not self.settings.breaks_ties:
            return self.hits if self.hits.place is None else self.hits._replace(place=None)
        if self.settings.ties != self.placed:
            raise ValueError(f"the hits are placed by {self.placed}, not by {self.settings.ties}")
        return self.hits

    @property
    def unjudged(self) -> Sequence[str]:
        """The queries without judgments that count; they have no relevant documents."""
        return self.hits.unjudged.names if self.settings.counts_unjudged else ()

    @cached_property
    def weights(self) -> Floats | None:
        """The weights of the queries that count, with mean 1; None if all are equal."""
        weights = self.qrels.weights
        if weights is None:
            return None
        lacking = next((query for query in self.queries if query not in weights), None)
        if lacking is not None:
            raise DataError(f"weights: query {clip(lacking)} of {self.name} has no weight; weight 0 leaves a query out")
        normal = normalize_weights([weights[query] for query in self.queries])
        return None if (normal == 1).all() else normal

    @lazy
    def blocks(self) -> Blocks:
        """The hits that count, ready to be put into Batches."""
        return Blocks(self.qrels, self.measured_hits)

    @lazy
    def _measured(self) -> tuple[Floats, Floats | None]:
        """[judged queries, measures] values, 0 for queries without results, and standard errors if orders are drawn."""
        answered = self.hits.answered.nonzero()[0]
        if self.settings.ties == "sampled":
            from gradely.evaluation.sampled import measure_sampled

            return measure_sampled(self.blocks, answered, self.measures, self.settings, self.workers)
        return measure_blocks(self.blocks, self.settings.ties, answered, self.measures, self.workers), None

    @property
    def sampling_errors(self) -> Floats | None:
        """[queries that count, measures] standard errors of sampled orders; None if every value is exact."""
        _, errors = self._measured
        if errors is None or not errors.any():
            return None
        return np.vstack([errors[self.judged_queries], np.zeros((len(self.unjudged), len(self.measures)))])

    def find_bounds(self, blocks: Blocks, ties: str, queries: Ints) -> Bools:
        """Return [these queries, measures]: true if the best or worst value is a bound, not that of an order."""
        bounds = np.zeros((len(queries), len(self.measures)), bool)
        measures = [(j, measure) for j, measure in enumerate(self.measures.values()) if measure.may_be_bounded]

        def mark(rows: Ints, batch: Batch) -> None:
            for j, measure in measures:
                flags = measure.is_bounded(measure.apply_relevance(batch))
                bounds[np.searchsorted(queries, rows), j] = flags.any(axis=1)

        if measures:
            blocks.visit(mark, ties, queries)
        return bounds

    def find_lacking(self, measure: Measure) -> Bools:
        """Return flags of the judged queries that have relevant documents but lack others that a measure needs."""
        lacking = np.zeros(len(self.qrels), bool)

        def mark(rows: Ints, batch: Batch) -> None:
            lacking[rows] = measure.lacks(measure.apply_relevance(batch))

        self.blocks.visit(mark, self.settings.ties, self.judged_queries, self.workers)
        return lacking

    def find_ceiling(self, measure: Measure) -> Floats:
        """Return the highest value that any ranking of each judged query can reach."""
        ceiling = np.ones(len(self.qrels))

        def fill(rows: Ints, batch: Batch) -> None:
            ceiling[rows] = measure.ceiling(measure.apply_relevance(batch))

        self.blocks.visit(fill, "expected", self.judged_queries, self.workers)
        return ceiling

    def unjudged_share(self) -> UnjudgedShare | None:
        """Return the unjudged share above the cut-off of the first measure; None if it is unknown."""
        if not self.qrels.has_irrelevant:
            return None
        depth, hits = next(iter(self.measures.values())).k or DEPTH, self.measured_hits
        inside = (depth - hits.above) / hits.tied if hits.place is None else depth - hits.place
        documents = int(np.minimum(hits.retrieved, depth).sum())
        return UnjudgedShare(depth, documents - float(np.clip(inside, 0, 1).sum()), documents)

    @property
    def degenerate(self) -> dict[str, Bools]:
        """For each measure, flags of the queries for which every ranking scores 0."""
        worthless = np.flatnonzero((self._measured[0] == 0).any(axis=1))  # no other query can be degenerate
        return find_degenerate(self.qrels, self.measures, worthless, self.workers)

    def tie_ranges(self) -> list[TieRange]:
        """Return the range of each mean over the orders of ties, for measures that depend on the order."""
        if isinstance(self.qrels, UncertainQrels):
            return []
        moves = np.zeros_like(self.hits.answered)
        moves[self.measured_hits.query[self.measured_hits.tied > 1]] = True
        tied = self.judged_queries[moves[self.judged_queries]]
        if not len(tied):
            return []
        blocks = Blocks(self.qrels, self.measured_hits._replace(place=None).select(moves[self.measured_hits.query]))
        low, high = measure_extremes(blocks, tied, self.measures)
        if self.settings.empty == "one":
            low, high = self._fill_empty(low, tied), self._fill_empty(high, tied)
        moved = np.count_nonzero(high - low > SAME, axis=0)
        at, size = np.searchsorted(self.judged_queries, tied), len(self.queries)
        tables = [self.table, self.table.copy(), self.table.copy()]
        tables[1][at], tables[2][at] = low, high
        mean, lowest, highest = (means(table, self.weights) for table in tables)
        bounds = self.find_bounds(blocks, "best", tied).sum(axis=0)
        return [
            TieRange(name, mean[j], lowest[j], highest[j], int(moved[j]), size, int(bounds[j]))
            for j, name in enumerate(self.measures)
            if moved[j]
        ]


def name_query(error: NotFinite, qrels: Qrels, row: int) -> NotFinite:
    """Return the error with the name and highest label of the query whose value overflows.

    `row` may be a row of several stacked runs.
    """
    i, labels = row % len(qrels), qrels.possible if isinstance(qrels, UncertainQrels) else qrels
    highest = float(labels.grade[labels.start[i] : labels.start[i + 1]].max())
    return NotFinite(error.measure, error.row, highest, clip(qrels.queries[i]))


def measure_blocks(blocks: Blocks, ties: str, queries: Ints, measures: Mapping[str, Measure], workers: int) -> Floats:
    """Return the values, [rows of blocks, measures]; 0 for queries that are not in `queries`."""
    values = np.zeros((len(blocks.retrieved), len(measures)))

    def measure(rows: Ints, batch: Batch | UncertainBatch) -> None:
        values[rows] = measure_rows(blocks.qrels, rows, batch, measures)

    if measures and isinstance(blocks.qrels, UncertainQrels):
        refuse_extremes(ties)
        blocks.visit_uncertain(blocks.qrels, measure, queries, workers)
    elif measures:
        blocks.visit(measure, ties, queries, workers)
    return values


def measure_extremes(blocks: Blocks, queries: Ints, measures: Mapping[str, Measure]) -> tuple[Floats, Floats]:
    """Return the lowest and highest values over all orders of ties, [these queries, measures] each.

    The queries must be in ascending order. Both values are computed on the same pools, so ideals are computed once.
    """
    low, high = np.zeros((2, len(queries), len(measures)))

    def measure(rows: Ints, batch: Batch) -> None:
        at = np.searchsorted(queries, rows)
        low[at] = measure_rows(blocks.qrels, rows, batch, measures)
        high[at] = measure_rows(blocks.qrels, rows, batch.with_ties("best"), measures)

    blocks.visit(measure, "worst", queries)
    return low, high


def measure_rows(qrels: Qrels, rows: Ints, batch: Batch | UncertainBatch, measures: Mapping[str, Measure]) -> Floats:
    """Return the values of a Batch, [its rows, measures]; errors name the query."""
    try:
        return measure_batch(batch, measures.values()).T
    except NotFinite as error:
        raise name_query(error, qrels, int(rows[error.row])) from None


def refuse_extremes(ties: str) -> None:
    """Raise MeasureError for the best and worst order of ties, which are undefined for probabilistic labels."""
    if ties in ("best", "worst"):
        raise MeasureError(
            f"ties {ties}: labels are probabilities, and which order is {ties} would depend on the labels; "
            "use expected, trec, order or random"
        )


def measure_batch(batch: Batch | UncertainBatch, measures: Collection[Measure]) -> Floats:
    """Return the values, [measures, queries]; all sums are divided at once."""
    if isinstance(batch, UncertainBatch):
        return np.asarray([measure.expect(batch).checked(measure, batch) for measure in measures])
    with ignore_overflow():
        values = divide(*sum_parts(batch, measures))
    if np.count_nonzero(np.isfinite(values)) < values.size:
        for measure in measures:  # one of them raises the error that names the query
            measure.compute(batch)
    return cast("Floats", values)


def sum_parts(batch: Batch, measures: Collection[Measure]) -> tuple[Floats, Floats]:
    """Return the sums and the norms, [measures, queries] each."""
    if len(batch.grade) == 1:
        return sum_parts_of_one(batch, measures)
    added, norm = np.empty((2, len(measures), len(batch.grade)))
    for j, measure in enumerate(measures):
        added[j], norm[j] = measure.sums(measure.apply_relevance(batch))
    return added, norm


def sum_parts_of_one(batch: Batch, measures: Collection[Measure]) -> tuple[Floats, Floats]:
    """Return the sums and the norms of one query, [measures, 1] each; terms of the same shape are summed at once."""
    parts = [measure.parts(measure.apply_relevance(batch)) for measure in measures]
    if len({part.terms.shape for part in parts}) == 1:
        added = sum_rows(np.concatenate([part.terms for part in parts]))[:, None]
    else:
        added = np.array([sum_rows(part.terms) for part in parts])
    for j, part in enumerate(parts):
        if part.start is not None:
            added[j] += part.start
    return added, np.concatenate([part.norm for part in parts])[:, None]


# Empty queries: every ranking scores 0, since no label of the pool counts for the measure


def fit_to(qrels: Qrels, measures: Mapping[str, Measure], settings: Settings) -> tuple[Qrels, dict[str, Measure]]:
    """Return the qrels of the queries that count, and the measures fitted to all of them."""
    fitted = fit_all(measures, qrels.levels)
    if settings.empty != "zero" and isinstance(qrels, UncertainQrels):
        problem = "labels are probabilities, so a query may or may not have relevant documents"
        raise DataError(f"empty={settings.empty!r}: {problem}; use 'zero'")
    if settings.empty == "one":
        check_bounds(fitted)
    return (drop_empty(qrels, fitted, settings.workers) if settings.empty == "skip" else qrels), fitted


def check_bounds(measures: Mapping[str, Measure]) -> None:
    """Raise MeasureError for measures whose best value is not 1, since empty queries are to count 1."""
    for name, measure in measures.items():
        if measure.needs_relevant and measure.bounds[1] != 1:
            raise MeasureError(f"empty='one': the best value of {name} is not 1; use 'zero' or 'skip'")


def drop_empty(qrels: Qrels, measures: Mapping[str, Measure], workers: int) -> Qrels:
    """Return the qrels without empty queries; raise DataError if measures disagree on which queries are empty.

    Means over different queries should not be compared. Measures that do not need relevant documents, such as Judged,
    are averaged over the queries of the others.
    """
    about = {name: measure for name, measure in measures.items() if measure.needs_relevant}
    empty = find_degenerate(qrels, about, np.arange(len(qrels)), workers)
    if not empty:
        return qrels
    (first, flags), *others = empty.items()
    for name, other in others:
        differ = np.flatnonzero(flags != other)
        if len(differ):
            lacks, counts = (name, first) if other[differ[0]] else (first, name)
            query = clip(qrels.queries[int(differ[0])])
            raise DataError(
                f"empty='skip': query {query} has relevant documents for {counts} and none for {lacks}, so their "
                f"means would be over different queries ({len(differ):,} differ); measure them in separate calls"
            )
    if flags.all():
        raise DataError(f"empty='skip': no query of {qrels.name} has a relevant document for {first}")
    names = [qrels.queries[i] for i in np.flatnonzero(flags).tolist()]
    return leave_out(qrels, names, "empty") if names else qrels


def find_degenerate(qrels: Qrels, measures: Mapping[str, Measure], queries: Ints, workers: int) -> dict[str, Bools]:
    """Return, for each measure, flags of the given queries for which every ranking scores 0; cached for all runs."""
    if isinstance(qrels, UncertainQrels):  # queries for which it does by all possible labels
        return find_degenerate(qrels.possible, measures, queries, workers)
    missing = {measure.key: measure for measure in measures.values() if measure.key not in qrels.degenerate}
    flags: dict[object, Bools] = {key: np.zeros(len(qrels), bool) for key in missing}

    def mark(rows: Ints, batch: Batch) -> None:
        for key, measure in missing.items():
            flags[key][rows] = measure.degenerate(measure.apply_relevance(batch))

    if missing and len(queries):
        Blocks(qrels, Hits.empty(len(qrels))).visit(mark, "expected", queries, workers)
    qrels.degenerate.update(flags)
    return {name: qrels.degenerate[measure.key] for name, measure in measures.items()}
