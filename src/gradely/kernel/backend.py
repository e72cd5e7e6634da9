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


def device_of(x: Any) -> Any:
    """Return the device that an array lives on."""
    if isinstance(x, np.ndarray):
        return x.device
    from array_api_compat import device

    return device(x)


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


def sums_in_order(x: Any) -> Any:
    """Return the sum of each row, added from left to right.

    NumPy adds whole columns where these lie together in memory, and so in order; a single row it would add in pairs.
    """
    if not isinstance(x, np.ndarray):
        return namespace(x).cumulative_sum(x, axis=1)[:, -1]
    return np.asfortranarray(x).sum(axis=1) if len(x) > 1 else x.cumsum(axis=1)[:, -1]


def running_max(x: Any) -> Any:
    """Return, for each cell of a row, the highest value up to there; the array API standard has no such function.

    Where a library has none either, every step doubles how far a cell has looked back.
    """
    if isinstance(x, np.ndarray):
        return np.maximum.accumulate(x, axis=1)
    from array_api_compat import is_jax_array, is_torch_array

    if is_torch_array(x):
        return x.cummax(1).values
    if is_jax_array(x):
        from jax.lax import cummax

        return cummax(x, axis=1)
    xp, step = namespace(x), 1
    while step < x.shape[1]:
        x = xp.concat([x[:, :step], xp.maximum(x[:, step:], x[:, :-step])], axis=1)
        step *= 2
    return x
