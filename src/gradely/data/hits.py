"""Hits: the judged documents that a run retrieved, and where they stand."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.types import Ints


class Hits(NamedTuple):
    """One entry per judged, retrieved document, and what is known of each query of the judgments."""

    query: npt.NDArray[np.integer]
    """index of the query in the judgments"""
    row: npt.NDArray[np.integer]
    """row of the document in the judgments"""
    above: npt.NDArray[np.integer]
    """how many retrieved documents have a strictly better score"""
    tied: npt.NDArray[np.integer]
    """how many share its score, itself included"""
    place: npt.NDArray[np.integer] | None
    """how many stand above it once ties are broken; None where ties stay"""
    retrieved: Ints
    """[queries] the length of each ranking"""
    answered: npt.NDArray[np.bool_]
    """[queries] true where the run has the query at all"""
    unjudged: tuple[str, ...]
    """queries of the run that have no judgments"""
    excluded: int = 0
    """how many documents were dropped from the rankings first"""

    @property
    def documents(self) -> int:
        """How many documents the run has for the judged queries."""
        return int(self.retrieved.sum())

    def loose(self, queries: npt.NDArray[np.bool_]) -> "Hits":
        """Return the hits of some queries, flagged, with ties as they are."""
        return self._replace(place=None).only(queries[self.query])

    def only(self, which: npt.NDArray[np.bool_]) -> "Hits":
        """Return some of the hits, flagged."""
        query, row, above, tied = (column[which] for column in (self.query, self.row, self.above, self.tied))
        place = None if self.place is None else self.place[which]
        return self._replace(query=query, row=row, above=above, tied=tied, place=place)

    def judged_only(self) -> "Hits":
        """Return the hits as if the run held no other documents."""
        first, count = self._rank_by(self.above)
        place = None if self.place is None else self._rank_by(self.place)[0]
        return self._replace(
            above=first, tied=count, place=place, retrieved=np.bincount(self.query, minlength=len(self.retrieved))
        )

    def _rank_by(self, key: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return how many hits of the same query have a lower key than each one, and how many the same."""
        order = np.lexsort((key, self.query))
        query, key = self.query[order], key[order]
        new_query = np.flatnonzero(np.diff(query, prepend=-1))
        new = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(key, prepend=-1) != 0))
        size = np.diff(new, append=len(query))
        group = np.repeat(np.arange(len(new)), size)
        base = np.repeat(new_query, np.diff(new_query, append=len(query)))
        first, count = np.empty_like(key), np.empty_like(key)
        first[order], count[order] = new[group] - base, size[group]
        return first, count
