"""Locate: find the judged documents of a run, in memory or in a file, and where they stand."""

from collections.abc import Callable, Iterator
from typing import Any

from gradely.data.align import align
from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.files import Report, Source, clip, ignore
from gradely.data.read.inputs import Run, plain_run
from gradely.data.rule import Rule
from gradely.data.table import Table, TableScores
from gradely.errors import DataError
from gradely.threads import cores


def locate(qrels: Qrels, run: Run | Source, rule: Rule, threads: int | None = None, report: Report = ignore) -> Hits:
    """Return where the judged documents of a run stand; refuse a run that answers none of the queries."""
    hits = find_hits(qrels, run, rule, threads, report)
    if not hits.answered.any():
        found = clip(hits.unjudged[0] if hits.unjudged else "")
        raise DataError(
            f"{run.name} and {qrels.name} have no query in common; the first are {found} and {clip(qrels.queries[0])}"
        )
    return hits


def find_hits(qrels: Qrels, run: Run | Source, rule: Rule, threads: int | None = None, report: Report = ignore) -> Hits:
    """Return where the judged documents of a run stand; a TREC file is read once and never held as a whole."""
    if isinstance(run, Source):
        return _streamed(qrels, run, rule, threads or cores(), report)
    if isinstance(run.scores, TableScores) and run.scores.table.duplicates == "error":
        return _from_table(qrels, run, run.scores.table, rule, threads or cores(), report)
    return align(qrels, run, rule)


def _from_table(qrels: Qrels, run: Run, table: Table, rule: Rule, threads: int, report: Report) -> Hits:
    """Go the fast way; where rows are repeated or cannot be read so, the plain one, which explains what is wrong."""
    from gradely.data.trec.chunks import Odd
    from gradely.data.trec.runs import stream

    def pieces(work: Callable[[Any], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        return table.each(work, threads, report, whole_queries=whole_queries)

    try:
        return stream(qrels, run.name, pieces, rule, report)
    except Odd:
        return align(qrels, run, rule)


def _streamed(qrels: Qrels, source: Source, rule: Rule, threads: int, report: Report) -> Hits:
    """Go the fast way; where the text is odd, the plain one, which explains what is wrong with it."""
    from gradely.data.trec.chunks import Odd
    from gradely.data.trec.runs import stream_run

    try:
        return stream_run(qrels, source, rule, threads, report)
    except Odd:
        return align(qrels, plain_run(source), rule)
