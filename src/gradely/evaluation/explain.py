"""explain: one query, rank by rank, so that a value can be recomputed by hand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Blocks, Qrels, Rule, locate, open_run, read_qrels
from gradely.data.batches import in_rank_order
from gradely.data.read.files import Source, clip
from gradely.data.read.inputs import Run
from gradely.data.tie_breaking import break_ties
from gradely.data.trec.one_query import read_query
from gradely.data.values import flat
from gradely.errors import DataError, NotFinite, did_you_mean
from gradely.evaluation.values import name_query, query_of
from gradely.kernel.batch import Batch
from gradely.kernel.tie_groups import order_ties
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, label, parse
from gradely.settings import Precision, Settings, TiePolicy


class Line(NamedTuple):
    """A retrieved document: where it stands, what it is and what it adds."""

    first: int
    """its rank; of a tie group, the first rank"""
    last: int
    document: str
    score: float
    label: float | None
    """None where it is not judged"""
    relevance: float | None
    """the label as the measure sees it"""
    adds: float
    """what it adds to the sum; of very large gains, in units of a power of two that the norm is in, too"""

    @property
    def rank(self) -> str:
        """The rank, or those that the tie group shares."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


class Explanation(NamedTuple):
    """A value of a measure on a query: a start and what the documents add, over a norm."""

    measure: str
    query: str
    ties: str
    lines: list[Line]
    missed: list[tuple[str, float]]
    """judged documents that were not retrieved, with their labels, best first"""
    start: float
    """what the sum begins with: 0, unless the measure counts other documents, too"""
    total: float
    norm: float
    value: float


def explain(
    qrels: Any,
    run: Any,
    query: str,
    measure: MeasureLike,
    *,
    ties: TiePolicy = "expected",
    precision: Precision = "double",
    seed: int = 0,
) -> Explanation:
    """Explain the value of a measure on one query.

    >>> explained = explain({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, "q", "AP")
    >>> [(line.rank, line.document, line.adds) for line in explained.lines]
    [('1', 'x', 0.0), ('2', 'a', 0.5), ('3', 'b', 0.6666666666666666)]
    >>> (explained.total, explained.norm, explained.value) == (1 / 2 + 2 / 3, 2.0, (1 / 2 + 2 / 3) / 2)
    True
    """
    settings = Settings(ties, precision=precision, seed=seed)
    judgments, ranking, query = read_qrels(qrels), open_run(run), str(query)
    _check_query(query, judgments.queries, judgments.name)
    fitted = parse(measure).fit(judgments.levels)
    scores = _ranking(judgments, ranking, query)
    numbers = flat([scores], lambda _, doc: f"{ranking.name}: query {clip(query)}, document {clip(doc)}: the score")
    scores = dict(zip(scores, settings.round(numbers).tolist(), strict=True))
    docs, view = _columns(judgments, Run({query: scores}, ranking.name), query, fitted, ties, seed)
    try:
        fitted.compute_from_relevance(view)
    except NotFinite as error:
        raise name_query(error, *query_of(judgments, judgments.index[query])) from None
    terms, norm = fitted.terms(view)[0], float(fitted.norm(view)[0])
    labels = judgments.labels(query)
    above = {doc: int(view.above[0, c]) for c, doc in enumerate(docs)}
    relevance = {doc: float(view.grade[0, c]) for c, doc in enumerate(docs)}
    adds = {doc: float(terms[c]) for c, doc in enumerate(docs)}
    arrange = partial(_seats, ties=ties, query=query, seed=seed, above=above)
    lines = [
        Line(first, last, doc, float(scores[doc]), labels.get(doc), relevance.get(doc), adds.get(doc, 0.0))
        for start, tied in _groups(scores)
        for first, last, doc in arrange(tied, start)
    ]
    missed = sorted(
        ((doc, value) for doc, value in labels.items() if doc not in adds), key=lambda each: (-each[1], each[0])
    )
    start = float(np.sum(fitted.start(view)))
    total = fsum([start, *adds.values()])
    value = total / norm if norm > 0 else 0.0
    return Explanation(label(measure), query, ties, lines, missed, start, total, norm, value)


def _ranking(qrels: Qrels, run: Run | Source, query: str) -> Mapping[str, float]:
    """Return {document: score} of one query; of a file, only its lines are read."""
    found = run.scores.get(query) if isinstance(run, Run) else read_query(run, query)
    if not found:
        hits = locate(qrels, run, Rule())  # refuses a file that cannot be read
        answered = [qrels.queries[i] for i in np.flatnonzero(hits.answered).tolist()]
        _check_query(query, [*answered, *hits.unjudged], run.name)
    return found or {}


def _check_query(query: str, known: Iterable[str], name: str) -> None:
    names = list(known)
    if query not in names:
        raise DataError(f"{name}: no query {query!r}.{did_you_mean(query, names)}")


def _columns(qrels: Qrels, run: Run, query: str, measure: Measure, ties: str, seed: int) -> tuple[list[str], Batch]:
    """Return the batch of one query as the measure sees it, ties in order, and the documents of its columns."""
    hits = locate(qrels, run, Rule(ties, seed))
    docs = [qrels.docs[i] for i in hits.row[in_rank_order(qrels, hits)].tolist()]
    _, batch = next(Blocks(qrels, hits).batches(ties, np.asarray([qrels.index[query]])))
    relevance = measure.apply_relevance(batch)
    numbered = replace(relevance, grade=np.arange(relevance.grade.shape[1], dtype=np.float64)[None, :])
    order = order_ties(numbered, lambda _: measure.priority(relevance)).grade[0, : len(docs)].astype(int)
    return [docs[i] for i in order], measure.order_ties(relevance)


def _groups(scores: Mapping[str, float]) -> Iterator[tuple[int, list[str]]]:
    """Yield the groups of documents with the same score, best first, and how many documents are above each."""
    start = 0
    for _, group in groupby(sorted(scores, key=lambda doc: -scores[doc]), key=lambda doc: scores[doc]):
        tied = list(group)
        yield start, tied
        start += len(tied)


def _seats(
    tied: list[str], start: int, ties: str, query: str, seed: int, above: dict[str, int]
) -> Iterator[tuple[int, int, str]]:
    """Yield first rank, last rank and document, for the documents of a tie group in the order of the policy."""
    judged = [doc for doc in tied if doc in above]
    if ties == "expected" or len({above[doc] for doc in judged}) < len(judged):
        # a bound of a tie group that is too large to be searched has no order
        yield from ((start + 1, start + len(tied), doc) for doc in tied)
        return
    rule = Rule(ties, seed)
    if rule.breaks:
        seated = break_ties(rule, query, tied)
    else:
        unjudged = iter([doc for doc in tied if doc not in above])
        taken = {above[doc]: doc for doc in tied if doc in above}
        seated = [taken[place] if place in taken else next(unjudged) for place in range(start, start + len(tied))]
    yield from ((start + i, start + i, doc) for i, doc in enumerate(seated, 1))
