"""M16, figures 3 and 4, by the authors' protocol, for whoever has their files: Google News and Twitter."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import Batch, InputError
from gradely.data.ids import Floats
from gradely.data.source import Source
from gradely_papers.experiment import Experiment, Figure, Library, Outcome, Sheet
from gradely_papers.moniz2016 import agreement
from gradely_papers.moniz2016.agreement import figure_3, figure_4, scatter
from gradely_papers.moniz2016.grades import place_grades
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels

TOPICS = ("Economy", "Microsoft", "Obama", "Palestine")
SIZE, SLICE, SLICES = 100, 30 * 60, 96
"""items of a list; seconds of a slice of age; slices, after which an item counts nothing: 48 hours"""
MONTH = (datetime(2014, 9, 1), datetime(2014, 10, 1))  # noqa: DTZ001 - the files name no zone; only differences count
"""the lists of the paper"""
NEWS = ("IDLink", "PublishDate", "TimesPublishedTwitter")


class Item(NamedTuple):
    """A news item: when it appeared, and how often it was tweeted."""

    published: datetime
    tweets: float


class Lists(NamedTuple):
    """Lists of one topic, [lists, items] in Google's order."""

    scores: Floats
    """tweets, less the older the item was"""
    tweets: Floats
    left_out: int
    """how many lists were left out, since none of their items has a score"""

    def with_grades(self) -> Batch:
        """Return the lists with grades by place: the order of scores, then of tweets, then Google's."""
        order = np.lexsort((-self.tweets, -self.scores), axis=1)
        grades = np.empty_like(self.scores)
        np.put_along_axis(grades, order, np.broadcast_to(place_grades(SIZE), order.shape), axis=1)
        return rank_labels(grades)


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table with their line numbers, the header first."""
    reader = csv.reader(io.StringIO(Source(path).text(), newline=""))
    for row in reader:
        yield reader.line_num, row


def read_news(path: Path) -> dict[str, Item]:
    """Read the items by id."""
    rows = rows_of(path)
    _, header = next(rows, (1, []))
    if not set(NEWS) <= set(header):
        raise InputError(f"{path}:1: expected the columns {', '.join(NEWS)}; found {', '.join(header) or 'nothing'}")
    key, date, tweets = (header.index(name) for name in NEWS)
    out = {}
    for line, row in rows:
        try:
            out[row[key]] = Item(datetime.fromisoformat(row[date]), max(0.0, float(row[tweets])))
        except (ValueError, IndexError):
            raise InputError(f"{path}:{line}: expected an id, a date and a number of tweets; found {row[:8]}") from None
    return out


def read_lists(path: Path, news: dict[str, Item]) -> Lists:
    """Read the lists of a topic, those of September 2014, and score their items."""
    rows = rows_of(path)
    _, header = next(rows, (1, []))
    if len(header) != SIZE + 1:
        raise InputError(f"{path}:1: expected Timestamp and {SIZE} ids in a row; found {len(header)} columns")
    scores, tweets = [], []
    for line, row in rows:
        try:
            when = datetime.fromisoformat(row[0])
        except (ValueError, IndexError):
            raise InputError(
                f"{path}:{line}: expected a time first, like 2014-09-01 00:01:33; found {row[:1]}"
            ) from None
        if len(row) != SIZE + 1:
            raise InputError(f"{path}:{line}: expected a time and {SIZE} ids; found {len(row)} cells")
        if MONTH[0] <= when < MONTH[1]:
            items = [news.get(key) for key in row[1:]]
            scores.append([decay(item, when) for item in items])
            tweets.append([item.tweets if item else 0.0 for item in items])
    table = np.array(scores).reshape(-1, SIZE)
    popular = table.max(axis=1, initial=0.0) > 0
    if not popular.any():
        raise InputError(f"{path}: no list of September 2014 has an item that News.csv knows and somebody tweeted")
    return Lists(table[popular], np.array(tweets).reshape(-1, SIZE)[popular], int(np.count_nonzero(~popular)))


def decay(item: Item | None, when: datetime) -> float:
    """Return tweets times 1 - (s-1)/96, s the number of the item's half-hour slice of age; 0 beyond 48 hours.

    >>> decay(Item(datetime(2014, 9, 1, 12, 0), 96.0), datetime(2014, 9, 1, 12, 45))
    95.0
    """
    if item is None:
        return 0.0
    age = max(1, int(np.ceil((when - item.published).total_seconds() / SLICE)))
    return item.tweets * (1 - (age - 1) / SLICES) if age <= SLICES else 0.0


def find(library: Library, name: str) -> Path:
    """Return a file of the authors, plain or packed, anywhere in the folder."""
    paths = sorted(library.folder.glob(f"**/{name}.csv*"))
    if not paths:
        raise InputError(f"{library.folder}: no {name}.csv there; {DATA}")
    return paths[0]


def gather(library: Library, progress: Report) -> tuple[agreement.Values, int]:
    """Read the authors' files and measure all four topics, φ by their control points; count the lists left out."""
    news = read_news(find(library, "News"))
    values, left_out = {}, 0
    for i, topic in enumerate(TOPICS):
        lists = read_lists(find(library, f"RankTable_{topic}"), news)
        left_out += lists.left_out
        values[topic] = agreement.measure_lists(lists.with_grades(), rank_labels(lists.scores), "code")
        progress((i + 1) / len(TOPICS))
    return values, left_out


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Follow the authors' protocol."""
    values, left_out = gather(library, progress)
    means, rows, summaries = agreement.by_cutoff(values), agreement.by_list(values), agreement.summarise(values)
    layers = {topic: topic.lower() for topic in TOPICS}
    return Outcome(
        f"The score of an item is its tweets times 1 - (s-1)/{SLICES}, s the number of its half-hour slice of age at"
        " the time of the list, and 0 beyond 48 hours; grades are 3, 2, 1, 0 for the top 10, 25, 50 and the rest by"
        " that score, equal ones by tweets and then in Google's order; φ has the authors' control points. Items that"
        f" News.csv does not know have no score. {left_out} lists without any score were left out.",
        agreement.Evidence(summaries, means),
        {
            "figure-3": Sheet.of("Means over all lists", means),
            "figure-4": Sheet.of("Every list at 10", rows),
            "agreement": Sheet.of(
                "Summary by topic", [entry.record() for entry in [*agreement.read_published(), *summaries]]
            ),
        },
        {
            "figure-3": Figure("nDCG@k and nDCGφ@k by cut-off.", figure_3(means, rows)),
            "figure-4": Figure("nDCG@10 - nDCGφ@10, list by list, in the order of nDCG@10.", figure_4(rows)),
            "points": Figure("These lists as dots on the authors' figure as counts.", scatter(rows, layers)),
        },
    )


DATA = (
    "the authors' files, of which News.csv is not public: News.csv (IDLink, PublishDate, TimesPublishedTwitter) and"
    " RankTable_{Economy,Microsoft,Obama,Palestine}.csv"
)
EXPERIMENT = Experiment(
    "m16-google",
    "figures 3 and 4",
    "The authors' own protocol on their own files, all four topics",
    "On rankings of Google News, with popularity on Twitter as the truth, nDCG is mostly above nDCGφ.",
    run,
    claims=agreement.CLAIMS,
    needs=("**/News.csv*", *(f"**/RankTable_{topic}.csv*" for topic in TOPICS)),
    data=DATA,
    optional=True,
)
