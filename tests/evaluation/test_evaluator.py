"""Evaluator: prepared once, called with one run after another; equal to evaluate to the last bit."""

import threading
from random import Random

import numpy as np
import pytest

import gradely
from gradely.measures import PLAIN
from gradely.settings import QUERIES, TIES
from tests.cases import SETTINGS

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100", "muAP", "nDCG(gain='exp')@5", "NDCNG", "nDCGphi", "ERR", "eGAP"]


def collection(seed, queries=6, documents=30, *, tied=True):
    draw = Random(seed)
    names = [f"d{i}" for i in range(documents)]
    qrels = {
        f"q{q}": {doc: draw.choice([0, 0, 1, 2, 3]) for doc in draw.sample(names, draw.randint(1, documents // 2))}
        for q in range(queries)
    }
    runs = [
        {
            f"q{q}": {doc: draw.randint(0, 9) if tied else draw.random() for doc in draw.sample(names, documents // 2)}
            for q in draw.sample(range(queries + 2), draw.randint(1, queries))
        }
        for _ in range(4)
    ]
    return qrels, [run for run in runs if qrels.keys() & run.keys()]


def assert_same(scores, expected):
    assert scores.queries == expected.queries
    assert scores.measures == expected.measures
    assert scores.values.tobytes() == expected.values.tobytes()
    assert scores.mean() == expected.mean()
    assert list(map(str, scores.notes)) == list(map(str, expected.notes))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("queries", QUERIES)
@pytest.mark.parametrize("ties", TIES)
def test_it_gives_what_evaluate_gives(ties, queries, tied):
    for seed in range(2):
        qrels, runs = collection(seed, queries=4, documents=20, tied=tied)
        evaluator = gradely.Evaluator(qrels, MEASURES, ties=ties, queries=queries, seed=seed)
        for run in [*runs, runs[0]]:
            assert_same(evaluator(run), gradely.evaluate(qrels, run, MEASURES, ties=ties, queries=queries, seed=seed))


@pytest.mark.parametrize("settings", [{"judged_only": True}, {"precision": "single"}, {"threads": 2}])
def test_it_takes_the_settings_of_evaluate(settings):
    qrels, runs = collection(7)
    evaluator = gradely.Evaluator(qrels, MEASURES, **settings)
    for run in runs:
        assert_same(evaluator(run), gradely.evaluate(qrels, run, MEASURES, **settings))


@pytest.mark.parametrize("measure", [measure for measure in PLAIN if measure.takes_expected])
def test_every_measure_keeps_its_value_from_call_to_call_and_beside_others(measure):
    """What is kept of a query serves other runs and other measures, and must not be taken for theirs."""
    several = [measure(k=k, **given) for given, _ in SETTINGS[measure.name] for k in (None, 5)]
    qrels, _ = collection(3, queries=1)
    evaluator = gradely.Evaluator(qrels, several)
    for seed in range(6):
        draw = Random(seed)
        run = {"q0": {f"d{i}": draw.randint(0, 20) for i in draw.sample(range(30), draw.randint(1, 30))}}
        alone = [gradely.evaluate(qrels, run, one).values[:, 0] for one in several]
        assert evaluator(run).values.tobytes() == np.stack(alone, axis=1).tobytes()


def test_one_query_after_another_is_as_all_together():
    qrels, _ = collection(1, queries=20)
    draw = Random(0)
    run = {query: {f"d{i}": draw.randint(0, 9) for i in range(20)} for query in qrels}
    evaluator = gradely.Evaluator(qrels, MEASURES, queries="both")
    whole = gradely.evaluate(qrels, run, MEASURES)
    for query, ranking in run.items():
        assert evaluator({query: ranking}).query(query) == whole.query(query)


def test_queries_may_be_a_list():
    qrels, runs = collection(2)
    answered = [query for query in qrels if query in runs[0]]
    scores = gradely.Evaluator(qrels, "AP", queries=answered[:1])(runs[0])
    assert list(scores.queries) == answered[:1]


def test_a_query_without_documents_counts_0():
    evaluator = gradely.Evaluator({"q": {"a": 1}, "r": {"b": 1}}, ["AP", "nDCG", "muAP"])
    assert evaluator({"q": {}, "r": ["b"]}).mean() == {"AP": 0.5, "nDCG": 0.5, "muAP": 0.5}
    assert evaluator({"q": ["x", "y"]}).mean() == {"AP": 0.0, "nDCG": 0.0, "muAP": 0.0}


def test_what_it_is_given_stays_as_it_is():
    qrels, runs = collection(5)
    before = {query: dict(labels) for query, labels in qrels.items()}, [dict(run) for run in runs]
    evaluator = gradely.Evaluator(qrels)
    for run in runs:
        evaluator(run)
    assert (qrels, runs) == before


def test_several_threads_may_call_it():
    qrels, runs = collection(8, queries=12)
    singles = [{query: ranking} for run in runs for query, ranking in run.items() if query in qrels]
    evaluator, values = gradely.Evaluator(qrels, MEASURES, queries="both"), {}

    def work(number):
        values[number] = [evaluator(run).values.tobytes() for run in singles]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [gradely.evaluate(qrels, run, MEASURES, queries="both").values.tobytes() for run in singles]
    assert list(values.values()) == [expected] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gradely.Evaluator({"q": {"a": 1}}, "nDGC"), "Did you mean nDCG"),
        (lambda: gradely.Evaluator({"q": {"a": 1}}, ties="exact"), "no tie policy 'exact'"),
        (lambda: gradely.Evaluator({"q": {}}), "no judgments"),
        (lambda: gradely.Evaluator({"q": {"a": 9}}, "NDCNG(relevance=max(4))"), "above the scale of"),
        (lambda: gradely.Evaluator({"q": {"a": 1}}, queries=["r"]), "'r' has no judgments"),
        (lambda: gradely.Evaluator({"q": {"a": 1}})({"r": {"a": 1}}), "no query in common"),
        (lambda: gradely.Evaluator({"q": {"a": 1}})({"q": {"a": float("nan")}}), "must be a finite number"),
        (lambda: gradely.Evaluator({"q": {"a": 1}})({"q": {"a": "high"}}), "is not a number"),
        (lambda: gradely.Evaluator({"q": {"a": 1}})(3), "cannot be read from int"),
        (lambda: gradely.Evaluator({"q": {"a": 1100}}, "DCG(gain='exp')")({"q": ["a"]}), "query 'q' is too large"),
    ],
)
def test_errors_are_those_of_evaluate(make, message):
    with pytest.raises(gradely.GradelyError, match=message.replace("(", r"\(")):
        make()


def test_it_says_what_it_is():
    evaluator = gradely.Evaluator({"q": {"a": 1}}, ["AP", "RR"], ties="trec")
    assert repr(evaluator) == "Evaluator(Qrels(qrels: 1 query, 1 judgment): AP, RR; ties trec)"


def test_a_batch_with_other_labels_shares_nothing_that_follows_from_the_labels():
    """dataclasses.replace is how others change a batch; the norm must follow."""
    from dataclasses import replace

    batch = gradely.from_arrays([3.0, 2.0, 1.0], [1, 0, 2])
    before = gradely.nDCG()(batch)
    other = replace(batch, grade=batch.grade[:, ::-1], pool=batch.pool)
    more = replace(batch, pool=batch.pool * 2)
    assert gradely.nDCG()(other) != before
    assert gradely.nDCG()(more) == before / 2


def test_pools_of_the_same_labels_are_shared_and_do_not_grow_for_ever():
    from gradely.data.qrels import SMALL

    first, second = (gradely.read_qrels({query: {"a": 2, "b": 0}}) for query in "pq")
    assert first.pool(0)[2] is second.pool(0)[2]
    assert first.pool(0)[2] is not gradely.read_qrels({"p": {"a": 2, "b": 1}}).pool(0)[2]
    many = {f"d{i}": i % 3 for i in range(SMALL + 1)}
    assert gradely.read_qrels({"p": many}).pool(0)[2] is not gradely.read_qrels({"p": many}).pool(0)[2]
    for rel in range(1, 3 * SMALL):
        gradely.evaluate({"p": {"a": 2, "b": 0}}, {"p": ["a"]}, [gradely.AP(rel=rel)]).mean()
    assert len(gradely.read_qrels({"p": {"a": 2, "b": 0}}).pool(0)[2]) <= SMALL + 3
