"""Kernels where short rankings do not lead: large tie groups, deep ranks, curves of any shape."""

from itertools import chain, permutations, product
from math import comb, fsum, log2, log10

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

import gradely
from gradely.kernel import batch
from gradely.kernel.compositions import TieGroup, best_order
from gradely.kernel.families import cascade
from gradely.kernel.ties import order_ties
from gradely.measures import gap
from gradely.measures.dcg import DISCOUNTS
from gradely.relevance.phi import interpolate
from tests.cases import CASES

N = 3000


def one_group(labels):
    """Return the batch of one query whose documents are all tied."""
    return gradely.from_arrays(np.zeros(len(labels)), labels)


@pytest.mark.parametrize("k", [None, 1000])
def test_err_of_a_large_group_of_equals(k):
    """All documents stop with chance p = 1/2, so that x of them are passed with chance (1 - p)^x."""
    value = fsum((0.5 ** (x - 1) - 0.5**x) / x for x in range(1, (k or N) + 1))
    assert gradely.ERR(k=k)(one_group(np.ones(N))).item() == pytest.approx(value, rel=1e-12, abs=0)


def test_err_of_a_large_group_with_one_that_satisfies():
    labels = np.zeros(N)
    labels[7] = 1
    value = 0.5 * fsum(1 / i for i in range(1, N + 1)) / N
    assert gradely.ERR()(one_group(labels)).item() == pytest.approx(value, rel=1e-10, abs=0)


@pytest.mark.parametrize("k", [None, 5, 40])
@pytest.mark.parametrize("stop", [0.001, 0.3, 0.9])
def test_err_of_groups_of_which_few_are_judged(k, stop):
    """After three documents, 60 tied ones, the judged among them at random places: E_x by its definition."""
    n, t, passes = 60, 3, [1.0 - stop * share for share in (1.0, 0.5, 1.0, 0.25)] + [1.0] * 56
    e = np.ones(1)
    for q in passes:
        e = np.append(e, 0.0) + q * np.append(0.0, e)
    mean = [float(e[x]) / comb(n, x) for x in range(n + 1)]
    value = fsum((mean[x - 1] - mean[x]) / (t + x) for x in range(1, n + 1) if k is None or t + x <= k)
    grade = {f"d{i}": log2(1 + 2**4 * (1 - q)) for i, q in enumerate(passes[:4])}
    run = {"q": {f"x{i}": 2.0 for i in range(t)} | {f"d{i}": 1.0 for i in range(n)}}
    found = gradely.evaluate({"q": grade}, run, [gradely.ERR(top=4, k=k)]).values.item()
    assert found == pytest.approx(value, rel=0, abs=1e-14)


@pytest.mark.parametrize("k", [None, 7])
def test_tie_groups_of_any_size_side_by_side_add_what_each_adds_alone(k, monkeypatch):
    """Groups of 1 to 40 documents in one batch, a few at a time or all at once, and each query by itself."""
    rng = np.random.default_rng(3)
    scores, labels = rng.integers(0, np.arange(1, 31)[:, None], (30, 40)), rng.integers(0, 4, (30, 40))
    measure = gradely.ERR(top=3, k=k)
    together = measure(gradely.from_arrays(scores, labels)).tolist()
    monkeypatch.setattr(batch, "CELLS", 1 << 7)
    assert measure.compute(gradely.from_arrays(scores, labels)).tolist() == together
    alone = [measure(gradely.from_arrays(*row)).item() for row in zip(scores, labels, strict=True)]
    assert alone == together


@pytest.mark.parametrize("k", [None, 1, 3, 5])
@pytest.mark.parametrize(
    ("name", "worth"), [("log2", lambda i: 1 / log2(i + 1)), ("letor", lambda i: 1 / max(1, log2(i)))]
)
@pytest.mark.filterwarnings("ignore:.*the order is from_arrays")
def test_a_cascade_with_a_discount_is_the_mean_over_all_orders(name, worth, k):
    """A document alone, then four tied ones, one of which nobody stops at, then two more."""
    groups, rng = ((0,), (1, 2, 3, 4), (5, 6)), np.random.default_rng(8)
    stop = np.where(np.arange(7) == 2, 0.0, rng.random(7))
    values = []
    for order in product(*map(permutations, groups)):
        reached, total = 1.0, 0.0
        for i, document in enumerate(chain(*order), 1):
            total += reached * stop[document] * worth(i) if k is None or i <= k else 0.0
            reached *= 1 - stop[document]
        values.append(total)
    tied = gradely.from_arrays([3, 2, 2, 2, 2, 1, 1], stop)
    alone = gradely.from_arrays(range(7, 0, -1), stop)
    assert cascade(tied, tied.grade, DISCOUNTS[name], k).sum() == pytest.approx(fsum(values) / len(values), abs=1e-14)
    assert cascade(alone, alone.grade, DISCOUNTS[name], k).sum() == pytest.approx(values[0], abs=1e-14)


@pytest.mark.parametrize("kind", ["tied", "untied"])
@pytest.mark.parametrize("measure", [gradely.muAP, gradely.GAP, gradely.xGAP, gradely.eGAP], ids=lambda m: m.name)
def test_many_levels_at_once_are_the_sum_over_levels(measure, kind, monkeypatch):
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 99, (5, 400)) if kind == "tied" else rng.permuted(np.tile(np.arange(400), (5, 1)), axis=1)
    labels = rng.integers(0, [[3], [100], [200], [400], [10**6]], (5, 400)) / 7
    mask = np.arange(400) < [[400], [399], [1], [250], [400]]
    for k in (None, 7, 300):
        values = []
        for many in (gap.MANY, 0, 10**9):
            monkeypatch.setattr(gap, "MANY", many)
            values.append(measure(k=k)(gradely.from_arrays(scores, labels, mask)))
        np.testing.assert_allclose(values[0], values[2], rtol=0, atol=1e-14)
        np.testing.assert_allclose(values[1], values[2], rtol=0, atol=1e-14)


@pytest.mark.parametrize("k", [10, 1000, 2990])
def test_bpref_of_a_large_group_that_is_cut(k):
    """A relevant document stands at any place alike, after u of the 2,000 opposed ones; each place adds one."""
    opposed, base = 2000, N - 2000
    u = np.arange(opposed + 1)
    chance, credit = (u == 0).astype(float), []
    for place in range(1, k + 1):
        credit.append(float(chance @ (1 - np.minimum(u, base) / base)))
        more = chance * (opposed - u) / (N - place)
        chance = chance - more + np.concatenate([[0], more[:-1]])
    value = gradely.bpref(k=k)(one_group(np.repeat([1.0, 0.0], [base, opposed]))).item()
    assert value == pytest.approx(fsum(credit) / N, rel=1e-9, abs=0)


@pytest.mark.parametrize("depth", [10, 20_000, 1_000_000])
def test_no_digit_is_lost_deep_down(depth):
    """Of two tied documents after many others: the sum over their places is the difference of two large sums."""
    run = {"q": {f"x{i}": 1.0 for i in range(depth)} | {"a": 0.0, "b": 0.0}}
    value = gradely.evaluate({"q": {"a": 1}}, run, ["RR", "AP", "DCG", "binG"]).values[0].tolist()
    first, second = depth + 1, depth + 2
    inverse, by_log = (1 / first + 1 / second) / 2, (1 / log2(first + 1) + 1 / log2(second + 1)) / 2
    assert value == pytest.approx([inverse, inverse, by_log, by_log], rel=1e-14, abs=0)


@pytest.mark.parametrize("rank", [1, 200, 3000, 100_000])
def test_rbp_of_a_document_deep_down(rank):
    run = {"q": [*(f"x{i}" for i in range(rank - 1)), "a"]}
    value = gradely.evaluate({"q": {"a": 1}}, run, ["RBP(p=0.8)"]).values.item()
    assert value == pytest.approx(0.2 * 0.8 ** (rank - 1), rel=1e-11, abs=1e-290)


tenths = lambda low, high: st.integers(low, high).map(lambda i: i / 10)
points = st.tuples(tenths(1, 90), st.integers(-2, 2) | tenths(-50, 50))
shapes = st.lists(points, min_size=2, max_size=6)


@settings(max_examples=200, deadline=None)
@given(
    shapes=st.lists(shapes, min_size=1, max_size=4), scale=st.sampled_from([0.01, 1, 100]), random=st.integers(0, 99)
)
def test_curves_of_any_shape_are_those_of_scipy(shapes, scale, random):
    """With flat parts, turns and steep steps, several at a time, at their points, between them and beyond the ends."""
    count = min(map(len, shapes))
    step, y = np.moveaxis(np.array([shape[:count] for shape in shapes], float), 2, 0)
    x = scale * np.cumsum(step, axis=1)
    inside = np.random.default_rng(random).uniform(x[:, :1] - scale, x[:, -1:] + scale, (len(x), 20))
    at = np.concatenate([x, inside], axis=1)
    curves = [PchipInterpolator(*points) for points in zip(x, y, strict=True)]
    expected = [curve(np.clip(places, *curve.x[[0, -1]])) for curve, places in zip(curves, at, strict=True)]
    np.testing.assert_allclose(interpolate(np, x, y, at), expected, rtol=0, atol=1e-12)


def test_the_top_of_one_s_own_curve_is_its_last_point():
    """Labels 1 and 2 become relevance 1 and 4 of at most 8: the top of RBP and ERR, and of the users' thresholds."""
    curve, run = gradely.Phi([(0, 0), (1, 1), (2, 4), (3, 8)]), {"q": ["a", "b"]}
    measures = [measure(relevance=curve) for measure in (gradely.RBP, gradely.ERR, gradely.eGAP)]
    rbp, err, egap = gradely.evaluate({"q": {"a": 1, "b": 2}}, run, measures).values[0]
    assert rbp == pytest.approx(0.2 * (1 / 8 + 0.8 * 4 / 8), abs=1e-12)
    p = (2**1 - 1) / 2**8, (2**4 - 1) / 2**8
    assert err == pytest.approx(p[0] + (1 - p[0]) * p[1] / 2, abs=1e-12)
    assert egap == pytest.approx(1 / 8 * 1 + 3 / 8 * (1 / 2), abs=1e-12)


def test_a_order_ties_batch_has_no_ties_left():
    batch = gradely.from_arrays([1, 1, 1, 0, 0], [0, 2, 1, 1, 3], ties="best")
    found = order_ties(batch, gradely.nDCG().priority)
    assert found.grade.tolist() == [[2, 1, 0, 3, 1]]
    assert found.above.tolist() == found.first.tolist() == [[0, 1, 2, 3, 4]]
    assert found.last.tolist() == [[1, 2, 3, 4, 5]] and found.untied


@pytest.mark.parametrize("measure", ["Judged", "Unjudged", "RBPresidual", "Utility"])
def test_some_measures_are_never_degenerate(measure):
    scores = gradely.evaluate({"q": {"a": 0}, "r": {"a": 1}}, {"q": ["a"], "r": ["x"]}, [measure])
    assert [note.kind for note in scores.notes if note.kind != "holes"] == []


@pytest.mark.parametrize("measure", ["DCG(gain={0: 1, 1: 3})", "DCG(relevance={0: 1, 1: 3})"])
def test_padding_gains_nothing_though_a_label_of_0_does(measure):
    qrels, run = {"q": {"a": 1}, "r": dict.fromkeys("abc", 0)}, {"q": ["a"], "r": ["a", "b", "c"]}
    found = gradely.evaluate(qrels, run, [measure]).values[:, 0].tolist()
    assert found == pytest.approx([3, 1 + 1 / log2(3) + 1 / log2(4)], abs=1e-15)


@pytest.mark.parametrize("k", [None, 8])
@pytest.mark.parametrize("kind", ["tied", "untied"])
@pytest.mark.parametrize("measure", [gradely.muAP, gradely.GAP, gradely.xGAP, gradely.eGAP], ids=lambda m: m.name)
@pytest.mark.filterwarnings("ignore:.*the order is from_arrays")
def test_how_levels_are_added_depends_on_the_query_alone(measure, kind, k, monkeypatch):
    """Of up to three levels one by one, of more all at once, to the last digit, whatever is in the same batch."""
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 9, (40, 12)) if kind == "tied" else rng.permuted(np.tile(np.arange(12), (40, 1)), axis=1)
    labels = np.where(np.arange(40)[:, None] % 2, rng.random((40, 12)), rng.integers(0, 4, (40, 12)) / 3)
    measure = measure(k=k).fit(gradely.from_arrays(scores, labels).levels)
    ways = {}
    for most in (10**9, 3, 0):
        monkeypatch.setattr(gap, "MANY", most)
        rows = [gradely.from_arrays(scores[i : i + 1], labels[i : i + 1]) for i in range(40)]
        ways[most] = [measure.compute(row).item() for row in rows]
    monkeypatch.setattr(gap, "MANY", 3)
    assert measure.compute(gradely.from_arrays(scores, labels)).tolist() == ways[3]
    assert ways[3][::2] == ways[10**9][::2] and ways[3][1::2] == ways[0][1::2]
    assert ways[0][::2] != ways[10**9][::2]  # or the digits would say nothing
    assert ways[0] == pytest.approx(ways[10**9], abs=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_best_order_is_that_of_all_orders(sign):
    """Of two kinds, two and three documents, that add what their place and the kinds above them say."""
    rng = np.random.default_rng(10)
    value = {(kind, i, j): rng.normal() for kind in range(2) for i in range(4) for j in range(4)}
    worth = {}
    for order in set(permutations([0, 0, 1, 1, 1])):
        above = [0, 0]
        worth[order] = 0.0
        for kind in order:
            worth[order] += value[kind, *above]
            above[kind] += 1
    order = best_order((2, 3), lambda kind, placed: value[kind, *placed], sign)
    assert worth[tuple(order)] == pytest.approx((max if sign > 0 else min)(worth.values()))
    assert TieGroup(range(5), 0, 5, (0, 1), (2, 3)).states == 12


@pytest.mark.parametrize("few", [0, 2, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 40])
def test_distinct_labels_of_many_are_found_block_by_block(count, few, monkeypatch):
    monkeypatch.setattr(batch, "BLOCK", 16)
    monkeypatch.setattr(batch, "FEW", few)
    labels = np.random.default_rng(count).permutation(np.repeat(np.arange(count) / 2 - 1, 7))
    assert sorted(batch.find_distinct(labels).tolist()) == (np.arange(count) / 2 - 1).tolist()
    assert batch.Levels(labels)().tolist() == [level for level in (np.arange(count) / 2 - 1).tolist() if level > 0]


@pytest.mark.parametrize("others", [{}, {"r": {"a": 1, "b": 1, "c": 0}}])
@pytest.mark.parametrize("name", sorted({case.measure.name for case in CASES} - {"nDCGphi"}))
def test_a_query_with_a_relevant_document_is_not_degenerate_though_nothing_is_found(name, others):
    qrels = {"q": {"a": 1}} | others
    ties = "expected" if gradely.parse(name).takes_expected else "trec"
    scores = gradely.evaluate(qrels, {query: ["x"] for query in qrels}, [name, "AP"], ties=ties)
    assert "degenerate" not in {note.kind for note in scores.notes}


@pytest.mark.parametrize(
    ("discount", "rank", "divisor"),
    [
        *(("letor", rank, divisor) for rank, divisor in ((1, 1), (2, 1), (3, log2(3)), (4, 2))),
        *(("jk10", rank, divisor) for rank, divisor in ((1, 1), (10, 1), (11, log10(11)), (100, 2))),
        *(("jk(10)", rank, divisor) for rank, divisor in ((10, 1), (11, log10(11)), (100, 2))),
        *(("jk(3)", rank, divisor) for rank, divisor in ((1, 1), (3, 1), (4, log2(4) / log2(3)), (9, 2))),
        *(("none", rank, 1) for rank in (1, 2, 50)),
    ],
)
def test_discounts_of_jarvelin_and_kekalainen_begin_at_their_base(discount, rank, divisor):
    run = {"q": [*(f"x{i}" for i in range(rank - 1)), "a"]}
    found = gradely.evaluate({"q": {"a": 1}}, run, [f"DCG(discount='{discount}')"]).values.item()
    assert found == pytest.approx(1 / divisor)
