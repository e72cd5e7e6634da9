"""The mean by a few human labels and many of a judge: the regression estimator of sampling theory (Cochran 1977, 7).

People judged n of N queries, drawn at random, and a judge, mostly a language model, judged all N. On a query, y is the
value by human labels and f that by the judge's.

    θ = ȳ + b(F - f̄)    ȳ, f̄ means over the n queries, F the mean of f over all N, b the least-squares slope

It is PPI++ of Angelopoulos, Duchi and Zrnic (2023) with the slope that is best, and PPI where b = 1. It is right
however wrong the judge is: its bias cancels in F - f̄, and what it does not know only makes the interval longer.

Its variance is that of Σ gᵢyᵢ, gᵢ = 1/n + (F - f̄)(fᵢ - f̄)/S, S = Σ(fᵢ - f̄)². Each residual counts by itself,
eᵢ/√(1 - hᵢ) with the leverage hᵢ (HC2 of MacKinnon and White 1985), so that they may vary with f.

Two things make intervals hold where errors are rare and large, which a few human queries may not show. Where f is very
skewed over all N queries, b is 1: then y - f is estimated, in which the skewness of both mostly cancels. And the judge
counts as if it had been wrong by chance on a fifth of a query more, WRONG. Without the first, intervals cover .88 to
.92 of very skewed differences with a poor judge; without the second, .84 to .94 of those of these queries with a good
one. With both, they cover .93 and more in every row of the table in docs/guides/estimate.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.comparison.estimates import Estimates
from gradely.comparison.tests import DIGITS
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.settings import check_choice

TARGETS = {"like": "queries like these", "these": "these queries"}
"""what the mean is of: a new query of the same kind, or all queries that the judge labelled"""
SLOPES = ("auto", 1)
FEWEST = 5
"""human queries, in all and in each segment: with fewer, a slope and a spread are guesses"""
SKEWED = 1.5
"""with a larger skewness of the judge's values over all queries, the slope is 1"""
WRONG = 0.2
"""on how many queries, besides those that people saw, the judge is taken to be wrong by chance"""
LEVERAGE = 1 - 1e-9
"""a query with more than this decides the slope alone"""

USED, COMPLETE, CONSTANT, PERFECT = range(4)
"""what became of the judge: it was used; people judged every query; its values do not vary enough for a slope; it
agrees with people on every query, so that nobody knows how often it would not"""


class Sample(NamedTuple):
    """Values by both: column by column, of means or of differences."""

    human: Floats
    """[n, columns] by human labels"""
    judged: Floats
    """[N, columns] by the judge's labels"""
    rows: Ints
    """where the human queries are among the N"""

    @property
    def beside(self) -> Floats:
        """[n, columns] by the judge's labels, on the human queries."""
        return self.judged[self.rows]


class Fit(NamedTuple):
    """The mean of each column in one segment, by some estimator."""

    mean: Floats
    variance: Floats
    """of the mean over these N queries"""
    spread: Floats
    """the variance of y from query to query"""
    freedom: Ints
    queries: int
    """N"""

    def error(self, target: str) -> Floats:
        """Return the square of the standard error for a target."""
        return self.variance + (self.spread / self.queries if target == "like" else 0.0)


class Regression(NamedTuple):
    """The fit of one segment, and how it came about."""

    fit: Fit
    slope: Floats
    use: Ints


class JudgedMeans(NamedTuple):
    """Means, or mean differences, by the labels of people and a judge together, beside those of people alone."""

    together: Estimates
    alone: Estimates
    slope: Floats
    correlation: Floats
    """between people and judge over the human queries; NaN where one of them does not vary"""
    skewed: Bools
    """where the judge's values are so skewed, in some segment, that the slope is 1 there"""
    use: Ints
    """USED, or why the judge was not"""
    sizes: tuple[int, int]
    """n and N"""
    target: str

    @property
    def mean(self) -> Floats:
        """The means by both."""
        return self.together.difference

    def worth(self, level: float) -> Floats:
        """Return how many more human queries would have made the human interval as short; NaN where there is none.

        It is at most all that the judge labelled besides, since no judge is worth more than people on the same queries.
        Below 0, the judge makes the interval longer.
        """
        n, total = self.sizes
        (low, high), (human_low, human_high) = self.together.intervals(level), self.alone.intervals(level)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = ((high - low) / (human_high - human_low)) ** 2
            if self.target == "like":
                return np.where(share > 0, np.minimum(n / share, total) - n, np.nan)
            return 1 / (1 / total + (1 / n - 1 / total) * share) - n


def check_choices(target: str, slope: object) -> None:
    """Refuse a target or a slope that there is not."""
    check_choice("target", target, TARGETS)
    if isinstance(slope, bool) or slope not in SLOPES:
        raise DataError(f"the slope is 'auto', which is estimated, or 1; found {slope!r}")


def regress(sample: Sample, target: str = "like", slope: object = "auto") -> JudgedMeans:
    """Return the estimates of each column; `target` and `slope` are as in gradely.estimate.

    >>> f = np.array([[0.1], [0.2], [0.4], [0.6], [0.7], [0.3], [0.9]])
    >>> found = regress(Sample(f[:5] - 0.05, f, np.arange(5)), "these", 1)
    >>> bool(found.use[0] == PERFECT), round(float(found.mean[0]), 2)  # then people alone decide
    (True, 0.35)
    """
    return combine([sample], target, slope)


def combine(parts: Sequence[Sample], target: str, slope: object) -> JudgedMeans:
    """Return the estimates over segments, each of which has a slope of its own, weighted by their queries.

    Degrees of freedom are those of Satterthwaite (1946). With one segment, nothing is combined.
    """
    found = [_regress(part, slope) for part in parts]
    alone = [_fit_human(part) for part in parts]
    human, judged = (np.concatenate(each) for each in zip(*((part.human, part.beside) for part in parts), strict=True))
    uses = np.stack([one.use for one in found])
    return JudgedMeans(
        _weigh([one.fit for one in found], len(human), target),
        _weigh(alone, len(human), target),
        slope=found[0].slope if len(found) == 1 else np.full(human.shape[1], np.nan),
        correlation=_correlate(human, judged),
        skewed=np.any([is_skewed(part.judged) for part in parts], axis=0),
        use=np.where((uses == USED).any(axis=0), USED, uses[0]),
        sizes=(len(human), sum(fit.queries for fit in alone)),
        target=target,
    )


def _regress(part: Sample, slope: object) -> Regression:
    """Fit a segment; where the judge cannot be used, by human labels alone."""
    alone, columns = _fit_human(part), part.human.shape[1]
    if len(part.human) == len(part.judged):
        return Regression(alone, np.zeros(columns), np.full(columns, COMPLETE))
    known = np.full(columns, slope == 1) | is_skewed(part.judged)
    found = _choose(known, _fit_known(part), _fit_slope(part))
    return _choose(found.use == USED, found, Regression(alone, np.zeros(columns), found.use))


def _choose(flags: Bools, first: Regression, second: Regression) -> Regression:
    """Return the first fit of the columns that are flagged, and the second of the others."""
    both = zip(first.fit[:4], second.fit[:4], strict=True)
    mean, variance, spread, freedom = (np.where(flags, mine, theirs) for mine, theirs in both)
    fit = Fit(mean, variance, spread, freedom, first.fit.queries)
    return Regression(fit, np.where(flags, first.slope, second.slope), np.where(flags, first.use, second.use))


def _fit_human(part: Sample) -> Fit:
    """Return the mean of human labels alone, with the correction for a finite number of queries."""
    n, total = len(part.human), len(part.judged)
    spread = _variance(part.human)
    mean, freedom = part.human.mean(axis=0), np.full(part.human.shape[1], n - 1)
    return Fit(mean, spread * (1 / n - 1 / total), spread, freedom, total)


def _fit_known(part: Sample) -> Regression:
    """Fit with the slope 1: the mean of the judge plus the mean of what it is wrong by."""
    n, total = len(part.human), len(part.judged)
    wrong = part.human - part.beside
    rest, of_judge = _variance(wrong), _variance(part.judged)
    centred = part.beside - part.beside.mean(axis=0)
    shared = (centred * (wrong - wrong.mean(axis=0))).sum(axis=0) / (n - 1)
    spread = of_judge + 2 * shared + rest  # of y, with what all N queries know of f
    spread = np.where(spread > 0, spread, _variance(part.human))  # which few queries may lead below 0
    mean = part.judged.mean(axis=0) + wrong.mean(axis=0)
    variance = _admit_errors(rest * (1 / n - 1 / total), n - 1, spread + of_judge, part)
    fit = Fit(mean, variance, spread, np.full(len(mean), n - 1), total)
    return Regression(fit, np.ones(len(mean)), np.where(rest == 0, PERFECT, USED))


def _fit_slope(part: Sample) -> Regression:
    """Fit with the least-squares slope."""
    n, total = len(part.human), len(part.judged)
    y, f = part.human - part.human.mean(axis=0), part.beside - part.beside.mean(axis=0)
    squares = (f**2).sum(axis=0)
    varies = np.ptp(np.round(part.beside, DIGITS), axis=0) > 0
    squares = np.where(varies, squares, 1.0)
    slope = np.where(varies, (y * f).sum(axis=0) / squares, 0.0)
    away = part.judged.mean(axis=0) - part.beside.mean(axis=0)
    residuals = np.round(y - slope * f, DIGITS)
    leverage = 1 / n + f**2 / squares
    varies &= leverage.max(axis=0) < LEVERAGE
    rest = (residuals**2).sum(axis=0) / (n - 2)
    weights = 1 / n + away * f / squares - 1 / total
    variance = (weights**2 * residuals**2 / np.where(varies, 1 - leverage, 1.0)).sum(axis=0)
    followed = slope**2 * _variance(part.judged)
    spread = followed + rest
    variance = _admit_errors(variance + rest * (total - n) / total**2, n - 2, spread + followed, part)
    mean = part.human.mean(axis=0) + slope * away
    use = np.where(varies, np.where(rest == 0, PERFECT, USED), CONSTANT)
    return Regression(Fit(mean, variance, spread, np.full(len(mean), n - 2), total), slope, use)


def _admit_errors(variance: Floats, freedom: int, by_chance: Floats, part: Sample) -> Floats:
    """Return the variance of a mean over these queries, as if the judge had been WRONG on some more of them.

    `by_chance` is the variance of y - bf where f says nothing about y.
    """
    more = by_chance * (1 / len(part.human) - 1 / len(part.judged))
    return (freedom * variance + WRONG * more) / (freedom + WRONG)


def _variance(values: Floats) -> Floats:
    """Return the variance of each column; 0 where it differs by rounding only."""
    return np.where(np.ptp(np.round(values, DIGITS), axis=0) > 0, values.var(axis=0, ddof=1), 0.0)


def _weigh(fits: Sequence[Fit], human: int, target: str) -> Estimates:
    """Return the means over segments; `human` is the number of human queries."""
    total = sum(fit.queries for fit in fits)
    shares = np.array([[fit.queries / total] for fit in fits])
    means = np.stack([fit.mean for fit in fits])
    mean = (shares * means).sum(axis=0)
    terms = shares**2 * np.stack([fit.error(target) for fit in fits])
    between = (shares * (means - mean) ** 2).sum(axis=0) / total if target == "like" else 0.0
    squares = (terms**2 / np.stack([fit.freedom for fit in fits])).sum(axis=0)
    varies = squares > 0
    freedom = np.where(varies, terms.sum(axis=0) ** 2 / np.where(varies, squares, 1.0), 1.0)
    freedom = fits[0].freedom.astype(np.float64) if len(fits) == 1 else freedom
    error = np.sqrt(terms.sum(axis=0) + between)
    known = target == "these" and human == total  # and then the mean is, too
    return Estimates(mean, error if known else np.where(error > 0, error, np.nan), freedom, np.full(len(mean), human))


def _correlate(y: Floats, f: Floats) -> Floats:
    """Return the correlation of each column; NaN where one of them does not vary."""
    spreads = _variance(y) * _variance(f)
    shared = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (len(y) - 1)
    return np.where(spreads > 0, shared / np.sqrt(np.where(spreads > 0, spreads, 1.0)), np.nan)


def is_skewed(values: Floats) -> Bools:
    """Return which columns are very skewed."""
    away = values - values.mean(axis=0)
    squares = np.where(_variance(values) > 0, (away**2).mean(axis=0), np.inf)
    return np.asarray(np.abs((away**3).mean(axis=0)) > SKEWED * squares**1.5)
