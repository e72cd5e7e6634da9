"""The array library of some arrays, and where they live.

NumPy's own namespace follows the array API standard. array_api_compat, which makes other libraries follow it, is
imported only for them: it loads much of NumPy that is not needed.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradely.errors import DataError

NUMPY = (np.ndarray, np.generic)
"""types of NumPy; a tuple, since compilers do not follow a union of types"""
PLAIN = (list, tuple, range, int, float)
"""types of Python that hold numbers and are no arrays"""
FEW_CELLS = 1000
"""cells up to which running sums of all rows take less time than sums of columns: measured with six rows"""


def namespace(*arrays: Any) -> Any:
    """Return the namespace of arrays of one library; NumPy's where there are none."""
    if all(isinstance(x, NUMPY) for x in arrays):
        return np
    from array_api_compat import array_namespace

    return array_namespace(*arrays)


def ignore_overflow() -> Any:
    """Return a context in which NumPy says nothing of overflow; whoever enters it looks for what is not finite."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def device_of(x: Any) -> Any:
    """Return the device that an array lives on."""
    if isinstance(x, np.ndarray):
        return x.device
    from array_api_compat import device

    return device(x)


def as_type(x: Any, dtype: Any) -> Any:
    """Return an array with another type of numbers; NumPy's function for it takes four times as long as its method."""
    return x.astype(dtype) if isinstance(x, np.ndarray) else namespace(x).astype(x, dtype, copy=False)


def running_sum(x: Any, dtype: Any) -> Any:
    """Return the sums of the first 1, 2, … columns, in numbers of a type."""
    if isinstance(x, np.ndarray):
        return np.add.accumulate(x, 1, dtype)  # as cumsum, which takes twice as long for a few numbers
    return namespace(x).cumulative_sum(as_type(x, dtype), axis=1, dtype=dtype)


def is_numpy(x: Any) -> bool:
    """True for an array of NumPy."""
    return isinstance(x, np.ndarray)


def is_any(flags: Any) -> bool:
    """True where any of some flags is; NumPy counts a few of them in a third of the time of its `any`."""
    return bool(np.count_nonzero(flags) if isinstance(flags, np.ndarray) else namespace(flags).any(flags))


def is_array(x: Any) -> bool:
    """True for an array of any library."""
    if isinstance(x, np.ndarray):
        return True
    if isinstance(x, PLAIN):
        return False
    from array_api_compat import is_array_api_obj

    return bool(is_array_api_obj(x))


def check_unmasked(**values: Any) -> None:
    """Refuse NumPy's masked arrays that hide something, also as rows: what they hide would be measured."""
    for name, value in values.items():
        for x in value if isinstance(value, list | tuple) else (value,):
            if isinstance(x, np.ndarray) and np.any(getattr(x, "mask", False)):
                raise DataError(
                    f"{name}: a masked array would lose its mask; give a plain array without what is masked,"
                    " or, with one row per query, mask=~numpy.ma.getmaskarray(scores)"
                )


def to_numpy(x: Any) -> Any:
    """Return an array of any library, wherever it lives, as NumPy's."""
    if isinstance(x, np.ndarray):
        return x
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError):  # it lives on another device
        from array_api_compat import to_device

        return np.asarray(to_device(x, "cpu"))


def sum_rows(x: Any) -> Any:
    """Return the sum of each row, on NumPy added from left to right; other libraries have orders of their own.

    NumPy adds whole columns where these lie together in memory, and so in order; a single row it would add in pairs. Of
    a few cells running sums are sooner made.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).sum(x, axis=1)
    running = len(x) == 1 or 0 < x.size <= FEW_CELLS
    return np.add.accumulate(x, 1)[:, -1] if running else np.asfortranarray(x).sum(axis=1)


def divide(added: Any, norm: Any) -> Any:
    """Return sums over their norms, of one measure or of several; 0 where the norm is. A sum of -0.0 is 0."""
    positive = norm > 0
    if isinstance(added, np.ndarray):
        return np.divide(added + 0.0, norm, out=np.zeros(added.shape, added.dtype), where=positive)
    xp = namespace(added)
    return xp.where(positive, (added + 0.0) / xp.where(positive, norm, 1.0), 0.0)


def take_rows(x: Any, order: Any) -> Any:
    """Return the cells of each row in an order of its own.

    NumPy's function for it takes ten times as long as one lookup in all rows, one after the other.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).take_along_axis(x, order, axis=1)
    return np.take(x, order + np.arange(0, x.size, max(1, x.shape[1]))[:, None])


def is_traced(x: Any) -> bool:
    """True while a compiler of JAX or PyTorch follows the work, so that no value can be looked at.

    PyTorch up to 2.11 denies it within one step of its graph, but shows tensors that stand for others.
    """
    if isinstance(x, np.ndarray):
        return False
    from array_api_compat import is_jax_array, is_torch_array

    if is_jax_array(x):
        from jax.core import Tracer

        return isinstance(x, Tracer)
    if is_torch_array(x):
        from torch.compiler import is_compiling

        return bool(is_compiling()) or type(x).__module__.startswith("torch._subclasses")
    return False


def constants(values: Iterable[float]) -> Any:
    """Return numbers that are known before any array is seen, as an array that is never traced."""
    return np.asarray(list(values), dtype=np.float64)


def as_one_step(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of arrays alone such that torch.compile takes it as one step of its graph.

    It then records the operations on tensors, as JAX does, and does not follow Python's own objects, as it cannot all.
    Without PyTorch there is nothing to do.
    """
    torch = sys.modules.get("torch")
    return function if torch is None else torch.compiler.allow_in_graph(function)


def to_lists(x: Any) -> Any:
    """Return an array as lists of Python's numbers."""
    if hasattr(x, "tolist"):
        return x.tolist()
    return [to_lists(x[i, ...]) if x.ndim > 1 else x[i].__complex__().real for i in range(x.shape[0])]
