"""Measures of subtopics have the values of pyndeval, which wraps ndeval, on random and on real data."""

import gzip
import random

import pytest

import gradely
from tests.shared_data import MORE_DATA, needs_more
from tests.tools.tool import tool

pyndeval = tool("pyndeval")
MEASURES = [
    *(f"{name}@{k}" for name in ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec") for k in (5, 10, 20)),
    *("alpha-nDCG@1", "nERR-IA@1", "NRBP", "nNRBP", "MAP-IA"),
]
"""α-DCG@1 and ERR-IA@1 are left out, which ndeval does not divide by their norm"""


def compare(qrels, run):
    """Compare all values; the run has no ties, and nothing is said of queries without relevant documents."""
    lines = [(q, s, d, label) for q, docs in qrels.items() for d, labels in docs.items() for s, label in labels.items()]
    theirs = pyndeval.ndeval(
        [pyndeval.SubtopicQrel(q, s, d, int(label)) for q, s, d, label in lines],
        [pyndeval.ScoredDoc(q, d, score) for q, docs in run.items() for d, score in docs.items()],
        measures=MEASURES,
    )
    ours = gradely.evaluate(qrels, run, MEASURES, ties="trec")
    compared = [query for query, docs in qrels.items() if any(max(labels.values()) > 0 for labels in docs.values())]
    for query in compared:
        assert ours.query(query) == pytest.approx(theirs[query], abs=1e-9), query
    return len(compared)


@pytest.mark.parametrize("seed", range(20))
def test_random_judgments(seed):
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in map(str, range(1, 6)):
        docs = [f"d{i:02}" for i in range(rng.randint(3, 30))]
        of_query = {doc: {str(s): rng.choice((0, 0, 1, 2)) for s in range(1, 5) if rng.random() < 0.7} for doc in docs}
        qrels[query] = {doc: labels or {"1": 0} for doc, labels in of_query.items()}
        ranked = rng.sample([*docs, *(f"x{i}" for i in range(5))], rng.randint(1, len(docs)))
        run[query] = {doc: float(-place) for place, doc in enumerate(ranked)}
    assert compare(qrels, run) > 2


@needs_more("trec-web-2014-diversity")
def test_the_judgments_of_trec_web_2014():
    """One run of 100 documents for each of 50 topics, its ties in the order of names."""
    folder = MORE_DATA / "trec-web-2014-diversity"
    qrels = gradely.read_qrels(folder / "qrels.web.251-300.ndeval.txt.gz", subtopics=True)
    run: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(folder / "runs" / "cedr-bm25.test.wt14.run.gz", "rt") as lines:
        for query, _, doc, _, score, _ in map(str.split, lines):
            run.setdefault(query, []).append((-float(score), doc))
    untied = {query: {doc: float(-place) for place, (_, doc) in enumerate(sorted(docs))} for query, docs in run.items()}
    assert compare({query: qrels.subtopic_labels(query) for query in qrels.queries}, untied) == 50
