"""judges: how far several judges agree, and whether conclusions about runs depend on the judge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np

from gradely.comparison.intervals import keep_within
from gradely.comparison.judged import stack_values
from gradely.comparison.kendall import DIGITS, defined_or_none
from gradely.comparison.pairwise import Design, to_optional
from gradely.comparison.sentences import list_names
from gradely.comparison.tests import CORRECTIONS
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.read.judges import read_judges
from gradely.data.selection import name_queries, select
from gradely.errors import DataError, clip, did_you_mean
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note, merge_notes, note_inputs, note_names
from gradely.evaluation.result import Result, Section
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.judgments.agreement import DRAWS, WEIGHTS, AgreedPair, Agreement, Coefficient
from gradely.judgments.by_judge import TOP, ByJudge, JudgedPair
from gradely.judgments.conclusion import conclude, describe_many, describe_two
from gradely.judgments.merge import merge
from gradely.lazy import Chart
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Correction, DuplicatePolicy, Precision, Settings, TiePolicy
from gradely.tables import Cell, MarkedNumber, Table, count_of

FEW_JUDGES = 4
"""the most judges for which all pairs are printed; for more judges, only pairs with the first one"""
SHOWN = 30
"""the most pairs of runs to print"""


@dataclass(eq=False, repr=False)
class Judges(Result):
    """The agreement of several judges, and the scores of runs by each of them.

    >>> from gradely import judges
    >>> a = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d2": 0}}
    >>> b = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 0}}
    >>> round(judges({"a": a, "b": b}).kappa("a", "b"), 4)  # (.75 - .50) / (1 - .50)
    0.5
    """

    qrels: dict[str, Qrels]
    together: SeveralQrels
    agreement: Agreement
    runs: ByJudge | None
    """the values of the runs, best first, or None without runs"""
    settings: Settings
    alpha_level: float
    about: list[Note]
    digits = 3

    @property
    def names(self) -> list[str]:
        """The names of the judges."""
        return list(self.qrels)

    def _at(self, name: str) -> int:
        if name not in self.qrels:
            near = did_you_mean(str(name), self.qrels) or f" The judges are {list_names(self.names)}"
            raise DataError(f"no judge {clip(str(name))}.{near}")
        return self.names.index(name)

    def kappa(
        self, first: str, second: str, weights: Literal["linear", "quadratic"] | None = None
    ) -> Coefficient | None:
        """Return Cohen's κ of two judges, a number with the attributes `low` and `high`, or None if it is undefined.

        By default, all disagreements have equal weight; `weights` makes it depend on the distance of the labels.
        """
        return self.agreement.kappa(self._at(first), self._at(second), weights or "none")

    def alpha(self, metric: Literal["ordinal", "nominal", "interval"] = "ordinal") -> Coefficient | None:
        """Return Krippendorff's α of all judges, a number with `low` and `high`, or None if it is undefined."""
        return self.agreement.alpha(metric)

    def confusion(self, first: str, second: str) -> Table:
        """Return the confusion table of two judges, with the labels of the first in rows."""
        counts = self.agreement.confusion(self._at(first), self._at(second)).sum(axis=0).astype(int)
        labels = [f"{label:g}" for label in self.agreement.scale.tolist()]
        rows = [[label, *row] for label, row in zip(labels, counts.tolist(), strict=True)]
        return Table([f"{first} \\ {second}", *labels], rows)

    def merge(self, how: Literal["mean", "median", "majority"] | None = None, fill: str | None = None) -> Qrels:
        """Return the mean, median or majority of the judges as one qrels, with notes that count what was merged.

        `fill` is a judge whose labels are used only for documents that no other judge has labelled.
        """
        if fill is not None:
            self._at(fill)
        return merge(self.qrels, how, fill)

    def _agreed(self, i: int, j: int) -> AgreedPair:
        first, second = self.agreement.labels[:, [i, j]].T
        both = ~np.isnan(first) & ~np.isnan(second)
        count = int(both.sum())
        same, apart = (
            (float(np.mean(first[both] == second[both])), float(np.mean(first[both] - second[both])))
            if count
            else (None, None)
        )
        none, linear, quadratic = (self.agreement.kappa(i, j, weights) for weights in WEIGHTS)
        alpha = self.agreement.alpha("ordinal", (i, j))
        return AgreedPair(self.names[i], self.names[j], count, same, apart, none, linear, quadratic, alpha)

    @cached_property
    def agreements(self) -> list[AgreedPair]:
        """The agreement of every pair of judges."""
        return [self._agreed(i, j) for i, j in combinations(range(len(self.names)), 2)]

    @cached_property
    def by_pair(self) -> dict[frozenset[str], AgreedPair]:
        """The agreement of every pair of judges by their names."""
        return {frozenset((pair.first, pair.second)): pair for pair in self.agreements}

    @cached_property
    def pairs(self) -> list[JudgedPair]:
        """Every pair of runs by every measure: how many judges prefer each run, and how many significantly."""
        return self.runs.rows() if self.runs is not None else []

    def dependent_pairs(self, measure: str | None = None) -> list[JudgedPair]:
        """Return the pairs of runs whose order or significance depends on the judge, by one measure or by all."""
        pairs = [pair for pair in self.pairs if measure in (None, pair.measure)]
        return [pair for pair in pairs if pair.order or pair.significance]

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean over judges}}, best run first."""
        if self.runs is None:
            return {}
        names = list(self.runs.measures)
        return {
            run: {measure: float(self.runs.aware[m].difference[i]) for m, measure in enumerate(names)}
            for i, run in enumerate(self.runs.names)
        }

    def _beside(self, *, every: bool = False) -> tuple[list[str], list[tuple[int, int, list[Cell]]]]:
        """Return column names and the pairs of judges to print: all, or those with the first of many judges."""
        names = self.names
        if every or len(names) <= FEW_JUDGES:
            return ["judge", "and"], [(i, j, [names[i], names[j]]) for i, j in combinations(range(len(names)), 2)]
        return [f"{names[0]} and"], [(0, j, [name]) for j, name in enumerate(names) if j]

    def agreement_table(self) -> Table:
        """Return one row per pair of judges; for many judges, only pairs with the first."""
        header, pairs = self._beside()
        rows: list[list[Cell]] = []
        for i, j, who in pairs:
            pair = self.by_pair[frozenset((self.names[i], self.names[j]))]
            rows.append([*who, *pair[2:5], *_with_ends(pair.kappa), _plain(pair.quadratic)])
        hidden = len(self.agreements) - len(pairs)
        more = f"… and {count_of(hidden, 'more pair')} of judges; --format json shows all" if hidden else ""
        return Table([*header, "shared", "same", "bias", "κ", "low", "high", "quadratic"], rows, more=more)

    def runs_table(self) -> Table:
        """Return one row per run and measure: the mean over judges, its interval, and the means by the judges."""
        runs = self._with_runs()
        several = len(runs.measures) > 1
        rows: list[list[Cell]] = []
        for m, measure in enumerate(runs.measures):
            low, high = self.mean_intervals(m)
            for i, run in enumerate(runs.names):
                by = runs.means[:, m, i]
                shown = by.tolist() if len(self.names) <= FEW_JUDGES else [float(by.min()), float(by.max())]
                mean = float(runs.aware[m].difference[i])
                rows.append([run, *([measure] if several else []), mean, low[i], high[i], *shown])
        title = ["measure", "mean"] if several else [next(iter(runs.measures))]
        each = self.names if len(self.names) <= FEW_JUDGES else ["lowest", "highest"]
        return Table(["run", *title, "low", "high", *each], rows)

    def leaderboard(self, measure: int = 0) -> Table:
        """Return one row per run by a measure: the mean over judges, its interval, and the mean by every judge."""
        runs = self._with_runs()
        low, high = self.mean_intervals(measure)
        means = np.vstack([runs.aware[measure].difference, runs.means[:, measure]])
        best = np.round(means, DIGITS) == np.round(means, DIGITS).max(axis=1, keepdims=True)
        rows: list[list[Cell]] = []
        for i, run in enumerate(runs.names):
            mean, *by = (
                MarkedNumber(float(value), bool(top)) for value, top in zip(means[:, i], best[:, i], strict=True)
            )
            rows.append([run, mean, low[i], high[i], *by])
        return Table(["run", "mean", "low", "high", *self.names], rows)

    def kappa_table(self) -> Table:
        """Return the matrix of κ of each pair of judges."""
        kappas = {pair: _plain(agreed.kappa) for pair, agreed in self.by_pair.items()}
        rows: list[list[Cell]] = [
            [first, *(kappas.get(frozenset((first, second))) for second in self.names)] for first in self.names
        ]
        return Table(["judge", *self.names], rows)

    def pairs_of_judges_table(self) -> Table:
        """Return one row per pair of judges, with all coefficients of agreement."""
        return Table(["first", *AGREED[1:]], [_flatten(pair) for pair in self.agreements])

    def mean_intervals(self, measure: int = 0) -> tuple[list[float | None], list[float | None]]:
        """Return the ends of the intervals of the means over judges; None if there is no interval."""
        runs = self._with_runs()
        bounds, spread = list(runs.measures.values())[measure].bounds, runs.aware[measure]
        low, high = keep_within(spread.intervals(1 - self.alpha_level), bounds, spread.difference)
        return to_optional(low), to_optional(high)

    def chart(self) -> Chart:
        """Return an Altair chart of the agreement of each pair of judges."""
        from gradely.comparison.charts import style
        from gradely.judgments.judge_charts import agreement_chart

        return style(agreement_chart(self, self.names).properties(width=44 * len(self.names)))

    def to_html(self, title: str = "Judges", *, command: str = "") -> str:
        """Return a self-contained HTML page: the answer, runs by judge, pairs that depend on the judge, agreement.

        `command` is the command line that the page names as its origin.
        """
        from gradely.report.judges import judges_page

        return judges_page(self, title, command)

    def order_table(self, measure: int = 0, *, every: bool = False) -> Table:
        """Return how similarly pairs of judges rank the runs by a measure, for all runs and for the best ten.

        For many judges, only pairs with the first are included, unless `every` is true.
        """
        runs = self._with_runs()
        tables, columns = [*runs.tau(measure)], ["τ", "τ_AP"]
        if len(runs.names) > TOP:
            tables += runs.tau(measure, TOP)
            columns += [f"τ top {TOP}", f"τ_AP top {TOP}"]
        header, pairs = self._beside(every=every)
        rows: list[list[Cell]] = [[*who, *(defined_or_none(table[j, i]) for table in tables)] for i, j, who in pairs]
        return Table([*header, *columns], rows)

    def pairs_table(self, most: int | None = SHOWN) -> Table:
        """Return the pairs of runs whose order or significance by the first measure depends on the judge."""
        pairs = self.dependent_pairs(next(iter(self._with_runs().measures)))
        rows: list[list[Cell]] = [
            [
                *pair[1:4],
                *(pair.least, pair.most, f"{pair.first_better} : {pair.second_better}"),
                f"{pair.significant} of {len(self.names)}{', both ways' if pair.both_ways else ''}",
            ]
            for pair in pairs
        ]
        return Table(["first", "second", "mean", "least", "most", "better", "significant"], rows).cut(most, "pair")

    def _with_runs(self) -> ByJudge:
        if self.runs is None:
            raise DataError("there are no runs: name runs to evaluate them by each judge")
        return self.runs

    def table(self) -> Table:
        """Return the runs by judge or, without runs, the agreement of the judges."""
        return self.agreement_table() if self.runs is None else self.runs_table()

    def data_table(self) -> Table:
        """Return one row per run, measure and judge; without runs, one per pair of judges."""
        if self.runs is None:
            return Table(AGREED, [_flatten(pair) for pair in self.agreements])
        rows: list[list[Cell]] = [
            [run, measure, judge, float(self.runs.means[j, m, i])]
            for m, measure in enumerate(self.runs.measures)
            for i, run in enumerate(self.runs.names)
            for j, judge in enumerate(self.names)
        ]
        return Table(["run", "measure", "judge", "mean"], rows)

    def summary(self) -> str:
        """Return sentences about the agreement of the judges and, with runs, whether the conclusion depends on them."""
        shared = int(np.count_nonzero((self.agreement.codes >= 0).sum(axis=1) > 1))
        agreement = (
            describe_two(self.agreements[0], self.level)
            if len(self.names) == 2
            else describe_many(self.names, shared, self.alpha(), self.agreements, self.level)
        )
        return agreement if self.runs is None else f"{conclude(self.runs)} {agreement}"

    @property
    def level(self) -> str:
        """The confidence level as text."""
        return f"{100 * (1 - self.alpha_level):g} %"

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the answer and the tables."""
        sections: list[Section] = [self.summary()]
        if self.runs is not None:
            sections.append(self.runs_table())
            if len(self.runs.names) > 1:
                sections.append(self.order_table())
            if self.dependent_pairs(next(iter(self.runs.measures))):
                sections.append(self.pairs_table())
        sections.append(self.agreement_table())
        if len(self.names) == 2:
            sections.append(self.confusion(*self.names))
        return sections

    def remarks(self) -> list[str]:
        """Return how the numbers were computed."""
        about = (
            "shared: documents that both judged; same: share of equal labels; bias: mean label of the first judge "
            f"minus that of the second; κ: Cohen's kappa, with {self.level} intervals from resampled queries "
            f"({DRAWS:,} draws, seed {self.settings.seed}), and with quadratic weights"
        )
        if self.runs is None:
            return [about]
        first, several = next(iter(self.runs.measures)), len(self.runs.queries) > 1
        interval = f"with {self.level} intervals for other queries and other judges" if several else "without intervals"
        correction = CORRECTIONS[str(self.runs.design.correction)]
        test = f"t-test for each judge, {correction}, α = {self.alpha_level:g}" if several else "none"
        pairs = (
            f" By {first}: τ and τ_AP of the rankings of runs, with the first of two judges as the reference; and, "
            f"for each pair of runs, how many judges favour each run. Test: {test}."
        )
        runs = (
            f"Mean over {count_of(len(self.names), 'judge')} with equal weights (AWARE), {interval}."
            f"{pairs if len(self.runs.names) > 1 else ''} Data: {count_of(len(self.runs.queries), 'query')}, ties: "
            f"{self.settings.ties}, {self.settings.precision} precision."
        )
        return [runs, about]

    @property
    def notes(self) -> list[Note]:
        """Notes on queries, documents and labels."""
        return self.about

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data with all digits."""
        alphas = {metric: _entry(self.agreement.alpha(metric)) for metric in ("ordinal", "nominal", "interval")}
        entry: dict[str, Any] = {
            "summary": self.summary(),
            "judges": self.names,
            "alpha": alphas,
            "agreement": [
                dict(zip(AGREED, _flatten(pair), strict=True))
                | {"confusion": self.agreement.confusion(self._at(pair.first), self._at(pair.second)).sum(0).tolist()}
                for pair in self.agreements
            ],
            "labels": self.agreement.scale.tolist(),
        }
        if self.runs is not None:
            entry |= self._runs_entry(self.runs)
        return entry | {"notes": self._list_notes()}

    def _runs_entry(self, runs: ByJudge) -> dict[str, Any]:
        rows = []
        for m, measure in enumerate(runs.measures):
            low, high = self.mean_intervals(m)
            for i, run in enumerate(runs.names):
                by = dict(zip(self.names, runs.means[:, m, i].tolist(), strict=True))
                mean = float(runs.aware[m].difference[i])
                rows.append({"run": run, "measure": measure, "mean": mean, "low": low[i], "high": high[i], "by": by})
        orders: dict[str, Any] = {}
        if len(runs.names) > 1:
            for m, measure in enumerate(runs.measures):
                names = ("tau", "tau_ap", f"tau_top_{TOP}", f"tau_ap_top_{TOP}")
                tables = [*runs.tau(m), *(runs.tau(m, TOP) if len(runs.names) > TOP else ())]
                orders[measure] = {name: table.tolist() for name, table in zip(names, tables, strict=False)}
        return {"runs": rows, "pairs": [pair._asdict() for pair in self.pairs], "order": orders}


AGREED = (
    *("first", "second", "documents", "same", "difference"),
    *(f"{name}{end}" for name in ("kappa", "linear", "quadratic", "alpha") for end in ("", "_low", "_high")),
)
"""the fields of AgreedPair, with the ends of intervals, in machine-readable formats"""


def _flatten(pair: AgreedPair) -> list[Cell]:
    return [*pair[:5], *(cell for coefficient in pair[5:] for cell in _with_ends(coefficient))]


def _with_ends(coefficient: Coefficient | None) -> list[Cell]:
    return [None] * 3 if coefficient is None else [float(coefficient), coefficient.low, coefficient.high]


def _plain(coefficient: Coefficient | None) -> float | None:
    return None if coefficient is None else float(coefficient)


def _entry(coefficient: Coefficient | None) -> dict[str, Cell] | None:
    return None if coefficient is None else dict(zip(("value", "low", "high"), _with_ends(coefficient), strict=True))


def judges(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any] | None = None,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    raters: Iterable[str] | None = None,
    correction: Correction | None = None,
    alpha: float = 0.05,
    ties: TiePolicy = "expected",
    queries: Literal["qrels"] | Iterable[Any] = "qrels",
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
) -> Judges:
    """Compare judges: how far their labels agree, and the scores of runs by each of them.

    `qrels` are {"nist": qrels, "gpt4o": qrels}, a list of files, one table with a column `judge`, or one table with a
    column of labels per rater, named by `raters`. `runs` are optional. They are evaluated on the queries that all
    judges have, and pairs of runs are tested by each judge. The other parameters are those of compare.
    """
    settings = Settings(
        ties, "qrels", judged_only, precision, seed, threads, "zero", exclude_self, duplicates, document_pattern
    )
    design = Design("t", correction, alpha, seed).settle()
    only = name_queries(queries)
    names = None if only is None else set(map(str, only))
    found = read_judges(qrels, raters=raters, columns=columns, duplicates=duplicates, threads=threads)
    by_name = {judge: select(one, only=_known(judge, one, names), exclude=exclude) for judge, one in found.items()}
    together = SeveralQrels(by_name)
    agreement = _agree(together, alpha, seed)
    by_judge, notes = None, [*_note_shared(together), *_note_scales(together)]
    if runs is None:
        notes += merge_notes({judge: note_inputs(one, {}) for judge, one in by_name.items()})
    else:
        opened = open_runs(name_runs(runs), columns, settings)
        by_judge, more = _evaluate(together, opened, measures, settings, design, progress)
        notes += more
    return Judges(by_name, together, agreement, by_judge, settings, alpha, notes)


def _known(judge: str, qrels: Qrels, names: set[str] | None) -> list[str] | None:
    """Return the selected queries that a judge has; refuse a judge who has none of them."""
    if names is None:
        return None
    known = [query for query in qrels.queries if query in names]
    if not known:
        raise DataError(f"queries: {judge} has judged none of them")
    return known


def _agree(together: SeveralQrels, alpha: float, seed: int) -> Agreement:
    """Return the agreement of all judges; refuse judges who have no document in common."""
    labels = together.labels
    if not (np.count_nonzero(~np.isnan(labels), axis=1) > 1).any():
        (one, first), (other, second) = list(together.qrels.items())[:2]
        raise DataError(
            f"no document was judged by two judges: {one} has query {clip(first.queries[0])} with document "
            f"{clip(first.docs[0])}, {other} {clip(second.queries[0])} with {clip(second.docs[0])}"
        )
    # queries are numbered by name, so bootstrap draws do not depend on input order
    order = sorted(range(len(together.queries)), key=together.queries.__getitem__)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return Agreement(labels, np.repeat(number, np.diff(together.start)), alpha=alpha, seed=seed)


def _note_shared(together: SeveralQrels) -> list[Note]:
    """Count the documents that some judges have not labelled."""
    given = np.count_nonzero(~np.isnan(together.labels), axis=1)
    judges, size = together.labels.shape[1], len(given)
    partial = int(np.count_nonzero(given < judges))
    if not partial:
        return []
    alone = int(np.count_nonzero(given == 1))
    only = f"; {alone:,} of them by a single judge" if alone else ""
    text = f"{partial:,} of {count_of(size, 'document')} {'was' if partial == 1 else 'were'} not judged by every judge"
    return [Note("partial", partial, size, f"{text}{only}")]


def _note_scales(together: SeveralQrels) -> list[Note]:
    """Name judges with labels outside the range of all others, who may use another scale or have made mistakes."""
    notes = []
    for j, judge in enumerate(together.qrels):
        own, others = together.labels[:, j], np.delete(together.labels, j, axis=1)
        beyond = (own > np.nanmax(others)) | (own < np.nanmin(others))
        count = int(np.count_nonzero(beyond))
        if count:
            size = int(np.count_nonzero(~np.isnan(own)))
            values = ", ".join(f"{label:g}" for label in np.unique(own[beyond])[:5].tolist())
            lie = f"{'lies' if count == 1 else 'lie'} outside the range of all other judges"
            text = f"{judge}: {count:,} of {count_of(size, 'label')} {lie}: {values}"
            notes.append(Note("scale", count, size, text))
    return notes


def _evaluate(
    together: SeveralQrels,
    runs: Mapping[str, Any],
    measures: MeasureLike | Iterable[MeasureLike],
    settings: Settings,
    design: Design,
    progress: Progress,
) -> tuple[ByJudge, list[Note]]:
    """Return the values of the runs by each judge on the queries that all of them have."""
    everyone = [query for query in together.queries if all(query in one.index for one in together.qrels.values())]
    if not everyone:
        raise DataError("the judges have no query in common on which runs could be compared: leave out the runs")
    by_name = parse_all(measures)
    results = together.evaluate(runs, by_name, settings, progress)
    everyone.sort()
    values = []
    for found in results.values():
        at = found.qrels.index
        values.append(stack_values(found)[:, [at[query] for query in everyone]])
    lost = [query for query in together.queries if query not in set(everyone)]
    text = "{are} not judged by every judge and {are} left out when runs are evaluated"
    notes = [
        *note_names("uncommon", len(lost), len(together.queries), "query", text, lost),
        *merge_notes({judge: found.data_notes for judge, found in results.items()}),
    ]
    by_judge = ByJudge(list(results), dict(by_name), list(runs), everyone, np.stack(values), design)
    return by_judge.sort(), notes
