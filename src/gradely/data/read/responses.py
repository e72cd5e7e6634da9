"""Responses: the answer of a search engine or its client to one query, as a list of results.

A response is parsed JSON or an object of a client. Results have an id and, if the engine ranks by it, a score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from gradely.errors import InputError, clip

JUDGED = "give qrels, with the documents that are relevant"


class Engine(NamedTuple):
    """The paths of keys or attributes, from the outside in, to the parts of a response of a search engine."""

    hits: tuple[str, ...]
    document: tuple[str, ...]
    score: tuple[str, ...] = ()
    """without a score, or if it does not descend from hit to hit, the order of the hits is the ranking"""


ENGINES = {
    "Elasticsearch or OpenSearch": Engine(("hits", "hits"), ("_id",), ("_score",)),
    "Elasticsearch, hits alone": Engine(("hits",), ("_id",), ("_score",)),
    "Solr": Engine(("response", "docs"), ("id",), ("score",)),
    "Vespa": Engine(("root", "children"), ("id",), ("relevance",)),
    "Qdrant": Engine(("result", "points"), ("id",), ("score",)),
    "Qdrant, older": Engine(("result",), ("id",), ("score",)),
    "Qdrant, client": Engine(("points",), ("id",), ("score",)),
    "Pinecone": Engine(("matches",), ("id",), ("score",)),
    "Pinecone, records": Engine(("result", "hits"), ("_id",), ("_score",)),
    "Haystack": Engine(("documents",), ("id",), ("score",)),
    "Typesense": Engine(("hits",), ("document", "id")),
    "Algolia": Engine(("hits",), ("objectID",)),
    "Meilisearch": Engine(("hits",), ("id",)),
}
VESPA, ERRORS = ENGINES["Vespa"].hits, ("root", "errors")
"""paths to the hits of Vespa, which are left out if there are none, and to its errors"""
LATE = (("timed_out",), ("responseHeader", "partialResults"), ("search_cutoff",))
"""paths to what Elasticsearch, Solr and Typesense say of a search that ran out of time"""
REPORT = {"message", "code", "status", "type", "link"}
"""what Algolia, Meilisearch and Typesense say of a search that failed"""
OUTSIDE = {engine.hits[0] for engine in ENGINES.values()}
RESULT_IDS = ("docid", "doc_id", "docno", "node_id", "id")
"""attributes that name the document of a result in Pyserini, ir_datasets, LlamaIndex, LangChain, Haystack, Qdrant"""
PLAIN = (str, bytes, int, float)


def results_of(response: Any) -> list[dict[str, Any]] | None:
    """Return the results of a response, {"id": …, "score": …}, best first; None if it is not a response.

    >>> results_of({"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}})
    [{'id': 'd1', 'score': 2.5}]
    >>> results_of({"hits": [{"objectID": "d1"}]}), results_of({"d1": 2.5, "hits": 1.5})
    ([{'id': 'd1'}], None)
    """
    if isinstance(response, dict) and response.keys().isdisjoint(OUTSIDE):  # mostly {document: score}
        return None
    if isinstance(response, PLAIN) or is_list(response):
        return None
    response = getattr(response, "body", response)  # a response of the Elasticsearch client
    for engine in ENGINES.values():
        hits = _find(response, engine.hits)
        if engine.hits == VESPA and not hits and _find(response, ("root", "id")) == "toplevel":
            hits = None if _find(response, ERRORS) else []
        if not is_list(hits) or any(_find(hit, engine.document) is None for hit in hits):
            continue
        documents, scores = ([_find(hit, path) for hit in hits] for path in (engine.document, engine.score))
        if descend(scores):
            return [{"id": document, "score": score} for document, score in zip(documents, scores, strict=True)]
        return [{"id": document} for document in documents]
    return None


def describe_failure(response: Any) -> str | None:
    """Return what a search engine says about a search that failed, or None.

    >>> describe_failure({"error": {"type": "parsing_exception", "reason": "no field"}, "status": 400})
    "'no field'"
    >>> describe_failure({"responseHeader": {"status": 400}, "error": {"msg": "no field", "code": 400}})
    "'no field'"
    >>> describe_failure({"message": "Not found", "code": 404}), describe_failure({"status": {"error": "Not found"}})
    ("'Not found'", "'Not found'")
    """
    if not isinstance(response, Mapping):
        return None
    errors = _find(response, ERRORS)
    error = errors[0] if is_list(errors) and errors else response.get("error") or response.get("status")
    if {"message"} < response.keys() <= REPORT:
        error = response
    if not isinstance(error, Mapping):
        return clip(error, 100) if error and isinstance(error, str) and error == response.get("error") else None
    said = (error.get(key) for key in ("reason", "msg", "message", "summary", "type", "error"))
    return next((clip(text, 100) for text in said if text and isinstance(text, str)), None)


def is_partial(response: Any) -> bool:
    """True for a response that lacks results, since a search timed out or failed in part of the index.

    >>> is_partial({"timed_out": True, "hits": {"hits": []}}), is_partial({"_shards": {"total": 2, "failed": 1}})
    (True, True)
    >>> is_partial({"timed_out": False, "_shards": {"total": 2, "failed": 0}, "hits": {"hits": []}})
    False
    """
    if not isinstance(response, Mapping):
        response = getattr(response, "body", response)
    late = any(_find(response, path) is True for path in LATE) or bool(_find(response, ERRORS))
    late = late or _find(response, ("root", "coverage", "full")) is False
    failed = _find(response, ("_shards", "failed"))
    return late or (isinstance(failed, int) and failed > 0)


def descend(scores: Sequence[Any]) -> bool:
    """True for numbers that never rise; distances rise, and so do scores of hits sorted by something else."""
    numbers = all(isinstance(score, int | float) for score in scores)
    return numbers and all(one >= other for one, other in pairwise(scores))


def as_record(value: Any) -> Mapping[str, Any] | None:
    """Return a dict, a dataclass, a named tuple or a result of a client as {name: value}; None for anything else.

    A result is an object that names its document, alone or in a pair with its score.
    """
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], int | float):
        result = None if isinstance(value[0], (*PLAIN, tuple, list)) else as_record(value[0])
        return None if result is None else {**result, "score": value[1]}
    if value is None or isinstance(value, (*PLAIN, type)) or is_list(value):
        return None
    named = [name for name in RESULT_IDS if hasattr(value, name)]
    document = next((name for name in named if isinstance(getattr(value, name), str | int)), None)
    if named and document is None:
        kind, hint = type(value).__name__, ", perhaps one of its metadata" if hasattr(value, "metadata") else ""
        raise InputError(f"a result of type {kind} has no id; give the name of its document, as text or a number{hint}")
    score = getattr(value, "score", None)
    return {"id": getattr(value, document), "score": score} if document else None


def _find(value: Any, path: Sequence[str]) -> Any:
    """Return the value at the end of a path of keys or attributes, or None if there is no such path."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
    return value if path else None


def is_list(value: Any) -> bool:
    """True for a sequence other than text and bytes."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
