"""Pairs of runs that the labels of unjudged documents could reverse, whether or not they are significant."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise
from gradely.evaluation.label_bounds import LabelRanges
from gradely.evaluation.label_ranges import is_decided
from gradely.evaluation.notes import NAMED, Note
from gradely.tables import count_of


class PairHoles(NamedTuple):
    """The range of a difference over the labels of unjudged documents."""

    holes_low: float
    holes_high: float
    decided: bool
    """whether the order of both runs is the same for all labels"""


@dataclass(eq=False, repr=False)
class OpenPairs:
    """The ranges of the tested differences by the measures that have ranges."""

    pairwise: Pairwise
    found: LabelRanges | None
    unbounded: list[Note]
    """notes on measures without a range"""

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str, str], PairHoles]:
        found = {}
        for measure in [] if self.found is None else self.found.bounds:
            for (first, second), ends in zip(self.pairwise.named_pairs, self._ends(measure), strict=True):
                found[measure, first, second] = PairHoles(*ends, is_decided(*ends))
        return found

    def _ends(self, measure: str) -> list[tuple[float, float]]:
        assert self.found is not None
        at = {name: i for i, name in enumerate(self.found.runs)}
        number = np.array([at[name] for name in self.pairwise.names])
        low, high = self.found.differences(measure, *(number[column] for column in self.pairwise.pairs))
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def of(self, measure: str, first: str, second: str) -> PairHoles | None:
        """Return the range of the difference of a tested pair; None if the measure has no range."""
        return self._by_pair.get((measure, first, second))

    def is_open(self, measure: str, one: str, other: str) -> bool:
        """Return whether labels could reverse two runs, given in either order."""
        pair = self.of(measure, one, other) or self.of(measure, other, one)
        return pair is not None and not pair.decided

    def notes(self) -> list[Note]:
        """Return the number of open pairs by each measure, and the significant ones among them."""
        measures = [] if self.found is None else list(self.found.bounds)
        return [note for measure in measures for note in self._note(measure)] + self.unbounded

    def _note(self, measure: str) -> list[Note]:
        assert self.found is not None
        m = self.pairwise.measures.index(measure)
        is_open = [self.is_open(measure, *pair) for pair in self.pairwise.named_pairs]
        adjusted = self.pairwise.adjusted[m].tolist()
        significant = [
            f"{first} and {second}"
            for (first, second), p, flag in zip(self.pairwise.named_pairs, adjusted, is_open, strict=True)
            if flag and p < self.pairwise.design.alpha
        ]
        documents = count_of(self.found.unjudged[measure], "unjudged document")
        labels = f"the labels of {documents} in the top {self.found.depths[measure]:,}"
        count, pairs = sum(is_open), count_of(len(is_open), "pair")
        if not is_open or not self.found.unjudged[measure]:
            return []
        if not count:
            return [Note("holes", 0, len(is_open), f"{labels} could reverse none of {pairs} by {measure}")]
        named = ", ".join(significant[:NAMED]) + (", …" if len(significant) > NAMED else "")
        tested = f", {len(significant):,} of them significant: {named}" if significant else ", none significant"
        bounds = "" if self.found.bounds[measure].exact_pairs else "; ranges are bounds, so it may be fewer"
        text = f"{labels} could reverse {count:,} of {pairs} by {measure}{tested}{bounds}"
        return [Note("holes", count, len(is_open), text)]
