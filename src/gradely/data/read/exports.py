"""Exports: the files and objects of other tools, as rows of query, document and number.

Each tool has one entry, which recognises its content (parsed JSON, a dict, rows) and has functions to convert it to
qrels and to a run, or a text that says why this is impossible and what to use instead.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from gradely.data.column_roles import QUERY_NAMES, are_columns, normalize
from gradely.data.read.records import RecordTable
from gradely.data.read.responses import JUDGED, descend, describe_failure, is_list, results_of
from gradely.errors import InputError, clip

Row: TypeAlias = tuple[Any, Any, Any]
"""a query, a document and a label or score"""
Convert: TypeAlias = Callable[[Any], Iterator[Row]]
"""converts content to rows"""

NAMES = {"label": "qrels", "score": "a run"}
"""the kind of data by the kind of its numbers"""


class Export(NamedTuple):
    """The export format of a tool."""

    title: str
    recognise: Callable[[Any], bool]
    label: Convert | str
    """converts it to qrels, or a text that says what to use instead"""
    score: Convert | str
    """converts it to a run, or a text that says what to use instead"""
    note: Mapping[str, str] = {}
    """a note about it, by the kind of its numbers"""


def find_export(content: Any) -> "Export | None":
    """Return the tool that wrote this content, or None if it is unknown."""
    return next((export for export in EXPORTS if export.recognise(content)), None)


def read_export(content: Any, kind: str, name: str, duplicates: str = "error") -> RecordTable | None:
    """Return the export of a tool as a table, or None if the tool is unknown.

    >>> content = {"requests": [{"id": "q1", "request": {}, "ratings": [{"_index": "i", "_id": "d1", "rating": 2}]}]}
    >>> read_export(content, "label", "eval.json").qrels().labels("q1")
    {'d1': 2.0}
    """
    export = find_export(content)
    if export is None:
        return None
    rows = export.label if kind == "label" else export.score
    if isinstance(rows, str):
        raise InputError(f"{name}: is {export.title}, which is not {NAMES[kind]}; {rows}")
    try:
        records = [{"query_id": query, "doc_id": document, kind: number} for query, document, number in rows(content)]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{name}: looks like {export.title}, but part of it is missing or malformed ({problem})"
        ) from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if not records:
        raise InputError(f"{name}: is {export.title} without a {kind}")
    table = RecordTable(records, kind, name, None, duplicates)
    if kind in export.note:
        table.notes.append(f"{name} is {export.title}: {export.note[kind]}")
    return table


def refuse_response(content: Any, name: str) -> None:
    """Raise InputError for a line of JSON Lines that is the response to a search, and does not say to which query."""
    if results_of(content) is not None and not _names_query(content) and not are_columns(content):
        raise InputError(
            f"{name}: is a response to a search, which does not say which query it answers: write "
            '{"query": …, "response": …} into each line'
        )


def _maps(content: Any, **types: Any) -> bool:
    """True for a mapping that has values of these types at these keys."""
    return isinstance(content, Mapping) and all(isinstance(content.get(key), kind) for key, kind in types.items())


def _ranked(query: Any, documents: Sequence[Any], scores: Sequence[Any]) -> Iterator[Row]:
    """Yield documents with their scores or, if one has none or is above an earlier one, in their order."""
    scored = descend(scores)
    for place, document in enumerate(documents):
        yield query, document, scores[place] if scored else -1 - place


# Elasticsearch and OpenSearch: _rank_eval, _search, judgments


def _rank_eval_ratings(content: Any) -> Iterator[Row]:
    for request in content["requests"]:
        for rating in request["ratings"]:
            yield request["id"], rating["_id"], rating["rating"]


def _refuse_failures(content: Any) -> None:
    for query, failure in content.get("failures", {}).items():
        said = describe_failure(failure) or clip(str(failure), 100)
        raise InputError(f"the search of query {clip(query)} failed: {said}; repeat it, or leave the query out")


def _rated_hits(content: Any) -> Iterator[Row]:
    _refuse_failures(content)
    for query, detail in content["details"].items():
        for hit in detail["hits"]:
            if hit.get("rating") is not None:
                yield query, hit["hit"]["_id"], hit["rating"]


def _hits(content: Any) -> Iterator[Row]:
    _refuse_failures(content)
    for query, detail in content["details"].items():
        hits = [hit["hit"] for hit in detail["hits"]]
        yield from _ranked(query, [hit["_id"] for hit in hits], [hit.get("_score") for hit in hits])


def _is_search(content: Any) -> bool:
    return _maps(content, hits=Mapping) and is_list(content["hits"].get("hits"))


def _are_responses(content: Any) -> bool:
    """True for the responses of a multi-search, or a list of responses, which do not name their queries."""
    wrapped = next((key for key in ("responses", "results") if _maps(content, **{key: list})), None)
    parts = content if wrapped is None else content[wrapped]
    return is_list(parts) and bool(parts) and all(map(_is_response, parts)) and not all(map(_names_query, parts))


def _name_queries(content: Any) -> bool:
    """True for the responses of a multi-search of Algolia or Meilisearch, which name their queries."""
    parts = content["results"] if _maps(content, results=list) else ()
    return bool(parts) and all(_is_response(part) and _names_query(part) for part in parts)


def _is_response(content: Any) -> bool:
    return results_of(content) is not None


def _named_hits(content: Any) -> Iterator[Row]:
    for part in content["results"]:
        query = next(part[name] for name in part if normalize(name) in QUERY_NAMES)
        hits = results_of(part) or []
        yield from _ranked(query, [hit["id"] for hit in hits], [hit.get("score") for hit in hits])


def _names_query(content: Any) -> bool:
    return _maps(content) and any(normalize(name) in QUERY_NAMES for name in content)


def _judgment_lists(content: Any) -> list[Any]:
    """Return the lists of ratings of OpenSearch: of one object, or of the results of a search for such objects."""
    found = [hit.get("_source") for hit in content["hits"]["hits"]] if _is_search(content) else [content]
    ratings = [part["judgmentRatings"] for part in found if _maps(part, judgmentRatings=list)]
    return [part for part in ratings if all(_maps(entry, ratings=list) for entry in part)]


def _has_judgments(content: Any) -> bool:
    return (_maps(content, judgmentRatings=list) or _is_search(content)) and bool(_judgment_lists(content))


def _opensearch_ratings(content: Any) -> Iterator[Row]:
    lists = _judgment_lists(content)
    if len(lists) > 1:
        raise InputError(
            f"holds {len(lists)} lists of judgments, perhaps of several judges: give the judgmentRatings of one"
        )
    for entry in lists[0]:
        for rating in entry["ratings"]:
            yield entry["query"], rating["docId"], rating["rating"]


# The Rated Ranking Evaluator


def _groups(content: Any) -> Iterator[Any]:
    """Yield the objects with queries and relevant documents: the file, its groups, and the groups of its topics."""
    yield content
    for part in (*content.get("topics", ()), *content.get("query_groups", ())):
        if isinstance(part, Mapping):
            yield from _groups(part)


def _is_rre(content: Any) -> bool:
    if not isinstance(content, Mapping) or not any(
        is_list(content.get(key)) for key in ("topics", "query_groups", "queries")
    ):
        return False
    judged = (part for group in _groups(content) for part in (group, *group.get("queries", ())))
    return "id_field" in content or any(_maps(part) and "relevant_documents" in part for part in judged)


def _rre_ratings(content: Any) -> Iterator[Row]:
    for group in _groups(content):
        for query in group.get("queries", ()):
            relevant = query.get("relevant_documents", group.get("relevant_documents", {}))
            text = " ".join(str(value) for value in query.get("placeholders", {}).values())
            for document, gain in _rre_gains(relevant):
                yield text or query["template"], document, gain


def _rre_gains(relevant: Any) -> Iterator[tuple[Any, Any]]:
    """Yield documents and gains: {document: {"gain": 3}}, a list of such objects, or {3: [documents]}."""
    for part in relevant if is_list(relevant) else [relevant]:
        for key, value in part.items():
            if isinstance(value, Mapping):
                yield key, value["gain"]
            else:
                yield from ((document, key) for document in value)


# Objects of other libraries


def unwrap(value: Any, kind: str) -> Any:
    """Return the dataframe, dict or list in an object of another library, or the object itself if it is unknown.

    ranx has dicts, Hugging Face, ragas and pyarrow data sets become frames, LlamaIndex has dicts as attributes, clients
    of Elasticsearch have a body, and a pandas Series has its queries in its index, with documents or lists of them.
    """
    if type(value).__module__.partition(".")[0] == "ranx":
        return value.to_dict()
    if isinstance(getattr(value, "relevant_docs", None), Mapping):
        return {name: getattr(value, name) for name in ("queries", "relevant_docs")}
    if isinstance(getattr(value, "body", None), Mapping):
        return value.body
    if hasattr(value, "reset_index") and len(getattr(getattr(value, "index", None), "names", ())) > 1:
        return value.reset_index(name=value.name or kind)
    if hasattr(value, "iloc") and len(value) and is_list(value.iloc[0]):
        return value.to_dict()
    for method in ("to_polars", "to_pandas", "to_table", "read_all"):
        with suppress(ImportError):
            if callable(getattr(value, method, None)):
                return getattr(value, method)()
    lines = isinstance(value, Sequence) or hasattr(value, "read")
    return list(value) if isinstance(value, Iterable) and not lines else value


# Quepid, MTEB, LlamaIndex, ragas


def _is_case(content: Any) -> bool:
    """True for {"queries": [{"query": …, "ratings": {document: rating}}]}; an exported case has query_text."""
    return _maps(content, queries=list) and any(_maps(entry, ratings=Mapping) for entry in content["queries"])


def _case_ratings(content: Any) -> Iterator[Row]:
    for entry in content["queries"]:
        query = entry["query_text"] if "query_text" in entry else entry["query"]
        yield from ((query, document, rating) for document, rating in (entry.get("ratings") or {}).items())


def choose_split(content: Any, kind: str, name: str, split: str | None) -> Any:
    """Return the predictions of one split, {query: {document: score}}, of an MTEB 2 file with subsets and splits.

    Other content is returned unchanged. A split is named `test`, or `default/test` with its subset.
    """
    if not _maps(content, mteb_model_meta=Mapping):
        return content
    if kind == "label":
        raise InputError(f"{name}: holds predictions of MTEB, which are a run; {JUDGED}")
    parts = {
        f"{subset}/{part}": values
        for subset, splits in content.items()
        if subset != "mteb_model_meta"
        for part, values in splits.items()
    }
    found = [key for key in parts if split is None or split in (key, key.partition("/")[2])]
    if len(found) != 1:
        listing = ", ".join(found or parts)
        example = (found or [*parts, "default/test"])[0]
        which = "has no" if not found else "holds more than one"
        raise InputError(
            f"{name}: {which} split{f' {split}' if split else ''}: {listing}; choose one: --split {example},"
            f" or read_run(…, split={example!r})"
        )
    return parts[found[0]]


def _relevant_docs(content: Any) -> Iterator[Row]:
    for query, documents in content["relevant_docs"].items():
        for document in documents:
            yield query, document, documents[document] if isinstance(documents, Mapping) else 1


REFERENCES = ("reference_context_ids", "reference_contexts")
RETRIEVED = ("retrieved_context_ids", "retrieved_contexts", "contexts")
OLDER = ("answer", "ground_truth", "ground_truths", *REFERENCES)
"""columns that rows of ragas before 0.2 have in addition to a question and its contexts"""


def is_ragas(names: Any) -> bool:
    """True if an object, or a list of names, has the columns of ragas."""
    if not isinstance(names, Collection):
        return False
    older = "question" in names and "contexts" in names and any(name in names for name in OLDER)
    return older or ("user_input" in names and any(name in names for name in (*REFERENCES, *RETRIEVED)))


def _is_table(content: Any) -> bool:
    """True for a table by columns, {"query_id": [queries], "doc_id": [documents], …}, or by row numbers.

    pandas writes these unless it is told to write records: {"query_id": {"0": …}, …}, {"0": {"query_id": …}, …},
    {"columns": […], "data": […]} or {"schema": …, "data": […]}.
    """
    if not isinstance(content, Mapping) or not content:
        return False
    parts = list(content.values())
    by_column = (are_columns(content) or is_ragas(content)) and all(
        isinstance(part, Collection) and not isinstance(part, str | bytes) for part in parts
    )
    by_row = all(map(are_columns, parts)) or (
        _maps(content, data=list) and ("columns" in content or "schema" in content)
    )
    return by_column or by_row


def _are_tables(content: Any) -> bool:
    """True for a dict of data sets or dataframes, whose iterators yield rows or names of columns."""
    first = next(iter(content.values()), None) if isinstance(content, Mapping) else None
    series = hasattr(first, "dtype")  # of polars, a list of documents
    return (hasattr(first, "to_pandas") and not series) or hasattr(first, "columns")


def _is_chroma(content: Any) -> bool:
    """True for {"ids": [[documents]], "distances": [[numbers]], …}, and for such responses by query."""
    if isinstance(content, Mapping) and content and all(map(_is_chroma, content.values())):
        return True
    beside = _maps(content, ids=Sequence) and not content.keys().isdisjoint(("distances", "metadatas", "embeddings"))
    return (
        beside and all(map(is_list, content["ids"])) and all(part is None or is_list(part) for part in content.values())
    )


def _ragas_lists(content: Any, names: tuple[str, ...], what: str) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each question with its ids, or its texts if it has no ids; raise InputError for duplicate questions."""
    numbers: dict[Any, int] = {}
    name = next((name for name in names if any(map(_holds, content, repeat(name)))), None)
    for number, row in enumerate(content, 1):
        if name is None or not _holds(row, name):
            none = f"none of {', '.join(names)}, which hold {what}"
            missing = none if name is None else f"no {name}, unlike others; give every row a list, perhaps an empty one"
            raise InputError(f"row {number} of ragas has {missing}")
        key = "user_input" if "user_input" in row else "question"
        question = row[key]
        earlier = numbers.setdefault(question, number)
        if earlier != number:
            raise InputError(f"rows {earlier} and {number} have the same {key}, {clip(str(question))}; keep one")
        yield question, list(row[name])


def _holds(row: Mapping[str, Any], name: str) -> bool:
    """True if a row has a list by this name, rather than None, NaN as in frames of pandas, or the text of a list."""
    return isinstance(row.get(name), Iterable) and not isinstance(row[name], str)


def _ragas_references(content: Any) -> Iterator[Row]:
    for question, documents in _ragas_lists(content, REFERENCES, "the judgments"):
        yield from ((question, document, 1) for document in documents)


def _ragas_retrieved(content: Any) -> Iterator[Row]:
    for question, documents in _ragas_lists(content, RETRIEVED, "what was retrieved"):
        yield from _ranked(question, documents, [None])


MEANS = "it holds means, not rankings: have MTEB write predictions (prediction_folder=…), and give those"
ONE_TABLE = "give one of its splits, like data['test'], or one table with a column of queries"
ONE_RUN = f"{ONE_TABLE}; several runs by name go to evaluate_runs or compare"
ROWS = "give its rows, one object per line: JSON Lines"
"""advice for a table by columns"""
TABLE = f"{ROWS}, as to_json(orient='records', lines=True) of pandas writes them, or the dataframe itself"
NO_IDS = "it does not say which query each part answers: give {query: response}, with a name for each query"

EXPORTS = (
    Export("a table in one object", _is_table, label=TABLE, score=TABLE),
    Export("a dict of data sets or tables", _are_tables, label=ONE_TABLE, score=ONE_RUN),
    Export(
        "a request of _rank_eval",
        lambda content: _maps(content, requests=list) and all(_maps(one, ratings=list) for one in content["requests"]),
        label=_rank_eval_ratings,
        score="give the response to it",
    ),
    Export(
        "a response of _rank_eval",
        lambda content: _maps(content, details=Mapping) and "metric_score" in content,
        label=_rated_hits,
        score=_hits,
        note={"label": "it has the ratings of the documents that were retrieved, and no others"},
    ),
    Export(
        "a list of judgments of OpenSearch",
        _has_judgments,
        label=_opensearch_ratings,
        score="give the responses to the queries, {query: response of _search}",
    ),
    Export(
        "a response to a search",
        lambda content: results_of(content) is not None and not are_columns(content),
        label=JUDGED,
        score="it answers one query only: give {query: response}, with a name for each query",
    ),
    Export("a list of responses to searches", _are_responses, label=JUDGED, score=NO_IDS),
    Export("a list of responses to searches", _name_queries, label=JUDGED, score=_named_hits),
    Export(
        "a file of ratings of the Rated Ranking Evaluator",
        _is_rre,
        label=_rre_ratings,
        score="give the retrieved documents",
    ),
    Export("a case of Quepid", _is_case, label=_case_ratings, score="give a snapshot"),
    Export("a result of MTEB", lambda content: _maps(content, mteb_version=str), label=MEANS, score=MEANS),
    Export(
        "a dataset of LlamaIndex",
        lambda content: _maps(content, relevant_docs=Mapping, queries=Mapping),
        label=_relevant_docs,
        score="give the retrieved documents, {query: [documents]}",
    ),
    Export(
        "a response of Chroma",
        _is_chroma,
        label=JUDGED,
        score="it has no ids of queries, and low distances are best: give {query: {document: -distance}}",
    ),
    Export(
        "a list of rows of ragas",
        lambda content: is_list(content) and bool(content) and is_ragas(content[0]),
        label=_ragas_references,
        score=_ragas_retrieved,
    ),
)
