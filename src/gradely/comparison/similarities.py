"""Similarities of two rankings of documents: RBO, Kendall's τ, τ_AP and Jaccard's index.

All orders of tied documents are equally likely, and independent between both rankings.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import comb, log
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from gradely.comparison.kendall import correlate_both, kendall
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import MeasureError, did_you_mean
from gradely.kernel.parameters import CHANCE_TO_GO_ON, Named, one_of, parameter
from gradely.measures.names import plain_name, take_apart

ROWS = 1 << 10
"""number of pairs of tie groups that are processed at a time"""


class Ranking(NamedTuple):
    """A ranking: the numbers of documents above each document and tied with it, for the documents of both rankings."""

    above: Ints
    """-1 for documents that this ranking lacks"""
    tied: Ints
    length: int

    @classmethod
    def of(cls, scores: Floats, among: Ints, documents: int) -> "Ranking":
        """Rank documents by score; `among` are their indices among all documents."""
        ascending = np.sort(scores)
        left, right = (np.searchsorted(ascending, scores, side) for side in ("left", "right"))
        above, tied = np.full(documents, -1), np.ones(documents, np.int64)
        above[among], tied[among] = len(scores) - right, right - left
        return cls(above, tied, len(scores))

    def top(self, k: int | None) -> "Ranking":
        """Return the ranking truncated at rank k; documents of a tie group across k are equally likely to be in it."""
        if k is None or k >= self.length:
            return self
        return Ranking(np.where(self.above < k, self.above, -1), self.tied, k)

    @property
    def has(self) -> Bools:
        """Whether the ranking has each document."""
        return self.above >= 0

    def chances(self, flags: Any, depths: Floats) -> Floats:
        """Return the probability [documents, depths] of each flagged document to be ranked at each depth or above."""
        above, tied = self.above[flags, None], self.tied[flags, None]
        return np.clip(depths - above, 0, tied) / tied


class Similarity(Named):
    """A similarity of two rankings; NaN if it is undefined."""

    title: ClassVar[str]
    """a short description"""
    is_symmetric: ClassVar[bool] = True
    undefined: ClassVar[str] = ""
    """the condition under which it is undefined"""
    k: int | None = parameter(default=None, doc="only the top k of both rankings count", kw_only=False)

    def __call__(self, x: Ranking, y: Ranking) -> float:
        """Return the similarity of two rankings."""
        return self.compare(x.top(self.k), y.top(self.k))

    def compare(self, x: Ranking, y: Ranking) -> float:
        """Return the similarity of two rankings truncated at the cut-off."""
        raise NotImplementedError


class RBO(Similarity):
    """Rank-biased overlap: the overlap of the top d documents, averaged over the depths at which users stop.

        RBO = (1-p) Σ_d p^(d-1)·A_d

    A_d is the number of documents that both have in their top d, over d. Below the end of the rankings, score="ext"
    extrapolates the agreement (equation 32 of the paper), and score="min" assumes that no other documents are shared.

    Ties: ties="a" is the exact mean over all orders of tied documents in both rankings. ties="b" normalises it, so that
    a ranking with ties agrees fully with itself.
    Reference: Webber, Moffat, Zobel, A similarity measure for indefinite rankings (2010); Corsi and Urbano, The
    treatment of ties in rank-biased overlap (2024).
    """

    name = "RBO"
    title = "rank-biased overlap"
    p: float = parameter(
        default=0.9, doc="the probability that the reader goes on to the next rank", check=CHANCE_TO_GO_ON
    )
    score: str = parameter(
        default="ext", doc="'ext', extrapolated, or 'min', the lower bound", check=one_of(("ext", "min"))
    )
    ties: str = parameter(
        default="a", doc="'a', the mean over orders of ties, or 'b', corrected for ties", check=one_of(("a", "b"))
    )

    def compare(self, x: Ranking, y: Ranking) -> float:
        """Return the weighted mean of the agreement at each depth."""
        short, long = sorted((x, y), key=lambda places: places.length)
        s, depths = short.length, np.arange(1, long.length + 1, dtype=np.float64)
        common = overlap_at(x, y, depths)
        norm = depths if self.ties == "a" else _blurred_norm(short, long, depths)
        weights = (1 - self.p) / self.p * self.p**depths
        if self.score == "min":
            beyond = max(0.0, -log(1 - self.p) - float(np.sum(self.p**depths / depths)))
            return float(weights @ (common / norm)) + (1 - self.p) / self.p * float(common[-1]) * beyond
        agreement = common[s - 1] / norm[s - 1]  # which the shorter ranking is taken to keep
        unseen = np.maximum(depths - s, 0.0)
        seen = np.ones_like(depths) if self.ties == "a" else _mean_chance_of_unseen(short, long, depths)
        extended = (common + agreement * unseen * seen) / norm
        last = (common[-1] + agreement * unseen[-1]) / depths[-1]
        return float(weights @ extended + last * self.p ** depths[-1])


def overlap_at(x: Ranking, y: Ranking, depths: Floats) -> Floats:
    """Return the mean number of documents shared by the top d of both, d = 1, 2, …, over all orders of ties.

    The orders are independent, so each shared document contributes the product of its probabilities.
    """
    both = x.has & y.has
    alone = both & (x.tied == 1) & (y.tied == 1)
    found = np.maximum(x.above[alone], y.above[alone])
    common = np.cumsum(np.bincount(found, minlength=len(depths))).astype(np.float64)
    shared = both & ~alone
    if shared.any():
        groups = np.stack([x.above, x.tied, y.above, y.tied])[:, shared]
        kinds, counts = np.unique(groups, axis=1, return_counts=True)
        for start in range(0, len(counts), ROWS):
            part = kinds[:, start : start + ROWS]
            chances = Ranking(part[0], part[1], 0).chances(..., depths) * Ranking(part[2], part[3], 0).chances(
                ..., depths
            )
            common += counts[start : start + ROWS] @ chances
    return common


def _blurred_norm(short: Ranking, long: Ranking, depths: Floats) -> Floats:
    """Return the product of the norms of both rankings' probabilities; the shorter one is untied below its end."""
    ended = depths > short.length
    norms = np.where(ended, depths, _squares(short, depths)) * _squares(long, depths)
    return np.sqrt(norms)


def _squares(places: Ranking, depths: Floats) -> Floats:
    """Return the sum over documents of the squared probability of being in the top d."""
    groups, sizes = np.unique(np.stack([places.above, places.tied])[:, places.has], axis=1, return_counts=True)
    total = np.zeros_like(depths)
    for start in range(0, len(sizes), ROWS):
        part = Ranking(groups[0, start : start + ROWS], groups[1, start : start + ROWS], 0)
        total += sizes[start : start + ROWS] @ part.chances(..., depths) ** 2
    return total


def _mean_chance_of_unseen(short: Ranking, long: Ranking, depths: Floats) -> Floats:
    """Return the mean probability, below the end of the shorter ranking, of documents that only the longer one has."""
    flags = np.flatnonzero(long.has & ~short.has)
    new = long.chances(flags[np.argsort(long.above[flags])], depths)
    reached = np.count_nonzero(new, axis=0)
    return np.where(depths > short.length, np.sum(new, axis=0) / np.maximum(reached, 1), 1.0)


def shared_places(x: Ranking, y: Ranking) -> tuple[Ints, Ints]:
    """Return the positions of shared documents in both, in rank order, independent of the order of input."""
    both = np.flatnonzero(x.has & y.has)
    both = both[np.lexsort((y.above[both], x.above[both]))]
    return x.above[both], y.above[both]


class Tau(Similarity):
    """Kendall's τ (τ_b) over the documents that both rankings have: 1 in the same order, -1 in the opposite order.

    Ties: as in τ_b, tied pairs count neither as agreement nor as disagreement. Tied documents at the cut-off are all
    included.
    Reference: Kendall, The treatment of ties in ranking problems (1945).
    """

    name = "tau"
    title = "Kendall's τ of the shared documents"
    undefined = "fewer than two shared documents, or all of them tied"

    def compare(self, x: Ranking, y: Ranking) -> float:
        """Return τ_b over the shared documents."""
        first, second = shared_places(x, y)
        return kendall(-first, -second) if len(first) > 1 else np.nan


class TauAP(Similarity):
    """τ_AP over the documents that both rankings have, with most weight at the top; the second is the reference.

    Ties: the exact mean over the orders of tied documents; a pair that ties only in the reference counts half.
    Reference: Yilmaz, Aslam, Robertson, A new rank correlation coefficient for information retrieval (2008).
    """

    name = "tau_AP"
    title = "τ_AP of the shared documents, with the second run as the reference"
    is_symmetric = False
    undefined = Tau.undefined

    def compare(self, x: Ranking, y: Ranking) -> float:
        """Return τ_AP over the shared documents."""
        first, second = shared_places(x, y)
        return correlate_both(-first, -second)[1] if len(first) > 1 else np.nan


class Jaccard(Similarity):
    """The documents that both have in their top k, divided by the documents that either has.

    Ties: the exact mean over all orders of tied documents in both rankings.
    Reference: Jaccard (1901).
    """

    name = "Jaccard"
    title = "shared documents divided by all documents"

    def compare(self, x: Ranking, y: Ranking) -> float:
        """Return the mean of shared/all over the distribution of the number of shared documents.

        Among the documents tied at y's cut-off, x includes some for certain and others possibly. Given the numbers of
        both kinds that y includes, the number of the latter that x also includes has a hypergeometric distribution.
        """
        x_sure, x_cut, x_left = _divide(x)
        y_sure, y_cut, y_left = _divide(y)
        sure, only_y, only_x, both = (
            int(np.count_nonzero(flags)) for flags in (x_sure & y_sure, x_sure & y_cut, x_cut & y_sure, x_cut & y_cut)
        )
        n_x, n_y = (int(np.count_nonzero(cut)) for cut in (x_cut, y_cut))
        total, mean = x.length + y.length, 0.0
        for of_both, chance in enumerate(_draws(n_y, both, y_left)):
            for of_sure, second in enumerate(_draws(n_y - both, only_y, y_left - of_both)) if chance else ():
                third = np.asarray(_draws(n_x, only_x + of_both, x_left)) if second else np.zeros(0)
                shared = sure + of_sure + np.arange(len(third))
                mean += chance * second * float(np.sum(third * shared / np.maximum(total - shared, 1)))
        return mean


def _divide(places: Ranking) -> tuple[Bools, Bools, int]:
    """Return the documents certainly in a ranking, those tied at its end, and the number of these in it."""
    cut = places.has & (places.above + places.tied > places.length)
    sure = places.has & ~cut
    return sure, cut, places.length - int(np.count_nonzero(sure))


@lru_cache(maxsize=4096)
def _draws(n: int, special: int, drawn: int) -> tuple[float, ...]:
    """Return the hypergeometric probabilities of 0, 1, … special documents among those drawn from n."""
    every = comb(n, drawn)
    return tuple(comb(special, c) * comb(n - special, drawn - c) / every for c in range(min(special, drawn) + 1))


SIMILARITIES: dict[str, type[Similarity]] = {kind.name: kind for kind in (RBO, Tau, TauAP, Jaccard)}
OTHERS = {"rank_biased_overlap": "RBO", "kendall": "tau", "kendalltau": "tau", "τ": "tau", "τ_AP": "tau_AP"}
"""alternative names"""
SimilarityLike: TypeAlias = str | Similarity | type[Similarity]
BY_NAME = {
    plain_name(name): SIMILARITIES[target]
    for name, target in {**{name: name for name in SIMILARITIES}, **OTHERS}.items()
}


def parse(name: SimilarityLike) -> Similarity:
    """Return the similarity with a name like "RBO(p=0.95)" or "Jaccard@10"; a Similarity is returned unchanged.

    >>> str(parse("rbo(p=0.95, score=min)@100"))
    "RBO(p=0.95, score='min')@100"
    """
    if isinstance(name, Similarity):
        return name
    if isinstance(name, type) and issubclass(name, Similarity):
        return name()
    if not isinstance(name, str):
        raise MeasureError(f"a measure of overlap is a name like 'RBO' or 'Jaccard@10'; found {name!r}")
    call = take_apart(name.strip())
    kind = BY_NAME.get(plain_name(call.name))
    if kind is None:
        hint = did_you_mean(call.name, SIMILARITIES)
        raise MeasureError(f"no measure of overlap {call.name!r}: use {', '.join(SIMILARITIES)}.{hint}")
    unknown = next((key for key in call.arguments if key not in kind.parameters), None)
    if unknown is not None:
        raise MeasureError(f"{name}: {kind.name} has no parameter {unknown!r}, only {', '.join(kind.parameters)}")
    if call.at is not None and "k" in call.arguments:
        raise MeasureError(f"{name} has two cut-offs; leave out one")
    return kind(**call.arguments, **({} if call.at is None else {"k": call.at}))


def parse_all(names: SimilarityLike | Iterable[SimilarityLike]) -> dict[str, Similarity]:
    """Return {name: similarity}, with the names as they were given."""
    entries = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not entries:
        raise MeasureError(f"no measure of overlap given: name one of {', '.join(SIMILARITIES)}")
    return {entry.strip() if isinstance(entry, str) else str(parse(entry)): parse(entry) for entry in entries}
