"""A collection as F14 looks at it: its runs and sets of topics, what the paper prints of it, and τ over topics."""

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
    """Return a table of the paper: collections, or tau."""
    text = (resources.files("gradely_papers.ferrante2014") / f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def printed_records() -> list[Record]:
    """Return the paper's τ, one record per pair of measures."""
    return [
        {**{x: row[x] for x in ("collection", "topics", "g", "measure")}, "reference": y, "tau": float(row[y])}
        for row in read_printed("tau")
        for y in ("GAP", *REFERENCES)
    ]


def printed_tau(collection: str | None) -> dict[tuple[str, ...], float]:
    """Return the paper's τ for one of its collections, by topics, g, measure and reference; none for others."""
    return {
        tuple(record[x] for x in ("topics", "g", "measure", "reference")): record["tau"]
        for record in printed_records()
        if record["collection"] == collection
    }


def count_relevant(qrels: Qrels) -> Ints:
    """Return how many relevant documents each topic has."""
    return np.diff(np.concatenate([[0], np.cumsum(qrels.grade > 0)])[qrels.start])


def recognise(qrels: Qrels) -> dict[str, str] | None:
    """Return the paper's collection that has as many topics and relevant documents; None where none has."""
    relevant = count_relevant(qrels)
    ours = (len(relevant), relevant.min(), round(float(relevant.mean()), 2), relevant.max())
    columns = ("topics", "min relevant", "mean relevant", "max relevant")
    return next((row for row in read_printed("collections") if tuple(float(row[x]) for x in columns) == ours), None)


def merge_levels(qrels: Qrels, theirs: dict[str, str] | None) -> Qrels:
    """Return judgments with the levels that the paper has: its highest one stands for higher ones, too.

    Of the paper's degrees of relevance one is "not relevant".
    """
    top = float(theirs["degrees"]) - 1 if theirs else np.inf
    return Qrels(qrels.queries, qrels.start, qrels.docs, np.minimum(qrels.grade, top), qrels.name)


TWO, TOP = (0.1, 0.9), 0.6
"""the paper's g for two levels; for three, (0.2, 0.2, 0.6), the highest level has 0.6 and the others share the rest"""
SMALL = ", small g_1"
"""what follows the name of a measure with that g, in which few users take any relevant document"""


def users(levels: Floats) -> dict[float, float]:
    """Return the paper's g for these levels.

    >>> users(np.array([1.0, 2.0, 3.0]))
    {1.0: 0.2, 2.0: 0.2, 3.0: 0.6}
    """
    lower = len(levels) - 1
    shares = TWO if lower == 1 else (*[round((1 - TOP) / lower, 9)] * lower, TOP)
    return dict(zip(levels.tolist(), shares, strict=True))


DRAWS = 500
"""bootstrap samples of topics; the ends of a 95 % interval then rest on a dozen of them each"""


def draw_topics(count: int, seed: int, draws: int = DRAWS) -> Floats:
    """Return [1 + draws, topics]: weights of the topics in a mean, first equal ones, then bootstrap samples."""
    again = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
    return np.concatenate([np.ones((1, count)), again]) / count


SETS = {"few highly relevant": 2, "few key": 3}
"""which level is rare in a set of topics"""
ENOUGH = 5
"""on fewer topics no claim is tested"""


class Panel(NamedTuple):
    """A collection and a set of topics: what one panel of a figure is about."""

    collection: str
    topics: str
    topic_count: int
    run_count: int
    printed: str = ""
    """the collection of the paper that the judgments are those of"""

    def __str__(self) -> str:
        """Return it with its numbers."""
        return f"{self.collection}, {self.topics} ({count_of(self.topic_count, 'topic')}, {self.run_count} runs)"

    @property
    def too_small(self) -> bool:
        """Whether there are too few topics or runs to test a claim on."""
        return self.run_count < above(LEAST) or self.topic_count < ENOUGH


def above(runs: int) -> int:
    """Return how many runs of this number lie above the first quartile, where none tie.

    >>> above(95), above(74), above(27)
    (71, 55, 20)
    """
    return runs - int(np.ceil((runs - 1) / 4))


class Measured(Protocol):
    """What was measured in one panel."""

    @property
    def panel(self) -> Panel:
        """The collection and its topics."""

    @property
    def all_tie(self) -> bool:
        """Whether all runs tie, so that there is no τ to be shown."""


M = TypeVar("M", bound=Measured)


def by_panel(measured: Sequence[M]) -> Iterator[tuple[str, M | UntestableError]]:
    """Yield what was measured in each panel, and one error for all panels with too little data.

    The titles of figures name these panels.
    """
    for entry in measured:
        if not entry.panel.too_small:
            yield str(entry.panel), entry
    few = {entry.panel for entry in measured if entry.panel.too_small}
    if few:
        why = f"fewer than {ENOUGH} topics, or than {above(LEAST)} runs above the first quartile, say little"
        yield count_of(len(few), "smaller panel"), UntestableError(why)


class NoTauError(UntestableError):
    """All runs tie by a measure, so that there is no τ with its ranking."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("by one of the measures all runs tie, so that there is no τ with its ranking")


def select_shown(measured: Iterable[M]) -> list[M]:
    """Return what figures and observations show."""
    return [entry for entry in measured if not entry.panel.too_small and not entry.all_tie]


def name_left_out(measured: Sequence[Measured]) -> str:
    """Return sentences that name the panels that are not drawn, and why; nothing where there are none."""
    small = dict.fromkeys(str(entry.panel) for entry in measured if entry.panel.too_small)
    tied = dict.fromkeys(str(entry.panel) for entry in measured if entry.all_tie and not entry.panel.too_small)
    reasons = {"Too small to be drawn": small, "Without τ, since all runs tie": tied}
    return "".join(f" {reason}: {'; '.join(panels)}." for reason, panels in reasons.items() if panels)


class Study(NamedTuple):
    """A collection whose runs have been read."""

    collection: Collection
    printed: dict[str, str] | None
    """the collection of the paper that the judgments are those of"""
    systems: StackedRuns
    good: Bools
    """which runs are not below the first quartile of AP"""
    sets: dict[str, Bools]
    """which topics are in a set"""

    def panel(self, topics: str) -> Panel:
        """Return what is looked at in one set of topics."""
        own = self.printed["collection"] if self.printed else ""
        return Panel(self.collection.name, topics, int(self.sets[topics].sum()), int(self.good.sum()), own)

    def record(self) -> Record:
        """Return what table 1 of the paper has; with the paper's own numbers where the judgments are its."""
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
        """Return how many topics are in a set; None where the collection has no such level."""
        if SETS[topics] > self.collection.levels:
            return None
        return int(self.sets[topics].sum()) if topics in self.sets else 0


def judged_depths(systems: StackedRuns) -> Ints:
    """Return [systems × topics] how far down the documents are judged without a gap: the pool as these runs see it."""
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
    """Return the sets of topics that the paper looks at, as flags; sets without a topic are left out."""
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
    theirs = recognise(collection.qrels)
    merged = collection._replace(qrels=merge_levels(collection.qrels, theirs))
    systems = merged.systems(progress)
    return Study(merged, theirs, systems, select_above_quartile(systems)[0], topic_sets(merged.qrels))


def choose_collections(library: Library) -> list[Collection]:
    """Return the collections with enough runs to draw, and levels as the paper has them."""
    merged = (
        collection._replace(qrels=merge_levels(collection.qrels, recognise(collection.qrels)))
        for collection in collections(library)
    )
    return [collection for collection in merged if has_enough(collection, FEWEST)]
