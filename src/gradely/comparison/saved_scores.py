"""Scores in a file, so that a run can be compared with later ones without being kept."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Qrels, open_run
from gradely.data.query_selection import read_selected, split_queries
from gradely.data.read.sources import Source
from gradely.data.types import Floats
from gradely.errors import DataError, InputError
from gradely.evaluation.notes import Note
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_run, ignore
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy

VERSION = 1
"""of the format of the file"""
HEAD = re.compile(rb'\s*\{\s*"gradely"\s*:\s*"scores"')
AGAIN = "evaluate the old run again, or save its scores again"


class SavedScores(NamedTuple):
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
