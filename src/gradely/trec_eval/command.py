"""trec_eval: from a command line to what it prints."""

from gradely.data import Report
from gradely.data.read.sources import ignore
from gradely.threads import cores
from gradely.trec_eval import catalogue, lines, zscores
from gradely.trec_eval import queries as evaluation
from gradely.trec_eval.catalogue import Column
from gradely.trec_eval.options import UNREADABLE, Options, Quit, check_formats
from gradely.trec_eval.read import JudgmentFile, RankingFile, read_judgments, read_ranking, source_of


def trec_eval(options: Options, report: Report = ignore) -> bytes:
    """Return what trec_eval prints with these options; raise Quit where it would end early."""
    columns = _columns(options)
    judged, ranked = _read(options, report)
    reference = zscores.read(options.zscores) if options.zscores is not None else None
    queries = evaluation.select_queries(judged, ranked, columns, options)
    table = evaluation.table_of(judged, ranked.hits, queries, columns, options)
    names = [judged.qrels.queries[i].encode(judged.encoding) for i in queries.measured.tolist()]
    if reference is not None:
        table = zscores.deviations(table, names, columns, reference)
    out: list[bytes] = []
    if options.per_query:
        hits = evaluation.select_hits(judged.qrels, ranked.hits, queries, options)
        strings = lines.relstrings(judged.qrels, hits, queries, columns)
        out += lines.format_queries(table, names, columns, strings, zscores=reference is not None)
    if options.summary:
        summary = evaluation.summary(table, columns, queries, judged, options)
        out += lines.format_summary(summary, columns, ranked.run_id.encode("latin-1"), zscores=reference is not None)
    return b"".join(out)


def _columns(options: Options) -> list[Column]:
    """Return what is to be printed; of several things that are wrong, say that which trec_eval finds first."""
    catalogue.select_names(options)
    check_formats(options)
    try:
        return catalogue.select_columns(options)
    except Quit:
        if options.zscores is not None:
            _read(options, ignore)
            zscores.read(options.zscores)
        raise


def _read(options: Options, report: Report) -> tuple[JudgmentFile, RankingFile]:
    """Return the judgments and where they are in the run."""
    if options.qrels.startswith("-") and options.run.startswith("-"):
        raise Quit(UNREADABLE, "standard input can be read only once: give a file for the judgments or for the run")
    judged = read_judgments(source_of(options.qrels), options, cores())
    return read_ranking(judged, source_of(options.run), options.compat, options.most, cores(), report)
