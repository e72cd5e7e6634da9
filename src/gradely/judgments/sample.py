"""sample: queries for people to judge, drawn at random as `estimate` assumes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gradely.comparison.regression import FEWEST
from gradely.data import Qrels, open_run
from gradely.data.column_roles import Names
from gradely.data.selection import name_queries, only_queries, read_selected
from gradely.errors import DataError, clip
from gradely.evaluation.evaluate import Progress, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note, merge_notes
from gradely.evaluation.open_documents import find_open
from gradely.evaluation.result import Result, Section
from gradely.settings import DuplicatePolicy, Settings
from gradely.tables import Cell, Table, count_of

DEPTH = 10
"""the depth down to which documents of runs are given to people by default"""


@dataclass(eq=False, repr=False)
class QuerySample(Result):
    """The queries for people to judge, sorted by name, and the documents of runs to judge for them."""

    queries: list[str]
    total: int
    """the number of queries they were drawn from"""
    segments: Mapping[str, str] | None
    """the segment of each query, or None if segments were not used"""
    documents: dict[str, list[str]]
    """by query, the documents at the top of at least one run; empty without runs"""
    depth: int
    seed: int
    notes: list[Note]

    def text(self) -> str:
        """Return one query per line, which is the format of --only."""
        return "".join(f"{query}\n" for query in self.queries)

    def table(self) -> Table:
        """Return one row per query."""
        columns: list[tuple[str, dict[str, Any]]] = [("segment", dict(self.segments))] if self.segments else []
        if self.documents:
            columns.append(("documents", {query: len(docs) for query, docs in self.documents.items()}))
        rows: list[list[Cell]] = [[query, *(of[query] for _, of in columns)] for query in self.queries]
        return Table(["query", *(name for name, _ in columns)], rows)

    def pool_table(self) -> Table:
        """Return one row per query and document to judge."""
        rows = [[query, document] for query, docs in self.documents.items() for document in docs]
        return Table(["query", "document"], rows)

    def summary(self) -> str:
        """Return the numbers of drawn queries and of documents to judge in a sentence."""
        share = ", from each segment in proportion to its size" if self.segments else ""
        drawn = (
            f"{len(self.queries):,} of {count_of(self.total, 'query')}, drawn at random with seed {self.seed}{share}"
        )
        size = sum(map(len, self.documents.values()))
        if not size:
            return drawn
        return f"{drawn}; {count_of(size, 'document')} to judge in the top {self.depth} of the runs"

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the summary and the queries."""
        return [self.summary(), self.table()]


def sample(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any] | None = None,
    *,
    n: int,
    seed: int = 0,
    depth: int = DEPTH,
    by: Any = None,
    queries: Any = "qrels",
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
) -> QuerySample:
    """Draw `n` queries of the judge's qrels for people to judge; the result does not depend on input order.

    With `by`, {query: segment}, each segment gets a number of queries in proportion to its size, and at least five.
    With runs, the documents in the top `depth` of any run, or tied with such a document, are listed for people to
    judge. The other parameters are those of estimate.

    >>> llm = {f"q{i}": {"d": 1} for i in range(100)}
    >>> drawn = sample(llm, n=5, seed=1)
    >>> drawn.queries == sample(dict(reversed(llm.items())), n=5, seed=1).queries, len(drawn.queries)
    (True, 5)
    """
    settings = Settings(
        seed=seed,
        threads=threads,
        exclude_self=exclude_self,
        duplicates=duplicates,
        document_pattern=document_pattern,
    )
    only = name_queries(queries)
    every = read_selected(qrels, settings, columns, only=only, by=by, exclude=exclude)
    check_size(n, len(every))
    if depth < 1:
        raise DataError(f"depth must be at least 1; found {depth!r}")
    segments = every.segments
    drawn = draw(sorted(every.queries), n, seed) if segments is None else draw_by_segment(every, n, seed)
    documents: dict[str, list[str]] = {}
    notes: list[Note] = []
    if runs is not None:
        some = only_queries(every, drawn)
        opened = {name: open_run(run) for name, run in open_runs(name_runs(runs), columns, settings).items()}
        documents = find_documents(some, opened, settings, depth, progress)
        notes = merge_notes({name: [Note("run", 1, 1, text) for text in run.notes] for name, run in opened.items()})
    shown = None if segments is None else {query: segments[query] for query in drawn}
    return QuerySample(drawn, len(every), shown, {q: documents[q] for q in drawn if q in documents}, depth, seed, notes)


def find_documents(
    qrels: Qrels, runs: Mapping[str, Any], settings: Settings, depth: int, progress: Progress
) -> dict[str, list[str]]:
    """Return, by query, the documents with fewer than `depth` others above them in at least one run, sorted by name.

    If documents tie across this depth, all of them are included, since the mean over all orders needs every one.
    """
    found = find_open(qrels, runs, settings, depth, progress)
    joined = found.stacked.qrels
    inside = [a + np.flatnonzero(found.above[a:b] < depth) for a, b in pairwise(joined.start.tolist())]
    return {query: sorted(map(found.name, rows.tolist())) for query, rows in zip(joined.queries, inside, strict=True)}


def check_size(n: int, total: int) -> None:
    """Refuse a sample that is too small for an estimate or larger than the number of queries."""
    if isinstance(n, bool) or not isinstance(n, int) or n < FEWEST:
        raise DataError(f"a sample must have at least {FEWEST} queries, which an estimate needs; found {n!r}")
    if n > total:
        raise DataError(f"cannot draw {n:,} of {total:,} queries: judge all of them, or draw fewer")


def draw(names: list[str], n: int, seed: int | tuple[int, int]) -> list[str]:
    """Return n of the sorted names, drawn without replacement, in sorted order."""
    at = np.random.default_rng(seed).permutation(len(names))[:n]
    return sorted(names[i] for i in at.tolist())


def draw_by_segment(qrels: Qrels, n: int, seed: int) -> list[str]:
    """Return n queries: from each segment its share, rounded by largest remainders, but at least FEWEST."""
    segments = qrels.segments or {}
    names: dict[str, list[str]] = {}
    for query in sorted(qrels.queries):
        if query not in segments:
            raise DataError(f"by: query {clip(query)} of {qrels.name} has no segment; every query needs one")
        names.setdefault(segments[query], []).append(query)
    parts = sorted(names)
    small = next((part for part in parts if len(names[part]) < FEWEST), None)
    if small is not None:
        raise DataError(
            f"by: the segment {clip(small)} has {len(names[small])} queries, but each segment needs at least {FEWEST}"
        )
    if n < FEWEST * len(parts):
        raise DataError(
            f"{n:,} queries are too few for {count_of(len(parts), 'segment')}, which need at least {FEWEST} each: draw "
            f"{FEWEST * len(parts):,} or more"
        )
    sizes = dict.fromkeys(parts, FEWEST)
    shares = {part: n * len(names[part]) / len(qrels) for part in parts}
    for _ in range(n - sum(sizes.values())):  # each query goes to the segment that is furthest below its share
        open_parts = [part for part in parts if sizes[part] < len(names[part])]
        most = max(open_parts, key=lambda part: (shares[part] - sizes[part], part))
        sizes[most] += 1
    return sorted(query for i, part in enumerate(parts) for query in draw(names[part], sizes[part], (seed, i)))
