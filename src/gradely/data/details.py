"""What a run holds besides its hits: how many documents tie, and the top of each ranking."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.readers import Run, plain_run
from gradely.data.read.sources import Source
from gradely.data.tie_counts import TieCounts, TiedPart, add_ties, count_tied_part, count_ties
from gradely.data.trec.match import UNKNOWN
from gradely.data.trec.place import Lines
from gradely.data.trec.tokens import Ids
from gradely.data.types import Ints

ENTRIES, DEEPEST = 150_000, 20
"""so many documents of rankings are kept in all, about a megabyte of a page, and so many of one ranking"""


class Top(NamedTuple):
    """The first documents of a ranking, tied ones by name, and the sizes of the tie groups they belong to, whole."""

    documents: list[str]
    sizes: list[int]


class RunDetails(NamedTuple):
    """The ties of a run in the judged queries, and the top of each ranking by the query's index in the qrels."""

    ties: TieCounts
    tops: dict[int, Top]


def top_depth(queries: int, runs: int) -> int:
    """Return how deep the tops of rankings are kept: 0 where there are too many."""
    return min(DEEPEST, ENTRIES // max(1, queries * runs))


def describe_run(qrels: Qrels, run: Run | Source, depth: int) -> RunDetails:
    """Return the ties of a run, and the tops of its rankings to this depth."""
    whole = run if isinstance(run, Run) else plain_run(run)
    judged = [query for query in whole.scores if query in qrels.index]
    if qrels.excluded is not None:
        whole = Run({query: qrels.keep_documents(query, whole.scores[query]) for query in judged}, whole.name)
    rankings = ((query, whole.scores[query]) for query in judged if depth)
    tops = {qrels.index[query]: top(ranking, depth) for query, ranking in rankings if ranking}
    return RunDetails(count_ties(whole, judged), tops)


class DetailsObserver:
    """Gathers RunDetails from the lines of a run as they pass, in whole queries, on any thread."""

    def __init__(self, depth: int) -> None:
        """Take how deep the tops of rankings are kept."""
        self.depth = depth
        self._parts: list[TiedPart] = []
        self._queries: list[Ints] = []
        self._tops: list[dict[int, Top]] = []

    def __call__(self, lines: Lines) -> None:
        """Look at the lines of a piece: those of judged queries count."""
        judged = lines.query != UNKNOWN
        mine = np.repeat(judged, lines.size)
        owner = np.repeat(np.arange(len(lines.size)), lines.size)[mine]
        self._parts.append(count_tied_part(lines.score[mine], owner[1:] == owner[:-1]))
        self._queries.append(lines.query[judged])
        self._tops.append(
            {int(lines.query[i]): self._top(lines, i) for i in np.flatnonzero(judged).tolist() if self.depth}
        )

    def _top(self, lines: Lines, i: int) -> Top:
        """Return the top of the ranking of a query: its first lines, and those that tie with the last of them."""
        first, size = int(lines.first[i]), int(lines.size[i])
        score = -lines.score[first : first + size]
        stop = first + int(np.searchsorted(score, score[min(self.depth, size) - 1], side="right"))
        names = Ids(lines.text, lines.start[first:stop], lines.stop[first:stop])
        return top(dict(zip(names.names(), (-score).tolist(), strict=False)), self.depth)

    def details(self, hits: Hits) -> RunDetails | None:
        """Return what was gathered; None where lines were not seen in whole queries, each once."""
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
