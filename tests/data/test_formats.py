"""What people have: files and objects of other tools, each of which gives a number, or an error that says how.

The table of docs/reference/inputs.md has a row for each, and each row has a test here.
"""

import io
import json
import re
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gradely
from gradely import DataError, InputError
from gradely.cli.main import run as cli

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "x": 0.5, "d3": 0.1}, "q2": {"d4": 0.7, "d1": 0.2}}
BINARY = {"q1": ["d1", "d3"], "q2": ["d4"]}
MEASURES = ["nDCG@10", "RR", "AP"]


def values(qrels, run, **options):
    return gradely.evaluate(qrels, run, MEASURES, **options).per_query()


GRADED, LISTED = values(QRELS, RUN), values(BINARY, RUN)


def rows(table):
    return [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]


def frame(table, *names):
    return pd.DataFrame(rows(table), columns=names)


def notes(qrels, run, **options):
    return " ".join(note.text for note in gradely.evaluate(qrels, run, MEASURES, **options).notes)


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_terrier_frames_are_read_by_docno():
    run = frame(RUN, "qid", "docno", "score").assign(docid=range(6), rank=[0, 1, 2, 3, 0, 1], query="some words")
    qrels = frame(QRELS, "qid", "docno", "label")
    assert values(qrels, run) == GRADED
    assert "'docno' is read as the document, and not 'docid'" in notes(qrels, run)
    both = frame(QRELS, "qid", "docno", "label").assign(score=0.5)  # a frame of results with their labels
    assert values(both, run) == GRADED
    assert "'label' is read as the label, and not 'score'" in notes(both, run)


def test_terrier_frames_as_csv(tmp_path):
    run = frame(RUN, "qid", "docno", "score").assign(docid=range(6), rank=1, query="some words")
    run.to_csv(tmp_path / "bm25.csv", index=False)
    assert values(QRELS, tmp_path / "bm25.csv") == GRADED
    assert "bm25.csv: 'docno' is read as the document, and not 'docid'" in notes(QRELS, tmp_path / "bm25.csv")


def test_quepid_rows_without_a_rating_are_unjudged(file):
    text = "query,docid,rating\nq1,d1,2\nq1,d2,0\nq1,d9,\nq1,d3,1\nno match query\nq2,d4,1\n"
    path = file("quepid.csv", text)
    assert values(path, RUN) == GRADED
    assert f"{path}: 2 of 6 rows have no rating and count as unjudged" in notes(path, RUN)
    (odd,) = [one.text for one in gradely.check(path, RUN) if "rating" in one.text]
    assert odd == "2 of 6 rows have no rating and count as unjudged"
    assert "1 of 2 rows" in notes(file("one.csv", "query,docid,rating\nq1,d1,2\nnothing\n"), RUN)
    with pytest.raises(DataError, match="no rows with a rating below its header"):
        values(file("none.csv", "query,docid,rating\nq1,d1,\n"), RUN)
    with pytest.raises(InputError, match="the label '' is not a number"):  # a table of another kind is not so kind
        values(file("other.csv", "query_id,docid,rating\nq1,d1,\n"), RUN)
    with pytest.raises(InputError, match="the label '0,9' is not a number; decimals have a point, not a comma"):
        values(file("comma.csv", "query;docid;rating\nq1;d1;0,9\n"), RUN)


def test_quepid_books_have_a_column_per_rater(file, capfd):
    path = file("book.csv", "query,docid,ann,Bob B\nq1,d1,2,1\nq1,d2,0,\nq1,d3,1,0\nq2,d4,1,\n")
    hold = r"no label column; 'ann', 'Bob B' hold numbers.*columns=\{'label': 'ann'\}"
    with pytest.raises(InputError, match=rf"{hold}.*gradely judges --qrels \(--merge\)"):
        values(path, RUN)
    assert values(path, RUN, columns={"label": "ann"}) == GRADED
    assert "2 of 4 rows" in notes(path, RUN, columns={"label": "Bob B"})
    for given, example in (
        ([str(path)], f"--qrels {path}"),
        ([str(path), "bm25.run"], f"--qrels {path} bm25.run"),
        (["nist.qrels", "bm25.run"], "--qrels nist.qrels --qrels gpt4o.qrels bm25.run"),
    ):
        assert cli(["judges", *given]) == 2
        assert f"as in {example} (see" in capfd.readouterr().err


RANK_EVAL = {
    "requests": [
        {
            "id": query,
            "request": {"query": {"match": {"text": query}}},
            "ratings": [{"_index": "i", "_id": doc, "rating": label} for doc, label in docs.items()],
        }
        for query, docs in QRELS.items()
    ],
    "metric": {"dcg": {"k": 10}},
}


def hits(docs, *, scored=True):
    return [{"_index": "i", "_id": doc} | ({"_score": score} if scored else {}) for doc, score in docs.items()]


def rank_eval_response(*, scored=True):
    return {
        "metric_score": 0.4,
        "details": {
            query: {
                "metric_score": 0.4,
                "unrated_docs": [{"_index": "i", "_id": "x"}],
                "hits": [{"hit": hit, "rating": QRELS[query].get(hit["_id"])} for hit in hits(docs, scored=scored)],
            }
            for query, docs in RUN.items()
        },
        "failures": {},
    }


def test_rank_eval_requests_are_qrels(file):
    for qrels in (RANK_EVAL, file("eval.json", RANK_EVAL)):
        assert values(qrels, RUN) == GRADED
        with pytest.raises(InputError, match="is a request of _rank_eval, which is not a run; give the response"):
            values(QRELS, qrels)


def test_rank_eval_responses_are_runs_and_ratings(file):
    for scored in (True, False):  # without scores, the order of hits ranks
        response = rank_eval_response(scored=scored)
        for run in (response, file("response.json", response)):
            assert values(QRELS, run) == GRADED
    assert gradely.read_qrels(rank_eval_response()).labels("q1") == {"d1": 2.0, "d2": 0.0, "d3": 1.0}
    assert "the ratings of the documents that were retrieved, and no others" in notes(rank_eval_response(), RUN)


def test_rank_eval_hits_rank_in_their_order_where_scores_do_not_fall():
    response = rank_eval_response()
    for detail in response["details"].values():  # as if sorted by a field, with scores tracked
        for score, hit in enumerate(detail["hits"]):
            hit["hit"]["_score"] = score
    assert values(QRELS, response) == GRADED


def result(engine, doc, score):
    """Return a result as a search engine writes it."""
    return {
        "Elasticsearch": {"_index": "i", "_id": doc, "_score": score, "_source": {"title": "t"}},
        "sorted": {"_index": "i", "_id": doc, "_score": None, "sort": [7]},
        "hits alone": {"_index": "i", "_id": doc, "_score": score},
        "Solr": {"id": doc, "score": score, "title": ["t"]},
        "Vespa": {"id": doc, "relevance": score, "source": "s", "fields": {"title": "t"}},
        "Qdrant": {"id": doc, "version": 3, "score": score, "payload": None},
        "Pinecone": {"id": doc, "score": score, "values": []},
        "Pinecone, records": {"_id": doc, "_score": score, "fields": {"title": "t"}},
        "Haystack": {"id": doc, "content": "text", "score": score},
        "Algolia": {"objectID": doc, "price": 7},
        "Typesense": {"document": {"id": doc, "price": 7}, "text_match": 1},
        "Meilisearch": {"id": doc, "price": 7},
    }[engine]


RESPONSES = {
    "Elasticsearch": lambda hits: {"took": 3, "hits": {"total": {"value": 2}, "hits": hits}},
    "sorted": lambda hits: {"took": 3, "hits": {"total": {"value": 2}, "hits": hits}},
    "hits alone": lambda hits: {"total": {"value": 2}, "max_score": 0.9, "hits": hits},
    "Solr": lambda hits: {"responseHeader": {"status": 0}, "response": {"numFound": 2, "docs": hits}},
    "Vespa": lambda hits: {"root": {"id": "toplevel", "relevance": 1.0} | ({"children": hits} if hits else {})},
    "Qdrant": lambda hits: {"result": {"points": hits}, "status": "ok", "time": 0.1},
    "Pinecone": lambda hits: {"matches": hits, "namespace": ""},
    "Pinecone, records": lambda hits: {"result": {"hits": hits}, "usage": {"read_units": 1}},
    "Haystack": lambda hits: {"documents": hits},
    "Algolia": lambda hits: {"hits": hits, "nbHits": 2},
    "Typesense": lambda hits: {"found": 2, "hits": hits},
    "Meilisearch": lambda hits: {"hits": hits, "limit": 20},
}


class Body:
    """As the client of Elasticsearch returns a response."""

    def __init__(self, body):
        self.body = body


@pytest.mark.parametrize("engine", RESPONSES)
def test_search_responses_are_runs_by_query(file, engine):
    responses = {
        query: RESPONSES[engine]([result(engine, doc, score) for doc, score in docs.items()])
        for query, docs in RUN.items()
    }
    named = [{"query_id": query, "response": response} for query, response in responses.items()]
    beside = [{"query_id": query, **response} for query, response in responses.items()]
    shapes = [responses, file("responses.json", responses), named, file("named.jsonl", lines(named)), beside]
    shapes += [file("lines.jsonl", lines({query: response} for query, response in responses.items()))]
    shapes += [{query: Body(response) for query, response in responses.items()}]
    for run in shapes:
        assert values(QRELS, run) == GRADED
        with pytest.raises(InputError, match="is a response to a search, which has no labels; give qrels"):
            values(run, RUN)
    one, several = responses["q1"], list(responses.values())
    for run in (one, file("one.json", one), Body(one)):
        with pytest.raises(InputError, match=r"answers one query only: give \{query: response\}"):
            values(QRELS, run)
    with pytest.raises(InputError, match="is a response to a search, which is not qrels"):
        values(one, RUN)
    wrapped = [{"responses": several}, {"results": several}]
    for run in (several, *wrapped, file("several.json", several), file("wrapped.json", wrapped[1])):
        with pytest.raises(InputError, match="is a list of responses to searches, which is not a run; it does not say"):
            values(QRELS, run)


@pytest.mark.parametrize("engine", RESPONSES)
def test_a_query_without_results_has_no_ranking(file, engine):
    answer = RESPONSES[engine]
    responses = {"q1": answer([]), "q2": answer([result(engine, doc, score) for doc, score in RUN["q2"].items()])}
    for run in (responses, file("run.json", responses), dict(reversed(responses.items()))):
        assert values(QRELS, run) == values(QRELS, {"q2": RUN["q2"]})


@pytest.mark.parametrize(
    "response",
    [
        {
            "responseHeader": {"status": 0},
            "response": {"docs": [{"docno": "d1"}]},
        },  # of Solr, with an id by another name
        {"grouped": {"site": {"groups": []}}},
        {"data": {"Get": {"Page": [{"_additional": {"id": "d1"}}]}}},  # of Weaviate
        {"code": 0, "data": [{"id": "d1", "distance": 0.5}]},  # of Milvus
    ],
)
def test_other_responses_say_what_to_give(file, response):
    with pytest.raises(DataError, match=r"is not a number; give \{query: \{document: number\}\}, .* a search engine$"):
        values(QRELS, file("run.json", {"q1": response}))


@pytest.mark.parametrize("engine", ["Algolia", "Meilisearch"])
def test_responses_of_a_search_for_several_queries_may_name_them(file, engine):
    parts = [{"query": q, **RESPONSES[engine]([result(engine, doc, 0) for doc in docs])} for q, docs in RUN.items()]
    for run in ({"results": parts}, file("run.json", {"results": parts}), parts):
        assert values(QRELS, run) == GRADED


@pytest.mark.parametrize("engine", ["Elasticsearch", "Solr", "Qdrant", "Algolia"])
def test_lines_of_responses_without_their_queries_say_what_to_write(file, engine):
    response = RESPONSES[engine]([result(engine, doc, 1.0) for doc in RUN["q1"]])
    given = file("responses.jsonl", lines([response, response]))
    says = r'.jsonl:1: is a response .* does not say which query it answers: write \{"query": …, "response": …\}'
    for arguments in ((QRELS, given), (given, RUN)):
        with pytest.raises(InputError, match=says):
            values(*arguments)


FAILED = {
    "Elasticsearch": {"error": {"root_cause": [], "type": "parsing_exception", "reason": "no field"}, "status": 400},
    "Solr": {"responseHeader": {"status": 400}, "error": {"msg": "no field", "code": 400}},
    "Vespa": {"root": {"id": "toplevel", "errors": [{"code": 3, "summary": "illegal", "message": "no field"}]}},
    "Qdrant": {"status": {"error": "no field"}, "time": 0.1},
    "Algolia": {"message": "no field", "status": 400},
    "Typesense": {"code": 400, "message": "no field"},
    "Meilisearch": {"message": "no field", "code": "invalid", "type": "invalid_request"},
    "sorted": {"error": "no field", "status": 400},
}


@pytest.mark.parametrize("engine", FAILED)
def test_a_search_that_failed_is_an_error_with_its_query(file, engine):
    answered = RESPONSES[engine]([result(engine, doc, score) for doc, score in RUN["q1"].items()])
    for responses in ({"q1": answered, "q2": FAILED[engine]}, {"q2": FAILED[engine], "q1": answered}):
        named = [{"query": query, "response": response} for query, response in responses.items()]
        for run in (responses, file("run.json", responses), named, file("run.jsonl", lines(named))):
            with pytest.raises(InputError, match=r"the search of query 'q2' failed: 'no field'; repeat it, or leave"):
                values(QRELS, run)
    for docs in ({"d1": 2, "error": 1}, {"message": 2, "error": 1, "code": 0, "status": 0}):
        assert gradely.evaluate({"q1": {"error": 1}}, {"q1": docs}, ["RR"])["RR"] == 0.5
    row = {"query": "q1", "doc": "d1", "score": 1, "log": {"message": "late", "status": 1}}  # a row, and no response
    assert gradely.evaluate({"q1": {"d1": 1}}, [row], ["RR"])["RR"] == 1.0


def test_queries_that_failed_in_rank_eval_are_an_error(file):
    response = rank_eval_response() | {"failures": {"q7": FAILED["Elasticsearch"]}}
    for arguments in ((QRELS, response), (QRELS, file("response.json", response)), (response, RUN)):
        with pytest.raises(InputError, match=r"the search of query 'q7' failed: 'no field'; repeat it, or leave"):
            values(*arguments)


PARTIAL = {
    "Elasticsearch": {"timed_out": True},
    "shards": {"timed_out": False, "_shards": {"total": 2, "failed": 1}},
    "Solr": {"responseHeader": {"status": 0, "partialResults": True}},
    "Typesense": {"search_cutoff": True},
    "Vespa": {"root": {"coverage": {"coverage": 57, "full": False}}},
    "complete": {"timed_out": False, "_shards": {"total": 2, "failed": 0}},
}


@pytest.mark.parametrize("kind", PARTIAL)
def test_incomplete_responses_are_noted(file, kind):
    engine = kind if kind in RESPONSES else "Elasticsearch"
    responses = {
        query: RESPONSES[engine]([result(engine, doc, score) for doc, score in docs.items()])
        for query, docs in RUN.items()
    }
    for part, said in PARTIAL[kind].items():
        responses["q1"][part] = responses["q1"].get(part, {}) | said if isinstance(said, dict) else said
    named = [{"query": query, "response": response} for query, response in responses.items()]
    beside = [{"query": query, **response} for query, response in responses.items()]
    shapes = (responses, named, beside, {query: Body(response) for query, response in responses.items()})
    shapes += (file("run.json", responses), file("run.jsonl", lines(named)), file("two.jsonl", lines(beside)))
    for run in shapes:
        expected = kind != "complete"
        assert ("1 response is incomplete: the search timed out or failed in part of" in notes(QRELS, run)) == expected
        assert values(QRELS, run) == GRADED


def test_incomplete_responses_with_few_hits_are_noted():
    hit = result("Elasticsearch", "d4", 0.7)
    for hits in ([], [hit]):
        run = {"q1": RESPONSES["Elasticsearch"](hits) | {"timed_out": True}, "q2": RESPONSES["Elasticsearch"]([hit])}
        assert "1 response is incomplete" in notes(QRELS, run)


def test_hits_rank_in_their_order_where_scores_do_not_fall():
    """Qdrant calls distances scores, and Elasticsearch tracks scores of hits that are sorted by a date."""
    hits = [{"id": doc, "score": distance} for doc, distance in zip("bac", (0.1, 0.4, 0.3), strict=True)]
    run = {"q": {"result": {"points": hits}}}
    assert gradely.evaluate({"q": {"b": 1}}, run, ["RR"])["RR"] == 1.0
    tied = {"q": {"result": {"points": [{**hit, "score": 0.5} for hit in hits]}}}
    assert gradely.evaluate({"q": {"b": 1}}, tied, ["P@1"])["P@1"] == 1 / 3


class Point:
    """As a result of a client that is neither a dict nor a dataclass."""

    def __init__(self, document, score=None, name="id"):
        setattr(self, name, document)
        self.score, self.version = score, 3


class Points:
    """As the client of Qdrant returns a response."""

    def __init__(self, docs):
        self.points = [Point(doc, score) for doc, score in docs.items()]


@dataclass
class Document:
    """As in Haystack."""

    id: str
    score: float | None = None
    content: str = "text"


def test_results_of_clients():
    kinds = {
        "Qdrant": Points,
        "Pyserini": lambda docs: [Point(doc, score, "docid") for doc, score in docs.items()],
        "LlamaIndex": lambda docs: [Point(doc, score, "node_id") for doc, score in docs.items()],
        "LangChain": lambda docs: [(Point(doc), score) for doc, score in docs.items()],
        "LangChain, in order": lambda docs: [Point(doc) for doc in docs],
        "Haystack": lambda docs: [Document(doc, score) for doc, score in docs.items()],
        "Haystack, in order": lambda docs: [Document(doc) for doc in docs],
        "Haystack, a component": lambda docs: {"documents": [Document(doc, score) for doc, score in docs.items()]},
    }
    for kind, results in kinds.items():
        assert values(QRELS, {query: results(docs) for query, docs in RUN.items()}) == GRADED, kind
    with pytest.raises(InputError, match=r"type Point has no id; give the name of its document, .* number$"):
        values(QRELS, {"q1": [Point(None)]})
    without_id = Point(None)
    without_id.metadata = {"source": "d1"}
    with pytest.raises(InputError, match=r"give the name of its document, .*, perhaps one of its metadata"):
        values(QRELS, {"q1": [without_id]})
    with pytest.raises(DataError, match=r"run: an id is '<.*Point object at .*'; it must be text or a number"):
        values(QRELS, {"q1": [Point("d1", name="uri"), Point("d2", name="uri")]})
    with pytest.raises(DataError, match=r"run: an id is \"\('d1', 0\.9\)\"; it must be text or a number"):
        values(QRELS, {"q1": np.array([("d1", 0.9), ("d2", 0.5)], [("document", "U2"), ("score", float)])})
    with pytest.raises(DataError, match=r"found \"\('d1', 0\.9, 1\)\" in a ranking; give documents or pairs"):
        values(QRELS, {"q1": [("d1", 0.9, 1), ("d2", 0.5, 2)]})
    ids = [uuid4(), uuid4()]  # which are written as text
    assert gradely.evaluate({"q": {str(ids[1]): 1}}, {"q": ids}, ["RR"])["RR"] == 0.5


def test_tables_in_one_object_are_refused_with_what_to_give(file):
    """With queries and documents that are numbers, the columns of both files would be queries that they share."""
    qrels = pd.DataFrame([(1, 11, 2), (1, 12, 0), (2, 14, 1)], columns=["qid", "docno", "label"])
    run = pd.DataFrame([(1, 12, 0.5), (1, 11, 0.4), (2, 14, 1.0)], columns=["qid", "docno", "score"])
    says = (
        r"is a table in one object, .*; give its rows, one object per line: .*to_json\(orient='records', lines=True\)"
    )
    for orient in ("columns", "index", "split", "table"):
        one, other = (file(f"{orient}-{i}.json", table.to_json(orient=orient)) for i, table in enumerate((qrels, run)))
        for arguments in ((one, other), (qrels, other)):
            with pytest.raises(InputError, match=says):
                values(*arguments)
    for orient in ("dict", "list", "series", "index"):
        for arguments in ((qrels.to_dict(orient), run), (qrels, run.to_dict(orient))):
            with pytest.raises(InputError, match=says):
                values(*arguments)
    with pytest.raises(InputError, match=says):
        values(qrels, pl.from_pandas(run).to_dict())
    assert values(qrels.to_dict("records"), run.to_dict("records")) == values(qrels, run)


@pytest.mark.parametrize(
    "query",
    [
        *("topics", "query_groups", "queries", "requests", "details", "judgmentRatings", "hits", "result", "responses"),
        *("ids", "distances", "columns", "data", "relevant_docs", "matches", "mteb_version", "query", "doc_id", "root"),
        *("documents", "results", "message", "status"),
    ],
)
def test_queries_may_be_called_what_other_tools_call_their_parts(file, query):
    for docs in ({"d2": 2.0, "d1": 1.0}, ["d2", "d1"], [("d2", 2.0), ("d1", 1.0)]):
        for run in ({query: docs}, file("run.json", {query: docs}), file("run.jsonl", {query: docs})):
            assert gradely.evaluate({query: {"d1": 1}}, run, ["RR"])["RR"] == 0.5
    assert gradely.evaluate({query: {"d1": {"1": 1}}}, {query: ["d2", "d1"]}, ["alpha_nDCG"])["alpha_nDCG"] > 0.5


def test_records_with_several_lists_say_what_to_give(file):
    records = [{"question": "q1", "answers": ["x"], "ctxs": [{"id": "d1", "score": "0.5"}]}]
    says = (
        r"no document column among 'answers', 'ctxs'; 'answers', 'ctxs' hold lists: give one list of results per query"
    )
    for given in (records, pd.DataFrame(records), file("dpr.json", records), file("dpr.jsonl", lines(records))):
        for arguments in ((QRELS, given), (given, RUN)):
            with pytest.raises(InputError, match=says):
                values(*arguments)
    one = [{"question": "q1", "ctxs": records[0]["ctxs"]}]
    assert values({"q1": {"d1": 1}}, one)["q1"]["RR"] == 1.0
    for given in (pd.DataFrame(one), pl.DataFrame(one)):
        with pytest.raises(InputError, match="'ctxs' holds lists: give "):
            values(QRELS, given)


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("column", ["item_id", "recommendations"])
def test_a_list_of_documents_in_a_row_says_what_to_give(library, column):
    """A frame of one row per user had no score column, or no document column."""
    frame = library.DataFrame({"user_id": ["q1"], column: [["d2", "d1"]]})
    says = f"{column!r} holds lists: give {{query: [documents]}}, as in "
    with pytest.raises(InputError, match=re.escape(says)) as error:
        values({"q1": {"d1": 1}}, frame)
    advice = str(error.value).partition(says)[2]
    assert advice == f"dict(zip(frame['user_id'], frame[{column!r}].to_list()))"
    assert (
        values({"q1": {"d1": 1}}, dict(zip(frame["user_id"], frame[column].to_list(), strict=True)))["q1"]["RR"] == 0.5
    )


def test_lines_with_ranks_and_lines_with_scores_do_not_mix(file):
    mixed = [{"qid": "q1", "docno": "d1", "score": 0.5}, {"qid": "q1", "docno": "d2", "rank": 1}]
    with pytest.raises(
        InputError, match=r"m\.jsonl:2: some lines have a rank, and others a score; give every line the"
    ):
        values(QRELS, file("m.jsonl", lines(mixed)))


def test_opensearch_judgments(file):
    ratings = [
        {"query": query, "ratings": [{"docId": doc, "rating": f"{label:.3f}"} for doc, label in docs.items()]}
        for query, docs in QRELS.items()
    ]
    judgments = {"id": "7", "name": "ESCI", "type": "IMPORT_JUDGMENT", "judgmentRatings": ratings}
    found = {"took": 3, "hits": {"total": {"value": 1}, "hits": [{"_id": "7", "_source": judgments}]}}
    for qrels in (ratings, judgments, found, file("list.json", judgments), file("found.json", found)):
        assert values(qrels, RUN) == GRADED
    with pytest.raises(
        InputError, match="is a list of judgments of OpenSearch, which is not a run; give the responses"
    ):
        values(QRELS, judgments)
    found["hits"]["hits"] *= 2
    with pytest.raises(InputError, match=r"holds 2 lists of judgments, perhaps of several judges: give the judgmentR"):
        values(found, RUN)


def test_ratings_of_the_rated_ranking_evaluator(file):
    def group(query, documents):
        queries = [{"template": "only_q.json", "placeholders": {"$query": query}}]
        return {"name": f"about {query}", "queries": queries, "relevant_documents": documents}

    by_gain = {"2": ["d1"], "1": ["d3"], "0": ["d2"]}
    by_document = {doc: {"gain": gain} for doc, gain in QRELS["q1"].items()}
    in_list = [{doc: {"gain": gain}} for doc, gain in QRELS["q1"].items()]
    for first in (by_gain, by_document, in_list):
        groups = [group("q1", first), group("q2", {"d4": {"gain": 1}})]
        start = {"index": "core", "id_field": "id"}
        topics = [{"description": "all", "query_groups": groups}]
        for content in (start | {"topics": topics}, start | {"query_groups": groups}):
            assert values(content, RUN) == values(file("ratings.json", content), RUN) == GRADED
        queries = [
            {"placeholders": {"$query": "q1"}, "relevant_documents": first},
            {"placeholders": {"$query": "q2"}, "relevant_documents": {"1": ["d4"]}},
        ]
        for content in (start | {"queries": queries}, {"queries": queries}):
            assert values(content, RUN) == values(file("ratings.json", content), RUN) == GRADED
    assert gradely.read_qrels(start | group("q7", by_gain)).queries[:] == ["q7"]
    with pytest.raises(InputError, match="Rated Ranking Evaluator, which is not a run; give the retrieved documents"):
        values(QRELS, content)


PREDICTIONS = {"mteb_model_meta": {"model_name": "m"}, "default": {"test": RUN}}


def test_predictions_of_mteb(file):
    for run in (RUN, PREDICTIONS, file("v1.json", RUN), file("v2.json", PREDICTIONS)):
        assert values(QRELS, run) == GRADED
    several = PREDICTIONS | {"default": {"dev": {"q1": ["d1"]}, "test": RUN}, "de": {"test": {"q1": ["d3"]}}}
    for run in (several, file("several.json", several)):
        with pytest.raises(InputError, match=r"more than one split: default/dev, default/test, de/test; choose one"):
            values(QRELS, run)
        with pytest.raises(InputError, match=r"more than one split test: default/test, de/test; choose one"):
            gradely.read_run(run, split="test")
        with pytest.raises(InputError, match=r"has no split train: default/dev"):
            gradely.read_run(run, split="train")
        assert values(QRELS, gradely.read_run(run, split="default/test")) == GRADED


def test_the_split_is_chosen_on_the_command_line(file, capfd):
    several = PREDICTIONS | {"default": {"dev": {"q1": ["d1"]}, "test": RUN}}
    files = [str(file("qrels.json", QRELS)), str(file("run.json", several))]
    assert cli(["evaluate", *files, "-m", "RR"]) == 2
    assert "--split default/dev" in capfd.readouterr().err
    assert cli(["evaluate", *files, "-m", "RR", "--split", "test", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "run,0.75"


@pytest.mark.parametrize("ending", ["json", "jsonl", "txt"])
def test_exports_in_one_line_may_have_any_name(file, ending):
    case = {"queries": [{"query": query, "ratings": docs} for query, docs in QRELS.items()]}
    for qrels in (RANK_EVAL, case, {"queries": {}, "relevant_docs": QRELS}):
        assert values(file(f"qrels.{ending}", lines([qrels])), RUN) == GRADED
    for run in (rank_eval_response(), PREDICTIONS):
        assert values(QRELS, file(f"run.{ending}", lines([run]))) == GRADED


def test_results_of_mteb_hold_means(file):
    result = {"dataset_revision": "abc", "task_name": "SciFact", "mteb_version": "2.1", "scores": {"test": []}}
    for run in (result, file("SciFact.json", result)):
        with pytest.raises(InputError, match="is a result of MTEB, which is not a run; it holds means, not rankings"):
            values(QRELS, run)


def test_two_columns_that_may_be_the_label_are_an_error(file):
    path = file("rcp.tsv", "query-id\tcorpus-id\tscore\tgain\ttheta\nq1\td1\t1\t0.5\t3\n")
    with pytest.raises(
        InputError, match=r"'score' and 'gain' may both be the label column; pass columns=\{'label': 'score'"
    ):
        values(path, RUN)
    assert gradely.read_qrels(path, columns={"label": "gain"}).labels("q1") == {"d1": 0.5}
    both = frame(QRELS, "qid", "docno", "label").assign(relevance=1)
    with pytest.raises(InputError, match="'label' and 'relevance' may both be the label column"):
        values(both, RUN)


def test_atomic_files_of_recbole(file):
    text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    text += "".join(f"{query}\t{doc}\t{label}\t881250949\n" for query, doc, label in rows(QRELS))
    for name in ("ml-100k.inter", "ml.tsv", "ml.txt"):
        assert values(file(name, text), RUN) == GRADED


def test_runs_of_ms_marco(file):
    text = "".join(f"{query}\t{doc}\t{rank}\n" for query, docs in RUN.items() for rank, doc in enumerate(docs, 1))
    assert values(QRELS, file("run.dev.small.tsv", text)) == GRADED
    assert values(QRELS, file("crlf.tsv", text.replace("\n", "\r\n"))) == GRADED
    with pytest.raises(InputError, match="look like a run of MS MARCO, and qrels come first"):
        values(file("run.tsv", text), RUN)
    with pytest.raises(InputError, match=r"3 fields instead of 6.*ranks of MS MARCO, between tabs"):
        values(QRELS, file("blanks.txt", text.replace("\t", " ")))
    assert values(QRELS, file("blank.tsv", text.replace("\n", "\n\n"))) == GRADED
    quoted = {"q1": {'"d2': 0.9, 'd1"': 0.8}, "q2": {'"d4"': 0.7}}  # without a header, quotes are part of ids
    path = file(
        "quotes.tsv", "".join(f"{q}\t{doc}\t{i}\n" for q, docs in quoted.items() for i, doc in enumerate(docs, 1))
    )
    assert values({"q1": {'d1"': 1}, "q2": {'"d4"': 1}}, path) == values({"q1": {'d1"': 1}, "q2": {'"d4"': 1}}, quoted)
    from_0 = file(
        "from0.tsv", "".join(f"{q}\t{doc}\t{rank}\n" for q, docs in RUN.items() for rank, doc in enumerate(docs))
    )
    with pytest.raises(InputError, match=r"3 fields instead of 6.*--run-format msmarco"):
        values(QRELS, from_0)
    assert values(QRELS, gradely.read_run(from_0, format="msmarco")) == GRADED
    with pytest.raises(InputError, match="3 fields instead of 6"):  # scores, not ranks
        values(QRELS, file("scores.tsv", text.replace("\t1\n", "\t3.5\n")))
    long = "".join(f"{query}\t{doc}\t{rank}\n" for query in ("q1", "q2") for rank, doc in enumerate(range(2000), 1))
    assert gradely.evaluate({"q1": {"9": 1}, "q2": {"1999": 1}}, file("long.tsv", long), ["RR"])["RR"] == (
        (1 / 10 + 1 / 2000) / 2
    )


def nested_results(name, table=RUN):
    """Return results inside of their queries, the worst first, with scores by some name."""
    worst_first = {query: sorted(docs.items(), key=lambda item: item[1]) for query, docs in table.items()}
    return {query: [{"id": doc, name: score} for doc, score in docs] for query, docs in worst_first.items()}


def test_scores_of_nested_results_have_a_name_that_is_known_or_said(file):
    for name, options in (("relevance_score", {}), ("cosine", {"columns": {"score": "cosine"}})):
        by_query = nested_results(name)
        records = [{"query": query, "results": results} for query, results in by_query.items()]
        by_line = [{query: results} for query, results in by_query.items()]
        files = file("a.json", records), file("b.json", by_query), file("c.jsonl", lines(by_line))
        for run in (records, by_query, *files, file("d.jsonl", lines(records))):
            assert values(QRELS, run, **options) == GRADED
            if options:
                with pytest.raises(
                    InputError,
                    match=r"no score column.*high values are best, pass .*\(--columns score=cosine\)",
                ):
                    values(QRELS, run)
    with pytest.raises(
        InputError, match="low values of 'distance' are probably best, but high scores rank first: pass its negative"
    ):
        values(QRELS, nested_results("distance"))
    assert values(nested_results("rating", QRELS), RUN) == GRADED
    unscored = {"q": [{"id": "b", "page_id": 3, "cached": True}, {"id": "a", "page_id": 9, "cached": False}]}
    assert gradely.evaluate({"q": {"a": 1}}, unscored, ["RR"]).mean() == {"RR": 0.5}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("irds:beir/scifact/test", "ir_datasets export beir/scifact/test qrels > qrels.txt"),
        ("msmarco-passage/trec-dl-2019/judged", "ir_datasets.load('msmarco-passage/trec-dl-2019/judged').qrels_iter()"),
        ("irds:msmarco/dev", "qrels_iter(); a run is the output of your system"),
        ("hf://datasets/BeIR/scifact-qrels/test.tsv", "datasets.load_dataset('BeIR/scifact-qrels', split='test')"),
        ("https://example.org/qrels.txt", "curl -LO https://example.org/qrels.txt"),
        ("s3://bucket/run.parquet", "get the file first"),
    ],
)
def test_nothing_is_downloaded(path, says):
    for arguments in ((path, RUN), (QRELS, path)):
        with pytest.raises(InputError, match=f"no such file; nothing is downloaded: .*{re.escape(says)}"):
            gradely.evaluate(*arguments)
    with pytest.raises(InputError, match=r"no such file$"):
        gradely.evaluate("missing.txt", RUN)


@pytest.mark.parametrize("name", ["msmarco-v1-passage-dev", "dl19-passage", "beir-v1.0.0-nfcorpus-test"])
def test_names_of_pyserini_are_no_ids_of_ir_datasets(name):
    for arguments in ((name, RUN), (QRELS, name)):
        with pytest.raises(InputError, match=r"looks like a name of Pyserini, and nothing is downloaded") as refused:
            gradely.evaluate(*arguments)
        assert "ir_datasets" not in str(refused.value)


class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


@dataclass(frozen=True)
class Retrieved:
    query_id: str
    doc_id: str
    score: float


def test_generators_and_other_iterables_of_records():
    qrels = [Judgment(*row, "0") for row in rows(QRELS)]
    for run in ([ScoredDoc(*row) for row in rows(RUN)], [Retrieved(*row) for row in rows(RUN)]):
        assert values((row for row in qrels), (row for row in run)) == GRADED
        assert values(iter(qrels), dict.fromkeys(run).keys()) == GRADED
    with pytest.raises(
        DataError, match=r"is a list of objects of type Row: give dicts or named tuples, like \{'query'"
    ):
        values(qrels, [type("Row", (), {"query_id": "q1", "doc_id": 1.5, "score": 1})()])
    with pytest.raises(DataError, match="run: cannot be read from list: it has no rows"):
        values(QRELS, (row for row in ()))
    by = gradely.evaluate((row for row in qrels), RUN, ["RR"], by="iteration").segments
    assert by["0"] == {"RR": 0.75}


class Dataset:
    """As a data set of Hugging Face: it is no frame, but becomes one."""

    def __init__(self, table, names):
        self.frame = frame(table, *names)

    def to_polars(self):
        raise ImportError("polars")

    def to_pandas(self):
        return self.frame

    def __iter__(self):
        return iter(self.frame.to_dict("records"))


def test_data_sets_of_hugging_face():
    qrels = Dataset(QRELS, ("query-id", "corpus-id", "score"))
    assert values(qrels, Dataset(RUN, ("query-id", "corpus-id", "score"))) == GRADED
    with pytest.raises(InputError, match=r"is a dict of data sets.*one of its splits, like data\['test'\]"):
        values({"test": qrels}, RUN)


def test_data_sets_of_llama_index(file):
    content = {
        "queries": {"q1": "some words", "q2": "others"},
        "corpus": {"d1": "text"},
        "relevant_docs": BINARY,
        "mode": "text",
    }

    class Finetuning:
        queries, corpus, relevant_docs, mode = content.values()

    for qrels in (content, Finetuning(), file("dataset.json", content)):
        assert values(qrels, RUN) == LISTED
    assert values(content | {"relevant_docs": QRELS}, RUN) == GRADED  # with labels, as in data sets of BEIR
    with pytest.raises(
        InputError, match=r"is a dataset of LlamaIndex, which is not a run; give the retrieved documents"
    ):
        values(QRELS, content)


def ragas(kind="ids"):
    names = (
        ("retrieved_context_ids", "reference_context_ids")
        if kind == "ids"
        else (
            "retrieved_contexts",
            "reference_contexts",
        )
    )
    return [
        {"user_input": query, names[0]: list(RUN[query]), names[1]: BINARY[query], "response": "so", "reference": "so"}
        for query in BINARY
    ]


@pytest.mark.parametrize("kind", ["ids", "texts"])
def test_rows_of_ragas_are_qrels_and_run(file, kind):
    content = ragas(kind)
    for both in (content, pd.DataFrame(content), pl.DataFrame(content), file("rows.json", content)):
        assert values(both, both) == LISTED
    path = file("rows.jsonl", lines(content))
    assert values(path, path) == LISTED
    for name in ("row.json", "row.jsonl", "row.txt"):
        path = file(name, lines(content[:1]))
        assert values(path, path) == {"q1": LISTED["q1"]}
    with pytest.raises(InputError, match="rows 1 and 3 have the same user_input, 'q1'"):
        values([*content, content[0]], RUN)
    for row in ({"user_input": "q1", "retrieved_contexts": ["d1"]}, content[0] | dict.fromkeys(content[0], "['d1']")):
        with pytest.raises(
            InputError, match="row 1 of ragas has none of reference_context_ids, reference_contexts, which"
        ):
            values([row], RUN)
    mixed = [content[0] | {"reference_context_ids": None, "reference_contexts": ["text"]}, *ragas("ids")[1:]]
    for rows in (mixed, pd.DataFrame(mixed)):
        with pytest.raises(InputError, match="row 1 of ragas has no reference_context_ids, unlike others; give every"):
            values(rows, RUN)


def test_older_rows_of_ragas_have_no_judgments(file):
    older = [
        {"question": query, "contexts": [*docs], "answer": "so", "ground_truth": "so"} for query, docs in RUN.items()
    ]
    for rows in (older, pd.DataFrame(older), file("rows.json", older), file("rows.jsonl", lines(older))):
        assert values(QRELS, rows) == GRADED
        with pytest.raises(InputError, match="none of reference_context_ids, reference_contexts, which hold the judg"):
            values(rows, RUN)
    judged = [row | {"reference_contexts": BINARY[row["question"]]} for row in older]
    assert values(judged, judged) == LISTED
    with pytest.raises(InputError, match="rows 1 and 3 have the same question, 'q1'"):
        values([*judged, judged[0]], RUN)


def test_ragas_on_the_command_line(file, capfd):
    path = str(file("rows.jsonl", lines(ragas())))
    assert cli(["evaluate", path, path, "-m", "RR", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "rows,0.75"
    assert cli(["evaluate", path, "-m", "RR"]) == 2
    assert "a file of ragas rows has both: name it twice" in capfd.readouterr().err


def test_columns_of_ragas_are_refused_with_what_to_give(file):
    columns = {name: [row[name] for row in ragas()] for name in ragas()[0]}
    header = "user_input,retrieved_context_ids,reference_context_ids\n"
    table = file("rows.csv", header + "q1,\"['d1', 'd2']\",['d1']\n")
    for both in (columns, file("columns.json", columns), table):
        for arguments in ((both, RUN), (QRELS, both)):
            with pytest.raises(InputError, match=r"; give its rows, one object per line: JSON Lines"):
                gradely.evaluate(*arguments)


def test_responses_of_chroma_have_no_queries(file):
    response = {"ids": [["d1", "d2"]], "distances": [[0.1, 0.4]], "documents": [["text", "other"]]}
    texts = {"ids": [["d1", "d2"]], "embeddings": None, "documents": [["text", "other"]], "metadatas": None}
    for run in (response, texts, file("chroma.json", response), file("texts.json", texts)):
        with pytest.raises(
            InputError, match=r"Chroma, which is not a run; it has no ids of queries, and low distances"
        ):
            values(QRELS, run)


def test_results_in_order_without_scores(file):
    records = [
        {"query": query, "results": [{"id": doc, "metadata": {"page": 1}} for doc in docs]}
        for query, docs in RUN.items()
    ]
    for run in (records, file("run.json", records), file("run.jsonl", lines(records))):
        assert values(QRELS, run) == GRADED


def test_results_as_pairs_of_an_id_and_a_score(file):
    records = [
        {"query": query, "results": [[doc, score] for doc, score in docs.items()][::-1]} for query, docs in RUN.items()
    ]
    pairs = [{"query": query, "results": [*docs.items()]} for query, docs in RUN.items()]
    for run in (records, pairs, file("run.json", records), file("run.jsonl", lines(records))):
        assert values(QRELS, run) == GRADED


def test_results_with_ranks_may_have_any_order():
    run = [{"query": "q", "results": [{"id": "d1", "rank": 2}, {"id": "d2", "rank": 1}]}]
    scores = gradely.evaluate({"q": {"d1": 1, "d2": 0}}, run, ["RR"])
    assert scores["RR"] == 0.5
    assert not [*scores.notes]


def test_passages_become_documents(file, capfd):
    passages = {
        query: {f"{doc}#{i}": score - i / 4 for doc, score in docs.items() for i in range(2)}
        for query, docs in RUN.items()
    }
    run = file("passages.json", passages)
    assert values(QRELS, gradely.read_run(run, document_pattern="(.*)#")) == GRADED
    with pytest.raises(DataError, match=r"run: the document pattern '\(\.\*\)#' matches no document, such as"):
        gradely.read_run(RUN, document_pattern="(.*)#")
    assert "possible reason: passages of documents (document_pattern='^(.*)#', --document-pattern '^(.*)#')" in notes(
        QRELS, run
    )
    summed = gradely.read_run({"q": {"a#0": 1, "a#1": 2}}, document_pattern="(.*)#", duplicates="sum")
    assert summed.scores["q"] == {"a": 3.0}
    for pattern, says in (
        ("(", "is not a regular expression"),
        (".*#", "put the part that names the document, and nothing else, in parenth"),
    ):
        with pytest.raises(InputError, match=says):
            gradely.read_run(run, document_pattern=pattern)
    arguments = [str(file("qrels.json", QRELS)), str(run), "-m", "RR", "--format", "csv"]
    assert cli(["evaluate", *arguments, "--document-pattern", "(.*)#"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "passages,0.75"


def test_judgments_of_subtopics_are_named(file):
    path = file("diversity.txt", "q1 1 d1 2\nq1 2 d1 1\nq1 1 d2 0\nq1 1 d3 1\nq2 1 d4 1\n")
    with pytest.raises(DataError, match=r"diversity.txt:2: .*if '1' and '2' are subtopics, .*--subtopics"):
        values(path, RUN)
    assert values(path, RUN, duplicates="max") == GRADED
    with pytest.raises(DataError, match=r"first in line 1; keep one, or .*\(--duplicates max\)$"):
        values(file("same.txt", "q1 0 d1 2\nq1 0 d1 1\n"), RUN)


def test_archives_open_files_and_lists_of_files_are_refused_by_name(file, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("a.run", "q1 Q0 d1 1 0.5 t\n")
    with pytest.raises(InputError, match=r"runs.zip: is a zip archive.*unpack it"):
        values(QRELS, tmp_path / "runs.zip")
    with pytest.raises(InputError, match=r"runs.xlsx: is a spreadsheet.*save the sheet as CSV"):
        values(QRELS, (tmp_path / "runs.zip").rename(tmp_path / "runs.xlsx"))
    path = file("qrels.txt", "q1 0 d1 1\n")
    for name, mode in (("qrels.tar", "w"), ("qrels.tar.gz", "w:gz"), ("qrels.tgz", "w:gz")):
        with tarfile.open(tmp_path / name, mode) as tar:
            tar.add(path, "qrels.txt")
        with pytest.raises(InputError, match=rf"{name}: is a tar archive.*unpack it"):
            values(tmp_path / name, RUN)
    with path.open() as opened, pytest.raises(DataError, match=f"is an open file: give its path, '{path}'"):
        values(opened, RUN)
    with pytest.raises(DataError, match="is an open file: give records, or a file that holds the text"):
        values(QRELS, io.StringIO("q1 Q0 d1 1 0.5 t\n"))
    for qrels in ([str(path), str(path)], [path, path], (gradely.read_qrels(path),)):
        with pytest.raises(DataError, match=r"qrels: is a list of \d: give one, or concatenate the files"):
            values(qrels, RUN)


def test_binary_files_are_refused_by_name(tmp_path):
    for start, says in (
        (b"ARROW1\0\0", "is an Arrow file: in Python, give pyarrow"),
        (b"\xff\xff\xff\xff\xc8\0", "is an Arrow file"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (b"\x93NUMPY\x01\0", "is a file of NumPy"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
        (b"\xd0\xcf\x11\xe0", "is a spreadsheet, which is not read: save the sheet as CSV"),
        (b"\x80\x04\x95", "is a pickle, which is never loaded"),
    ):
        (tmp_path / "binary").write_bytes(start)
        with pytest.raises(InputError, match=f"binary: {says}"):
            values(QRELS, tmp_path / "binary")


class Ranx:
    """As qrels and runs of ranx, which are no mappings."""

    __module__ = "ranx.data_structures.qrels"

    def __init__(self, values):
        self.values = values

    def keys(self):
        return self.values.keys()

    def to_dict(self):
        return self.values


def test_objects_of_ranx():
    assert values(Ranx(QRELS), Ranx(RUN)) == GRADED


def test_frames_and_series_with_ids_in_their_index():
    qrels = frame(QRELS, "query_id", "doc_id", "label").set_index(["query_id", "doc_id"])
    run = frame(RUN, "query_id", "doc_id", "score").set_index(["query_id", "doc_id"])
    half = frame(RUN, "query_id", "doc_id", "score").set_index("query_id")
    for given in (run, half, run["score"], run["score"].rename(None)):
        assert values(qrels, given) == values(qrels["label"], given) == GRADED
    by_list = frame(RUN, "query_id", "doc_id", "score").groupby("query_id")["doc_id"].apply(list)
    assert values(QRELS, by_list) == GRADED
    by_query = {query: pd.Series(docs) for query, docs in RUN.items()}
    with pytest.raises(DataError, match=r"query 'q1': found a Series of numbers; give its to_dict\(\)"):
        values(QRELS, by_query)
    assert values(QRELS, {query: series.to_dict() for query, series in by_query.items()}) == GRADED
    for library in (pd, pl):
        assert values(QRELS, {query: library.Series([*docs]) for query, docs in RUN.items()}) == GRADED
    for by_frame in ({"q1": frame(RUN, "query_id", "doc_id", "score")}, {"q1": pl.DataFrame({"doc_id": ["d1"]})}):
        for arguments in ((QRELS, by_frame), (by_frame, RUN)):
            several = "; several runs" if arguments[1] is by_frame else "$"
            with pytest.raises(InputError, match=rf"is a dict of data sets or tables, .* a column of queries{several}"):
                values(*arguments)
    numbered = frame(RUN, "query_id", "doc_id", "score")
    numbered.index.name = "row"
    assert values(qrels, numbered) == GRADED


@pytest.mark.parametrize("name", ["predicted", "predicted_rating", "est", "prediction"])
def test_names_of_predictions(name):
    assert values(QRELS, frame(RUN, "user", "item", name)) == GRADED
    with_truth = frame(RUN, "user", "item", name).assign(rating=3)
    assert values(QRELS, with_truth) == GRADED
    assert f"{name!r} is read as the score, and not 'rating'" in notes(QRELS, with_truth)


def test_cases_of_quepid_in_json(file):
    ratings = [{"query": query, "ratings": docs} for query, docs in QRELS.items()] + [{"query": "q9", "ratings": {}}]
    queries = [{"arranged_at": 1, "query_text": query, "ratings": docs} for query, docs in QRELS.items()]
    for content in ({"queries": ratings}, {"case_name": "c", "scorer": {}, "queries": queries, "tries": []}):
        for qrels in (content, file("case.json", content)):
            assert values(qrels, RUN) == GRADED
            with pytest.raises(InputError, match="is a case of Quepid, which is not a run; give a snapshot"):
                values(QRELS, qrels)


def test_judgments_for_learning_to_rank_without_features(file):
    """As Quepid and the plugins of Elasticsearch and OpenSearch write them: the document begins the comment."""
    text = "".join(f"{label}\tqid:{query} #\t{doc}\tsome words\n" for query, doc, label in rows(QRELS))
    for start in ("", "# qid:q1: words\n#\n", "\n# https://example.org\n\n"):
        assert values(file("judgments.txt", start + text), RUN) == GRADED
    assert values(file("judgments.txt", text.replace("\t", " ")), RUN) == GRADED


def test_cases_of_quepid_have_no_ranking_without_positions(file):
    old = "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating\nT,C,7,q1,d1,One,2\nT,C,7,q1,d2,Two,\n"
    for text in (old, "query,docid,rating\nq1,d1,2\n"):
        path = file("case.csv", text)
        assert gradely.read_qrels(path).labels("q1") == {"d1": 2.0}
        with pytest.raises(InputError, match=r"is a case of Quepid without positions.* \(--columns score=[Rr]ating\)"):
            values(QRELS, path)
        with pytest.raises(InputError, match="is a case of Quepid without positions"):
            values(QRELS, pd.read_csv(path))
    assert values(QRELS, path, columns={"score": "rating"})["q1"]["RR"] == 1.0


def test_details_of_quepid_are_qrels_and_a_run(tmp_path):
    header = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n"
    (tmp_path / "d.csv").write_text(
        header + "T,C,7,star wars,11,2,One,3\nT,C,7,star wars,12,1,Two,\nT,C,7,alien,11,1,Three,1\nT,C,7,nothing\n"
    )
    scores = gradely.evaluate(tmp_path / "d.csv", tmp_path / "d.csv", ["RR"])
    assert scores.per_query() == {"star wars": {"RR": 0.5}, "alien": {"RR": 1.0}}
    said = list(map(str, scores.notes))
    assert any("2 of 4 rows have no rating and count as unjudged" in note for note in said)
    assert any("1 of 4 rows has no document and is left out" in note for note in said)
    by = gradely.evaluate(tmp_path / "d.csv", tmp_path / "d.csv", ["RR"], by="Case Name").segments
    assert by["C"] == {"RR": 0.75}
    assert any("'Doc Position' is read as the score, and not 'Rating'" in note for note in said)


def test_snapshots_of_quepid_are_runs_one_at_a_time(file):
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
    one = "".join(f"S,t,7,{query},{doc},{at}\n" for query, docs in RUN.items() for at, doc in enumerate(docs, 1))
    path = file("snapshot.csv", header + one)
    assert values(QRELS, path) == GRADED
    with pytest.raises(InputError, match="a rank without a label looks like a run, and qrels come first"):
        values(path, RUN)
    both = file("both.csv", header + one.replace("S,t,7,q2", "T,t,7,q2"))
    assert "'Snapshot Name' has several values, such as 'S' and 'T', and all rows are read as one run" in notes(
        QRELS, both
    )


def test_hive_partitions_are_columns(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    for query, docs in RUN.items():
        folder = tmp_path / "run" / f"query_id={query}"
        folder.mkdir(parents=True)
        pl.DataFrame({"doc_id": list(docs), "score": list(docs.values())}).write_parquet(folder / "part-0.parquet")
    for path in (tmp_path / "run", str(tmp_path / "run" / "*" / "*.parquet")):
        assert values(QRELS, path) == GRADED
    data = dataset.dataset(tmp_path / "run", partitioning="hive")
    assert values(QRELS, data) == values(QRELS, data.scanner().to_reader()) == GRADED
    nobody = tmp_path / "null" / "query_id=__HIVE_DEFAULT_PARTITION__"
    nobody.mkdir(parents=True)
    pl.DataFrame({"doc_id": ["x"], "score": [1.0]}).write_parquet(nobody / "part-0.parquet")
    with pytest.raises(InputError, match=r"part-0\.parquet: the query_id of its rows is missing; leave this file out"):
        values(QRELS, tmp_path / "null")
    odd = tmp_path / "run" / "when=7"
    odd.mkdir()
    pl.DataFrame({"doc_id": ["x"], "score": [1.0]}).write_parquet(odd / "part-0.parquet")
    with pytest.raises(InputError, match="has no column 'query_id'"):
        values(QRELS, tmp_path / "run")


def test_names_in_hive_partitions_are_unquoted(tmp_path):
    folder = tmp_path / "run" / "query_id=a%2Fb"
    folder.mkdir(parents=True)
    pl.DataFrame({"doc_id": ["d"], "score": [1.0]}).write_parquet(folder / "part-0.parquet")
    assert gradely.evaluate({"a/b": {"d": 1}}, tmp_path / "run", ["RR"])["RR"] == 1.0


def table_of(document):
    """Yield the first cell of each row of the table of formats."""
    text = Path(document).read_text(encoding="utf-8").partition("## Files and objects of other tools")[2]
    return [line.split("|")[1].strip() for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")][1:]


def test_each_row_of_the_document_has_a_test_and_each_test_a_row():
    document = Path(__file__).parents[2] / "docs" / "reference" / "inputs.md"
    assert {row: row in TESTED for row in table_of(document)} == dict.fromkeys(TESTED, True)
    assert all(name in globals() for name in TESTED.values())


TESTED = {
    "PyTerrier, frames and CSV": "test_terrier_frames_are_read_by_docno",
    "Quepid, CSV of a case": "test_quepid_rows_without_a_rating_are_unjudged",
    "Quepid, detailed CSV of a case": "test_details_of_quepid_are_qrels_and_a_run",
    "Quepid, JSON of a case": "test_cases_of_quepid_in_json",
    "Quepid and Elasticsearch, judgments for learning to rank": (
        "test_judgments_for_learning_to_rank_without_features"
    ),
    "Quepid, CSV of a snapshot": "test_snapshots_of_quepid_are_runs_one_at_a_time",
    "Quepid, CSV of a book": "test_quepid_books_have_a_column_per_rater",
    "Elasticsearch, request of `_rank_eval`": "test_rank_eval_requests_are_qrels",
    "Elasticsearch, response of `_rank_eval`": "test_rank_eval_responses_are_runs_and_ratings",
    "search engines, responses": "test_search_responses_are_runs_by_query",
    "clients of search engines, results": "test_results_of_clients",
    "pandas and polars, JSON with a table as one object": "test_tables_in_one_object_are_refused_with_what_to_give",
    "OpenSearch, judgments": "test_opensearch_judgments",
    "Rated Ranking Evaluator, JSON": "test_ratings_of_the_rated_ranking_evaluator",
    "MTEB, predictions": "test_predictions_of_mteb",
    "MTEB, results": "test_results_of_mteb_hold_means",
    "MTEB and Cohere, `score` beside `gain`": "test_two_columns_that_may_be_the_label_are_an_error",
    "RecBole, `.inter`": "test_atomic_files_of_recbole",
    "MS MARCO, run": "test_runs_of_ms_marco",
    "ir_datasets, Hugging Face, URLs": "test_nothing_is_downloaded",
    "Pyserini, names of topics and qrels": "test_names_of_pyserini_are_no_ids_of_ir_datasets",
    "ir_measures, generators, any iterable": "test_generators_and_other_iterables_of_records",
    "Hugging Face, `Dataset`; pyarrow, `dataset` and readers": "test_data_sets_of_hugging_face",
    "LlamaIndex, dataset": "test_data_sets_of_llama_index",
    "ragas, rows and Parquet": "test_rows_of_ragas_are_qrels_and_run",
    "ragas, columns and CSV": "test_columns_of_ragas_are_refused_with_what_to_give",
    "Chroma, response": "test_responses_of_chroma_have_no_queries",
    "results in ranked order, without scores": "test_results_in_order_without_scores",
    "passages of documents": "test_passages_become_documents",
    "diversity qrels, nuggets": "test_judgments_of_subtopics_are_named",
    "archives, open files, lists of files": "test_archives_open_files_and_lists_of_files_are_refused_by_name",
    "Arrow, pickle, SQLite, NumPy and HDF5 files, spreadsheets": "test_binary_files_are_refused_by_name",
    "ranx, `Qrels` and `Run`": "test_objects_of_ranx",
    "pandas, ids in the index": "test_frames_and_series_with_ids_in_their_index",
    "Surprise, LensKit and others, predictions": "test_names_of_predictions",
    "Hive, folders of Parquet": "test_hive_partitions_are_columns",
}
