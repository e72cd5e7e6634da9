"""Paired significance tests between systems, from their values [topics, systems].

A test returns one p-value a pair of systems; `adjusted` corrects them over the family of pairs;
`discriminative_power` is the share of pairs that a measure separates. The order of topics and systems does not matter.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison import resampling
from gradely.data.types import Floats, Ints
from gradely.errors import DataError, check_choice
from gradely.optional import stats

TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "paired randomization test",
    "bootstrap": "paired bootstrap test, studentised",
    "tukey": "randomised Tukey HSD, blocked by topic",
}
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
    "none": "no correction",
}
FEW = 13
"""with so few topics SciPy enumerates signed ranks that tie"""
DIGITS = 12
"""differences that agree to so many decimals are the same: rounding must not decide who wins or which ranks tie"""


class Pairs(NamedTuple):
    """Pairs of systems: system first[i] against system second[i]."""

    first: Ints
    second: Ints

    def __len__(self) -> int:
        """Return how many pairs there are."""
        return len(self.first)


def all_pairs(systems: int) -> Pairs:
    """Return every pair of systems once.

    >>> [each.tolist() for each in all_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return Pairs(*np.triu_indices(systems, 1))


def against(baselines: Sequence[int], systems: int) -> Pairs:
    """Return every other system against each baseline, and the baselines against each other once.

    >>> [each.tolist() for each in against([2], 3)]
    [[0, 1], [2, 2]]
    """
    pairs = {(i, base) for base in baselines for i in range(systems) if i != base}
    kept = sorted((i, base) for i, base in pairs if (base, i) not in pairs or i < base)
    return Pairs(*np.asarray(kept, np.int64).reshape(-1, 2).T)


def differences(values: Floats, pairs: Pairs) -> Floats:
    """Return [topics, pairs]: the value of the first system minus that of the second."""
    return np.round(values[:, pairs.first] - values[:, pairs.second], DIGITS)


def p_values(
    values: Any,
    test: str = "t",
    pairs: Pairs | None = None,
    *,
    resamples: int = resampling.RESAMPLES,
    seed: int = 0,
) -> Floats:
    """Return the two-sided p-value of each pair (by default all_pairs), not corrected.

    `values` is [topics, systems]. `test` is one of TESTS; randomization, bootstrap and tukey draw `resamples` times
    with `seed`. tukey holds for all pairs of the systems at once, and needs no correction.

    >>> p_values([[0.5, 0.4], [0.7, 0.4], [0.9, 0.4]], "randomization").tolist() == [2 / 2**3]
    True
    """
    table = checked(values)
    check_choice("test", test, TESTS)
    pairs = all_pairs(table.shape[1]) if pairs is None else pairs
    if test == "tukey":
        return resampling.tukey(table, np.abs(differences(table, pairs).mean(axis=0)), resamples, seed)
    differ = differences(table, pairs)
    out, some = np.ones(len(pairs)), np.any(differ != 0, axis=0)
    out[some] = _TESTS[test](differ[:, some], resamples, seed)
    return out


def checked(values: Any) -> Floats:
    """Return values [topics, systems] as an array; refuse what cannot be tested."""
    table: Floats = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise DataError(
            f"a paired test needs at least 2 topics and 2 systems, as an array [topics, systems]; found {table.shape}"
        )
    if not np.isfinite(table).all():
        raise DataError("values that are not finite numbers cannot be tested")
    return table


def _t(differ: Floats, resamples: int, seed: int) -> Floats:  # noqa: ARG001 - one signature for all
    """Where all differences are the same, t is infinite and p is 0."""
    varied = np.ptp(differ, axis=0) > 0
    out = np.zeros(differ.shape[1])
    out[varied] = stats().ttest_1samp(differ[:, varied], 0).pvalue
    return out


def _wilcoxon(differ: Floats, resamples: int, seed: int) -> Floats:  # noqa: ARG001 - one signature for all
    """SciPy chooses exact or normal p-values once for all pairs of a call: those with zeros or ties go apart.

    For few topics it enumerates where there are any, which takes the memory of one pair at a time.
    """
    if len(differ) <= FEW:
        return np.asarray([stats().wilcoxon(column).pvalue for column in differ.T])
    size = np.sort(np.abs(differ), axis=0)
    plain = (size[0] > 0) & np.all(np.diff(size, axis=0) > 0, axis=0)
    out = np.empty(differ.shape[1])
    for some in (plain, ~plain):
        out[some] = stats().wilcoxon(differ[:, some], axis=0).pvalue if some.any() else 1.0
    return out


_TESTS: dict[str, Callable[[Floats, int, int], Floats]] = {
    "t": _t,
    "wilcoxon": _wilcoxon,
    "randomization": resampling.randomization,
    "bootstrap": resampling.bootstrap,
}


def adjusted(p: Any, correction: str = "holm") -> Floats:
    """Return p-values corrected over their family.

    >>> adjusted([0.01, 0.02, 0.04], "holm").tolist() == [3 * 0.01, 2 * 0.02, 0.04]
    True
    """
    check_choice("correction", correction, CORRECTIONS)
    raw: Floats = np.asarray(p, np.float64)
    if correction == "none" or not len(raw):
        return raw
    if correction == "bh":
        return np.asarray(stats().false_discovery_control(raw))
    if correction == "bonferroni":
        return np.minimum(1.0, raw * len(raw))
    order = np.argsort(raw, kind="stable")
    out = np.empty_like(raw)
    out[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)))
    return out


def discriminative_power(
    values: Any,
    test: str = "t",
    *,
    alpha: float = 0.05,
    correction: str = "none",
    resamples: int = resampling.RESAMPLES,
    seed: int = 0,
) -> float:
    """Return the share of all pairs of systems that are separated: their p-value is below alpha (Sakai 2006)."""
    p = p_values(values, test, resamples=resamples, seed=seed)
    return float(np.mean(adjusted(p, correction) < alpha))


def achieved_levels(p: Any) -> Floats:
    """Return the achieved-significance-level curve: the p-values of all pairs, from the largest to the smallest."""
    return np.sort(np.asarray(p, np.float64))[::-1]


def effect_sizes(differ: Floats) -> Floats:
    """Return Cohen's d for pairs: mean over standard deviation of the differences; 0 where all of them are 0."""
    mean, spread = differ.mean(axis=0), differ.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.any(differ != 0, axis=0), mean / np.where(np.ptp(differ, axis=0) > 0, spread, 0.0), 0.0)
