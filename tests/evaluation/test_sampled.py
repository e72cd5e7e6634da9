"""Means of drawn orders of tied documents: near the exact mean, with honest errors, and only where asked for."""

import json

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
    assert scores.table().header == ["measure", "run", "error of drawn orders"]
    assert json.loads(scores.to_json())["runs"][0]["sampling_error"] == {"INST": error}


def test_a_comparison_says_which_differences_could_come_from_the_draw():
    qrels, run = collection(20)
    ranked = {query: sorted(qrels[query], key=lambda doc: -qrels[query][doc]) for query in qrels}
    comparison = gradely.compare(qrels, {"tied": run, "again": run, "best": ranked}, ["INST"], ties="sampled")
    notes = [note for note in comparison.notes if note.kind == "sampled" and "two standard errors" in str(note)]
    assert [(note.count, note.of) for note in notes] == [(1, 3)]
    assert "1 of 3 INST differences is within two standard errors" in str(notes[0])


def test_arrays_have_no_names_of_queries_to_draw_by():
    with pytest.raises(gradely.DataError, match="ties='sampled' draws orders by the names of queries"):
        gradely.evaluate_arrays([[1, 1]], [[1, 0]], ["AP"], ties="sampled")
