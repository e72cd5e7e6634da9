"""Data sets for learning to rank: features and labels of documents, in folds of queries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints
from gradely_papers.experiment import Library
from gradely_papers.letor import OHSUMED, PARTITIONS, read_letor
from gradely_papers.moniz2016 import news

HOURS = 2
"""the hours of counts by which news are ranked"""
FOLDS = 5
AGG, EXAMPLE = "letor4-mq2007-agg", "lightgbm-lambdarank"
NEEDS = (OHSUMED, AGG, EXAMPLE, news.DATA)


class Part(NamedTuple):
    """Documents, query by query."""

    features: Floats
    labels: Floats
    sizes: Ints

    def shuffle(self, seed: int) -> "Part":
        """Return the documents of each query in a random order."""
        query = np.repeat(np.arange(len(self.sizes)), self.sizes)
        order = np.lexsort((np.random.default_rng(seed).random(len(query)), query))
        return Part(self.features[order], self.labels[order], self.sizes)


class Fold(NamedTuple):
    """Training queries, test queries, and validation queries that choose the number of trees."""

    train: Part
    test: Part
    validation: Part | None = None


def folds(name: str, library: Library) -> list[Fold]:
    """Return the folds of a set: each partition in turn is the test data of a model learned from the others.

    In LETOR's five folds, the partition before the test data is the validation data.
    """
    parts = list(_READ[name](library.folder))
    if name == "LightGBM's example":
        return [Fold(*parts)]
    others = [[*parts[i + 1 :], *parts[:i]] for i in range(len(parts))]
    if name == "OHSUMED":
        return [Fold(_concatenate(rest[:-1]), test, rest[-1]) for rest, test in zip(others, parts, strict=True)]
    return [Fold(_concatenate(rest), test) for rest, test in zip(others, parts, strict=True)]


def _concatenate(parts: list[Part]) -> Part:
    return Part(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def read_parts(folder: Path, names: Sequence[str]) -> list[Part]:
    """Read LETOR files, one part each."""
    return [Part(each.features, each.labels, each.sizes()) for each in read_letor(folder, names)]


def _news(folder: Path) -> Iterator[Part]:
    """Yield lists of news in five parts, with early counts as features and the final count as the label."""
    topics = news.read_topics(Library(folder)).values()
    early = np.concatenate([lists.counts[:, :, : HOURS * news.HOUR] for lists in topics])
    final = np.concatenate([lists.final for lists in topics])
    for rows in np.array_split(np.arange(len(early)), FOLDS):
        features = early[rows].reshape(-1, early.shape[2])
        yield Part(features, final[rows].reshape(-1), np.full(len(rows), news.SIZE))


_READ: dict[str, Callable[[Path], Iterable[Part]]] = {
    "OHSUMED": lambda folder: read_parts(folder / OHSUMED, PARTITIONS),
    "MQ2007-agg": lambda folder: read_parts(folder / AGG, ("A1.txt", "A2.txt")),
    "LightGBM's example": lambda folder: read_parts(folder / EXAMPLE, ("rank.train.gz", "rank.test.gz")),
    "news": _news,
}
SETS = tuple(_READ)
