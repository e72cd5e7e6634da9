"""Differences with errors of their own: the tests agree with SciPy's, and with each other where signs change."""

import numpy as np
import pytest
from scipy import stats

from gradely.comparison.intervals import Estimates

DIFFER = np.random.default_rng(5).normal([0.02, -0.02, -0.3], 0.1, (12, 3))


def test_p_values_are_those_of_paired_t_tests():
    found = Estimates.of(DIFFER)
    assert found.p_values() == pytest.approx(stats.ttest_1samp(DIFFER, 0).pvalue)
    for limit in (-0.1, 0.0, 0.05):
        assert found.p_above(limit) == pytest.approx(stats.ttest_1samp(DIFFER, limit, alternative="greater").pvalue)
        assert found.p_below(limit) == pytest.approx(stats.ttest_1samp(DIFFER, limit, alternative="less").pvalue)
    one_sided = [stats.ttest_1samp(DIFFER, e * 0.1, alternative=a).pvalue for e, a in ((-1, "greater"), (1, "less"))]
    assert found.tost(0.1) == pytest.approx(np.max(one_sided, axis=0))
    low, high = stats.ttest_1samp(DIFFER, 0).confidence_interval(0.9)
    assert found.intervals(0.9).low == pytest.approx(low) and found.intervals(0.9).high == pytest.approx(high)


def test_turned_around_nothing_changes_but_the_sign():
    found, turned = Estimates.of(DIFFER), Estimates.of(-DIFFER)
    assert turned.p_values() == pytest.approx(found.p_values())
    assert turned.tost(0.1) == pytest.approx(found.tost(0.1))
    assert turned.chances(0.05).better == pytest.approx(found.chances(0.05).worse)


def test_where_nothing_varies_the_signs_decide():
    found = Estimates.of(np.tile([0.1, -0.1, 0.0], (4, 1)))
    assert found.constant.all()
    assert found.p_values().tolist() == [0.125, 0.125, 1.0]
    assert found.p_above(0.0).tolist() == [0.0625, 1.0, 1.0]
    assert found.p_below(0.0).tolist() == [1.0, 0.0625, 1.0]
    assert found.tost(0.2).tolist() == [0.0625, 0.0625, 0.0625] and found.tost(0.1).tolist() == [1.0, 1.0, 0.0625]
    assert np.isnan(found.chances(0.1)).all()
