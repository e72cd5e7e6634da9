"""News items and how often they were shared: early counts rank them, the final count is the truth."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely.data.read.sources import Source
from gradely.data.types import Floats
from gradely.errors import InputError
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.papers.moniz2016.grades import adhoc

DATA = "news-popularity/Facebook_Palestine.csv.gz"
SLICES = 144
"""counts were taken every 20 minutes for two days"""
HOUR = 3
"""slices in an hour"""
END = SLICES // HOUR
"""after so many hours the count is final"""
SIZE = 100
"""items of a list, as in the lists of the paper"""


class Lists(NamedTuple):
    """Lists of news items that appeared one after the other."""

    counts: Floats
    """[lists, items, slices]: how often an item was shared by then; -1 where it had not been seen"""
    unknown: int
    """how many items were left out, since their final count is not known"""
    left_out: int
    """how many items were left out at the end, since they fill no list"""

    @property
    def final(self) -> Floats:
        """The true popularity, [lists, items]."""
        return self.counts[:, :, -1]

    def after(self, hours: int) -> Floats:
        """Return the counts after some hours, [lists, items]; items that were not seen by then come last, tied."""
        return self.counts[:, :, hours * HOUR - 1]

    def with_popularity(self, hours: int) -> Batch:
        """Return the lists as ranked after some hours, with true popularity as the label."""
        return from_arrays(self.after(hours), self.final)

    def with_grades(self, hours: int) -> Batch:
        """Return the lists as ranked after some hours, with grades by place in the true order."""
        return from_arrays(self.after(hours), adhoc(self.final))


def read(path: Path) -> Lists:
    """Read the items, in the order of their ids, which is that of their appearance."""
    rows = list(csv.reader(Source(path).text().splitlines()))
    if rows[0] != ["IDLink", *(f"TS{i}" for i in range(1, SLICES + 1))]:
        raise InputError(f"{path}:1: expected the columns IDLink,TS1,…,TS{SLICES}")
    try:
        table = np.array(rows[1:], np.float64)
    except ValueError:
        raise InputError(f"{path}: every line after the first must hold {SLICES + 1} numbers") from None
    table = table[np.argsort(table[:, 0], kind="stable")]
    complete = table[table[:, -1] >= 0]
    count = len(complete) // SIZE
    if not count:
        raise InputError(f"{path}: {len(complete)} items with a final count; a list has {SIZE}")
    counts = complete[: count * SIZE, 1:].reshape(count, SIZE, SLICES)
    return Lists(counts, len(table) - len(complete), len(complete) - count * SIZE)
