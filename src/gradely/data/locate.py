"""Locate: find the judged documents of a run, in memory or in a file, and where they stand.

Only judged documents are looked up; ranks are counted, so that a run is never sorted as a whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradely.data.hashing import end_of_better, shuffle_keys_of
from gradely.data.hits import Hits
from gradely.data.ids import Bools, Floats, Ints, encode
from gradely.data.qrels import Qrels
from gradely.data.read.dicts import are_disguised, flat, rename_docs
from gradely.data.read.readers import Run, plain_run
from gradely.data.read.sources import Report, Source, clip, ignore
from gradely.data.table import Table, TableScores
from gradely.errors import DataError
from gradely.parallel import cores
from gradely.settings import Settings


def break_ties(settings: Settings, query: str, tied: list[str]) -> list[str]:
    """Return tied documents of a query, given in the order of the input, as the policy has them."""
    if settings.ties == "trec":
        return sorted(tied, key=encode, reverse=True)
    if settings.ties == "order":
        return tied
    names = [encode(doc) for doc in tied]
    keys = shuffle_keys_of(settings.seed, encode(query), names).tolist()
    return [doc for *_, doc in sorted(zip(keys, names, tied, strict=True))]


def places_among_tied(
    settings: Settings, query: str, ranking: list[str], scores: Floats, docs: Sequence[str], mine: Floats
) -> Ints:
    """Return the place of each of some documents of a ranking, given with their scores, among those that share it."""
    order = np.argsort(-scores, kind="stable")
    descending = -scores[order]
    out = np.zeros(len(docs), np.int64)
    groups: dict[float, list[int]] = {}
    for i, score in enumerate(mine.tolist()):
        groups.setdefault(score, []).append(i)
    for score, members in groups.items():
        first, last = (int(np.searchsorted(descending, -score, side)) for side in ("left", "right"))
        tied = break_ties(settings, query, [ranking[i] for i in order[first:last].tolist()])
        place = {doc: i for i, doc in enumerate(tied)}
        out[members] = [place[docs[i]] for i in members]
    return out


if TYPE_CHECKING:
    from gradely.data.trec.match import Observer

DOCUMENTS = 1 << 18
"""about how many documents of a run are looked at in one go"""
FEW = 4
"""with fewer hits in a query, ranks are counted; with more, they are looked up in the sorted scores"""

SEVERAL = 16
"""from so many sorted rankings on, all are searched at the same time"""

Ranking: TypeAlias = Mapping[str, float]


def locate(
    qrels: Qrels,
    run: Run | Source,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return where the judged documents of a run stand, of the queries and documents that are selected.

    A run that answers none of the queries is refused.
    """
    if qrels.excluded is not None:
        from gradely.data.selection import locate_others

        hits = locate_others(qrels, qrels.excluded, run, settings, threads, report)
    else:
        hits = find_hits(qrels, run, settings, threads, report, observe)
    if not len(hits.row) and not hits.answered.any():
        first = clip(hits.unjudged[0] if hits.unjudged else "")
        raise DataError(
            f"{run.name} and {qrels.name} have no query in common; the first are {first} and {clip(qrels.queries[0])}"
        )
    return hits._replace(unjudged=()) if qrels.selected else hits


def find_hits(
    qrels: Qrels,
    run: Run | Source,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return where the judged documents of a run stand; files and lazy frames are never held as a whole.

    `observe` is shown lines as they pass, where they come in whole queries.
    """
    threads = threads or cores()
    if isinstance(run, Source):
        return _stream_file(qrels, run, settings, threads, report, observe)
    if isinstance(run.scores, dict):
        return align(qrels, run, settings)
    if isinstance(run.scores, TableScores):
        if run.scores.table.duplicates == "error":
            return _from_table(qrels, run, run.scores.table, settings, threads, report, observe)
        return align(qrels, run, settings)
    from gradely.data.engine import EngineScores

    if isinstance(run.scores, EngineScores):
        from gradely.data.engine import find_engine_hits

        return find_engine_hits(qrels, run.scores, settings, report)
    return align(qrels, run, settings)


def _from_table(
    qrels: Qrels, run: Run, table: Table, settings: Settings, threads: int, report: Report, observe: "Observer | None"
) -> Hits:
    """Go the fast way; where rows are repeated or cannot be read so, the plain one, which explains what is wrong."""
    from gradely.data.trec.runs import stream
    from gradely.data.trec.text import IrregularText

    def pieces(work: Callable[[Any], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        return table.map_parts(work, threads, report, whole_queries=whole_queries)

    try:
        return stream(qrels, run.name, pieces, settings, report, observe)
    except IrregularText:
        return align(qrels, run, settings)


def _stream_file(
    qrels: Qrels, source: Source, settings: Settings, threads: int, report: Report, observe: "Observer | None"
) -> Hits:
    """Go the fast way; where the text is odd, the plain one, which explains what is wrong with it.

    A small file takes the plain way, too: it is read before the fast one would have begun.
    """
    if observe is None and source.is_small:
        return align(qrels, plain_run(source), settings)
    from gradely.data.trec.runs import stream_run
    from gradely.data.trec.text import IrregularText

    try:
        return stream_run(qrels, source, settings, threads, report, observe=observe)
    except IrregularText:
        return align(qrels, plain_run(source), settings)


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
        rankings, lambda i, doc: f"{run.name}: query {clip(qrels.queries[at[i]])}, document {clip(doc)}: the score"
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
            rankings[i] = rename_docs(ranking, run.name, qrels.queries[at[i]])
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
