"""How the scores of a run were stored, as far as their digits tell."""

import numpy as np

from gradely.data.types import Floats

BITS = {"bfloat16": 8, "half precision": 11, "single precision": 24}
"""how many bits of a score each precision keeps"""
PRINTED = 5e-6
"""scores are often printed with six digits: nearer ones may be the same number"""
SAMPLE = 10_000
"""so many distinct scores tell how all were stored"""


def to_half(scores: Floats) -> Floats:
    """Round to half precision; numbers beyond 65,504, where it ends, keep eleven bits all the same."""
    return _round(scores, BITS["half precision"])


def _round(scores: Floats, bits: int) -> Floats:
    mantissa, exponent = np.frexp(scores)
    with np.errstate(over="ignore"):  # what is rounded up from the largest number is infinite
        rounded: Floats = np.ldexp(np.rint(mantissa * 2**bits), exponent - bits)
    return rounded


def sample_scores(scores: Floats) -> Floats:
    """Return distinct scores, of very many those with the smallest hashes, which are the same however a run is cut."""
    distinct = np.unique(scores + 0.0)
    if len(distinct) <= SAMPLE:
        return distinct
    key = distinct.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    key ^= key >> np.uint64(32)
    smallest = np.argpartition(key * np.uint64(0x9E3779B97F4A7C15), SAMPLE)[:SAMPLE]
    sample: Floats = distinct[np.sort(smallest)]
    return sample


def stored_as(scores: Floats) -> str:
    """Return the least that holds all scores, as far as their digits tell.

    >>> stored_as(np.asarray([0.1, 0.7, 12.3]).astype(np.float16).astype(float))
    'half precision'
    >>> [stored_as(np.asarray(scores)) for scores in ([3.0, 1.0], [0.25, 0.5], [0.1234567, 1 / 3])]
    ['whole numbers', '2 decimals', 'double precision']
    """
    sample = sample_scores(scores)
    if not len(sample):
        return "whole numbers"
    fractions = sample[np.abs(sample) < 2.0**52]  # larger numbers are whole
    decimals = next((n for n in range(7) if np.array_equal(np.round(fractions, n), fractions)), 7)
    if decimals == 0:
        return "whole numbers"
    if _printed_half(sample, decimals):
        return "half precision"
    precision = "" if decimals <= 3 else _precision(sample)
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
        if np.all(np.abs(_round(scores, bits) - scores) <= near * np.abs(scores)):
            return name
    return ""
