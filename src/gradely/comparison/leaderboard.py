"""Leaderboard: runs by name, on the queries that count for all of them, best first."""

from functools import cached_property
from itertools import combinations
from math import hypot

import numpy as np

from gradely.comparison.pairwise import Design, Pairwise
from gradely.data.hits import Unjudged
from gradely.data.ids import Floats
from gradely.errors import DataError
from gradely.evaluation.evaluate import Evaluations
from gradely.evaluation.notes import Note, TieRange, UnjudgedShare, note_names, span_shares
from gradely.evaluation.scores import Scores, flatten, means
from gradely.measures.names import parse_all


class Leaderboard:
    """Runs by name on the queries that count for all of them, ordered by the first measure."""

    subject = "run"
    """what the rows of tables are"""
    knows_ties = True
    """whether the range of the means over the order of ties is known"""

    def __init__(self, results: Evaluations) -> None:
        """Keep the results, each on its own queries; `common` has the results on the queries that all runs share."""
        self.results, self.common = results, take_common_queries(results)
        self.qrels, self.measures, self.settings = results.qrels, results.measures, results.settings
        self.evaluations = results.evaluations

    @cached_property
    def _ordered(self) -> dict[str, Scores]:
        """The scores of each run, best first by the first measure; runs with equal means by name."""
        first = next(iter(self.measures))
        return dict(sorted(self.common.items(), key=lambda item: (-item[1][first], item[0])))

    @cached_property
    def names(self) -> list[str]:
        """The runs, best first by the first measure; runs with equal means by name."""
        return list(self._ordered)

    @cached_property
    def queries(self) -> list[str]:
        """The queries that count for every run."""
        return list(next(iter(self._ordered.values())).queries)

    @cached_property
    def means(self) -> Floats:
        """[measures, runs] the means over the queries."""
        return np.asarray([list(scores.mean().values()) for scores in self._ordered.values()]).T

    @cached_property
    def values(self) -> Floats:
        """[measures, queries, runs] the values."""
        return np.stack([scores.values.T for scores in self._ordered.values()], axis=2)

    def pairwise(self, design: Design) -> Pairwise:
        """Return the pairs of runs under a design."""
        bounds = [measure.bounds for measure in self.measures.values()]
        return Pairwise(self.values, self.means, self.names, list(self.measures), design, bounds, self.weights)

    @cached_property
    def weights(self) -> Floats | None:
        """The weights of the queries, with mean 1; None if all count alike."""
        return next(iter(self._ordered.values())).weights

    def measure(self, name: str, measure: str) -> float:
        """Return the mean of a run by any measure, even one that the leaderboard does not have."""
        table = self.common.evaluations[name].with_measures(parse_all([measure])).table
        (mean,) = means(table, self.weights)
        return mean

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases accept, like bm25/nDCG_10."""
        return self.common.flat(prefix)

    @cached_property
    def tie_ranges(self) -> dict[str, dict[str, TieRange]]:
        """{run: {measure: range}} of the means that depend on the order of ties."""
        return {name: {span.measure: span for span in self.common[name].tie_ranges} for name in self.names}

    def span_ties(self, name: str, measure: str, mean: float) -> tuple[float, float]:
        """Return the mean of a run in the worst and the best order of ties."""
        moved = self.tie_ranges[name].get(measure)
        return (moved.low, moved.high) if moved else (mean, mean)

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on queries and documents; ties have their own columns."""
        return [*note_left_out(self.results, self.common), *self.results.data_notes, *note_drawn(self.common)]

    def note_unjudged(self) -> list[Note]:
        """Note the unjudged shares, which make a run look worse than one that contributed to the judgments."""
        return span_shares({name: self.unjudged_share(name) for name in self.names})

    def unjudged_share(self, name: str) -> UnjudgedShare | None:
        """Return the share of unjudged documents in the top of a run; None if it is unknown."""
        return self.common[name].unjudged_share


def flatten_means(board: Leaderboard, prefix: str) -> dict[str, float]:
    """Return {name/measure: mean} for the means of a leaderboard, with names that loggers of metrics take."""
    rows = zip(board.names, board.means.T.tolist(), strict=True)
    return flatten(
        (((name, measure), mean) for name, row in rows for measure, mean in zip(board.measures, row, strict=True)),
        prefix,
    )


def take_common_queries(results: Evaluations) -> Evaluations:
    """Return the results on the queries that count for every run, which makes the means comparable."""
    if results.settings.queries == "qrels":
        return results
    hits = [evaluation.hits for evaluation in results.evaluations.values()]
    answered = np.all([one.answered for one in hits], axis=0)
    unjudged = Unjudged()
    if results.settings.counts_unjudged:
        everywhere = set.intersection(*(set(one.unjudged.names) for one in hits))
        names = [query for query in hits[0].unjudged.names if query in everywhere]
        unjudged = Unjudged.of(names, results.settings)
    common = {name: evaluation.with_queries(answered, unjudged) for name, evaluation in results.evaluations.items()}
    if not len(next(iter(common.values())).queries):
        raise DataError("the runs have no query in common; by the query policy qrels, missing queries count as 0")
    return Evaluations(results.qrels, results.measures, results.settings, common)


def note_drawn(results: Evaluations) -> list[Note]:
    """Note the differences between means that may be due to the sampled orders of tied documents."""
    if results.settings.ties != "sampled":
        return []
    notes = []
    errors = {name: scores.sampling_error() for name, scores in results.items()}
    for measure in results.measures:
        close = []
        for a, b in combinations(results, 2):
            error = hypot(errors[a].get(measure, 0.0), errors[b].get(measure, 0.0))
            if error and abs(results[a][measure] - results[b][measure]) <= 2 * error:
                close.append(f"{a} and {b}")
        pairs = len(results) * (len(results) - 1) // 2
        text = "{are} within two standard errors of the sampled orders of ties; a different seed may change their order"
        notes += note_names("sampled", len(close), pairs, f"{measure} difference", text, close)
    return notes


def note_left_out(results: Evaluations, common: Evaluations) -> list[Note]:
    """Note the queries that do not count for every run."""
    if common is results:
        return []
    every = {query: None for evaluation in results.evaluations.values() for query in evaluation.queries}
    queries = set(next(iter(common.evaluations.values())).queries)
    lost = [query for query in every if query not in queries]
    text = "{do} not count for every run and {are} left out"
    return note_names("uncommon", len(lost), len(every), "query", text, lost)
