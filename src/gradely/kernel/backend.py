"""Array libraries and the differences between them: the only file that knows libraries by name.

NumPy's own namespace follows the array API standard. array_api_compat adapts other libraries to it; it is imported only
for their arrays, since it loads many modules of NumPy that are not needed. Functions on rows have a version per library
if the standard lacks the operation, or if another way takes a fraction of the time.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradely.errors import DataError

NUMPY = (np.ndarray, np.generic)
"""types of NumPy arrays and scalars; a tuple, since compilers do not support a union of types"""
PLAIN = (list, tuple, range, int, float, type(None))
"""frequent types that are no arrays"""
FEW_CELLS = 1000
"""largest number of cells for which running sums of rows are faster than sums of columns, measured with six rows"""
NARROW = 128
"""largest number of columns for which PyTorch scans a transposed array: on an H200, a scan along rows takes about 6 ns
per row of any length, and one along columns 20 to 50 ps per cell"""
BITS = 31
"""largest number of columns for which JAX stores the flags of a row as the bits of one integer, since its scans and
sorts are slow: on an H200, six measures of a million rows of 20 columns took 3.1 ms with bits and 5.2 ms with scans"""


# Libraries and devices


def namespace(*arrays: Any) -> Any:
    """Return the namespace of arrays of one library; NumPy's if there are no arrays."""
    if all(isinstance(x, NUMPY) for x in arrays):
        return np
    from array_api_compat import array_namespace

    return array_namespace(*arrays)


def device_of(x: Any) -> Any:
    """Return the device of an array."""
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
    """True for arrays of JAX, which scans and sorts slowly, with rows that fit into the bits of one integer."""
    return x.shape[1] <= BITS and _is_jax(x)


def is_traced(x: Any) -> bool:
    """True if JAX or PyTorch is tracing the code, so no values are available.

    Within a single step of its graph, PyTorch up to 2.11 reports that it is not compiling, but the arrays are fake
    tensors.
    """
    if _is_jax(x):
        from jax.core import Tracer

        return isinstance(x, Tracer)
    if _is_torch(x):
        from torch.compiler import is_compiling

        return bool(is_compiling()) or type(x).__module__.startswith("torch._subclasses")
    return False


def as_one_step(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of arrays that torch.compile treats as one step of its graph.

    torch.compile then records only the operations on tensors, as JAX does, and need not follow Python objects, some of
    which it does not support. If PyTorch is not loaded, the function is returned unchanged.
    """
    torch = sys.modules.get("torch")
    return function if torch is None else torch.compiler.allow_in_graph(function)


def check_unmasked(**values: Any) -> None:
    """Raise DataError for NumPy's masked arrays, or rows, with masked values, which would be measured like others."""
    for name, value in values.items():
        for x in value if isinstance(value, list | tuple) else (value,):
            if isinstance(x, np.ndarray) and np.any(getattr(x, "mask", False)):
                says = "a masked array would lose its mask; pass a plain array without the masked values"
                raise DataError(f"{name}: {says}{_say_mask(values)}")


def _say_mask(values: dict[str, Any]) -> str:
    """Return the end of an error that says what to type instead of masked scores and labels with one row per query."""
    masked = [name for name, value in values.items() if isinstance(value, np.ma.MaskedArray) and np.any(value.mask)]
    if not masked or not {*masked} <= {"scores", "labels", "mask"}:
        return ""
    plain = " and ".join(f"{name}.filled(0)" for name in masked if name != "mask")
    given = ["mask.filled(False)" if "mask" in masked else "mask"] if values.get("mask") is not None else []
    mask = " & ".join([*given, *(f"~numpy.ma.getmaskarray({name})" for name in masked if name != "mask")])
    return f", or, with one row per query, {plain}{' and ' if plain else ''}mask={mask}"


# Conversions


def as_type(x: Any, dtype: Any) -> Any:
    """Return an array with another dtype. NumPy's function `astype` takes four times as long as the method."""
    return x.astype(dtype) if isinstance(x, np.ndarray) else namespace(x).astype(x, dtype, copy=False)


def to_numpy(x: Any) -> Any:
    """Return an array of any library and device as a NumPy array."""
    if isinstance(x, np.ndarray):
        return x
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):  # it is on another device
        from array_api_compat import to_device

        return np.asarray(to_device(x, "cpu"))


def to_lists(x: Any) -> Any:
    """Return an array as nested lists of Python numbers."""
    if hasattr(x, "tolist"):
        return x.tolist()
    return [to_lists(x[i, ...]) if x.ndim > 1 else x[i].__complex__().real for i in range(x.shape[0])]


def constants(values: Iterable[float]) -> Any:
    """Return constants as a NumPy array, which is never traced."""
    return np.asarray(list(values), dtype=np.float64)


# Sums and quotients


def ignore_overflow() -> Any:
    """Return a context in which NumPy does not warn of overflow; the caller has to check that results are finite."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def is_any(flags: Any) -> bool:
    """True if any flag is true. For few flags, NumPy's count takes a third of the time of its `any`."""
    return bool(np.count_nonzero(flags) if isinstance(flags, np.ndarray) else namespace(flags).any(flags))


def sum_rows(x: Any) -> Any:
    """Return the sum of each row. NumPy adds from left to right; other libraries have their own order.

    NumPy adds whole columns in order if the columns are contiguous in memory, but the numbers of a single row pairwise.
    For few cells, running sums are faster.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).sum(x, axis=1)
    running = len(x) == 1 or 0 < x.size <= FEW_CELLS
    return np.add.accumulate(x, 1)[:, -1] if running else np.asfortranarray(x).sum(axis=1)


def divide(added: Any, norm: Any) -> Any:
    """Return sums over norms, for one measure or several; 0 if the norm is 0. A sum of -0.0 becomes 0."""
    positive = norm > 0
    if isinstance(added, np.ndarray):
        return np.divide(added + 0.0, norm, out=np.zeros(added.shape, added.dtype), where=positive)
    xp = namespace(added)
    return xp.where(positive, (added + 0.0) / xp.where(positive, norm, 1.0), 0.0)


def running_sum(x: Any, dtype: Any) -> Any:
    """Return the sums of the first 1, 2, … columns in a dtype."""
    if isinstance(x, np.ndarray):
        return np.add.accumulate(x, 1, dtype)  # cumsum returns the same and takes twice as long for a few numbers
    return namespace(x).cumulative_sum(as_type(x, dtype), axis=1, dtype=dtype)


def running_product(x: Any) -> Any:
    """Return the products of the first 1, 2, … columns."""
    if not _is_torch(x) or x.shape[1] > NARROW or is_traced(x):
        return namespace(x).cumulative_prod(x, axis=1)
    return x.t().cumprod(0).t()


def running_max(x: Any) -> Any:
    """Return the running maximum of each row.

    If a library has no function for it, it is computed in steps that double the distance to the left each time.
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
    """Return the sums of the first 0, 1, … columns in a dtype, which is one column more than x has."""
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
    """Return a function from columns [Q, N] to the sums of x before them; if x holds flags, the number of true ones."""
    if has_short_rows(x) and x.dtype == namespace(x).bool:
        return lambda columns: _flags_before(x, columns).astype(dtype)
    table = sums_before(x, dtype)
    return lambda columns: take_in_rows(table, columns)


def _flags_before(flags: Any, columns: Any) -> Any:
    """Return the number of true flags before some columns, for short rows of JAX, by the bits of one integer."""
    from jax import lax, numpy

    column = numpy.arange(flags.shape[1], dtype=numpy.uint32)[None, :]
    bits = numpy.sum(flags.astype(numpy.uint32) << column, axis=1, keepdims=True, dtype=numpy.uint32)
    return lax.population_count(bits & ((numpy.uint32(1) << columns.astype(numpy.uint32)) - 1))


# Cells, row by row


def take_rows(x: Any, order: Any) -> Any:
    """Return the cells of each row in its own order.

    NumPy's `take_along_axis` takes ten times as long as one lookup in the flat array.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).take_along_axis(x, order, axis=1)
    return np.take(x, order + np.arange(0, x.size, max(1, x.shape[1]))[:, None])


def take_in_rows(table: Any, columns: Any) -> Any:
    """Return the cells of a table in some columns of each row."""
    return table.gather(1, columns.long()) if _is_torch(table) else take_rows(table, columns)


# Sorting and runs of equal values


def rank_rows(keys: Any, labels: Any, *, stable: bool) -> tuple[Any, Any, Any]:
    """Return the ranked keys of each row, the labels in that order, and the labels sorted in descending order.

    Keys are ranked in descending order. Equal keys are sorted by descending label, so the order of columns does not
    matter, or by column if `stable`. The ranked keys are returned as ascending numbers that are equal if the keys are;
    their values have no other meaning.
    """
    if isinstance(keys, np.ndarray):
        order = np.argsort(-keys, axis=1, stable=True) if stable else np.lexsort((-labels, -keys))
        return take_rows(-keys, order), take_rows(labels, order), -np.sort(-labels, axis=1)
    if _is_torch(keys):  # its sort returns the order, too
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
    """Return the rank of each number in its row, from 0, in descending order, for short rows of JAX.

    All pairs are compared: on an H200, a million rows of 20 take half a millisecond less than by sorting.
    """
    from jax import numpy

    keys, column = _as_integers(x), numpy.arange(x.shape[1])[None, :]
    rank = numpy.zeros(x.shape, dtype=numpy.int32)
    for j in range(x.shape[1]):
        rank = rank + (keys[:, j : j + 1] + (column > j) > keys)
    return rank


def _as_integers(x: Any) -> Any:
    """Return JAX's real numbers as integers in the same order, which are faster to compare; -0.0 and 0.0 become 0."""
    from jax import lax, numpy

    return _mirror(lax.bitcast_convert_type(x, numpy.int32 if x.dtype == numpy.float32 else numpy.int64))


def _as_reals(integers: Any, dtype: Any) -> Any:
    """Return the real numbers of which `_as_integers` made these integers."""
    from jax import lax

    return lax.bitcast_convert_type(_mirror(integers), dtype)


def _mirror(bits: Any) -> Any:
    """Return the bits of real numbers with those of negative numbers reversed in order; its own inverse.

    As integers, the bits of negative numbers rise as the numbers fall.
    """
    from jax import numpy

    return numpy.where(bits < 0, int(np.iinfo(bits.dtype).min) - bits, bits)


def equal_runs(rising: Any) -> tuple[Any, Any]:
    """Return, for each cell of ascending rows, the first column of its run of equal values, and one past the last."""
    if _is_torch(rising):
        return _search_runs(rising)
    return _runs_by_bits(rising) if has_short_rows(rising) else _scan_runs(rising)


def _scan_runs(rising: Any) -> tuple[Any, Any]:
    """Return the runs of equal values by two running maxima, one from each end."""
    xp, width = namespace(rising), rising.shape[1]
    column = xp.broadcast_to(xp.arange(width, dtype=xp.int32, device=device_of(rising)), rising.shape)
    new = rising[:, 1:] != rising[:, :-1]
    edge = xp.ones_like(rising[:, :1], dtype=xp.bool)
    first = running_max(xp.where(xp.concat([edge, new], axis=1), column, 0))
    ends = xp.flip(xp.where(xp.concat([new, edge], axis=1), -1 - column, -width), axis=1)
    return first, -xp.flip(running_max(ends), axis=1)


def _search_runs(rising: Any) -> tuple[Any, Any]:
    """Return the runs of equal values in PyTorch's arrays by binary search, which is faster there than any scan.

    PyTorch's functions need indices of 64 bits. In compiled code, a conversion needs no copy, so 32 bits save memory.
    """
    from torch import searchsorted

    short = is_traced(rising)
    return (
        searchsorted(rising, rising, out_int32=short),
        searchsorted(rising, rising, out_int32=short, right=True),
    )


def _runs_by_bits(rising: Any) -> tuple[Any, Any]:
    """Return the runs of equal values in short rows of JAX: a bit marks each column where a run begins."""
    from jax import lax, numpy

    column = numpy.arange(rising.shape[1], dtype=numpy.uint32)[None, :]
    new = numpy.concatenate([numpy.ones_like(rising[:, :1], dtype=bool), rising[:, 1:] != rising[:, :-1]], axis=1)
    starts = numpy.sum(new.astype(numpy.uint32) << column, axis=1, keepdims=True, dtype=numpy.uint32)
    upto, after = starts & ((2 << column) - 1), starts >> (column + 1)
    first = 31 - lax.clz(upto)
    gap = lax.population_count((after & -after) - 1)
    last = numpy.minimum(column + 1 + gap, rising.shape[1])
    return first.astype(numpy.int32), last.astype(numpy.int32)
