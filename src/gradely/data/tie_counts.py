"""What can be counted of a run without judgments: its documents, its ties, ranks that contradict the scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.read.dicts import flat
from gradely.data.read.readers import Run, Scores
from gradely.data.read.sources import clip
from gradely.data.score_precision import sample_scores, stored_as, to_half
from gradely.data.types import Bools, Floats
from gradely.settings import Settings

Numbers = npt.NDArray[np.integer]
SINGLE = Settings(precision="single")


class RunCounts(NamedTuple):
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


class TieCounts(NamedTuple):
    """Documents that share their score with another of the same query, and the groups that they form."""

    documents: int
    tied: int
    groups: int
    largest: int
    """how many documents the largest group has"""
    single: int
    """how many more documents would tie if scores were rounded to single precision"""
    half: int
    """how many more would if they were rounded to half precision"""
    stored: str
    """the least that holds all scores: whole numbers, some decimals, bfloat16, half, single or double precision"""

    @property
    def share(self) -> float:
        """The share of documents that are tied."""
        return self.tied / max(self.documents, 1)


def count_run(scores: Scores, ranks: Mapping[str, Sequence[float]]) -> RunCounts:
    """Return the counts of a run in memory; its rank column, where it has one, in the order of the scores."""
    names, tables = list(scores), list(scores.values())
    query = np.repeat(np.arange(len(names)), np.array([len(table) for table in tables], np.int64))
    score = flat(tables, lambda i, doc: f"query {clip(names[i])}, document {clip(doc)}: the score")
    rank = np.concatenate([ranks.get(name) or np.full(len(scores[name]), np.nan) for name in names])
    return count_lines(query, score, rank, names.__getitem__)


def count_lines(query: Numbers, score: Floats, rank: Floats, name: Callable[[int], str]) -> RunCounts:
    """Return the counts of whole queries, given by number, line by line; a rank of NaN is none."""
    ordered, together = _sort_scores(query, score)
    tied, groups = _count_tied(ordered, together)
    single, _ = _count_tied(SINGLE.round(ordered), together)
    ranked = ~np.isnan(rank)
    against = _find_rank_conflicts(query[ranked], score[ranked], rank[ranked])
    return RunCounts(len(score), tied, groups, single - tied, [name(i) for i in against.tolist()])


def add_counts(parts: list[RunCounts]) -> RunCounts:
    """Return the counts of all parts of a run together."""
    documents, tied, groups, single = (sum(column) for column in list(zip(*(part[:4] for part in parts), strict=True)))
    return RunCounts(documents, tied, groups, single, [name for part in parts for name in part.against])


def count_ties(run: Run, queries: Iterable[str]) -> TieCounts:
    """Count the tied documents of some queries of a run."""
    names = list(queries)
    tables = [run.scores[query] for query in names]
    every = flat(tables, lambda i, doc: f"{run.name}: query {clip(names[i])}, document {clip(doc)}: the score")
    score, together = _sort_scores(np.repeat(np.arange(len(tables)), [len(table) for table in tables]), every)
    return add_ties([count_tied_part(score, together)])


class TiedPart(NamedTuple):
    """The ties of whole queries of a run, as far as they add up, and a sample of the scores."""

    documents: int
    tied: int
    groups: int
    largest: int
    single: int
    half: int
    sample: Floats


def count_tied_part(score: Floats, together: Bools) -> TiedPart:
    """Count the ties of some queries: scores query by query, best first, and where the next is of the same query."""
    tied, groups = _count_tied(score, together)
    single, half = (_count_tied(rounded, together)[0] - tied for rounded in (SINGLE.round(score), to_half(score)))
    return TiedPart(len(score), tied, groups, _largest(score, together), single, half, sample_scores(score))


def add_ties(parts: Sequence[TiedPart]) -> TieCounts:
    """Return the ties of all parts of a run together."""
    return TieCounts(
        documents=sum(part.documents for part in parts),
        tied=sum(part.tied for part in parts),
        groups=sum(part.groups for part in parts),
        largest=max((part.largest for part in parts), default=0),
        single=sum(part.single for part in parts),
        half=sum(part.half for part in parts),
        stored=stored_as(np.concatenate([np.zeros(0), *(part.sample for part in parts)])),
    )


def _sort_scores(query: Numbers, score: Floats) -> tuple[Floats, Bools]:
    """Return the scores query by query, best first, and where the next one is of the same query."""
    order = np.lexsort((-score, query))
    return score[order], query[order][1:] == query[order][:-1]


def _count_tied(score: Floats, together: Bools) -> tuple[int, int]:
    """Return how many documents share their score, and how many groups they form, from scores in order."""
    same = (score[1:] == score[:-1]) & together
    shared = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    count = int(np.count_nonzero(shared))
    return count, count - int(np.count_nonzero(same))


def _largest(score: Floats, together: Bools) -> int:
    """Return how many documents the largest tie group has, 0 where nothing ties."""
    ends = np.flatnonzero(np.concatenate([[True], (score[1:] != score[:-1]) | ~together, [True]]))
    size = int(np.diff(ends).max(initial=0))
    return size if size > 1 else 0


def _find_rank_conflicts(query: Numbers, score: Floats, rank: Floats) -> Numbers:
    """Return the queries in which a higher score stands at a later rank; equal ranks may be in any order."""
    order = np.lexsort((-score, rank, query))
    query, score = query[order], score[order]
    return np.unique(query[1:][(score[1:] > score[:-1]) & (query[1:] == query[:-1])])
