"""Leaderboard: several runs evaluated on the same topics, best first."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from gradely.data import Qrels, read_qrels
from gradely.data.types import Bools, Floats
from gradely.errors import DataError
from gradely.evaluation.evaluate import Evaluation, Policies, about, evaluation
from gradely.evaluation.scores import Note, Scores, TieRange, means
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all

Steps: TypeAlias = Callable[[str, float], None]
"""told the name of a run and how much of it is done, from 0 to 1; 1 is told once"""


def ignore(name: str, done: float) -> None:
    """Report to nobody."""


@dataclass(eq=False, repr=False)
class Leaderboard:
    """Runs by name, evaluated; the first measure orders them."""

    qrels: Qrels
    measures: dict[str, Measure]
    policies: Policies
    runs: Mapping[str, Any]
    evaluations: dict[str, Evaluation]

    @cached_property
    def names(self) -> list[str]:
        """The runs, best first by the first measure; equal ones by name."""
        first = {name: mean[0] for name, mean in self._means.items()}
        return sorted(first, key=lambda name: (-first[name], name))

    @cached_property
    def _common(self) -> tuple[Bools, tuple[str, ...]]:
        """Which judged queries every run answers, and the queries without judgments that all have."""
        every = [each.hits for each in self.evaluations.values()]
        unjudged = set(every[0].unjudged).intersection(*(hits.unjudged for hits in every))
        return np.all([hits.answered for hits in every], axis=0), tuple(q for q in every[0].unjudged if q in unjudged)

    def restricted(self, each: Evaluation) -> Evaluation:
        """Return an evaluation of a run as if it had only the queries that count for every run."""
        if self.policies.queries == "qrels":
            return each
        answered, unjudged = self._common
        return replace(each, hits=each.hits._replace(answered=answered, unjudged=unjudged))

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """The scores of each run, all on the same queries."""
        found = {name: self.restricted(each).scores() for name, each in self.evaluations.items()}
        if not len(next(iter(found.values())).queries):
            raise DataError("the runs have no query in common; with queries='qrels' missing ones count 0")
        return found

    @cached_property
    def queries(self) -> list[str]:
        """The topics: the queries that count for every run."""
        return list(next(iter(self.scores.values())).queries)

    @cached_property
    def _means(self) -> dict[str, list[float]]:
        return {name: means(scores.values) for name, scores in self.scores.items()}

    @cached_property
    def means(self) -> Floats:
        """[measures, systems] the means over the topics."""
        return np.asarray([self._means[name] for name in self.names]).T

    @cached_property
    def values(self) -> Floats:
        """[measures, topics, systems] the values."""
        return np.stack([self.scores[name].values.T for name in self.names], axis=2)

    @cached_property
    def tie_ranges(self) -> dict[str, dict[str, TieRange]]:
        """How far each mean moves with the order of ties, by run and measure; what does not move is left out."""
        return {name: {each.measure: each for each in self.scores[name].tie_ranges} for name in self.names}

    @cached_property
    def notes(self) -> list[Note]:
        """What happened to queries and documents, with the name of the run."""
        several = [(name, note) for name in self.names for note in self.evaluations[name].notes()]
        return self._left_out() + [Note(note.kind, note.count, note.of, f"{name}: {note}") for name, note in several]

    def _left_out(self) -> list[Note]:
        every = {query: None for each in self.evaluations.values() for query in each.queries}
        lost = [query for query in every if query not in set(self.queries)]
        return about("uncommon", len(lost), len(every), "queries do not count for every run and are left out", lost)


def evaluate_all(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: MeasureLike | Iterable[MeasureLike],
    policies: Policies,
    progress: Steps = ignore,
) -> Leaderboard:
    """Evaluate several runs, {name: run}; a run may be a function that opens it."""
    named, judgments = parse_all(measures), read_qrels(qrels, threads=policies.threads)
    evaluations, several = {}, check_runs(runs)
    for name, run in several.items():
        given = run() if callable(run) else run
        evaluations[name] = evaluation(judgments, given, named, policies, partial(_reading, progress, name))
        progress(name, 1.0)
    return Leaderboard(judgments, named, policies, several, evaluations)


def _reading(progress: Steps, name: str, done: float) -> None:
    """Report all but the end, which comes once, when the run is evaluated."""
    if done < 1:
        progress(name, done)


def check_runs(runs: Any) -> Mapping[str, Any]:
    """Return runs by name; refuse anything else."""
    if not isinstance(runs, Mapping) or not runs:
        raise DataError("give the runs by name: {'bm25': 'bm25.run', 'dense': {'q1': {'d1': 0.9}}}")
    return {str(name): run for name, run in runs.items()}
