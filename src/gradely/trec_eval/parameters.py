"""Parameters of measures, `P.5,10` or `ndcg.1=3,2=9`, by the four ways in which trec_eval reads them."""

import re
from math import isfinite
from typing import TypeVar

from gradely.trec_eval.errors import UNREADABLE, Quit
from gradely.trec_eval.options import atol

NUMBER = re.compile(
    r"\s*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?)"
    r"|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(inf(?:inity)?)|(nan))",
    re.IGNORECASE,
)
"""sign, and a hexadecimal or decimal number, infinity or nan"""
T = TypeVar("T")
Pairs = dict[str, float]


def atof(text: str) -> float:
    """Return the number that a text begins with, 0 where it begins with none.

    >>> atof("1.5e3x"), atof("0x10"), atof(".25"), atof("high")
    (1500.0, 16.0, 0.25, 0.0)
    """
    found = NUMBER.match(text)
    if not found:
        return 0.0
    sign, hexadecimal, *other = found.groups()
    value = float.fromhex(hexadecimal) if hexadecimal else float(next(filter(None, other)))
    return -value if sign == "-" else value


def cutoffs(name: str, text: str) -> list[int]:
    """Return whole numbers above 0, ascending."""
    found = sorted(map(atol, text.split(",")))
    if found[0] <= 0:
        raise Quit(UNREADABLE, f"-m {name}.{text}: a cut-off is a whole number of at least 1, as in {name}.5,10")
    return _distinct(name, text, found)


def levels(name: str, text: str) -> list[float]:
    """Return numbers, ascending."""
    return _distinct(name, text, sorted(values(name, text)))


def _distinct(name: str, text: str, found: list[T]) -> list[T]:
    if len(set(found)) < len(found):
        raise Quit(UNREADABLE, f"-m {name}.{text}: the same cut-off is there twice; keep one")
    return found


def values(name: str, text: str) -> list[float]:
    """Return numbers as they are given."""
    return [_finite(name, each) for each in text.split(",")]


def _finite(name: str, text: str) -> float:
    if not isfinite(number := atof(text)):
        raise Quit(UNREADABLE, f"-m {name}: the parameter {text} is not a finite number")
    return number


def pairs(name: str, text: str) -> Pairs:
    """Return {key: number}; the first of a key counts."""
    each = [part.split("=") for part in text.split(",")]
    if any(len(pair) != 2 for pair in each):
        raise Quit(UNREADABLE, f"-m {name}.{text}: write parameters as key=number, as in {name}.1=3,2=9")
    return {key: _finite(name, value) for key, value in reversed(each)}


def gains(given: Pairs) -> dict[int, float]:
    """Return the gain of each level that has one of its own; other keys are not levels."""
    found = {atol(key): gain for key, gain in given.items() if re.fullmatch(r"[+-]?\d+", key)}
    if min(found, default=0) < 0:
        raise Quit(UNREADABLE, f"a gain for the level {min(found)}: levels below 0 are not judged, and gain nothing")
    return found
