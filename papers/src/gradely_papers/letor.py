"""LETOR files: documents by query, with labels and numbered features."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely import InputError
from gradely.data.ids import Floats, Ints
from gradely.data.read.letor import EXPECTED, read_lines
from gradely.data.source import Source
from gradely.errors import clip

OHSUMED = "letor2-ohsumed"
"""the folder of LETOR 2.0"""
PARTITIONS = tuple(f"S{number}.txt" for number in range(1, 6))
"""the files in it"""


class Documents(NamedTuple):
    """Documents in the order of a file, query by query."""

    queries: list[str]
    """the query of each document"""
    names: list[str]
    labels: Floats
    features: Floats
    """[documents, features], the first one in column 0; NaN for NULL, 0 for features that a line omits"""

    def sizes(self) -> Ints:
        """Return the number of documents of each query."""
        starts = [i for i, query in enumerate(self.queries) if i == 0 or query != self.queries[i - 1]]
        return np.diff([*starts, len(self.queries)])


def read_letor(folder: Path, names: Sequence[str]) -> list[Documents]:
    """Return the documents of each file, plain or compressed.

    Each has as many features as the highest number in any of the files.
    """
    files = [list(_rows(_find(folder, name))) for name in names]
    width = max((number for rows in files for *_, values in rows for number in values), default=0)
    return [_tabulate(rows, width) for rows in files]


def _find(folder: Path, name: str) -> Path:
    path = next(iter(sorted(folder.glob(f"{name}*"))), None)
    if path is None:
        raise InputError(f"{folder}: no {name} in it")
    return path


def _rows(path: Path) -> Iterator[tuple[str, str, float, dict[int, float]]]:
    """Yield the query, document, label and numbered features of each line."""
    seen: set[tuple[str, str]] = set()
    for number, query, doc, (label, *pairs) in read_lines(Source(path)):
        try:
            fields = (pair.split(b":") for pair in pairs if not pair.startswith(b"qid:"))
            values = {int(i): np.nan if value == b"NULL" else float(value) for i, value in fields}
            grade = float(label)
        except ValueError:
            line = b" ".join((label, *pairs))
            raise InputError(f"{path}:{number}: expected {EXPECTED}, found {clip(line)}") from None
        if not np.isfinite(grade) or min(values, default=1) < 1:
            raise InputError(f"{path}:{number}: expected a finite label, and features numbered from 1")
        if (query, doc) in seen:
            raise InputError(f"{path}:{number}: duplicate document {doc} of query {query}")
        seen.add((query, doc))
        yield query, doc, grade, values


def _tabulate(rows: list[tuple[str, str, float, dict[int, float]]], width: int) -> Documents:
    queries, names, labels, features = zip(*rows, strict=True)
    table = np.zeros((len(rows), width))
    for row, values in zip(table, features, strict=True):
        row[np.array(list(values), np.intp) - 1] = list(values.values())
    return Documents(list(queries), list(names), np.array(labels), table)
