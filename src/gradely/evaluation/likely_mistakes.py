"""Likely mistakes that no reader can see: qrels and run swapped, distances, labels that a binary measure overlooks.

Each is a sentence beside the results, which says what was found and what to type. Nothing is put right by a guess.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from gradely.data import Qrels, Run
from gradely.data.columns import new_tokens
from gradely.data.ids import Bools, Floats
from gradely.data.read.dicts import Ranked
from gradely.data.read.readers import trec_table
from gradely.data.run import LazyScores, Scores
from gradely.data.source import ignore
from gradely.data.table import IrregularText, Table, TableScores
from gradely.data.uncertain import UncertainQrels

SAMPLE = 1000
"""how many scores of a run are looked at"""
HIGHEST = 10
"""the highest label of common scales"""


def look_swapped(labels: Floats, scores: Floats) -> str | None:
    """Return how labels look like scores, and scores like labels; None where they do not.

    >>> look_swapped(np.array([0.91, 0.4, 0.13]), np.array([3.0, 0.0, 1.0]))
    'most labels are not whole numbers, and the scores are whole numbers from 0 to 3'
    >>> look_swapped(np.array([2.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    'the scores are 0 and 1 and nothing else'
    >>> look_swapped(np.array([2.0, 1.0, 0.0]), np.array([0.91, 0.4, 0.13]))
    """
    if not len(labels) or not len(scores) or not _are_whole(scores).all():
        return None
    low, high = int(scores.min()), int(scores.max())
    if low < 0 or high > HIGHEST:
        return None
    if np.count_nonzero(_are_whole(labels)) * 2 < len(labels):
        return f"most labels are not whole numbers, and the scores are whole numbers from {low} to {high}"
    return "the scores are 0 and 1 and nothing else" if (low, high) == (0, 1) and len(scores) > 2 else None


def look_like_ranking(labels: Floats, levels: int, scores: Floats) -> str | None:
    """Return how whole numbers look swapped: labels of a query that hardly tie, scores of a scale that mostly do.

    `levels` is the number of distinct positive labels in all queries.

    >>> look_like_ranking(np.array([30.0, 17.0, 12.0, 5.0]), 25, np.array([2.0, 0.0, 0.0, 0.0, 2.0]))
    'there are 25 distinct positive labels, and most documents share their scores, whole numbers from 0 to 2'
    >>> look_like_ranking(np.array([30.0, 1.0, 1.0, 1.0]), 25, np.array([2.0, 0.0, 0.0, 0.0, 2.0]))
    """
    if levels <= HIGHEST or len(scores) <= 2 or not _are_whole(scores).all():
        return None
    low, high = int(scores.min()), int(scores.max())
    if not 0 <= low < high <= HIGHEST or _share_tied(scores) <= 0.5 or _share_tied(labels) >= 0.5:
        return None
    scale = f"whole numbers from {low} to {high}"
    return f"there are {levels:,} distinct positive labels, and most documents share their scores, {scale}"


def _share_tied(numbers: Floats) -> float:
    """Return the share of numbers that are equal to another one."""
    counts = np.unique(numbers, return_counts=True)[1]
    return float(counts[counts > 1].sum()) / max(len(numbers), 1)


def _are_whole(numbers: Floats) -> Bools:
    whole: Bools = numbers == np.floor(numbers)
    return whole


def describe_swap(qrels: Qrels, run: Run) -> str | None:
    """Return a sentence where labels look like scores, and scores like labels, as if qrels and run were swapped.

    TREC text has another number of fields in qrels than in runs, and lazy frames would have to be asked.
    """
    if isinstance(run.scores, LazyScores) or trec_table(run) is not None:
        return None
    scores = _first_scores(run.scores)
    if not len(scores) or scores[0] != scores[0] // 1:
        return None
    levels = np.asarray(qrels.levels())
    if isinstance(qrels, UncertainQrels):  # a run has no probabilities of labels
        return None
    first_query = qrels.grade[: int(qrels.start[1])]
    how = look_swapped(levels, scores) or look_like_ranking(first_query, len(levels), scores)
    first = "if the two are swapped, qrels come first, as in evaluate(qrels, run) or gradely evaluate QRELS RUN"
    return f"{run.name}: {how}; {first}" if how else None


def _first_scores(scores: Scores) -> Floats:
    """Return the scores of the first ranking, or the first of them; none where documents came without scores."""
    if isinstance(scores, TableScores):
        return _first_rows(scores.table)
    ranking = next(iter(scores.values()), {})
    first = next(iter(ranking.values()), 0.5)
    if isinstance(ranking, Ranked) or (isinstance(first, float) and not first.is_integer()):  # mostly so, soon seen
        return np.zeros(0)
    try:
        return np.fromiter(islice(ranking.values(), SAMPLE), np.float64)
    except (TypeError, ValueError):  # of a query that nobody asked about
        return np.zeros(0)


def _first_rows(table: Table) -> Floats:
    """Return the scores of the first rows of a table, as far as they are of one query."""

    def look(part: Any) -> Floats:
        query, _, value = part.columns()
        stop = [*new_tokens(*query)[1:2].tolist(), len(value)][0]
        return np.array(value[: min(stop, SAMPLE)])

    try:
        return next(table.map_parts(look, 1, ignore, whole_queries=False), np.zeros(0))
    except IrregularText:  # it was read the plain way, which a guess is not worth
        return np.zeros(0)


def describe_distances(run: Run) -> str | None:
    """Return a sentence where low scores have the first ranks in all of the first queries of a TREC file.

    What is looked at is the start of the file, which is at hand; mostly its first two lines say that all is well.
    """
    table = trec_table(run)
    if table is None:
        return None
    queries, before = set[bytes](), list[bytes]()
    for line in table.source.head.split(b"\n", SAMPLE)[:SAMPLE]:
        fields = line.split()
        if len(fields) != 6:  # cut off, or for the reader to explain
            break
        if before and fields[0] == before[0]:
            try:
                ranks, scores = int(fields[3]) - int(before[3]), float(fields[4]) - float(before[4])
            except ValueError:
                return None
            if ranks * scores < 0 or not ranks:
                return None
            queries |= {fields[0]} if ranks * scores > 0 else set()
        before = fields
    if not queries:
        return None
    where = "the first query" if len(queries) == 1 else f"each of the first {len(queries):,} queries"
    text = f"the rank column contradicts the scores in {where}: low scores have the first ranks, yet high scores count"
    return f"{run.name}: {text}; if these are distances, give them with a minus sign"


def describe_threshold(labels: Floats, levels: Sequence[float], names: list[str]) -> str | None:
    """Return a sentence about measures that ask for label 1, where positive labels are below it.

    >>> describe_threshold(np.array([1.0, 0.9, 0.2, 0.0]), [0.2, 0.9, 1.0], ["RR"])
    'labels are not whole numbers, and for RR a document is relevant from label 1 on: 2 of 3 positive labels are \
below; to count more or fewer, say from which label on, as in RR(rel=0.5), by which labels from 0.5 on count'
    """
    if not len(levels) or levels[0] >= 1:
        return None
    positive = labels[labels > 0]
    below = int(np.count_nonzero(positive < 1))
    middle = f"{levels[-1] / 2:g}"
    example = f"{names[0].split('@')[0].split('(')[0]}(rel={middle}), by which labels from {middle} on count"
    if levels[-1] < 1:
        return (
            f"the highest label is {levels[-1]:g}, and for {', '.join(names)} a document is relevant from label 1 on: "
            f"none is; say from which label, as in {example}"
        )
    are = "is" if below == 1 else "are"
    return (
        f"labels are not whole numbers, and for {', '.join(names)} a document is relevant from label 1 on: "
        f"{below:,} of {len(positive):,} positive labels {are} below; to count more or fewer, say from which label on, "
        f"as in {example}"
    )
