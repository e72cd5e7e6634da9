"""trec_eval: from a command line to what it prints."""

from gradely.data import Report
from gradely.data.read.files import ignore
from gradely.threads import cores
from gradely.trec_eval import catalogue, lines, zscores
from gradely.trec_eval import queries as evaluation
from gradely.trec_eval.errors import UNREADABLE, Quit
from gradely.trec_eval.options import Options
from gradely.trec_eval.read import read_judgments, read_ranking, source_of


def trec_eval(options: Options, report: Report = ignore) -> bytes:
    """Return what trec_eval prints with these options; raise Quit where it would end early."""
    columns, threads = catalogue.chosen(options), cores()
    if options.qrels.startswith("-") and options.run.startswith("-"):
        raise Quit(UNREADABLE, "standard input can be read only once: give a file for the judgments or for the run")
    judged = read_judgments(source_of(options.qrels), options.compat, threads)
    judged, ranked = read_ranking(judged, source_of(options.run), options.compat, options.most, threads, report)
    known = zscores.read(options.zscores) if options.zscores else None
    queries = evaluation.chosen(judged, ranked, options)
    qrels, hits = judged.qrels, evaluation.kept(judged.qrels, ranked.hits, queries, options)
    table = evaluation.values(qrels, hits, queries, columns, threads)
    names = [qrels.queries[i].encode(judged.encoding) for i in queries.measured.tolist()]
    if known is not None:
        table = zscores.deviations(table, names, columns, known)
    out: list[bytes] = []
    if options.per_query:
        strings = lines.relstrings(qrels, hits, queries, columns)
        out += lines.of_queries(table, names, columns, strings, zscores=known is not None)
    if options.summary:
        summary = evaluation.summary(table, columns, queries, qrels, options)
        out += lines.of_all(summary, columns, ranked.run_id.encode("latin-1"), zscores=known is not None)
    return b"".join(out)
