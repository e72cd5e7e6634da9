"""Systems with several runs each, such as seeds or repeated training.

The query remains the unit of analysis. On each query, the mean over the runs of a system is compared, and standard
errors include the variance between runs. Repetitions do not count as additional queries, which would overstate the
evidence.
"""

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gradely.comparison.intervals import Estimates, Intervals
from gradely.comparison.leaderboard import Leaderboard, flatten_means
from gradely.comparison.pairwise import Design, Estimated, Pair, Shares
from gradely.comparison.tests import DIGITS, Pairs, differences
from gradely.data import run_names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.read.dicts import MAPPING
from gradely.data.source import Source
from gradely.data.table import Run
from gradely.errors import DataError, InputError
from gradely.evaluation.evaluate import Evaluations
from gradely.evaluation.notes import Note, TieRange, UnjudgedShare
from gradely.evaluation.result import Result, Section
from gradely.evaluation.scores import normalize_weights
from gradely.tables import Cell, Table

EXAMPLE = "{'bm25': ['bm25.1.run', 'bm25.2.run'], 'dense': ['dense.1.run', 'dense.2.run']}"


class Groups(NamedTuple):
    """Runs by name, and the runs of each system."""

    runs: dict[str, Any]
    members: dict[str, list[str]]

    @classmethod
    def of(cls, runs: Any) -> "Groups | None":
        """Split {system: [runs]} into runs and systems; return None if no system has a list of runs.

        >>> Groups.of({"bm25": ["a/1.run", "a/2.run"], "dense": {"q1": ["d1"]}}).members
        {'bm25': ['bm25/1', 'bm25/2'], 'dense': ['dense']}
        """
        if isinstance(runs, cls) or not isinstance(runs, Mapping) or not any(map(_holds_runs, runs.values())):
            return runs if isinstance(runs, cls) else None
        flat: dict[str, Any] = {}
        members: dict[str, list[str]] = {}
        for system, given in runs.items():
            several = list(given) if _holds_runs(given) else [given]
            if not several:
                raise DataError(f"the system {system} has no runs: give at least one, as in {EXAMPLE}")
            names = [str(system)] if not _holds_runs(given) else [f"{system}/{name}" for name in _names(several)]
            flat |= zip(names, several, strict=True)
            members[str(system)] = names
        return cls(flat, members)


def _names(runs: list[Any]) -> list[str]:
    """Return names for the runs of a system: those of their files, or numbers."""
    if all(isinstance(run, str | os.PathLike) for run in runs):
        return run_names([os.fspath(run) for run in runs])
    return [str(number) for number in range(1, len(runs) + 1)]


def _holds_runs(value: Any) -> bool:
    """Return whether this is a list of runs, as opposed to one run as a list of records."""
    return isinstance(value, list | tuple) and not hasattr(value, "_fields") and all(map(_is_run, value))


def _is_run(value: Any) -> bool:
    if isinstance(value, MAPPING):  # a record has plain values, a run has rankings
        return not isinstance(next(iter(value.values()), []), str | int | float)
    if isinstance(value, str | os.PathLike | Source | Run) or callable(value):
        return True
    from gradely.data.read.frames import is_frame

    return is_frame(value)


def match_files(pattern: str, named: str) -> list[str]:
    """Return the file of this name, or the files that match a pattern; `named` is its name in messages."""
    if os.path.exists(pattern):
        return [pattern]
    files = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    if not files:
        raise InputError(f"{named}: no file matches {pattern}")
    return files


def check_design(design: Design) -> None:
    """Raise DataError for options that are not available for systems with several runs."""
    if design.test != "t":
        raise DataError(
            f"the test {design.test} is not available for systems with several runs: use t, or compare one run of each"
        )
    if design.simultaneous:
        raise DataError(
            "simultaneous intervals are not available for systems with several runs: leave them out; the corrected "
            "p-values hold for all pairs"
        )


class Spread(NamedTuple):
    """Components of the variance of a system's mean by one measure; 0 for one run."""

    runs: float
    """the variance of the runs' means, divided by the number of runs"""
    rest: float
    """the residual mean square of queries and runs, divided by the number of values"""


def spread_of(values: Floats) -> Spread:
    """Return the components of the variance from values [queries, runs].

    >>> spread_of(np.array([[0.0, 1.0], [0.5, 0.5]]))  # means .25, .75; residuals ±.25
    Spread(runs=0.0625, rest=0.0625)
    """
    queries, runs = values.shape
    if runs < 2 or queries < 2:
        return Spread(0.0, 0.0)
    of_runs, of_queries = values.mean(axis=0), values.mean(axis=1)
    left = np.round(values - of_runs - of_queries[:, None] + values.mean(), DIGITS)  # rounding is no variance
    square = float((left**2).sum()) / ((queries - 1) * (runs - 1))
    rounded = np.round(of_runs, DIGITS)
    between = float(rounded.var(ddof=1)) if np.ptp(rounded) > 0 else 0.0
    return Spread(between / runs, square / (queries * runs))


def estimate(differ: Floats, repeats: Sequence[Floats], pairs: Pairs) -> tuple[Estimates, list[Shares | None]]:
    """Return the differences of pairs of systems with their standard errors, and the components of their variance.

    `differ` [queries, pairs] are the differences of the systems' means over their runs, `repeats` the values
    [queries, runs] of each system. The variance of the mean difference is

        s²_D/n + max(0, s²_A/R_A + s²_B/R_B − rest),  rest = MSE_A/(n·R_A) + MSE_B/(n·R_B)

    with s²_D over queries, s²_A and s²_B over the means of runs, and MSE the residual mean square of queries and runs,
    which both kinds of terms contain. The variance is at least the rest. A system with one run has no term: the result
    is about that run.
    """
    queries = len(differ)
    spreads = [spread_of(values) for values in repeats]
    over_queries = differ.var(axis=0, ddof=1) / queries if queries > 1 else np.zeros(differ.shape[1])
    over_queries = np.where(np.ptp(differ, axis=0) == 0, 0.0, over_queries)
    runs, rest = (np.asarray([part[i] for part in spreads]) for i in range(2))
    of_runs = np.stack([runs[pairs.first], runs[pairs.second]])
    freedom = np.stack([_freedoms(repeats)[pairs.first], _freedoms(repeats)[pairs.second]])
    left, both = rest[pairs.first] + rest[pairs.second], of_runs.sum(axis=0)
    kept = np.maximum(both - left, 0.0) / np.where(both > 0, both, 1.0)
    variance = np.maximum(over_queries + kept * both, left)
    varies = (variance > 0) & (queries > 1)
    shares_of_runs = kept * of_runs / np.where(varies, variance, 1.0)
    estimates = Estimates(
        differ.mean(axis=0),
        np.where(varies, np.sqrt(variance), np.nan),
        _total_freedom(shares_of_runs, freedom, queries - 1),
        np.full(len(pairs), float(queries)),
    )
    parts = np.maximum([over_queries - left, both - left, left], 0.0)
    repeated = np.any(freedom > 0, axis=0)
    known = repeated & varies
    shares = (parts / np.where(known, parts.sum(axis=0), 1.0)).T.tolist()
    return estimates, [Shares(*row) if is_known else None for row, is_known in zip(shares, known.tolist(), strict=True)]


def _total_freedom(shares: Floats, freedom: Ints, of_queries: int) -> Floats:
    """Return the degrees of freedom of a difference from the shares [2, pairs] of the variance due to runs.

    Satterthwaite's formula is 1 / Σ share²/ν. If two or three runs happen to agree, their squared share is nearly 0,
    and at α = .05 the error rate is up to .13. With the exponent 2 − 2/(3ν) for each of two systems, and 1 if the runs
    of only one system differ, error rates are .04 to .06 in most simulated cases; docs/guides/systems.md has the
    others. With many runs, this approaches Satterthwaite's formula.

    >>> _total_freedom(np.array([[0.4], [0.4]]), np.array([[9], [9]]), 499).round(1).tolist()
    [26.2]
    >>> _total_freedom(np.array([[0.5], [0.0]]), np.array([[2], [0]]), 10**6).round(1).tolist()  # ν / share
    [4.0]
    """
    counted = np.maximum(freedom, 1)
    alone = np.count_nonzero(shares > 0, axis=0) == 1
    of_runs = (shares ** np.where(alone, 1.0, 2 - 2 / (3 * counted)) / counted).sum(axis=0)
    return np.asarray(1 / np.maximum(of_runs + (1 - shares.sum(axis=0)) ** 2 / max(of_queries, 1), 1e-300))


def _freedoms(repeats: Sequence[Floats]) -> Ints:
    return np.asarray([values.shape[1] - 1 for values in repeats])


@dataclass(eq=False, repr=False)
class GroupedPairs(Estimated):
    """Pairs of systems with several runs each; `values` are the means over the runs of each system."""

    repeats: Sequence[Floats] = ()
    """values [measures, queries, runs] of each system"""
    subject: ClassVar[str] = "system"

    @property
    def test_name(self) -> str:
        """The name of the test."""
        return "t-test of systems over queries and runs"

    @cached_property
    def estimates(self) -> list[Estimates]:
        """The estimates by measure."""
        return [estimates for estimates, _ in self._estimated]

    @cached_property
    def shares(self) -> list[list[Shares | None]]:
        """The components of the variance of each difference, by measure."""
        return [shares for _, shares in self._estimated]

    @cached_property
    def _estimated(self) -> list[tuple[Estimates, list[Shares | None]]]:
        return [self._estimate(m, np.arange(self.values.shape[1])) for m in range(len(self.measures))]

    def _estimate(self, measure: int, queries: Ints) -> tuple[Estimates, list[Shares | None]]:
        differ = differences(self.values[measure][queries], self.pairs)
        repeats = [values[measure][queries] for values in self.repeats]
        if self.weights is not None:
            weights = normalize_weights(self.weights[queries])[:, None]
            differ, repeats = differ * weights, [values * weights for values in repeats]
        return estimate(differ, repeats, self.pairs)

    def intervals_on(self, measure: int, queries: Ints) -> Intervals:
        """Return the uncorrected intervals of the differences on some of the queries."""
        return self.cut(self._estimate(measure, queries)[0].intervals(1 - self.design.alpha), measure)

    @property
    def leaves_out_at_once(self) -> bool:
        """False: every query contributes to the variance between runs."""
        return False

    def leave_out(self, query: int) -> Self:
        """Return the same systems without one query."""
        repeats = [np.delete(table, query, axis=1) for table in self.repeats]
        return replace(super().leave_out(query), repeats=repeats)

    def rows(self) -> Iterator[Pair]:
        """Yield the results of each pair, measure by measure."""
        known = [
            (None if np.isnan(e.error[i]) else float(e.freedom[i]), shares[i])
            for e, shares in self._estimated
            for i in range(len(self.pairs))
        ]
        for pair, (freedom, shares) in zip(super().rows(), known, strict=True):
            yield pair._replace(freedom=freedom, shares=shares)


class SystemBoard(Leaderboard):
    """Systems by name, each with the mean of its runs, on the queries that count for all runs."""

    subject = "system"

    def __init__(self, results: Evaluations, members: dict[str, list[str]]) -> None:
        """Keep the results of all runs, and the runs of each system."""
        super().__init__(results)
        self.members = members
        for system, runs in members.items():
            self._check_shared(system, runs)

    def _check_shared(self, system: str, runs: list[str]) -> None:
        """Raise DataError if the runs are parts of one run, such as folds with different queries."""
        answered = np.stack([self.results.evaluations[run].hits.answered for run in runs])
        if len(runs) > 1 and answered.any(axis=1).all() and not (answered.sum(axis=0) > 1).any():
            raise DataError(
                f"the {len(runs)} runs of {system} have no query in common: concatenate parts of one run, such as the "
                "folds of a cross-validation, first, for example with cat"
            )

    @cached_property
    def names(self) -> list[str]:
        """The systems, best first by the first measure; systems with equal means by name."""
        first = next(iter(self.measures))
        return sorted(self.members, key=lambda name: (-self._mean(name, first), name))

    def _mean(self, system: str, measure: str) -> float:
        return fsum(self.common[run][measure] for run in self.members[system]) / len(self.members[system])

    @cached_property
    def means(self) -> Floats:
        """[measures, systems] the means over runs and queries."""
        return np.asarray([[self._mean(name, measure) for name in self.names] for measure in self.measures])

    @cached_property
    def repeats(self) -> list[Floats]:
        """The values [measures, queries, runs] of each system."""
        return [np.stack([self.common[run].values.T for run in self.members[name]], axis=2) for name in self.names]

    @cached_property
    def values(self) -> Floats:
        """[measures, queries, systems] the means over the runs of each system, independent of their order."""
        return np.stack([np.sort(values, axis=2).mean(axis=2) for values in self.repeats], axis=2)

    def pairwise(self, design: Design) -> GroupedPairs:
        """Return the pairs of systems under a design."""
        bounds = [measure.bounds for measure in self.measures.values()]
        shared = (self.values, self.means, self.names, list(self.measures), design, bounds, self.weights)
        return GroupedPairs(*shared, repeats=self.repeats)

    def unjudged_share(self, name: str) -> UnjudgedShare | None:
        """Return the share of unjudged documents in the tops of a system's runs; None if it is unknown."""
        shares = [self.common[run].unjudged_share for run in self.members[name]]
        known = [share for share in shares if share is not None]
        depths, unjudged, documents = zip(*known, strict=True) if known else ((), (), ())
        return UnjudgedShare(depths[0], sum(unjudged), sum(documents)) if known else None

    @cached_property
    def tie_ranges(self) -> dict[str, dict[str, TieRange]]:
        """{system: {measure: range}} of the means that depend on the order of ties, averaged over runs."""
        return {name: dict(self._tie_ranges(name)) for name in self.names}

    def _tie_ranges(self, system: str) -> Iterator[tuple[str, TieRange]]:
        runs = self.members[system]
        spans = {run: {span.measure: span for span in self.common[run].tie_ranges} for run in runs}
        for measure in self.measures:
            moved = [spans[run][measure] for run in runs if measure in spans[run]]
            if moved:
                still = [self.common[run][measure] for run in runs if measure not in spans[run]]
                low, high = (fsum([*still, *(getattr(span, end) for span in moved)]) for end in ("low", "high"))
                counts = np.max([(span.queries, span.of, span.bounded) for span in moved], axis=0).tolist()
                mean = self._mean(system, measure)
                yield measure, TieRange(measure, mean, low / len(runs), high / len(runs), *counts)

    def measure(self, name: str, measure: str) -> float:
        """Return the mean of a system by any measure, even one that the leaderboard does not have."""
        means = [super(SystemBoard, self).measure(run, measure) for run in self.members[name]]
        return fsum(means) / len(means)

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {system/measure: mean} with names that MLflow and Weights & Biases accept."""
        return flatten_means(self, prefix)

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on queries, documents and runs."""
        return [*self._note_runs(), *super().notes]

    def _note_runs(self) -> list[Note]:
        """Note what the numbers of runs imply for the verdicts."""
        systems, counts = len(self.members), {name: len(self.members[name]) for name in self.names}
        notes = []
        single = [name for name, count in counts.items() if count == 1]
        if len(single) == systems:
            text = "every system has only one run: the verdicts are about these runs, not about the systems"
            return [Note("single", systems, systems, text)]
        if len(set(counts.values())) > 1:
            listing = ", ".join(f"{name} {count}" for name, count in counts.items())
            notes.append(Note("uneven", systems, systems, f"the systems have different numbers of runs: {listing}"))
        if single:
            one = len(single) == 1
            text = (
                f"{', '.join(single)} {'has' if one else 'have'} one run{'' if one else ' each'}: verdicts on "
                f"{'it' if one else 'them'} are about {'that run' if one else 'these runs'}, not about the "
                f"{'system' if one else 'systems'}"
            )
            notes.append(Note("single", len(single), systems, text))
        two = [name for name, count in counts.items() if count == 2]
        if two:
            text = (
                f"{', '.join(two)} {'has' if len(two) == 1 else 'have'} two runs, which say little about how much runs "
                "differ: in simulations, 5 % of false verdicts become up to 10 % where the runs of one system differ "
                "far more than those of the other; with five runs they stay below 6 %"
            )
            notes.append(Note("two", len(two), systems, text))
        return [*notes, *self._note_identical(counts)]

    def _note_identical(self, counts: Mapping[str, int]) -> list[Note]:
        flags = zip(self.names, self.repeats, strict=True)
        same = [name for name, values in flags if counts[name] > 1 and not _differ(values).any()]
        text = f"the runs of {', '.join(same)} have the same value on every query: they are not independent repetitions"
        return [Note("identical", len(same), len(counts), text)] if same else []


def _differ(values: Floats) -> Bools:
    return np.asarray(np.ptp(np.round(values, DIGITS), axis=2) > 0)


class SystemRuns(NamedTuple):
    """The runs of one system by one measure."""

    system: str
    measure: str
    runs: int
    mean: float
    deviation: float | None
    """the standard deviation of the runs' means; None for one run"""
    lowest: float
    highest: float


class Systems(Result):
    """The variation between the runs of each system, and the components of the variance of each difference."""

    notes: ClassVar[Sequence[Note]] = ()

    def __init__(self, board: SystemBoard, pairs: Sequence[Pair]) -> None:
        """Keep the systems and their pairs."""
        self._board, self._pairs, self.members = board, pairs, board.members

    @cached_property
    def rows(self) -> list[SystemRuns]:
        """One row per measure and system, best first."""
        board, rows = self._board, []
        for measure in board.measures:
            for name in board.names:
                means = [board.common[run][measure] for run in board.members[name]]
                spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
                mean = fsum(means) / len(means)
                rows.append(SystemRuns(name, measure, len(means), mean, spread, min(means), max(means)))
        return rows

    def table(self) -> Table:
        """Return one row per measure and system: the mean, deviation and range of its runs."""
        return Table(SystemRuns._fields, [list(row) for row in self.rows])

    def shares_table(self) -> Table | None:
        """Return one row per measure and pair: components of the variance; None if no system has several runs."""
        if not any(pair.shares for pair in self._pairs):
            return None
        rows: list[list[Cell]] = [
            [
                *(pair.measure, pair.first, pair.second),
                *(None if share is None else f"{100 * share:.0f} %" for share in pair.shares or [None] * 3),
                None if pair.freedom is None else f"{pair.freedom:.1f}",
            ]
            for pair in self._pairs
        ]
        return Table(["measure", "first", "second", *Shares._fields, "freedom"], rows)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return both tables."""
        shares = self.shares_table()
        return [self.table(), *([shares] if shares else [])]

    def remarks(self) -> list[str]:
        """Return the meaning of the columns."""
        runs = "deviation: the standard deviation of the means of a system's runs"
        shares = (
            "; queries, runs, rest: where the variance of a difference comes from; freedom: degrees of freedom of t"
        )
        return [f"{runs}{shares if any(pair.shares for pair in self._pairs) else ''}"]

    def entry(self) -> dict[str, Any]:
        """Return the runs of each system as plain data."""
        return {"systems": [row._asdict() for row in self.rows]}

    def as_dict(self) -> dict[str, Any]:
        """Return runs and shares as plain data."""
        pairs = [
            {"measure": pair.measure, "first": pair.first, "second": pair.second, "freedom": pair.freedom}
            | {"shares": pair.shares._asdict() if pair.shares else None}
            for pair in self._pairs
        ]
        return self.entry() | {"pairs": pairs}
