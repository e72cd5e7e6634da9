"""Judgments and runs: reading them from anything, and finding out where the judged documents stand."""

from gradely.data.batches import Blocks
from gradely.data.exclude import locate_selected
from gradely.data.hits import Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read.files import Report
from gradely.data.read.inputs import FORMATS, Run, open_run, read_qrels, read_run, run_name, run_names

__all__ = [
    "FORMATS",
    "Blocks",
    "Hits",
    "Qrels",
    "Report",
    "Run",
    "locate",
    "locate_selected",
    "open_run",
    "read_qrels",
    "read_run",
    "run_name",
    "run_names",
]
