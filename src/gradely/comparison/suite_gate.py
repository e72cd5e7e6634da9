"""A gate on a suite: whether a new system is worse than an old one over several collections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradely.comparison.pairwise import to_optional
from gradely.comparison.random_effects import SAME, note_alike
from gradely.comparison.tests import CORRECTIONS, adjust
from gradely.comparison.verdicts import (
    Change,
    Floor,
    Verdicts,
    check_floors,
    check_limits,
    check_one_sided,
    hold_against_floors,
    judge_change,
    note_constant,
    settle_limits,
)
from gradely.errors import DataError, clip, did_you_mean
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Section
from gradely.settings import Undecided
from gradely.tables import Cell, Table, count_of

if TYPE_CHECKING:
    from gradely.comparison.suite import Suite


@dataclass(eq=False, repr=False)
class SuiteGate(Verdicts):
    """Whether a new system may replace an old one on several collections; true if it may.

    Drops are estimated by random effects, for all collections like these. Old and new are the plain means over the
    collections with both systems. Floors apply to the plain mean over the collections with the new system.
    """

    changes: list[Change]
    floors: list[Floor]
    suite: "Suite"
    new: str
    old: str | None
    strict: bool
    undecided: str
    collections: list[str]
    """collections with both systems and more than one query; with floors alone, those with the new system"""
    notes: list[Note]
    unit: ClassVar[str] = "lower on"

    @property
    def over(self) -> str:  # type: ignore[override]
        """The number of collections, as sentences mention it after the names."""
        return f" over {count_of(len(self.collections), 'collection')}"

    @property
    def names(self) -> list[str]:
        """The new system, and the old one if there is one."""
        return [self.new] if self.old is None else [self.new, self.old]

    @property
    def alpha(self) -> float:
        """The significance level of the tests."""
        return self.suite.design.alpha

    @property
    def is_corrected(self) -> bool:
        """Whether the p-values of ‘worse’ are corrected over several measures."""
        return len(self.changes) > 1 and self.suite.design.correction != "none"

    def _say_what_it_takes(self, change: Change) -> str:
        """Return what is needed to decide an undecided measure."""
        if change.low is not None:
            return self.say_interval(change)
        if abs(change.drop - change.limit) <= SAME:
            return "it is the limit itself on every query"
        if len(self.collections) > 1:
            return f"{count_of(len(self.collections), 'collection')} are too few"
        assert self.old is not None
        (only,) = self.suite.effects(self.old, self.new, change.measure)
        return f"{count_of(only.queries, 'query')} are too few"

    def effects_table(self) -> Table:
        """Return one row per measure and collection: old, new, and the drop with its interval."""
        if self.old is None:
            return Table(["measure", "collection", "new"], [])
        means, rows = self.suite.mean(), list[list[Cell]]()
        for change in self.changes:
            for effect in self.suite.effects(self.old, self.new, change.measure):
                old, new = (means[effect.collection][name][change.measure] for name in (self.old, self.new))
                ends = (effect.low, effect.high)
                rows.append([change.measure, effect.collection, effect.queries, old, new, effect.difference, *ends])
        return Table(["measure", "collection", "queries", "old", "new", "drop", "low", "high"], rows)

    def sections(self, digits: int) -> list[Section]:
        """Return the verdict, the tables, and the drops on each collection."""
        effects = self.effects_table()
        return [*super().sections(digits), *([effects] if effects.rows else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return super().as_dict() | self.suite.policies() | {"collections": self.effects_table().records()}

    def remarks(self) -> list[str]:
        """Return the meaning of the columns, and the caption."""
        what = (
            "drop: over all collections like these, by random effects; old, new: the plain means over the collections"
        )
        return [*([what] if self.changes else []), self.caption()]

    def caption(self) -> str:
        """Return the conditions, tests and policies of the gate."""
        floors = ["The gate fails if the mean over collections is below its floor, without a significance test."]
        how = f"Data: {count_of(len(self.collections), 'collection')}, {self.suite.describe_policies()}."
        counts = [*(floors if self.floors else []), how]
        if self.old is None:
            return " ".join(counts)
        design, count = self.suite.design, len(self.changes)
        kind = CORRECTIONS[str(design.correction)]
        corrected = f"; ‘p worse’ is {kind}-corrected over {count} measures" if self.is_corrected else ""
        test = f"Test: one-sided {self.suite.pairwise.test_name} against the limit, α = {design.alpha:g}{corrected}."
        single = f"{100 * (1 - design.alpha):g} % on single collections"
        intervals = f"Intervals: {self.level} intervals of the drop, {single}, uncorrected."
        return " ".join([self._say_conditions(), test, intervals, *counts])


def gate_suite(
    suite: "Suite",
    new: str,
    baseline: str | None,
    *,
    max_drop: float | Mapping[str, float],
    non_inferior: float | Mapping[str, float] | None,
    floors: Mapping[str, float] | None,
    strict: bool,
    undecided: Undecided,
) -> SuiteGate:
    """Decide whether a system is worse than a baseline over the collections of a suite, or below its floors."""
    max_drop, undecided = settle_limits(max_drop, non_inferior, undecided)
    check_one_sided(undecided, suite.design.alpha)
    for name in [new] if baseline is None else [new, baseline]:
        if name not in suite.systems:
            raise DataError(f"no system {clip(name)} in this suite.{did_you_mean(name, suite.systems)}")
    if new == baseline:
        raise DataError(f"{new} is both the new system and the baseline")
    least = check_floors(floors)
    if baseline is None and not least:
        raise DataError("give a baseline to compare with, or floors")
    has_new = [name for name, means in suite.mean().items() if new in means]
    by_collection = {  # even by measures that the suite does not have
        name: [suite.collections[one].board.measure(new, name) for one in has_new] for name in least
    }
    held = hold_against_floors({name: fsum(values) / len(values) for name, values in by_collection.items()}, least)
    notes = [*_note_lacking(suite, new, baseline), *suite.data_notes]
    if baseline is None:
        return SuiteGate([], held, suite, new, None, strict, undecided, has_new, notes)
    typed = {str(measure): name for name, measure in suite.board.measures.items()}
    limits = {typed[name]: limit for name, limit in check_limits(max_drop, suite.board.measures.values()).items()}
    both = [effect.collection for effect in suite.effects(baseline, new)]
    if not both:
        raise DataError(f"{new} and {baseline} have no collection of more than one query in common")
    changes = _changes(suite, new, baseline, limits, both, strict=strict, undecided=undecided)
    combined = [suite.combined(baseline, new, measure) for measure in limits]
    notes = [*_note_few(len(both)), *note_constant(changes), *note_alike(combined), *notes]
    return SuiteGate(changes, held, suite, new, baseline, strict, undecided, both, notes)


def _mean(suite: "Suite", collections: Sequence[str], system: str, measure: str) -> float:
    means = suite.mean()
    return fsum(means[name][system][measure] for name in collections) / len(collections)


def _note_lacking(suite: "Suite", new: str, baseline: str | None) -> list[Note]:
    """Name the collections that lack one of the systems."""
    names = [new] if baseline is None else [new, baseline]
    lacking = {name: [system for system in names if system not in means] for name, means in suite.mean().items()}
    return [
        Note("lacking", len(systems), len(names), f"{name} has no run of {' and '.join(systems)}, and is left out")
        for name, systems in lacking.items()
        if systems
    ]


def _note_few(count: int) -> list[Note]:
    """Note the limits of one or two collections."""
    texts = {
        1: "there is only one collection: the verdict is about its queries, and says nothing about other collections",
        2: "there are only two collections, so t has one degree of freedom: hardly anything can be shown",
    }
    return [Note("few", count, count, texts[count])] if count in texts else []


def _changes(
    suite: "Suite",
    new: str,
    baseline: str,
    limits: dict[str, float],
    both: list[str],
    *,
    strict: bool,
    undecided: str,
) -> list[Change]:
    """Return the change and the verdict of each measure over the collections with both systems."""
    design = suite.design
    estimates = [suite.estimate(baseline, new, measure) for measure in limits]
    worse = np.concatenate([one.p_above(limit) for one, limit in zip(estimates, limits.values(), strict=True)])
    within = np.concatenate([one.p_below(limit) for one, limit in zip(estimates, limits.values(), strict=True)])
    adjusted = adjust(worse, str(design.correction))
    changes = []
    for m, ((measure, limit), found) in enumerate(zip(limits.items(), estimates, strict=True)):
        effects, at = suite.effects(baseline, new, measure), suite.measures.index(measure)
        (low,), (high,) = map(to_optional, suite.pairwise.cut(found.intervals(1 - 2 * design.alpha), at))
        change = Change(
            measure,
            _mean(suite, both, baseline, measure),
            _mean(suite, both, new, measure),
            drop=float(found.difference[0]),
            limit=limit,
            low=low,
            high=high,
            p=float(worse[m]),
            adjusted=float(adjusted[m]),
            p_not_worse=float(within[m]),
            losses=sum(effect.difference > SAME for effect in effects),
        )
        differs = any(abs(effect.difference) > SAME or effect.error > 0 for effect in effects)
        changes.append(judge_change(change, design.alpha, differs=differs, strict=strict, undecided=undecided))
    return changes
