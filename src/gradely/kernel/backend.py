"""The array library of some arrays, and what is done differently in each: the only file that knows them by name.

NumPy's own namespace follows the array API standard. array_api_compat, which makes other libraries follow it, is
imported only for them: it loads much of NumPy that is not needed. Functions that work row by row have a way for each
library where the standard has none, or where another way takes a fraction of the time.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradely.errors import DataError

NUMPY = (np.ndarray, np.generic)
"""types of NumPy; a tuple, since compilers do not follow a union of types"""
PLAIN = (list, tuple, range, int, float, type(None))
"""types of Python that are no arrays: those that hold numbers, and None"""
FEW_CELLS = 1000
"""cells up to which running sums of all rows take less time than sums of columns: measured with six rows"""
NARROW = 128
"""columns up to which PyTorch scans across rows: on an H200 a scan along rows takes about 6 ns for each row, short or
long, and one across them 20 to 50 ps for each cell"""
BITS = 31
"""columns up to which JAX flags the cells of a row by the bits of one number, since its scans and sorts take long: on
an H200 six measures of a million rows of 20 columns took 3.1 ms so, 5.2 ms by scans"""


# Which library it is, and which device


def namespace(*arrays: Any) -> Any:
    """Return the namespace of arrays of one library; NumPy's where there are none."""
    if all(isinstance(x, NUMPY) for x in arrays):
        return np
    from array_api_compat import array_namespace

    return array_namespace(*arrays)


def device_of(x: Any) -> Any:
    """Return the device that an array lives on."""
    if isinstance(x, np.ndarray):
        return x.device
    from array_api_compat import device

    return device(x)


def is_numpy(x: Any) -> bool:
    """True for an array of NumPy."""
    return isinstance(x, np.ndarray)


def is_array(x: Any) -> bool:
    """True for an array of any library."""
    if isinstance(x, np.ndarray):
        return True
    if isinstance(x, PLAIN):
        return False
    from array_api_compat import is_array_api_obj

    return bool(is_array_api_obj(x))


def _is_torch(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return False
    from array_api_compat import is_torch_array

    return bool(is_torch_array(x))


def _is_jax(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return False
    from array_api_compat import is_jax_array

    return bool(is_jax_array(x))


def has_short_rows(x: Any) -> bool:
    """True if rows fit into the bits of one number, and their library is JAX, which scans and sorts slowly."""
    return x.shape[1] <= BITS and _is_jax(x)


def is_traced(x: Any) -> bool:
    """True while a compiler of JAX or PyTorch follows the work, so that no value can be looked at.

    PyTorch up to 2.11 denies it within one step of its graph, but shows tensors that stand for others.
    """
    if _is_jax(x):
        from jax.core import Tracer

        return isinstance(x, Tracer)
    if _is_torch(x):
        from torch.compiler import is_compiling

        return bool(is_compiling()) or type(x).__module__.startswith("torch._subclasses")
    return False


def as_one_step(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of arrays alone such that torch.compile takes it as one step of its graph.

    It then records the operations on tensors, as JAX does, and does not follow Python's own objects, as it cannot all.
    Without PyTorch there is nothing to do.
    """
    torch = sys.modules.get("torch")
    return function if torch is None else torch.compiler.allow_in_graph(function)


def check_unmasked(**values: Any) -> None:
    """Refuse NumPy's masked arrays that hide something, also as rows: what they hide would be measured."""
    for name, value in values.items():
        for x in value if isinstance(value, list | tuple) else (value,):
            if isinstance(x, np.ndarray) and np.any(getattr(x, "mask", False)):
                says = "a masked array would lose its mask; give a plain array without what is masked"
                raise DataError(f"{name}: {says}{_say_mask(values)}")


def _say_mask(values: dict[str, Any]) -> str:
    """Return what to type in place of masked arrays of scores and labels, of which there is one row per query."""
    masked = [name for name, value in values.items() if isinstance(value, np.ma.MaskedArray) and np.any(value.mask)]
    if not masked or not {*masked} <= {"scores", "labels", "mask"}:
        return ""
    plain = " and ".join(f"{name}.filled(0)" for name in masked if name != "mask")
    given = ["mask.filled(False)" if "mask" in masked else "mask"] if values.get("mask") is not None else []
    mask = " & ".join([*given, *(f"~numpy.ma.getmaskarray({name})" for name in masked if name != "mask")])
    return f", or, with one row per query, {plain}{' and ' if plain else ''}mask={mask}"


# From one kind of numbers to another


def as_type(x: Any, dtype: Any) -> Any:
    """Return an array with another type of numbers; NumPy's function for it takes four times as long as its method."""
    return x.astype(dtype) if isinstance(x, np.ndarray) else namespace(x).astype(x, dtype, copy=False)


def to_numpy(x: Any) -> Any:
    """Return an array of any library, wherever it lives, as NumPy's."""
    if isinstance(x, np.ndarray):
        return x
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):  # it lives on another device
        from array_api_compat import to_device

        return np.asarray(to_device(x, "cpu"))


def to_lists(x: Any) -> Any:
    """Return an array as lists of Python's numbers."""
    if hasattr(x, "tolist"):
        return x.tolist()
    return [to_lists(x[i, ...]) if x.ndim > 1 else x[i].__complex__().real for i in range(x.shape[0])]


def constants(values: Iterable[float]) -> Any:
    """Return numbers that are known before any array is seen, as an array that is never traced."""
    return np.asarray(list(values), dtype=np.float64)


# Sums and quotients


def ignore_overflow() -> Any:
    """Return a context in which NumPy says nothing of overflow; whoever enters it looks for what is not finite."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def is_any(flags: Any) -> bool:
    """True if any of some flags is; NumPy counts a few of them in a third of the time of its `any`."""
    return bool(np.count_nonzero(flags) if isinstance(flags, np.ndarray) else namespace(flags).any(flags))


def sum_rows(x: Any) -> Any:
    """Return the sum of each row, on NumPy added from left to right; other libraries have orders of their own.

    NumPy adds whole columns where these lie together in memory, and so in order; a single row it would add in pairs.
    Running sums of a few cells take less time.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).sum(x, axis=1)
    running = len(x) == 1 or 0 < x.size <= FEW_CELLS
    return np.add.accumulate(x, 1)[:, -1] if running else np.asfortranarray(x).sum(axis=1)


def divide(added: Any, norm: Any) -> Any:
    """Return sums over their norms, of one measure or of several; 0 if the norm is. A sum of -0.0 is 0."""
    positive = norm > 0
    if isinstance(added, np.ndarray):
        return np.divide(added + 0.0, norm, out=np.zeros(added.shape, added.dtype), where=positive)
    xp = namespace(added)
    return xp.where(positive, (added + 0.0) / xp.where(positive, norm, 1.0), 0.0)


def running_sum(x: Any, dtype: Any) -> Any:
    """Return the sums of the first 1, 2, … columns, in numbers of a type."""
    if isinstance(x, np.ndarray):
        return np.add.accumulate(x, 1, dtype)  # as cumsum, which takes twice as long for a few numbers
    return namespace(x).cumulative_sum(as_type(x, dtype), axis=1, dtype=dtype)


def running_product(x: Any) -> Any:
    """Return the products of the first 1, 2, … columns."""
    if not _is_torch(x) or x.shape[1] > NARROW or is_traced(x):
        return namespace(x).cumulative_prod(x, axis=1)
    return x.t().cumprod(0).t()


def running_max(x: Any) -> Any:
    """Return, for each cell of a row, the highest value up to there.

    Where a library has no function for it, every step doubles how far a cell has looked back.
    """
    if isinstance(x, np.ndarray):
        return np.maximum.accumulate(x, axis=1)
    if _is_torch(x):
        return x.cummax(1).values
    if _is_jax(x):
        from jax.lax import cummax

        return cummax(x, axis=1)
    xp, step = namespace(x), 1
    while step < x.shape[1]:
        x = xp.concat([x[:, :step], xp.maximum(x[:, step:], x[:, :-step])], axis=1)
        step *= 2
    return x


def sums_before(x: Any, dtype: Any) -> Any:
    """Return the sums of the first 0, 1, … columns, in numbers of a type: one column more."""
    if not _is_torch(x):
        return namespace(x).cumulative_sum(as_type(x, dtype), axis=1, dtype=dtype, include_initial=True)
    rows, width = x.shape
    if width > NARROW or is_traced(x):
        table = x.new_empty((rows, width + 1), dtype=dtype)
        table[:, 0], table[:, 1:] = 0, x
        return table.cumsum(1)
    table = x.new_empty((width + 1, rows), dtype=dtype)
    table[0], table[1:] = 0, x.t()
    return table.cumsum(0).t()


def sums_to_look_up(x: Any, dtype: Any) -> Callable[[Any], Any]:
    """Return a function from columns, row by row, to the sums of what stands before them; of flags, how many."""
    if has_short_rows(x) and x.dtype == namespace(x).bool:
        return lambda columns: _flags_before(x, columns).astype(dtype)
    table = sums_before(x, dtype)
    return lambda columns: take_in_rows(table, columns)


def _flags_before(flags: Any, columns: Any) -> Any:
    """Return how many flags of a short row of JAX stand before some columns, by the bits of one number."""
    from jax import lax, numpy

    column = numpy.arange(flags.shape[1], dtype=numpy.uint32)[None, :]
    bits = numpy.sum(flags.astype(numpy.uint32) << column, axis=1, keepdims=True, dtype=numpy.uint32)
    return lax.population_count(bits & ((numpy.uint32(1) << columns.astype(numpy.uint32)) - 1))


# Cells, row by row


def take_rows(x: Any, order: Any) -> Any:
    """Return the cells of each row in an order of its own.

    NumPy's function for it takes ten times as long as one lookup in all rows, one after the other.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).take_along_axis(x, order, axis=1)
    return np.take(x, order + np.arange(0, x.size, max(1, x.shape[1]))[:, None])


def take_in_rows(table: Any, columns: Any) -> Any:
    """Return what stands in some columns of a table, row by row."""
    return table.gather(1, columns.long()) if _is_torch(table) else take_rows(table, columns)


# Sorting, and what stands together then


def rank_rows(keys: Any, labels: Any, *, stable: bool) -> tuple[Any, Any, Any]:
    """Return the keys of each row, the highest first, the labels in that order, and the labels, the highest first.

    Of equal keys the highest label comes first, so that no order of columns matters; or the first column, if `stable`.
    Keys come back as numbers that rise from left to right and are equal where keys are; nothing else is known of them.
    """
    if isinstance(keys, np.ndarray):
        order = np.argsort(-keys, axis=1, stable=True) if stable else np.lexsort((-labels, -keys))
        return take_rows(-keys, order), take_rows(labels, order), -np.sort(-labels, axis=1)
    if _is_torch(keys):  # where a sort of labels gives their order, too
        pool, by_label = labels.sort(dim=1, descending=True)
        keys, labels = (keys, labels) if stable else (keys.gather(1, by_label), pool)
        rising, order = (-keys).sort(dim=1, stable=True)
        return rising, labels.gather(1, order), pool
    if _is_jax(keys):
        from jax.lax import sort

        columns = _as_integers(-keys), _as_integers(-labels)
        rising, falling = sort(columns, dimension=1, num_keys=1 if stable else 2, is_stable=stable)
        pool = sort(columns[1], dimension=1, is_stable=False)
        return rising, -_as_reals(falling, labels.dtype), -_as_reals(pool, labels.dtype)
    xp = namespace(keys)
    by_label = xp.argsort(-labels, axis=1, stable=True)
    pool = take_rows(labels, by_label)
    keys, labels = (keys, labels) if stable else (take_rows(keys, by_label), pool)
    order = xp.argsort(-keys, axis=1, stable=True)
    return take_rows(-keys, order), take_rows(labels, order), pool


def ranks_down(x: Any) -> Any:
    """Return how many numbers of its row stand before each one in descending order, of short rows of JAX.

    All are compared with all: a million rows of 20 take half a millisecond less than sorted, on an H200.
    """
    from jax import numpy

    keys, column = _as_integers(x), numpy.arange(x.shape[1])[None, :]
    rank = numpy.zeros(x.shape, dtype=numpy.int32)
    for j in range(x.shape[1]):
        rank = rank + (keys[:, j : j + 1] + (column > j) > keys)
    return rank


def _as_integers(x: Any) -> Any:
    """Return JAX's real numbers as integers in the same order, which it compares faster; -0 and 0 are both 0."""
    from jax import lax, numpy

    return _mirror(lax.bitcast_convert_type(x, numpy.int32 if x.dtype == numpy.float32 else numpy.int64))


def _as_reals(integers: Any, dtype: Any) -> Any:
    """Return the real numbers that integers in their order stand for."""
    from jax import lax

    return lax.bitcast_convert_type(_mirror(integers), dtype)


def _mirror(bits: Any) -> Any:
    """Return the bits of real numbers below 0, which rise as these fall, in the other direction; or back."""
    from jax import numpy

    return numpy.where(bits < 0, int(np.iinfo(bits.dtype).min) - bits, bits)


def equal_runs(rising: Any) -> tuple[Any, Any]:
    """Return, for each cell of rows that rise, the first column of those equal to it, and one past the last."""
    if _is_torch(rising):
        return _search_runs(rising)
    return _runs_by_bits(rising) if has_short_rows(rising) else _scan_runs(rising)


def _scan_runs(rising: Any) -> tuple[Any, Any]:
    """Return the runs by two running maxima, from either end."""
    xp, width = namespace(rising), rising.shape[1]
    column = xp.broadcast_to(xp.arange(width, dtype=xp.int32, device=device_of(rising)), rising.shape)
    new = rising[:, 1:] != rising[:, :-1]
    edge = xp.ones_like(rising[:, :1], dtype=xp.bool)
    first = running_max(xp.where(xp.concat([edge, new], axis=1), column, 0))
    ends = xp.flip(xp.where(xp.concat([new, edge], axis=1), -1 - column, -width), axis=1)
    return first, -xp.flip(running_max(ends), axis=1)


def _search_runs(rising: Any) -> tuple[Any, Any]:
    """Return the runs of PyTorch's arrays by binary search, which is faster there than any scan.

    Indices are whole numbers of 64 bits, as its functions want them; compilers need no copy, so 32 save memory there.
    """
    from torch import searchsorted

    short = is_traced(rising)
    return (
        searchsorted(rising, rising, out_int32=short),
        searchsorted(rising, rising, out_int32=short, right=True),
    )


def _runs_by_bits(rising: Any) -> tuple[Any, Any]:
    """Return the runs of short rows of JAX: a bit for each column where one begins, and what stands next to it."""
    from jax import lax, numpy

    column = numpy.arange(rising.shape[1], dtype=numpy.uint32)[None, :]
    new = numpy.concatenate([numpy.ones_like(rising[:, :1], dtype=bool), rising[:, 1:] != rising[:, :-1]], axis=1)
    starts = numpy.sum(new.astype(numpy.uint32) << column, axis=1, keepdims=True, dtype=numpy.uint32)
    upto, after = starts & ((2 << column) - 1), starts >> (column + 1)
    first = 31 - lax.clz(upto)
    gap = lax.population_count((after & -after) - 1)
    last = numpy.minimum(column + 1 + gap, rising.shape[1])
    return first.astype(numpy.int32), last.astype(numpy.int32)
