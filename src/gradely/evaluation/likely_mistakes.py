"""Likely mistakes that readers of files cannot detect: swapped qrels and runs, mismatched ids, distances as scores.

Each is reported in a sentence that says what was found and what to type. Nothing is corrected by a guess.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile, tee
from math import isnan, nan
from typing import Any

import numpy as np

from gradely.data import Hits, Qrels, Run
from gradely.data.alike import compare_ids
from gradely.data.ids import Floats
from gradely.data.read.dicts import Listed, Ranked
from gradely.data.read.readers import trec_table
from gradely.data.source import ignore
from gradely.data.table import FirstRow, IrregularText, LazyScores, Scores, Table
from gradely.data.uncertain import UncertainQrels
from gradely.errors import clip
from gradely.kernel.swapped import HIGHEST, RANKED, SAMPLE, are_real, describe_beyond, look_swapped
from gradely.tables import count_of

FEW = 0.01
"""if the share of judged documents that are found is at most this, counting at most as many as were retrieved, ids of
qrels and run probably do not match"""
COMPARED = 10_000
"""largest number of documents of a query that are compared"""


def find_mistakes(qrels: Qrels, run: Run, hits: Hits, *, same: bool = False) -> list[str]:
    """Return a sentence for each likely mistake; `same` is true if qrels and run were given as the same object."""
    rows, again = tee(_first_rows(run.scores))  # read one by one, since mostly a few suffice
    low_is_best = describe_distances(run, rows) or describe_ranks(run, again)
    sentences = (describe_swap(qrels, run, hits), low_is_best, describe_same(qrels, run, same=same))
    return [sentence for sentence in sentences if sentence]


def describe_swap(qrels: Qrels, run: Run, hits: Hits) -> str | None:
    """Return a sentence if labels look like scores and scores like labels, as if qrels and run were swapped, else None.

    TREC files cannot be swapped, since qrels and runs differ in the number of fields, nor can probabilistic labels,
    which a run cannot contain.
    """
    if isinstance(qrels, UncertainQrels) or trec_table(run) is not None:
        return None
    given = run.scores
    scores = _ask(given, qrels, hits) if isinstance(given, LazyScores) else _first_scores(given)
    if not _may_be_labels(scores):
        return None
    levels, first_query = _levels_and_first(qrels)
    how = look_swapped(first_query, levels, scores)
    if not how and (scores == 1).all():
        how = _look_like_relevant(qrels, hits, levels, first_query)
    first = "if the two are swapped, qrels come first, as in evaluate(qrels, run) or gradely evaluate QRELS RUN"
    return f"{run.name}: {how}; {first}" if how else None


def _levels_and_first(qrels: Qrels) -> tuple[Floats, Floats]:
    """Return the distinct positive labels and the labels of the first query.

    If no label is positive, as with logarithms of probabilities, the former are the distinct labels of the first query.
    """
    levels, first_query = np.asarray(qrels.levels()), qrels.grade[: int(qrels.start[1])]
    return (levels if len(levels) else np.unique(first_query)), first_query


def _ask(scores: LazyScores, qrels: Qrels, hits: Hits) -> Floats:
    """Return some scores of a query from an engine; none, without asking it, unless labels look like scores."""
    levels, first_query = _levels_and_first(qrels)
    answered = np.flatnonzero(hits.answered)
    if not len(answered) or not (are_real(levels) or describe_beyond(first_query)):
        return np.zeros(0)
    return scores.first_scores(qrels.queries[int(answered[0])], SAMPLE)


def _look_like_relevant(qrels: Qrels, hits: Hits, levels: Floats, first_query: Floats) -> str | None:
    """Return a description if a run looks like a list of relevant documents, and labels like scores, else None.

    All scores may be equal on purpose, but such a run rarely has fewer documents than were judged.
    """
    found, judged = (int(sizes[hits.answered].sum()) for sizes in (hits.retrieved, qrels.sizes))
    if found >= judged or (hits.tied != hits.retrieved[hits.query]).any():
        return None
    labels = "most labels are not whole numbers" if are_real(levels) else describe_beyond(first_query)
    fewer = f"the run has {count_of(found, 'document')} where {judged:,} are judged"
    return (
        f"all documents of a query have the same score, 1 in the first query, {labels}, and {fewer}" if labels else None
    )


def describe_same(qrels: Qrels, run: Run, *, same: bool = False) -> str | None:
    """Return a sentence if qrels and run are the same file or object, and the scores are the labels, else None.

    A file may contain both in different columns, so the first scores are compared with the labels. `same` is true if
    qrels and run are the same object.
    """
    if not same and not _are_same_file(qrels.name, run):
        return None
    if isinstance(qrels, UncertainQrels) or isinstance(run.scores, LazyScores):
        return None
    first = np.fromiter(islice(_first_numbers(run.scores), SAMPLE), np.float64)
    if not len(first) or not np.isin(first, qrels.grade).all():
        return None
    what = "object" if same else "file"
    return f"{run.name}: the run is the same {what} as the qrels, so its scores are the labels"


def _are_same_file(qrels: str, run: Run) -> bool:
    """True if qrels and run were read from the same file; data in memory are called `qrels` and `run`."""
    if run.where not in (run.name, qrels):
        with suppress(OSError, ValueError):
            return os.path.samefile(qrels, run.where)
    return run.where == qrels and os.path.exists(qrels)


def _may_be_labels(scores: Iterable[float]) -> bool:
    """True if some of the first scores are equal, or there are very few and the first is a whole number."""
    first = list(islice(scores, 2 * HIGHEST))
    return len(set(first)) < len(first) or (0 < len(first) < RANKED and first[0] == first[0] // 1)


def _first_scores(scores: Scores) -> Floats:
    """Return the first scores of the first ranking; none if they cannot be labels."""
    numbers = _first_numbers(scores)
    if isinstance(numbers, np.ndarray):
        return numbers
    try:
        labels = _may_be_labels(numbers)  # mostly false, and fast
        return np.fromiter(islice(numbers, SAMPLE if labels else 0), np.float64)
    except (TypeError, ValueError, OverflowError):  # an invalid score of a query that does not count
        return np.zeros(0)


def _first_numbers(scores: Scores) -> Floats | Collection[float]:
    """Return the scores of the first ranking, for a table only the first; none if documents have no scores."""
    if isinstance(scores, Table):
        rows = list(scores.first_rows(SAMPLE))
        return np.array([row.score for row in takewhile(lambda row: row.query == rows[0].query, rows)])
    ranking = next(iter(scores.values()), {})
    return () if isinstance(ranking, Ranked) else ranking.values()


def describe_distances(run: Run, rows: Iterable[FirstRow]) -> str | None:
    """Return a sentence if a rank column, or the order of a list, gives low scores the first ranks, else None.

    Only the first rows are examined; usually, two of them suffice.
    """
    queries, before = set[str](), None
    for query, rank, score in rows:
        if isnan(rank):
            return None
        if before is not None and query == before[0]:
            ranks, scores = rank - before[1], score - before[2]
            if not ranks * scores >= 0 or not ranks:  # also false for NaN
                return None
            queries |= {query} if ranks * scores > 0 else set()
        before = query, rank, score
    if not queries:
        return None
    where = "the first query" if len(queries) == 1 else f"each of the first {len(queries):,} queries"
    column = isinstance(run.scores, Table) and run.scores.rank is not None
    what = "rank column" if column or trec_table(run) is not None else "order of the results"
    text = f"the {what} contradicts the scores in {where}: low scores rank first, but high scores are best"
    return f"{run.name}: {text}; if these are distances, negate them"


def describe_ranks(run: Run, rows: Iterable[FirstRow]) -> str | None:
    """Return a sentence if the scores of the first queries count up from 0 or 1 in the order of the rows, else None.

    A single query, or very few documents, may have such scores by chance. Mostly, the first score suffices.
    """
    queries, most, place, before = 0, 0, 0, None
    for query, _, score in rows:
        if query != before:
            before, queries, place = query, queries + 1, 0
            first = score
        if first not in (0, 1) or score != first + place:
            return None
        place += 1
        most = max(most, place)
    if queries < 2 or most < RANKED:
        return None
    which = (
        f"the first scores of each query are {first:g}, {first + 1:g}, {first + 2:g}, … in the given order, like ranks"
    )
    return f"{run.name}: {which}, but high scores are best; if they are ranks, negate them"


def _first_rows(scores: Scores) -> Iterable[FirstRow]:
    """Return the first rows of a table or of dicts; none of engines. Without ranks, as in a dict, these are NaN."""
    if isinstance(scores, Table):
        return scores.first_rows(SAMPLE)
    return () if isinstance(scores, LazyScores) else islice(_rows_of(scores), SAMPLE)


def _rows_of(scores: Mapping[str, Mapping[str, float]]) -> Iterator[FirstRow]:
    """Yield the rows of dicts, whose scores may be text, up to an invalid score of a query that does not count."""
    for query, docs in scores.items():
        for rank, score in enumerate(docs.values()):
            try:
                number = float(score)
            except (TypeError, ValueError, OverflowError):
                return
            yield FirstRow(query, rank if isinstance(docs, Listed) else nan, number)


def describe_threshold(labels: Floats, levels: Sequence[float], names: list[str]) -> str | None:
    """Return a sentence about measures for which labels from 1 are relevant, if positive labels are below 1, else None.

    >>> describe_threshold(np.array([1.0, 0.9, 0.2, 0.0]), [0.2, 0.9, 1.0], ["RR"])
    'labels are not whole numbers, and RR counts documents with a label of 1 or more as relevant: 2 of 3 positive \
labels are lower; RR(rel=0.5) counts those with 0.5 or more'
    """
    if not len(levels) or levels[0] >= 1:
        return None
    positive = labels[labels > 0]
    below = int(np.count_nonzero(positive < 1))
    middle = f"{levels[-1] / 2 if levels[-1] != 2 else levels[0]:g}"
    example = f"{names[0].split('@')[0].split('(')[0]}(rel={middle}) counts those with {middle} or more"
    counts = f"{', '.join(names)} {'counts' if len(names) == 1 else 'count'} documents with a label of 1 or more as"
    if levels[-1] < 1:
        return f"{counts} relevant, and there are none: the highest label is {levels[-1]:g}; {example}"
    are = "is" if below == 1 else "are"
    return (
        f"labels are not whole numbers, and {counts} relevant: {below:,} of {len(positive):,} positive labels {are} "
        f"lower; {example}"
    )


def describe_all_relevant(labels: Floats, levels: Sequence[float], names: list[str]) -> str | None:
    """Return a sentence about measures for which every judged document is relevant if labels are a scale, else None.

    Ratings from 1 to 5 stars have no label below 1. Fewer than four labels are not taken for a scale: many qrels
    list relevant documents only, with the labels 1 and 2.

    >>> describe_all_relevant(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), [1, 2, 3, 4, 5], ["AP", "P@5"])
    'no label is below 1, so AP, P@5 count all 5 judged documents as relevant; AP(rel=4) counts those with 4 or more'
    """
    if len(levels) < 4 or labels.min() < 1:
        return None
    middle = next(level for level in levels if level > (levels[0] + levels[-1]) / 2)
    every = count_of(len(labels), "judged document")
    counts = f"{', '.join(names)} {'counts' if len(names) == 1 else 'count'} all {every}"
    example = f"{names[0].split('@')[0].split('(')[0]}(rel={middle:g}) counts those with {middle:g} or more"
    return f"no label is below {levels[0]:g}, so {counts} as relevant; {example}"


def describe_mismatch(qrels: Qrels, run: Run, hits: Hits) -> str | None:
    """Return a sentence if a run has no judged document, or almost none, in the rankings of its queries, else None."""
    matches = len(hits.row)
    if matches > FEW * len(qrels.docs):  # more cannot be expected
        return None
    room = int(np.minimum(hits.retrieved, qrels.sizes)[hits.answered].sum())
    if not room or matches > FEW * room:
        return None
    many = "no document" if not matches else f"only {matches:,} of {room:,} judged documents"
    found = f"{many} of {qrels.name} {'is' if matches < 2 else 'are'} in the rankings of {run.where}"
    query, documents = _sample(qrels, run, hits)
    judged = list(islice(qrels.judgments(query), COMPARED))
    common = {*documents} & {*judged}
    documents, judged = ([name for name in names if name not in common] for names in (documents, judged))
    if not documents or not judged:
        return found
    document, judgment, reason = compare_ids(documents, judged)
    return f"{found}: query {clip(query)} has {clip(document)} in the run and {clip(judgment)} in the qrels{reason}"


def _sample(qrels: Qrels, run: Run, hits: Hits) -> tuple[str, list[str]]:
    """Return a query that both have, and the run's documents for it; only a part of a file is read."""
    both = np.flatnonzero(hits.answered & (hits.retrieved > 0))
    query = qrels.queries[int(both[0])]
    table = trec_table(run)
    if table is not None:
        return query, list(islice(table.scores_of(query) or {}, COMPARED))
    if isinstance(run.scores, Table):
        return _first_part(qrels, run.scores)
    return query, [str(doc) for doc in islice(run.scores[query], COMPARED)]


def _first_part(qrels: Qrels, table: Table) -> tuple[str, list[str]]:
    """Return the first query of a table that has judgments, and some of its documents."""

    def look(part: Any) -> tuple[str, list[str]]:
        query, document, _ = part.columns()
        names = query.tokens()
        row = next((i for i, name in enumerate(names) if name in qrels.index), None)
        if row is None:
            return "", []
        same = [i for i in range(row, min(row + COMPARED, len(names))) if names[i] == names[row]]
        return names[row], [document.name(i) for i in same]

    parts = table.map_parts(look, 1, ignore, whole_queries=False)
    try:
        return next(((query, documents) for query, documents in parts if documents), ("", []))
    except IrregularText:  # it was read line by line, and an example is not worth a second pass
        return "", []
