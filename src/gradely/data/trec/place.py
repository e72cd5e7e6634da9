"""Where the judged documents of a piece landed."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples
from gradely.data.rule import Rule
from gradely.data.trec.chunks import Odd, Scattered
from gradely.data.trec.match import UNKNOWN, Judgments, new_tokens
from gradely.data.trec.tie_places import places
from gradely.data.trec.tokens import distinct, hashes
from gradely.data.types import Bytes, Floats, Ints, Words


class Rows(Protocol):
    """Lines of a file or rows of a table, as arrays when asked for."""

    @property
    def number(self) -> int:
        """How many pieces were before it."""

    def columns(self) -> Triples:
        """Return query, document and score of each row."""


class Lines(NamedTuple):
    """The lines of a piece. Those of its query number i are first[i] … first[i] + size[i] - 1."""

    text: Bytes
    start: Ints
    """where each document's name begins"""
    stop: Ints
    score: Floats
    key: Words
    """hash of query and document"""
    first: Ints
    size: Ints
    query: Ints
    """index of each query in the judgments, or UNKNOWN"""
    salt: Words
    """hash of each query"""


class Landed(NamedTuple):
    """What is left of a piece: its queries, and its judged documents."""

    query: Ints
    salt: Words
    size: Ints
    unjudged: list[str]
    """names of queries without judgments"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, where ties are broken, place of each judged document"""


def land(judgments: Judgments, piece: Rows, rule: Rule) -> Landed:
    """Return where the judged documents of a piece landed; every query of it must be whole."""
    lines, unjudged = read(judgments, piece, rule)
    if not distinct(lines.salt):
        raise Scattered
    if not distinct(lines.key):
        raise Odd
    lines = _in_order(lines)
    line, row = find(judgments, lines)
    owner = np.searchsorted(lines.first, line, side="right") - 1
    first, last = _run_of_scores(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + places(lines, line, first, last, rule)] if rule.breaks else []
    return Landed(lines.query, lines.salt, lines.size, unjudged, tuple(each.astype(np.int32) for each in hits))


def read(judgments: Judgments, piece: Rows, rule: Rule) -> tuple[Lines, list[str]]:
    """Return the lines of a piece, and the names of its queries that have no judgments."""
    query, document, score = piece.columns()
    first = new_tokens(*query)
    size = np.diff(first, append=len(score))
    query = query.take(first)
    index, salt = judgments.query(*query)
    key = hashes(*document)
    key ^= np.repeat(salt, size)
    names = [query.name(i) for i in np.flatnonzero(index == UNKNOWN).tolist()]
    return Lines(*document, rule.rounded(score), key, first, size, index, salt), names


def find(judgments: Judgments, lines: Lines) -> tuple[Ints, Ints]:
    """Return the lines that are about judged documents, and the rows of the judgments."""
    line, row = judgments.match(lines.query[lines.query != UNKNOWN], lines.key)
    query = lines.query[np.searchsorted(lines.first, line, side="right") - 1]
    confirmed = judgments.confirm(row, query, lines.text, lines.start[line], lines.stop[line])
    return line[confirmed], row[confirmed]


def _in_order(lines: Lines) -> Lines:
    """Return the lines with each query's scores descending; where they tie, as they were."""
    falls = lines.score[1:] <= lines.score[:-1]
    falls[lines.first[1:] - 1] = True
    if falls.all():
        return lines
    order = np.lexsort((-lines.score, np.repeat(np.arange(len(lines.first)), lines.size)))
    start, stop = lines.start[order], lines.stop[order]
    return lines._replace(start=start, stop=stop, score=lines.score[order], key=lines.key[order])


def _run_of_scores(lines: Lines, line: Ints) -> tuple[Ints, Ints]:
    """Return the first line of the tie group that each line is in, and one past the last."""
    score, last = lines.score, len(lines.score) - 1
    alike = (score[np.maximum(line, 1) - 1] == score[line]) & (line > 0)
    alike |= (score[np.minimum(line + 1, last)] == score[line]) & (line < last)
    if not alike.any():
        return line, line + 1
    new = np.empty(len(lines.score) + 1, bool)
    np.not_equal(lines.score[1:], lines.score[:-1], out=new[1:-1])
    new[lines.first] = new[-1] = True
    group = np.flatnonzero(new)
    at = np.searchsorted(group, line, side="right")
    return group[at - 1], group[at]
