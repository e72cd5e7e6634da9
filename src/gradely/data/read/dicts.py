"""Dicts of dicts as people hold them: ids of any type become text, rankings without scores get some."""

from collections.abc import Callable, Iterable, Mapping, Reversible, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from math import isfinite
from operator import methodcaller
from typing import Any

import numpy as np

from gradely.data.ids import Floats, as_text
from gradely.data.read.sources import clip
from gradely.errors import DataError

AS_BYTES = methodcaller("encode", errors="surrogatepass")
MAPPING = (dict, Mapping)
"""what is mostly a dict, which is sooner asked"""
LOOKUP = 8
"""ids whose types are seen sooner than one missing id is looked up in other forms; measured: 13"""


def as_labels(labels_by_query: Mapping[Any, Any], name: str) -> dict[str, Mapping[str, float]]:
    """Return {query: {document: label}}; a plain list or set of documents means label 1 for each."""
    labels = _by_query(labels_by_query, name, lambda query, docs: dict.fromkeys(_distinct(docs, name, query), 1.0))
    labels.update((query, _all_texts(docs, name, query)) for query, docs in labels.items())
    return labels


def as_scores(rankings: Mapping[Any, Any], name: str) -> dict[str, Mapping[str, float]]:
    """Return {query: {document: score}}; a list is a ranking, best first, of documents or of (document, score)."""
    return _by_query(rankings, name, lambda query, ranking: _rank(ranking, name, query))


class WholeKeys(dict[str, Mapping[str, float]]):
    """{query: {document: number}} whose queries were whole numbers."""


def _by_query(values: Mapping[Any, Any], name: str, plain: Any) -> dict[str, Mapping[str, float]]:
    out: dict[str, Mapping[str, float]] = WholeKeys() if {*map(type, values)} <= {int} else {}
    for query, docs in values.items():
        key = as_text(query, name)
        if key in out:
            raise DataError(f"{name}: query {clip(key)} is there twice, as different types; ids are compared as text")
        out[key] = _texts(docs, name, key) if isinstance(docs, MAPPING) else plain(key, _check_list(docs, name, key))
    if not out:
        raise DataError(f"{name}: no queries")
    return out


def _texts(docs: Mapping[Any, float], name: str, query: str) -> Mapping[str, float]:
    """Return the same mapping where ids look like text, by the first and the last; else one with ids as text."""
    if isinstance(docs, (dict, Reversible)) and isinstance(next(iter(docs), ""), str):
        last = next(reversed(docs), "")
        return docs if isinstance(last, str) else rename_docs(docs, name, query)
    return rename_docs(docs, name, query)


def _all_texts(docs: Mapping[Any, float], name: str, query: str) -> Mapping[str, float]:
    """Return the same mapping where all ids are text, else one with ids as text."""
    return docs if all(issubclass(kind, str) for kind in set(map(type, docs))) else rename_docs(docs, name, query)


def rename_docs(docs: Mapping[Any, float], name: str, query: str) -> dict[str, float]:
    """Return a mapping with ids as text."""
    out = {as_text(doc, name): value for doc, value in docs.items()}
    if len(out) < len(docs):
        raise DataError(
            f"{name}: query {clip(query)} has a document twice, as different types; ids are compared as text"
        )
    return out


def are_disguised(docs: Mapping[Any, float], missing: list[str]) -> bool:
    """True where one of some documents that are not among text ids is there after all, as a number or as bytes."""
    if len(docs) < LOOKUP * len(missing) and {*map(type, docs)} == {str}:
        return False
    if any(map(docs.__contains__, map(AS_BYTES, missing))):
        return True
    return any(_is_number_of(docs, doc) for doc in missing if doc[:1].isdigit() or doc[:1] == "-")


def _is_number_of(docs: Mapping[Any, float], name: str) -> bool:
    try:
        return float(name) in docs
    except ValueError:
        return False


def _check_list(docs: Any, name: str, query: str) -> Sequence[Any] | AbstractSet[Any]:
    if isinstance(docs, str | bytes) or not isinstance(docs, Iterable):
        raise DataError(
            f"{name}: query {clip(query)}: expected {{document: number}} or a list of documents, "
            f"found {clip(repr(docs))}"
        )
    return docs if isinstance(docs, AbstractSet) else list(docs)


def _rank(ranking: Sequence[Any] | AbstractSet[Any], name: str, query: str) -> dict[str, float]:
    if isinstance(ranking, AbstractSet):
        raise DataError(f"{name}: query {clip(query)}: a set has no order; give a list, or {{document: score}}")
    if ranking and all(isinstance(entry, tuple | list) and len(entry) == 2 for entry in ranking):
        docs = _distinct([doc for doc, _ in ranking], name, query)
        return dict(zip(docs, (score for _, score in ranking), strict=True))
    docs = _distinct(ranking, name, query)
    return dict(zip(docs, range(len(docs), 0, -1), strict=True))


def _distinct(docs: Iterable[Any], name: str, query: str) -> list[str]:
    distinct: dict[str, None] = {}
    for doc in docs:
        key = as_text(doc, name)
        if key in distinct:
            raise DataError(f"{name}: query {clip(query)}: document {clip(key)} is there twice")
        distinct[key] = None
    return list(distinct)


def flat(tables: Sequence[Mapping[str, float]], where: Callable[[int, str], str]) -> Floats:
    """Return the values of all tables in a row; `where` says what errors call a value, by table and document."""
    size = sum(map(len, tables))
    try:
        columns = [table.values() for table in tables]
        values = np.fromiter(columns[0] if len(columns) == 1 else chain.from_iterable(columns), np.float64, size)
        if np.count_nonzero(np.isfinite(values)) == size:  # sooner counted than asked
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    checked = [to_number(value, where(i, doc)) for i, table in enumerate(tables) for doc, value in table.items()]
    return np.array(checked, np.float64)


def to_number(value: object, title: str) -> float:
    """Return a value as a number, also one that is written as text; refuse what is none, or not finite."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise DataError(f"{title} {clip(_text(value))} is too large for a number") from None
    except (TypeError, ValueError):
        raise DataError(f"{title} {clip(_text(value))} is not a number") from None
    if not isfinite(number):
        raise DataError(f"{title} is {number}; it must be a finite number")
    return number


def _text(value: object) -> str:
    """Return a value as text; Python refuses to write integers of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return f"of type {type(value).__name__}"
