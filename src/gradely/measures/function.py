"""Measures as pure functions of arrays, which jax.jit and torch.compile accept; one sort serves all measures."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from gradely.errors import MeasureError
from gradely.kernel.arrays import align_arrays, check_numbers
from gradely.kernel.backend import as_one_step, constants, is_traced, namespace
from gradely.kernel.batch import Array, Levels
from gradely.kernel.fixed import fix_shapes
from gradely.kernel.swapped import warn_of_swap
from gradely.measures.base import Measure, check_finite
from gradely.measures.gap import Population
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import ArrayTies, check_ties

BLOCK = 1 << 24
"""approximate number of cells in the arrays of a block if nothing is traced; with fewer, launching the operations takes
longer than executing them, as measured on an H200"""
MANY = 64
"""with more levels, batches that may inspect values are used, since each level takes a pass over the arrays"""


def as_function(
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    levels: Iterable[float] | None = None,
    ties: ArrayTies = "expected",
    check: bool = False,
) -> "MeasureFunction":
    """Return a function of (scores, labels, mask=None) that computes measures, for jax.jit and torch.compile.

    It returns the values of each measure by its name. Documents are sorted once for all measures, and nothing waits for
    the device. `levels` lists the distinct positive labels that occur; GAP, xGAP, eGAP, muAP, and measures that take
    the top of the scale from the data, cannot be traced without it. With ties="order", under which nothing ties, nearly
    every measure can be traced. With `check`, NaN and infinity raise an error, in the arguments and in the values, such
    as the DCG of labels of 2000 with exponential gain; this waits for the device. Without it, and always while a
    function is traced, nothing is checked, and such a value is infinite.

    >>> import numpy as np
    >>> function = as_function(["RR", "P@1"])
    >>> function(np.array([[0.9, 0.4, 0.4]]), np.array([[0, 2, 1]]))
    {'RR': array([0.5]), 'P@1': array([0.])}
    """
    check_ties(ties, without_names=True)
    known = None if levels is None else tuple(sorted({float(level) for level in levels if level > 0}))
    return MeasureFunction(parse_all(measures), known, ties, check=check)


class MeasureFunction:
    """A function of (scores, labels, mask=None) that computes measures, as returned by as_function.

    It can be compiled and pickled, by itself or as part of a model.
    """

    def __init__(
        self, measures: dict[str, Measure], levels: tuple[float, ...] | None, ties: str, *, check: bool
    ) -> None:
        """Fit the measures to the levels, if given; raise MeasureError if one has no formula of fixed shape."""
        for measure in measures.values():
            check_fixed(measure, ties)
        self.measures, self.levels, self.ties, self.check = measures, levels, ties, check
        known = None if levels is None else constants(levels)
        fitted = [measure if known is None else measure.fit(Levels(known)) for measure in measures.values()]

        def step(*arrays: Array) -> tuple[Array, ...]:
            return tuple(values_of(fitted, *arrays, levels=known, ties=ties, check=check))

        self._step = as_one_step(step)

    def __call__(self, scores: Any, labels: Any, mask: Any = None) -> dict[str, Array]:
        """Return the values of each measure, one per query."""
        values = self._step(scores, labels) if mask is None else self._step(scores, labels, mask)
        return dict(zip(self.measures, values, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments; the function is created again from them."""
        return partial(MeasureFunction, check=self.check), (self.measures, self.levels, self.ties)

    def __repr__(self) -> str:
        """Return the call that creates it."""
        return f"as_function({list(self.measures)}, levels={self.levels}, ties={self.ties!r}, check={self.check})"


class ValueFunction:
    """A measure as a function of (scores, labels, mask=None), as returned by Measure.of; it can be pickled."""

    def __init__(self, measure: Measure) -> None:
        """Take the measure."""
        self.measure, self._name = measure, str(measure)
        self._checked, self._quick = (
            MeasureFunction({self._name: measure}, None, "expected", check=c) for c in (True, False)
        )

    def __call__(self, scores: Any, labels: Any, mask: Any = None, *, check: bool = True) -> Array:
        """Return one value per row, or one number for one-dimensional arrays."""
        if check:
            warn_of_swap(scores, labels, f"{self._name}.of")
        return (self._checked if check else self._quick)(scores, labels, mask)[self._name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the measure."""
        return ValueFunction, (self.measure,)


def check_fixed(measure: Measure, ties: str) -> None:
    """Raise MeasureError if a measure has no formula of fixed shape."""
    if not measure.is_fixed(ties):
        others = (
            "ties='order' has one, and evaluate_arrays takes it" if measure.is_fixed("order") else "use evaluate_arrays"
        )
        raise MeasureError(
            f"{measure}: there is no formula of fixed shape, which compilers need, for ties={ties!r}; {others}"
        )


def values_of(
    measures: Sequence[Measure],
    scores: Any,
    labels: Any,
    mask: Any = None,
    *,
    levels: Array | None = None,
    ties: str = "expected",
    seed: int = 0,
    check: bool = True,
) -> list[Array]:
    """Return the values of each measure, one per row, or one number for one-dimensional arrays.

    Measures are fitted to `levels`, if given.
    """
    flat = len(getattr(scores, "shape", (0, 0))) == 1
    scores, labels, mask = align_arrays(scores, labels, mask, ties, seed)
    check = check and not (is_traced(scores) or is_traced(labels))
    if check:
        check_numbers(namespace(scores), {"score": scores, "label": labels}, mask)
    if levels is None:
        untraced = _Untraced(labels, mask)
        measures = [measure.fit(untraced) for measure in measures]
    has_levels = any(isinstance(measure, Population) for measure in measures)
    most = int((untraced() if levels is None else levels).shape[0]) if has_levels else None
    values = _in_blocks(measures, scores, labels, mask, ties, most)
    if check:
        _check_values(measures, values, labels, mask)
    return [value[0] for value in values] if flat else values


def _in_blocks(
    measures: Sequence[Measure], scores: Array, labels: Array, mask: Array | None, ties: str, most_levels: int | None
) -> list[Array]:
    """Return the values of each measure, computed in blocks of rows of about the same size to bound memory.

    A compiler gets all rows at once: it needs less memory, and would compile every block again.
    """
    queries, width = scores.shape
    count = 1 if is_traced(scores) or is_traced(labels) else -(-queries // max(1, BLOCK // width))
    rows = -(-queries // count)
    parts = []
    for start in range(0, queries, rows):
        s, y, real = (None if x is None else x[start : start + rows, :] for x in (scores, labels, mask))
        batch = fix_shapes(s, y, real, ties, most_levels)
        parts.append([measure.compute(batch) for measure in measures])
    return parts[0] if count == 1 else [namespace(*values).concat(values) for values in zip(*parts, strict=True)]


def _check_values(measures: Sequence[Measure], values: list[Array], labels: Array, mask: Array | None) -> None:
    """Raise NotFinite with measure, row and highest label if a value is not finite."""
    if all_finite(values):
        return

    def highest(row: int) -> Array:
        return namespace(labels).max(labels[row, :] if mask is None else labels[row, :][mask[row, :]])

    for measure, value in zip(measures, values, strict=True):
        check_finite(measure, value, highest)


def all_finite(values: Sequence[Array]) -> bool:
    """True if all values are finite; this waits for the device once for all measures."""
    if not values:
        return True
    xp = namespace(*values)
    return bool(xp.all(xp.isfinite(xp.stack(list(values)))))


class _Untraced(Levels):
    """The labels of a collection, whose values are unknown while a function is traced."""

    def __call__(self) -> Array:
        """Return the distinct positive labels, ascending."""
        if is_traced(self._labels):
            raise MeasureError(
                "the labels that occur cannot be determined while a function is traced: pass them, as in"
                " levels=[1, 2, 3]"
            )
        return super().__call__()
