"""correlate: whether measures rank runs alike."""

from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from gradely.comparison.kendall import SCALE, correlations, defined_or_none, meaning, tally
from gradely.comparison.selection import select
from gradely.comparison.stacked_runs import stack
from gradely.data.query_selection import name_queries, read_selected
from gradely.data.types import Floats
from gradely.evaluation.notes import Note
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.measures.names import MeasureLike, parse_all
from gradely.optional import altair
from gradely.settings import Precision, Settings, TiePolicy
from gradely.tables import Cell, Table, count_of


class Correlation(NamedTuple):
    """How alike measures rank runs. A row is a measure, a column the reference; τ is the same both ways."""

    measures: list[str]
    tau: Floats
    tau_ap: Floats
    runs: list[str]
    queries: list[str]
    means: Floats
    """[runs, measures]"""
    ties: str
    notes: list[Note]

    def summary(self) -> str:
        """Return what it is about and what τ says, in two lines."""
        about = f"{count_of(len(self.runs), 'run')}, {count_of(len(self.queries), 'query')}, ties {self.ties}"
        pairs = self.tau[np.triu_indices(len(self.measures), 1)]
        share = tally(pairs, "pair of measures" if len(pairs) == 1 else "pairs of measures")
        return f"{about}; τ_AP compares the row with the column, its reference\n{SCALE}; {share}"

    def tables(self, digits: int = 4) -> list[Table]:
        """Return τ and τ_AP, a matrix each."""
        return [self._matrix("τ", self.tau, digits), self._matrix("τ_AP", self.tau_ap, digits)]

    def _matrix(self, name: str, values: Floats, digits: int) -> Table:
        rows = [
            [measure, *map(defined_or_none, row)] for measure, row in zip(self.measures, values.tolist(), strict=True)
        ]
        return Table([name, *self.measures], rows, digits)

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per pair of measures."""
        return [
            {
                "measure": measure,
                "reference": reference,
                "tau": defined_or_none(self.tau[i, j]),
                "tau_ap": defined_or_none(self.tau_ap[i, j]),
                "meaning": meaning(self.tau[i, j]),
            }
            for i, measure in enumerate(self.measures)
            for j, reference in enumerate(self.measures)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        notes = [note.as_dict() for note in self.notes]
        return {"about": self.summary(), "values": self.records(), "notes": notes}

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of (measure, reference, tau, tau_ap, meaning), of pandas, polars or pyarrow."""
        return Table.of(self.records()).to_frame(library)

    def chart(self) -> Any:
        """Return an altair chart: a square per pair of measures, τ in it."""
        alt = altair()
        base = alt.Chart(alt.Data(values=self.records())).encode(
            x=alt.X("reference:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40)),
            y=alt.Y("measure:N", sort=None, title=None),
        )
        squares = base.mark_rect().encode(
            color=alt.Color("tau:Q", title="τ", scale=alt.Scale(scheme="blues", domain=[0, 1], clamp=True))
        )
        dark = alt.condition("datum.tau > 0.6", alt.value("white"), alt.value("black"))
        side = 46 * len(self.measures)
        return (squares + base.mark_text().encode(text=alt.Text("tau:Q", format=".2f"), color=dark)).properties(
            width=side, height=side
        )


def correlate(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    topics: str = "all",
    level: float | None = None,
    min_quartile: bool = False,
    ties: TiePolicy = "expected",
    queries: Literal["qrels"] | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    exclude: Any = None,
) -> Correlation:
    """Correlate the rankings of runs by several measures.

    `runs` is {name: run} or paths. `topics` is all, or few-high: queries with R(1) >= 10·R(level) and R(level) ≠ 0,
    where 1 stands for the lowest level, and `level` is the highest by default. `min_quartile` leaves out runs below the
    first quartile of AP. The other options are those of evaluate. `queries` are those of the qrels, or a list, since
    all runs need the same.
    """
    only, named = name_queries(queries), parse_all(measures)
    settings = Settings(ties, "qrels", judged_only, precision, seed, threads)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    results = evaluate_all(judgments, open_runs(name_runs(runs), columns), named, settings, progress)
    stacked = stack(results)
    topics_kept, runs_kept, notes = select(stacked, topics=topics, level=level, min_quartile=min_quartile)
    values = np.stack([scores.values for scores in results.values()])
    means = values[runs_kept][:, topics_kept].mean(axis=1)
    run_names, query_names = list(compress(results, runs_kept)), list(compress(judgments.queries, topics_kept))
    notes = [*stacked.notes(), *notes]
    return Correlation(list(named), *correlations(means), run_names, query_names, means, ties, notes)
