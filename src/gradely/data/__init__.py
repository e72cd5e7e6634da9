"""Judgments and runs: reading them from anything, and finding out where the judged documents landed."""

from gradely.data.blocks import Blocks
from gradely.data.hits import Hits
from gradely.data.locate import locate
from gradely.data.qrels import Qrels
from gradely.data.read import FORMATS, Run, open_run, read_qrels, read_run, run_name, run_names
from gradely.data.rule import Rule
from gradely.data.source import Report

__all__ = [
    "FORMATS",
    "Blocks",
    "Hits",
    "Qrels",
    "Report",
    "Rule",
    "Run",
    "locate",
    "open_run",
    "read_qrels",
    "read_run",
    "run_name",
    "run_names",
]
