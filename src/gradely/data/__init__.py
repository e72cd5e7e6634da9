"""Judgments and runs: reading them from anything, and finding out where the judged documents landed."""

from gradely.data.align import align
from gradely.data.blocks import blocks
from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read import FORMATS, Run, read_qrels, read_run, run_name

__all__ = ["FORMATS", "Hits", "Qrels", "Run", "align", "blocks", "read_qrels", "read_run", "run_name"]
