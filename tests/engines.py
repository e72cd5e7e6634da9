"""A collection for engines, with ties, unjudged queries and names of all sorts, and what must be the same in all."""

import numpy as np
import pyarrow as pa

import gradely

MEASURES = ["nDCG@10", "AP", "RR", "muAP", "R@20"]


def collection(queries=40, documents=60, seed=0):
    """Return judgments and a run as Arrow tables; one query is unjudged, one unanswered, and zeros have both signs."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), documents)
    document = [f"{'é𝄞Zz'[i % 4]}{i}" for i in np.tile(np.arange(documents), queries)]
    score = rng.integers(-4, 12, len(query)) / 7.0
    score[score == 0] *= rng.choice([-1.0, 1.0], int((score == 0).sum()))
    table = pa.table({"query_id": query, "doc_id": document, "score": score})
    judged = table.filter(pa.array((rng.random(len(query)) < 0.2) & (query != 3)))
    labels = pa.array(rng.integers(-1, 4, len(judged)))
    qrels = pa.table({"query_id": judged["query_id"], "doc_id": judged["doc_id"], "label": labels})
    run = table.filter(pa.array((rng.random(len(query)) < 0.9) & (query != 5)))
    return qrels, run.take(rng.permutation(len(run)))


def same_everywhere(into, ties, **settings):
    """Assert that an engine gives the values of the same tables at hand, to the last bit; `into` puts a table in it."""
    qrels, run = collection()
    ours = gradely.evaluate(qrels, run, MEASURES, ties=ties, **settings)
    theirs = gradely.evaluate(into(qrels), into(run), MEASURES, ties=ties, **settings)
    assert theirs.mean() == ours.mean()
    assert {query: theirs.query(query) for query in theirs.queries} == {
        query: ours.query(query) for query in ours.queries
    }
