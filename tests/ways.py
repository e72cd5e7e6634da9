"""The ways to read TREC text, for tests that want a certain one: all the sizes that choose among them, in one place.

A file of a few kilobytes is read line by line. A larger one is read in pieces, on threads or in worker processes, in
one pass where the lines of a query are together and in two where they are not. Each of these ways begins at some size;
tests set the sizes, so that files of a few lines go every way.
"""

from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pytest

from gradely.data import survey
from gradely.data.read import trec_pieces
from gradely.data.source import Source
from gradely.data.table import IrregularText

SIZES = {
    "small": ["source.SMALL"],  # bytes of a file that is read line by line
    "piece": ["read.pieces.PIECE", "read.trec_pieces.PIECE"],
    "longest": ["read.pieces.LONGEST", "read.trec_pieces.LONGEST"],  # bytes of the longest piece
    "part": ["read.trec_pieces.READ_AT_ONCE"],  # bytes of judgments that a thread reads in one go
    "unthreaded": ["read.pieces.SMALL"],  # bytes of a run that is read on one thread
    "large": ["read.trec_pieces.LARGE"],  # bytes from which on processes read a run
    "range": ["read.trec_pieces.RANGE"],  # bytes of a run that a process reads at a time
    "block": ["read.trec_pieces.BLOCK"],  # bytes in which the next query is looked for at a time
    "most_ranges": ["read.trec_pieces.MOST_TASKS"],
    "in_memory": [
        "spool.IN_MEMORY",
        "spool.NAMES_IN_MEMORY",
    ],  # lines before a temporary file is used
    "chance": ["locate.scattered.CHANCE"],  # hashes that lines of a scattered run may share
    "many": ["locate.parts.MANY"],  # judgments per line from which on lines are searched for
    "few": ["tie_breaking.FEW"],  # comparisons per tied line up to which all pairs are compared
}
"""what each size is called here, and where it is"""


@contextmanager
def patched(**sizes):
    """Set some sizes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            for place in SIZES[name]:
                module, _, constant = place.rpartition(".")
                patch.setattr(import_module(f"gradely.data.{module}"), constant, size)
        yield patch


@contextmanager
def plain():
    """Read line by line, however large a file is."""

    def refuse(*_):
        raise IrregularText

    with patched(small=1 << 60) as patch:
        patch.setattr(survey, "survey", refuse)
        yield


@contextmanager
def weak_hashes():
    """Let hashes take eight values only, so that nearly everything collides; random ties are broken by them, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradely.data.hashing.SECOND_FACTOR", np.uint64(1 << 61))
        yield


@contextmanager
def fast(*, explained=False, processes=0, **sizes):
    """Read in pieces, however small a file is; it is an error to ask the plain reader, unless errors are explained.

    The work of `processes` is done in this one, where a debugger or a counter of lines sees it, from the last range to
    the first; given 0, threads do it.
    """
    with patched(small=-1, unthreaded=0, large=0 if processes else 1 << 60, **sizes) as patch:
        if not explained:
            patch.setattr(Source, "lines", refuse_plain)
        if processes:
            patch.setattr(trec_pieces, "cores", lambda: processes)
            patch.setattr(trec_pieces, "workers", lambda threads: processes)
            patch.setattr(trec_pieces, "in_processes", in_turn)
        yield


def refuse_plain(*_):
    raise AssertionError("the plain reader was asked")


def in_turn(work, tasks, workers):
    return ((number, work(number)) for number in reversed(range(tasks)))
