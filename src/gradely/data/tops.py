"""Tops: the documents that can be among the first of each ranking, for runs of any kind."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gradely.data.ids import Ids, Ints
from gradely.data.locate import find_hits
from gradely.data.qrels import Qrels
from gradely.data.source import Report, ignore
from gradely.data.table import LazyScores, Run, Table
from gradely.settings import Settings

if TYPE_CHECKING:
    from gradely.data.locate.parts import Lines

Tops: TypeAlias = dict[int, list[str]]
"""documents by the index of their query in the qrels"""


def find_tops(
    qrels: Qrels, run: Run, settings: Settings, depth: int, threads: int | None = None, report: Report = ignore
) -> Tops:
    """Return the documents of judged queries that have fewer than `depth` others above them.

    If documents tie across the depth, all of them are returned. Excluded documents count.
    """
    scores = run.scores
    if isinstance(scores, LazyScores):
        tops: Tops = {}
        for query, document in scores.find_tops(depth, settings):
            if query in qrels.index:
                tops.setdefault(qrels.index[query], []).append(document)
        return tops
    if isinstance(scores, Table):
        observer = TopsObserver(depth)
        hits = find_hits(qrels, run, settings.replace(ties="expected"), threads, report, observer)
        if observer.documents == hits.documents:
            return observer.tops
    return {qrels.index[query]: top_of(scores[query], depth, settings) for query in scores if query in qrels.index}


def top_of(ranking: Mapping[str, float], depth: int, settings: Settings) -> list[str]:
    """Return the documents of a ranking that have fewer than `depth` others above them.

    >>> top_of({"a": 1.0, "c": 2.0, "b": 1.0, "d": 0.5}, 2, Settings())
    ['a', 'c', 'b']
    """
    scores = settings.round(np.fromiter(ranking.values(), np.float64, len(ranking)))
    least = np.partition(scores, -depth)[-depth] if len(scores) > depth else -np.inf
    return [str(doc) for doc, score in zip(ranking, scores.tolist(), strict=True) if score >= least]


class TopsObserver:
    """Collects the tops of rankings from lines while the run is read, in whole queries."""

    def __init__(self, depth: int) -> None:
        """Store the depth: fewer documents than this must be above a document."""
        self.depth = depth
        self.documents = 0
        """number of documents of the judged queries"""
        self.tops: Tops = {}

    def look(self, lines: "Lines") -> tuple[int, list[int], Ints, list[str]]:
        """Return the number of lines of judged queries, these queries, and the sizes and names of their tops."""
        mine = np.flatnonzero(lines.judged)
        first, size = lines.first[mine], lines.size[mine]
        least = lines.score[first + np.minimum(size, self.depth) - 1]
        owner = np.repeat(np.arange(len(mine)), size)
        line = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
        inside = lines.score[line] >= least[owner]
        names = Ids(lines.text, lines.start[line[inside]], lines.stop[line[inside]]).names()
        return len(line), lines.query[mine].tolist(), np.bincount(owner[inside], minlength=len(mine)), names

    def add(self, seen: tuple[int, list[int], Ints, list[str]]) -> None:
        """Add the tops of a part."""
        documents, queries, sizes, names = seen
        self.documents += documents
        stop = np.cumsum(sizes).tolist()
        for query, end, size in zip(queries, stop, sizes.tolist(), strict=True):
            self.tops[query] = names[end - size : end]
