"""How many documents of a run share their score, and whether the precision of the scores makes them."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gradely.data.read.inputs import Run
from gradely.data.rule import Rule
from gradely.data.tally import in_order, tied_in
from gradely.data.types import Bools, Floats

BITS = {"bfloat16": 8, "half precision": 11, "single precision": 24}
"""how many bits of a score each precision keeps"""
PRINTED = 5e-6
"""scores are often printed with six digits: nearer ones may be the same number"""
SAMPLE = 10_000
"""so many distinct scores tell how all were stored"""


class Tied(NamedTuple):
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


def tied_documents(run: Run, queries: Iterable[str]) -> Tied:
    """Count the tied documents of some queries of a run."""
    tables = [run.scores[query] for query in queries]
    every: Floats = np.concatenate([np.zeros(0), *(np.fromiter(table.values(), np.float64) for table in tables)])
    score, together = in_order(np.repeat(np.arange(len(tables)), [len(table) for table in tables]), every)
    tied, groups = tied_in(score, together)
    return Tied(
        documents=len(every),
        tied=tied,
        groups=groups,
        largest=_largest(score, together),
        single=tied_in(Rule(single=True).rounded(score), together)[0] - tied,
        half=tied_in(_half(score), together)[0] - tied,
        stored=stored_as(every),
    )


def _largest(score: Floats, together: Bools) -> int:
    """Return how many documents the largest tie group has, 0 where nothing ties."""
    ends = np.flatnonzero(np.concatenate([[True], (score[1:] != score[:-1]) | ~together, [True]]))
    size = int(np.diff(ends).max(initial=0))
    return size if size > 1 else 0


def _half(scores: Floats) -> Floats:
    """Half precision ends at 65,504; what lies beyond keeps eleven bits all the same."""
    return _rounded(scores, BITS["half precision"])


def _rounded(scores: Floats, bits: int) -> Floats:
    mantissa, exponent = np.frexp(scores)
    kept: Floats = np.ldexp(np.rint(mantissa * 2**bits), exponent - bits)
    return kept


def stored_as(scores: Floats) -> str:
    """Return the least that holds all scores, as far as their digits tell.

    >>> stored_as(np.asarray([0.1, 0.7, 12.3]).astype(np.float16).astype(float))
    'half precision'
    >>> [stored_as(np.asarray(each)) for each in ([3.0, 1.0], [0.25, 0.5], [0.1234567, 1 / 3])]
    ['whole numbers', '2 decimals', 'double precision']
    """
    some = np.unique(scores)[:: max(1, len(scores) // SAMPLE)]
    decimals = next((n for n in range(7) if np.array_equal(np.round(some, n), some)), 7)
    if decimals == 0:
        return "whole numbers"
    if _printed_half(some, decimals):
        return "half precision"
    precision = "" if decimals <= 3 else _precision(some)
    return precision or (f"{decimals} decimal{'s' * (decimals > 1)}" if decimals < 7 else "double precision")


def _printed_half(scores: Floats, decimals: int) -> bool:
    """Return whether these are the shortest texts of half-precision numbers, where those are coarser than decimals."""
    largest = np.abs(scores).max()
    if largest >= 65504 or np.spacing(np.float16(largest)) < 10.0**-decimals:
        return False
    printed = [float(str(score)) for score in scores.astype(np.float16)]
    return printed == list(scores)


def _precision(scores: Floats) -> str:
    """Return the least precision that holds all scores but for the digits that were not printed; or nothing."""
    for name, bits in BITS.items():
        near = PRINTED if bits < 24 else 0.0
        if np.all(np.abs(_rounded(scores, bits) - scores) <= near * np.abs(scores)):
            return name
    return ""
