"""gate: whether a run is worse than an older one, by more than is allowed and by more than chance."""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.plan import POWER, plan_pairs
from gradely.comparison.sentences import note_tests
from gradely.comparison.tests import CORRECTIONS, DRAWN, RESAMPLES, TESTS
from gradely.data import Qrels, open_run
from gradely.data.ids import Floats
from gradely.data.selection import read_selected, split_queries
from gradely.data.source import Source
from gradely.data.texts import Texts, select_texts
from gradely.errors import DataError, InputError
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_run, ignore
from gradely.evaluation.notes import SAME, Note, note_names
from gradely.evaluation.result import Result, Section
from gradely.evaluation.scores import means
from gradely.measures.names import MeasureLike, parse, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Cell, Table, count_of, format_p

VERSION = 1
"""of the format of the file"""
HEAD = re.compile(rb'\s*\{\s*"gradely"\s*:\s*"scores"')
AGAIN = "evaluate the old run again, or save its scores again"


@dataclass(frozen=True, eq=False, repr=False)
class SavedScores(Result):
    """The values of one run on each query, and all that they depend on."""

    name: str
    settings: dict[str, Any]
    """ties, queries, judged_only, precision, and the seed where ties are random"""
    judgments: str
    """a digest of queries, documents and labels, in whatever order they came"""
    measures: list[str]
    queries: list[str]
    values: Floats
    """[queries, measures]"""
    notes: tuple[Note, ...] = ()
    """what happened to queries and documents; this is not saved"""
    path: str = "the saved scores"
    """where they were read, for messages"""

    def text(self) -> str:
        """Return what is written to the file: one line per query."""
        head = {
            "gradely": "scores",
            "version": VERSION,
            "run": self.name,
            "settings": self.settings,
            "judgments": self.judgments,
            "measures": self.measures,
        }
        rows = zip(self.queries, self.values.tolist(), strict=True)
        lines = ",\n".join(f"    {json.dumps(query)}: {json.dumps(row)}" for query, row in rows)
        return f'{json.dumps(head, indent=2)[:-2]},\n  "values": {{\n{lines}\n  }}\n}}\n'

    def table(self) -> Table:
        """Return one row per measure: its mean."""
        return Table(["measure", self.name], [list(row) for row in zip(self.measures, means(self.values), strict=True)])

    def data_table(self) -> Table:
        """Return one row per query, and one column per measure."""
        rows = zip(self.queries, self.values.tolist(), strict=True)
        return Table(["query", *self.measures], [[query, *row] for query, row in rows])

    def as_dict(self) -> dict[str, Any]:
        """Return what is written to the file, and the notes."""
        return {**json.loads(self.text()), "notes": self._list_notes()}

    def check(self, new: "SavedScores") -> None:
        """Raise unless these scores came about as new ones did."""
        for key, value in new.settings.items():
            if self.settings.get(key) != value:
                raise DataError(f"{self.path}: saved with {key} {self.settings.get(key)!r}, not {value!r}: {AGAIN}")
        if self.judgments != new.judgments:
            raise DataError(f"{self.path}: saved with other judgments: {AGAIN}")

    def columns(self, measures: list[str]) -> Floats:
        """Return the values [queries, measures] of some measures."""
        lacking = [measure for measure in measures if measure not in self.measures]
        if lacking:
            raise DataError(f"{self.path}: has no {lacking[0]}, only {', '.join(self.measures)}: {AGAIN}")
        values: Floats = self.values[:, [self.measures.index(measure) for measure in measures]]
        return values


def keep_scores(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
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
) -> SavedScores:
    """Evaluate a run as evaluate does, and keep its scores; `text()` is what to write to a file.

    >>> kept = keep_scores({"q1": {"d1": 1}}, {"q1": ["d2", "d1"]}, ["RR"])
    >>> kept.measures, kept.values.tolist()
    (['RR'], [[0.5]])
    """
    policy, only = split_queries(queries)
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    return score_run(judgments, open_run(run, columns=columns), measures, settings, progress)


def score_run(
    qrels: Qrels, run: Any, measures: MeasureLike | Iterable[MeasureLike], settings: Settings, progress: Progress
) -> SavedScores:
    """Evaluate a run, and keep its scores; measures are named as they print, whatever they were called."""
    by_name = {str(measure): measure for measure in parse_all(measures).values()}
    scores = evaluate_run(qrels, run, by_name, settings, progress).scores()
    progress(scores.name, 1.0)
    policies = {name: value for name, value in asdict(settings).items() if name not in ("seed", "threads")}
    policies |= {"seed": settings.seed} if settings.ties == "random" else {}
    columns = (list(scores.measures), list(scores.queries), scores.values, tuple(scores.notes))
    return SavedScores(scores.name, policies, digest(qrels), *columns)


def digest(qrels: Qrels) -> str:
    """Return a digest of judgments that does not depend on the order of lines."""
    digested = hashlib.sha256()
    every = [qrels] if qrels.excluded is None else [qrels, qrels.excluded]  # which makes other scores, too
    for judged in every:
        for query in sorted(judged.queries):
            digested.update(json.dumps([query, sorted(judged.labels(query).items())]).encode())
    return digested.hexdigest()


def is_saved(source: Source) -> bool:
    """Return whether this is a file of saved scores, by how it begins."""
    try:
        return HEAD.match(source.start(200)) is not None
    except InputError:
        return False  # whoever reads it as a run says what is wrong


def read_saved(source: Source) -> SavedScores:
    """Read saved scores; refuse what is broken."""
    path = source.name
    try:
        content = json.loads(source.text())
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as saved scores: {error}") from None
    if content.get("version") != VERSION:
        raise InputError(f"{path}: saved scores of version {content.get('version')!r}; this reads version {VERSION}")
    try:
        rows, measures = content["values"], content["measures"]
        values = np.asarray([[_finite(value) for value in row] for row in rows.values()], np.float64)
        values = values.reshape(len(rows), len(measures))
        return SavedScores(
            content["run"], content["settings"], content["judgments"], measures, list(rows), values, path=path
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: broken saved scores ({type(error).__name__}: {error}): save them again") from None


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no value of a measure")
    return value


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
class Gate(Result):
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

    def __bool__(self) -> bool:
        """Return whether it passed."""
        return self.passed

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the verdict and the table."""
        return [self.summary(), self.table()]

    def remarks(self) -> list[str]:
        """Return how it was decided."""
        return [self.caption()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {
            "passed": self.passed,
            "summary": self.summary(),
            "caption": self.caption(),
            "measures": [change._asdict() for change in self.changes],
            "losers": {change.measure: self.losers(change.measure).records() for change in self.changes},
            "notes": self._list_notes(),
        }

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

    def losers(self, measure: str, most: int = LOSERS, queries_text: Texts | None = None) -> Table:
        """Return the queries that lost most by a measure, the worst first, with their texts where these are given."""
        at = list(self.pairwise.measures).index(measure)
        new, old = self.pairwise.values[at].T
        order = np.lexsort([np.asarray(self.queries), -(old - new)])[:most].tolist()
        rows: list[list[Cell]] = [
            [self.queries[i], float(old[i]), float(new[i]), float(old[i] - new[i])]
            for i in order
            if old[i] - new[i] > SAME
        ]
        header = ["query", "old", "new", "drop"]
        if queries_text is None:
            return Table(header, rows)
        texts = select_texts(queries_text, [str(row[0]) for row in rows])
        return Table([*header, "text"], [[*row, texts.get(str(row[0]), "")] for row in rows])

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


def _verdict(change: Change) -> str:
    if change.failed:
        return "failed"
    if change.exceeds:
        return "not tested" if change.p is None else "not significant"
    return "within limit" if change.drop > SAME else "not worse"


def gate(
    qrels: Any,
    new: Any,
    baseline: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    max_drop: float | Mapping[str, float] = 0.0,
    strict: bool = False,
    alpha: float = 0.05,
    test: str = "t",
    correction: str = "holm",
    resamples: int = RESAMPLES,
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
) -> Gate:
    """Decide whether a new run is worse than a baseline by more than `max_drop`, and significantly so.

    `baseline` is a run, or what an earlier gate saved: a path to it, or `Gate.saved`. `max_drop` says how much a mean
    may fall: a number, or {measure: number}; measures that are not named there may not fall. With `strict`, a drop
    fails where it exceeds its limit, significant or not. `correction` is over the measures. The rest is as in compare.
    """
    design = Design(test, correction, alpha, seed, resamples, family="all").settle()
    policy, only = split_queries(queries)
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    limits = check_limits(max_drop, measures)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    source = Source(baseline) if isinstance(baseline, str | os.PathLike) else None  # held, since it may be a pipe
    earlier = baseline if isinstance(baseline, SavedScores) else None
    if source is not None and is_saved(source):
        earlier = read_saved(source)
    scores = score_run(judgments, open_run(new, columns=columns), measures, settings, progress)
    if earlier is None:
        earlier = score_run(judgments, open_run(baseline, columns=columns), measures, settings, progress)
    return decide(scores, earlier, limits, design, strict=strict)


def decide(new: SavedScores, old: SavedScores, limits: dict[str, float], design: Design, *, strict: bool) -> Gate:
    """Decide by the scores of both runs on the queries that both have."""
    old.check(new)
    at = {query: i for i, query in enumerate(old.queries)}
    rows = [i for i, query in enumerate(new.queries) if query in at]
    queries = [new.queries[i] for i in rows]
    if not queries:
        raise DataError("the two runs have no query in common")
    tables = (new.columns(list(limits))[rows], old.columns(list(limits))[[at[query] for query in queries]])
    names = [new.name, old.name] if new.name != old.name else [f"{new.name} (new)", f"{old.name} (old)"]
    values, mean = np.stack([table.T for table in tables], axis=2), np.asarray([means(table) for table in tables]).T
    pairwise = Pairwise(values, mean, names, list(limits), design)
    notes = [
        *_note_left_out(new, old, queries),
        *new.notes,
        *(Note(note.kind, note.count, note.of, f"baseline: {note}") for note in old.notes),
        *note_tests(pairwise),
        *_weak(pairwise, limits),
    ]
    return Gate(_changes(pairwise, limits, strict=strict), pairwise, queries, new, strict, notes)


def _note_left_out(new: SavedScores, old: SavedScores, queries: list[str]) -> list[Note]:
    names = sorted({*new.queries, *old.queries} - {*queries})
    text = "{are} not in both runs and {are} left out"
    return note_names("uncommon", len(names), len(names) + len(queries), "query", text, names)


def _changes(pairwise: Pairwise, limits: dict[str, float], *, strict: bool) -> list[Change]:
    """Return what became of each measure; a pair of the test is the new run minus the old one."""
    pairs = {pair.measure: pair for pair in pairwise.rows()}
    changes = []
    for (measure, limit), (new, old) in zip(limits.items(), pairwise.means.tolist(), strict=True):
        pair = pairs.get(measure)
        exceeds, significant = old - new - limit > SAME, pair is not None and pair.significant
        changes.append(
            Change(
                measure,
                old,
                new,
                drop=old - new,
                limit=limit,
                low=None if pair is None or pair.high is None else -pair.high,
                high=None if pair is None or pair.low is None else -pair.low,
                p=None if pair is None else pair.p,
                adjusted=None if pair is None else pair.adjusted,
                losses=int(old > new) if pair is None else pair.losses,
                exceeds=exceeds,
                significant=significant,
                failed=exceeds and (strict or significant),
            )
        )
    return changes


def _weak(pairwise: Pairwise, limits: dict[str, float]) -> list[Note]:
    """Say where so few queries would hardly show a drop that is not allowed."""
    rows = plan_pairs(pairwise, None, POWER, "none").rows
    weak = [row for row in rows if row.detectable is not None and row.detectable > limits[row.measure]]
    least = ", ".join(f"{row.measure} {row.detectable:.4f}" for row in weak)
    queries = count_of(pairwise.values.shape[1], "query")
    text = f"with {queries}, a drop below these sizes would be missed too often (power {POWER:g}): {least}"
    return [Note("weak", len(weak), len(limits), text)] if weak else []


def check_limits(
    max_drop: float | Mapping[str, float], measures: MeasureLike | Iterable[MeasureLike]
) -> dict[str, float]:
    """Return the limit of each measure by its name; refuse what is no limit, or of no measure at hand."""
    names = list(dict.fromkeys(str(measure) for measure in parse_all(measures).values()))
    single = {str(parse(name)): limit for name, limit in max_drop.items()} if isinstance(max_drop, Mapping) else {}
    unknown = next((name for name in single if name not in names), None)
    if unknown is not None:
        raise DataError(f"a limit is given for {unknown}, which is not measured: add it to {', '.join(names)}")
    usual = 0.0 if isinstance(max_drop, Mapping) else max_drop
    limits = {name: single.get(name, usual) for name in names}
    for name, limit in limits.items():
        if not (isinstance(limit, int | float) and limit >= 0 and isfinite(limit)):
            raise DataError(f"how much {name} may fall is a number from 0 on, like 0.01; found {limit!r}")
    return limits
