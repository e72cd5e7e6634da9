"""Worlds: every small ranking, and what becomes of it when one thing changes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations_with_replacement, pairwise, product
from typing import NamedTuple, TypeAlias

from gradely.data.types import Floats
from gradely.evaluation.evaluate import evaluate
from gradely.measures import Measure
from gradely.settings import TiePolicy

UNJUDGED = None
Label: TypeAlias = int | None
LABELS: tuple[Label, ...] = (UNJUDGED, 0, 1, 2, 3)


class World(NamedTuple):
    """A ranking, best first, and the labels of judged documents that it lacks."""

    ranking: tuple[Label, ...]
    missed: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Show the ranking, unjudged documents as -, and what it lacks."""
        labels = " ".join("-" if label is None else str(label) for label in self.ranking)
        return f"{labels} (not retrieved: {' '.join(map(str, self.missed))})" if self.missed else labels

    @property
    def size(self) -> tuple[int, int, int]:
        """How large it is: documents, labels, length of the ranking; the smallest counterexample comes first."""
        labels = (*self.ranking, *self.missed)
        return len(labels), sum(label or 0 for label in labels), len(self.ranking)


def worlds(longest: int, lacking: int) -> list[World]:
    """Return every ranking of up to so many documents that lacks up to so many judged ones, smallest first.

    Some document is judged in each.
    """
    rankings = chain.from_iterable(product(LABELS, repeat=n) for n in range(1, longest + 1))
    missed = list(chain.from_iterable(combinations_with_replacement(range(4), n) for n in range(lacking + 1)))
    candidates = (World(ranking, lacks) for ranking in rankings for lacks in missed)
    judged = (world for world in candidates if world.missed or any(label is not None for label in world.ranking))
    return sorted(judged, key=lambda world: world.size)


def better(label: Label, than: Label) -> bool:
    """True where a document is better than another; an unjudged one counts as not relevant, and is never better."""
    return label is not None and label > (than or 0)


def raise_document(world: World) -> Iterator[World]:
    """Yield the world with a better document moved up, past the next worse one."""
    ranking = world.ranking
    for i, (upper, lower) in enumerate(pairwise(ranking)):
        if better(lower, upper):
            yield World((*ranking[:i], lower, upper, *ranking[i + 2 :]), world.missed)


def replace_document(world: World) -> Iterator[World]:
    """Yield the world with a document replaced by a better one that the ranking lacked."""
    for (i, label), (j, other) in product(enumerate(world.ranking), enumerate(world.missed)):
        if better(other, label):
            replaced = [] if label is None else [label]
            rest = sorted([*world.missed[:j], *replaced, *world.missed[j + 1 :]])
            yield World((*world.ranking[:i], other, *world.ranking[i + 1 :]), tuple(rest))


def extend_ranking(world: World) -> Iterator[World]:
    """Yield the world with one more document at the end: an unjudged one, or one that the ranking lacked."""
    yield World((*world.ranking, UNJUDGED), world.missed)
    for j, label in enumerate(world.missed):
        yield World((*world.ranking, label), (*world.missed[:j], *world.missed[j + 1 :]))


class Setting(NamedTuple):
    """How worlds are measured, all of them as queries of one collection."""

    stretch: float = 1
    """what labels are multiplied with"""
    top: int | None = None
    """a label of one more query, which is not counted"""
    ties: TiePolicy = "expected"
    tied: bool = False
    """all documents of a ranking tie; otherwise none do"""
    turned: bool = False
    """documents have each other's names, the last one that of the first"""

    def values(self, every: Sequence[World], measures: Iterable[Measure]) -> Floats:
        """Return [worlds, measures]."""
        qrels: dict[str, dict[str, float]] = {str(i): self._labels(world) for i, world in enumerate(every)}
        run = {str(i): self._scores(world) for i, world in enumerate(every)}
        other = {} if self.top is None else {"other": {"d0": self.top}}
        return evaluate(qrels | other, run, measures, ties=self.ties).values[: len(every)]

    def _labels(self, world: World) -> dict[str, float]:
        names = self._names(world)
        judged = {name: label for name, label in zip(names, world.ranking, strict=True) if label is not None}
        missed = {f"m{i}": label for i, label in enumerate(world.missed)}
        return {name: label * self.stretch for name, label in (judged | missed).items()}

    def _scores(self, world: World) -> dict[str, float]:
        return {name: 1.0 if self.tied else -float(i) for i, name in enumerate(self._names(world))}

    def _names(self, world: World) -> list[str]:
        names = [f"d{i}" for i in range(len(world.ranking))]
        return names[::-1] if self.turned else names
