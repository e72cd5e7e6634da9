"""Judgments and runs: reading them from anything, and finding out where the judged documents stand.

    qrels             the judged documents, one flat table for all queries
    locate            finds the judged documents of a run, in memory or in a file
    hits              the judged documents that a run retrieved, and where they stand, put into batches
    tie_counts        what can be counted of a run without judgments: documents, ties, ranks
    table             rows of query, document and number that are read some at a time
    columns           columns of ids and numbers, as arrays
    ids               ids of any type as bytes
    engine            runs that stay in their engine: lazy frames of polars, DuckDB, Spark and Ibis
    demo              the demo collection
    hashing  hashes of tokens, 64 bits each, with array operations
    selection  selection: which queries count, which documents are dropped first, and which segment each query belongs

Files of every format are read in data/read; TREC text, which is read fast, in data/trec.
"""

from gradely.data.hits import Blocks, Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read.formats import FORMATS, run_name, run_names
from gradely.data.read.readers import open_run, read_qrels, read_run
from gradely.data.run import Run
from gradely.data.source import Report

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
