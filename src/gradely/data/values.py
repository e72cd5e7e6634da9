"""The values of many dicts in one array, all finite numbers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import isfinite

import numpy as np
import numpy.typing as npt

from gradely.data.read.files import clip
from gradely.errors import DataError


def flat(tables: Sequence[Mapping[str, float]], where: Callable[[int, str], str]) -> npt.NDArray[np.float64]:
    """Return the values of all tables in a row; `where` says what errors call a value, by table and document."""
    size = sum(map(len, tables))
    try:
        columns = [table.values() for table in tables]
        values = np.fromiter(columns[0] if len(columns) == 1 else chain.from_iterable(columns), np.float64, size)
        if np.isfinite(values).all():
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    checked = [to_number(value, where(i, doc)) for i, table in enumerate(tables) for doc, value in table.items()]
    return np.array(checked, np.float64)


def to_number(value: object, what: str) -> float:
    """Return a value as a number, also one that is written as text; refuse what is none, or not finite."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{what} {clip(_text(value))} is not a number") from None
    if not isfinite(number):
        raise DataError(f"{what} is {number}; it must be a finite number")
    return number


def _text(value: object) -> str:
    """Return a value as text; Python refuses to write integers of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return f"of type {type(value).__name__}"
