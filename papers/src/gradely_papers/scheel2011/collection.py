"""OHSUMED as LETOR 2.0 has it: graded documents of each query, and features that can rank them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely.data import Report, read_qrels, read_run
from gradely.data.read.sources import ignore
from gradely.data.types import Bools, Floats
from gradely.errors import InputError
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays

FOLDER = "letor2-ohsumed"
FEATURES = {
    1: "TF title",
    5: "IDF title",
    9: "TF-IDF title",
    11: "TF abstract",
    15: "IDF abstract",
    19: "TF-IDF abstract",
    21: "BM25",
    22: "log BM25",
}


class Collection(NamedTuple):
    """Documents of each query in the order of the files, [queries, documents]; padding where `real` is false."""

    queries: list[str]
    grade: Floats
    feature: dict[int, Floats]
    real: Bools

    def batch(self, feature: int, labels: Floats, ties: str) -> Batch:
        """Return the documents ranked by a feature, with these labels."""
        return from_arrays(self.feature[feature], labels, self.real, ties=ties)

    def levels(self, feature: int) -> int:
        """Return how many values a feature takes."""
        return len(np.unique(self.feature[feature][self.real]))

    def correlation(self, first: int, second: int) -> float:
        """Return Pearson's correlation of two features over all documents."""
        return float(np.corrcoef(self.feature[first][self.real], self.feature[second][self.real])[0, 1])

    def count_lacking(self, grade: float) -> int:
        """Return how many queries have no document of a grade."""
        return int(np.count_nonzero(~((self.grade == grade) & self.real).any(axis=1)))


def read(folder: Path, progress: Report = ignore) -> Collection:
    """Read all partitions of a folder."""
    paths = sorted(folder.glob("S*.txt*"))
    if not paths:
        raise InputError(f"{folder}: no S1.txt … S5.txt of LETOR 2.0 there")
    labels: dict[str, dict[str, float]] = {}
    for path in paths:
        qrels = read_qrels(path)
        labels |= {query: qrels.labels(query) for query in qrels.queries}
    feature = {}
    for i, number in enumerate(FEATURES):
        scores = {query: row for path in paths for query, row in read_run(path, feature=number).scores.items()}
        feature[number] = _pad([[scores[query][doc] for doc in docs] for query, docs in labels.items()])
        progress((i + 1) / len(FEATURES))
    real = _pad([[1.0] * len(docs) for docs in labels.values()]) > 0
    return Collection(list(labels), _pad([list(docs.values()) for docs in labels.values()]), feature, real)


def _pad(rows: list[list[float]]) -> Floats:
    out = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out
