"""Numbers as papers print them."""

from math import floor, isclose


def agrees(ours: float, printed: str) -> bool:
    """True where a number, rounded or cut off to the decimals of the printed one, is the printed one.

    >>> agrees(0.4033, "0.403"), agrees(114.61, "114"), agrees(114.61, "115"), agrees(0.4033, "0.41")
    (True, True, True, False)
    """
    decimals = len(printed.partition(".")[2])
    return any(isclose(shown, float(printed), abs_tol=1e-9) for shown in (round(ours, decimals), cut(ours, decimals)))


def cut(number: float, decimals: int) -> float:
    """Return a number with the decimals after these cut off."""
    unit = 10.0**-decimals
    return floor(number / unit) * unit
