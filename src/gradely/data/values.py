"""The values of many dicts in one array, all finite numbers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from gradely.data.read.files import clip
from gradely.errors import DataError


def flat(tables: Sequence[Mapping[str, float]], where: Callable[[int, str], str]) -> npt.NDArray[np.float64]:
    """Return the values of all tables in a row; `where` says what errors call a value, by table and document."""
    size = sum(map(len, tables))
    try:
        values = np.fromiter(chain.from_iterable(table.values() for table in tables), np.float64, size)
        if np.isfinite(values).all():
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    for i, table in enumerate(tables):
        for doc, value in table.items():
            _check(value, where(i, doc))
    raise AssertionError("one of the values is not a finite number")


def _check(value: object, what: str) -> None:
    try:
        finite = np.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{what} {clip(str(value))} is not a number") from None
    if not finite:
        raise DataError(f"{what} is {value}; it must be a finite number")
