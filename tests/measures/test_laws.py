"""Laws that hold for every measure, whatever it computes."""

import random
from collections import Counter
from itertools import permutations, product

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


def taking(policy):
    """Return the measures that take a tie policy."""
    return [measure for measure in MEASURES if policy != "expected" or measure.takes_expected]


def plain_values(qrels, run):
    """Return the value of every measure on one query, {measure: value}, under the policy that is plain for it."""
    return {
        measure: value
        for ties in ("expected", "best")
        for measure, value in values(qrels, run, ties, [each for each in MEASURES if plain(each) == ties]).items()
    }


def values(qrels, run, ties, measures=None):
    measures = measures or taking(ties)
    return dict(zip(measures, gradely.evaluate(qrels, run, measures, ties=ties).values[0].tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(query=some)
def test_values_are_between_0_and_1(query):
    found = plain_values(query.qrels(), query.run())
    low = [measure for measure in found if not isinstance(measure, gradely.Utility)]
    assert [measure for measure in low if not found[measure] >= -1e-15] == []
    high = [measure for measure in found if not isinstance(measure, UNBOUNDED)]
    assert [measure for measure in high if not found[measure] <= 1 + 1e-12] == []


@settings(max_examples=25, deadline=None)
@given(query=some)
def test_worst_is_at_most_any_order_is_at_most_best(query):
    low, high = (values(query.qrels(), query.run(), ties) for ties in ("worst", "best"))
    for policy in ("expected", "trec", "order", "random"):
        found = values(query.qrels(), query.run(), policy)
        outside = [m for m, value in found.items() if not low[m] - 1e-12 <= value <= high[m] + 1e-12]
        assert outside == [], policy


@settings(max_examples=25, deadline=None)
@given(query=some.map(untied))
def test_policies_agree_where_nothing_ties(query):
    first, *others = (values(query.qrels(), query.run(), policy, MEASURES) for policy in POLICIES)
    for other in others:
        assert other == first


def has_an_ideal(measure):
    """xGAP has none by grade; others may fall with what is retrieved, or need other documents, or go by the length."""
    falls = gradely.Unjudged | gradely.RBPresidual | gradely.Utility | gradely.AUC | gradely.OPA
    by_length = gradely.P | gradely.F1 | gradely.F | gradely.RelativeP | gradely.SetAP | gradely.SDCG
    return not isinstance(measure, gradely.xGAP | falls) and not (isinstance(measure, by_length) and measure.k is None)


@settings(max_examples=25, deadline=None)
@given(query=some)
def test_the_ideal_ranking_is_best(query):
    labels, measures = query.qrels()["q"], list(filter(has_an_ideal, MEASURES))
    ideal = values({"q": labels}, {"q": sorted(labels, key=lambda doc: -labels[doc])}, "expected", measures)
    found = values(query.qrels(), query.run(), "best", measures)
    assert [measure for measure in measures if not found[measure] <= ideal[measure] + 1e-12] == []


@settings(max_examples=25, deadline=None)
@given(query=some, seed=st.integers(0, 999))
def test_names_of_documents_and_order_of_input_change_nothing(query, seed):
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
    for policy in ("expected", "best", "worst"):
        assert values(qrels, run, policy) == values(query.qrels(), query.run(), policy)


@settings(max_examples=25, deadline=None)
@given(query=some)
def test_only_the_order_of_scores_matters(query):
    run = {"q": {doc: 7 * score**3 - 40 for doc, score in query.run()["q"].items()}}
    assert plain_values(query.qrels(), run) == plain_values(query.qrels(), query.run())


@settings(max_examples=25, deadline=None)
@given(query=some)
def test_queries_without_judgments_change_nothing(query):
    run = query.run() | {"unknown": {"a": 1.0, "b": 1.0}}
    assert plain_values(query.qrels(), run) == plain_values(query.qrels(), query.run())


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


@pytest.mark.parametrize("policy", ["expected", "best", "worst", "trec"])
def test_how_queries_are_put_together_changes_no_digit(policy):
    qrels, run = map(lambda read, data: read(data), (read_qrels, read_run), collection(5))
    hits = locate(qrels, run, Settings(policy))
    measures = [measure.fit(qrels.levels) for measure in taking(policy)]
    results = []
    for cells in (1, 100, 1000, 10**6):
        found = np.zeros((len(measures), len(qrels)))
        blocks = Blocks(qrels, hits)
        for rows in blocks.split(np.arange(len(qrels)), cells):
            batch = blocks.batch_of_queries(rows, policy)
            for i, measure in enumerate(measures):
                found[i, rows] = measure.compute(batch)
        results.append(found)
    for result in results:
        assert [measures[i] for i in np.flatnonzero((result != results[0]).any(axis=1))] == []


def test_each_query_is_on_its_own():
    qrels, run = collection(6, queries=12)
    for ties in ("expected", "best"):
        fitted = [measure.fit(read_qrels(qrels).levels) for measure in MEASURES if plain(measure) == ties]
        together = gradely.evaluate(qrels, run, fitted, ties=ties).per_query()
        for query in qrels:
            alone = gradely.evaluate({query: qrels[query]}, {query: run[query]}, fitted, ties=ties)
            assert alone.per_query()[query] == together[query]


@each
def test_padding_changes_nothing(measure):
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 6, (7, 30)), rng.choice([0, 0, 1, 2, 3], (7, 30))
    wide, mask = (np.concatenate([x, np.full((7, 9), 3)], axis=1) for x in (scores, labels)), np.arange(39) < 30
    assert (
        measure(gradely.from_arrays(*wide, np.broadcast_to(mask, (7, 39)), ties=plain(measure))).tolist()
        == measure(gradely.from_arrays(scores, labels, ties=plain(measure))).tolist()
    )


@pytest.mark.parametrize("policy", ["expected", "best", "worst", "order"])
def test_arrays_and_dicts_agree(policy):
    rng = np.random.default_rng(2)
    scores, labels = rng.integers(0, 9, (20, 40)), rng.choice([0, 0, 1, 2, 3], (20, 40))
    as_dicts = [
        {f"q{i}": {f"d{j}": float(x) for j, x in enumerate(row)} for i, row in enumerate(rows)}
        for rows in (labels, scores)
    ]
    batch, measures = gradely.from_arrays(scores, labels, ties=policy), taking(policy)
    by_dict = gradely.evaluate(*as_dicts, measures, ties=policy).values
    for measure, expected in zip(measures, by_dict.T, strict=True):
        np.testing.assert_allclose(measure(batch), expected, rtol=0, atol=1e-12, err_msg=str(measure))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_sum_of_what_documents_add_is_the_value(policy):
    qrels, run = collection(7, queries=4)
    measures = [measure.fit(read_qrels(qrels).levels) for measure in taking(policy)]
    found = gradely.evaluate(qrels, run, measures, ties=policy).per_query()
    for query, measure in product(qrels, measures):
        explained = gradely.explain(qrels, run, query, measure, ties=policy)
        assert explained.value == pytest.approx(found[query][str(measure)], abs=1e-12)
        assert explained.start + sum(line.adds for line in explained.lines) == pytest.approx(explained.total, abs=1e-12)
        assert [line.first for line in explained.lines] == sorted(line.first for line in explained.lines)


@each
def test_a_query_without_relevant_documents_scores_0_and_is_reported(measure):
    scores = gradely.evaluate(
        {"q": {"a": 0, "b": 0}, "r": {"a": 2, "b": 1}}, {"q": ["a", "x"], "r": ["a", "b"]}, [measure]
    )
    if not isinstance(measure, ALWAYS):
        assert scores.per_query()["q"] == {str(measure): 0.0}
        assert ("degenerate", 1, 2) in [(note.kind, note.count, note.of) for note in scores.notes]


def test_the_order_of_queries_changes_no_digit_of_the_mean():
    qrels, run = collection(8)
    backwards = dict(reversed(qrels.items()))
    for ties in ("expected", "best"):
        first, second = (gradely.evaluate(each, run, taking(ties), ties=ties).mean() for each in (backwards, qrels))
        assert first == second


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
