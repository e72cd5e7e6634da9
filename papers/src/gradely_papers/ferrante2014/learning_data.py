"""Data sets for learning to rank: features and labels of documents, and folds that split the queries."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import InputError
from gradely.data.ids import Floats, Ints
from gradely.data.source import Source
from gradely_papers.experiment import Library
from gradely_papers.moniz2016 import news

HOURS = 2
"""news are ranked by their counts of the first hours"""
FOLDS = 5
NEEDS = ("letor2-ohsumed", "letor4-mq2007-agg", "lightgbm-lambdarank", news.DATA)


class Part(NamedTuple):
    """Documents, those of a query one after the other."""

    features: Floats
    labels: Floats
    sizes: Ints

    def shuffle(self, seed: int) -> "Part":
        """Return the documents of each query in another order."""
        query = np.repeat(np.arange(len(self.sizes)), self.sizes)
        order = np.lexsort((np.random.default_rng(seed).random(len(query)), query))
        return Part(self.features[order], self.labels[order], self.sizes)


class Fold(NamedTuple):
    """Training queries, test queries, and validation queries that choose the number of trees."""

    train: Part
    test: Part
    validation: Part | None = None


def folds(name: str, library: Library) -> list[Fold]:
    """Return the folds of a set: of each partition one that is measured by a model learned from the others.

    LETOR's five folds keep the partition before the measured one for validation.
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


def _example(folder: Path) -> Iterator[Part]:
    for name in ("train", "test"):
        sizes = np.loadtxt(folder / "lightgbm-lambdarank" / f"rank.{name}.query", dtype=np.intp)
        yield read_part(folder / "lightgbm-lambdarank" / f"rank.{name}.gz", sizes, 300)


def _news(folder: Path) -> Iterator[Part]:
    """Lists of news in five parts: counts of the first hours as features, the final one as the label."""
    topics = news.read_topics(Library(folder)).values()
    early = np.concatenate([lists.counts[:, :, : HOURS * news.HOUR] for lists in topics])
    final = np.concatenate([lists.final for lists in topics])
    for rows in np.array_split(np.arange(len(early)), FOLDS):
        features = early[rows].reshape(-1, early.shape[2])
        yield Part(features, final[rows].reshape(-1), np.full(len(rows), news.SIZE))


_READ: dict[str, Callable[[Path], Iterable[Part]]] = {
    "OHSUMED": lambda folder: map(read_part, sorted(folder.glob("letor2-ohsumed/S*.txt*"))),
    "MQ2007-agg": lambda folder: map(read_part, sorted(folder.glob("letor4-mq2007-agg/A*.txt*"))),
    "LightGBM's example": _example,
    "news": _news,
}
SETS = tuple(_READ)


def read_part(path: Path, sizes: Ints | None = None, width: int = 0) -> Part:
    """Read lines `label qid:1 1:0.5 2:NULL … # comment`, those of a query one after the other; NULL is no number."""
    labels, rows, queries = [], [], []
    for number, line in enumerate(Source(path).text().splitlines(), 1):
        label, *pairs = line.partition("#")[0].split()
        try:
            values = dict(pair.split(":") for pair in pairs)
            queries.append(values.pop("qid", ""))
            rows.append({int(i): np.nan if x == "NULL" else float(x) for i, x in values.items()})
            labels.append(float(label))
        except ValueError:
            raise InputError(f"{path}:{number}: expected `label qid:1 1:0.5 …`; found {line[:60]!r}") from None
    table = np.zeros((len(rows), max([width, *(i for row in rows for i in row)])))
    for i, row in enumerate(rows):
        table[i, np.array(list(row), dtype=np.intp) - 1] = list(row.values())
    if sizes is None:
        edges = np.flatnonzero([a != b for a, b in zip(queries, [None, *queries[:-1]], strict=True)])
        sizes = np.diff(np.append(edges, len(queries)))
    return Part(table, np.array(labels), sizes)
