"""Pieces of text as the fast reader of TREC text has them, for tests of its parts."""

import re

import numpy as np

from gradely.data.ids import PAD, Ids
from gradely.data.locate import find_in_table
from gradely.data.read.text import Piece, close
from gradely.data.read.trec import TrecTable
from gradely.data.run import Run
from gradely.data.table import Table


def piece_of(content):
    """Return a piece of some content, with newlines around it."""
    text = np.frombuffer(b"\n" * PAD + content + b"\n" * PAD, np.uint8).copy()
    return Piece(text, PAD, close(text, PAD + len(content)), 0)


def words_in(piece):
    """Return where the words of a piece begin and end."""
    places = [match.span() for match in re.finditer(rb"\S+", piece.text.tobytes())]
    start, stop = np.array(places, np.int64).reshape(-1, 2).T
    return start.copy(), stop.copy()


def ids_of(words):
    """Return words as ids, with a blank between them."""
    piece = piece_of(" ".join(words).encode())
    return Ids(piece.text, *words_in(piece))


def plain_run(source):
    """Return a run that is read line by line."""
    return Run(TrecTable(source, "score").plain(), source.name)


def stream_run(qrels, source, settings, threads, report, observe=None):
    """Return the hits of a run that is read in pieces."""
    return find_in_table(qrels, TrecTable(source, "score"), settings, threads, report, observe)


class GivenTable(Table):
    """A table whose parts are given by a function (work, report, whole_queries)."""

    def __init__(self, name, over_parts):
        """Take what errors call it, and the function."""
        super().__init__(name, "score")
        self.over_parts = over_parts

    def map_parts(self, work, threads, report, *, whole_queries):  # noqa: ARG002 - none are used
        """Run a function over all parts."""
        return self.over_parts(work, report, whole_queries=whole_queries)


def stream(qrels, name, over_parts, settings, report):
    """Return the hits of a run whose parts are given by a function."""
    return find_in_table(qrels, GivenTable(name, over_parts), settings, 1, report)
