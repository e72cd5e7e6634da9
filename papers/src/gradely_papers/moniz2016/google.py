"""M16, figures 3 and 4, by the authors' protocol on their files of Google News and Twitter."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import Batch, InputError
from gradely.data.ids import Floats
from gradely.data.source import Source
from gradely_papers.experiment import Experiment, Library, Outcome, Sheet, claim
from gradely_papers.moniz2016 import agreement
from gradely_papers.moniz2016.grades import place_grades
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import Record, Verdict, decide

TOPICS = ("Economy", "Microsoft", "Obama", "Palestine")
SIZE, SLICE, SLICES = 100, 30 * 60, 96
"""items of a list; seconds of a slice of age; slices of 48 hours, after which an item counts 0"""
NEWS = ("IDLink", "PublishDate", "TimesPublishedTwitter")


class Item(NamedTuple):
    """A news item: its time of publication and number of tweets."""

    published: datetime
    tweets: float


class Lists(NamedTuple):
    """Lists of one topic in Google's order [lists, items]."""

    decayed: Floats
    """tweets, reduced with the age of the item"""
    tweets: Floats
    times: list[datetime]
    left_out: int
    """the number of lists without any scored item, which are left out"""

    def scores(self, reading: str) -> Floats:
        """Return the scores of a reading."""
        return self.tweets if reading == TEXT else self.decayed

    def with_grades(self, reading: str) -> Batch:
        """Return the lists with grades by place: by score, then tweets, then Google's order."""
        scores = self.scores(reading)
        order = np.lexsort((-self.tweets, -scores), axis=1)
        grades = np.empty_like(scores)
        np.put_along_axis(grades, order, np.broadcast_to(place_grades(SIZE), order.shape), axis=1)
        return rank_labels(grades)


TEXT, CODE = "tweets in two days, as in the text", "decaying tweets, as in the code"
READINGS = {TEXT: "paper", CODE: "code"}
"""readings of the score of an item, and the control points of φ"""


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table with their line numbers, header first."""
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
    """Read the lists of a topic, and score their items."""
    rows = rows_of(path)
    _, header = next(rows, (1, []))
    if len(header) != SIZE + 1:
        raise InputError(f"{path}:1: expected Timestamp and {SIZE} ids in a row; found {len(header)} columns")
    scores, tweets, times = [], [], []
    for line, row in rows:
        try:
            when = datetime.fromisoformat(row[0])
        except (ValueError, IndexError):
            raise InputError(
                f"{path}:{line}: expected a time first, like 2014-09-01 00:01:33; found {row[:1]}"
            ) from None
        if len(row) != SIZE + 1:
            raise InputError(f"{path}:{line}: expected a time and {SIZE} ids; found {len(row)} cells")
        items = [news.get(key) for key in row[1:]]
        scores.append([decay(item, when) for item in items])
        tweets.append([item.tweets if item else 0.0 for item in items])
        times.append(when)
    table = np.array(scores).reshape(-1, SIZE)
    popular = table.max(axis=1, initial=0.0) > 0
    if not popular.any():
        problem = "a tweeted item of the last 48 hours that is in News.csv"
        raise InputError(f"{path}: no list has {problem}")
    return Lists(
        table[popular],
        np.array(tweets).reshape(-1, SIZE)[popular],
        [times[i] for i in np.flatnonzero(popular)],
        int(np.count_nonzero(~popular)),
    )


def decay(item: Item | None, when: datetime) -> float:
    """Return tweets times 1 - (s-1)/96, with s the half-hour slice of the item's age, or 0 beyond 48 hours.

    >>> decay(Item(datetime(2014, 9, 1, 12, 0), 96.0), datetime(2014, 9, 1, 12, 45))
    95.0
    """
    if item is None:
        return 0.0
    age = max(1, int(np.ceil((when - item.published).total_seconds() / SLICE)))
    return item.tweets * (1 - (age - 1) / SLICES) if age <= SLICES else 0.0


def find(library: Library, name: str) -> Path:
    """Return a file of the authors, plain or compressed, anywhere in the folder."""
    paths = sorted(library.folder.glob(f"**/{name}.csv*"))
    if not paths:
        raise InputError(f"{library.folder}: no {name}.csv in it; needed are {DATA}")
    return paths[0]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Follow the authors' protocol: read their files, and measure all topics by the text and by the code."""
    news, topics = read_news(find(library, "News")), dict[str, Lists]()
    values: agreement.Values = {}
    layers: dict[str, str] = {}
    for i, topic in enumerate(TOPICS):
        lists = topics[topic] = read_lists(find(library, f"RankTable_{topic}"), news)
        for reading, control in READINGS.items():
            name = f"{topic}, {reading}"
            grades, scores = lists.with_grades(reading), rank_labels(lists.scores(reading))
            values[name] = agreement.measure_lists(grades, scores, control)
            layers[name] = topic
        progress((i + 1) / len(TOPICS))
    times = [when for lists in topics.values() for when in lists.times]
    left_out = sum(lists.left_out for lists in topics.values())
    months = [
        {"topic": topic, "month": month, "lists": count}
        for topic, lists in topics.items()
        for month, count in sorted(Counter(f"{when:%Y-%m}" for when in lists.times).items())
    ]
    return Outcome(
        f"We measured all {len(times):,} lists of the files, from {min(times):%Y-%m-%d} to {max(times):%Y-%m-%d}; the"
        " paper's are of June to December 2015. In the paper's text, the score of an item is its number of tweets in"
        " two days, and φ has the control points of the text. In the authors' code, the score is the tweets times"
        f" 1 - (s-1)/{SLICES}, with s the half-hour slice of the item's age at the time of the list, and 0 beyond 48"
        " hours; φ has the control points of the code. Grades are 3, 2 and 1 for the top 10, 25 and 50 by score, and 0"
        " for the rest; equal scores are ordered by tweets and then in Google's order. Items that are not in News.csv"
        f" have no score. {left_out} lists without any score were left out.",
        Evidence(
            agreement.summarise(values),
            agreement.by_cutoff(values),
            [len(lists.times) + lists.left_out for lists in topics.values()],
            len(news),
        ),
        {"months": Sheet.of("Lists by month", months), **agreement.sheets(values)},
        agreement.figures(values, layers),
    )


class Evidence(NamedTuple):
    """The evidence of agreement.Evidence, and the amount of data."""

    summaries: list[agreement.Summary]
    means: list[Record]
    lists: list[int]
    """the number of lists of each topic"""
    items: int


RANKINGS, ITEMS, NEAR = 9_795, 107_590, 0.01
"""the printed mean number of rankings per topic and number of news items, and the tolerated share of difference"""


@claim(
    "§4.2",
    printed="about 9,795 rankings for each topic; 107,590 items, of them 6,468 (6 %)",
    criterion=f"the mean number of rankings and the number of items are within {NEAR:.0%} of those printed; the"
    " 6,468 are not counted",
)
def size(evidence: Evidence) -> Verdict:
    """The numbers of rankings and items."""
    mean = float(np.mean(evidence.lists))
    same = abs(mean / RANKINGS - 1) <= NEAR and abs(evidence.items / ITEMS - 1) <= NEAR
    return decide(same, f"{mean:,.0f} rankings per topic, {evidence.items:,} items")


DATA = (
    "the authors' files, of which News.csv is not public: News.csv (IDLink, PublishDate, TimesPublishedTwitter) and"
    " RankTable_{Economy,Microsoft,Obama,Palestine}.csv"
)
EXPERIMENT = Experiment(
    "m16-google",
    "figures 3 and 4",
    "The authors' protocol on their own files, by the text and by the code",
    "On rankings of Google News, with popularity on Twitter as true scores, nDCG is mostly above nDCGφ.",
    run,
    (("§4.2", "months"), ("figure 3", "figure-3"), ("figure 4", "figure-4, points, agreement")),
    claims=(size, *agreement.CLAIMS),
    needs=("**/News.csv*", *(f"**/RankTable_{topic}.csv*" for topic in TOPICS)),
    data=DATA,
    optional=True,
)
