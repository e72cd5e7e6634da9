"""Judgments and runs: one pipe, from bytes to the places of judged documents.

    source  ──>  read  ──>  table  ──>  locate  ──>  Hits

A Source is bytes: a path, a pipe or standard input, plain or packed. A reader turns a source, a dataframe or a dict
into a Table of queries, documents and numbers, which is read some rows at a time, as columns, with ids as bytes; a dict
of dicts stays one. Locate finds the judged documents of a run, wherever it is held, and what it returns are Hits: how
many documents stand above each one, and how many tie with it. A run that is in an engine (lazy frames of polars,
DuckDB, Spark, Ibis) stays there, and the engine answers the same question.

Readers and locate do not know each other, and import-linter checks each arrow. What all share stands below them: ids,
hashing, columns, qrels, uncertain, tie_breaking. Selection, raters, tie counts and tops stand above.
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
