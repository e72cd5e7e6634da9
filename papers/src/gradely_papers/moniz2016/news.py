"""M16, figures 3 and 4: nDCG and nDCGφ of early rankings of news by their popularity."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import Batch, InputError, from_arrays
from gradely.data.ids import Floats
from gradely.data.source import Source
from gradely.tables import count_of
from gradely_papers.experiment import Experiment, Library, Observation, Outcome
from gradely_papers.moniz2016 import agreement
from gradely_papers.moniz2016.grades import adhoc
from gradely_papers.progress import Report

FOLDER, FILES = "news-popularity", "Facebook_*.csv*"
DATA = f"{FOLDER}/{FILES}"
"""the files of the topics"""
SLICES = 144
"""counts were taken every 20 minutes for two days"""
HOUR = 3
"""slices in an hour"""
END = SLICES // HOUR
"""the hours until the final count"""
SIZE = 100
"""items of a list, as in the lists of the paper"""
HOURS = (1, 2, 4, 8, 24)
"""the hours after which items are ranked"""


class Lists(NamedTuple):
    """Lists of consecutive news items."""

    counts: Floats
    """how often each item was shared by the end of each slice [lists, items, slices]; -1 before it appeared"""
    unknown: int
    """the number of items without a final count, which are left out"""
    left_out: int
    """the number of items at the end that do not fill a list, which are left out"""
    unshared: int
    """the number of lists of which nobody shared an item, which are left out"""

    @property
    def final(self) -> Floats:
        """The true popularity [lists, items]."""
        return self.counts[:, :, -1]

    def after(self, hours: int) -> Floats:
        """Return the counts after some hours [lists, items]; items that had not appeared are tied at the end."""
        return self.counts[:, :, hours * HOUR - 1]

    def with_popularity(self, hours: int) -> Batch:
        """Return the rankings after some hours, with true popularity as the label."""
        return from_arrays(self.after(hours), self.final)

    def with_grades(self, hours: int) -> Batch:
        """Return the rankings after some hours, with grades by place in the true order."""
        return from_arrays(self.after(hours), adhoc(self.final))


def read(path: Path) -> Lists:
    """Read the items in the order of their ids, in which they appeared."""
    rows = list(csv.reader(Source(path).text().splitlines()))
    if rows[0] != ["IDLink", *(f"TS{i}" for i in range(1, SLICES + 1))]:
        raise InputError(f"{path}:1: expected the columns IDLink,TS1,…,TS{SLICES}")
    try:
        table = np.array(rows[1:], np.float64).reshape(len(rows) - 1, SLICES + 1)
        np.asarray_chkfinite(table)
    except ValueError:
        raise InputError(f"{path}: every line after the first must hold {SLICES + 1} numbers") from None
    table = table[np.argsort(table[:, 0], kind="stable")]
    complete = table[table[:, -1] >= 0]
    count = len(complete) // SIZE
    if not count:
        raise InputError(f"{path}: {len(complete)} items with a final count; a list has {SIZE}")
    counts = complete[: count * SIZE, 1:].reshape(count, SIZE, SLICES)
    shared = counts[:, :, -1].max(axis=1) > 0
    if not shared.any():
        raise InputError(f"{path}: nobody shared any of the items, and they cannot be ranked")
    unshared = int(np.count_nonzero(~shared))
    return Lists(counts[shared], len(table) - len(complete), len(complete) - count * SIZE, unshared)


def read_topics(library: Library) -> dict[str, Lists]:
    """Read the lists of every topic in the folder, by name."""
    paths = sorted(library.path(FOLDER).glob(FILES))
    return {path.name.partition(".")[0].removeprefix("Facebook_"): read(path) for path in paths}


def join(topics: dict[str, Lists]) -> Lists:
    """Return the lists of all topics together."""
    every = list(topics.values())
    counts = np.concatenate([lists.counts for lists in every])
    unknown, left_out, unshared = (sum(column) for column in zip(*(lists[1:] for lists in every), strict=True))
    return Lists(counts, unknown, left_out, unshared)


def name_of(topic: str, hours: int) -> str:
    """Return the name of the rankings of a topic after some hours."""
    return f"Facebook, {topic}, after {count_of(hours, 'hour')}"


def measure(topic: str, lists: Lists) -> agreement.Values:
    """Return both measures of the rankings after each number of hours."""
    return {
        name_of(topic, hours): agreement.measure_lists(lists.with_grades(hours), lists.with_popularity(hours), "paper")
        for hours in HOURS
    }


def observations(ours: list[agreement.Summary]) -> list[Observation]:
    """Return the means of both measures for later and later rankings."""
    line = "; ".join(f"{entry.data}: nDCG {entry.ndcg:.3f}, nDCGφ {entry.phi:.3f}" for entry in ours)
    return [Observation("How do the measures change if the ranking is made later?", f"{line}.")]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn, and it is quick
    """Read the items, and measure the early rankings."""
    topics = read_topics(library)
    values: agreement.Values = {}
    layers: dict[str, str] = {}
    for topic, lists in topics.items():
        measured = measure(topic, lists)
        values |= measured
        layers |= dict.fromkeys(measured, topic)
    whole = join(topics)
    ours = agreement.summarise(values)
    return Outcome(
        "The paper uses lists of Google News of June to December 2015 on four topics, with tweets within two days as"
        " scores, which are not public together. Our data deviates: it is news on"
        f" {' and '.join(topics)}, with the numbers of shares on Facebook. We ranked {len(whole.counts):,} lists of"
        f" {SIZE} consecutive items by the shares after"
        f" {', '.join(map(str, HOURS[:-1]))} and {HOURS[-1]} hours; the true scores are the shares after two days. We"
        f" left out {whole.unknown} items without a final count, {whole.left_out} items that do not fill a list, and"
        f" {whole.unshared} lists of which nobody shared an item. Items that had not appeared are ranked last. Equal"
        " counts tie, and values are means over all orders of ties. Grades by place are 3, 2 and 1 for the top 10, 25"
        " and 50, and 0 for the rest; items with equal counts have the last of their places. For comparison, we show"
        " 5,705 lists of September 2014 from a figure in the authors' repository, which are not the paper's.",
        agreement.Evidence([*agreement.read_published(), *ours], agreement.by_cutoff(values)),
        agreement.sheets(values),
        agreement.figures(values, layers),
        observations(ours),
    )


EXPERIMENT = Experiment(
    "m16-news",
    "figures 3 and 4",
    "nDCG and nDCGφ of early rankings of news by popularity, with the authors' points",
    "On rankings of news, nDCG with grades by place is mostly above nDCGφ, by more if nDCG is higher, and frequently"
    " under- or overestimates, given the divergence of the items' scores.",
    run,
    (("figure 3", "figure-3"), ("figure 4", "figure-4, points, agreement")),
    claims=agreement.CLAIMS,
    needs=(DATA,),
)
