"""M16, figures 3 and 4: nDCG and nDCGφ of news as ranked early by how often they were shared."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import Batch, InputError, from_arrays
from gradely.data.ids import Floats
from gradely.data.source import Source
from gradely_papers.experiment import Experiment, Library, Observation, Outcome
from gradely_papers.moniz2016 import agreement
from gradely_papers.moniz2016.grades import adhoc
from gradely_papers.progress import Report

FOLDER, FILES = "news-popularity", "Facebook_*.csv*"
DATA = f"{FOLDER}/{FILES}"
"""one file for each topic"""
SLICES = 144
"""counts were taken every 20 minutes for two days"""
HOUR = 3
"""slices in an hour"""
END = SLICES // HOUR
"""hours after which the count is final"""
SIZE = 100
"""items of a list, as in the lists of the paper"""
HOURS = (1, 2, 4, 8, 24)
"""after which items are ranked"""


class Lists(NamedTuple):
    """Lists of news items that appeared one after the other."""

    counts: Floats
    """[lists, items, slices]: how often an item was shared by then; -1 where it had not been seen"""
    unknown: int
    """how many items were left out, since their final count is not known"""
    left_out: int
    """how many items were left out at the end, since they fill no list"""
    unshared: int
    """how many lists were left out, since nobody shared any of their items"""

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
        raise InputError(f"{path}: nobody shared any of the items, so that there is nothing to rank by")
    unshared = int(np.count_nonzero(~shared))
    return Lists(counts[shared], len(table) - len(complete), len(complete) - count * SIZE, unshared)


def read_topics(library: Library) -> dict[str, Lists]:
    """Read the lists of every topic that is in the folder, by its name."""
    paths = sorted(library.path(FOLDER).glob(FILES))
    return {path.name.partition(".")[0].removeprefix("Facebook_"): read(path) for path in paths}


def join(topics: dict[str, Lists]) -> Lists:
    """Return the lists of all topics as one."""
    every = list(topics.values())
    counts = np.concatenate([lists.counts for lists in every])
    unknown, left_out, unshared = (sum(column) for column in zip(*(lists[1:] for lists in every), strict=True))
    return Lists(counts, unknown, left_out, unshared)


def name_of(topic: str, hours: int) -> str:
    """Return the name of the lists of a topic as ranked after some hours."""
    return f"Facebook, {topic}, after {hours} hour{'s' if hours > 1 else ''}"


def measure(topic: str, lists: Lists) -> agreement.Values:
    """Return both measures of the lists as ranked after each number of hours."""
    return {
        name_of(topic, hours): agreement.measure_lists(lists.with_grades(hours), lists.with_popularity(hours), "paper")
        for hours in HOURS
    }


def observations(ours: list[agreement.Summary]) -> list[Observation]:
    """Say how the difference changes as rankings get better."""
    line = "; ".join(f"{entry.data}: nDCG {entry.ndcg:.3f}, nDCGφ {entry.phi:.3f}" for entry in ours)
    return [Observation("What happens as the ranking is made later?", f"{line}.")]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn, and it is quick
    """Read the items and measure the early rankings."""
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
        "The paper has lists of Google News of June to December 2015, on four topics, and takes tweets within two days"
        " for scores; they are not public together. Our data deviates: news on"
        f" {' and '.join(topics)}, and how often they were shared on Facebook."
        f" We took {len(whole.counts):,} lists of {SIZE} items that"
        " appeared one after the other, ranked each by how often its items had been shared after"
        f" {', '.join(map(str, HOURS[:-1]))} and {HOURS[-1]} hours, and measured against the count after two days."
        f" {whole.unknown} items without a final count, {whole.left_out} that fill no list, and {whole.unshared} lists"
        " of which nobody shared an item were left out. Items not seen by then come last; equal counts tie, and values"
        " are means over all orders of ties. Grades by place are"
        " 3, 2, 1, 0 for the top 10, 25, 50 and the rest; items with equal counts have the last of their places. What a"
        " figure in the authors' repository shows of 5,705 lists of September 2014, which are not the paper's, stands"
        " beside ours.",
        agreement.Evidence([*agreement.read_published(), *ours], agreement.by_cutoff(values)),
        agreement.sheets(values),
        agreement.figures(values, layers),
        observations(ours),
    )


EXPERIMENT = Experiment(
    "m16-news",
    "figures 3 and 4",
    "nDCG and nDCGφ of real news, ranked early by popularity, beside the authors' points",
    "On rankings of news, nDCG with grades by place is mostly above nDCGφ, the more so the higher it is, and frequently"
    " under- or overestimates in light of the divergence of the items' scores.",
    run,
    (("figure 3", "figure-3"), ("figure 4", "figure-4, points, agreement")),
    claims=agreement.CLAIMS,
    needs=(DATA,),
)
