"""users: the best run for each population of users, given by the shares of users for each level of relevance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import fsum
from typing import Any

import numpy as np

from gradely.comparison import populations
from gradely.comparison.charts import users_chart
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.populations import BestRange, Parts, corners, find_best, split_users
from gradely.comparison.sentences import list_names
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats
from gradely.data.selection import read_selected, split_queries
from gradely.errors import DataError, MeasureError
from gradely.evaluation.evaluate import Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Records
from gradely.evaluation.values import fit_to
from gradely.kernel.arrays import in_order
from gradely.lazy import Chart
from gradely.measures import Graded
from gradely.measures.gap import GAP, PrecisionPart, eGAP, xGAP
from gradely.measures.names import MeasureLike, label, parse
from gradely.relevance import Identity, Relevance
from gradely.settings import DuplicatePolicy, EmptyPolicy, Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Cell, Table, count_of

DRAWS = 1_000
"""number of bootstrap samples of the queries"""
LEAST = 0.005
"""sentences omit runs that are best for a smaller share of populations"""
LEVEL = 0.95
"""confidence level of intervals"""


@dataclass(frozen=True, eq=False, repr=False)
class UserRegions(Records):
    """The best runs for populations of users."""

    runs: list[str]
    levels: list[float]
    """the levels in ascending order; a population has a share of users for each, who accept that level or above"""
    queries: list[str]
    parts: Parts
    """the parts of the means, with queries in canonical order"""
    name: str
    """the name of the measure"""
    seed: int
    notes: list[Note]

    def means(self, g: Iterable[float]) -> dict[str, float]:
        """Return the mean of each run for a population, given as shares of users by ascending level."""
        shares = np.asarray(list(g), np.float64)
        if shares.shape != (len(self.levels),) or (shares < 0).any() or abs(shares.sum() - 1) > 1e-6:
            levels = ", ".join(f"{level:g}" for level in self.levels)
            raise DataError(f"a population has a share for each of the levels {levels}, which sum to 1; found {g!r}")
        return dict(zip(self.runs, self.parts.means(shares[None, :])[0].tolist(), strict=True))

    @cached_property
    def stretches(self) -> list[BestRange]:
        """For two levels, the intervals of shares of users with the lower level and the best run in each."""
        return populations.stretches(self.parts) if len(self.levels) == 2 else []

    @cached_property
    def _counts(self) -> Floats:
        """[draws, queries] the number of times each query is drawn."""
        queries = len(self.queries)
        counts = np.random.default_rng(self.seed).multinomial(queries, np.full(queries, 1 / queries), DRAWS)
        return counts.astype(np.float64)

    @cached_property
    def shares(self) -> list[float]:
        """The share of all populations for which each run is best; equal runs have the same share."""
        first = np.asarray(self.leaders)
        if self.stretches:
            return [fsum(s.stop - s.start for s in self.stretches if first[s.run] == i) for i in self.leaders]
        winners = np.bincount(first[find_best(self.parts.means(self._grid))], minlength=len(self.runs))
        return [float(share) for share in winners[first] / len(self._grid)]

    @cached_property
    def _grid(self) -> Floats:
        return split_users(np.linspace(0, 1, 201)) if len(self.levels) == 2 else populations.grid(len(self.levels))

    @cached_property
    def leaders(self) -> list[int]:
        """For each run, the index of the first run with the same mean for every population, usually itself."""
        return populations.find_leaders(self.parts.means(self._grid))

    @cached_property
    def intervals(self) -> list[tuple[float, float]]:
        """The bootstrap interval of each share over queries; empty for one query."""
        if len(self.queries) == 1:
            return []
        most = 1 << 27  # means, which take about a second; beyond it, only every n-th population is used
        points = self._grid[:: -(-len(self._grid) * DRAWS * len(self.runs) // most)]
        shares = populations.draw_shares(self.parts, points, self._counts)
        table = self.parts.table
        for run, leader in enumerate(self.leaders):
            if np.array_equal(table[..., run], table[..., leader]):
                shares[:, run] = shares[:, leader]
        low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    @property
    def ends(self) -> list[tuple[float | None, float | None]]:
        """The ends of each interval; None if there are no intervals."""
        ends: list[tuple[float | None, float | None]] = [*self.intervals]
        return ends or [(None, None)] * len(self.runs)

    def sentences(self) -> list[str]:
        """Return the results as sentences."""
        if len(self.levels) != 2:
            return [self._name_leaders()]
        jumps = self._name_jumps()
        if len(self.stretches) == 1:
            names, verb = self._name_peers(self.stretches[0].run)
            whom = "nearly every population" if jumps else "every population"
            return ["; ".join([f"{names} {verb} best for {whom} of users", *jumps]) + "."]
        return [*(self._sentence(i) for i in range(len(self.stretches))), *(f"{jump}." for jump in jumps)]

    def _name_jumps(self) -> list[str]:
        """Return the best runs where all users want the same of two levels, if other runs are best next to it.

        GAP jumps there from the values of all queries to those of the queries with documents of that level.
        """
        parts = []
        places = corner_populations(self.levels).items()
        for (words, points), beside in zip(places, (self.stretches[-1], self.stretches[0]), strict=True):
            means = self.parts.means(points)
            best = int(find_best(means)[0])
            if means[0, beside.run] < means[0, best] - populations.SAME:
                names, verb = self._name_peers(best)
                parts.append(f"{names} {verb} best {words}")
        return parts

    def _name_peers(self, run: int) -> tuple[str, str]:
        """Return the names of a run and its equals, and the verb."""
        names = [name for i, name in enumerate(self.runs) if self.leaders[i] == self.leaders[run]]
        return " and ".join(names), "is" if len(names) == 1 else "are"

    def _name_leaders(self) -> str:
        leaders = [run for run in set(self.leaders) if self.shares[run] >= LEAST]
        leaders.sort(key=lambda run: (-self.shares[run], run))
        if self.shares[leaders[0]] == 1 and not self.borders:
            names, verb = self._name_peers(leaders[0])
            return f"{names} {verb} best for every population of users."
        shown = ("nearly all" if self.shares[run] == 1 else _percent(self.shares[run]) for run in leaders)
        parts = [f"{self._name_peers(run)[0]} for {share}" for run, share in zip(leaders, shown, strict=True)]
        return f"Across all populations of users, the best run is {list_names(parts)}{self._name_borders(leaders)}."

    @cached_property
    def borders(self) -> dict[int, list[str]]:
        """Return where runs with a negligible share are best, for three levels or more: at corners and on edges.

        At a corner, all users want the same level; on an edge, they want one of two. Neither has an area, and the
        populations of the grid lie inside.
        """
        out: dict[int, list[str]] = {}
        for places in (corner_populations(self.levels), edge_populations(self.levels)):
            found: dict[int, list[str]] = {}
            for words, points in places.items():
                for run in sorted(set(find_best(self.parts.means(points)).tolist())):
                    if self.shares[run] < LEAST and run not in out:
                        found.setdefault(self.leaders[run], []).append(words)
            out |= found
        return out

    def _name_borders(self, leaders: list[int]) -> str:
        """Return the runs that are best only at corners or on edges, or for a share too small to mention."""
        rare = {run: f"for {_percent(self.shares[run])}" for run in set(self.leaders) if 0 < self.shares[run] < LEAST}
        where = {run: list_names(words) for run, words in self.borders.items() if run not in leaders}
        names = {run: self._name_peers(run) for run in sorted({*rare, *where})}
        parts = [
            f"{name} {verb} best {', '.join(text[run] for text in (rare, where) if run in text)}"
            for run, (name, verb) in names.items()
        ]
        return "".join(f"; {part}" for part in parts)

    def _sentence(self, i: int) -> str:
        """Return the users for whom a run is best, for two levels, with the interval of the crossing."""
        run, (low, high) = self.stretches[i].run, self._places[i : i + 2]
        whom = (
            f"less than {high}"
            if i == 0
            else f"more than {low}"
            if i == len(self.stretches) - 1
            else f"between {low} and {high}"
        )
        names, verb = self._name_peers(run)
        text = f"{names} {verb} better for populations of users of whom {whom} are content with level"
        return f"{text} {self.levels[0]:g}{'' if i == 0 else self._crossing_interval(i)}."

    @cached_property
    def _places(self) -> list[str]:
        """The ends of all stretches as percentages, with as many decimals as tell them apart."""
        ends, digits = [0.0, *(100 * stretch.stop for stretch in self.stretches)], 0
        while digits < 10 and len({round(end, digits) for end in ends}) < len(ends):
            digits += 1
        return [f"{end:.{digits}f} %" for end in ends]

    def _crossing_interval(self, i: int) -> str:
        """Return the interval over queries of the share at which two runs cross."""
        crossing = self.crossings[i - 1]
        if not len(crossing) or len(self.queries) == 1:
            return ""
        low, high = np.quantile(crossing, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        turned = self.turned[i - 1]
        absent = DRAWS - len(crossing) - turned
        parts = [
            f"; in {_percent(turned / DRAWS)} of the draws they change places the other way round" if turned else "",
            f"; in {_percent(absent / DRAWS)} of the draws they do not change places" if absent else "",
        ]
        return f" ({_percent(LEVEL)} interval over queries: {_percent(low)} to {_percent(high)}{''.join(parts)})"

    @cached_property
    def crossings(self) -> list[Floats]:
        """For two levels and each crossing, the shares at which both runs cross in resampled queries.

        Draws in which they do not cross, or cross in the opposite direction, are omitted.
        """
        return [find_zeros(ahead, at) for ahead, at in self._leads]

    @cached_property
    def turned(self) -> list[int]:
        """For two levels and each crossing, the number of draws with a crossing in the opposite direction."""
        leads = (ahead for ahead, _ in self._leads)
        return [int(np.count_nonzero(_falls(-ahead).any(axis=1) & ~_falls(ahead).any(axis=1))) for ahead in leads]

    @cached_property
    def _leads(self) -> list[tuple[Floats, Floats]]:
        """For each crossing, the lead [draws, points] of the run before it over the run after it, and the points."""
        points = split_users([0.0, 1.0]) if self.parts.measure == "eGAP" else split_users(np.linspace(0, 1, 201))
        drawn = self.parts.means(points, self._counts) if len(self.stretches) > 1 else np.empty((0, 0, 0))
        pairs = zip(self.stretches, self.stretches[1:], strict=False)
        return [(drawn[:, :, one.run] - drawn[:, :, next_.run], points[:, 0]) for one, next_ in pairs]

    def summary(self) -> str:
        """Return a description of the numbers."""
        draws = f"{_percent(LEVEL)} intervals from {DRAWS:,} draws of queries"
        intervals = draws if self.intervals else "no intervals, which need at least two queries"
        return (
            f"{self.name}, means over {count_of(len(self.queries), 'query')}; {intervals};"
            " a user is content with documents of their level or above"
        )

    def tables(self) -> list[Table]:
        """Return one row per run, and for two levels also one row per interval of shares."""
        names = [f"only level {level:g}" for level in self.levels]
        header = ["run", *names, "equal shares", "best for", *(["low", "high"] if self.intervals else [])]
        means = self.parts.means(populations.corners(len(self.levels))).T.tolist()
        rows: list[list[Cell]] = [
            [run, *(x for x in (*mean, share, *ends) if x is not None)]
            for run, mean, share, ends in zip(self.runs, means, self.shares, self.ends, strict=True)
        ]
        tables = [Table(header, rows)]
        if self.stretches:
            level = f"{self.levels[0]:g}"
            parts: list[list[Cell]] = [
                [self._name_peers(stretch.run)[0], stretch.start, stretch.stop] for stretch in self.stretches
            ]
            tables.append(Table(["best run", f"from a share of level {level}", "to"], parts))
        return tables

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per run: means for users of one level, for equal shares, and its share of populations."""
        means = self.parts.means(populations.corners(len(self.levels))).T.tolist()
        names = [*(f"level_{level:g}" for level in self.levels), "all_alike"]
        return [
            {"run": run}
            | dict(zip(names, mean, strict=True))
            | {"best_for": share, "best_for_low": low, "best_for_high": high}
            for run, mean, share, (low, high) in zip(self.runs, means, self.shares, self.ends, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        stretches = [{"run": self.runs[s.run], "from": s.start, "to": s.stop} for s in self.stretches]
        about = {"about": self.summary(), "measure": self.name, "levels": self.levels, "values": self.records()}
        return about | {"stretches": stretches, "sentences": self.sentences(), "notes": self._list_notes()}

    def remarks(self) -> list[str]:
        """Return the results as sentences, and a description of the numbers."""
        return [*self.sentences(), self.summary()]

    def chart(self) -> Chart:
        """Return an Altair chart: lines for two levels, a triangle for three, bars of shares for more."""
        return users_chart(self)


def _percent(share: float) -> str:
    """Return a share as a percentage; only exact 0 and 1 are shown as 0 and 100 %.

    >>> _percent(0.423), _percent(0.0004), _percent(0.9996), _percent(1.0)
    ('42 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < LEAST:
        return "less than 1 %"
    return "more than 99 %" if 1 - LEAST < share < 1 else f"{100 * share:.0f} %"


def corner_populations(levels: list[float]) -> dict[str, Floats]:
    """Return the populations with one kind of user, described in words."""
    return {
        f"where all users want level {level:g}": row[None]
        for level, row in zip(levels, np.eye(len(levels)), strict=True)
    }


def edge_populations(levels: list[float]) -> dict[str, Floats]:
    """Return populations with two kinds of users, described in words for each pair of levels."""
    out, unit, shares = {}, np.eye(len(levels)), np.linspace(0.005, 0.995, 199)[:, None]
    for i, j in combinations(range(len(levels)), 2):
        words = f"for some who all want level {levels[i]:g} or {levels[j]:g}"
        out[words] = shares * unit[i] + (1 - shares) * unit[j]
    return out


def _falls(ahead: Floats) -> Bools:
    """Return [rows, points - 1] whether a row falls from above 0 to 0 or below."""
    return (ahead[:, :-1] > 0) & (ahead[:, 1:] <= 0)


def find_zeros(ahead: Floats, at: Floats) -> Floats:
    """Return where each row first falls to 0 or below, by linear interpolation; rows that never do are omitted."""
    falls = _falls(ahead)
    rows = np.flatnonzero(falls.any(axis=1))
    first = falls[rows].argmax(axis=1)
    left, right = ahead[rows, first], ahead[rows, first + 1]
    return np.asarray(at[first] + (at[first + 1] - at[first]) * left / (left - right))


MOST = 8
"""maximum number of levels; for more, a grid over all populations is too coarse"""


def users(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measure: MeasureLike = "eGAP",
    *,
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
) -> UserRegions:
    """Find the best run, of {name: run} or a list of paths, for each population of users.

    A population has a share of users for each level of relevance, who accept documents of that level or above.
    `measure` is eGAP, GAP or xGAP, optionally with a cut-off, or with a relevance function that merges levels, like
    eGAP(relevance={0: 0, 1: 1, 2: 2, 3: 2}). For two levels, the shares at which runs cross are exact for eGAP, which
    is linear in them. All other options are those of evaluate; ties cannot be best or worst.

    >>> qrels = {"q": {"a": 1, "b": 2, "c": 1}}
    >>> regions = users(qrels, {"one": {"q": ["a", "c", "x", "b"]}, "two": {"q": ["b", "x", "y", "a"]}})
    >>> regions.sentences()[0]
    'two is better for populations of users of whom less than 64 % are content with level 1.'
    """
    fitted, name = _measure(measure), label(measure)
    if ties in ("best", "worst"):
        raise DataError(
            f"the tie policy {ties} uses a different order for each population of users: use expected or trec"
        )
    if empty == "one":
        raise DataError("empty='one' adds the same to every run, so it cannot change the regions: use 'zero' or 'skip'")
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    judgments = read_selected(qrels, settings, columns, only=only, exclude=exclude, weights=weights)
    judgments.check_certain("users")
    judgments = _apply(fitted.relevance_function, judgments)
    judgments, _ = fit_to(judgments, {name: fitted}, settings)
    levels = _levels(judgments)
    pairs = [PrecisionPart(rel=h, label=r).replace(k=fitted.k) for r in levels for h in levels if h <= r]
    parts_of = {str(part): part for part in pairs}
    opened = open_runs(name_runs(runs), columns, settings)
    board = Leaderboard(evaluate_all(judgments, opened, parts_of, settings.replace(empty="zero"), progress))
    names, parts = _sort_runs(board.names, _parts(judgments, board, levels, fitted.name))
    about = board.results.policy_notes
    own = [note for note in about if note.kind != "labels" or note.text in judgments.notes]  # none on parts of measures
    notes = [*own, *_notes(parts, name)]
    return UserRegions(names, levels, board.queries, parts, name, seed, notes)


def _measure(measure: MeasureLike) -> Graded:
    """Return the measure; raise MeasureError unless it has a population to vary."""
    parsed = parse(measure)
    if not isinstance(parsed, eGAP | GAP | xGAP) or parsed.g is not None:
        raise MeasureError(f"users takes eGAP, GAP or xGAP without g, which it varies; found {parsed}")
    return parsed


def _apply(function: Relevance, qrels: Qrels) -> Qrels:
    """Return qrels with relevance instead of labels; {1: 1, 2: 2, 3: 3, 4: 3}, for example, merges two levels."""
    if isinstance(function, Identity):
        return qrels
    function = function.fit(qrels.levels)
    if function.levels(qrels.levels) is None:
        raise MeasureError(f"users needs levels that all queries share, which relevance={function} does not provide")
    labels, which = np.unique(qrels.grade, return_inverse=True)
    relevance = np.asarray(function(in_order(labels)).grade)[0]
    out = Qrels(qrels.queries, qrels.start, qrels.docs, np.maximum(relevance, 0.0)[which], qrels.name)
    out.whole, out.notes, out.selected, out.excluded = qrels.whole, qrels.notes, qrels.selected, qrels.excluded
    out.weights, out.left_out = qrels.weights, qrels.left_out
    return out


def _levels(qrels: Qrels) -> list[float]:
    """Return the levels of relevance; raise DataError if there are too few or too many."""
    levels = [float(level) for level in qrels.levels()]
    if not 2 <= len(levels) <= MOST:
        problem = f"users needs 2 to {MOST} levels above 0; found {len(levels):,}"
        advice = "; merge some, as in eGAP(relevance={0: 0, 1: 1, 2: 1, 3: 2})" if len(levels) > MOST else ""
        raise DataError(f"{qrels.name}: {problem}{advice}")
    return levels


def _parts(qrels: Qrels, board: Leaderboard, levels: list[float], measure: str) -> Parts:
    """Return the parts of the means of all runs, query by query."""
    count, queries = len(levels), board.queries
    table = np.zeros((count, count, len(queries), len(board.names)))
    pairs = [(r, h) for r in range(count) for h in range(r + 1)]
    for (r, h), values in zip(pairs, board.values, strict=True):
        table[r, h] = values
    base = np.zeros((count, len(queries)))
    for j, query in enumerate(queries):
        labels = np.asarray(list(qrels.labels(query).values()), np.float64)
        base[:, j] = [(labels >= level).sum() for level in levels]
    # by their values alone, so that their order in a file changes no draw and no bit
    table = table if board.weights is None else table * board.weights[:, None]
    order = np.lexsort(np.sort(table.transpose(2, 0, 1, 3).reshape(len(queries), -1), axis=1).T)
    return Parts(table[:, :, order], base[:, order], measure, None if board.weights is None else board.weights[order])


def _sort_runs(names: list[str], parts: Parts) -> tuple[list[str], Parts]:
    """Return the runs sorted by their means for a population with equal shares."""
    means = parts.means(corners(parts.levels))[-1].tolist()
    order = sorted(range(len(names)), key=lambda i: (-means[i], names[i]))
    return [names[i] for i in order], replace(parts, table=parts.table[:, :, :, order])


def _notes(parts: Parts, name: str) -> list[Note]:
    """Note the number of queries that cannot reach 1, since their pool lacks a level."""
    lacks = np.flatnonzero((parts.base == 0).any(axis=0))
    if parts.measure == "GAP" or not len(lacks):
        return []
    top, of = float(parts.ceiling(corners(parts.levels))[-1]), parts.base.shape[1]
    text = "cannot reach 1, since the pool lacks a level"
    mean = f"with equal shares of all levels, the mean of {name} is at most {top:.4f}"
    return [Note("unreachable", len(lacks), of, f"{len(lacks):,} of {count_of(of, 'query')} {text}; {mean}")]
