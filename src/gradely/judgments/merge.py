"""Several qrels as one: merged by mean, median or majority, or as the probability of each label.

merge has a judge who fills in missing labels, if there is one.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gradely.data import Qrels, read_qrels
from gradely.data.ids import Bools, Floats
from gradely.data.uncertain import UncertainQrels
from gradely.errors import DataError, clip
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.settings import check_choice
from gradely.tables import Table, count_of

WAYS = ("mean", "median", "majority")


def merge(qrels: Mapping[str, Qrels], how: str | None = None, fill: str | None = None) -> Qrels:
    """Return the merged qrels, with notes that count merged and filled labels.

    `fill` is a judge whose labels are used only for documents that no other judge has labelled. `how` is required if
    there is more than one other judge. The majority is the most frequent label, or the lowest of several.
    """
    if how is not None:
        check_choice("way to merge", how, WAYS)
    others = [name for name in qrels if name != fill]
    if how is None and len(others) > 1:
        raise DataError(f"there are {count_of(len(others), 'judge')} to merge: choose one of {', '.join(WAYS)}")
    together = SeveralQrels(qrels)
    at = list(together.qrels)
    labels = together.labels[:, [at.index(name) for name in others]]
    given = ~np.isnan(labels)
    merged, notes = _merge(labels, given, how, len(others))
    lacking = ~given.any(axis=1)
    if fill is not None:
        extra = together.labels[:, at.index(fill)]
        merged = np.where(lacking, extra, merged)
        notes.append(
            f"{count_of(int((~lacking).sum()), 'label')} of {', '.join(others)}, and {int(lacking.sum()):,} of {fill} "
            "for documents that nobody else judged"
        )
    queries = np.repeat(np.arange(len(together.queries)), np.diff(together.start)).tolist()
    table: dict[str, dict[str, float]] = {query: {} for query in together.queries}
    for query, doc, label in zip(queries, together.docs, merged.tolist(), strict=True):
        table[together.queries[query]][doc] = label
    result = Qrels.of(table, "merged qrels")
    result.notes = [*notes, *dict.fromkeys(text for one in qrels.values() for text in one.notes)]
    return result


def _merge(labels: Floats, given: Bools, how: str | None, judges: int) -> tuple[Floats, list[str]]:
    """Return one label per document, NaN without any, and notes about them."""
    count = given.sum(axis=1)
    some = count > 0
    merged = np.full(len(labels), np.nan)
    notes = []
    if how == "majority":
        scale = np.unique(labels[given])
        votes = (labels[:, :, None] == scale).sum(axis=1)
        merged[some] = scale[votes[some].argmax(axis=1)]
        ties = int(np.count_nonzero((votes == votes.max(axis=1, keepdims=True)).sum(axis=1)[some] > 1))
        if ties:
            has = "has" if ties == 1 else "have"
            notes.append(
                f"{count_of(ties, 'document')} without a majority {has} the lowest of the most frequent labels"
            )
    else:
        middle: Any = np.nanmedian if how == "median" else np.nanmean
        merged[some] = middle(labels[some], axis=1)
    partial = int(np.count_nonzero(some & (count < judges)))
    if how is not None:
        kind = f"the {how} of {count_of(judges, 'judge')}"
        few = f", {partial:,} of them from only some of the judges" if partial else ""
        notes.insert(0, f"{kind} for {count_of(int(some.sum()), 'document')}{few}")
    return merged, notes


def to_trec(qrels: Qrels) -> str:
    """Return the qrels in TREC format; refuse ids with blanks, such as texts, which need a table."""
    lines = []
    for query in qrels.queries:
        for doc, label in qrels.labels(query).items():
            if len(f"{query} {doc}".split()) != 2:
                problem = "TREC format does not support ids with blanks: write CSV, as with -o merged.csv"
                raise DataError(f"query {clip(query)}, document {clip(doc)}: {problem}")
            lines.append(f"{query} 0 {doc} {label:.17g}\n")
    return "".join(lines)


def to_table(qrels: Qrels) -> Table:
    """Return the qrels as a table of query, document and label."""
    rows = [(query, doc, label) for query in qrels.queries for doc, label in qrels.labels(query).items()]
    return Table(["query_id", "doc_id", "label"], rows)


def label_shares(raters: Mapping[str, Any] | Iterable[Any]) -> Qrels:
    """Return judgments in which the probability of a label is the share of raters who gave it.

    `raters` is {name: qrels} or a list of qrels, each in any form that read_qrels accepts. If some raters did not judge
    a document, its shares are those of the raters who did, and a note gives the number of such documents.

    >>> shares = label_shares({"ann": {"q": {"a": 2, "b": 0}}, "bob": {"q": {"a": 1, "b": 0}}})
    >>> shares.judgments("q")
    {'a': {1.0: 0.5, 2.0: 0.5}, 'b': {0.0: 1.0}}
    """
    if isinstance(raters, str | os.PathLike | Qrels):
        raise DataError("raters: give the qrels of each rater by name, {'ann': qrels, 'bob': qrels}, or as a list")
    judged = [read_qrels(rater) for rater in (raters.values() if isinstance(raters, Mapping) else raters)]
    if len(judged) < 2:
        raise DataError(f"raters: shares need at least two raters; there is {'one' if judged else 'none'}")
    votes: dict[str, dict[str, Counter[float]]] = {}
    for qrels in judged:
        qrels.check_certain("label_shares")
        for query in qrels.queries:
            documents = votes.setdefault(query, {})
            for doc, label in qrels.labels(query).items():
                documents.setdefault(doc, Counter())[label] += 1
    shares = {query: {doc: _shares(count) for doc, count in documents.items()} for query, documents in votes.items()}
    counts = [count.total() for documents in votes.values() for count in documents.values()]
    qrels = UncertainQrels.of_labels(shares, f"shares of {count_of(len(judged), 'rater')}")
    qrels.whole = all(one.whole for one in judged)
    partly = sum(count < len(judged) for count in counts)
    if partly:
        were, have = ("was", "has") if partly == 1 else ("were", "have")
        text = f"{were} not judged by every rater, and {have} the shares of those who did"
        qrels.notes = [*qrels.notes, f"{qrels.name}: {partly:,} of {count_of(len(counts), 'document')} {text}"]
    return qrels


def _shares(votes: Counter[float]) -> dict[float, float]:
    return {label: count / votes.total() for label, count in sorted(votes.items())}
