"""Tops of rankings, for runs of any kind: found while a run is read, alone or with the ties of the run.

find_tops returns all documents that can be among the first, which may be unjudged; describe_run returns what a page
shows, the first documents and the ties.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gradely.data.hits import Hits
from gradely.data.ids import Ids, Ints
from gradely.data.locate import find_hits
from gradely.data.qrels import Qrels
from gradely.data.source import Report, ignore
from gradely.data.table import LazyScores, Run, Table
from gradely.data.tie_counts import TieCounts, TiedPart, add_ties, count_tied_part, count_ties
from gradely.settings import Settings

if TYPE_CHECKING:
    from gradely.data.locate.parts import PartLines

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

    def look(self, lines: "PartLines") -> tuple[int, list[int], Ints, list[str]]:
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


ENTRIES, DEEPEST = 150_000, 20
"""number of documents of rankings that are kept in all, about a megabyte of a page, and of one ranking"""


class Top(NamedTuple):
    """The first documents of a ranking, tied ones sorted by name, and the full sizes of their tie groups."""

    documents: list[str]
    sizes: list[int]


class RunDetails(NamedTuple):
    """The ties of a run in the judged queries, and the top of each ranking by the query's index in the qrels."""

    ties: TieCounts
    tops: dict[int, Top]


def top_depth(queries: int, runs: int) -> int:
    """Return the depth to which the tops of rankings are kept: 0 if there are too many."""
    return min(DEEPEST, ENTRIES // max(1, queries * runs))


def describe_run(qrels: Qrels, run: Run, depth: int) -> RunDetails:
    """Return the ties of a run, and the tops of its rankings to this depth.

    A table is read part by part; if documents are excluded, or it must be read line by line, it is held in memory.
    """
    if isinstance(run.scores, Table) and qrels.excluded is None:
        observer = DetailsObserver(depth)
        details = observer.details(find_hits(qrels, run, Settings(), observe=observer))
        if details is not None:
            return details
    whole = run
    judged = [query for query in whole.scores if query in qrels.index]
    if qrels.excluded is not None:
        whole = Run(
            {query: qrels.keep_documents(query, whole.scores[query]) for query in judged}, whole.name, whole.where
        )
    rankings = ((query, whole.scores[query]) for query in judged if depth)
    tops = {qrels.index[query]: top(ranking, depth) for query, ranking in rankings if ranking}
    return RunDetails(count_ties(whole, judged), tops)


class DetailsObserver:
    """Collects RunDetails from the lines of a run while it is read, in whole queries."""

    def __init__(self, depth: int) -> None:
        """Store the depth to which the tops of rankings are kept."""
        self.depth = depth
        self._parts: list[TiedPart] = []
        self._queries: list[Ints] = []
        self._tops: list[dict[int, Top]] = []

    def look(self, lines: "PartLines") -> tuple[TiedPart, Ints, dict[int, Top]]:
        """Return the ties, the queries and the tops of the rankings of a part; only judged queries count."""
        judged = lines.judged
        mine = np.repeat(judged, lines.size)
        owner = np.repeat(np.arange(len(lines.size)), lines.size)[mine]
        tops = {int(lines.query[i]): self._top(lines, i) for i in np.flatnonzero(judged).tolist() if self.depth}
        return count_tied_part(lines.score[mine], owner[1:] == owner[:-1]), lines.query[judged], tops

    def add(self, seen: tuple[TiedPart, Ints, dict[int, Top]]) -> None:
        """Add the result of `look` for a part."""
        part, queries, tops = seen
        self._parts.append(part)
        self._queries.append(queries)
        self._tops.append(tops)

    def _top(self, lines: "PartLines", i: int) -> Top:
        """Return the top of the ranking of a query: its first lines, and those that tie with the last of them."""
        first, size = int(lines.first[i]), int(lines.size[i])
        score = -lines.score[first : first + size]
        stop = first + int(np.searchsorted(score, score[min(self.depth, size) - 1], side="right"))
        names = Ids(lines.text, lines.start[first:stop], lines.stop[first:stop])
        return top(dict(zip(names.names(), (-score).tolist(), strict=False)), self.depth)

    def details(self, hits: Hits) -> RunDetails | None:
        """Return the details; None if lines were not read in whole queries, each once."""
        queries = np.concatenate([np.zeros(0, np.int64), *self._queries])
        documents = sum(part.documents for part in self._parts)
        if documents != hits.documents or len(np.unique(queries)) < len(queries):
            return None
        return RunDetails(add_ties(self._parts), {query: one for tops in self._tops for query, one in tops.items()})


def top(ranking: Mapping[str, float], depth: int) -> Top:
    """Return the top of a ranking.

    >>> top({"a": 1.0, "c": 2.0, "b": 1.0, "d": 0.5}, 2)
    Top(documents=['c', 'a'], sizes=[1, 2])
    """
    docs, scores = list(map(str, ranking)), np.fromiter(ranking.values(), np.float64, len(ranking))
    least = np.partition(scores, -depth)[-depth] if len(scores) > depth else -np.inf
    best = np.flatnonzero(scores >= least).tolist()
    order = sorted(best, key=lambda i: (-scores[i], docs[i]))
    _, sizes = np.unique(-scores[order], return_counts=True)
    return Top([docs[i] for i in order[:depth]], sizes.tolist())
