"""Locate: find the judged documents of a run, in memory or in a file, and where they stand."""

from collections.abc import Callable, Iterator
from typing import Any

from gradely.data.align import align
from gradely.data.engine import EngineScores
from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.files import Report, Source, clip, ignore
from gradely.data.read.inputs import Run, plain_run
from gradely.data.table import Table, TableScores
from gradely.data.trec.place import Observer
from gradely.errors import DataError
from gradely.settings import Settings
from gradely.threads import cores


def locate(
    qrels: Qrels,
    run: Run | Source,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: Observer | None = None,
) -> Hits:
    """Return where the judged documents of a run stand; refuse a run that answers none of the queries."""
    hits = find_hits(qrels, run, settings, threads, report, observe)
    if not len(hits.row) and not hits.answered.any():
        first = clip(hits.unjudged[0] if hits.unjudged else "")
        raise DataError(
            f"{run.name} and {qrels.name} have no query in common; the first are {first} and {clip(qrels.queries[0])}"
        )
    return hits


def find_hits(
    qrels: Qrels,
    run: Run | Source,
    settings: Settings,
    threads: int | None = None,
    report: Report = ignore,
    observe: Observer | None = None,
) -> Hits:
    """Return where the judged documents of a run stand; files and lazy frames are never held as a whole.

    `observe` is shown lines as they pass, where they come in whole queries.
    """
    threads = threads or cores()
    if isinstance(run, Source):
        return _stream_file(qrels, run, settings, threads, report, observe)
    if isinstance(run.scores, EngineScores):
        from gradely.data.engine_hits import find_engine_hits

        return find_engine_hits(qrels, run.scores, settings, report)
    if isinstance(run.scores, TableScores) and run.scores.table.duplicates == "error":
        return _from_table(qrels, run, run.scores.table, settings, threads, report, observe)
    return align(qrels, run, settings)


def _from_table(
    qrels: Qrels, run: Run, table: Table, settings: Settings, threads: int, report: Report, observe: Observer | None
) -> Hits:
    """Go the fast way; where rows are repeated or cannot be read so, the plain one, which explains what is wrong."""
    from gradely.data.trec.chunks import Odd
    from gradely.data.trec.runs import stream

    def pieces(work: Callable[[Any], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        return table.map_parts(work, threads, report, whole_queries=whole_queries)

    try:
        return stream(qrels, run.name, pieces, settings, report, observe)
    except Odd:
        return align(qrels, run, settings)


def _stream_file(
    qrels: Qrels, source: Source, settings: Settings, threads: int, report: Report, observe: Observer | None
) -> Hits:
    """Go the fast way; where the text is odd, the plain one, which explains what is wrong with it."""
    from gradely.data.trec.chunks import Odd
    from gradely.data.trec.runs import stream_run

    try:
        return stream_run(qrels, source, settings, threads, report, observe=observe)
    except Odd:
        return align(qrels, plain_run(source), settings)
