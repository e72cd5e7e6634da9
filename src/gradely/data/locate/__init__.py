"""Locate: find the judged documents of a run and their ranks, for runs of any kind.

Only judged documents are looked up, and ranks are counted, so a run is never sorted as a whole. There are four ways,
with the same result:

- a dict of dicts is looked up in memory (find_in_dicts, below);
- a table is matched with array operations, in parts that hold whole queries (locate/parts);
- a table whose queries are not contiguous is read in two passes or, if duplicates are merged or rankings are
  inspected, sorted by query first (locate/scattered);
- an engine computes the ranks itself (LazyScores.find_hits).
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.alike import OF_QUERIES, find_alike
from gradely.data.columns import concatenate, earliest_alike
from gradely.data.hashing import end_of_better
from gradely.data.hits import Hits, Unjudged
from gradely.data.ids import Bools, Floats, Ids, Ints, are_disguised, as_tokens, rename_docs
from gradely.data.qrels import Qrels, values_of
from gradely.data.source import Report, ignore
from gradely.data.table import MERGED, IrregularText, LazyScores, Run, ScatteredQueries, Table
from gradely.data.tie_breaking import places_among_tied
from gradely.errors import DataError, clip
from gradely.parallel import cores
from gradely.settings import Settings

if TYPE_CHECKING:
    from gradely.data.locate.parts import Observer

QUERIES = 1000
"""number of queries whose names are compared if the run and the qrels have none in common"""
DOCUMENTS = 1 << 18
"""approximate number of documents of a run that are processed at a time"""
FEW = 4
"""with fewer hits in a query, ranks are counted; with more, they are looked up in the sorted scores"""
SEVERAL = 16
"""smallest number of sorted rankings for which all are searched at the same time"""
Ranking: TypeAlias = Mapping[str, float]


def locate(
    qrels: Qrels,
    run: Run,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return the hits of a run, for the queries and documents that are selected.

    Raise DataError if the run answers none of the queries.
    """
    hits = find_selected_hits(qrels, run, settings, threads, report, observe)
    if not len(hits.row) and not hits.answered.any():
        apart = f"{run.where} and {qrels.name} have no query in common"
        alike = find_alike(hits.unjudged.names[:QUERIES], qrels.queries[:QUERIES], OF_QUERIES)
        if alike is not None:
            raise DataError(f"{apart}: {clip(alike[0])} and {clip(alike[1])} look alike; possible reason: {alike[2]}")
        if qrels.left_out and not hits.unjudged.size:
            raise DataError(f"{apart} that counts: those of the run were left out")
        first = clip(hits.unjudged.names[0] if hits.unjudged.names else "")
        raise DataError(f"{apart}; the first are {first} and {clip(qrels.queries[0])}")
    return hits._replace(unjudged=Unjudged()) if qrels.selected else hits


def find_selected_hits(
    qrels: Qrels,
    run: Run,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return the hits of a run after its excluded documents are removed."""
    if qrels.excluded is None:
        return find_hits(qrels, run, settings, threads, report, observe)
    return find_hits_without(qrels, qrels.excluded, run, settings, threads, report)


def find_hits(
    qrels: Qrels,
    run: Run,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return the hits of a run; files and lazy frames are never held in memory as a whole.

    `observe` sees the rows of a table in whole queries, unless the table is irregular and read line by line.
    """
    table = run.scores
    if isinstance(table, LazyScores):
        return table.find_hits(qrels, settings, report)
    if not isinstance(table, Table):
        return find_in_dicts(qrels, run, settings)
    if observe is None and table.is_small:
        return find_in_dicts(qrels, Run(table.plain(), run.name, run.where), settings)
    try:
        return find_in_table(qrels, table, settings, threads or cores(), report, observe)
    except IrregularText:  # reading line by line explains the error
        return find_in_dicts(qrels, Run(table.plain(), run.name, run.where), settings)


def find_in_table(
    qrels: Qrels, table: Table, settings: Settings, threads: int, report: Report, observe: "Observer | None"
) -> Hits:
    """Return the hits of a table; raise IrregularText if it must be read line by line."""
    from gradely.data.locate.parts import HashedQrels, UnjudgedNames, find_in_part, join_hits

    judgments, left_out = HashedQrels.of(qrels), qrels.names_left_out
    find = partial(find_in_part, judgments, settings, table.duplicates, observe)
    with suppress(ScatteredQueries), UnjudgedNames(table.name, settings, left_out, together=True) as names:
        return join_hits(table, qrels, names, table.map_parts(find, threads, report, whole_queries=True), observe)
    from gradely.data.locate.scattered import count_scattered, map_queries

    if observe is not None or table.duplicates in MERGED:
        with UnjudgedNames(table.name, settings, left_out, together=False) as names:
            parts = map_queries(table, judgments, names, find, threads, report)
            return join_hits(table, qrels, names, parts, observe)
    return count_scattered(table, judgments, settings, threads, report)


def find_in_dicts(qrels: Qrels, run: Run, settings: Settings) -> Hits:
    """Return the hits of a run that is a dict of dicts, with ties broken if the policy orders documents."""
    index = qrels.index
    common = np.array(sorted([index[query] for query in run.scores if query in index]), np.int64)
    retrieved, answered = np.zeros(len(index), np.int64), np.zeros(len(index), bool)
    answered[common] = True
    parts = [
        _find_in_rankings(qrels, run, at, rankings, retrieved, settings) for at, rankings in _chunks(qrels, run, common)
    ]
    parts = parts or [(np.zeros(0, np.int64),) * 5]
    query, row, above, tied, place = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    others = [query for query in run.scores if query not in index]
    unjudged = Unjudged.of(others, settings, qrels.names_left_out) if others else Unjudged()
    placed = place if settings.breaks_ties else None
    return Hits(query, row, above, tied, placed, retrieved, answered, unjudged)


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


def _find_in_rankings(
    qrels: Qrels, run: Run, at: Ints, rankings: list[Ranking], retrieved: Ints, settings: Settings
) -> tuple[Ints, ...]:
    """Return query, row, above, tied and place of each hit of some queries, and set the lengths of their rankings.

    If ties are not broken, place is above.
    """
    size = np.fromiter(map(len, rankings), np.int64, len(rankings))
    retrieved[at] = size
    scores = values_of(
        rankings, lambda i, doc: f"{run.where}: query {clip(qrels.queries[at[i]])}, document {clip(doc)}: the score"
    )
    which, row, mine = _look_up(qrels, run, at, rankings)
    if settings.precision == "single":  # in which more scores tie
        scores, mine = settings.round(scores), settings.round(mine)
    start = size.cumsum() - size
    above, tied = count_above(scores, start, start + size, which, mine)
    place = above
    if settings.breaks_ties:
        place = above.copy()
        for here in _sort_by_ranking(which, tied > 1):
            i = int(which[here[0]])
            part = slice(start[i], start[i] + size[i])
            docs = [qrels.docs[j] for j in row[here].tolist()]
            place[here] += places_among_tied(
                settings, qrels.queries[at[i]], list(rankings[i]), scores[part], docs, mine[here]
            )
    return at[which], row, above, tied, place


def _sort_by_ranking(which: Ints, flags: Bools) -> list[Ints]:
    """Return the flagged hits, grouped by ranking; rankings ascend."""
    here = np.flatnonzero(flags)
    return np.split(here, np.flatnonzero(np.diff(which[here])) + 1) if len(here) else []


def _look_up(qrels: Qrels, run: Run, at: Ints, rankings: list[Ranking]) -> tuple[Ints, Ints, Floats]:
    """Return, for each judged document that was retrieved, the index of its ranking, its row and its score."""
    first, judged = qrels.start[at], qrels.sizes[at]
    docs = [qrels.docs[a : a + n] for a, n in zip(first.tolist(), judged.tolist(), strict=True)]
    scores = [list(map(ranking.get, names)) for ranking, names in zip(rankings, docs, strict=True)]
    for i, (ranking, names) in enumerate(zip(rankings, docs, strict=True)):
        missing = [name for name, score in zip(names, scores[i], strict=True) if score is None]
        if missing and are_disguised(ranking, missing):
            rankings[i] = rename_docs(ranking, run.where, qrels.queries[at[i]])
            scores[i] = list(map(rankings[i].get, names))
    # documents that were not retrieved become NaN, which alone differs from itself
    mine = np.array(scores[0] if len(scores) == 1 else list(chain.from_iterable(scores)), np.float64)
    hits = (mine == mine).nonzero()[0]  # noqa: PLR0124
    if len(at) == 1:
        return np.zeros(len(hits), np.int64), first + hits, mine[hits]
    which = np.arange(len(at)).repeat(judged)[hits]
    return which, (first - (judged.cumsum() - judged))[which] + hits, mine[hits]


def count_above(scores: Floats, start: Ints, stop: Ints, which: Ints, mine: Floats) -> tuple[Ints, Ints]:
    """Return the numbers of scores that are higher than each of `mine`, and equal to it, in its ranking `which`."""
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
    """Return the numbers of scores of a ranking that are higher than each of mine, and equal to it."""
    if len(mine) < FEW:
        few = mine.tolist()
        return [np.count_nonzero(ranking > x) for x in few], [np.count_nonzero(ranking == x) for x in few]
    ascending = ranking.copy()
    ascending.sort()
    higher = ascending.searchsorted(mine, "right")
    return len(ascending) - higher, higher - ascending.searchsorted(mine, "left")


def _all_fall(scores: Floats, start: Ints) -> bool:
    """True if no ranking has a score that is higher than the one before."""
    falls = scores[1:] <= scores[:-1]
    falls[start[(start > 0) & (start < len(scores))] - 1] = True
    return bool(falls.all())


def find_hits_without(
    qrels: Qrels, excluded: Qrels, run: Run, settings: Settings, threads: int | None, report: Report
) -> Hits:
    """Return the hits of a run after the documents in `excluded` are removed from it."""
    union, dropped, row = join_documents(qrels, excluded)
    hits = find_hits(union, run, settings, threads, report)
    drop = dropped[hits.row]
    out = hits.select(drop)
    stay = hits.select(~drop)
    span = int(hits.retrieved.max(initial=0)) + 1
    base, others = stay.query.astype(np.int64) * span, out.query.astype(np.int64) * span
    better, same = _count(base, stay.above, others + out.above)
    place = None
    if stay.place is not None and out.place is not None:
        place = stay.place - _count(base, stay.place, others + out.place)[0]
    retrieved = hits.retrieved - np.bincount(out.query, minlength=len(qrels))
    return stay._replace(
        row=row[stay.row],
        above=stay.above - better,
        tied=stay.tied - same,
        place=place,
        retrieved=retrieved,
        excluded=len(out.row),
    )


def _count(base: Ints, mine: npt.NDArray[np.integer], others: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of others of the same query that are less than each of mine, and equal to it."""
    others = np.sort(others)
    first, low = np.searchsorted(others, base), np.searchsorted(others, base + mine)
    return low - first, np.searchsorted(others, base + mine, "right") - low


def join_documents(qrels: Qrels, excluded: Qrels) -> tuple[Qrels, Bools, Ints]:
    """Return the union of judged and excluded documents, flags of the excluded ones, and rows in the qrels.

    Documents that are not judged have rows beyond the last one; labels are not kept.
    """
    theirs = [i for i, query in enumerate(excluded.queries) if query in qrels.index]
    owner = np.array([qrels.index[excluded.queries[i]] for i in theirs], np.int64)
    begin, end = excluded.start[theirs], excluded.start[np.add(theirs, 1)] if theirs else excluded.start[:0]
    rows = np.concatenate([np.zeros(0, np.int64), *map(np.arange, begin.tolist(), end.tolist())])
    query = np.concatenate([np.repeat(np.arange(len(qrels)), np.diff(qrels.start)), np.repeat(owner, end - begin)])
    document = concatenate([Ids.of(as_tokens(qrels.docs)), Ids.of(as_tokens(excluded.docs)).take(rows)])
    judged = len(qrels.docs)
    alike = earliest_alike(query, document)
    alike = np.arange(len(query)) if alike is None else alike
    dropped = np.zeros(len(query), bool)
    dropped[alike[judged:]] = True
    stay = np.flatnonzero(alike == np.arange(len(query)))
    stay = stay[np.argsort(query[stay], kind="stable")]
    start = np.searchsorted(query[stay], np.arange(len(qrels) + 1))
    union = Qrels(qrels.queries, start, document.take(stay).tokens(), np.zeros(len(stay)), qrels.name)
    union.left_out = qrels.left_out
    return union, dropped[stay], stay
