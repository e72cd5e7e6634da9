"""Lines that are there twice, found by their keys in files of any length; names decide."""

from collections.abc import Iterable

import numpy as np

from gradely.data.trec.chunks import IrregularText
from gradely.data.trec.hashing import find_repeated, is_among, is_distinct
from gradely.data.trec.place import Lines
from gradely.data.trec.spool import Spool
from gradely.data.trec.tokens import Ids
from gradely.data.types import Words

CHANCE = 1000
"""keys that lines may share by chance: a billion lines share 0.03 on average"""


def find_repeats(keys: Spool) -> Words:
    """Return the keys of more than one line; raise IrregularText where they are too many for chance."""
    repeats = np.zeros(0, np.uint64)
    for part in keys.parts():
        if not is_distinct(part):
            repeats = np.concatenate([repeats, find_repeated(part)])
        if len(repeats) > CHANCE:
            raise IrregularText
    return np.sort(repeats)


def lines_with(lines: Lines, keys: Words) -> list[tuple[bytes, bytes]]:
    """Return query and document of the lines that have one of these keys."""
    line = np.flatnonzero(is_among(lines.key, keys))
    docs = Ids(lines.text, lines.start, lines.stop)
    return [
        (lines.name.bytes_at(owner), docs.bytes_at(i))
        for owner, i in zip(lines.owner(line).tolist(), line.tolist(), strict=True)
    ]


def check_names(pieces: Iterable[list[tuple[bytes, bytes]]]) -> None:
    """Raise IrregularText where lines of the same key are about the same query and document, too."""
    names: set[tuple[bytes, bytes]] = set()
    for part in pieces:
        before = len(names)
        names.update(part)
        if len(names) < before + len(part):
            raise IrregularText
