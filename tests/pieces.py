"""Pieces of text as the fast reader of TREC text has them, for tests of its parts."""

import re

import numpy as np

from gradely.data.ids import PAD, Ids
from gradely.data.trec.text import Piece, close


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
