"""Runs measured by human labels and by a judge's: their common queries, the values by both, and tests of pairs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Estimates, Intervals, keep_within
from gradely.comparison.leaderboard import Leaderboard, flatten_means
from gradely.comparison.pairwise import Design, Estimated
from gradely.comparison.regression import FEWEST, JudgedMeans, Sample, check_choices, regress
from gradely.comparison.tests import DIGITS, Pairs, all_pairs
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.selection import name_queries, only_queries, read_selected
from gradely.errors import DataError, clip
from gradely.evaluation.evaluate import Evaluations, Progress, name_runs, open_runs
from gradely.evaluation.notes import Note, TieRange, merge_notes, note_names
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Settings
from gradely.tables import count_of

ALIKE = 0.9
"""a note lists queries where people and the judge share a smaller part of the judged documents"""
UNLIKE = 1.5
"""a note says if the judge labelled more documents per human-labelled query than per other query, or fewer, by this
factor"""

WEIGHTED = "weights of queries are not available with the labels of a judge: leave them out, or the judge"


class JudgedRuns(NamedTuple):
    """The values of several runs by human labels on n queries, and by a judge's labels on N queries."""

    names: list[str]
    """the names of the runs in the order of the input"""
    results: Evaluations
    """the results by human labels"""
    human: Floats
    """[measures, n, runs] values by human labels"""
    judged: Floats
    """[measures, N, runs] values by the judge's labels"""
    queries: list[str]
    """the n queries that people judged"""
    every: list[str]
    """the N queries that the judge labelled"""
    segments: Mapping[str, str] | None
    """the segment of each of the N queries, with `by`"""
    notes: list[Note]

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The measures by name."""
        return self.results.measures

    @property
    def settings(self) -> Settings:
        """The settings of the evaluation."""
        return self.results.settings

    @property
    def rows(self) -> Ints:
        """The indices of the n human-labelled queries among the N."""
        at = {query: i for i, query in enumerate(self.every)}
        return np.array([at[query] for query in self.queries], np.int64)

    def sample(self, measure: int) -> Sample:
        """Return the values by one measure, with a column per run."""
        return Sample(self.human[measure], self.judged[measure], self.rows)

    def differences(self, measure: int, pairs: Pairs | None = None) -> Sample:
        """Return the differences by one measure, with a column per pair, by default for all pairs."""
        first, second = all_pairs(len(self.names)) if pairs is None else pairs
        human, judged = self.human[measure], self.judged[measure]
        return Sample(human[:, first] - human[:, second], judged[:, first] - judged[:, second], self.rows)

    def split(self) -> "dict[str, JudgedRuns]":
        """Return the runs on each segment; raise DataError for a segment with too few human-labelled queries."""
        if self.segments is None:
            return {}
        of = np.array([self.segments[query] for query in self.every])
        return {name: self._select(name, of == name) for name in sorted(set(of.tolist()))}

    def _select(self, segment: str, chosen: Bools) -> "JudgedRuns":
        every = list(compress(self.every, chosen.tolist()))
        here = chosen[self.rows]
        if here.sum() < FEWEST:
            raise DataError(
                f"by: people judged {count_of(int(here.sum()), 'query')} of the segment {clip(segment)}, but each "
                f"segment needs at least {FEWEST}: judge more queries, or merge segments"
            )
        queries = list(compress(self.queries, here.tolist()))
        values = self.human[:, here], self.judged[:, chosen]
        return self._replace(human=values[0], judged=values[1], queries=queries, every=every, segments=None, notes=[])

    def order(self, names: list[str]) -> "JudgedRuns":
        """Return the runs in another order."""
        at = [self.names.index(name) for name in names]
        return self._replace(names=names, human=self.human[:, :, at], judged=self.judged[:, :, at])


def judge_runs(
    human: Any,
    judge: Any,
    runs: Any,
    measures: MeasureLike | Any,
    settings: Settings,
    progress: Progress,
    *,
    queries: Any = "qrels",
    columns: Names | None = None,
    by: Any = None,
    exclude: Any = None,
) -> JudgedRuns:
    """Read both qrels, and evaluate the runs against both."""
    only = name_queries(queries)
    every = read_selected(judge, settings, columns, only=only, by=by, exclude=exclude)
    labelled = read_selected(human, settings, columns, exclude=exclude)
    both, notes = match(labelled, every, selected=every.selected or labelled.selected)
    if every.segments is not None:
        _check_segments(every)
    opened = open_runs(name_runs(runs), columns, settings)
    by_name = parse_all(measures)
    results = SeveralQrels({"human": both, "judge": every}).evaluate(opened, by_name, settings, progress)
    labels, its = results["human"], results["judge"]
    about = merge_notes({"human labels": labels.data_notes, "judge": its.data_notes})
    return JudgedRuns(
        list(opened),
        labels,
        stack_values(labels),
        stack_values(its),
        list(labels.qrels.queries),
        list(its.qrels.queries),
        every.segments,
        [*notes, *_note_pools(both, every), *_note_copies(both, every), *about],
    )


def stack_values(results: Evaluations) -> Floats:
    """Return the values [measures, queries, runs]."""
    return np.stack([evaluation.table.T for evaluation in results.evaluations.values()], axis=2)


def match(human: Qrels, judge: Qrels, *, selected: bool = False) -> tuple[Qrels, list[Note]]:
    """Return the human labels of the queries that the judge labelled, with notes; raise DataError if there are too few.

    If queries were selected, there is no note on the others.
    """
    if human.weights is not None or judge.weights is not None:
        raise DataError(WEIGHTED)
    common = [query for query in human.queries if query in judge.index]
    if not common:
        theirs = f"the first are {clip(human.queries[0])} and {clip(judge.queries[0])}"
        raise DataError(f"{human.name} and the judge's {judge.name} have no query in common; {theirs}")
    if len(common) < FEWEST:
        raise DataError(
            f"{human.name}: people judged {count_of(len(common), 'query')} that the judge also labelled, but an "
            f"estimate needs at least {FEWEST}: judge more (`gradely sample` draws them)"
        )
    lost = [query for query in human.queries if query not in judge.index]
    text = "{have} human labels and none of the judge, and {are} left out"
    if len(common) == len(judge):
        text += ", while people judged every query of the judge (are the two swapped?)"
    notes = [] if selected else note_names("unlabelled", len(lost), len(human), "query", text, lost)
    return (only_queries(human, common) if lost else human), notes


def _check_segments(judge: Qrels) -> None:
    """Raise DataError for queries without a segment: an estimate over segments needs the segment of every query."""
    segments = judge.segments or {}
    lacking = [query for query in judge.queries if query not in segments]
    if lacking:
        some = f"{len(lacking):,} of {count_of(len(judge), 'query')}"
        raise DataError(
            f"by: {some} of {judge.name} have no segment, such as {clip(lacking[0])}; every query needs one"
        )


def _note_pools(human: Qrels, judge: Qrels) -> list[Note]:
    """Note queries with different documents labelled by people and the judge, and uneven labelling by the judge."""
    apart = []
    for query in human.queries:
        theirs, its = set(human.documents(query)), set(judge.documents(query))
        if len(theirs & its) < ALIKE * len(theirs | its):
            apart.append(query)
    text = (
        f"{{have}} different documents judged by people and by the judge (less than {ALIKE:.0%} in common), so their "
        "values say less about each other"
    )
    notes = note_names("pools", len(apart), len(human), "human-labelled query", text, apart)
    chosen = np.array([query in human.index for query in judge.queries])
    if chosen.all():
        return notes
    inside, outside = float(judge.sizes[chosen].mean()), float(judge.sizes[~chosen].mean())
    if 1 / UNLIKE <= inside / outside <= UNLIKE:
        return notes
    text = (
        f"the judge labelled {inside:.0f} documents per human-labelled query and {outside:.0f} per other query; an "
        "estimate assumes that it labelled all queries in the same way"
    )
    return [*notes, Note("pools", int(chosen.sum()), len(judge), text)]


def _note_copies(human: Qrels, judge: Qrels) -> list[Note]:
    """Note that the judge never differs from people: its labels may be copies of the human ones."""
    pairs = [
        (label, its[document])
        for query in human.queries
        for its in [judge.judgments(query)]
        for document, label in human.judgments(query).items()
        if document in its
    ]
    if any(label != other for label, other in pairs) or all(label == pairs[0][0] for label, _ in pairs):
        return []
    text = (
        f"the judge gives the same label as people to all {len(pairs):,} documents that both judged; if its labels are "
        "copies of theirs, the judge seems better than it is"
    )
    return [Note("copies", len(pairs), len(pairs), text)]


def check_judged(design: Design, settings: Settings, slope: object, *, weights: Any = None, groups: Any = None) -> None:
    """Raise DataError for options that are not available for human labels combined with a judge's."""
    if weights is not None:
        raise DataError(WEIGHTED)
    if settings.empty != "zero":
        raise DataError(f"empty={settings.empty!r} is not available with the labels of a judge: use 'zero'")
    if groups is not None:
        raise DataError("systems with several runs cannot be compared by the labels of a judge: leave out the judge")
    if design.test != "t":
        raise DataError(
            f"the test {design.test} is not available with the labels of a judge: use t, or leave out the judge"
        )
    if design.simultaneous:
        raise DataError(
            "simultaneous intervals are not available with the labels of a judge: leave them out, or the judge"
        )
    check_choices("like", slope)


@dataclass(eq=False, repr=False)
class JudgedPairs(Estimated):
    """Pairs of runs tested by human labels and a judge's; `values` are by human labels."""

    judged: JudgedRuns = field(kw_only=True)
    slope: object = "auto"

    @property
    def test_name(self) -> str:
        """The name of the test."""
        return "t-test of the regression estimator from human labels and a judge's"

    @property
    def means_method(self) -> str:
        """The method of the intervals of means."""
        return "by the same estimator"

    @cached_property
    def regressions(self) -> list[JudgedMeans]:
        """The estimates of the pairs by measure."""
        samples = (self.judged.differences(m, self.pairs) for m in range(len(self.measures)))
        return [regress(sample, "like", self.slope) for sample in samples]

    @cached_property
    def estimates(self) -> list[Estimates]:
        """The estimates by measure."""
        return [found.together for found in self.regressions]

    @cached_property
    def differing(self) -> Bools:
        """Whether two runs differ on any query, by human labels or by the judge's."""
        samples = (self.judged.differences(m, self.pairs) for m in range(len(self.measures)))
        return np.stack([np.round(np.concatenate(sample[:2]), DIGITS).any(axis=0) for sample in samples])

    @cached_property
    def means_by_t(self) -> Bools:
        """False for all means, whose intervals are never bootstrap intervals."""
        return np.zeros(self.means.shape, np.bool_)

    @cached_property
    def mean_intervals(self) -> list[Intervals]:
        """The intervals of the means by measure, clipped to the bounds of the measure."""
        found = [regress(self.judged.sample(m), "like", self.slope) for m in range(len(self.measures))]
        level = 1 - self.design.alpha
        return [
            keep_within(one.together.intervals(level), bounds, one.mean)
            for one, bounds in zip(found, self.bounds, strict=True)
        ]


class JudgedBoard(Leaderboard):
    """Runs by human labels and a judge's, best first by the first measure."""

    knows_ties = False

    def __init__(self, runs: JudgedRuns, slope: object) -> None:
        """Estimate the means, and sort the runs by them."""
        if runs.segments is not None:
            raise DataError("segments cannot be compared by the labels of a judge: use `gradely estimate --by`")
        super().__init__(runs.results)
        self.slope = slope
        means = np.round(self._estimate(runs)[0], DIGITS).tolist()
        order = sorted(zip(means, runs.names, strict=True), key=lambda pair: (-pair[0], pair[1]))
        self.runs = runs.order([name for _, name in order])

    def _estimate(self, runs: JudgedRuns) -> list[Floats]:
        return [regress(runs.sample(m), "like", self.slope).mean for m in range(len(runs.measures))]

    @cached_property
    def names(self) -> list[str]:
        """The runs, best first."""
        return self.runs.names

    @cached_property
    def queries(self) -> list[str]:
        """The queries that people judged."""
        return self.runs.queries

    @cached_property
    def means(self) -> Floats:
        """[measures, runs] the estimated means."""
        return np.stack(self._estimate(self.runs))

    @cached_property
    def values(self) -> Floats:
        """[measures, queries, runs] the values by human labels."""
        return self.runs.human

    def pairwise(self, design: Design) -> JudgedPairs:
        """Return the pairs of runs under a design."""
        bounds = [measure.bounds for measure in self.measures.values()]
        columns = (self.values, self.means, self.names, list(self.measures), design, bounds)
        return JudgedPairs(*columns, judged=self.runs, slope=self.slope)

    @cached_property
    def tie_ranges(self) -> dict[str, dict[str, TieRange]]:
        """Empty: the effect of ties on estimated means is not known."""
        return {name: {} for name in self.names}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases accept."""
        return flatten_means(self, prefix)

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on queries and documents, and on the number of queries that the judge labelled."""
        human, every = len(self.runs.queries), len(self.runs.every)
        text = (
            f"means and differences are estimated for queries like these from human labels of {human:,} queries and a "
            f"judge's of {every:,}; a difference is estimated separately and may not equal that of the means; effect "
            "sizes, wins and losses are by human labels"
        )
        return [Note("judge", human, every, text), *self.runs.notes]
