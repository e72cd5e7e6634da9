"""From judgments and a run to one row of values a query, and their summary."""

from math import exp, log
from typing import NamedTuple

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.types import Floats, Ints
from gradely.kernel.batch import Batch
from gradely.tables import count_of
from gradely.threads import cores
from gradely.trec_eval.catalogue import Column
from gradely.trec_eval.options import IMPOSSIBLE, NOTHING, Options, Quit
from gradely.trec_eval.read import JudgmentFile, RankingFile

LEAST = 0.00001
"""what a query counts at least in a geometric mean"""


class Queries(NamedTuple):
    """The queries that are measured, in trec_eval's order, as indices; which are not in the run; how many count."""

    measured: Ints
    missing: Ints
    number: int
    """what means are divided by"""


def sort_queries(judged: JudgmentFile) -> Ints:
    """Return the queries in the order of their names' bytes."""
    names = [query.encode(judged.encoding) for query in judged.qrels.queries]
    return np.asarray(sorted(range(len(names)), key=names.__getitem__), np.int64)


def select_queries(judged: JudgmentFile, ranked: RankingFile, columns: list[Column], options: Options) -> Queries:
    """Return the queries to measure; refuse what trec_eval refuses."""
    order = sort_queries(judged)
    answered = ranked.hits.answered[order]
    in_both, missing = order[answered], order[~answered]
    if options.compat == 10 and len(missing) and not options.complete:
        listing = ", ".join(judged.qrels.queries[i] for i in missing[:5].tolist()) + (", …" if len(missing) > 5 else "")
        verb, pronoun = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise Quit(
            IMPOSSIBLE,
            f"{len(missing):,} of {count_of(len(order), 'judged query')} {verb} not in the run: {listing}; "
            f"count {pronoun} as 0 with -c, or leave {pronoun} out with --compat 9",
        )
    measured = order if options.compat == 10 else in_both
    if not len(measured):
        raise Quit(NOTHING, "the judgments and the run have no query in common")
    if any(column.value is not None or column.kind == "relstring" for column in columns):
        _check_format(judged, columns)
        _check(judged, ranked, measured)
    return Queries(measured, missing, len(order) if options.complete else len(measured))


def _check_format(judged: JudgmentFile, columns: list[Column]) -> None:
    """Refuse measures of one format of judgments with the other."""
    for column in columns:
        if column.value is None and column.kind != "relstring":
            continue
        if judged.groups is None and column.by_group:
            raise Quit(IMPOSSIBLE, f"-m {column.name}: it is a mean over groups of judgments; add -R qrels_jg")
        if judged.groups is not None and not column.by_group:
            raise Quit(IMPOSSIBLE, f"-m {column.name}: it does not know groups of judgments; use -m qrels_jg")


def _check(judged: JudgmentFile, ranked: RankingFile, measured: Ints) -> None:
    """Refuse documents that are there twice, and a first query without a judgment, as trec_eval does."""
    qrels = judged.qrels
    for query in [qrels.queries[i] for i in measured.tolist()] if judged.twice or ranked.twice else ():
        for where, twice in (("judgments", judged.twice), ("run", ranked.twice)):
            if query in twice:
                raise Quit(IMPOSSIBLE, f"document {twice[query]} of query {query} is twice in the {where}; keep one")
    first = int(measured[0])
    if judged.groups is None and qrels.grade[qrels.start[first] : qrels.start[first + 1]].max() < 0:
        raise Quit(IMPOSSIBLE, f"all labels of query {qrels.queries[first]} are negative: nothing is judged")


def select_hits(qrels: Qrels, hits: Hits, queries: Queries, options: Options) -> Hits:
    """Return the hits that count: of the top of the ranking with -M, and with -J as if only judged ones were there.

    Version 10 measures a query that is not in the run on a ranking of one unknown document.
    """
    retrieved = hits.retrieved.copy()
    retrieved[queries.missing] = 1
    hits = hits._replace(retrieved=retrieved)
    if options.most is not None:
        assert hits.place is not None
        hits = hits.select(hits.place < options.most)._replace(retrieved=np.minimum(retrieved, options.most))
    return hits.select(qrels.grade[hits.row] >= 0).judged_only() if options.judged_only else hits


def table_of(judged: JudgmentFile, hits: Hits, queries: Queries, columns: list[Column], options: Options) -> Floats:
    """Return the values, [queries measured, columns]."""
    groups = judged.groups
    if groups is None:
        return values(judged.qrels, select_hits(judged.qrels, hits, queries, options), queries, columns)
    members = Queries(groups.within(queries.measured), groups.within(queries.missing), 0)
    hits = select_hits(groups.qrels, groups.hits(hits), members, options)
    return groups.means(values(groups.qrels, hits, members, columns), members.measured, queries.measured)


def values(qrels: Qrels, hits: Hits, queries: Queries, columns: list[Column], ties: str = "trec") -> Floats:
    """Return the values, [queries measured, columns]; those that are no number of a query are 0."""
    table = np.zeros((len(qrels), len(columns)))
    computed = [(j, column.value) for j, column in enumerate(columns) if column.value is not None]

    def work(rows: Ints, batch: Batch) -> None:
        with np.errstate(all="ignore"):  # parameters may be infinite, or no numbers
            for j, value in computed:
                table[rows, j] = value(batch)

    Blocks(qrels, hits).visit(work, ties, queries.measured, cores())
    for j, column in enumerate(columns):
        if gives_away(column.name):
            table[queries.missing, j] = 0.0
        if column.kind == "geometric":
            table[:, j] = [log(max(value, LEAST)) for value in table[:, j].tolist()]
    return table[queries.measured]


def gives_away(name: str) -> bool:
    """True for names that would tell of the unknown document of a query that is not in the run, and are set to 0.

    Version 10 knows them without parameters only.
    """
    return name in ("num_ret", "utility", "relstring", "rbp_resid") or name.startswith("unj")


def summary(
    table: Floats, columns: list[Column], queries: Queries, judged: JudgmentFile, options: Options
) -> list[float]:
    """Return the value of each column for all queries, added up in their order, from 0 on."""
    with np.errstate(all="ignore"):
        sums = np.cumulative_sum(table, axis=0, include_initial=True)[-1].tolist()
    relevant = judged.relevant if options.complete else None
    return [_of_all(column, total, len(table), queries, relevant) for column, total in zip(columns, sums, strict=True)]


def _of_all(column: Column, total: float, measured: int, queries: Queries, relevant: int | None) -> float:
    if column.kind == "num_q":
        return queries.number
    if column.name == "num_rel" and relevant is not None:
        return relevant
    if column.kind == "sum":
        return total
    if column.kind == "geometric":
        return exp((total + (queries.number - measured) * log(LEAST)) / queries.number)
    return total / queries.number
