"""Align: find the judged documents in a run, and where they stand.

Only judged documents are looked up; ranks are counted, so that the run is never sorted as a whole.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise, repeat
from math import nan
from typing import TypeAlias

import numpy as np

from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.dicts import is_disguised, rename_docs
from gradely.data.read.files import clip
from gradely.data.read.inputs import Run
from gradely.data.search import end_of_better
from gradely.data.tie_breaking import places_among_tied
from gradely.data.types import Bools, Floats, Ints
from gradely.data.values import flat
from gradely.settings import Settings

DOCUMENTS = 1 << 18
"""about how many documents of a run are looked at in one go"""
FEW = 4
"""with fewer hits in a query, ranks are counted; with more, they are looked up in the sorted scores"""

SEVERAL = 16
"""from so many sorted rankings on, all are searched at the same time"""

Ranking: TypeAlias = Mapping[str, float]


def align(qrels: Qrels, run: Run, settings: Settings) -> Hits:
    """Return where the judged documents of the run stand, with ties broken where the policy goes by document."""
    common = [i for i, query in enumerate(qrels.queries) if query in run.scores]
    retrieved, answered = np.zeros(len(qrels), np.int64), np.zeros(len(qrels), bool)
    answered[common] = True
    parts = [_align(qrels, run, at, rankings, retrieved, settings) for at, rankings in _chunks(qrels, run, common)]
    empty = np.zeros(0, np.int64)
    query, row, above, tied, place = (
        (np.concatenate([empty, *part]) for part in zip(*parts, strict=True)) if parts else [empty] * 5
    )
    unjudged = tuple(query for query in run.scores if query not in qrels.index)
    return Hits(query, row, above, tied, place if settings.breaks_ties else None, retrieved, answered, unjudged)


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
    qrels: Qrels, run: Run, at: list[int], rankings: list[Ranking], retrieved: Ints, settings: Settings
) -> tuple[Ints, ...]:
    """Return query, row, above, tied and place of each hit of some queries; note the lengths of their rankings."""
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    retrieved[at] = size
    scores = flat(
        rankings, lambda i, doc: f"{run.name}: query {clip(qrels.queries[at[i]])}, document {clip(doc)}: the score"
    )
    which, row, mine = _look_up(qrels, run, at, rankings)
    scores, mine = settings.round(scores), settings.round(mine)
    start = np.cumsum(size) - size
    above, tied = count_above(scores, start, start + size, which, mine)
    place = above.copy()
    for here in _by_ranking(which, tied > 1) if settings.breaks_ties else ():
        i = int(which[here[0]])
        part = slice(start[i], start[i] + size[i])
        docs = [qrels.docs[j] for j in row[here].tolist()]
        place[here] += places_among_tied(
            settings, qrels.queries[at[i]], list(rankings[i]), scores[part], docs, mine[here]
        )
    return np.asarray(at, np.int64)[which], row, above, tied, place


def _by_ranking(which: Ints, flags: Bools) -> list[Ints]:
    """Return the hits that are flagged, those of each ranking together; rankings ascend."""
    here = np.flatnonzero(flags)
    return np.split(here, np.flatnonzero(np.diff(which[here])) + 1) if len(here) else []


def _look_up(qrels: Qrels, run: Run, at: list[int], rankings: list[Ranking]) -> tuple[Ints, Ints, Floats]:
    """Return, for each judged document that was retrieved, which ranking it is in, its row and its score."""
    first = qrels.start[at]
    judged = qrels.start[np.add(at, 1)] - first
    docs = [qrels.docs[a : a + n] for a, n in zip(first.tolist(), judged.tolist(), strict=True)]
    scores = (map(ranking.get, names, repeat(nan)) for ranking, names in zip(rankings, docs, strict=True))
    mine = np.fromiter(chain.from_iterable(scores), np.float64, int(judged.sum()))
    which = np.repeat(np.arange(len(at)), judged)
    row = np.repeat(first - (np.cumsum(judged) - judged), judged) + np.arange(len(mine))
    missed = np.isnan(mine)
    if _renamed(qrels, run, rankings, at, which[missed].tolist(), row[missed].tolist()):
        return _look_up(qrels, run, at, rankings)
    return which[~missed], row[~missed], mine[~missed]


def _renamed(qrels: Qrels, run: Run, rankings: list[Ranking], at: list[int], which: list[int], row: list[int]) -> bool:
    """Give rankings that mix types of ids ids of text; judged documents that only seem missing give them away."""
    mixed = {i for i, doc in zip(which, row, strict=True) if is_disguised(rankings[i], qrels.docs[doc])}
    for i in mixed:
        rankings[i] = rename_docs(rankings[i], run.name, qrels.queries[at[i]])
    return bool(mixed)


def count_above(scores: Floats, start: Ints, stop: Ints, which: Ints, mine: Floats) -> tuple[Ints, Ints]:
    """Return, for scores `mine` of the rankings `which`, how many scores of the ranking are higher, how many equal."""
    falls = scores[1:] <= scores[:-1]
    falls[start[(start > 0) & (start < len(scores))] - 1] = True
    if falls.all() and len(start) > SEVERAL:
        higher = end_of_better(start[which], stop[which], lambda at: scores[at] > mine)
        upto = end_of_better(start[which], stop[which], lambda at: scores[at] >= mine)
        return higher - start[which], upto - higher
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
