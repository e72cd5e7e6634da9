"""A run in memory: judged documents are looked up, and ranks counted, some queries at a time."""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from gradely.data.columns import flat
from gradely.data.hashing import end_of_better
from gradely.data.hits import Hits
from gradely.data.ids import Bools, Floats, Ints, are_disguised, rename_docs
from gradely.data.qrels import Qrels
from gradely.data.run import Run
from gradely.data.tie_breaking import places_among_tied
from gradely.errors import clip
from gradely.settings import Settings

DOCUMENTS = 1 << 18
"""documents of a run that are looked at in one go, about"""
FEW = 4
"""with fewer hits in a query, ranks are counted; with more, they are looked up in the sorted scores"""
SEVERAL = 16
"""sorted rankings from which on all are searched at the same time"""
Ranking: TypeAlias = Mapping[str, float]


def align(qrels: Qrels, run: Run, settings: Settings) -> Hits:
    """Return where the judged documents of the run stand, with ties broken where the policy goes by document."""
    index = qrels.index
    common = np.array(sorted([index[query] for query in run.scores if query in index]), np.int64)
    retrieved, answered = np.zeros(len(index), np.int64), np.zeros(len(index), bool)
    answered[common] = True
    parts = [_align(qrels, run, at, rankings, retrieved, settings) for at, rankings in _chunks(qrels, run, common)]
    parts = parts or [(np.zeros(0, np.int64),) * 5]
    columns = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    query, row, above, tied, place = columns
    unjudged = tuple([query for query in run.scores if query not in index])
    return Hits(query, row, above, tied, place if settings.breaks_ties else None, retrieved, answered, unjudged)


def _chunks(qrels: Qrels, run: Run, common: Ints) -> Iterator[tuple[Ints, list[Ranking]]]:
    """Yield some queries at a time, with their rankings."""
    rankings: list[Ranking] = []
    done = documents = 0
    for i in common.tolist():
        rankings.append(run.scores[qrels.queries[i]])
        documents += len(rankings[-1])
        if documents > DOCUMENTS:
            yield common[done : done + len(rankings)], rankings
            done, documents, rankings = done + len(rankings), 0, []
    if rankings:
        yield common[done:], rankings


def _align(
    qrels: Qrels, run: Run, at: Ints, rankings: list[Ranking], retrieved: Ints, settings: Settings
) -> tuple[Ints, ...]:
    """Return query, row, above, tied and place of each hit of some queries; note the lengths of their rankings."""
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    retrieved[at] = size
    scores = flat(
        rankings, lambda i, doc: f"{run.where}: query {clip(qrels.queries[at[i]])}, document {clip(doc)}: the score"
    )
    which, row, mine = _look_up(qrels, run, at, rankings)
    scores, mine = settings.round(scores), settings.round(mine)
    start = size.cumsum() - size
    above, tied = count_above(scores, start, start + size, which, mine)
    place = above.copy() if settings.breaks_ties else above
    for here in _sort_by_ranking(which, tied > 1) if settings.breaks_ties else ():
        i = int(which[here[0]])
        part = slice(start[i], start[i] + size[i])
        docs = [qrels.docs[j] for j in row[here].tolist()]
        place[here] += places_among_tied(
            settings, qrels.queries[at[i]], list(rankings[i]), scores[part], docs, mine[here]
        )
    return at[which], row, above, tied, place


def _sort_by_ranking(which: Ints, flags: Bools) -> list[Ints]:
    """Return the hits that are flagged, those of each ranking together; rankings ascend."""
    here = np.flatnonzero(flags)
    return np.split(here, np.flatnonzero(np.diff(which[here])) + 1) if len(here) else []


def _look_up(qrels: Qrels, run: Run, at: Ints, rankings: list[Ranking]) -> tuple[Ints, Ints, Floats]:
    """Return, for each judged document that was retrieved, which ranking it is in, its row and its score."""
    first, judged = qrels.start[at], qrels.sizes[at]
    docs = [qrels.docs[a : a + n] for a, n in zip(first.tolist(), judged.tolist(), strict=True)]
    scores = [list(map(ranking.get, names)) for ranking, names in zip(rankings, docs, strict=True)]
    for i, (ranking, names) in enumerate(zip(rankings, docs, strict=True)):
        missing = [name for name, score in zip(names, scores[i], strict=True) if score is None]
        if missing and are_disguised(ranking, missing):
            rankings[i] = rename_docs(ranking, run.where, qrels.queries[at[i]])
            scores[i] = list(map(rankings[i].get, names))
    mine = np.array(scores[0] if len(scores) == 1 else list(chain.from_iterable(scores)), np.float64)  # none is NaN
    hits = (mine == mine).nonzero()[0]  # noqa: PLR0124 - NaN alone is not
    if len(at) == 1:
        return np.zeros(len(hits), np.int64), first + hits, mine[hits]
    which = np.arange(len(at)).repeat(judged)[hits]
    return which, (first - (judged.cumsum() - judged))[which] + hits, mine[hits]


def count_above(scores: Floats, start: Ints, stop: Ints, which: Ints, mine: Floats) -> tuple[Ints, Ints]:
    """Return, for scores `mine` of the rankings `which`, how many scores of the ranking are higher, how many equal."""
    if len(start) > SEVERAL and _all_fall(scores, start):
        lower = end_of_better(start[which], stop[which], lambda at: scores[at] > mine)
        upto = end_of_better(start[which], stop[which], lambda at: scores[at] >= mine)
        return lower - start[which], upto - lower
    if len(start) == 1:
        higher, equal = _count_in(scores, mine)
        return np.asarray(higher, np.int64), np.asarray(equal, np.int64)
    above, tied = np.empty(len(which), np.int64), np.empty(len(which), np.int64)
    first = np.flatnonzero(which[1:] != which[:-1]) + 1
    for a, b in pairwise([0, *first.tolist(), len(which)]) if len(which) else ():
        above[a:b], tied[a:b] = _count_in(scores[start[which[a]] : stop[which[a]]], mine[a:b])
    return above, tied


def _count_in(ranking: Floats, mine: Floats) -> tuple[Any, Any]:
    """Return how many scores of a ranking are higher than each of mine, and how many are equal."""
    if len(mine) < FEW:
        few = mine.tolist()
        return [np.count_nonzero(ranking > x) for x in few], [np.count_nonzero(ranking == x) for x in few]
    ascending = ranking.copy()
    ascending.sort()
    higher = ascending.searchsorted(mine, "right")
    return len(ascending) - higher, higher - ascending.searchsorted(mine, "left")


def _all_fall(scores: Floats, start: Ints) -> bool:
    """True where no ranking has a score that is higher than the one before."""
    falls = scores[1:] <= scores[:-1]
    falls[start[(start > 0) & (start < len(scores))] - 1] = True
    return bool(falls.all())
