"""suite: systems on several collections, with macro means and a test over collections."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from math import fsum, sqrt
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from gradely.comparison.compare import Comparison, compare
from gradely.comparison.groups import Groups, match_files
from gradely.comparison.intervals import Estimates
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Design, Estimated, to_optional
from gradely.comparison.random_effects import SAME, Combined, combine, note_alike
from gradely.comparison.sentences import describe_family, explain_untested, format_signed, note_tests, summary
from gradely.comparison.suite_gate import SuiteGate, gate_suite
from gradely.comparison.tests import Pairs, all_pairs, pair_with_baselines
from gradely.data.ids import Bools
from gradely.data.source import Source
from gradely.errors import DataError, InputError, clip, did_you_mean
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore
from gradely.evaluation.notes import Note, merge_notes, note_names
from gradely.evaluation.result import Result, Section
from gradely.lazy import Chart
from gradely.measures.names import MeasureLike
from gradely.settings import Correction, Undecided
from gradely.tables import Cell, MarkedNumber, PValue, Table, count_of, typed_frame

KEYS = ("qrels", "runs")
"""the required keys of a collection"""
OWN = ("weights", "exclude")
"""the optional keys of a collection: the weights of its queries, and documents to drop first"""
EXAMPLE = '[covid], and below it qrels = "covid.qrels" and runs.bm25 = "covid.bm25.run"'
POLICIES = (
    *("ties", "queries", "judged_only", "precision", "seed", "threads", "columns", "duplicates", "document_pattern"),
    *("exclude", "exclude_self", "empty", "weights", "samples"),
)
"""the options of compare for reading and measuring runs; they apply to all collections"""


class SuiteFile(NamedTuple):
    """The content of a suite file, with paths relative to the working directory."""

    measures: list[str] | None
    baselines: list[str]
    collections: dict[str, dict[str, Any]]


def read_suite(path: Any) -> SuiteFile:
    """Read a suite from TOML or JSON; relative paths are relative to its file."""
    source = path if isinstance(path, Source) else Source(path)
    content = _parse(source)
    folder = os.path.dirname(source.path) if source.path != "-" else ""
    measures = _words(source, content, "measures")
    baselines = _words(source, content, "baseline") or []
    collections: dict[str, dict[str, Any]] = {}
    for name, entry in content.items():
        if not isinstance(entry, dict):
            hint = did_you_mean(name, ("measures", "baseline"))
            raise InputError(f"{source.name}: {name} is not a collection: write {EXAMPLE}.{hint}")
        _check_keys(f"{source.name}: {name}", entry)
        runs = entry["runs"]
        if not isinstance(runs, dict) or not runs:
            raise InputError(f"{source.name}: {name}: runs have the names of their systems, as in {EXAMPLE}")
        collections[name] = {
            "qrels": _path(folder, entry["qrels"], f"{source.name}: {name}: qrels"),
            "runs": {system: _files(folder, run, f"{source.name}: {name}: {system}") for system, run in runs.items()},
        }
        for key in OWN:
            if key in entry:
                path = _path(folder, entry[key], f"{source.name}: {name}: {key}")
                is_column = key == "weights" and not os.path.exists(path)
                collections[name][key] = entry[key] if is_column else path
    if not collections:
        raise InputError(f"{source.name}: there is no collection: write {EXAMPLE}")
    return SuiteFile(measures, baselines, collections)


def _parse(source: Source) -> dict[str, Any]:
    """Parse a file as JSON or TOML, according to its extension or its first character."""
    text, ending = source.text(), os.path.splitext(source.path)[1].lower()
    is_json = ending == ".json" or (ending != ".toml" and text.lstrip().startswith("{"))
    try:
        if is_json:
            import json

            content = json.loads(text, object_pairs_hook=_once)
        else:
            import tomllib

            content = tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"{source.name}: cannot be read as {'JSON' if is_json else 'TOML'}: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{source.name}: a suite has a table for each collection: write {EXAMPLE}")
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for a duplicate key, of which json would keep the last."""
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the key {twice!r} is given twice")
    return dict(pairs)


def _words(source: Source, content: dict[str, Any], key: str) -> list[str] | None:
    """Remove a key from the content of a file, and return its value, a word or a list, as a list."""
    value = content.pop(key, None)
    words = [value] if isinstance(value, str) else value
    if words is not None and not (isinstance(words, list) and words and all(isinstance(one, str) for one in words)):
        example = '["nDCG@10", "R@100"]' if key == "measures" else '"bm25"'
        raise InputError(f"{source.name}: {key} is {value!r}: write it like {key} = {example}")
    return words


def _check_keys(where: str, entry: Mapping[str, Any]) -> None:
    """Raise InputError for a missing or unknown key of a collection."""
    for key in KEYS:
        if key not in entry:
            raise InputError(f"{where} has no {key}: write {EXAMPLE}")
    for key in entry:
        if key not in KEYS + OWN:
            above = key in ("measures", "baseline")
            what = "it goes above the first collection" if above else "it has qrels and runs, maybe weights and exclude"
            raise InputError(f"{where}: a collection has no {key}: {what}.{did_you_mean(key, KEYS + OWN)}")


def _path(folder: str, path: Any, where: str) -> str:
    if not isinstance(path, str) or not path:
        raise InputError(f"{where} must be the path of a file; found {path!r}")
    return os.path.join(folder, path)


def _files(folder: str, paths: Any, where: str) -> str | list[str]:
    """Return the run of a system, or its runs, given as a list of files or as a pattern."""
    if isinstance(paths, list):
        if not paths:
            raise InputError(f"{where} has no runs: give at least one file")
        return [_path(folder, path, where) for path in paths]
    path = _path(folder, paths, where)
    return match_files(path, where) if any(sign in path for sign in "*?[") else path


class Effect(NamedTuple):
    """The difference of two systems on one collection by one measure."""

    collection: str
    difference: float
    error: float
    """the standard error; 0 if nothing varies"""
    freedom: float
    queries: int
    low: float | None
    high: float | None


class Prediction(NamedTuple):
    """The prediction interval of the true difference on a new collection."""

    low: float
    high: float


class SuitePair(NamedTuple):
    """Two systems over several collections by one measure; the difference is the first minus the second."""

    measure: str
    first: str
    second: str
    collections: int
    """the number of collections with both systems and more than one query"""
    higher: int
    """the number of these on which the first system has the higher mean"""
    difference: float
    """the estimate by random effects, for all collections like these"""
    low: float | None
    """the interval of the difference; None if nothing varies"""
    high: float | None
    p: float
    adjusted: float
    significant: bool
    tau2: float | None
    """the variance of the true differences between collections; None for one collection"""
    i2: float | None
    """the share of the variation between collections that is not due to chance"""
    prediction: Prediction | None
    """the prediction interval for a new collection; None for fewer than three collections, or if nothing varies

    Like all intervals here, it is clipped to the largest possible difference by the measure.
    """
    macro_difference: float
    """the unweighted mean of the differences on each collection"""
    macro_low: float | None
    macro_high: float | None
    macro_p: float | None
    """the p-value of the t-test over collections; None for one collection"""


@dataclass(eq=False, repr=False)
class SuitePairs(Estimated):
    """Pairs of systems over collections; `values` are means [measures, collections, systems], NaN if missing."""

    effects: Sequence[Mapping[tuple[int, int], list[Effect]]] = ()
    """by measure and pair, the effects on collections with both systems and more than one query"""
    subject: ClassVar[str] = "system"
    unit: ClassVar[str] = "collection"

    @property
    def test_name(self) -> str:
        """The name of the test."""
        return "t-test of the mean over collections by random effects"

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs, or each system with each baseline, except pairs without a common collection."""
        size, baselines = len(self.names), [list(self.names).index(name) for name in self.design.baselines]
        wanted = pair_with_baselines(baselines, size) if baselines else all_pairs(size)
        kept = [i for i in range(len(wanted)) if self._effects(0, int(wanted.first[i]), int(wanted.second[i]))]
        return Pairs(wanted.first[kept], wanted.second[kept])

    def _effects(self, measure: int, first: int, second: int) -> list[Effect]:
        if (first, second) in self.effects[measure]:
            return self.effects[measure][first, second]
        turned = self.effects[measure].get((second, first), [])
        return [_turn(effect) for effect in turned]

    @cached_property
    def by_collection(self) -> list[list[list[Effect]]]:
        """The effects of each pair on each collection, by measure."""
        pairs = list(zip(self.pairs.first.tolist(), self.pairs.second.tolist(), strict=True))
        return [[self._effects(m, *pair) for pair in pairs] for m in range(len(self.measures))]

    @cached_property
    def combined(self) -> list[list[Combined | None]]:
        """The random-effects estimate of each pair by measure; None for one collection, or if nothing varies."""
        return [[_combine(effects) for effects in of_pairs] for of_pairs in self.by_collection]

    @cached_property
    def macro(self) -> list[Estimates]:
        """The unweighted means of the differences over collections, by measure."""
        return [_join([_macro(effects) for effects in of_pairs]) for of_pairs in self.by_collection]

    @cached_property
    def estimates(self) -> list[Estimates]:
        """The estimates over collections: by random effects, or those of a single collection."""
        return [
            _join([_estimate(effects, found) for effects, found in zip(of_pairs, combined, strict=True)])
            for of_pairs, combined in zip(self.by_collection, self.combined, strict=True)
        ]

    @cached_property
    def differing(self) -> Bools:
        """Whether two systems differ on any query of any collection."""
        flags = [
            [any(abs(e.difference) > SAME or e.error > 0 for e in effects) for effects in of_pairs]
            for of_pairs in self.by_collection
        ]
        return np.asarray(flags, np.bool_).reshape(len(self.measures), len(self.pairs))

    def list_pairs(self) -> Iterator[SuitePair]:
        """Yield the results of each pair, measure by measure."""
        level = 1 - self.design.alpha
        for m, measure in enumerate(self.measures):
            widest = self.widest[m]  # with few collections, intervals reach beyond it
            ends = [to_optional(end) for end in self.intervals[m]]
            macro_ends = [to_optional(end) for end in self.cut(self.macro[m].intervals(level), m)]
            macro_p = self.macro[m].p_values().tolist()
            for i, pair in enumerate(self.named_pairs):
                effects, found = self.by_collection[m][i], self.combined[m][i]
                several = len(effects) > 1
                predicted = found.prediction(level) if found else None
                yield SuitePair(
                    measure,
                    *pair,
                    len(effects),
                    sum(effect.difference > SAME for effect in effects),
                    float(self.differences[m, i]),
                    ends[0][i],
                    ends[1][i],
                    float(self.p[m, i]),
                    float(self.adjusted[m, i]),
                    bool(self.significant[m, i]),
                    (found.tau2 if found else 0.0) if several else None,
                    (found.i2 if found else 0.0) if several else None,
                    Prediction(*np.clip(predicted, -widest, widest).tolist()) if predicted else None,
                    float(self.macro[m].difference[i]),
                    macro_ends[0][i],
                    macro_ends[1][i],
                    macro_p[i] if several else None,
                )


def _turn(effect: Effect) -> Effect:
    low, high = (None if end is None else -end for end in (effect.high, effect.low))
    return effect._replace(difference=-effect.difference, low=low, high=high)


def _combine(effects: list[Effect]) -> Combined | None:
    if len(effects) < 2:
        return None
    return combine(np.asarray([e.difference for e in effects]), np.asarray([e.error for e in effects]) ** 2)


def _estimate(effects: list[Effect], found: Combined | None) -> tuple[float, float, float, float]:
    """Return difference, error, freedom and units, by random effects unless nothing varies."""
    if found is not None:
        return found.difference, found.error, len(effects) - 1.0, float(len(effects))
    if len(effects) == 1:
        (only,) = effects
        return only.difference, only.error or np.nan, only.freedom, float(only.queries)
    return _macro(effects)


def _macro(effects: list[Effect]) -> tuple[float, float, float, float]:
    """Return difference, error, freedom and units of the unweighted mean over collections."""
    count, values = len(effects), [effect.difference for effect in effects]
    varies = count > 1 and max(values) - min(values) > SAME
    error = float(np.std(values, ddof=1)) / sqrt(count) if varies else np.nan
    return fsum(values) / count, error, count - 1.0, float(count)


def _join(rows: list[tuple[float, float, float, float]]) -> Estimates:
    return Estimates(*np.asarray(rows, np.float64).reshape(-1, 4).T)


@dataclass(eq=False, repr=False)
class Suite(Result):
    """Systems on several collections: their means, macro means, and pairs over collections.

    >>> from gradely import suite
    >>> qrels = {f"q{i}": {"d": 1} for i in range(4)}
    >>> first, second = {q: ["d", "x"] for q in qrels}, {q: ["x", "d"] if q < "q2" else ["d", "x"] for q in qrels}
    >>> collections = {name: {"qrels": qrels, "runs": {"a": first, "b": second}} for name in ("one", "two", "three")}
    >>> pair = suite(collections, ["RR"]).pairs[0]
    >>> pair.first, pair.second, pair.collections, pair.difference, pair.tau2
    ('a', 'b', 3, 0.25, 0.0)
    """

    collections: dict[str, Comparison]
    """the comparison of the systems on each collection"""
    design: Design

    @cached_property
    def systems(self) -> list[str]:
        """The systems, best first by the macro mean of the first measure."""
        every = dict.fromkeys(name for comparison in self.collections.values() for name in comparison.board.names)
        return sorted(every, key=lambda name: (-self._mean(name, self.measures[0]), name))

    def _mean(self, system: str, measure: str) -> float:
        """Return the macro mean of a system, or its mean over the available collections if there is no macro mean."""
        names = self.shared or [name for name, means in self._means.items() if system in means]
        return fsum(self._means[name][system][measure] for name in names) / len(names)

    @property
    def board(self) -> Leaderboard:
        """The leaderboard of the first collection, whose measures and settings are those of all collections."""
        return next(iter(self.collections.values())).board

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return list(self.board.measures)

    @cached_property
    def _means(self) -> dict[str, dict[str, dict[str, float]]]:
        return {name: comparison.mean() for name, comparison in self.collections.items()}

    @cached_property
    def lacking(self) -> dict[str, list[str]]:
        """{collection: systems} of the systems that a collection lacks."""
        every = {name for means in self._means.values() for name in means}
        missing = {name: sorted(every - set(means)) for name, means in self._means.items()}
        return {name: systems for name, systems in missing.items() if systems}

    @property
    def shared(self) -> list[str]:
        """The collections with every system."""
        return [name for name in self._means if name not in self.lacking]

    def mean(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return {collection: {system: {measure: mean}}}, without the systems that a collection lacks."""
        return self._means

    def macro_mean(self) -> dict[str, dict[str, float]]:
        """Return {system: {measure: macro mean}} over the collections with every system; {} if there are none."""
        if not self.shared:
            return {}
        return {system: {measure: self._mean(system, measure) for measure in self.measures} for system in self.systems}

    @cached_property
    def pairwise(self) -> SuitePairs:
        """The pairs of systems over collections."""
        systems, collections = self.systems, self.collections
        values = np.full((len(self.measures), len(collections), len(systems)), np.nan)
        for k, means in enumerate(self._means.values()):
            for s, system in enumerate(systems):
                if system in means:
                    values[:, k, s] = list(means[system].values())
        order = np.asarray([[self._mean(system, measure) for system in systems] for measure in self.measures])
        effects = [self._effects(m) for m in range(len(self.measures))]
        bounds = [measure.bounds for measure in self.board.measures.values()]
        return SuitePairs(values, order, systems, self.measures, self.design, bounds, effects=effects)

    def _effects(self, measure: int) -> dict[tuple[int, int], list[Effect]]:
        """Return the effects of each pair on the collections with both systems and more than one query."""
        at = {system: i for i, system in enumerate(self.systems)}
        out: dict[tuple[int, int], list[Effect]] = {pair: [] for pair in combinations(range(len(at)), 2)}
        for name, comparison in self.collections.items():
            pairwise = comparison.pairwise
            found = pairwise.estimates[measure]
            low, high = (to_optional(end) for end in pairwise.cut(found.intervals(1 - self.design.alpha), measure))
            for i, pair in enumerate(pairwise.named_pairs):
                error = float(np.nan_to_num(found.error[i]))
                numbers = (float(found.difference[i]), error, float(found.freedom[i]), int(found.units[i]))
                effect = Effect(name, *numbers, low[i], high[i])
                a, b = (at[name] for name in pair)
                out[min(a, b), max(a, b)].append(effect if a < b else _turn(effect))
        return out

    @cached_property
    def pairs(self) -> list[SuitePair]:
        """All pairs by all measures over the collections with both systems."""
        return list(self.pairwise.list_pairs()) if self.pairwise.count else []

    def effects(self, first: str, second: str, measure: str | None = None) -> list[Effect]:
        """Return the differences of two systems on each collection by a measure, by default the first one."""
        measure = self.measures[0] if measure is None else measure
        for kind, name, names in (
            ("system", first, self.systems),
            ("system", second, self.systems),
            ("measure", measure, self.measures),
        ):
            if name not in names:
                raise DataError(f"no {kind} {clip(name)} in this suite: use one of {', '.join(names)}")
        pairwise = self.pairwise
        at = [self.systems.index(name) for name in (first, second)]
        return pairwise._effects(self.measures.index(measure), *at)  # noqa: SLF001 - its own

    def estimate(self, first: str, second: str, measure: str | None = None) -> Estimates:
        """Return the estimated difference of two systems over collections like these, first minus second."""
        effects = self.effects(first, second, measure)
        return _join([_estimate(effects, _combine(effects))])

    def combined(self, first: str, second: str, measure: str) -> Combined | None:
        """Return the random-effects estimate with τ² and weights; None for one collection, or if nothing varies."""
        return _combine(self.effects(first, second, measure))

    def gate(
        self,
        new: str,
        baseline: str | None = None,
        *,
        max_drop: float | Mapping[str, float] = 0.0,
        non_inferior: float | Mapping[str, float] | None = None,
        floors: Mapping[str, float] | None = None,
        strict: bool = False,
        undecided: Undecided = "pass",
    ) -> SuiteGate:
        """Decide whether a system is worse than a baseline over these collections, as gate does for two runs.

        `floors` apply to the mean over the collections with the system.
        """
        return gate_suite(
            self,
            new,
            baseline,
            max_drop=max_drop,
            non_inferior=non_inferior,
            floors=floors,
            strict=strict,
            undecided=undecided,
        )

    def tables(self) -> list[Table]:
        """Return a table per measure, with one row per collection, one column per system, and the macro means."""
        macro = self.macro_mean()
        return [self._table(measure, macro) for measure in self.measures]

    def _table(self, measure: str, macro: dict[str, dict[str, float]]) -> Table:
        rows: list[list[Cell]] = []
        for name, means in self._means.items():
            queries = len(self.collections[name].board.queries)
            rows.append([name, queries, *_mark({system: means[system][measure] for system in means}, self.systems)])
        if macro:
            of_systems = {system: means[measure] for system, means in macro.items()}
            rows.append(["macro mean", None, *_mark(of_systems, self.systems)])
        return Table([measure, "queries", *self.systems], rows)

    def table(self) -> Table:
        """Return the means by the first measure, with one row per collection and one column per system."""
        return self.tables()[0]

    def pairs_table(self) -> Table:
        """Return one row per measure and pair: the difference over collections and its test."""
        alpha = self.design.alpha
        rows: list[list[Cell]] = [
            [
                *(pair.measure, pair.first, pair.second, pair.difference, pair.low, pair.high),
                PValue(pair.adjusted, alpha),
                f"{pair.higher} of {pair.collections}",
            ]
            for pair in self.pairs
        ]
        p = "corrected p" if self.pairwise.is_corrected else "p"
        return Table(["measure", "first", "second", "difference", "low", "high", p, "higher on"], rows)

    def spread_table(self) -> Table:
        """Return one row per measure and pair: heterogeneity, prediction for a new collection, and macro mean."""
        rows: list[list[Cell]] = [
            [
                *(pair.measure, pair.first, pair.second, None if pair.tau2 is None else sqrt(pair.tau2)),
                None if pair.i2 is None else f"{100 * pair.i2:.0f} %",
                *(pair.prediction or (None, None)),
                *(pair.macro_difference, pair.macro_low, pair.macro_high),
                None if pair.macro_p is None else PValue(pair.macro_p, self.design.alpha),
            ]
            for pair in self.pairs
        ]
        new, macro = ["new low", "new high"], ["macro", "macro low", "macro high", "macro p"]
        return Table(["measure", "first", "second", "τ", "I²", *new, *macro], rows)

    def data_table(self) -> Table:
        """Return one row per collection, system and measure, with the mean."""
        rows: list[list[Cell]] = [
            [name, system, measure, mean, len(self.collections[name].board.queries)]
            for name, means in self._means.items()
            for system, by_measure in means.items()
            for measure, mean in by_measure.items()
        ]
        return Table(["collection", "system", "measure", "mean", "queries"], rows)

    @typed_frame
    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return the pairs as a pandas, polars or pyarrow dataframe."""
        return Table.of([_flatten(pair) for pair in self.pairs]).to_frame(library)

    def summary(self) -> str:
        """Return the result in a sentence, with the prediction for a new collection."""
        said = summary(self.pairwise)
        counts = sorted({pair.collections for pair in self.pairs}) or [len(self.collections)]
        over = f"Over {count_of(counts[-1], 'collection')}"
        if len(counts) > 1:
            over = f"Over {counts[0]} to {counts[-1]} collections, depending on the pair"
        return " ".join([f"{over}, {said[0].lower()}{said[1:]}", *self._say_new()])

    def _say_new(self) -> list[str]:
        """Return the prediction for the best two systems on a new collection."""
        top = set(self.systems[:2])
        pair = next((one for one in self.pairs if {one.first, one.second} == top), None)
        if pair is None or pair.prediction is None:
            return []
        low, high = (format_signed(end) for end in pair.prediction)
        new = f"On a new collection, {pair.first} − {pair.second} is expected to lie between {low} and {high}"
        uncorrected = ", uncorrected" if self.pairwise.is_corrected else ""
        level = f"{100 * (1 - self.design.alpha):g} % prediction interval{uncorrected}"
        return [f"{new} ({level}); it is above 0 on {pair.higher} of {pair.collections}."]

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the summary, the means by measure, and the pairs."""
        pairs = [self.pairs_table(), self.spread_table()] if self.pairs else []
        return [self.summary(), *self.tables(), *pairs]

    def remarks(self) -> list[str]:
        """Return the legend and the caption."""
        return [*([self.legend()] if self.pairs else []), self.caption()]

    def legend(self) -> str:
        """Return the meaning of the columns of the pairs."""
        return (
            "difference: first − second by random effects; τ: standard deviation of the true differences between "
            "collections; I²: share of the variation between collections that is not chance; new: where the "
            "difference on a new collection is expected; macro: the plain mean of the differences, with its t"
        )

    def caption(self) -> str:
        """Return the settings needed to reproduce the results: test, correction, alpha, collections, and policies."""
        pairwise = self.pairwise
        counts = f"{count_of(len(self.collections), 'collection')}, {self.describe_policies()}"
        if not pairwise.count:
            return f"N{explain_untested(pairwise)[1:]}. Data: {counts}."
        level = f"{100 * (1 - self.design.alpha):g} %"
        corrected = (
            "corrected in sentences, as p is, and uncorrected in tables" if pairwise.is_corrected else "uncorrected"
        )
        return (
            f"Test: {pairwise.test_name} (τ² by Paule and Mandel; robust standard errors of Bell and McCaffrey; K − 1 "
            f"degrees of freedom for K collections), α = {self.design.alpha:g}; {describe_family(pairwise)}. "
            f"Intervals: {level}, {corrected}. Data: {counts}."
        )

    @property
    def is_weighted(self) -> bool:
        """Whether the queries of a collection have weights."""
        return any(comparison.board.weights is not None for comparison in self.collections.values())

    def policies(self) -> dict[str, Any]:
        """Return the policies of reading and measuring as plain data."""
        return asdict(self.board.settings) | {"weighted": self.is_weighted}

    def describe_policies(self) -> str:
        """Return the policies of reading and measuring as text."""
        settings = self.board.settings
        unusual = settings.describe(weighted=self.is_weighted)
        return f"ties: {settings.ties}, queries: {settings.queries}{unusual}, {settings.precision} precision"

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on missing systems, on the tests, and on each collection."""
        return [*self._note_lacking(), *self._note_few(), *self._note_tests(), *self.data_notes]

    @cached_property
    def data_notes(self) -> list[Note]:
        """Notes on queries, documents and runs of each collection."""
        return merge_notes({name: comparison.board.notes for name, comparison in self.collections.items()})

    def _note_lacking(self) -> list[Note]:
        count = len(self.collections)
        notes = [
            Note("lacking", len(systems), len(self.systems), f"{name} has no run of {', '.join(systems)}")
            for name, systems in self.lacking.items()
        ]
        if notes:
            over = (
                f"the macro means are over the {len(self.shared)} of {count_of(count, 'collection')} that have every "
                "system"
                if self.shared
                else "no collection has every system, so there are no macro means"
            )
            text = f"{over}; two systems are compared on the collections that have both"
            notes.append(Note("shared", len(self.shared), count, text))
        single = [name for name, one in self.collections.items() if len(one.board.queries) < 2]
        left = "{have} one query, which has no variance, and {are} left out of the comparison over collections"
        return [*notes, *note_names("single", len(single), count, "collection", left, single)]

    def _note_few(self) -> list[Note]:
        """Note the limits of one or two collections."""
        pairs = [pair for pair in self.pairs if pair.measure == self.measures[0]]
        limits = {
            "one": "one collection in common: the verdict is about its queries, and says nothing about other "
            "collections",
            "two": "two collections in common, so t has one degree of freedom: only a difference that is nearly "
            "the same on both can be significant",
        }
        notes = []
        for count, (kind, text) in enumerate(limits.items(), 1):
            some = [pair for pair in pairs if pair.collections == count]
            if some:
                notes.append(Note(kind, len(some), len(pairs), f"{_count_pairs(some, pairs)} {text}"))
        return notes

    def _note_tests(self) -> list[Note]:
        """Note pairs without variation, which have no t, and collections that agree too closely."""
        constant = [note for note in note_tests(self.pairwise) if note.kind in ("spreadless", "coarse")]
        return [*constant, *note_alike([found for of_pairs in self.pairwise.combined for found in of_pairs])]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        pairs = []
        for pair in self.pairs:
            effects = [effect._asdict() for effect in self.effects(pair.first, pair.second, pair.measure)]
            predicted = pair.prediction._asdict() if pair.prediction else None
            pairs.append(pair._asdict() | {"prediction": predicted, "effects": effects})
        return {
            "summary": self.summary(),
            "caption": self.caption(),
            "design": {"correction": self.design.correction, "alpha": self.design.alpha, "family": self.design.family}
            | {"baselines": list(self.design.baselines)}
            | self.policies(),
            "collections": [
                {"collection": name, "queries": len(self.collections[name].board.queries)}
                | {"means": means, "lacking": self.lacking.get(name, [])}
                for name, means in self._means.items()
            ],
            "macro_means": self.macro_mean(),
            "pairs": pairs,
            "notes": self._list_notes(),
        }

    def plot(self, measure: str | None = None) -> Chart:
        """Return a forest plot by a measure, by default the first one, as an Altair chart with one panel per pair.

        Dots and lines are the differences on each collection with their intervals. The diamond is the difference over
        all collections, and the thin line through it is the prediction interval for a new collection.
        """
        from gradely.comparison.charts import forest_chart, style

        return style(forest_chart(self, self.measures[0] if measure is None else measure))

    def to_html(self, title: str = "Systems on several collections", *, command: str = "") -> str:
        """Return a self-contained HTML page: summary, means, pairs, and a forest plot by measure."""
        from gradely.report.systems import suite_page

        return suite_page(self, title, command)


def _mark(values: Mapping[str, float], systems: Sequence[str]) -> list[Cell]:
    """Return one cell per system, with the best value marked; None if there is no value."""
    best = max(values.values())
    return [MarkedNumber(values[one], values[one] == best) if one in values else None for one in systems]


def _flatten(pair: SuitePair) -> dict[str, Any]:
    ends = pair.prediction or (None, None)
    return {key: value for key, value in pair._asdict().items() if key != "prediction"} | {
        "prediction_low": ends[0],
        "prediction_high": ends[1],
    }


def _count_pairs(some: Sequence[SuitePair], pairs: Sequence[SuitePair]) -> str:
    if len(pairs) == 1:
        return f"{pairs[0].first} and {pairs[0].second} have"
    return f"{len(some):,} of {count_of(len(pairs), 'pair')} of systems {'has' if len(some) == 1 else 'have'}"


def suite(
    collections: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    baseline: str | Iterable[str] | None = None,
    correction: Correction = "holm",
    family: Literal["measure", "all"] = "measure",
    alpha: float = 0.05,
    progress: Progress = ignore,
    **policies: Any,
) -> Suite:
    """Compare systems on several collections, {name: {"qrels": …, "runs": {system: run}}}, or a file of TOML or JSON.

    A run may be a list of runs, such as seeds, as in compare. A file may set measures and a baseline, which the
    arguments override. The difference of two systems is estimated by random effects, for all collections like these;
    `correction` is over the pairs of each measure, or over all tests with `family="all"`. `policies` are the options of
    compare for reading and measuring runs, such as ties, queries, exclude_self, empty and threads; they apply to all
    collections. A collection may have its own `weights` and `exclude`, which these options override.
    """
    unknown = next((name for name in policies if name not in POLICIES), None)
    if unknown is not None:
        raise TypeError(f"suite() got an unexpected keyword argument {unknown!r}; it takes {', '.join(POLICIES)}")
    if isinstance(collections, str | os.PathLike | Source):
        file = read_suite(collections)
        collections, measures = file.collections, measures if measures is not None else file.measures
        baseline = baseline if baseline is not None else file.baselines
    _check_collections(collections)
    systems = dict.fromkeys(system for entry in collections.values() for system in _list_systems(entry["runs"]))
    design = Design("t", correction, alpha, family=family).settle(baseline or (), systems)
    names = DEFAULT if measures is None else measures
    compared = {
        str(name): compare(
            entry["qrels"],
            entry["runs"],
            names,
            alpha=alpha,
            progress=_prefix(progress, str(name)),
            **{key: entry[key] for key in OWN if key in entry} | policies,
        )
        for name, entry in collections.items()
    }
    return Suite(compared, design)


def _list_systems(runs: Any) -> list[str]:
    return [str(name) for name in (runs.members if isinstance(runs, Groups) else runs)]


def _check_collections(collections: Any) -> None:
    """Raise DataError unless this is a suite."""
    example = "{'covid': {'qrels': qrels, 'runs': {'bm25': run, 'dense': run}}}"
    if not isinstance(collections, Mapping) or not collections:
        raise DataError(f"a suite is a file, or collections by name, as in {example}")
    for name, entry in collections.items():
        if not isinstance(entry, Mapping):
            raise DataError(f"{name}: a collection has qrels and runs, as in {example}")
        _check_keys(str(name), entry)
        if not isinstance(entry["runs"], Mapping | Groups) or not entry["runs"]:
            raise DataError(f"{name}: runs have the names of their systems, as in {example}")


def _prefix(progress: Progress, name: str) -> Progress:
    return lambda run, done: progress(f"{name}: {run}", done)
