"""Means of sampled orders of tied documents: near the exact mean, with honest errors, and only where asked for."""

import json
from itertools import permutations, product

import numpy as np
import pytest

import gradely
from gradely.kernel import compositions
from gradely.measures import ap
from tests.cases import CASES, Query
from tests.measures.test_known_values import TIED

MEANS = {"INST": 0.479281858649, "NERR8@3": 3 / 4, "NERR10": 14 / 19}
"""over all orders"""


def collection(queries=30):
    rng = np.random.default_rng(12)
    qrels = {f"q{i}": {f"d{j}": float(rng.integers(0, 4)) for j in range(6)} for i in range(queries)}
    run = {query: {f"d{j}": float(rng.integers(0, 3)) for j in range(9)} for query in qrels}
    return qrels, run


def sampled(qrels, run, measures, **options):
    return gradely.evaluate(qrels, run, measures, ties="sampled", **options)


@pytest.mark.parametrize(("name", "value"), MEANS.items())
def test_the_mean_of_all_orders(name, value):
    qrels, _ = TIED
    orders = [[*a, *b] for a, b in product(permutations("ab"), permutations(["c", "d", "unjudged"]))]
    values = [gradely.evaluate(qrels, {"q": order}, [name]).values.item() for order in orders]
    assert np.mean(values) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("name", "value"), MEANS.items())
def test_drawn_orders_are_near_the_mean_over_all_orders(name, value):
    scores = sampled(*TIED, [name])
    assert scores.values.item() == pytest.approx(value, abs=4 * scores.sampling_error().get(name, 0) + 1e-12)
    with pytest.raises(gradely.MeasureError, match=r"the mean over.*no closed form; ties='sampled' estimates it"):
        gradely.evaluate(*TIED, [name])


def test_standard_errors_are_what_they_say():
    """Of 30 queries of three measures, the mean over all orders is within 1.96 standard errors in about 95 %."""
    qrels, run = collection()
    cases = [case for case in CASES if str(case.measure) in ("INST", "NERR9", "NERR11@4")]
    measures = [case.measure for case in cases]
    top = [measure.replace(top=3) for measure in measures]
    scores, inside = sampled(qrels, run, top), []
    for i, query in enumerate(qrels):
        made = Query(tuple((score, qrels[query].get(doc)) for doc, score in run[query].items()))
        for j, case in enumerate(cases):
            exact = np.mean([case.by_reference(order, made.pool, {"top": 3}) for order in made.orderings()])
            error = scores.sampling_errors[i, j]
            inside.append(abs(scores.values[i, j] - exact) <= 1.96 * error + 1e-12)
    assert 0.85 < np.mean(inside) <= 1 and len(inside) == 90


def test_what_has_an_exact_mean_has_it_and_no_error():
    qrels, run = collection(10)
    measures = ["nDCG", "AP", "G", "IPrec", "BPM@3"]
    scores = sampled(qrels, run, [*measures, "INST"])
    assert (scores.values[:, :5] == gradely.evaluate(qrels, run, measures).values).all()
    assert list(scores.sampling_error()) == ["INST"]
    assert sampled(qrels, run, measures).sampling_errors is None


@pytest.mark.parametrize("name", ["G", "OPA@4", "BPM(T=2)", "IPrec"])
def test_means_with_too_many_states_are_refused_by_name_and_can_be_drawn(name, monkeypatch):
    qrels, run = collection(10)
    exact = gradely.evaluate(qrels, run, [name]).values
    monkeypatch.setattr(compositions, "MOST", 2)
    monkeypatch.setattr(ap, "MOST_STEPS", 1)
    with pytest.raises(gradely.MeasureError, match=r".*exact mean.* steps, more than .*ties='sampled' estimates it"):
        gradely.evaluate(qrels, run, [name])
    scores = sampled(qrels, run, [name])
    assert (scores.sampling_errors > 0).any()
    assert (np.abs(scores.values - exact) <= 4.5 * scores.sampling_errors + 1e-12).all()


def test_neither_names_nor_the_order_of_input_matter_but_the_seed_does():
    qrels, run = collection(10)
    renamed = [
        {query: {f"z{doc}": value for doc, value in reversed(docs.items())} for query, docs in reversed(data.items())}
        for data in (qrels, run)
    ]
    one, same, other = (
        sampled(*data, ["INST", "NERR8"], **options).mean()
        for data, options in (((qrels, run), {}), (renamed, {}), ((qrels, run), {"seed": 1}))
    )
    assert one == same != other


def test_a_ranking_without_ties_is_exact():
    scores = sampled({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]}, ["INST"])
    assert scores.values == gradely.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]}, ["INST"]).values
    assert scores.sampling_error() == {} and scores.notes == []


def test_large_groups_are_drawn_one_order_at_a_time(monkeypatch):
    from gradely.evaluation import sampled as module

    usual = sampled(*TIED, ["INST"])
    monkeypatch.setattr(module, "LONG", 1)
    other = sampled(*TIED, ["INST"])
    assert other.values.item() == pytest.approx(MEANS["INST"], abs=4 * other.sampling_error()["INST"])
    assert other.values.item() != usual.values.item()


def test_errors_are_in_notes_tables_and_json():
    qrels, run = collection(10)
    scores = sampled(qrels, run, ["nDCG", "INST"])
    error = scores.sampling_error()["INST"]
    assert error == pytest.approx(np.sqrt((scores.sampling_errors[:, 1] ** 2).sum()) / 10)
    note = next(note for note in scores.notes if note.kind == "sampled")
    assert (note.count, note.of) == (np.count_nonzero(scores.sampling_errors[:, 1]), 10)
    assert f"INST {scores['INST']:.4f} has a standard error of {error:.2g}" in str(note)
    assert scores.table().header == ["measure", "run", "error of sampled orders"]
    assert json.loads(scores.to_json())["runs"][0]["sampling_error"] == {"INST": error}


def test_a_comparison_says_which_differences_could_come_from_the_draw():
    qrels, run = collection(20)
    ranked = {query: sorted(qrels[query], key=lambda doc: -qrels[query][doc]) for query in qrels}
    comparison = gradely.compare(qrels, {"tied": run, "again": run, "best": ranked}, ["INST"], ties="sampled")
    notes = [note for note in comparison.notes if note.kind == "sampled" and "two standard errors" in str(note)]
    assert [(note.count, note.of) for note in notes] == [(1, 3)]
    assert "1 of 3 INST differences is within two standard errors" in str(notes[0])


def test_arrays_have_no_names_of_queries_to_draw_by():
    with pytest.raises(gradely.DataError, match="ties='sampled' draws orders by query id"):
        gradely.evaluate_arrays([[1, 1]], [[1, 0]], ["AP"], ties="sampled")


def test_more_samples_make_the_error_smaller():
    qrels, run = collection(10)
    few, usual, many = (sampled(qrels, run, ["INST"], samples=samples) for samples in (4, 200, 5000))
    assert usual.values.tolist() == sampled(qrels, run, ["INST"]).values.tolist()
    assert many.sampling_error()["INST"] < usual.sampling_error()["INST"] / 4 < few.sampling_error()["INST"]
    assert abs(many["INST"] - usual["INST"]) < 4 * usual.sampling_error()["INST"]
    assert "it is the mean of 5,000 sampled orders" in str(next(note for note in many.notes if note.kind == "sampled"))
    runs = {"tied": run, "flat": {query: dict.fromkeys(docs, 1.0) for query, docs in run.items()}}
    compared = gradely.compare(qrels, runs, ["INST"], ties="sampled", samples=5000)
    assert any("the mean of 5,000 sampled orders" in str(note) for note in compared.notes)


@pytest.mark.parametrize("samples", [0, 2, 5, 7.5, "many"])
def test_samples_that_are_no_pairs_are_refused(samples):
    with pytest.raises(
        gradely.DataError, match="samples must be an even number of at least 4, since orders are drawn in pairs"
    ):
        sampled(*TIED, ["INST"], samples=samples)


def test_errors_of_queries_are_in_json_and_tables():
    qrels, run = collection(6)
    scores = sampled(qrels, run, ["nDCG", "INST"])
    by_query = scores.by_query(worst=2)
    table, entries = by_query.table(), json.loads(by_query.to_json())["runs"][0]["queries"]
    assert table.header == ["run", "query", "nDCG", "INST", "error of INST"]
    for row in table.rows[:2]:
        errors = scores.query_errors(row[1])
        assert entries[row[1]]["sampling_error"] == errors == {"INST": row[-1]}
        assert errors["INST"] == scores.sampling_errors[list(scores.queries).index(row[1]), 1] > 0
    assert table.rows[2][-1] == scores.sampling_error()["INST"]
    exact = sampled(qrels, run, ["nDCG"])
    assert "sampling_error" not in str(exact.by_query().as_dict()) and exact.query_errors("q0") == {}


@pytest.mark.parametrize("measure", ["INST", "NERR8@3", "NERR9@4", "NERR10", "NERR11", "G"])
def test_explain_adds_up_to_the_drawn_mean(measure, monkeypatch):
    monkeypatch.setattr(compositions, "MOST", 2)
    qrels, run = collection(3)
    scores = sampled(qrels, run, [measure], samples=40)
    for query in qrels:
        explained = gradely.explain(qrels, run, query, measure, ties="sampled", samples=40)
        assert explained.value == pytest.approx(scores.query(query)[measure], abs=1e-14)
        added = sum(line.adds for line in explained.lines)
        assert explained.value == pytest.approx(explained.start + added, abs=1e-14)
        assert explained.norm == 1 and explained.samples == 40
        assert explained.sampling_error == scores.query_errors(query).get(measure, 0.0)
        assert "is the mean of 40 sampled orders, with a standard error of" in str(explained)


def test_explain_says_nothing_of_draws_where_the_mean_is_exact():
    qrels, run = collection(2)
    for measure in ("nDCG", "Q", "BPM@3"):
        exact, same = (gradely.explain(qrels, run, "q0", measure, ties=ties) for ties in ("expected", "sampled"))
        assert exact.value == same.value and exact.lines == same.lines
        assert same.samples is None and "sampling_error" not in same.as_dict()


def test_what_ties_do_is_shown_of_measures_without_an_exact_mean():
    qrels, run = collection(8)
    ties = gradely.tie_sensitivity(qrels, {"run": run}, ["nDCG", "INST"])
    orders = ties.runs[0].orders
    assert orders["INST"].worst < orders["INST"].expected < orders["INST"].best
    assert orders["INST"].expected == sampled(qrels, run, ["INST"])["INST"]
    assert orders["nDCG"].expected == gradely.evaluate(qrels, run, ["nDCG"])["nDCG"]
    assert [note.kind for note in ties.notes] == ["sampled"]


def test_measures_and_pools_are_correlated_by_drawn_orders():
    qrels, run = collection(8)
    runs = {"tied": run, "flat": {query: dict.fromkeys(docs, 1.0) for query, docs in run.items()}}
    runs["best"] = {query: sorted(qrels[query], key=lambda doc: -qrels[query][doc]) for query in qrels}
    correlation = gradely.correlate(qrels, runs, ["INST", "nDCG"], ties="sampled")
    means = [sampled(qrels, run, ["INST"])["INST"] for run in runs.values()]
    np.testing.assert_allclose(correlation.means[:, 0], means, rtol=1e-15)
    assert any(note.kind == "sampled" for note in correlation.notes)
    pools = gradely.pools(qrels, runs, ["INST"], ties="sampled", rates=[1.0, 0.5], repeat=1)
    assert pools.tau[0, 0, 0] == 1 and pools.tau.shape == (1, 2, 1)
