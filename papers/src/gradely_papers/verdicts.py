"""Verdicts on claims, and the numbers that decide them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor, isclose
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely.data.ids import Floats

HOLDS, DIFFERS, UNDECIDED, UNTESTED = "holds", "differs", "undecided", "cannot be tested"
MARKS = {HOLDS: "✓", DIFFERS: "≠", UNDECIDED: "?", UNTESTED: "–"}
LEVEL = 0.95
"""the level of the intervals over topics"""
Record: TypeAlias = dict[str, Any]
"""a row of a table, by column"""


def group_by(column: str, records: Sequence[Record]) -> dict[Any, list[Record]]:
    """Return the records with each value of a column, in the order in which the values first appear."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(record[column], []).append(record)
    return groups


class UntestableError(Exception):
    """The data cannot test a claim; the message says why."""


class Verdict(NamedTuple):
    """The verdict on a claim on one set of data."""

    word: str
    here: str
    """our numbers, or the reason for having none"""
    data: str = ""
    """the name of the set of data, if there are several"""


class Interval(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, draws: Floats) -> "Interval":
        """Return the percentile interval, without draws in which all systems tie and no value is defined."""
        defined = draws[~np.isnan(draws)]
        if not len(defined) or np.isnan(value):
            return cls(float("nan"), float("nan"), float("nan"))
        low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return cls(float(value), float(low), float(high))

    @classmethod
    def over_draws(cls, values: Floats) -> "Interval":
        """Return the first value, over all topics, with its interval over draws of topics."""
        return cls.of(float(values[0]), values[1:])

    def __str__(self) -> str:
        """Return the number and its interval, signed."""
        return f"{self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"

    @property
    def word(self) -> str:
        """The verdict on the claim that the number is above 0."""
        if self.low > 0:
            return HOLDS
        return DIFFERS if self.high < 0 else UNDECIDED


def decide(holds: object, here: str) -> Verdict:
    """Return the verdict on a criterion that is met or not.

    >>> decide(1 < 2, "1 against 2").word
    'holds'
    """
    return Verdict(HOLDS if holds else DIFFERS, here)


def tally(words: Iterable[str]) -> str:
    """Return the counts of the verdicts that were given, each with its mark.

    >>> tally([HOLDS, UNDECIDED, HOLDS])
    '2 ✓ 1 ?'
    """
    counts = Counter(words)
    return " ".join(f"{counts[word]} {mark}" for word, mark in MARKS.items() if counts[word])


def listed(values: Mapping[str, float], digits: int = 2) -> str:
    """Return a list of names with their values.

    >>> listed({"GAP": 0.8, "xGAP": 0.456})
    'GAP 0.80, xGAP 0.46'
    """
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def agrees(ours: float, printed: str) -> bool:
    """Return whether a number equals the printed one after rounding or truncation.

    >>> agrees(0.4033, "0.403"), agrees(114.61, "114"), agrees(114.61, "115"), agrees(0.4033, "0.41")
    (True, True, True, False)
    """
    decimals = len(printed.partition(".")[2])
    unit = 10.0**-decimals
    versions = (round(ours, decimals), floor(ours / unit) * unit)
    return any(isclose(version, float(printed), abs_tol=1e-9) for version in versions)
