"""overlap: the similarity of the rankings of runs on each query, without judgments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from gradely.comparison.charts import altair, squares, style
from gradely.comparison.kendall import defined_or_none
from gradely.comparison.similarities import Ranking, Similarity, SimilarityLike, parse_all
from gradely.data import Run
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, as_text
from gradely.data.qrels import values_of
from gradely.errors import DataError, clip, did_you_mean
from gradely.evaluation.evaluate import Progress, ignore, name_runs, open_as
from gradely.evaluation.notes import SAME, Note, note_names
from gradely.evaluation.result import Records, Result, Section
from gradely.lazy import Chart
from gradely.settings import DuplicatePolicy, Settings, is_number
from gradely.tables import Cell, Table, count_of

DEFAULT = ("RBO", "tau", "tau_AP", "Jaccard@10")
"""the default measures"""


@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Records):
    """The similarities of the rankings of runs, as means over their common queries."""

    runs: list[str]
    queries: list[str]
    measures: dict[str, Similarity]
    values: Floats
    """[measures, queries, runs, runs]; NaN if a measure is undefined, and on the diagonal"""
    depth: int | None
    notes: list[Note]

    def mean(self) -> dict[str, Floats]:
        """Return {measure: [runs, runs]}, the means over the queries on which it is defined; NaN if there are none."""
        defined = ~np.isnan(self.values)
        sums = np.where(defined, self.values, 0.0).sum(axis=1)
        counts = defined.sum(axis=1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return dict(zip(self.measures, means, strict=True))

    def by_query(self) -> "QueryOverlap":
        """Return the values on each query, as `gradely overlap --by-query` prints them."""
        return QueryOverlap(self)

    def pairs(self, measure: str) -> Iterator[tuple[int, int]]:
        """Yield the pairs of runs for which a measure has a value, in both directions if it is not symmetric."""
        for i, j in combinations(range(len(self.runs)), 2):
            yield i, j
            if not self.measures[measure].is_symmetric:
                yield j, i

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per measure and pair of runs."""
        return [
            {"measure": name, "run": self.runs[i], "other": self.runs[j], "mean": defined_or_none(means[i, j])}
            for name, means in self.mean().items()
            for i, j in self.pairs(name)
        ]

    def tables(self) -> list[Table]:
        """Return a matrix of runs for each measure; for two runs, one table with all measures."""
        if len(self.runs) == 2:
            return [Table.of(self.records())]
        return [
            Table(
                [name, *self.runs],
                [[run, *map(defined_or_none, row)] for run, row in zip(self.runs, means.tolist(), strict=True)],
            )
            for name, means in self.mean().items()
        ]

    def sections(self, digits: int) -> list[Section]:
        """Return the most and the least similar runs, and the tables."""
        answer = self.answer(digits)
        return [*([answer] if answer else []), *self.tables()]

    def answer(self, digits: int = 4) -> str:
        """Return the most and the least similar runs by the first measure; '' if all pairs are equally similar."""
        name, means = next(iter(self.mean().items()))
        both = (means + means.T) / 2  # of a measure that has a reference, the mean of both ways
        found = {(i, j): both[i, j] for i, j in combinations(range(len(self.runs)), 2) if not np.isnan(both[i, j])}
        if len(found) < 2 or max(found.values()) - min(found.values()) <= SAME:
            return ""
        most, least = (self._name_extreme(found, extreme, digits) for extreme in (max, min))
        return f"By {name}, the most similar are {most}; the least similar are {least}."

    def _name_extreme(self, found: Mapping[tuple[int, int], float], extreme: Any, digits: int) -> str:
        """Return the pair of runs with an extreme value, or the number of such pairs, and the value."""
        value = extreme(found.values())
        pairs = [pair for pair, other in found.items() if abs(other - value) <= SAME]
        names = " and ".join(self.runs[i] for i in pairs[0]) if len(pairs) == 1 else f"{len(pairs):,} pairs of runs"
        return f"{names} ({value:.{digits}f})"

    def summary(self) -> str:
        """Return the number of queries that the means are over."""
        depth = f", to depth {self.depth:,}" if self.depth else ""
        return f"means over {count_of(len(self.queries), 'query')}{depth}"

    def kinds(self) -> list[str]:
        """Return a description of each measure."""
        return [*dict.fromkeys(f"{similarity.name}: {similarity.title}" for similarity in self.measures.values())]

    def remarks(self) -> list[str]:
        """Return the caption, and a description of each measure."""
        return [self.summary(), *self.kinds()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, including the values on each query."""
        return {
            "about": self.summary(),
            "runs": self.runs,
            "queries": self.queries,
            "values": self.records(),
            "by_query": self.by_query().records(),
            "notes": self._list_notes(),
        }

    def chart(self) -> Chart:
        """Return an Altair chart with a heat map of the runs for each measure; similar runs are darker."""
        panels = []
        for name, means in self.mean().items():
            records = [
                {"run": run, "other": other, "mean": defined_or_none(means[i, j])}
                for i, run in enumerate(self.runs)
                for j, other in enumerate(self.runs)
            ]
            panels.append(squares(records, "run", "other", "mean", "overlap", self.runs).properties(title=name))
        return style(altair().concat(*panels, columns=2))


@dataclass(frozen=True, eq=False, repr=False)
class QueryOverlap(Result):
    """How similar the rankings of runs are on each query."""

    overlap: Overlap

    @property
    def notes(self) -> list[Note]:
        """The notes of the means."""
        return self.overlap.notes

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per query and pair of runs, with a column for each measure."""
        runs, values = self.overlap.runs, dict(zip(self.overlap.measures, self.overlap.values, strict=True))
        pairs = dict.fromkeys(pair for name in values for pair in self.overlap.pairs(name))
        return [
            {"query": query, "run": runs[i], "other": runs[j]}
            | {name: defined_or_none(table[q, i, j]) for name, table in values.items()}
            for q, query in enumerate(self.overlap.queries)
            for i, j in sorted(pairs)
        ]

    def table(self) -> Table:
        """Return one row per query and pair of runs."""
        return Table.of(self.records())

    def remarks(self) -> list[str]:
        """Return a description of the numbers."""
        return self.overlap.kinds()

    def chart(self) -> Chart:
        """Return the chart of the means."""
        return self.overlap.chart()


def overlap(
    runs: Mapping[str, Any] | Iterable[Any],
    measures: SimilarityLike | Iterable[SimilarityLike] = DEFAULT,
    *,
    depth: int | None = None,
    queries: Iterable[Any] | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
) -> Overlap:
    """Compare the rankings of runs on the same queries; no judgments are needed.

    `runs` is {name: run} or paths, at least two. `measures` are names like "RBO", "RBO(p=0.95, score='min', ties='b')",
    "tau", "tau_AP" and "Jaccard@10"; all take a cut-off. `depth` truncates every ranking. Means are over the queries
    that all runs have, or those of `queries`. RBO, τ_AP and Jaccard are exact means over all orders of tied documents.
    `columns`, `duplicates` and `document_pattern` are as in read_run.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "a", "d"]}}
    >>> print(overlap(runs, ["RBO(p=0.5)", "Jaccard@3"]))
    measure     run   other    mean
    ──────────  ────  ─────  ──────
    RBO(p=0.5)  bm25  dense  0.4167
    Jaccard@3   bm25  dense  0.5000
    <BLANKLINE>
    means over 1 query
    RBO: rank-biased overlap
    Jaccard: shared documents divided by all documents
    """
    given = name_runs(runs)  # before the measures, since two runs may be given instead of {name: run}
    named = parse_all(measures)
    if depth is not None and (not isinstance(depth, Integral) or not is_number(depth) or depth < 1):
        raise DataError(f"depth must be a whole number of at least 1; found {depth!r}")
    settings = Settings(duplicates=duplicates, document_pattern=document_pattern)
    opened = {name: open_as(run, columns, settings) for name, run in given.items()}
    if len(opened) < 2:
        raise DataError("at least 2 runs are needed to see how similarly they rank; name another one")
    shared, notes = share_queries(opened, queries)
    values = np.full((len(named), len(shared), len(opened), len(opened)), np.nan)
    for q, query in enumerate(shared):
        places = [ranking.top(depth) for ranking in rank(query, list(opened.values()))]
        for m, similarity in enumerate(named.values()):
            values[m, q] = compare_all(similarity, places)
        for name in opened:
            progress(name, (q + 1) / len(shared))
    notes += [Note("run", 1, 1, text) for run in opened.values() for text in run.notes]
    notes += note_undefined(named, values)
    return Overlap(list(opened), shared, named, values, depth, notes)


def share_queries(runs: Mapping[str, Run], queries: Iterable[Any] | None) -> tuple[list[str], list[Note]]:
    """Return the queries that all runs have, in the order of the first run, and the number of other queries."""
    rankings = [dict.fromkeys(str(query) for query, scores in run.scores.items() if scores) for run in runs.values()]
    wanted = None if queries is None else dict.fromkeys(as_text(query, "queries") for query in queries)
    every = dict.fromkeys(query for ranking in rankings for query in ranking) if wanted is None else wanted
    if wanted is not None:
        unknown = next((query for query in wanted if not any(query in ranking for ranking in rankings)), None)
        if unknown is not None:
            raise DataError(f"queries: no run has {clip(unknown)}.{did_you_mean(unknown, rankings[0])}")
    shared = [query for query in every if all(query in ranking for ranking in rankings)]
    if not shared:
        firsts = [
            f"{clip(next(iter(ranking)))} in {name}" for name, ranking in zip(runs, rankings, strict=True) if ranking
        ]
        examples = f": they are called {', '.join(firsts[:2])}" if firsts else ", and no documents"
        raise DataError(f"the runs have no query in common{examples}")
    left_out = [query for query in every if query not in set(shared)]
    text = "{are} not in every run and {are} left out"
    return shared, [*note_names("missing", len(left_out), len(every), "query", text, left_out)]


def rank(query: str, runs: Sequence[Run]) -> list[Ranking]:
    """Return the rankings of a query over the documents of all runs."""
    number: dict[str, int] = {}
    found = []
    for run in runs:
        scores, where = run.scores[query], f"{run.where}: query {clip(query)}"
        values = values_of([scores], lambda _, doc, where=where: f"{where}, document {clip(str(doc))}: the score")  # type: ignore[misc]
        among = [number.setdefault(as_text(doc, where), len(number)) for doc in scores]
        found.append((values, np.asarray(among)))
    return [Ranking.of(values, among, len(number)) for values, among in found]


def compare_all(similarity: Similarity, places: Sequence[Ranking]) -> Floats:
    """Return the matrix of similarities of all pairs of rankings, with NaN on the diagonal."""
    values = np.full((len(places), len(places)), np.nan)
    for i, j in combinations(range(len(places)), 2):
        values[i, j] = similarity(places[i], places[j])
        values[j, i] = values[i, j] if similarity.is_symmetric else similarity(places[j], places[i])
    return values


def note_undefined(measures: Mapping[str, Similarity], values: Floats) -> Iterator[Note]:
    """Yield notes on measures that are undefined for some rankings."""
    i, j = np.triu_indices(values.shape[-1], 1)
    for (name, similarity), table in zip(measures.items(), values, strict=True):
        undefined: Bools = np.isnan(table[:, i, j])
        count = int(np.count_nonzero(undefined))
        if count:
            pairs = f"{count:,} of {count_of(undefined.size, 'pair')} of rankings"
            why = f"{pairs} with {similarity.undefined}"
            yield Note("undefined", count, undefined.size, f"{name} is undefined for {why}; its means leave them out")
