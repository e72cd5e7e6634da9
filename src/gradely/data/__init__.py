"""Qrels and runs: one pipeline, from bytes to the ranks of the judged documents.

    source  ──>  read  ──>  table  ──>  locate  ──>  Hits

The path of a run, with the function or method that makes each step:

    open_run         read/readers    chooses a reader by the format of a file or the type of an object
    Source.stream    source          the bytes of a path, a pipe or standard input, decompressed
    Table.map_parts  table, read/    parts of a few megabytes; part.columns() is query, document and score of each row
    locate           locate          takes the qrels and the run, and chooses how to find the hits:
      find_in_part  locate/parts     matches the rows of a part with the qrels by hash, sorts them and counts ranks
      find_in_dicts  locate          looks up the judged documents of {query: {document: score}}, or of a small file
      LazyScores.find_hits  engine   lets the engine of a lazy frame (polars, DuckDB, Spark, Ibis) compute the ranks
    Hits             hits            the number of documents above and tied with each judged document of the run
    Blocks.visit     hits            puts the hits of some queries into a Batch, on which the measures are computed

Qrels take the same path up to the table, and Table.qrels returns them as columns.

Readers and locate do not import each other; import-linter checks every arrow. Both use ids, hashing, columns, qrels,
uncertain and tie_breaking. Selection, raters, tie_counts and tops build on locate.
"""

from gradely.data.hits import Blocks, Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read.formats import FORMATS, run_name, run_names
from gradely.data.read.readers import open_run, read_qrels, read_run
from gradely.data.source import Report
from gradely.data.table import Run

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
