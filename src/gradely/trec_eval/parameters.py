"""Parameters of measures, `P.5,10` or `ndcg.1=3,2=9`, by the four ways in which trec_eval reads them."""

import re
from math import inf
from typing import TypeVar

from gradely.trec_eval.options import UNREADABLE, Quit, atol

NUMBER = re.compile(
    r"\s*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?)"
    r"|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(inf(?:inity)?)|(nan))",
    re.IGNORECASE | re.ASCII,
)
"""sign, and a hexadecimal or decimal number, infinity or nan"""
T = TypeVar("T")
Pairs = list[tuple[str, float]]


def atof(text: str) -> float:
    """Return the number that a text begins with, 0 where it begins with none.

    >>> atof("1.5e3x"), atof("0x10"), atof(".25"), atof("high")
    (1500.0, 16.0, 0.25, 0.0)
    >>> atof("0x1p1024")
    inf
    """
    match = NUMBER.match(text)
    if not match:
        return 0.0
    sign, hexadecimal, *other = match.groups()
    value = _from_hexadecimal(hexadecimal) if hexadecimal else float(next(filter(None, other)))
    return -value if sign == "-" else value


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return inf


def cutoffs(name: str, text: str) -> list[int]:
    """Return whole numbers above 0, ascending."""
    numbers = sorted(map(atol, text.split(",")))
    if numbers[0] <= 0:
        raise Quit(UNREADABLE, f"-m {name}.{text}: a cut-off is a whole number of at least 1, as in {name}.5,10")
    return _distinct(name, text, numbers)


def levels(name: str, text: str) -> list[float]:
    """Return numbers, ascending."""
    return _distinct(name, text, sorted(values(name, text)))


def _distinct(name: str, text: str, numbers: list[T]) -> list[T]:
    if len(set(numbers)) < len(numbers):
        raise Quit(UNREADABLE, f"-m {name}.{text}: the same cut-off is there twice; keep one")
    return numbers


def values(_: str, text: str) -> list[float]:
    """Return numbers as they are given."""
    return [atof(number) for number in text.split(",")]


def pairs(name: str, text: str) -> Pairs:
    """Return keys and numbers as they are given."""
    parts = [part.split("=") for part in text.split(",")]
    if any(len(part) != 2 for part in parts):
        raise Quit(UNREADABLE, f"-m {name}.{text}: write parameters as key=number, as in {name}.1=3,2=9")
    return [(key, atof(number)) for key, number in parts]


def persistence(pairs: Pairs) -> float:
    """Return the parameter p of rbp; the last one counts."""
    return dict(pairs).get("p", 0.9)


def gains(pairs: Pairs, compat: int) -> list[tuple[int, float]]:
    """Return levels and gains; version 9 takes any key for a level, 10 only whole numbers."""
    levels = [(atol(key), gain) for key, gain in pairs if compat == 9 or re.fullmatch(r"[+-]?[0-9]+", key)]
    lowest = min((level for level, _ in levels), default=0)
    if lowest < 0:
        raise Quit(UNREADABLE, f"a gain for the level {lowest}: levels below 0 are not judged, and gain nothing")
    return levels
