"""What lambdas are made of: blocks of queries, what is kept between calls, and means of measures over flat arrays."""

import numpy as np
import pytest

import gradely
from gradely import DataError, lambdas
from gradely.learning import lambdas as module
from gradely.learning.lambdas import Lambdas, Objective, blocks_of, mean_values
from tests.learning.test_lambdas import EXACT, TAUGHT_CASES, written_out

SCORES, LABELS = np.random.default_rng(5).permutation(40) / 7.0, np.arange(40) % 4


def same(one, other):
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))


def test_the_slope_is_1_and_the_upper_document_among_30_unless_said():
    said = lambdas(SCORES, LABELS, "nDCG", group=[40], sigma=1.0, truncation=30)
    assert same(lambdas(SCORES, LABELS, group=[40]), said)
    assert same(Lambdas(LABELS, group=[40])(SCORES), said)
    assert same(Objective("nDCG")(SCORES, LABELS, [40]), said)
    for other in ({"sigma": 2.0}, {"truncation": 31}):
        assert not same(lambdas(SCORES, LABELS, group=[40], **other), said)


@pytest.mark.parametrize("case", [case for case in TAUGHT_CASES if case.measure.name == "xGAP"], ids=str)
@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([1, 1, 1, 1], [2, 1, 0, 1]),
        ([2, 1, 1, 1, 0], [1, 2, 1, 0, 2]),
        ([1, 1, 1, 0, 0], [0, 2, 1, 1, 2]),
        ([3, 2, 1, 0], [0, 1, 2, 1]),
    ],
)
@pytest.mark.parametrize("truncation", [None, 2])
def test_documents_that_weigh_by_their_grade_are_the_definition_written_out(case, scores, labels, truncation):
    found = lambdas(scores, labels, case.measure, group=[len(scores)], truncation=truncation)
    for mine, expected in zip(found, written_out(case, scores, labels, 1.0, truncation), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=0, atol=EXACT)


def test_every_row_is_in_one_block():
    blocks = list(blocks_of(np.arange(48.0), [3, 20, 0, 5, 20], None))
    rows = np.concatenate([block.row[block.real] for block in blocks])
    assert np.sort(rows).tolist() == list(range(48))
    assert sorted(block.row.shape for block in blocks) == [(2, 8), (2, 24)]


def test_what_does_not_depend_on_scores_is_computed_once(monkeypatch):
    made, fresh = [], Lambdas

    def make(*arguments, **options):
        made.append(options["group"])
        return fresh(*arguments, **options)

    cases = [(LABELS, [40]), (LABELS, [40]), (LABELS, [20, 20]), (LABELS[::-1], [20, 20])]
    expected = [lambdas(SCORES, labels, "nDCG", group=group) for labels, group in cases]
    monkeypatch.setattr(module, "Lambdas", make)
    learned = Objective("nDCG")
    for (labels, group), pair in zip(cases, expected, strict=True):
        assert same(learned(SCORES, labels, group), pair)
    assert made == [[40], [20, 20], [20, 20]]


def test_the_mean_over_no_query_is_0():
    assert mean_values([], [], [gradely.RR(), gradely.AP()], group=[]) == [0.0, 0.0]


def test_means_do_not_depend_on_the_order_of_queries():
    """Sums of doubles in the order of the rows differ in the last digit for about every third order."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 12, 200)
    queries = [(rng.random(size).round(1), rng.integers(0, 4, size)) for size in sizes]
    measures = [gradely.nDCG(), gradely.AP()]
    found = set()
    for _ in range(10):
        rng.shuffle(order := np.arange(len(queries)))
        scores, labels = (np.concatenate([queries[i][part] for i in order]) for part in (0, 1))
        found.add(tuple(mean_values(scores, labels, measures, group=sizes[order])))
    assert len(found) == 1


def test_the_mean_is_that_of_the_same_rows_as_a_run():
    names = [f"d{i}" for i in range(40)]
    qrels = {
        f"q{q}": dict(zip(names[q * 8 : q * 8 + 8], LABELS[q * 8 : q * 8 + 8].tolist(), strict=True)) for q in range(5)
    }
    run = {query: {doc: SCORES[int(doc[1:])] for doc in docs} for query, docs in qrels.items()}
    expected = gradely.evaluate(qrels, run, ["nDCG", "AP"]).mean()
    found = mean_values(SCORES, LABELS, [gradely.nDCG(), gradely.AP()], group=[8] * 5)
    assert found == pytest.approx(list(expected.values()), rel=1e-13)


def test_labels_and_scores_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="there are 2 labels and 3 scores; every row needs one of each"):
        mean_values([1, 2, 3], [1, 0], [gradely.RR()], group=[2])
