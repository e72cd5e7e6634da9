"""Queries without relevant documents: which they are for a measure, and what becomes of them.

A query is empty for a measure where every ranking of it scores 0, because its pool has nothing that the measure counts:
no label of `rel` or more for binary measures, no gain above 0 for graded ones.
"""

from collections.abc import Mapping

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.ids import Bools, Ints
from gradely.data.selection import leave_out
from gradely.data.uncertain import UncertainQrels
from gradely.errors import DataError, MeasureError, clip
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.measures.names import fit_all
from gradely.settings import Settings


def fit_to(qrels: Qrels, measures: Mapping[str, Measure], settings: Settings) -> tuple[Qrels, dict[str, Measure]]:
    """Return the qrels of the queries that count, and the measures fitted to all of them."""
    fitted = fit_all(measures, qrels.levels)
    if settings.empty != "zero" and isinstance(qrels, UncertainQrels):
        problem = "labels are probabilities, so that a query may have relevant documents or none"
        raise DataError(f"empty={settings.empty!r}: {problem}; use 'zero'")
    if settings.empty == "one":
        check_bounds(fitted)
    return (drop_empty(qrels, fitted, settings.workers) if settings.empty == "skip" else qrels), fitted


def check_bounds(measures: Mapping[str, Measure]) -> None:
    """Refuse measures of which 1 is not the best value, where empty queries are to count 1."""
    for name, measure in measures.items():
        if measure.needs_relevant and measure.bounds[1] != 1:
            raise MeasureError(f"empty='one': the best value of {name} is not 1; use 'zero' or 'skip'")


def drop_empty(qrels: Qrels, measures: Mapping[str, Measure], workers: int) -> Qrels:
    """Return the qrels without the queries that are empty; refuse measures that disagree on which these are.

    Means over different queries do not belong side by side. Measures that say something of every ranking, such as
    Judged, are averaged over the queries of the others.
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
                f"empty='skip': query {query} has relevant documents for {counts} and none for {lacks}, so that their "
                f"means would be over different queries ({len(differ):,} differ); measure them in separate calls"
            )
    if flags.all():
        raise DataError(f"empty='skip': no query of {qrels.name} has a relevant document for {first}")
    names = [qrels.queries[i] for i in np.flatnonzero(flags).tolist()]
    return leave_out(qrels, names, "empty") if names else qrels


def find_degenerate(qrels: Qrels, measures: Mapping[str, Measure], queries: Ints, workers: int) -> dict[str, Bools]:
    """Return, by name of a measure, for which of these queries every ranking scores 0; found once for all runs."""
    if isinstance(qrels, UncertainQrels):  # where it does whatever the labels are
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
