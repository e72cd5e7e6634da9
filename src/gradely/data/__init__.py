"""Qrels and runs: one pipeline, from bytes to the ranks of the judged documents.

    source  ──>  read  ──>  table  ──>  locate  ──>  Hits

The path of a run, step by step, with the file of each step:

    open_run              read/readers   recognises the format of a file (read/formats) or the type of an object, and
                                         returns a Run, whose scores are a Table, a dict of dicts, or LazyScores
    locate, find_hits     locate         find the judged documents of the qrels in the scores of the Run, which are:
      find_in_table       locate         a table, in parts of a few megabytes that hold whole queries:
        Table.map_parts   table, read/   reads the Source; part.columns() is query, document and score of each row
        find_in_part      locate/parts   matches these with the qrels by hash, sorts them by score, and counts ranks
        join_hits         locate/parts   puts the hits of all parts together
      find_in_dicts       locate         a dict of dicts, or a small file, whose lines are read one by one
      LazyScores          engine         a frame in an engine (polars, DuckDB, Spark, Ibis), which counts ranks itself
    Hits                  hits           the number of documents above and tied with each judged document of the run
    Blocks.visit          hits           puts the hits of some queries into a Batch, on which measures are computed

For a large TREC file, map_parts is that of read/trec, with read/trec_pieces for its lines and read/pieces for text; a
small one is read by read/lines. Qrels are opened in the same way: Table.qrels reads a table as a whole into columns,
and Qrels.of takes a dict of dicts. If labels are probabilities, Blocks.visit_uncertain takes the place of visit.

Readers and locate do not import each other; import-linter checks every arrow, inside read and locate, too. Both use
ids, hashing, columns, qrels, uncertain and tie_breaking. Selection, tie_counts and tops build on locate.
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
