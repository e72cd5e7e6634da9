"""Means from a few human labels and many labels of a judge: the regression estimator (Cochran 1977, chapter 7).

People judged n of N queries, drawn at random, and a judge, such as a language model, judged all N. On a query, y is the
value by human labels and f the value by the judge's labels.

    θ = ȳ + b(F - f̄)    ȳ, f̄ means over the n queries, F the mean of f over all N, b the slope

This is PPI++ of Angelopoulos, Duchi and Zrnic (2023), and PPI if b = 1. It is valid for any judge: bias cancels in
F - f̄, and errors only make the interval longer.

The slope is that of least squares, shrunk as if PRIOR more queries with the slope MIDDLE had been observed. With few
queries, the residuals of least squares are often too small, and intervals too short.

The variance for these N queries is s²(1/n - 1/N), where s² is the variance of y - bf over the n queries. The standard
error is multiplied by a factor from find_factor, since t intervals are inaccurate if values are skewed or mostly 0.

With slope="least-squares", it is the textbook estimator: the slope is not shrunk, and t has n - 2 degrees of freedom.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Estimates
from gradely.comparison.student import t_upper
from gradely.comparison.tests import DIGITS, blocks
from gradely.data.ids import Floats, Ints
from gradely.errors import DataError
from gradely.settings import check_choice

TARGETS = {"like": "queries like these", "these": "these queries"}
"""the population of the mean: queries like these, or exactly the queries that the judge labelled"""
LEAST_SQUARES = "least-squares"
FEWEST = 5
"""minimum number of human-labelled queries, in total and in each segment, to estimate a slope and a variance"""
MIDDLE, PRIOR = 0.5, 25
"""the prior slope, and the number of queries that it counts for"""
WRONG = 0.2
"""with the slope 1, the number of additional queries on which the judge is assumed to be wrong at random"""
POPULATIONS, DRAWS = 4, 500
"""the number of simulated populations, and of samples from each"""
LEVEL = 0.95
"""the level at which the simulation calibrates intervals"""
LEAST = 10.0**-DIGITS
"""a smaller variance is a rounding error"""

USED, COMPLETE, CONSTANT, PERFECT = range(4)
"""the use of the judge: used; not needed, since people judged every query; constant over the human-labelled queries; or
in perfect agreement with people, which leaves its error rate unknown"""


class Sample(NamedTuple):
    """Values by human labels and by the judge's, with a column per run or per pair."""

    human: Floats
    """[n, columns] by human labels"""
    judged: Floats
    """[N, columns] by the judge's labels"""
    rows: Ints
    """the indices of the human-labelled queries among the N"""

    @property
    def beside(self) -> Floats:
        """[n, columns] by the judge's labels on the human-labelled queries."""
        return self.judged[self.rows]


class Fit(NamedTuple):
    """The estimated mean of each column in one segment."""

    mean: Floats
    variance: Floats
    """the variance of the mean over these N queries"""
    spread: Floats
    """the variance of y over queries"""
    factor: Floats
    """the factor of the standard error that calibrates t intervals"""
    freedom: Ints
    queries: int
    """the number of queries, N"""

    def error(self, target: str) -> Floats:
        """Return the square of the standard error for a target."""
        return self.factor**2 * self.variance + (self.spread / self.queries if target == "like" else 0.0)

    @property
    def plain(self) -> "Fit":
        """Return the square of the standard error for a target, without the factor."""
        return self._replace(factor=np.ones_like(self.factor))


class Regression(NamedTuple):
    """The fit of one segment, its slope, and the use of the judge."""

    fit: Fit
    slope: Floats
    use: Ints


class JudgedMeans(NamedTuple):
    """Means or mean differences by human labels combined with a judge's, and by human labels alone."""

    together: Estimates
    alone: Estimates
    error: Floats
    """the combined standard errors before calibration, comparable with those of human labels alone"""
    slope: Floats
    correlation: Floats
    """the correlation of human values and the judge's over the human-labelled queries; NaN if one is constant"""
    use: Ints
    """USED, or the reason why the judge was not used"""
    sizes: tuple[int, int]
    """the numbers of queries, n and N"""
    target: str

    @property
    def mean(self) -> Floats:
        """The combined means."""
        return self.together.difference

    def worth(self) -> Floats:
        """Return how many more human-labelled queries would have the same effect on precision; NaN if nothing varies.

        It is at most the number of other queries that the judge labelled. If it is negative, the judge makes the
        estimate less precise.
        """
        n, total = self.sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (self.error / self.alone.error) ** 2
            if self.target == "like":
                return np.where(share > 0, np.minimum(n / share, total) - n, np.nan)
            return 1 / (1 / total + (1 / n - 1 / total) * share) - n


def check_choices(target: str, slope: object) -> None:
    """Raise DataError for an unknown target or slope."""
    check_choice("target", target, TARGETS)
    if isinstance(slope, bool) or slope not in ("auto", LEAST_SQUARES, 1):
        raise DataError(f"the slope must be 'auto', 'least-squares' or 1; found {slope!r}")


def regress(sample: Sample, target: str = "like", slope: object = "auto") -> JudgedMeans:
    """Return the estimates of each column; `target` and `slope` are as in gradely.estimate.

    >>> f = np.array([[0.1], [0.2], [0.4], [0.6], [0.7], [0.3], [0.9]])
    >>> found = regress(Sample(f[:5] - 0.05, f, np.arange(5)), "these", 1)
    >>> bool(found.use[0] == PERFECT), round(float(found.mean[0]), 2)  # then people alone decide
    (True, 0.35)
    """
    return combine([sample], target, slope)


def combine(parts: Sequence[Sample], target: str, slope: object) -> JudgedMeans:
    """Return the estimates over segments with separate slopes, weighted by their numbers of queries.

    Degrees of freedom are those of Satterthwaite (1946).
    """
    found = [_regress(part, slope) for part in parts]
    alone = [_fit_human(part) for part in parts]
    human, judged = (np.concatenate(each) for each in zip(*((part.human, part.beside) for part in parts), strict=True))
    uses = np.stack([one.use for one in found])
    return JudgedMeans(
        _weigh([one.fit for one in found], len(human), target),
        _weigh(alone, len(human), target),
        error=_weigh([one.fit.plain for one in found], len(human), target).error,
        slope=found[0].slope if len(found) == 1 else np.full(human.shape[1], np.nan),
        correlation=_correlate(human, judged),
        use=np.where((uses == USED).any(axis=0), USED, uses[0]),
        sizes=(len(human), sum(fit.queries for fit in alone)),
        target=target,
    )


def _regress(part: Sample, slope: Any) -> Regression:
    """Fit a segment, by human labels alone if the judge cannot be used."""
    alone, columns = _fit_human(part), part.human.shape[1]
    if len(part.human) == len(part.judged):
        return Regression(alone, np.zeros(columns), np.full(columns, COMPLETE))
    fits = {"auto": _fit_slope, LEAST_SQUARES: _fit_least_squares, 1: _fit_known}
    found = fits[slope](part)
    used = found.use == USED
    fit = alone._replace(
        mean=np.where(used, found.fit.mean, alone.mean),
        variance=np.where(used, found.fit.variance, alone.variance),
        spread=np.where(used, found.fit.spread, alone.spread),
        factor=np.where(used, found.fit.factor, alone.factor),
        freedom=np.where(used, found.fit.freedom, alone.freedom),
    )
    return Regression(fit, np.where(used, found.slope, 0.0), found.use)


def _fit_human(part: Sample) -> Fit:
    """Fit by human labels alone, with the finite population correction."""
    return _fit(part, np.zeros(part.human.shape[1]))


def _fit(part: Sample, slope: Floats) -> Fit:
    """Fit with a given slope of each column."""
    n, total = len(part.human), len(part.judged)
    rest = part.human - slope * part.beside  # what the judge leaves open
    mean = slope * part.judged.mean(axis=0) + rest.mean(axis=0)
    shared = _covariance(part.beside, rest)
    spread = slope**2 * _variance(part.judged) + 2 * slope * shared + _variance(rest)  # of y, by all that is known of f
    spread = np.where(spread > 0, spread, _variance(part.human))  # which few queries may lead below 0
    freedom = np.full(len(mean), n - 1)
    return Fit(mean, _variance(rest) * (1 / n - 1 / total), spread, np.ones_like(mean), freedom, total)


def _fit_slope(part: Sample) -> Regression:
    """Fit with the shrunk slope of least squares."""
    varies = _variance(part.beside) > LEAST
    slope = _shrink(_covariance(part.beside, part.human), _variance(part.beside), len(part.human))
    share = np.nan_to_num(np.clip(_correlate(part.human, part.beside), 0, 1))
    fit = _fit(part, slope)._replace(factor=find_factor(part.judged, len(part.human), share))
    return Regression(fit, slope, np.where(varies, np.where(fit.variance == 0, PERFECT, USED), CONSTANT))


def _fit_least_squares(part: Sample) -> Regression:
    """Fit with the slope of least squares, whose own variance is part of the variance of the mean."""
    n, total = len(part.human), len(part.judged)
    squares = _variance(part.beside)
    slope, varies = _least_squares(_covariance(part.beside, part.human), squares), squares > LEAST
    residual = _variance(part.human - slope * part.beside) * (n - 1) / (n - 2)
    apart = part.judged.mean(axis=0) - part.beside.mean(axis=0)
    fit = _fit(part, slope)._replace(
        variance=residual * ((1 - n / total) / n + apart**2 / ((n - 1) * np.where(varies, squares, 1.0))),
        spread=_variance(part.human),
        freedom=np.full(len(slope), n - 2),
    )
    return Regression(fit, slope, np.where(varies, np.where(residual == 0, PERFECT, USED), CONSTANT))


def _least_squares(shared: Floats, squares: Floats) -> Floats:
    """Return the slope of least squares from covariances and variances; 0 if the judge's values are constant."""
    varies = squares > LEAST
    return np.where(varies, shared / np.where(varies, squares, 1.0), 0.0)


def _shrink(shared: Floats, squares: Floats, n: int) -> Floats:
    """Return the shrunk slope of least squares over n queries; 0 if the judge's values are constant."""
    return np.where(squares > LEAST, (n * _least_squares(shared, squares) + PRIOR * MIDDLE) / (n + PRIOR), 0.0)


def find_factor(judged: Floats, n: int, share: Floats) -> Floats:
    """Return the factor of the standard errors of each column that calibrates t intervals, by simulation.

    Populations of N queries are simulated from the judge's values: simulated people agree with the judge on a share of
    the queries, and have the judge's value of another query on the rest, so the correlation equals that share. From
    each population, samples of n queries are drawn, and the estimates are compared with the mean. The result does not
    depend on the order of the queries.
    """
    total, columns = judged.shape
    f = np.sort(judged, axis=0)  # before the mean, whose last bit depends on the order of its terms
    f -= f.mean(axis=0)
    rng = np.random.default_rng(0)
    drawn = np.zeros((DRAWS, total))
    for row in drawn:
        row[rng.choice(total, n, replace=False, shuffle=False)] = 1
    changes = [(rng.random((total, 1)), rng.permutation(total)) for _ in range(POPULATIONS)]
    quantiles = np.zeros(columns)
    for block in blocks(columns, POPULATIONS * DRAWS):
        ratios = [
            _simulate(drawn, f[:, block], np.where(chance < share[block], f[:, block], f[other][:, block]))
            for chance, other in changes
        ]
        quantiles[block] = np.quantile(np.concatenate(ratios), LEVEL, axis=0)
    return np.where(quantiles > 0, quantiles / t_upper((1 - LEVEL) / 2, n - 1), 1.0)


def _simulate(drawn: Floats, f: Floats, y: Floats) -> Floats:
    """Return the distance of the estimates from the mean in standard errors [samples, columns]; 0 if nothing varies."""
    total, n = len(f), int(drawn[0].sum())
    f_mean, y_mean = drawn @ f / n, drawn @ y / n
    f_squares, y_squares, shared = (
        (drawn @ product - n * means) / (n - 1)
        for product, means in ((f * f, f_mean**2), (y * y, y_mean**2), (f * y, f_mean * y_mean))
    )
    slope = _shrink(shared, f_squares, n)
    rest = y_squares - 2 * slope * shared + slope**2 * f_squares
    varies = rest > LEAST
    away = np.abs(y_mean - slope * f_mean - y.mean(axis=0))
    return np.where(varies, away / np.sqrt(np.where(varies, rest, 1.0) * (1 / n - 1 / total)), 0.0)


def _fit_known(part: Sample) -> Regression:
    """Fit with the slope 1: the mean of the judge plus the mean of its errors."""
    n, total, ones = len(part.human), len(part.judged), np.ones(part.human.shape[1])
    fit = _fit(part, ones)
    by_chance = (fit.spread + _variance(part.judged)) * (1 / n - 1 / total)  # where f says nothing about y
    variance = ((n - 1) * fit.variance + WRONG * by_chance) / (n - 1 + WRONG)
    return Regression(fit._replace(variance=variance), ones, np.where(fit.variance == 0, PERFECT, USED))


def _variance(values: Floats) -> Floats:
    """Return the variance of each column; 0 if it is constant up to rounding."""
    return np.where(np.ptp(np.round(values, DIGITS), axis=0) > 0, values.var(axis=0, ddof=1), 0.0)


def _weigh(fits: Sequence[Fit], human: int, target: str) -> Estimates:
    """Return the weighted means over segments; `human` is the number of human-labelled queries."""
    total = sum(fit.queries for fit in fits)
    shares = np.array([[fit.queries / total] for fit in fits])
    means = np.stack([fit.mean for fit in fits])
    mean = (shares * means).sum(axis=0)
    terms = shares**2 * np.stack([fit.error(target) for fit in fits])
    between = (shares * (means - mean) ** 2).sum(axis=0) / total if target == "like" else 0.0
    squares = (terms**2 / np.stack([fit.freedom for fit in fits])).sum(axis=0)
    varies = squares > 0
    freedom = np.where(varies, terms.sum(axis=0) ** 2 / np.where(varies, squares, 1.0), 1.0)
    freedom = fits[0].freedom.astype(float) if len(fits) == 1 else freedom
    error = np.sqrt(terms.sum(axis=0) + between)
    known = target == "these" and human == total  # and then the mean is, too
    return Estimates(mean, error if known else np.where(error > 0, error, np.nan), freedom, np.full(len(mean), human))


def _covariance(f: Floats, y: Floats) -> Floats:
    """Return the covariance of each column."""
    shared: Floats = ((f - f.mean(axis=0)) * (y - y.mean(axis=0))).sum(axis=0) / (len(y) - 1)
    return shared


def _correlate(y: Floats, f: Floats) -> Floats:
    """Return the correlation of each column; NaN if one side is constant."""
    spreads = _variance(y) * _variance(f)
    return np.where(spreads > 0, _covariance(f, y) / np.sqrt(np.where(spreads > 0, spreads, 1.0)), np.nan)
