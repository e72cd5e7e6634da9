"""The verdict of a gate: what became of each measure, and which queries lost most."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.answers import format_p
from gradely.comparison.pairwise import Pairwise
from gradely.comparison.saved_scores import SavedScores
from gradely.comparison.significance import CORRECTIONS, DRAWN, TESTS
from gradely.evaluation.notes import SAME, Note
from gradely.tables import Cell, Table, count_of, plain_line, to_text

LOSERS = 10
"""so many of the queries that lost most are listed"""


class Change(NamedTuple):
    """One measure, in the old run and in the new one."""

    measure: str
    old: float
    new: float
    drop: float
    """old minus new: below 0 where the new run is better"""
    limit: float
    low: float | None
    """the interval of the drop; None where there is none"""
    high: float | None
    p: float | None
    """None where nothing can be tested"""
    adjusted: float | None
    losses: int
    """on how many queries the new run is worse"""
    exceeds: bool
    significant: bool
    failed: bool


@dataclass(eq=False, repr=False)
class Gate:
    """Whether a new run may take the place of an old one.

    >>> from gradely import gate
    >>> qrels = {f"q{i}": {"d": 1} for i in range(9)}
    >>> old, new = {q: ["d", "x"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> gate(qrels, new, old, ["RR"], max_drop=0.01).passed, gate(qrels, new, old, ["RR"], max_drop=0.5).passed
    (False, True)
    """

    changes: list[Change]
    pairwise: Pairwise
    """the new run and the old one"""
    queries: list[str]
    saved: SavedScores
    """the scores of the new run, to be kept"""
    strict: bool
    notes: list[Note]

    @property
    def passed(self) -> bool:
        """Whether no measure failed."""
        return not any(change.failed for change in self.changes)

    def summary(self) -> str:
        """Return the verdict in a sentence."""
        new, old = self.pairwise.names
        if self.passed:
            beyond = "is allowed" if self.strict else "is allowed and more than chance explains"
            return f"Passed: {new} is not worse than {old} by more than {beyond}."
        parts = [
            f"{change.measure} fell by {change.drop:.4f}, more than {change.limit:g}"
            + ("" if change.adjusted is None else f" (p {format_p(change.adjusted, self.pairwise.design.alpha)})")
            for change in self.changes
            if change.failed
        ]
        return f"Failed: {new} is worse than {old}: {'; '.join(parts)}."

    def table(self) -> Table:
        """Return one row per measure."""
        header = ["measure", "old", "new", "drop", "limit", "low", "high", "p", "adjusted", "losses", "verdict"]
        return Table(header, [[*change[:10], _verdict(change)] for change in self.changes])

    def losers(self, measure: str, most: int = LOSERS) -> Table:
        """Return the queries that lost most by a measure, the worst first."""
        at = list(self.pairwise.measures).index(measure)
        new, old = self.pairwise.values[at].T
        order = np.lexsort([np.asarray(self.queries), -(old - new)])[:most].tolist()
        rows: list[list[Cell]] = [
            [self.queries[i], float(old[i]), float(new[i]), float(old[i] - new[i])]
            for i in order
            if old[i] - new[i] > SAME
        ]
        return Table(["query", "old", "new", "drop"], rows)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe with one row per measure, of pandas, polars or pyarrow."""
        return Table(Change._fields, [list(row) for row in self.changes]).to_frame(library)

    def caption(self) -> str:
        """Return how it was decided."""
        design, count = self.pairwise.design, len(self.changes)
        draws = f", {design.resamples:,} resamples, seed {design.seed}" if design.test in DRAWN else ""
        corrected = f", {CORRECTIONS[str(design.correction)]} over {count} measures" if count > 1 else ""
        rule = "exceeds its limit" if self.strict else "exceeds its limit and is significant"
        policies = ", ".join(f"{key} {value}" for key, value in self.saved.settings.items() if value is not False)
        return (
            f"the gate fails where a drop {rule}: {TESTS[design.test]}{draws}{corrected}, α = {design.alpha:g}; "
            f"{100 * (1 - design.alpha):g} % t intervals of the drop; {count_of(len(self.queries), 'query')}; "
            f"{policies}"
        )

    def __repr__(self) -> str:
        """Show the verdict, the table and how it was decided."""
        return f"{plain_line(self.summary())}\n\n{to_text(self.table())}\n{plain_line(self.caption())}"


def _verdict(change: Change) -> str:
    if change.failed:
        return "failed"
    if change.exceeds:
        return "not tested" if change.p is None else "not significant"
    return "within limit" if change.drop > SAME else "not worse"
