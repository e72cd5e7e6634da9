"""Find ids of two collections that look alike, and say how they differ: case, a prefix, passages of documents."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import partial


def _drop_zero_fraction(name: str) -> str:
    return re.sub(r"\.0+$", "", name)


def _drop_passage(name: str) -> str:
    return re.sub(r"(?<=.)[#@:_-]+(p|passage|chunk)?\d+$", "", name)


def _digits(name: str) -> str:
    return re.sub(r"^.*?(\d+)\D*$", lambda match: match[1].lstrip("0") or "0", name, flags=re.DOTALL)


def _drop_invisible(name: str) -> str:
    return re.sub(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "", name.replace("\xa0", " "))


REASONS: dict[str, Callable[[str], str]] = {
    "blanks around one of them": str.strip,
    "two Unicode forms of the same text, NFC and NFD": partial(unicodedata.normalize, "NFC"),
    "invisible characters": _drop_invisible,
    "upper and lower case": str.casefold,
    "numbers written as 10.0 and as 10": _drop_zero_fraction,
    "passages of documents (document_pattern='^(.*)#', --document-pattern '^(.*)#')": _drop_passage,
    "a prefix, a suffix or leading zeros": _digits,
}


OF_QUERIES = {reason: plain for reason, plain in REASONS.items() if plain is not _drop_passage}
"""reasons for queries: they have no passages, and topic_1 and topic_2 are different queries"""
OF_SOME_QUERIES = {reason: plain for reason, plain in OF_QUERIES.items() if plain is not _digits}
"""reasons if some queries match exactly: then another query with the same number may well be a different one"""


def find_alike(
    ours: Iterable[str], theirs: Iterable[str], reasons: Mapping[str, Callable[[str], str]] = REASONS
) -> tuple[str, str, str] | None:
    """Return one id of each collection that look alike, and how they differ; None if no two look alike.

    >>> find_alike(["q1"], ["x", "Q1"])
    ('q1', 'Q1', 'upper and lower case')
    """
    ours, theirs = list(ours), list(theirs)
    for reason, plain in reasons.items():
        originals = {plain(name): name for name in reversed(theirs)}
        alike = next((name for name in ours if plain(name) in originals), None)
        if alike is not None:
            return alike, originals[plain(alike)], reason
    return None


def compare_ids(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, str, str]:
    """Return one id of each collection, two that look alike if there are such, and how they differ.

    >>> compare_ids(["D1.0", "x"], ["y", "d1"])
    ('D1.0', 'y', '; they do not look alike')
    >>> compare_ids(["x", "DOC7"], ["doc7"])
    ('DOC7', 'doc7', '; possible reason: upper and lower case')
    """
    ours, theirs = list(ours), list(theirs)
    alike = find_alike(ours, theirs)
    if alike is None:
        return ours[0], theirs[0], "; they do not look alike"
    return alike[0], alike[1], f"; possible reason: {alike[2]}"
