"""trec_eval: from its options to its output."""

from collections.abc import Iterator
from math import copysign, exp, isnan, log
from typing import NamedTuple

import numpy as np

from gradely.data import Blocks, Hits, Qrels, Report
from gradely.data.ids import Floats, Ints, encode
from gradely.data.source import Source, ignore
from gradely.errors import InputError, clip
from gradely.kernel.batch import Batch
from gradely.parallel import cores
from gradely.tables import count_of
from gradely.trec_eval import measures
from gradely.trec_eval.measures import TABLE, Column, select_names
from gradely.trec_eval.options import (
    BAD_ZSCORES,
    IMPOSSIBLE,
    NOTHING,
    UNREADABLE,
    USAGE_LINE,
    Options,
    Quit,
    atof,
    check_formats,
)
from gradely.trec_eval.read import JudgmentFile, RankingFile, read_judgments, read_ranking, source_of

LEAST = 0.00001
"""the least value of a query in a geometric mean"""


def trec_eval(options: Options, report: Report = ignore) -> bytes:
    """Return the output of trec_eval with these options; raise Quit if trec_eval would fail."""
    columns = _columns(options)
    judged, ranked = _read(options, report)
    reference = read_zscores(options.zscores) if options.zscores is not None else None
    queries = select_queries(judged, ranked, columns, options)
    table = table_of(judged, ranked.hits, queries, columns, options)
    names = [encode(judged.qrels.queries[i]) for i in queries.measured.tolist()]
    if reference is not None:
        table = deviations(table, names, columns, reference)
    out: list[bytes] = []
    if options.per_query:
        hits = select_hits(judged.qrels, ranked.hits, queries, options)
        strings = relstrings(judged.qrels, hits, queries, columns)
        out += format_queries(table, names, columns, strings, zscores=reference is not None)
    if options.summary:
        lines = summary(table, columns, queries, judged, options)
        out += format_summary(lines, columns, ranked.run_id.encode("latin-1"), zscores=reference is not None)
    return b"".join(out)


def _columns(options: Options) -> list[Column]:
    """Return the columns to print; of several errors, raise the one that trec_eval finds first."""
    measures.select_names(options)
    check_formats(options)
    try:
        return measures.select_columns(options)
    except Quit:
        if options.zscores is not None:  # trec_eval then reads all files before it parses parameters
            _read(options, ignore)
            read_zscores(options.zscores)
        raise


def _read(options: Options, report: Report) -> tuple[JudgmentFile, RankingFile]:
    """Return the judgments, and the ranks of judged documents in the run."""
    if options.qrels.startswith("-") and options.run.startswith("-"):
        raise Quit(UNREADABLE, "standard input can be read only once: give a file for the judgments or for the run")
    judged = read_judgments(source_of(options.qrels), options, cores())
    return judged, read_ranking(judged, source_of(options.run), options.compat, options.most, cores(), report)


class Queries(NamedTuple):
    """The queries to measure, as indices in the order of trec_eval."""

    measured: Ints
    missing: Ints
    """the judged queries that are not in the run"""
    number: int
    """the divisor of means"""


def select_queries(judged: JudgmentFile, ranked: RankingFile, columns: list[Column], options: Options) -> Queries:
    """Return the queries to measure; refuse data that trec_eval refuses."""
    names = [encode(query) for query in judged.qrels.queries]
    order = np.asarray(sorted(range(len(names)), key=names.__getitem__), np.int64)
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
    """Refuse measures that do not fit the format of the judgments."""
    for column in columns:
        if column.value is None and column.kind != "relstring":
            continue
        if judged.groups is None and column.by_group:
            raise Quit(IMPOSSIBLE, f"-m {column.name}: it is a mean over groups of judgments; add -R qrels_jg")
        if judged.groups is not None and not column.by_group:
            raise Quit(IMPOSSIBLE, f"-m {column.name}: it does not support groups of judgments; use -m qrels_jg")


def _check(judged: JudgmentFile, ranked: RankingFile, measured: Ints) -> None:
    """Refuse duplicate documents, and a first query with negative labels only, as trec_eval does."""
    qrels = judged.qrels
    for query in [qrels.queries[i] for i in measured.tolist()] if judged.twice or ranked.twice else ():
        for where, twice in (("judgments", judged.twice), ("run", ranked.twice)):
            if query in twice:
                raise Quit(IMPOSSIBLE, f"duplicate document {twice[query]} of query {query} in the {where}; keep one")
    first = int(measured[0])
    if judged.groups is None and qrels.grade[qrels.start[first] : qrels.start[first + 1]].max() < 0:
        raise Quit(IMPOSSIBLE, f"all labels of query {qrels.queries[first]} are negative: nothing is judged")


def select_hits(qrels: Qrels, hits: Hits, queries: Queries, options: Options) -> Hits:
    """Return the hits that count: with -M only those at the top of a ranking, with -J ranks among judged documents."""
    retrieved = hits.retrieved.copy()
    retrieved[queries.missing] = 1  # version 10 measures a missing query on a ranking of one unknown document
    hits = hits._replace(retrieved=retrieved)
    if options.most is not None:
        assert hits.place is not None
        hits = hits.select(hits.place < options.most)._replace(retrieved=np.minimum(retrieved, options.most))
    return hits.select(qrels.grade[hits.row] >= 0).judged_only() if options.judged_only else hits


def table_of(judged: JudgmentFile, hits: Hits, queries: Queries, columns: list[Column], options: Options) -> Floats:
    """Return the values [queries measured, columns], as means over judgment groups if there are any."""
    groups = judged.groups
    if groups is None:
        return values(judged.qrels, select_hits(judged.qrels, hits, queries, options), queries, columns)
    members = Queries(groups.within(queries.measured), groups.within(queries.missing), 0)
    hits = select_hits(groups.qrels, groups.hits(hits), members, options)
    return groups.means(values(groups.qrels, hits, members, columns), members.measured, queries.measured)


def values(qrels: Qrels, hits: Hits, queries: Queries, columns: list[Column], ties: str = "trec") -> Floats:
    """Return the values [queries measured, columns]; columns without a number per query are 0."""
    table = np.zeros((len(qrels), len(columns)))
    computed = [(j, column.value) for j, column in enumerate(columns) if column.value is not None]

    def work(rows: Ints, batch: Batch) -> None:
        with np.errstate(all="ignore"):  # parameters may be infinite or NaN
            for j, value in computed:
                table[rows, j] = value(batch)

    Blocks(qrels, hits).visit(work, ties, queries.measured, cores())
    for j, column in enumerate(columns):
        if reveals_placeholder(column.name):
            table[queries.missing, j] = 0.0
        if column.kind == "geometric":
            table[:, j] = [log(max(value, LEAST)) for value in table[:, j].tolist()]
    return table[queries.measured]


def reveals_placeholder(name: str) -> bool:
    """Return whether a column would reveal the unknown document that is the ranking of a missing query."""
    # like trec_eval 10, this recognises utility, relstring and rbp_resid only without parameters
    return name in ("num_ret", "utility", "relstring", "rbp_resid") or name.startswith("unj")


def summary(
    table: Floats, columns: list[Column], queries: Queries, judged: JudgmentFile, options: Options
) -> list[float]:
    """Return the value of each column over all queries, summed in their order."""
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


def format_queries(
    table: Floats, names: list[bytes], columns: list[Column], strings: dict[str, list[bytes]], *, zscores: bool
) -> Iterator[bytes]:
    """Yield the lines of each query."""
    printed = [
        (j, _form(column, zscores=zscores), column)
        for j, column in enumerate(columns)
        if column.kind not in ("runid", "num_q", "geometric")
    ]
    for i, (name, row) in enumerate(zip(names, table.tolist(), strict=True)):
        for j, form, column in printed:
            yield _line(form, name, strings[column.name][i] if column.kind == "relstring" else row[j])


def _line(form: bytes, name: bytes, value: float | bytes) -> bytes:
    """Return a line; NaN may have a minus sign, as in the output of C."""
    if isinstance(value, float) and isnan(value) and copysign(1, value) < 0:
        return (form % (name, value)).replace(b"   nan\n", b"  -nan\n")
    return form % (name, value)


def format_summary(summary: list[float], columns: list[Column], run_id: bytes, *, zscores: bool) -> Iterator[bytes]:
    """Yield the lines of the summary."""
    for value, column in zip(summary, columns, strict=True):
        if column.kind != "relstring":
            yield _line(_form(column, zscores=zscores), b"all", run_id if column.kind == "runid" else value)


def _form(column: Column, *, zscores: bool) -> bytes:
    """Return the format of a line with name, query and value."""
    name = column.name.encode(errors="backslashreplace").ljust(22).replace(b"%", b"%%")
    if column.kind in ("runid", "relstring"):
        return name + (b"\t%s\t'%s'\n" if column.kind == "relstring" else b"\t%s\t%s\n")
    if zscores:
        return b"Z" + name + b"\t%s\t%6.4f\n"
    return name + (b"\t%s\t%d\n" if column.kind in ("sum", "num_q") else b"\t%s\t%6.4f\n")


def relstrings(qrels: Qrels, hits: Hits, queries: Queries, columns: list[Column]) -> dict[str, list[bytes]]:
    """Return the strings of labels of each relstring column: `-` is unjudged, `.` is a negative label."""
    return {
        column.name: _strings(qrels, hits, queries, column.length, hidden=reveals_placeholder(column.name))
        for column in columns
        if column.kind == "relstring"
    }


def _strings(qrels: Qrels, hits: Hits, queries: Queries, length: int, *, hidden: bool) -> list[bytes]:
    assert hits.place is not None
    retrieved = hits.retrieved.copy()
    retrieved[queries.missing] *= not hidden
    strings = {i: bytearray(b"-" * min(length, int(retrieved[i]))) for i in queries.measured.tolist()}
    near = np.flatnonzero(hits.place < length)
    places = (hits.query[near].tolist(), hits.place[near].tolist(), qrels.grade[hits.row[near]].tolist())
    for query, place, label in zip(*places, strict=True):
        if query in strings:
            strings[query][place] = _letter(label)
    return [bytes(strings[i]) for i in queries.measured.tolist()]


def _letter(label: float) -> int:
    if label < 0:
        return ord(".")
    return ord(">") if label > 9 else ord("0") + int(label)


MISSING = -1000000.0
"""the z-score if mean and deviation are not known"""
Known = dict[tuple[bytes, str], tuple[float, float]]


def read_zscores(path: str) -> Known:
    """Return mean and standard deviation by query and measure."""
    try:
        content = Source(path).read()
    except InputError as error:
        raise Quit(BAD_ZSCORES, str(error)) from None
    reference: Known = {}
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        fields = line.split()
        if len(fields) != 4:
            problem = f"{count_of(len(fields), 'field')} instead of 4 (query measure mean deviation)"
            raise Quit(BAD_ZSCORES, f"{path}:{number}: malformed line, {problem}: {clip(line)}")
        mean, deviation = (atof(field.decode("latin-1")) for field in fields[2:])
        reference[fields[0], fields[1].decode("latin-1")] = (mean, deviation)
    return reference


def deviations(table: Floats, queries: list[bytes], columns: list[Column], reference: Known) -> Floats:
    """Return the z-scores of the values."""
    out = table.copy()
    for i, query in enumerate(queries):
        for j, column in enumerate(columns):
            out[i, j] = _zscore(float(table[i, j]), *reference.get((query, column.name), (None, 0.0)))
    return out


def _zscore(value: float, mean: float | None, deviation: float) -> float:
    if mean is None:
        return MISSING
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING


OPTIONS = """\
 -q  --query_eval_wanted             also print the values of every query
 -m  --measure NAME[.PARAMETERS]     a measure, or a set: official (the default), all_trec, set, qrels_jg; repeatable
 -c  --complete_rel_info_wanted      average over all judged queries; those that are not in the run count as 0
 -n  --nosummary                     do not print the values over all queries
 -l  --level_for_rel LEVEL           the lowest relevant label; 1 by default
 -J  --Judged_docs_only              drop unjudged documents before evaluation
 -M  --Max_retrieved_per_topic MOST  keep at most this many documents per query, best first
 -N  --Number_docs_in_coll SIZE      number of documents in the collection, for utility
 -Z  --Zscore FILE                   print z-scores; FILE has lines `query measure mean deviation`
 -R  --Rel_info_format FORMAT        format of the qrels: qrels, or qrels_jg with judgment groups
 -T  --Results_format FORMAT         format of the run: trec_results
 -v  --version                       print the version
 -h  --help                          print this text; with -m, describe only these measures
     --compat 9|10                   version of trec_eval; by default that in GRADELY_TREC_EVAL, or 10
"""
ABOUT = {
    "runid": "the tag in the last line of the run",
    "num_q": "the number of queries in means",
    "num_ret": "the number of retrieved documents; over all queries, the sum",
    "num_rel": "the number of relevant documents; over all queries, the sum",
    "num_rel_ret": "the number of relevant documents that are retrieved; over all queries, the sum",
    "map": "average precision, AP in gradely",
    "gm_map": "the geometric mean of average precision, at least 0.00001 per query",
    "Rprec": "precision at R, the number of relevant documents; Rprec in gradely",
    "bpref": "preference of relevant over other judged documents, bpref in gradely",
    "recip_rank": "1 over the rank of the first relevant document, RR in gradely",
    "iprec_at_recall": "interpolated precision at levels of recall, as in iprec_at_recall..10,.20; IPrec in gradely",
    "P": "precision at cut-offs, as in P.5,10",
    "relstring": "the labels of the first documents, as in relstring.10: - not judged, . a negative label, > above 9",
    "recall": "recall at cut-offs, R in gradely",
    "infAP": "average precision inferred from a sample of judgments, infAP in gradely",
    "gm_bpref": "the geometric mean of bpref",
    "Rprec_mult": "precision at multiples of R, as in Rprec_mult.0.5,1",
    "utility": "utility of the retrieved set; utility.a,b,c,d sets its weights; Utility in gradely",
    "11pt_avg": "the mean of interpolated precision over levels of recall, IPrec in gradely",
    "binG": "relevant documents, discounted by the non-relevant ones above; binG in gradely",
    "G": "gains, discounted by the gain missed above; G in gradely; G.1=3,2=9 sets gains of levels",
    "dcg": "discounted cumulative gain, DCG in gradely; dcg.1=3,2=9 sets gains of levels",
    "ideal_dcg": "dcg of the ideal ranking",
    "ndcg": "dcg over ideal_dcg, nDCG in gradely; ndcg.1=3,2=9 sets gains of levels",
    "ndcg_rel": "the mean of ndcg at the ranks of documents with a gain",
    "Rndcg": "the mean of ndcg at the ranks where the ideal gain decreases",
    "ndcg_cut": "ndcg at cut-offs",
    "map_cut": "average precision at cut-offs",
    "relative_P": "precision at cut-offs over the best possible precision, RelativeP in gradely",
    "success": "whether a relevant document is within cut-offs, Success in gradely",
    "set_P": "precision of the retrieved set",
    "set_relative_P": "set_P over the best possible precision",
    "set_recall": "recall of the retrieved set",
    "set_map": "recall times precision of the retrieved set",
    "set_F": "(x+1)·P·R / (R + x·P) of the retrieved set, as in set_F.0.5; F in gradely",
    "num_nonrel_judged_ret": "the number of retrieved documents judged not relevant; over all queries, the sum",
    "map_avgjg": "average precision, the mean over judgment groups; with -R qrels_jg",
    "P_avgjg": "precision at cut-offs, the mean over judgment groups",
    "Rprec_mult_avgjg": "precision at multiples of R, the mean over judgment groups",
    "yaap": "log((1+s) / (1+R-s)), where s is the sum of precision at the R relevant documents",
    "rbp": "rank-biased precision, as in rbp.p=0.8; RBP in gradely; gains as in ndcg, scaled to 0 … 1",
    "rbp_resid": "the increase of rank-biased precision if all unjudged documents were relevant",
    "unj": "the share of unjudged documents at cut-offs, Unjudged in gradely",
}
"""a line about each measure"""


def help_text(options: Options) -> str:
    """Return the help: the options, and a line about each selected measure, or all."""
    names = select_names(options) if options.measures else list(TABLE)
    width = max(map(len, names))
    parts = [
        _wrap([f"Usage: {USAGE_LINE}"], len("Usage: ")),
        _wrap(OPTIONS.splitlines(), OPTIONS.index("also print")),
        _wrap([f" {name:<{width}}  {ABOUT[name]}" for name in names], width + 3),
        "`gradely measures NAME` explains a measure of gradely.\n",
    ]
    return "\n\n".join(parts)


def _wrap(lines: list[str], indent: int) -> str:
    """Return lines wrapped at 80 columns, as the help of other commands is."""
    from textwrap import fill

    return "\n".join(fill(line, 80, subsequent_indent=" " * indent, break_on_hyphens=False) for line in lines)
