"""Align: find the judged documents in a run, and where each landed.

Only judged documents are looked up; ranks are counted, so that the run is never sorted as a whole.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, pairwise, repeat
from math import nan
from typing import TypeAlias

import numpy as np

from gradely.data.breakers import BREAKERS, breaker, places_among_tied
from gradely.data.hits import Hits
from gradely.data.numbers import flat
from gradely.data.qrels import Floats, Ints, Qrels
from gradely.data.read import Run
from gradely.data.source import clip
from gradely.errors import DataError

DOCUMENTS = 1 << 18
"""about how many documents of a run are looked at in one go"""
FEW = 4
"""with fewer hits in a query, ranks are counted; with more, they are looked up in the sorted scores"""

Ranking: TypeAlias = Mapping[str, float]


def align(qrels: Qrels, run: Run, ties: str, seed: int = 0, *, single: bool = False) -> Hits:
    """Return where the judged documents of the run landed, with ties broken where the policy goes by document.

    With `single`, scores are rounded to single precision first.
    """
    common = [i for i, query in enumerate(qrels.queries) if query in run.scores]
    if not common:
        raise no_common_query(qrels, next(iter(run.scores), ""), run.name)
    retrieved, answered = np.zeros(len(qrels), np.int64), np.zeros(len(qrels), bool)
    answered[common] = True
    each = partial(_align, qrels, run, retrieved=retrieved, ties=ties, seed=seed, single=single)
    parts = [each(at, rankings) for at, rankings in _chunks(qrels, run, common)]
    query, row, above, tied, place = (np.concatenate(part) for part in zip(*parts, strict=True))
    unjudged = tuple(query for query in run.scores if query not in qrels.index)
    return Hits(query, row, above, tied, place if ties in BREAKERS else None, retrieved, answered, unjudged)


def no_common_query(qrels: Qrels, found: str, name: str) -> DataError:
    """Return the error for a run of other queries than those judged."""
    return DataError(
        f"{name} and {qrels.name} have no query in common; the first are {clip(found)} and {clip(qrels.queries[0])}"
    )


def _chunks(qrels: Qrels, run: Run, common: list[int]) -> Iterator[tuple[list[int], list[Ranking]]]:
    """Yield some queries at a time, with their rankings."""
    at: list[int] = []
    rankings: list[Ranking] = []
    documents = 0
    for i in common:
        at.append(i)
        rankings.append(run.scores[qrels.queries[i]])
        documents += len(rankings[-1])
        if documents > DOCUMENTS:
            yield at, rankings
            at, rankings, documents = [], [], 0
    if at:
        yield at, rankings


def _align(
    qrels: Qrels,
    run: Run,
    at: list[int],
    rankings: list[Ranking],
    *,
    retrieved: Ints,
    ties: str,
    seed: int,
    single: bool,
) -> tuple[Ints, ...]:
    """Return query, row, above, tied and place of each hit of some queries; note the lengths of their rankings."""
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    retrieved[at] = size
    scores = flat(
        rankings, lambda i, doc: f"{run.name}: query {clip(qrels.queries[at[i]])}, document {clip(doc)}: the score"
    )
    which, row, mine = _look_up(qrels, at, rankings)
    if single:
        scores, mine = (x.astype(np.float32).astype(np.float64) for x in (scores, mine))
    start = np.cumsum(size) - size
    above, tied = count_above(scores, start, start + size, which, mine)
    place = above.copy()
    for i in np.unique(which[tied > 1]).tolist() if ties in BREAKERS else ():
        here = np.flatnonzero((which == i) & (tied > 1))
        order = breaker(ties, qrels.queries[at[i]], seed)
        docs = [qrels.docs[j] for j in row[here].tolist()]
        place[here] += places_among_tied(
            list(rankings[i]), scores[start[i] : start[i] + size[i]], docs, mine[here], order
        )
    return np.asarray(at, np.int64)[which], row, above, tied, place


def _look_up(qrels: Qrels, at: list[int], rankings: list[Ranking]) -> tuple[Ints, Ints, Floats]:
    """Return, for each judged document that was retrieved, which ranking it is in, its row and its score."""
    first = qrels.start[at]
    judged = qrels.start[np.add(at, 1)] - first
    docs = (qrels.docs[a : a + n] for a, n in zip(first.tolist(), judged.tolist(), strict=True))
    found = chain.from_iterable(
        map(ranking.get, each, repeat(nan)) for ranking, each in zip(rankings, docs, strict=True)
    )
    mine = np.fromiter(found, np.float64, int(judged.sum()))
    hit = np.flatnonzero(~np.isnan(mine))
    row = np.repeat(first - (np.cumsum(judged) - judged), judged) + np.arange(len(mine))
    return np.repeat(np.arange(len(at)), judged)[hit], row[hit], mine[hit]


def count_above(scores: Floats, start: Ints, stop: Ints, which: Ints, mine: Floats) -> tuple[Ints, Ints]:
    """Return, for scores `mine` of the rankings `which`, how many scores of the ranking are higher, how many equal."""
    above, tied = np.empty(len(which), np.int64), np.empty(len(which), np.int64)
    first = np.flatnonzero(np.diff(which, prepend=-1))
    for a, b in pairwise([*first.tolist(), len(which)]):
        ranking = scores[start[which[a]] : stop[which[a]]]
        if b - a < FEW:
            for i in range(a, b):
                above[i], tied[i] = np.count_nonzero(ranking > mine[i]), np.count_nonzero(ranking == mine[i])
        else:
            ranking = np.sort(ranking)
            higher = ranking.searchsorted(mine[a:b], "right")
            above[a:b], tied[a:b] = len(ranking) - higher, higher - ranking.searchsorted(mine[a:b], "left")
    return above, tied
