"""Systems: many runs against the same judgments, evaluated together."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradely.data import Hits, Qrels, Report, Rule, locate, open_run, read_qrels, run_names
from gradely.data.read.files import ignore
from gradely.data.types import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.evaluation.evaluate import Evaluation, about
from gradely.evaluation.scores import Note
from gradely.measures import Measure
from gradely.settings import check_precision, check_ties
from gradely.threads import cores


@dataclass(frozen=True, eq=False)
class Systems:
    """The hits of all systems in one table; what is known of a query is there once a system."""

    qrels: Qrels
    names: list[str]
    system: Ints
    """[hits] the system that each hit is of"""
    hits: Hits
    """query and row are those of the judgments; retrieved and answered are [systems × queries]"""
    ties: str
    judged_only: bool
    threads: int

    def values(self, measures: Mapping[str, Measure]) -> Floats:
        """Return [systems, topics, measures]; topics that a system lacks count 0."""
        size, judgments = len(self.names), len(self.qrels.grade)
        ends = self.qrels.start[1:] + judgments * np.arange(size)[:, None]
        pools = Qrels(
            list(self.qrels.queries) * size,
            np.concatenate([[0], ends.ravel()]),
            (),
            np.tile(self.qrels.grade, size),
        )
        hits = self.hits._replace(
            query=self.hits.query + self.system * len(self.qrels), row=self.hits.row + self.system * judgments
        )
        every = Evaluation(pools, hits, dict(measures), self.ties, "qrels", self.judged_only, "", self.threads)
        return every.table.reshape(size, len(self.qrels), len(measures))

    def with_pools(self, kept: Bools) -> "Systems":
        """Return the systems as if only these judgments had been made; other documents keep their places."""
        start = np.concatenate([[0], np.cumsum(kept)])
        pools = Qrels(self.qrels.queries, start[self.qrels.start], (), self.qrels.grade[kept], self.qrels.name)
        some = kept[self.hits.row]
        query, above, tied = (each[some] for each in (self.hits.query, self.hits.above, self.hits.tied))
        place = None if self.hits.place is None else self.hits.place[some]
        hits = self.hits._replace(query=query, row=start[self.hits.row[some]], above=above, tied=tied, place=place)
        return replace(self, qrels=pools, hits=hits, system=self.system[some])

    def notes(self) -> list[Note]:
        """Return which systems lack topics, and which topics have nothing to find."""
        lacking = np.flatnonzero(~self.hits.answered.reshape(len(self.names), -1).all(axis=1)).tolist()
        found = np.concatenate([[0], np.cumsum(self.qrels.grade > 0)])[self.qrels.start]
        empty = np.flatnonzero(np.diff(found) == 0).tolist()
        lack, none = "runs lack some of the topics, which count 0", "topics have no relevant document and score 0"
        return [
            *about("missing", len(lacking), len(self.names), lack, [self.names[i] for i in lacking]),
            *about("degenerate", len(empty), len(self.qrels), none, [self.qrels.queries[i] for i in empty]),
        ]


def read_systems(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    *,
    ties: str = "expected",
    judged_only: bool = False,
    precision: str = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Report = ignore,
) -> Systems:
    """Find where the judged documents landed in every run: {name: run}, or paths, which are named by their files."""
    check_ties(ties)
    check_precision(precision)
    judgments, rule = read_qrels(qrels, threads=threads), Rule(ties, seed, precision == "single")
    named = runs if isinstance(runs, Mapping) else _by_name(runs)
    if len(named) < 2:
        raise DataError("to compare rankings of systems takes at least 2 runs")
    found = []
    for i, run in enumerate(named.values()):
        found.append(locate(judgments, open_run(run), rule, threads))
        progress((i + 1) / len(named))
    system = np.repeat(np.arange(len(found)), [len(hits.query) for hits in found])
    return Systems(judgments, list(named), system, _joined(found), ties, judged_only, threads or cores())


def _by_name(runs: Iterable[Any]) -> dict[str, str]:
    """Return paths by the names of their files."""
    try:
        paths = [os.fspath(run) for run in ([] if isinstance(runs, str | os.PathLike) else runs)]
    except TypeError:
        raise DataError("give several runs as {name: run}, or as paths") from None
    return dict(zip(run_names(paths), paths, strict=True))


def _joined(found: list[Hits]) -> Hits:
    query, row, above, tied, retrieved, answered = (
        np.concatenate([getattr(hits, field) for hits in found])
        for field in ("query", "row", "above", "tied", "retrieved", "answered")
    )
    places = [hits.place for hits in found if hits.place is not None]
    return Hits(query, row, above, tied, np.concatenate(places) if places else None, retrieved, answered, ())
