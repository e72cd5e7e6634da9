"""Human and machine labels of the same runs: which queries both have, and the values by both."""

from collections.abc import Mapping
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.regression import FEWEST, Sample
from gradely.comparison.tests import Pairs, all_pairs
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.selection import name_queries, only_queries, read_selected
from gradely.errors import DataError, clip
from gradely.evaluation.evaluate import Evaluations, Progress, name_runs, open_runs
from gradely.evaluation.notes import Note, merge_notes, note_names
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Settings
from gradely.tables import count_of

ALIKE = 0.9
"""where people and judge have a smaller share of the documents of a query in common, a note says so"""
UNLIKE = 1.5
"""where the judge labelled so many times as many documents of the human queries as of others, or as few, too"""


class JudgedRuns(NamedTuple):
    """The values of several runs by human labels on n queries, and by those of a judge on N."""

    names: list[str]
    """of the runs, as they were given"""
    measures: Mapping[str, Measure]
    human: Floats
    """[measures, n, runs]"""
    judged: Floats
    """[measures, N, runs]"""
    queries: list[str]
    """the n queries that people judged"""
    every: list[str]
    """the N queries"""
    segments: Mapping[str, str] | None
    """the segment of each of the N queries, where they are asked for"""
    notes: list[Note]
    settings: Settings

    @property
    def rows(self) -> Ints:
        """Where the human queries are among the N."""
        at = {query: i for i, query in enumerate(self.every)}
        return np.array([at[query] for query in self.queries], np.int64)

    def sample(self, measure: int) -> Sample:
        """Return the values of the runs by one measure, a column each."""
        return Sample(self.human[measure], self.judged[measure], self.rows)

    def differences(self, measure: int, pairs: Pairs | None = None) -> Sample:
        """Return the differences of pairs of runs, all of them by default, a column each."""
        first, second = all_pairs(len(self.names)) if pairs is None else pairs
        human, judged = self.human[measure], self.judged[measure]
        return Sample(human[:, first] - human[:, second], judged[:, first] - judged[:, second], self.rows)

    def split(self) -> "dict[str, JudgedRuns]":
        """Return the runs on each segment of the queries; refuse one with too few human queries."""
        if self.segments is None:
            return {}
        of = np.array([self.segments[query] for query in self.every])
        return {name: self._select(name, of == name) for name in sorted(set(of.tolist()))}

    def _select(self, segment: str, chosen: Bools) -> "JudgedRuns":
        every = list(compress(self.every, chosen.tolist()))
        here = chosen[self.rows]
        if here.sum() < FEWEST:
            raise DataError(
                f"by: people judged {count_of(int(here.sum()), 'query')} of the segment {clip(segment)}, and each "
                f"takes at least {FEWEST}: judge more of it, or put segments together"
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
    """Read both qrels, and evaluate the runs by both."""
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
        by_name,
        stack_values(labels),
        stack_values(its),
        list(labels.qrels.queries),
        list(its.qrels.queries),
        every.segments,
        [*notes, *_note_pools(both, every), *about],
        settings,
    )


def stack_values(results: Evaluations) -> Floats:
    """Return [measures, queries, runs]."""
    return np.stack([evaluation.table.T for evaluation in results.evaluations.values()], axis=2)


def match(human: Qrels, judge: Qrels, *, selected: bool = False) -> tuple[Qrels, list[Note]]:
    """Return the human labels of the queries that the judge has, too; refuse too few of them.

    Where queries were selected, nothing is said of the others.
    """
    common = [query for query in human.queries if query in judge.index]
    if not common:
        theirs = f"the first are {clip(human.queries[0])} and {clip(judge.queries[0])}"
        raise DataError(f"{human.name} and the judge's {judge.name} have no query in common; {theirs}")
    if len(common) < FEWEST:
        raise DataError(
            f"{human.name}: people judged {count_of(len(common), 'query')} that the judge labelled, too, and an "
            f"estimate takes at least {FEWEST}: judge more (`gradely sample` draws them)"
        )
    lost = [query for query in human.queries if query not in judge.index]
    text = "{have} human labels and none of the judge, and {are} left out"
    notes = [] if selected else note_names("unlabelled", len(lost), len(human), "query", text, lost)
    return (only_queries(human, common) if lost else human), notes


def _check_segments(judge: Qrels) -> None:
    """Refuse queries without a segment: an estimate over segments needs that of every query."""
    segments = judge.segments or {}
    lacking = [query for query in judge.queries if query not in segments]
    if lacking:
        some = f"{len(lacking):,} of {count_of(len(judge), 'query')}"
        raise DataError(f"by: {some} of {judge.name} have no segment, like {clip(lacking[0])}; every query needs one")


def _note_pools(human: Qrels, judge: Qrels) -> list[Note]:
    """Say where people and judge judged other documents, or the judge other queries in another way."""
    apart = []
    for query in human.queries:
        theirs, its = set(human.labels(query)), set(judge.labels(query))
        if len(theirs & its) < ALIKE * len(theirs | its):
            apart.append(query)
    text = (
        f"{{have}} other documents judged by people than by the judge (less than {ALIKE:.0%} in common), so that the "
        "values by both say less about each other"
    )
    notes = note_names("pools", len(apart), len(human), "human query", text, apart)
    chosen = np.array([query in human.index for query in judge.queries])
    if chosen.all():
        return notes
    inside, outside = float(judge.sizes[chosen].mean()), float(judge.sizes[~chosen].mean())
    if 1 / UNLIKE <= inside / outside <= UNLIKE:
        return notes
    text = (
        f"the judge labelled {inside:.0f} documents per query of the human ones and {outside:.0f} of the others; an "
        "estimate takes for granted that it labelled all queries in the same way"
    )
    return [*notes, Note("pools", int(chosen.sum()), len(judge), text)]
