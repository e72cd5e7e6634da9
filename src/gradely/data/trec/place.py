"""Where the judged documents of a piece landed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.rule import Rule
from gradely.data.trec.chunks import Odd, Piece, Scattered
from gradely.data.trec.decimals import numbers
from gradely.data.trec.fields import fields
from gradely.data.trec.match import UNKNOWN, Judgments, new_tokens
from gradely.data.trec.plain import RUN
from gradely.data.trec.tie_places import places
from gradely.data.trec.tokens import distinct, hashes
from gradely.data.types import Bytes, Floats, Ints, Words

QUERY, DOC, SCORE = 0, 2, 4
"""the fields of a run that matter"""


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


def land(judgments: Judgments, piece: Piece, rule: Rule) -> Landed:
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


def read(judgments: Judgments, piece: Piece, rule: Rule) -> tuple[Lines, list[str]]:
    """Return the lines of a piece, and the names of its queries that have no judgments."""
    text = piece.text
    (start, stop), (doc, doc_stop), score = fields(piece, RUN.width, (QUERY, DOC, SCORE))
    first = new_tokens(text, start, stop)
    size = np.diff(first, append=len(start))
    start, stop = start[first], stop[first]
    query, salt = judgments.query(text, start, stop)
    key = hashes(text, doc, doc_stop)
    key ^= np.repeat(salt, size)
    value = rule.rounded(numbers(piece, *score))
    unknown = np.flatnonzero(query == UNKNOWN).tolist()
    names = [piece.text[start[i] : stop[i]].tobytes().decode() for i in unknown]
    return Lines(text, doc, doc_stop, value, key, first, size, query, salt), names


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
