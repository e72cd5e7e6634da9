"""What can be counted of a run without judgments: its documents, its ties, ranks that contradict the scores."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.read.files import clip
from gradely.data.read.inputs import Scores
from gradely.data.rule import Rule
from gradely.data.types import Bools, Floats
from gradely.data.values import flat

Numbers = npt.NDArray[np.integer]


class Tally(NamedTuple):
    """Counts of a run, or of a part of it."""

    documents: int
    tied: int
    """documents that share their score with another"""
    groups: int
    """how many tie groups they are in"""
    single: int
    """documents that tie only once scores are rounded to single precision"""
    against: list[str]
    """queries whose rank column contradicts the scores"""


def tally_run(scores: Scores, ranks: Mapping[str, Sequence[float]]) -> Tally:
    """Return the counts of a run in memory; its rank column, where it has one, in the order of the scores."""
    names, tables = list(scores), list(scores.values())
    query = np.repeat(np.arange(len(names)), np.array([len(table) for table in tables], np.int64))
    score = flat(tables, lambda i, doc: f"query {clip(names[i])}, document {clip(doc)}: the score")
    rank = np.concatenate([ranks.get(name) or np.full(len(scores[name]), np.nan) for name in names])
    return tally(query, score, rank, names.__getitem__)


def tally(query: Numbers, score: Floats, rank: Floats, name: Callable[[int], str]) -> Tally:
    """Return the counts of whole queries, given by number, line by line; a rank of NaN is none."""
    ordered, together = in_order(query, score)
    tied, groups = tied_in(ordered, together)
    single, _ = tied_in(Rule(single=True).rounded(ordered), together)
    ranked = ~np.isnan(rank)
    against = _against(query[ranked], score[ranked], rank[ranked])
    return Tally(len(score), tied, groups, single - tied, [name(i) for i in against.tolist()])


def in_order(query: Numbers, score: Floats) -> tuple[Floats, Bools]:
    """Return the scores query by query, best first, and where the next one is of the same query."""
    order = np.lexsort((-score, query))
    return score[order], query[order][1:] == query[order][:-1]


def tied_in(score: Floats, together: Bools) -> tuple[int, int]:
    """Return how many documents share their score, and how many groups they form, from scores in order."""
    same = (score[1:] == score[:-1]) & together
    shared = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    count = int(np.count_nonzero(shared))
    return count, count - int(np.count_nonzero(same))


def _against(query: Numbers, score: Floats, rank: Floats) -> Numbers:
    """Return the queries in which a higher score stands at a later rank; equal ranks may be in any order."""
    order = np.lexsort((-score, rank, query))
    query, score = query[order], score[order]
    return np.unique(query[1:][(score[1:] > score[:-1]) & (query[1:] == query[:-1])])


def total(parts: list[Tally]) -> Tally:
    """Return the counts of all parts of a run together."""
    documents, tied, groups, single = (sum(column) for column in list(zip(*(part[:4] for part in parts), strict=True)))
    return Tally(documents, tied, groups, single, [name for part in parts for name in part.against])
