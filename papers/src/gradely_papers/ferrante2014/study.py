"""A collection in F14: its runs, its sets of topics, and the paper's numbers."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from gradely import DataError, Qrels
from gradely.comparison.correlate import select_above_quartile, select_few_high
from gradely.data.ids import Bools, Floats, Ints
from gradely.evaluation.stacked import StackedRuns
from gradely.tables import count_of
from gradely_papers.experiment import Library
from gradely_papers.judged_collections import FEWEST, LEAST, Collection, collections, has_enough
from gradely_papers.progress import Report
from gradely_papers.verdicts import Record, UntestableError

REFERENCES = ("AP", "nDCG", "RBP", "bpref")


def read_printed(table: str) -> list[dict[str, str]]:
    """Return a table of the paper, 'collections' or 'tau'."""
    text = (resources.files("gradely_papers.ferrante2014") / f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def printed_records() -> list[Record]:
    """Return the paper's τ, with a record for each pair of measures."""
    return [
        {**{x: row[x] for x in ("collection", "topics", "g", "measure")}, "reference": y, "tau": float(row[y])}
        for row in read_printed("tau")
        for y in ("GAP", *REFERENCES)
    ]


def printed_tau(collection: str | None) -> dict[tuple[str, ...], float]:
    """Return the paper's τ for one of its collections, by topics, g, measure and reference."""
    return {
        tuple(record[x] for x in ("topics", "g", "measure", "reference")): record["tau"]
        for record in printed_records()
        if record["collection"] == collection
    }


def count_relevant(qrels: Qrels) -> Ints:
    """Return the number of relevant documents of each topic."""
    return np.diff(np.concatenate([[0], np.cumsum(qrels.grade > 0)])[qrels.start])


def recognise(qrels: Qrels) -> dict[str, str] | None:
    """Return the paper's collection with as many topics and relevant documents, or None."""
    relevant = count_relevant(qrels)
    ours = (len(relevant), relevant.min(), round(float(relevant.mean()), 2), relevant.max())
    columns = ("topics", "min relevant", "mean relevant", "max relevant")
    return next((row for row in read_printed("collections") if tuple(float(row[x]) for x in columns) == ours), None)


def merge_levels(collection: Collection) -> Collection:
    """Return a collection with levels above the highest one that the paper has for its judgments lowered to that one.

    One of the paper's degrees of relevance is "not relevant".
    """
    qrels, theirs = collection.qrels, recognise(collection.qrels)
    top = float(theirs["degrees"]) - 1 if theirs else np.inf
    merged = Qrels(qrels.queries, qrels.start, qrels.docs, np.minimum(qrels.grade, top), qrels.name)
    return collection._replace(qrels=merged)


TWO, TOP = (0.1, 0.9), 0.6
"""the paper's g for two levels; for three levels, (0.2, 0.2, 0.6), the share of the highest one"""
SMALL = ", small g_1"
"""the suffix of measures with this g, under which few users accept any relevant document"""


def users(levels: Floats) -> dict[float, float]:
    """Return the paper's g for these levels.

    >>> users(np.array([1.0, 2.0, 3.0]))
    {1.0: 0.2, 2.0: 0.2, 3.0: 0.6}
    """
    lower = len(levels) - 1
    shares = TWO if lower == 1 else (*[round((1 - TOP) / lower, 9)] * lower, TOP)
    return dict(zip(levels.tolist(), shares, strict=True))


DRAWS = 500
"""the number of bootstrap samples of topics; a dozen lie beyond each end of a 95 % interval"""


def draw_topics(count: int, seed: int, draws: int = DRAWS) -> Floats:
    """Return weights of the topics [1 + draws, topics]: equal weights, then bootstrap samples."""
    again = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
    return np.concatenate([np.ones((1, count)), again]) / count


SETS = {"few highly relevant": 2, "few key": 3}
"""the rare level of a set of topics"""
ENOUGH = 5
"""the fewest topics on which a claim is tested"""


class Panel(NamedTuple):
    """A collection and a set of topics, shown in one panel of a figure."""

    collection: str
    topics: str
    topic_count: int
    run_count: int
    printed: str = ""
    """the paper's collection with these judgments, if any"""

    def __str__(self) -> str:
        """Return its name with the numbers of topics and runs."""
        return f"{self.collection}, {self.topics} ({count_of(self.topic_count, 'topic')}, {self.run_count} runs)"

    @property
    def too_small(self) -> bool:
        """Whether there are too few topics or runs to test a claim on."""
        return self.run_count < above(LEAST) or self.topic_count < ENOUGH


def above(runs: int) -> int:
    """Return how many of these runs lie above the first quartile if none tie.

    >>> above(95), above(74), above(27)
    (71, 55, 20)
    """
    return runs - int(np.ceil((runs - 1) / 4))


class Measured(Protocol):
    """The values in one panel."""

    @property
    def panel(self) -> Panel:
        """The collection and its topics."""

    @property
    def all_tie(self) -> bool:
        """Whether all runs tie and there is no τ to show."""


M = TypeVar("M", bound=Measured)


def by_panel(measured: Sequence[M]) -> Iterator[tuple[str, M | UntestableError]]:
    """Yield the values in each panel, and one error for all panels with too little data.

    The titles of figures name these panels.
    """
    for entry in measured:
        if not entry.panel.too_small:
            yield str(entry.panel), entry
    few = {entry.panel for entry in measured if entry.panel.too_small}
    if few:
        why = f"fewer than {ENOUGH} topics or {above(LEAST)} runs above the first quartile"
        yield count_of(len(few), "smaller panel"), UntestableError(why)


class NoTauError(UntestableError):
    """All runs tie by a measure, and there is no τ with its ranking."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("by one of the measures, all runs tie and there is no τ with its ranking")


def select_shown(measured: Iterable[M]) -> list[M]:
    """Return the panels that figures and observations show."""
    return [entry for entry in measured if not entry.panel.too_small and not entry.all_tie]


def name_left_out(measured: Sequence[Measured]) -> str:
    """Return sentences that name the panels that are not drawn, and the reasons."""
    small = dict.fromkeys(str(entry.panel) for entry in measured if entry.panel.too_small)
    tied = dict.fromkeys(str(entry.panel) for entry in measured if entry.all_tie and not entry.panel.too_small)
    reasons = {"Too small to show": small, "No τ, since all runs tie": tied}
    return "".join(f" {reason}: {'; '.join(panels)}." for reason, panels in reasons.items() if panels)


class Study(NamedTuple):
    """A collection whose runs have been read."""

    collection: Collection
    printed: dict[str, str] | None
    """the paper's collection with these judgments, if any"""
    systems: StackedRuns
    good: Bools
    """the runs that are not below the first quartile of AP"""
    sets: dict[str, Bools]
    """the topics of each set"""

    def panel(self, topics: str) -> Panel:
        """Return the panel of one set of topics."""
        own = self.printed["collection"] if self.printed else ""
        return Panel(self.collection.name, topics, int(self.sets[topics].sum()), int(self.good.sum()), own)

    def record(self) -> Record:
        """Return the row of the paper's table 1, with its own numbers if it has these judgments."""
        relevant, length = count_relevant(self.systems.qrels), self.systems.hits.retrieved
        ours = {
            "topics": len(relevant),
            **{name: self._size(name) for name in SETS},
            "runs": len(self.systems.names),
            "runs above first quartile": int(self.good.sum()),
            "run length": int(length.max()),
            "degrees": self.collection.levels + 1,
            "pool depth": int(np.median(judged_depths(self.systems))),
            "min relevant": int(relevant.min()),
            "mean relevant": round(float(relevant.mean()), 2),
            "max relevant": int(relevant.max()),
        }
        theirs = {f"{name}, the paper": self.printed[name] if self.printed else None for name in ours}
        about = {
            "collection": self.collection.name,
            "the paper's": self.printed["collection"] if self.printed else None,
        }
        return about | {"folder of runs": self.collection.folder} | ours | theirs

    def _size(self, topics: str) -> int | None:
        """Return the number of topics of a set, or None if the collection has no such level."""
        if SETS[topics] > self.collection.levels:
            return None
        return int(self.sets[topics].sum()) if topics in self.sets else 0


def judged_depths(systems: StackedRuns) -> Ints:
    """Return the depth to which each ranking is judged without a gap [systems × topics]."""
    hits, rankings = systems.hits, np.arange(len(systems.names) * len(systems.qrels))
    ranking = hits.query
    order = np.lexsort((hits.above, ranking))
    first = np.searchsorted(ranking[order], ranking[order], side="left")
    unbroken = hits.above[order] <= np.arange(len(order)) - first
    gap = np.flatnonzero(~unbroken)
    start, end = (np.searchsorted(ranking[order], rankings, side=side) for side in ("left", "right"))
    stop = np.append(gap, len(order))[np.searchsorted(gap, start)]
    return np.asarray(np.minimum(stop, end) - start, np.int64)


def topic_sets(qrels: Qrels) -> dict[str, Bools]:
    """Return the paper's sets of topics as flags, without empty sets."""
    sets, levels = {"all": np.ones(len(qrels), bool)}, qrels.levels()
    for name, level in SETS.items():
        if level <= len(levels):
            try:
                sets[name] = select_few_high(qrels, levels[level - 1])
            except DataError:
                continue
    return sets


def read_study(collection: Collection, progress: Report) -> Study:
    """Read the runs of a collection."""
    merged = merge_levels(collection)
    systems = merged.systems(progress)
    return Study(merged, recognise(merged.qrels), systems, select_above_quartile(systems)[0], topic_sets(merged.qrels))


def choose_collections(library: Library) -> tuple[list[Collection], list[Collection]]:
    """Return the collections that can be shown, with the levels of the paper, and those that are left out."""
    chosen: list[Collection] = []
    left_out: list[Collection] = []
    for collection in collections(library):
        merged = merge_levels(collection)
        (chosen if has_enough(merged, FEWEST) else left_out).append(merged)
    return chosen, left_out
