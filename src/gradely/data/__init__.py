"""Judgments and runs: reading them from anything, and finding out where the judged documents stand.

    qrels             the judged documents, one flat table for all queries
    locate            finds the judged documents of a run, in memory or in a file
    hits              the judged documents that a run retrieved, and where they stand, put into batches
    tie_breaking      tied documents of a run in memory, in the order that a policy by document has; of a file, see trec
    query_selection   which queries count, and which segment each belongs to
    exclude           documents that are dropped from the rankings first
    virtual_users     a run taken for the judgments of somebody who would rank as it does
    tie_counts        what can be counted of a run without judgments: documents, ties, ranks
    details           what a run holds besides its hits: ties, and the top of each ranking
    score_precision   how the scores of a run were stored, as far as their digits tell
    table             rows of query, document and number that are read some at a time
    table_parts       tables that are taken apart by the numbers of their rows
    columns           columns of ids and numbers, as arrays
    ids               ids of any type as bytes
    engine            runs that stay in their engine: lazy frames of polars, DuckDB, Spark and Ibis
    engine_hits       where the judged documents of such a run stand
    engine_judgments  judgments on their way into an engine
    search            many ranges of an array: their indices, and a binary search in each
    demo              the demo collection
    types             arrays by what they hold, for annotations

Files of every format are read in data/read; TREC text, which is read fast, in data/trec.
"""

from gradely.data.hits import Blocks, Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read.formats import FORMATS, run_name, run_names
from gradely.data.read.readers import Run, open_run, read_qrels, read_run
from gradely.data.read.sources import Report

__all__ = [
    "FORMATS",
    "Blocks",
    "Hits",
    "Qrels",
    "Report",
    "Run",
    "locate",
    "open_run",
    "read_qrels",
    "read_run",
    "run_name",
    "run_names",
]
