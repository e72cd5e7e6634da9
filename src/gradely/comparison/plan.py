"""plan: the smallest difference that the queries can detect, and how many queries a difference needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.student import deviation_quantile, noncentral_tail, t_upper
from gradely.comparison.tests import CORRECTIONS, lacks_spread
from gradely.data.column_roles import Names
from gradely.data.selection import read_selected, split_queries
from gradely.errors import DataError
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, need_subtopics, parse_all
from gradely.settings import (
    DuplicatePolicy,
    EmptyPolicy,
    Precision,
    QueryPolicy,
    Settings,
    TiePolicy,
    check_choice,
    is_number,
)
from gradely.tables import Cell, Table, count_of, show_beside, typed_frame

POWER = 0.8
"""the conventional power of studies (Cohen 1988)"""
PLANNED = {key: CORRECTIONS[key] for key in ("bonferroni", "none")}
"""corrections that do not depend on p-values"""


class Planned(NamedTuple):
    """Two runs by one measure: the smallest detectable difference, and the number of queries needed."""

    measure: str
    first: str
    second: str
    difference: float
    """the observed difference, the first minus the second"""
    deviation: float
    """the standard deviation of the differences over the queries"""
    detectable: float | None
    """the smallest difference that this number of queries detects with the given power; None if nothing varies, or if
    it would exceed the range of the measure"""
    queries_needed: int | None
    """the number needed for the observed difference; None if it is 0, or if no number is enough"""
    needed_low: int | None
    """the interval of queries_needed, since the effect is an estimate"""
    needed_high: int | None
    """None if no number of queries may be enough"""
    queries_for: int | None = None
    """the number needed for the given difference"""
    for_low: int | None = None
    """the interval of queries_for, since the deviation is an estimate"""
    for_high: int | None = None
    power_for: float | None = None
    """the power of this number of queries for the given difference"""


ALWAYS = Planned._fields.index("queries_for")
"""the number of fields without a given difference"""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """The differences that the queries can detect, and the numbers of queries needed, by pair."""

    rows: list[Planned]
    queries: int
    power: float
    alpha: float
    correction: str
    tests: int
    """the number of tests for each measure"""
    difference: float | None
    notes: list[Note]

    def table(self) -> Table:
        """Return one row per measure and pair."""
        fields = Planned._fields if self.difference is not None else Planned._fields[:ALWAYS]
        rows: list[list[Cell]] = [list(row[: len(fields)]) for row in self.rows]
        given = [name.replace("for", f"for {self.difference:g}") for name in fields[ALWAYS:]]
        return Table([name.replace("_", " ") for name in (*fields[:ALWAYS], *given)], rows)

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return a pandas, polars or pyarrow dataframe with one row per measure and pair."""
        return Table(Planned._fields, [list(row) for row in self.rows]).to_frame(library)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the summary and the table."""
        return [self.summary(), self.table()] if self.rows else [self.summary()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        design = {key: value for key, value in vars(self).items() if key not in ("rows", "notes")}
        pairs = [row._asdict() for row in self.rows]
        return {
            "summary": self.summary(),
            "caption": self.caption(),
            **design,
            "pairs": pairs,
            "notes": self._list_notes(),
        }

    def summary(self) -> str:
        """Return the result for the first pair as a sentence."""
        if not self.rows:
            return "Nothing can be planned: that takes at least 2 runs and 2 queries."
        row = self.rows[0]
        pair, queries = f"{row.first} and {row.second}", count_of(self.queries, "query")
        apart = show_beside(row.difference, 0.0, sign="+")
        if row.deviation == 0:
            same = "have the same value" if row.difference == 0 else f"differ by the same, {apart},"
            return f"By {row.measure}, {pair} {same} on every query: nothing can be planned."
        found = (
            f"{queries} cannot detect any difference between {pair} with power {self.power:g}"
            if row.detectable is None
            else f"the smallest difference between {pair} that {queries} can detect with power {self.power:g} is "
            f"{show_beside(row.detectable, 0.0)}"
        )
        needed = self._say_needed(row.queries_needed, row.needed_low, row.needed_high)
        parts = [found, f"detecting their observed difference, {apart}, takes {needed}"]
        if self.difference is not None:
            needed = self._say_needed(row.queries_for, row.for_low, row.for_high)
            parts.append(
                f"detecting a difference of {self.difference:g} takes {needed}, and {queries} detect it with power "
                f"{_format_power(row.power_for or 0.0)}"
            )
        return f"By {row.measure}, {'; '.join(parts)}."

    def _say_needed(self, count: int | None, low: int | None, high: int | None) -> str:
        """Return a number of queries with its interval."""
        number = "more queries than anybody can judge" if count is None else count_of(count, "query")
        if low is None:
            return number
        ends = f"{low:,} or more" if high is None else f"{low:,} … {high:,}"
        return f"{number} ({100 * (1 - self.alpha):g} % interval {ends})"

    def caption(self) -> str:
        """Return the test, its power and level, and the assumptions."""
        many = f" / {self.tests:,} pairs (Bonferroni)" if self.tests > 1 and self.correction == "bonferroni" else ""
        return (
            f"Test: two-sided paired t-test, power {self.power:g}, α = {self.alpha:g}{many}. Effect size and standard "
            f"deviation are estimated from {count_of(self.queries, 'query')}; numbers of queries therefore have "
            f"{100 * (1 - self.alpha):g} % intervals, uncorrected. Differences are assumed to be normal."
        )


def plan(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    baseline: str | Iterable[str] = (),
    difference: float | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    correction: str = "bonferroni",
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> Plan:
    """Find the smallest difference that the queries can detect, and how many queries the observed one would need.

    This is Sakai's topic-set-size design for a paired t-test, based on the standard deviation of the differences
    between the runs, {name: run}. `difference` is an additional difference to plan for. `correction` is "bonferroni",
    over the pairs of each measure, or "none". All other options are those of compare.

    >>> qrels = {f"q{i}": {"d": 1} for i in range(8)}
    >>> runs = {"a": {q: ["d"] for q in qrels}, "b": {q: ["x", "y", "z"][: i % 4] + ["d"] for i, q in enumerate(qrels)}}
    >>> [(row.queries_needed, round(row.detectable, 3)) for row in plan(qrels, runs, ["RR"]).rows]
    [(6, 0.36)]

    Each number of queries has an interval at the level 1 - `alpha`, since effect and deviation are estimates.
    """
    if not is_number(power) or not 0 < power < 1:
        raise DataError(f"power must be a number between 0 and 1, like 0.8; found {power!r}")
    check_choice("correction", correction, PLANNED)
    wanted = parse_all(measures)
    _check_difference(difference, wanted.values())
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    named = name_runs(runs)
    design = Design(alpha=alpha).settle(baseline, named)
    judgments = read_selected(
        qrels, settings, columns, only=only, exclude=exclude, weights=weights, subtopics=need_subtopics(wanted)
    )
    opened = open_runs(named, columns, settings)
    board = Leaderboard(evaluate_all(judgments, opened, wanted, settings, progress))
    return plan_pairs(board.pairwise(design), difference, power, correction, board.notes)


def plan_pairs(
    pairwise: Pairwise, difference: float | None, power: float, correction: str, notes: list[Note] | None = None
) -> Plan:
    """Return the plan for pairs of runs."""
    tests, queries, alpha = pairwise.count, pairwise.values.shape[1], pairwise.design.alpha
    level = alpha / tests if correction == "bonferroni" and tests else alpha
    bounds = pairwise.bounds or [(-inf, inf)] * len(pairwise.measures)
    rows, beyond = [], []
    for m, measure in enumerate(pairwise.measures if tests else []):
        differ = pairwise.by_query(m)
        spread = np.where(lacks_spread(differ), 0.0, differ.std(axis=0, ddof=1)).tolist()
        for i, pair in enumerate(pairwise.named_pairs):
            apart, deviation = float(differ[:, i].mean()), spread[i]
            numbers = _plan_pair(apart, deviation, queries, level, alpha, power, difference)
            if numbers[0] is not None and numbers[0] > bounds[m][1] - bounds[m][0]:
                beyond.append(f"{measure} {numbers[0]:.2f}")
                numbers = (None, *numbers[1:])
            rows.append(Planned(measure, *pair, apart, deviation, *numbers))
    return Plan(
        rows, queries, power, alpha, correction, tests, difference, [*(notes or []), *_note_beyond(beyond, rows)]
    )


def _plan_pair(
    apart: float, deviation: float, queries: int, level: float, alpha: float, power: float, difference: float | None
) -> tuple[Any, ...]:
    """Return the fields of Planned from `detectable` on."""
    if deviation == 0:
        return (None,) * (len(Planned._fields) - Planned._fields.index("detectable"))
    detectable = detectable_effect(queries, level, power) * deviation
    effects = effect_interval(apart / deviation, queries, alpha)
    nearest = 0.0 if effects[0] < 0 < effects[1] else min(map(abs, effects))
    needed = (queries_needed(effect, level, power) for effect in (apart / deviation, max(map(abs, effects)), nearest))
    if difference is None:
        return (detectable, *needed)
    effect = difference / deviation
    ends = (deviation_quantile(share, queries - 1) for share in (1 - alpha / 2, alpha / 2))
    asked = (queries_needed(effect * end, level, power) for end in (1.0, *ends))
    return (detectable, *needed, *asked, power_of(effect, queries, level))


def _note_beyond(beyond: list[str], rows: list[Planned]) -> list[Note]:
    """Note pairs whose smallest detectable difference exceeds the range of the measure."""
    text = f"{len(beyond):,} of {count_of(len(rows), 'pair')} would have to differ by more than the measure can show: "
    return [Note("beyond", len(beyond), len(rows), text + ", ".join(beyond[:5]))] if beyond else []


def _check_difference(difference: float | None, measures: Iterable[Measure]) -> None:
    """Refuse a difference to plan for that is not above 0, or that a measure cannot have."""
    if difference is None:
        return
    if not (is_number(difference) and difference > 0):
        raise DataError(f"the difference to plan for must be a number above 0, like 0.02; found {difference!r}")
    for measure in measures:
        span = measure.bounds[1] - measure.bounds[0]
        if difference > span:
            raise DataError(
                f"{measure} cannot differ by more than {span:g}: no queries show a difference of {difference:g}"
            )


def _format_power(power: float) -> str:
    """Return a power with two decimals; 0 and 1, which no test has, are not shown.

    >>> _format_power(0.8), _format_power(0.9996), _format_power(0.001)
    ('0.80', 'above 0.99', 'below 0.01')
    """
    return "above 0.99" if power > 0.995 else "below 0.01" if power < 0.005 else f"{power:.2f}"


def power_of(effect: float, queries: int, alpha: float, *, one_sided: bool = False) -> float:
    """Return the power of a paired t-test for an effect, a mean over its standard deviation.

    t has a noncentral t distribution with n - 1 degrees of freedom and the noncentrality effect · √n.
    """
    freedom, moved = queries - 1, effect * sqrt(queries)
    if one_sided:
        return noncentral_tail(t_upper(alpha, freedom), freedom, moved)
    critical = t_upper(alpha / 2, freedom)
    return noncentral_tail(critical, freedom, moved) + noncentral_tail(critical, freedom, -moved)


def effect_interval(effect: float, queries: int, alpha: float) -> tuple[float, float]:
    """Return the confidence interval of an observed effect by inverting the noncentral t distribution."""
    t, root = effect * sqrt(queries), sqrt(queries)

    def solve(tail: float) -> float:
        low, high = t - 40 - abs(t), t + 40 + abs(t)
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if noncentral_tail(t, queries - 1, middle) < tail else (low, middle)
        return high / root

    return solve(alpha / 2), solve(1 - alpha / 2)


@lru_cache(maxsize=256)
def detectable_effect(queries: int, alpha: float, power: float, *, one_sided: bool = False) -> float:
    """Return the smallest effect that this number of queries detects with this power."""
    low, high = 0.0, 1.0
    while power_of(high, queries, alpha, one_sided=one_sided) < power:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle, queries, alpha, one_sided=one_sided) < power else (low, middle)
    return high


def queries_needed(effect: float, alpha: float, power: float, *, one_sided: bool = False) -> int | None:
    """Return the smallest number of queries that detects an effect with this power (Sakai 2016)."""
    if effect == 0:
        return None
    normal, effect = NormalDist(), abs(effect)
    root = (normal.inv_cdf(power) - normal.inv_cdf(alpha if one_sided else alpha / 2)) / effect
    if root < 0:
        return 2
    if root * root > 10**9:  # no larger number is reported; it may be infinite
        return None
    low = max(1, ceil(root * root) - 1)  # by the normal distribution: hardly more than t needs, and a few below it
    while low > 1 and power_of(effect, low, alpha, one_sided=one_sided) >= power:
        low //= 2  # with low power and a high level, the other tail of the test matters
    high = low + 1
    while power_of(effect, high, alpha, one_sided=one_sided) < power:
        low, high = high, high + 2 * (high - low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(effect, middle, alpha, one_sided=one_sided) < power else (low, middle)
    return high
