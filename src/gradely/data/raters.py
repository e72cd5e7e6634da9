"""Raters: label probabilities from the labels that several people or models gave."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from gradely.data.qrels import Qrels
from gradely.data.read.readers import read_qrels
from gradely.data.uncertain import UncertainQrels
from gradely.errors import DataError
from gradely.tables import count_of


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
        text = f"{were} not judged by all raters, and {have} the shares of those who did"
        qrels.notes = [*qrels.notes, f"{qrels.name}: {partly:,} of {count_of(len(counts), 'document')} {text}"]
    return qrels


def _shares(votes: Counter[float]) -> dict[float, float]:
    return {label: count / votes.total() for label, count in sorted(votes.items())}
