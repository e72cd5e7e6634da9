"""Judgments and runs: reading them from anything, and finding out where the judged documents stand."""

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
