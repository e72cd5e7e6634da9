"""Who stands first among tied lines, for the policies that go by document."""

from typing import TYPE_CHECKING

import numpy as np

from gradely.data.rule import Rule
from gradely.data.trec.match import ranges
from gradely.data.trec.tokens import hashes, in_byte_order, shuffle_keys
from gradely.data.types import Ints, Words

if TYPE_CHECKING:
    from gradely.data.trec.place import Lines

FEW = 4
"""up to this many comparisons a tied line, judged documents are compared with all others; beyond it, all are sorted"""


def places(lines: "Lines", line: Ints, first: Ints, last: Ints, rule: Rule) -> Ints:
    """Return how many of the tied lines first … last - 1 stand before each line. Lines ascend, and so do tie groups."""
    if rule.ties == "order":
        return line - first
    out = np.zeros(len(line), np.int64)
    tied = np.flatnonzero(last - first > 1)
    if len(tied):
        out[tied] = _among(lines, line[tied], first[tied], last[tied], rule)
    return out


def _among(lines: "Lines", line: Ints, first: Ints, last: Ints, rule: Rule) -> Ints:
    """Return the place of each line among the lines of its tie group."""
    new = np.flatnonzero(np.diff(first, prepend=-1))
    group, size = first[new], (last - first)[new]
    others = ranges(group, size)
    key = _keys(lines, others, rule)
    offset = np.repeat(np.cumsum(size) - size, np.diff(new, append=len(first)))
    own = offset + line - first
    if int((last - first).sum()) <= FEW * len(others):
        return _by_comparison(key, own, offset, last - first)
    place: Ints = _by_sorting(key, size)[own] - offset
    return place


def _keys(lines: "Lines", line: Ints, rule: Rule) -> list[Words]:
    """Return numbers of some lines, the first one that differs decides, and the lower one stands first."""
    start, stop = lines.start[line], lines.stop[line]
    if rule.ties == "trec":
        return [~word for word in in_byte_order(lines.text, start, stop - start)]
    owner = np.searchsorted(lines.first, line, side="right") - 1
    return [shuffle_keys(rule.seed, lines.salt[owner], hashes(lines.text, start, stop))]


def _by_comparison(key: list[Words], own: Ints, offset: Ints, size: Ints) -> Ints:
    """Compare each line with all of its group."""
    mine, other = np.repeat(own, size), ranges(offset, size)
    before, undecided = np.zeros(len(other), bool), np.ones(len(other), bool)
    for number in key:
        here, there = number[other], number[mine]
        before |= undecided & (here < there)
        undecided &= here == there
    return np.bincount(np.repeat(np.arange(len(own)), size)[before], minlength=len(own))


def _by_sorting(key: list[Words], size: Ints) -> Ints:
    """Return where each line of each group comes when the group is sorted."""
    order = np.lexsort((*reversed(key), np.repeat(np.arange(len(size)), size)))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
