"""Laws that hold for every measure, whatever it computes."""

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely.data import Blocks, locate, read_qrels, read_run
from gradely.data.hashing import shuffle_keys_of
from gradely.measures import PLAIN
from gradely.settings import Settings
from tests.cases import LABELS, Query, queries

MEASURES = [measure(k=k) for measure in PLAIN for k in (None, 1, 3)] + [
    gradely.nDCG(gain="exp", relevance="phi"),
    gradely.RBP(relevance="max", p=0.5),
    gradely.AP(rel=2),
    gradely.eGAP(g={1: 0.4, 2: 0.6}),
    gradely.xGAP(g={1: 0.9, 2: 0.1}),
]
UNBOUNDED = (gradely.DCG, gradely.Utility)
ALWAYS = (gradely.Judged, gradely.Unjudged, gradely.RBPresidual, gradely.Utility)
"""measures that say something of queries without relevant documents"""
POLICIES = ["expected", "trec", "order", "best", "worst", "random"]
each = pytest.mark.parametrize("measure", MEASURES, ids=str)
some = st.sampled_from(sorted(LABELS)).flatmap(lambda kind: queries(kind, most=12, scores=5))


def untied(query):
    return Query(tuple((-i, label) for i, (_, label) in enumerate(query.retrieved)), query.missed)


def plain(measure):
    """Return the default tie policy, or one that the measure takes."""
    return "expected" if measure.takes_expected else "best"


def policies(measure, *known):
    return [policy for policy in known or POLICIES if policy != "expected" or measure.takes_expected]


def value(measure, query, ties=None, **options):
    ties = ties or plain(measure)
    return gradely.evaluate(query.qrels(), query.run(), [measure], ties=ties, **options).values.item()


@each
@settings(max_examples=25, deadline=None)
@given(query=some)
def test_values_are_between_0_and_1(measure, query):
    assert isinstance(measure, gradely.Utility) or value(measure, query) >= -1e-15
    assert isinstance(measure, UNBOUNDED) or value(measure, query) <= 1 + 1e-12


@each
@settings(max_examples=25, deadline=None)
@given(query=some)
def test_worst_is_at_most_any_order_is_at_most_best(measure, query):
    low, high = value(measure, query, ties="worst"), value(measure, query, ties="best")
    for policy in policies(measure, "expected", "trec", "order", "random"):
        assert low - 1e-12 <= value(measure, query, ties=policy) <= high + 1e-12


@each
@settings(max_examples=15, deadline=None)
@given(query=some.map(untied))
def test_policies_agree_where_nothing_ties(measure, query):
    values = [value(measure, query, ties=policy) for policy in POLICIES]
    assert values == [values[0]] * len(values)


def has_an_ideal(measure):
    """xGAP has none by grade; others may fall with what is retrieved, or need other documents, or go by the length."""
    falls = gradely.Unjudged | gradely.RBPresidual | gradely.Utility | gradely.AUC | gradely.OPA
    by_length = gradely.P | gradely.F1 | gradely.F | gradely.RelativeP | gradely.SetAP | gradely.SDCG
    return not isinstance(measure, gradely.xGAP | falls) and not (isinstance(measure, by_length) and measure.k is None)


@pytest.mark.parametrize("measure", list(filter(has_an_ideal, MEASURES)), ids=str)
@settings(max_examples=15, deadline=None)
@given(query=some)
def test_the_ideal_ranking_is_best(measure, query):
    labels = query.qrels()["q"]
    ideal = {"q": sorted(labels, key=lambda doc: -labels[doc])}
    assert value(measure, query, ties="best") <= gradely.evaluate({"q": labels}, ideal, [measure]).values.item() + 1e-12


@each
@settings(max_examples=15, deadline=None)
@given(query=some, seed=st.integers(0, 999))
def test_names_of_documents_and_order_of_input_change_nothing(measure, query, seed):
    shuffled = random.Random(seed)
    names = {
        f"{kind}{i}": f"x{number}"
        for number, (kind, i) in enumerate(shuffled.sample([(k, i) for k in "dm" for i in range(12)], 24))
    }
    qrels, run = query.qrels(names.get), query.run(names.get)
    for table in (qrels, run):
        items = list(table["q"].items())
        shuffled.shuffle(items)
        table["q"] = dict(items)
    for policy in policies(measure, "expected", "best", "worst"):
        assert gradely.evaluate(qrels, run, [measure], ties=policy).values.item() == value(measure, query, ties=policy)


@each
@settings(max_examples=15, deadline=None)
@given(query=some)
def test_only_the_order_of_scores_matters(measure, query):
    run = {"q": {doc: 7 * score**3 - 40 for doc, score in query.run()["q"].items()}}
    ties = plain(measure)
    assert gradely.evaluate(query.qrels(), run, [measure], ties=ties).values.item() == value(measure, query)


@each
@settings(max_examples=10, deadline=None)
@given(query=some)
def test_queries_without_judgments_change_nothing(measure, query):
    run = query.run() | {"unknown": {"a": 1.0, "b": 1.0}}
    ties = plain(measure)
    assert gradely.evaluate(query.qrels(), run, [measure], ties=ties).values.item() == value(measure, query)


def collection(seed, queries=40):
    """Return judgments and a run of many queries of all sizes, most with ties, with unjudged and missing documents."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for q in range(queries):
        size, judged = int(rng.integers(1, 120)), int(rng.integers(1, 60))
        docs = rng.permutation(150)
        scores = rng.integers(0, 20, size) if q % 3 else np.arange(size)
        qrels[f"q{q}"] = {
            f"d{d}": float(g) for d, g in zip(docs[:judged], rng.choice([0, 0, 0, 1, 2, 2.5, -1], judged), strict=True)
        }
        run[f"q{q}"] = {f"d{d}": float(s) for d, s in zip(rng.permutation(150)[:size], scores, strict=True)}
    return qrels, run


@each
def test_how_queries_are_put_together_changes_no_digit(measure):
    qrels, run = map(lambda read, data: read(data), (read_qrels, read_run), collection(5))
    measure = measure.fit(qrels.levels)
    for policy in policies(measure, "expected", "best", "worst", "trec"):
        hits = locate(qrels, run, Settings(policy))
        results = []
        for cells in (1, 100, 1000, 10**6):
            values = np.zeros(len(qrels))
            blocks = Blocks(qrels, hits)
            for rows in blocks.split(np.arange(len(qrels)), cells):
                values[rows] = measure.compute(blocks.batch_of_queries(rows, policy))
            results.append(values.tolist())
        assert all(result == results[0] for result in results)


@each
def test_each_query_is_on_its_own(measure):
    qrels, run = collection(6, queries=12)
    measure = measure.fit(read_qrels(qrels).levels)
    ties = plain(measure)
    together = gradely.evaluate(qrels, run, [measure], ties=ties).per_query()
    for query in qrels:
        alone = gradely.evaluate({query: qrels[query]}, {query: run[query]}, [measure], ties=ties).values.item()
        assert alone == together[query][str(measure)]


@each
def test_padding_changes_nothing(measure):
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 6, (7, 30)), rng.choice([0, 0, 1, 2, 3], (7, 30))
    wide, mask = (np.concatenate([x, np.full((7, 9), 3)], axis=1) for x in (scores, labels)), np.arange(39) < 30
    assert (
        measure(gradely.from_arrays(*wide, np.broadcast_to(mask, (7, 39)), ties=plain(measure))).tolist()
        == measure(gradely.from_arrays(scores, labels, ties=plain(measure))).tolist()
    )


@each
def test_arrays_and_dicts_agree(measure):
    rng = np.random.default_rng(2)
    scores, labels = rng.integers(0, 9, (20, 40)), rng.choice([0, 0, 1, 2, 3], (20, 40))
    as_dicts = [
        {f"q{i}": {f"d{j}": float(x) for j, x in enumerate(row)} for i, row in enumerate(rows)}
        for rows in (labels, scores)
    ]
    for policy in policies(measure, "expected", "best", "worst", "order"):
        by_dict = gradely.evaluate(*as_dicts, [measure], ties=policy).values[:, 0]
        by_array = measure(gradely.from_arrays(scores, labels, ties=policy))
        np.testing.assert_allclose(by_array, by_dict, rtol=0, atol=1e-12)


@each
def test_the_sum_of_what_documents_add_is_the_value(measure):
    qrels, run = collection(7, queries=8)
    measure = measure.fit(read_qrels(qrels).levels)
    for policy in policies(measure):
        values = gradely.evaluate(qrels, run, [measure], ties=policy).per_query()
        for query in qrels:
            explained = gradely.explain(qrels, run, query, measure, ties=policy)
            assert explained.value == pytest.approx(values[query][str(measure)], abs=1e-12)
            assert explained.start + sum(line.adds for line in explained.lines) == pytest.approx(
                explained.total, abs=1e-12
            )
            assert [line.first for line in explained.lines] == sorted(line.first for line in explained.lines)


@each
def test_a_query_without_relevant_documents_scores_0_and_is_reported(measure):
    scores = gradely.evaluate(
        {"q": {"a": 0, "b": 0}, "r": {"a": 2, "b": 1}}, {"q": ["a", "x"], "r": ["a", "b"]}, [measure]
    )
    if not isinstance(measure, ALWAYS):
        assert scores.per_query()["q"] == {str(measure): 0.0}
        assert ("degenerate", 1, 2) in [(note.kind, note.count, note.of) for note in scores.notes]


@each
def test_the_order_of_queries_changes_no_digit_of_the_mean(measure):
    qrels, run = collection(8)
    backwards = dict(reversed(qrels.items()))
    means = [gradely.evaluate(each, run, [measure], ties=plain(measure)).mean() for each in (backwards, qrels)]
    assert means[0] == means[1]


def test_random_ties_depend_on_the_seed_and_not_on_the_order_of_input():
    qrels, run = collection(9)
    backwards = {query: dict(reversed(docs.items())) for query, docs in reversed(run.items())}
    draw = lambda data, seed: gradely.evaluate(qrels, data, ["AP"], ties="random", seed=seed).values.tolist()
    assert draw(run, 1) == draw(backwards, 1)
    assert draw(run, 1) != draw(run, 2)


def test_random_ties_average_to_the_expectation():
    qrels, run = collection(10, queries=8)
    measures = ["AP", "nDCG@10", "RR"]
    drawn = np.array([gradely.evaluate(qrels, run, measures, ties="random", seed=seed).values for seed in range(300)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn)) + 1e-9
    assert np.abs((drawn.mean(axis=0) - gradely.evaluate(qrels, run, measures).values) / error).max() < 4.5


def test_random_orders_are_equally_likely():
    """All 24 orders of four tied documents, over 2,400 seeds: chi-square with 23 degrees of freedom."""
    docs = [b"d1", b"d2", b"doc-0003", b"a much longer name than eight bytes"]
    orders = Counter(tuple(np.argsort(shuffle_keys_of(seed, b"q", docs)).tolist()) for seed in range(2400))
    assert sum((orders[order] - 100) ** 2 / 100 for order in permutations(range(4))) < 50
