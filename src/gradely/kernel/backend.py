"""The array library of some arrays, and where they live.

NumPy's own namespace follows the array API standard. array_api_compat, which makes other libraries follow it, is
imported only for them: it loads much of NumPy that is not needed.
"""

from typing import Any

import numpy as np


def namespace(*arrays: Any) -> Any:
    """Return the namespace of arrays of one library; NumPy's where there are none."""
    if all(isinstance(x, np.ndarray | np.generic) for x in arrays):
        return np
    from array_api_compat import array_namespace

    return array_namespace(*arrays)


def unwarned() -> Any:
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
    return x.astype(dtype) if isinstance(x, np.ndarray) else namespace(x).astype(x, dtype)


def running_sum(x: Any, dtype: Any) -> Any:
    """Return the sums of the first 1, 2, … columns, in numbers of a type."""
    if isinstance(x, np.ndarray):
        return x.cumsum(axis=1, dtype=dtype)
    return namespace(x).cumulative_sum(as_type(x, dtype), axis=1)


def is_numpy(*arrays: Any) -> bool:
    """True for arrays of NumPy."""
    return all(isinstance(x, np.ndarray) for x in arrays)


def is_array(x: Any) -> bool:
    """True for an array of any library."""
    if isinstance(x, np.ndarray):
        return True
    if isinstance(x, list | tuple | range | int | float):
        return False
    from array_api_compat import is_array_api_obj

    return bool(is_array_api_obj(x))


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
    """Return the sum of each row, added in rank order, so that padding changes no digit.

    NumPy adds whole columns where these lie together in memory, and so in order; a single row it would add in pairs.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).cumulative_sum(x, axis=1)[:, -1]
    return np.asfortranarray(x).sum(axis=1) if len(x) > 1 else x.cumsum(axis=1)[:, -1]


def to_lists(x: Any) -> Any:
    """Return an array as lists of Python's numbers."""
    if hasattr(x, "tolist"):
        return x.tolist()
    return [to_lists(x[i, ...]) if x.ndim > 1 else x[i].__complex__().real for i in range(x.shape[0])]
