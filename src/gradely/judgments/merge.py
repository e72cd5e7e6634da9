"""Merges several qrels into one: by mean, median or majority, and with a judge who fills in missing labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradely.data import Qrels
from gradely.data.ids import Bools, Floats
from gradely.errors import DataError
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.settings import check_choice
from gradely.tables import count_of

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
            f"{count_of(int((~lacking).sum()), 'label')} of {', '.join(others)}, and {int(lacking.sum()):,} of {fill}, "
            "which alone judged these documents"
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
    """Return the qrels in TREC format; refuse ids with blanks, which it does not support."""
    lines = []
    for query in qrels.queries:
        for doc, label in qrels.labels(query).items():
            if len(f"{query} {doc}".split()) != 2:
                raise DataError(f"query {query!r}, document {doc!r}: TREC format does not support ids with blanks")
            lines.append(f"{query} 0 {doc} {label:.17g}\n")
    return "".join(lines)
