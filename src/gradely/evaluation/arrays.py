"""evaluate_arrays: from dense arrays of scores and labels to values, a block of rows at a time."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from gradely.evaluation.runs import DEFAULT
from gradely.kernel.backend import is_array, is_numpy, namespace
from gradely.kernel.batch import Array, positive_levels, rows_at_a_time
from gradely.kernel.from_arrays import aligned, check_finite, ranked
from gradely.measures import Measure
from gradely.measures.function import MANY, takes_fixed, values_of
from gradely.measures.names import MeasureLike, parse_all
from gradely.measures.population import Population
from gradely.settings import check_ties
from gradely.threads import cores, on_threads


def evaluate_arrays(
    scores: Any,
    labels: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    mask: Any = None,
    *,
    ties: str = "expected",
    seed: int = 0,
    threads: int | None = None,
) -> dict[str, Array]:
    """Return the values of each measure, one a row, from scores and labels, one row a query.

    It gives what measures give for from_arrays(scores, labels, mask), but NumPy's arrays are ranked and measured in
    blocks of rows, on all processors: no copy of the whole is made, and it takes a fraction of the time.

    >>> evaluate_arrays([[0.9, 0.4, 0.4], [0.1, 0.7, 0.2]], [[0, 2, 1], [1, 0, 3]], ["RR", "P@1"])
    {'RR': array([0.5, 0.5]), 'P@1': array([0., 0.])}
    """
    check_ties(ties, without_names=True)
    if any(is_array(x) and not is_numpy(x) for x in (scores, labels, mask)):
        return _on_device(scores, labels, parse_all(measures), mask, ties, seed)
    scores, labels, mask = aligned(scores, labels, mask, ties, seed)
    fitted = {name: measure.fit(lambda: _levels(labels, mask)) for name, measure in parse_all(measures).items()}

    def work(rows: slice) -> list[Array]:
        batch = ranked(scores[rows, ...], labels[rows, ...], None if mask is None else mask[rows, ...], ties)
        return [measure.compute(batch) for measure in fitted.values()]

    blocks = list(on_threads(work, _blocks(scores), threads or cores()))
    columns = zip(*blocks, strict=True)
    return {name: namespace(*values).concat(values) for name, values in zip(fitted, columns, strict=True)}


def _on_device(
    scores: Any, labels: Any, measures: dict[str, Measure], mask: Any, ties: str, seed: int
) -> dict[str, Array]:
    """Return the values from one batch of fixed shape, which never waits for the device, where measures take one."""
    scores, labels, mask = aligned(scores, labels, mask, ties, seed)
    check_finite("score", scores, mask)
    check_finite("label", labels, mask)
    levels = cache(lambda: _levels(labels, mask))
    ordered = "order" if ties == "random" else ties
    quick = {name: measure for name, measure in measures.items() if _is_quick(measure, levels)}
    values = values_of(list(quick.values()), scores, labels, mask, ties=ordered, check=False) if quick else []
    found = dict(zip(quick, values, strict=True))
    if len(quick) < len(measures):
        batch = ranked(scores, labels, mask, ordered)
        found |= {name: measure(batch) for name, measure in measures.items() if name not in quick}
    return {name: found[name] for name in measures}


def _is_quick(measure: Measure, levels: Callable[[], Array]) -> bool:
    """True for measures that take batches of fixed shape, and have not too many levels."""
    return takes_fixed(measure) and not (isinstance(measure, Population) and levels().shape[0] > MANY)


def _blocks(scores: Array) -> list[slice]:
    """Return blocks of rows that stay in the processor's cache; other libraries than NumPy take all in one."""
    queries, width = scores.shape
    rows = rows_at_a_time(width) if is_numpy(scores) else queries
    return [slice(i, i + rows) for i in range(0, queries, rows)]


def _levels(labels: Array, mask: Array | None) -> Array:
    return positive_levels(labels, labels > 0 if mask is None else mask)
