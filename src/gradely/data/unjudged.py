"""Unjudged: the queries of a run without judgments: their number, and the names that are needed."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Self

import numpy as np

from gradely.data.columns import compact, concatenate, number_ids
from gradely.data.hashing import is_among, is_distinct, token_hashes
from gradely.data.ids import Ids, Words, as_tokens
from gradely.data.spool import NamedRows, NameSpool, Spool
from gradely.settings import Settings

EXAMPLES = 10_000
"""number of names that are kept as examples: enough to find ids that look alike"""


class Unjudged(NamedTuple):
    """The queries of a run that have no judgments."""

    size: int = 0
    names: Sequence[str] = ()
    """all names, in the order of the run, if these queries count; otherwise the first ones"""

    @classmethod
    def of(cls, names: Iterable[str], settings: Settings, left_out: Collection[str] = ()) -> "Unjudged":
        """Return queries that are all in memory; those of the qrels that were left out are not among them."""
        kept = [name for name in names if name not in left_out]
        return cls(len(kept), tuple(kept if settings.counts_unjudged else kept[:EXAMPLES]))


class UnjudgedNames:
    """Collects the queries without judgments part by part.

    Their hashes, or their names if a query may be in several parts, go to a temporary file if they are many. Only if
    they count, all names are kept, in one buffer.
    """

    def __init__(self, run: str, settings: Settings, left_out: Collection[str], *, together: bool) -> None:
        """Store the name of the run, for errors, and the queries of the qrels that were left out.

        `together` is true if the lines of each query should be in one part.
        """
        self.added = 0
        """number of queries in all parts; a query that is in several parts counts in each"""
        self.together = together
        self._spool = Spool(run, np.uint64) if together else NameSpool(run)
        self._names: list[Ids] | None = [] if settings.counts_unjudged else None
        """all names, if they are needed and no query is in several parts"""
        self._examples: dict[str, None] = {}
        self._left_out, self._left_out_hashes = left_out, np.sort(token_hashes(as_tokens(list(left_out))))
        self._met: set[str] = set()
        """the queries of the run that were left out"""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the temporary file."""
        self._spool.__exit__()

    def add(self, names: Ids, keys: Words) -> None:
        """Add the queries of a part, given their hashes."""
        if isinstance(self._spool, Spool):
            self._spool.add(keys, keys.astype(np.uint8))
            if self._names is not None:
                self._names.append(names)
        else:
            number = np.arange(self.added, self.added + len(keys), dtype=np.float64)
            self._spool.add(NamedRows([names], number), keys.astype(np.uint8))
        self.added += len(keys)
        if self._left_out:
            here = np.flatnonzero(is_among(keys, self._left_out_hashes))
            self._met.update(name for name in names.take(here).names() if name in self._left_out)
        if self._names is None and len(self._examples) < EXAMPLES:
            new = (name for name in map(names.name, range(len(keys))) if name not in self._left_out)
            self._examples.update(dict.fromkeys(islice(new, EXAMPLES)))

    @property
    def are_together(self) -> bool:
        """True if no query is in two parts; false if two queries share a hash, too."""
        return isinstance(self._spool, NameSpool) or all(map(is_distinct, self._spool.parts()))

    def all(self) -> Unjudged:
        """Return the queries, each once."""
        names, size = self._names, self.added
        if isinstance(self._spool, NameSpool):
            names, size = self._each_once(self._spool)
        size -= len(self._met)
        if names is None or not size:
            return Unjudged(size, tuple(islice(self._examples, EXAMPLES)))
        every = concatenate(names).tokens()
        return Unjudged(size, [name for name in every if name not in self._met] if self._met else every)

    def _each_once(self, spool: NameSpool) -> tuple[list[Ids] | None, int]:
        """Return all names if they are needed, in the order of first appearance, and their number."""
        size, names, numbers = 0, [], []
        for rows in spool.parts():
            first = number_ids(rows.names[0])[1]
            size += len(first)
            if self._names is not None:
                names.append(compact(rows.names[0].take(first)))
                numbers.append(rows.value[first])
        if not names:
            return None, size
        return [concatenate(names).take(np.argsort(np.concatenate(numbers)))], size
