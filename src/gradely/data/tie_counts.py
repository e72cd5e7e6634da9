"""Counts of a run without judgments: documents, ties, and ranks that contradict the scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.ids import Bools, Floats
from gradely.data.qrels import values_of
from gradely.data.table import Run, Scores
from gradely.errors import clip
from gradely.settings import Settings

BITS = {"bfloat16": 8, "half precision": 11, "single precision": 24}
"""number of bits of a score that each precision keeps"""
SAMPLE = 10_000
"""number of distinct scores from which the precision of all is inferred"""


def to_half(scores: Floats) -> Floats:
    """Return scores rounded to half precision; larger numbers than its range (65,504) also keep eleven bits."""
    return _round(scores, BITS["half precision"])


def _round(scores: Floats, bits: int) -> Floats:
    mantissa, exponent = np.frexp(scores)
    with np.errstate(over="ignore"):  # rounding up the largest number gives infinity
        rounded: Floats = np.ldexp(np.rint(mantissa * 2**bits), exponent - bits)
    return rounded


def sample_scores(scores: Floats) -> Floats:
    """Return distinct scores; of very many, those with the smallest hashes, however the run is split."""
    distinct = np.unique(scores + 0.0)
    if len(distinct) <= SAMPLE:
        return distinct
    key = distinct.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    key ^= key >> np.uint64(32)
    smallest = np.argpartition(key * np.uint64(0x9E3779B97F4A7C15), SAMPLE)[:SAMPLE]
    sample: Floats = distinct[np.sort(smallest)]
    return sample


def stored_as(scores: Floats) -> str:
    """Return the lowest precision that holds all scores, judged by their digits.

    >>> stored_as(np.asarray([0.1, 0.7, 12.3]).astype(np.float16).astype(float))
    'half precision'
    >>> [stored_as(np.asarray(scores)) for scores in ([3.0, 1.0], [0.25, 0.5], [0.1234567, 1 / 3])]
    ['whole numbers', '2 decimals', 'double precision']
    """
    sample = sample_scores(scores)
    fractions = sample[np.abs(sample) < 2.0**52]  # larger numbers are whole
    decimals = next((n for n in range(7) if np.array_equal(np.round(fractions, n), fractions)), 7)
    if decimals == 0:
        return "whole numbers"
    if _printed_half(sample, decimals):
        return "half precision"
    precision = "" if decimals <= 3 else _precision(sample)
    return precision or (f"{decimals} decimal{'s' * (decimals > 1)}" if decimals < 7 else "double precision")


def _printed_half(scores: Floats, decimals: int) -> bool:
    """True if these are the shortest texts of half-precision numbers that are coarser than the decimals."""
    largest = np.abs(scores).max()
    if largest >= 65504 or np.spacing(np.float16(largest)) < 10.0**-decimals:
        return False
    printed = [float(str(score)) for score in scores.astype(np.float16)]
    return printed == list(scores)


def _precision(scores: Floats) -> str:
    """Return the lowest precision that holds all scores except for digits that were not printed; or ''."""
    for name, bits in BITS.items():
        near = 5e-6 if bits < 24 else 0.0  # scores are often printed with six digits
        if np.all(np.abs(_round(scores, bits) - scores) <= near * np.abs(scores)):
            return name
    return ""


Numbers = npt.NDArray[np.integer]
SINGLE = Settings(precision="single")


class RunCounts(NamedTuple):
    """Counts of a run, or of a part of it."""

    documents: int
    tied: int
    """number of documents that share their score with another"""
    groups: int
    """number of tie groups that they form"""
    single: int
    """number of documents that tie only if scores are rounded to single precision"""
    against: list[str]
    """queries whose rank column contradicts the scores"""


class TieCounts(NamedTuple):
    """Documents that share their score with another of the same query, and the groups that they form."""

    documents: int
    tied: int
    groups: int
    largest: int
    """number of documents of the largest group"""
    single: int
    """number of additional documents that would tie if scores were rounded to single precision"""
    half: int
    """number of additional documents that would tie if scores were rounded to half precision"""
    stored: str
    """lowest precision that holds all scores: whole numbers, n decimals, bfloat16, half, single or double precision"""

    @property
    def share(self) -> float:
        """The share of documents that are tied."""
        return self.tied / max(self.documents, 1)


def count_run(scores: Scores, ranks: Mapping[str, Sequence[float]]) -> RunCounts:
    """Return the counts of a run in memory; `ranks` is its rank column, if any, in the order of the scores."""
    names, tables = list(scores), list(scores.values())
    query = np.repeat(np.arange(len(names)), np.array([len(table) for table in tables], np.int64))
    score = values_of(tables, lambda i, doc: f"query {clip(names[i])}, document {clip(doc)}: the score")
    rank = np.concatenate([ranks.get(name) or np.full(len(scores[name]), np.nan) for name in names])
    return count_lines(query, score, rank, names.__getitem__)


def count_lines(query: Numbers, score: Floats, rank: Floats, name: Callable[[int], str]) -> RunCounts:
    """Return the counts of whole queries, which are given by number, line by line; a rank of NaN is missing."""
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
    every = values_of(tables, lambda i, doc: f"{run.where}: query {clip(names[i])}, document {clip(doc)}: the score")
    score, together = _sort_scores(np.repeat(np.arange(len(tables)), [len(table) for table in tables]), every)
    return add_ties([count_tied_part(score, together)])


class TiedPart(NamedTuple):
    """The ties of whole queries of a run, as far as they can be added up, and a sample of the scores."""

    documents: int
    tied: int
    groups: int
    largest: int
    single: int
    half: int
    sample: Floats


def count_tied_part(score: Floats, together: Bools) -> TiedPart:
    """Count the ties of some queries; scores are grouped by query, best first, and `together` joins equal queries."""
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
    """Return the scores grouped by query, best first, and flags of those followed by one of the same query."""
    order = np.lexsort((-score, query))
    return score[order], query[order][1:] == query[order][:-1]


def _count_tied(score: Floats, together: Bools) -> tuple[int, int]:
    """Return the number of documents that share their score, and of the groups that they form, from sorted scores."""
    same = (score[1:] == score[:-1]) & together
    shared = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    count = int(np.count_nonzero(shared))
    return count, count - int(np.count_nonzero(same))


def _largest(score: Floats, together: Bools) -> int:
    """Return the number of documents of the largest tie group, 0 if nothing ties."""
    ends = np.flatnonzero(np.concatenate([[True], (score[1:] != score[:-1]) | ~together, [True]]))
    size = int(np.diff(ends).max())
    return size if size > 1 else 0


def _find_rank_conflicts(query: Numbers, score: Floats, rank: Floats) -> Numbers:
    """Return the queries in which a higher score has a later rank; equal ranks may be in any order."""
    order = np.lexsort((-score, rank, query))
    query, score = query[order], score[order]
    return np.unique(query[1:][(score[1:] > score[:-1]) & (query[1:] == query[:-1])])
