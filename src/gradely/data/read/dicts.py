"""Dicts of dicts: ids of any type become text, and rankings without scores get scores."""

from collections.abc import Iterable, Mapping, Reversible, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from gradely.data.column_roles import are_columns
from gradely.data.ids import as_text, rename_docs
from gradely.data.read.lines import Collector, Values
from gradely.data.read.responses import results_of
from gradely.data.table import DUPLICATES_HINT, describe_merged
from gradely.errors import DataError, clip
from gradely.tables import count_of

MAPPING = (dict, Mapping)
"""dict first: the cheaper check"""


def are_plain(values: Mapping[Any, Any]) -> bool:
    """True for {query: {document: number}}, judged by its first number; exports of other tools look different."""
    first = next(iter(values.values()), None)
    number = next(iter(first.values()), None) if isinstance(first, MAPPING) else None
    plain = isinstance(number, (int, float)) and results_of(values) is None
    return plain and not are_columns(values) and not are_columns(first)


def are_by_subtopic(value: Any) -> bool:
    """True for {query: {document: {subtopic: label}}}, judged by its first document.

    Label probabilities look similar, but have numbers for keys.
    """
    if not isinstance(value, MAPPING):
        return False
    first = next((documents for documents in value.values() if not isinstance(documents, MAPPING) or documents), None)
    document = next(iter(first.values())) if isinstance(first, MAPPING) else None
    if not isinstance(document, MAPPING) or not all(isinstance(subtopic, str) for subtopic in document):
        return False
    from gradely.data.read.exports import find_export

    return find_export(value) is None and results_of(next(iter(value.values()))) is None


def as_labels(labels_by_query: Mapping[Any, Any], name: str) -> "Values":
    """Return {query: {document: label}}; a list or set of documents means label 1 for each.

    A list could be a ranking, so a note says how it was interpreted; a set has no order.
    """
    labels = _by_query(labels_by_query, name, lambda query, docs: dict.fromkeys(_distinct(docs, name, query), 1.0))
    labels.update((query, _all_texts(docs, name, query)) for query, docs in labels.items())
    lists = sum(not isinstance(docs, (*MAPPING, AbstractSet)) for docs in labels_by_query.values())
    if lists:
        where = "" if lists == len(labels) else f" for {lists:,} of {count_of(len(labels), 'query')}"
        text = "every document of a list counts as relevant, with label 1; if the lists are rankings, they are a run"
        labels.notes = [f"{name} has no labels{where}: {text}, and qrels come first"]
    return labels


def as_scores(rankings: Mapping[Any, Any], name: str, duplicates: str = "error") -> "Values":
    """Return {query: {document: score}}; a list is a ranking, best first, of documents or of (document, score)."""
    if duplicates == "error":
        return _by_query(rankings, name, lambda query, ranking: _rank(ranking, name, query))
    rows = Collector(name, duplicates)
    scores = _by_query(rankings, name, lambda query, ranking: _merge_duplicates(ranking, query, rows))
    scores.notes = describe_merged(name, rows.merged, duplicates)
    return scores


class Ranked(dict[str, float]):
    """A ranking without scores; its numbers are ranks, counted from the last."""


class Listed(dict[str, float]):
    """A list of documents with their scores, in the order of the list."""


def _by_query(values: Mapping[Any, Any], name: str, plain: Any) -> Values:
    out = Values()
    out.whole = {*map(type, values)} <= {int}
    for query, docs in values.items():
        key = query if isinstance(query, str) else as_text(query, name)
        if not key:
            raise DataError(f"{name}: the id of a query is missing ('')")
        if key in out:
            raise DataError(f"{name}: duplicate query {clip(key)}, as different types; ids are compared as text")
        out[key] = _texts(docs, name, key) if isinstance(docs, MAPPING) else plain(key, _check_list(docs, name, key))
    if not out:
        raise DataError(f"{name}: no queries")
    return out


def _texts(docs: Mapping[Any, float], name: str, query: str) -> Mapping[str, float]:
    """Return the mapping itself if its first and last ids are text, else one with ids as text."""
    if "" in docs:
        raise DataError(f"{name}: query {clip(query)}: the id of a document is missing ('')")
    if isinstance(docs, (dict, Reversible)) and isinstance(next(iter(docs), ""), str):
        last = next(reversed(docs), "")
        return docs if isinstance(last, str) else rename_docs(docs, name, query)
    return rename_docs(docs, name, query)


def _all_texts(docs: Mapping[Any, float], name: str, query: str) -> Mapping[str, float]:
    """Return the mapping itself if all ids are text, else one with ids as text."""
    return docs if all(issubclass(kind, str) for kind in set(map(type, docs))) else rename_docs(docs, name, query)


def _check_list(docs: Any, name: str, query: str) -> Sequence[Any] | AbstractSet[Any]:
    if isinstance(docs, str | bytes) or not isinstance(docs, Iterable):
        raise DataError(
            f"{name}: query {clip(query)}: expected {{document: number}} or a list of documents, "
            f"found {clip(repr(docs))}"
        )
    if _is_series_of_numbers(docs):
        raise DataError(
            f"{name}: query {clip(query)}: found a Series of numbers; give its to_dict() if its index holds the "
            f"documents, or its tolist() if the numbers are documents"
        )
    return docs if isinstance(docs, AbstractSet) else list(docs)


def _is_series_of_numbers(docs: Any) -> bool:
    """True for a Series of pandas that may be {document: number} or, like a list, hold documents that are numbers."""
    numbers = hasattr(docs, "to_dict") and getattr(getattr(docs, "dtype", None), "kind", "") in ("i", "u", "f")
    return numbers and type(docs.index).__name__ != "RangeIndex"


def _rank(ranking: Sequence[Any] | AbstractSet[Any], name: str, query: str) -> dict[str, float]:
    """Return {document: score} of one query; raise DataError for duplicates."""
    docs, scores, scored = _split_ranking(ranking, name, query)
    values = zip(_distinct(docs, name, query), scores, strict=True)
    return Listed(values) if scored else Ranked(values)


def _merge_duplicates(ranking: Sequence[Any] | AbstractSet[Any], query: str, rows: Collector) -> dict[str, float]:
    """Return {document: score} of one query, with duplicates merged in `rows`."""
    docs, scores, _ = _split_ranking(ranking, rows.name, query)
    for doc, score in zip(docs, scores, strict=True):
        rows.add(0, query, as_text(doc, rows.name), score)
    return rows.values.get(query, {})


def _split_ranking(
    ranking: Sequence[Any] | AbstractSet[Any], name: str, query: str
) -> tuple[Sequence[Any], Sequence[float], bool]:
    """Return the documents, their scores or else ranks counted from the last, and true if the ranking has scores."""
    if isinstance(ranking, AbstractSet):
        raise DataError(f"{name}: query {clip(query)}: a set has no order; give a list, or {{document: score}}")
    if ranking and all(isinstance(entry, tuple | list) and len(entry) == 2 for entry in ranking):
        docs, scores = zip(*ranking, strict=True)
        return docs, scores, True
    for entry in (ranking[0], ranking[-1]) if ranking else ():
        if isinstance(entry, tuple):
            problem = f"found {clip(repr(entry))} in a ranking; give documents or pairs (document, score)"
            raise DataError(f"{name}: query {clip(query)}: {problem}")
    return ranking, range(len(ranking), 0, -1), False


def _distinct(docs: Iterable[Any], name: str, query: str) -> list[str]:
    distinct: dict[str, None] = {}
    for doc in docs:
        key = as_text(doc, name)
        if key in distinct:
            raise DataError(f"{name}: query {clip(query)}: duplicate document {clip(key)}; {DUPLICATES_HINT}")
        distinct[key] = None
    return list(distinct)
