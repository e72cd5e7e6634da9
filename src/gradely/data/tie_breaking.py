"""Tie policies that go by document: each puts the tied documents of a query in order, best first."""

from collections.abc import Sequence

import numpy as np

from gradely.data.trec.hashing import shuffle_keys_of
from gradely.data.trec.tokens import encode
from gradely.data.types import Floats, Ints
from gradely.settings import Settings


def break_ties(settings: Settings, query: str, tied: list[str]) -> list[str]:
    """Return tied documents of a query, given in the order of the input, as the policy has them."""
    if settings.ties == "trec":
        return sorted(tied, reverse=True)  # Python compares code points, which orders as UTF-8 bytes do
    if settings.ties == "order":
        return tied
    names = [encode(doc) for doc in tied]
    keys = shuffle_keys_of(settings.seed, encode(query), names).tolist()
    return [doc for *_, doc in sorted(zip(keys, names, tied, strict=True))]


def places_among_tied(
    settings: Settings, query: str, ranking: list[str], scores: Floats, docs: Sequence[str], mine: Floats
) -> Ints:
    """Return the place of each of some documents of a ranking, given with their scores, among those that share it."""
    order = np.argsort(-scores, kind="stable")
    descending = -scores[order]
    out = np.zeros(len(docs), np.int64)
    groups: dict[float, list[int]] = {}
    for i, score in enumerate(mine.tolist()):
        groups.setdefault(score, []).append(i)
    for score, members in groups.items():
        first, last = (int(np.searchsorted(descending, -score, side)) for side in ("left", "right"))
        tied = break_ties(settings, query, [ranking[i] for i in order[first:last].tolist()])
        place = {doc: i for i, doc in enumerate(tied)}
        out[members] = [place[docs[i]] for i in members]
    return out
