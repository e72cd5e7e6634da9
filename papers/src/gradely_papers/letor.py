"""Files of LETOR: documents of queries, each with a label and numbered features."""

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
"""its files"""


class Documents(NamedTuple):
    """Documents in the order of a file, those of a query one after the other."""

    queries: list[str]
    """of each document"""
    names: list[str]
    labels: Floats
    features: Floats
    """[documents, features], the first one in column 0; NaN where a file has NULL, 0 where it lists none"""

    def sizes(self) -> Ints:
        """Return how many documents each query has, one after the other."""
        starts = [i for i, query in enumerate(self.queries) if i == 0 or query != self.queries[i - 1]]
        return np.diff([*starts, len(self.queries)])


def read_letor(folder: Path, names: Sequence[str]) -> list[Documents]:
    """Return the documents of each file, plain or packed, with as many features as the highest number in any file."""
    files = [list(_rows(_find(folder, name))) for name in names]
    width = max((number for rows in files for *_, values in rows for number in values), default=0)
    return [_tabulate(rows, width) for rows in files]


def _find(folder: Path, name: str) -> Path:
    path = next(iter(sorted(folder.glob(f"{name}*"))), None)
    if path is None:
        raise InputError(f"{folder}: no {name} there")
    return path


def _rows(path: Path) -> Iterator[tuple[str, str, float, dict[int, float]]]:
    """Yield query, document, label and features by number of each line."""
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
            raise InputError(f"{path}:{number}: expected a finite label, and features that are numbered from 1 on")
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
