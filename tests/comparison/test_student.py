"""Student's t, central and noncentral: against SciPy, closed forms and limits."""

import subprocess
import sys
from math import atan, pi, sqrt

import numpy as np
import pytest
from scipy import stats

from gradely.comparison.student import deviation_quantile, noncentral_tail, t_tail, t_upper

T = np.array([0.0, 0.01, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, -0.3, -4.0])


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 23, 24, 49, 199, 999, 20_000, 99_998, 1.01, 2.5, 3.75, 18.2, 501.5])
def test_tails_are_scipys(freedom):
    expected = stats.t.sf(T, freedom)
    some = expected > 1e-300
    assert t_tail(T, freedom)[some] == pytest.approx(expected[some], rel=5e-12)
    for tail in (0.4, 0.05, 0.025, 1e-3, 1e-10):
        assert t_upper(tail, freedom) == pytest.approx(stats.t.isf(tail, freedom), rel=5e-12)


def test_every_t_may_have_degrees_of_freedom_of_its_own():
    freedom = np.linspace(1, 40, len(T))
    assert t_tail(T, freedom) == pytest.approx(stats.t.sf(T, freedom), rel=5e-12)
    assert t_tail(np.zeros(0), np.zeros(0)).shape == (0,)


def test_one_and_two_degrees_of_freedom_by_hand():
    for t in (1e-8, 0.5, 3.0, 1e6):
        assert float(t_tail(np.array([t]), 1)[0]) == pytest.approx(
            0.5 - atan(t) / pi if t < 1e3 else 1 / (pi * t), rel=1e-11
        )
        assert float(t_tail(np.array([t]), 2)[0]) == pytest.approx(0.5 - t / (2 * sqrt(2 + t * t)), abs=1e-12)


def test_of_very_many_queries_the_tail_is_normal():
    assert t_upper(0.025, 10**9) == pytest.approx(stats.norm.isf(0.025), abs=1e-8)
    for tail, freedom in ((0.025, 1_921), (0.3, 500), (1e-6, 11_300)):  # where the expansion begins
        assert t_upper(tail, freedom) == pytest.approx(stats.t.isf(tail, freedom), rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 4, 23, 200, 10**4, 10**6])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0, 5.0, -3.0])
def test_noncentral_tails_are_scipys(freedom, shift):
    for t in (t_upper(0.025, freedom), 0.0, 1.5):
        assert noncentral_tail(t, freedom, shift) == pytest.approx(stats.nct.sf(t, freedom, shift), abs=1e-10)
    assert noncentral_tail(-t_upper(0.2, freedom), freedom, 0.0) == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize("tail", [0.025, 0.0005, 1e-6])
def test_noncentral_tails_far_out_and_of_two_queries(tail):
    """With one degree of freedom the quantile is large, and the chance falls from 1 to 0 within a small range."""
    t = t_upper(tail, 1)
    for shift in (0.0, 3.0, 50.0, 1e4):
        assert noncentral_tail(t, 1, shift) == pytest.approx(stats.nct.sf(t, 1, shift), abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 9, 23, 1_000])
def test_quantiles_of_a_deviation_are_those_of_chi_square(freedom):
    for share in (0.025, 0.05, 0.5, 0.975):
        assert deviation_quantile(share, freedom) == pytest.approx(
            sqrt(stats.chi2.ppf(share, freedom) / freedom), rel=1e-8
        )


WITHOUT = """
import sys
sys.modules["scipy"] = sys.modules["scipy.stats"] = None
import gradely
qrels = {f"q{i}": {"d": 1} for i in range(8)}
runs = {
    name: {q: ["x"] * (name == "b" or i % k == 0) + ["d"] for i, q in enumerate(qrels)}
    for k, name in ((2, "a"), (3, "b"), (5, "c"))
}
for test in ("t", "wilcoxon", "randomization", "bootstrap", "tukey", "max-t"):
    for correction in (None,) if test in ("tukey", "max-t") else ("holm", "bonferroni", "bh", "none"):
        compared = gradely.compare(qrels, runs, ["RR", "AP"], test=test, correction=correction, rope=0.1, resamples=99)
        print(compared, compared.runs_table(), compared.influence.table(), *compared.notes)
print(gradely.plan(qrels, runs, ["RR"], difference=0.1))
print(gradely.gate(qrels, runs["a"], runs["b"], ["RR"], max_drop=0.1))
"""


def test_comparing_planning_and_gates_need_no_scipy():
    """README's `compare --test tukey` failed in a base installation, since intervals took SciPy's quantile."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
