"""Locate: find the judged documents of a run, and where they stand, whatever the run is held in.

Only judged documents are looked up, and ranks are counted, so that a run is never sorted as a whole. There are four
ways, with the same result:

    memory      a run that is a dict of dicts
    pieces      a table, some whole queries at a time, with array operations
    scattered   a table whose queries are not contiguous, in two passes
    an engine   a lazy frame, which answers by itself
"""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradely.data.columns import concatenate, earliest_alike
from gradely.data.hits import Hits
from gradely.data.ids import Bools, Ids, Ints, as_tokens
from gradely.data.locate.memory import align
from gradely.data.qrels import Qrels
from gradely.data.run import LazyScores, Run
from gradely.data.source import Report, change_error, ignore, split_report
from gradely.data.table import ChangedFile, IrregularText, ScatteredQueries, Table, TableScores
from gradely.errors import DataError, clip
from gradely.parallel import cores
from gradely.settings import Settings

if TYPE_CHECKING:
    from gradely.data.locate.pieces import Observer


def locate(
    qrels: Qrels,
    run: Run,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return where the judged documents of a run stand, of the queries and documents that are selected.

    A run that answers none of the queries is refused.
    """
    if qrels.excluded is None:
        hits = find_hits(qrels, run, settings, threads, report, observe)
    else:
        hits = locate_without_excluded(qrels, qrels.excluded, run, settings, threads, report)
    if not len(hits.row) and not hits.answered.any():
        first = clip(hits.unjudged[0] if hits.unjudged else "")
        raise DataError(
            f"{run.where} and {qrels.name} have no query in common; the first are {first} and {clip(qrels.queries[0])}"
        )
    return hits._replace(unjudged=()) if qrels.selected else hits


def find_hits(
    qrels: Qrels,
    run: Run,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: "Observer | None" = None,
) -> Hits:
    """Return where the judged documents of a run stand; files and lazy frames are never held as a whole.

    `observe` looks at lines as they pass, where they come in whole queries.
    """
    scores = run.scores
    if isinstance(scores, LazyScores):
        return scores.find_hits(qrels, settings, report)
    if not isinstance(scores, TableScores):
        return align(qrels, run, settings)
    table = scores.table
    if table.duplicates != "error":  # rows are put together first
        return align(qrels, run, settings)
    if observe is None and table.is_small:
        return align(qrels, Run(table.plain(), run.name, run.where), settings)
    try:
        return find_in_table(qrels, table, settings, threads or cores(), report, observe)
    except IrregularText:  # the plain way explains what is wrong
        return align(qrels, Run(table.plain(), run.name, run.where), settings)


def find_in_table(
    qrels: Qrels, table: Table, settings: Settings, threads: int, report: Report, observe: "Observer | None" = None
) -> Hits:
    """Return where the judged documents of a table stand; raise IrregularText where it must be read plainly."""
    from gradely.data.locate.match import Judgments
    from gradely.data.locate.pieces import find_in_part, join_hits
    from gradely.data.locate.scattered import count_scattered

    judgments, keep = Judgments.of(qrels), table.duplicates == "keep"
    try:
        parts = table.map_parts(
            lambda part: find_in_part(judgments, part, settings, observe, keep_duplicates=keep),
            threads,
            report,
            whole_queries=True,
        )
        return join_hits(qrels, parts, observe)
    except ScatteredQueries:
        pass
    passes = chain(split_report(report), repeat(ignore))

    def over_parts(work: Any) -> Iterator[Any]:
        return table.map_parts(work, threads, next(passes), whole_queries=False)

    try:
        return count_scattered(table.name, judgments, settings, over_parts)
    except ChangedFile:
        raise change_error(table.name) from None


def locate_without_excluded(
    qrels: Qrels, excluded: Qrels, run: Run, settings: Settings, threads: int | None, report: Report
) -> Hits:
    """Return where the judged documents of a run stand once others are dropped from it."""
    union, dropped, row = _join(qrels, excluded)
    hits = locate(union, run, settings, threads, report)
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
    """Return how many of the others, of the same query, are less than each of mine, and how many are equal."""
    others = np.sort(others)
    first, low = np.searchsorted(others, base), np.searchsorted(others, base + mine)
    return low - first, np.searchsorted(others, base + mine, "right") - low


def _join(qrels: Qrels, excluded: Qrels) -> tuple[Qrels, Bools, Ints]:
    """Return judged and excluded documents as one, whether each is dropped and, if not, its row in the qrels."""
    theirs = [i for i, query in enumerate(excluded.queries) if query in qrels.index]
    owner = np.array([qrels.index[excluded.queries[i]] for i in theirs], np.int64)
    begin, end = excluded.start[theirs], excluded.start[np.add(theirs, 1)] if theirs else excluded.start[:0]
    rows = np.concatenate([np.zeros(0, np.int64), *map(np.arange, begin.tolist(), end.tolist())])
    query = np.concatenate([np.repeat(np.arange(len(qrels)), np.diff(qrels.start)), np.repeat(owner, end - begin)])
    document = concatenate([Ids.of(as_tokens(qrels.docs)), Ids.of(as_tokens(excluded.docs)).take(rows)])
    judged = len(qrels.grade)
    alike = earliest_alike(query, document)
    alike = np.arange(len(query)) if alike is None else alike
    dropped = np.zeros(len(query), bool)
    dropped[alike[judged:]] = True
    stay = np.flatnonzero(alike == np.arange(len(query)))
    stay = stay[np.argsort(query[stay], kind="stable")]
    start = np.searchsorted(query[stay], np.arange(len(qrels) + 1))
    grade = np.concatenate([qrels.grade, np.zeros(len(rows))])[stay]
    union = Qrels(qrels.queries, start, document.take(stay).tokens(), grade, qrels.name)
    return union, dropped[stay], stay
