"""What the experiments share: rows of tables, and numbers as papers print them."""

from math import floor, isclose
from typing import Any, TypeAlias

from gradely.evaluation.notes import SAME

__all__ = ["SAME", "Record", "agrees", "truncate"]

Record: TypeAlias = dict[str, Any]
"""a row of a table, by column"""


def agrees(ours: float, printed: str) -> bool:
    """Return whether a number, rounded or cut off to the decimals of the printed one, is the printed one.

    >>> agrees(0.4033, "0.403"), agrees(114.61, "114"), agrees(114.61, "115"), agrees(0.4033, "0.41")
    (True, True, True, False)
    """
    decimals = len(printed.partition(".")[2])
    versions = (round(ours, decimals), truncate(ours, decimals))
    return any(isclose(version, float(printed), abs_tol=1e-9) for version in versions)


def truncate(number: float, decimals: int) -> float:
    """Return a number with the decimals after these cut off."""
    unit = 10.0**-decimals
    return floor(number / unit) * unit
