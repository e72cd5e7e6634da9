"""plan: what difference so many queries can show, and how many queries a difference needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, isfinite, isnan, sqrt
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.compare import Leaderboard
from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.tests import CORRECTIONS, lacks_spread
from gradely.data.selection import read_selected, split_queries
from gradely.errors import DataError
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section
from gradely.lazy import stats
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy, check_choice
from gradely.tables import Cell, Table, count_of

POWER = 0.8
"""the power that studies are usually planned for (Cohen 1988)"""
MOST = 10**9
"""more queries than this nobody will judge: no number is given"""
PLANNED = {key: CORRECTIONS[key] for key in ("bonferroni", "none")}
"""corrections that are known before there are p-values"""


class Planned(NamedTuple):
    """Two runs on one measure: which difference the queries could show, and how many queries it would take."""

    measure: str
    first: str
    second: str
    difference: float
    """that was observed, the first minus the second"""
    deviation: float
    """the standard deviation of the differences over the queries"""
    detectable: float | None
    """the smallest difference that as many queries as there are show with the power asked for"""
    queries_needed: int | None
    """for the observed difference; None where it is 0, or no number of queries is enough"""
    queries_for: int | None = None
    """for the difference that was asked about"""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """What the queries at hand can show, pair by pair."""

    rows: list[Planned]
    queries: int
    power: float
    alpha: float
    correction: str
    tests: int
    """how many there are for each measure"""
    difference: float | None
    notes: list[Note]

    def table(self) -> Table:
        """Return one row per measure and pair."""
        fields = Planned._fields if self.difference is not None else Planned._fields[:-1]
        rows: list[list[Cell]] = [list(row[: len(fields)]) for row in self.rows]
        header = [f"queries for {self.difference:g}" if name == "queries_for" else name for name in fields]
        return Table([name.replace("_", " ") for name in header], rows)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe with one row per measure and pair, of pandas, polars or pyarrow."""
        return Table(Planned._fields, [list(row) for row in self.rows]).to_frame(library)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the answer and the table."""
        return [self.summary(), self.table()]

    def remarks(self) -> list[str]:
        """Return what the numbers rest on."""
        return [self.caption()]

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
        """Return the answer of the first pair in a sentence."""
        if not self.rows:
            return "Nothing can be planned: that takes at least 2 runs and 2 queries."
        row = self.rows[0]
        pair = f"{row.first} and {row.second}"
        if row.detectable is None:
            return f"By {row.measure}, {pair} differ by the same on every query: nothing can be planned."
        text = f"By {row.measure}, {self.queries:,} queries tell {pair} apart with power {self.power:g}"
        count = row.queries_needed
        needed = "no number of queries is enough" if count is None else f"it takes {count_of(count, 'query')}"
        here = f"at their difference here, {row.difference:+.4f}, {needed}"
        return f"{text} if they differ by {row.detectable:.4f}; {here}."

    def caption(self) -> str:
        """Return what the numbers rest on."""
        many = f" / {self.tests:,} pairs (Bonferroni)" if self.tests > 1 and self.correction == "bonferroni" else ""
        return (
            f"two-sided paired t-test, power {self.power:g}, α = {self.alpha:g}{many}; the deviation is estimated from "
            f"{count_of(self.queries, 'query')}, and the differences are assumed to be normal"
        )


def plan(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    baselines: str | Iterable[str] = (),
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
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    exclude: Any = None,
) -> Plan:
    """Find what difference the queries at hand could show, and how many the observed one would need.

    This is Sakai's topic-set-size design for a paired t-test: it takes the spread of the differences between the runs,
    {name: run}. `difference` is one to plan for besides the observed one. `correction` is bonferroni, over the pairs of
    each measure, or none. The rest is as in compare.

    >>> qrels = {f"q{i}": {"d": 1} for i in range(8)}
    >>> runs = {"a": {q: ["d"] for q in qrels}, "b": {q: ["x", "y", "z"][: i % 4] + ["d"] for i, q in enumerate(qrels)}}
    >>> [(row.queries_needed, round(row.detectable, 3)) for row in plan(qrels, runs, ["RR"]).rows]
    [(6, 0.36)]
    """
    _check(power, difference)
    check_choice("correction", correction, PLANNED)
    policy, only = split_queries(queries)
    settings, named = Settings(ties, policy, judged_only, precision, seed, threads), name_runs(runs)
    design = Design(alpha=alpha).settle(baselines, named)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    board = Leaderboard(evaluate_all(judgments, open_runs(named, columns), parse_all(measures), settings, progress))
    return plan_pairs(board.pairwise(design), difference, power, correction, board.notes)


def plan_pairs(
    pairwise: Pairwise, difference: float | None, power: float, correction: str, notes: list[Note] | None = None
) -> Plan:
    """Plan for pairs of runs whose values are known."""
    tests, queries, alpha = len(pairwise.pairs), pairwise.values.shape[1], pairwise.design.alpha
    level = alpha / tests if correction == "bonferroni" and tests else alpha
    rows = []
    for m, measure in enumerate(pairwise.measures if tests else []):
        differ = pairwise.by_query(m)
        spread = np.where(lacks_spread(differ), 0.0, differ.std(axis=0, ddof=1)).tolist()
        for i, (a, b) in enumerate(zip(*pairwise.pairs, strict=True)):
            apart, deviation = float(pairwise.differences[m, i]), spread[i]
            effects = [apart / deviation, (difference or 0.0) / deviation] if deviation > 0 else [0.0, 0.0]
            needed = [queries_needed(effect, level, power) for effect in effects]
            detectable = detectable_effect(queries, level, power) * deviation if deviation > 0 else None
            rows.append(Planned(measure, pairwise.names[a], pairwise.names[b], apart, deviation, detectable, *needed))
    return Plan(rows, queries, power, alpha, correction, tests, difference, notes or [])


def _check(power: float, difference: float | None) -> None:
    if not 0 < power < 1:
        raise DataError(f"power is a number between 0 and 1, like 0.8; found {power!r}")
    if difference is not None and not (difference > 0 and isfinite(difference)):
        raise DataError(f"the difference to plan for is a number above 0, like 0.02; found {difference!r}")


def power_of(effect: float, queries: int, alpha: float) -> float:
    """Return the chance that a two-sided paired t-test finds an effect, a mean over its standard deviation.

    t has the noncentral t distribution, with n - 1 degrees of freedom, moved by effect · √n.
    """
    freedom, moved = queries - 1, abs(effect) * sqrt(queries)
    critical = stats().t.isf(alpha / 2, freedom)
    wrong_side = float(stats().nct.cdf(-critical, freedom, moved))
    # SciPy has NaN for some chances that are far too small to matter
    return float(stats().nct.sf(critical, freedom, moved)) + (0.0 if isnan(wrong_side) else wrong_side)


def detectable_effect(queries: int, alpha: float, power: float) -> float:
    """Return the smallest effect that so many queries show with this power."""
    low, high = 0.0, 1.0
    while power_of(high, queries, alpha) < power:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle, queries, alpha) < power else (low, middle)
    return high


def queries_needed(effect: float, alpha: float, power: float) -> int | None:
    """Return the least number of queries that shows an effect with this power (Sakai 2016)."""
    if effect == 0:
        return None
    normal = stats().norm
    root = float(normal.isf(alpha / 2) + normal.ppf(power)) / effect
    if root * root > MOST:  # which may be infinite
        return None
    low = max(1, ceil(root * root) - 1)  # by the normal distribution: never more than t needs, and a few below it
    high = low + 1
    while power_of(effect, high, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(effect, middle, alpha) < power else (low, middle)
    return high
