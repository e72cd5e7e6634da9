"""Find ids of two collections that look alike, and say how they differ: case, a prefix, passages of documents."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

Plain: TypeAlias = Callable[[str], str]
"""removes a difference from an id"""


def _drop_zero_fraction(name: str) -> str:
    return re.sub(r"\.0+$", "", name)


def _drop_passage(name: str) -> str:
    return re.sub(r"(?<=.)[#@:_-]+(p|passage|chunk)?\d+$", "", name)


def _stem(name: str) -> str:
    return re.sub(r"(?<=.)\.[a-zA-Z]\w{0,4}$", "", name.rstrip("/").rpartition("/")[2])


def _last_number(name: str) -> str:
    """Return the last number of an id; the id itself if that number is short and follows others, as in a UUID."""
    *others, last = re.findall(r"\d+", name) or [name]
    return name if others and len(last) < 3 else last.lstrip("0") or "0"


def _drop_invisible(name: str) -> str:
    return re.sub(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "", name.replace("\xa0", " "))


def _alike(plain: Plain) -> tuple[Plain, Plain]:
    return plain, plain


REASONS: dict[str, tuple[Plain, Plain]] = {
    "blanks around one of them": _alike(str.strip),
    "two Unicode forms of the same text, NFC and NFD": _alike(partial(unicodedata.normalize, "NFC")),
    "invisible characters": _alike(_drop_invisible),
    "upper and lower case": _alike(str.casefold),
    "numbers written as 10.0 and as 10": _alike(_drop_zero_fraction),
    "passages of documents": (_drop_passage, str),
    "passages of documents in the qrels": (str, _drop_passage),
    "a folder, a file extension or the start of a URL": _alike(_stem),
    "a prefix, a suffix or leading zeros": _alike(_last_number),
}
"""ways in which ids of a run and of qrels may differ, with the functions that remove the difference from each"""
OF_QUERIES = {reason: plain for reason, plain in REASONS.items() if {_drop_passage, _stem}.isdisjoint(plain)}
"""reasons for queries: they have no passages and no files, and topic_1 and topic_2 are different queries"""
OF_SOME_QUERIES = {reason: plain for reason, plain in OF_QUERIES.items() if _last_number not in plain}
"""reasons if some queries match exactly: then another query with the same number may well be a different one"""


def find_alike(
    ours: Iterable[str], theirs: Iterable[str], reasons: Mapping[str, tuple[Plain, Plain]] = REASONS
) -> tuple[str, str, str] | None:
    """Return one id of each collection that look alike, and how they differ; None if no two look alike.

    >>> find_alike(["q1"], ["x", "Q1"])
    ('q1', 'Q1', 'upper and lower case')
    """
    ours, theirs = list(ours), list(theirs)
    for reason, (our_plain, their_plain) in reasons.items():
        originals = {their_plain(name): name for name in reversed(theirs)}
        alike = next((name for name in ours if our_plain(name) in originals), None)
        if alike is not None:
            return alike, originals[our_plain(alike)], reason + _hint_pattern(alike, our_plain)
    return None


def _hint_pattern(name: str, plain: Plain) -> str:
    """Return what to type if a name of the run is that of a passage, or ''."""
    end = re.match(r"[#@:_-]+", name[len(plain(name)) :]) if plain is _drop_passage else None
    return f" (document_pattern='^(.*){end[0]}', --document-pattern '^(.*){end[0]}')" if end else ""


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
