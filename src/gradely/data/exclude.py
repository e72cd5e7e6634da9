"""Exclude: documents that are dropped from the rankings before anything is measured, as what users had in training.

They are looked for in the run as if they were judged; how many of them stand above or tie with each judged document
then says where it would stand without them. So a run of any kind is read as always, and never held as a whole.
"""

import numpy as np
import numpy.typing as npt

from gradely.data.columns import concatenate, earliest_alike
from gradely.data.hits import Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read.readers import Run
from gradely.data.read.sources import Report, Source
from gradely.data.trec.tokens import Ids, as_tokens
from gradely.data.types import Bools, Ints
from gradely.settings import Settings


def locate_others(
    qrels: Qrels, excluded: Qrels, run: Run | Source, settings: Settings, threads: int | None, report: Report
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
