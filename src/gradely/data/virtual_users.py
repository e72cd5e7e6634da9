"""Virtual users: a run, or a feature, taken for the judgments of somebody who would rank as it does."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, get_args

from gradely.data.qrels import Qrels
from gradely.data.read.readers import read_run
from gradely.data.read.sources import clip
from gradely.errors import DataError

GradedBy = Literal["score", "rank"]


def qrels_from_run(run: Any, by: GradedBy | None = None, *, levels: Iterable[int] | None = None) -> Qrels:
    """Return the qrels of a virtual user who would rank as a run does.

    `by` says what the label of a document is: its score (the default), or its rank counted from the last, where the
    best of n documents gets n and the last 1. `levels` grades by your own depths instead: [10, 25, 50] gives 3 to
    the top 10, 2 to the rest of the top 25, 1 to the rest of the top 50 and 0 to all others. Tied documents have the
    same label, that of the best rank among them. `run` is whatever read_run takes.

    Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011).

    >>> qrels_from_run({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}, "rank").labels("q")
    {'a': 3.0, 'b': 2.0, 'c': 2.0}
    >>> qrels_from_run({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}, levels=[1, 2]).labels("q")
    {'a': 2.0, 'b': 1.0, 'c': 1.0}
    """
    if by is not None and by not in get_args(GradedBy):
        raise DataError(f"a virtual user grades by score or rank; found {by!r}")
    if by is not None and levels is not None:
        raise DataError(f"a virtual user grades by {by} or by levels of your choice, not by both: leave out one")
    depths = None if levels is None else _depths(levels)
    ranking = read_run(run)
    name = f"{ranking.name} as qrels"
    labels = {query: _labels(scores, by or "score", depths) for query, scores in ranking.scores.items()}
    _check_scores(labels, name)  # ranks and levels are never below 0
    return Qrels.of(labels, name)


def _labels(scores: Mapping[str, float], by: GradedBy, depths: list[int] | None) -> dict[str, float]:
    """Return {document: label} of one query."""
    if by == "score" and depths is None:
        return {doc: float(score) for doc, score in scores.items()}
    above: dict[float, int] = {}
    for i, score in enumerate(sorted(map(float, scores.values()), reverse=True)):
        above.setdefault(score, i)
    if depths is None:
        return {doc: float(len(scores) - above[float(score)]) for doc, score in scores.items()}
    return {doc: float(sum(above[float(score)] < depth for depth in depths)) for doc, score in scores.items()}


def _depths(levels: Iterable[int]) -> list[int]:
    """Return depths that rise, as whole numbers."""
    depths = list(levels)
    whole = all(isinstance(depth, int) and not isinstance(depth, bool) and depth > 0 for depth in depths)
    if not depths or not whole or any(b <= a for a, b in pairwise(depths)):
        raise DataError(f"levels are depths of the ranking that rise, like [10, 25, 50]; found {depths!r}")
    return depths


def _check_scores(labels: Mapping[str, Mapping[str, float]], name: str) -> None:
    """Refuse scores below 0 as labels, since those would all count as not relevant."""
    for query, scores in labels.items():
        low = min(scores, key=lambda doc: scores[doc], default=None)
        if low is not None and scores[low] < 0:
            raise DataError(
                f"{name}: query {clip(query)}, document {clip(low)}: a score of {scores[low]:g} is no label,"
                " since labels below 0 are not relevant; grade by rank, or by levels of your choice"
            )
