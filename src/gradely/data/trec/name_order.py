"""The order of names by their bytes, word by word; a word is fetched only for names that are still alike."""

import numpy as np

from gradely.data.trec.tokens import FIRST, words_of
from gradely.data.types import Bytes, Ints, Words


def compare_names(
    text: Bytes, start: Ints, stop: Ints, other: Bytes, other_start: Ints, other_stop: Ints
) -> np.ndarray:
    """Return for each pair of names -1, 0 or 1: the first is less, the same, or greater, by bytes."""
    size, other_size = stop - start, other_stop - other_start
    out = np.sign(size - other_size).astype(np.int8)  # where one begins with the other, the longer is greater
    shared = np.minimum(size, other_size)
    pairs, done = np.arange(len(shared)), 0
    while len(pairs):
        left = _order_words(text, start[pairs] + done, shared[pairs] - done)
        right = _order_words(other, other_start[pairs] + done, shared[pairs] - done)
        differs = left != right
        out[pairs[differs]] = np.where(left > right, 1, -1)[differs]
        done += 8
        pairs = pairs[~differs & (shared[pairs] > done)]
    return out


def rank_names(text: Bytes, start: Ints, stop: Ints, group: Ints) -> Ints:
    """Return the place of each name when groups are in order and so are the names in each, by bytes.

    Names are sorted by their first words, then those that are alike by their second ones, and so on.
    """
    size = stop - start
    place = np.searchsorted(np.sort(group), group)
    alike, done = _find_shared_places(place, np.arange(len(group))), 0
    while len(alike) and int(size[alike].max()) > done:
        word = _order_words(text, start[alike] + done, np.maximum(size[alike] - done, 0))
        if not (word == word[0]).all():
            _refine(place, alike, word)
            alike = _find_shared_places(place, alike)
        done += 8
    _refine(place, alike, size[alike])  # one begins with the other and goes on with zero bytes
    return place


def _order_words(text: Bytes, at: Ints, size: Ints) -> Words:
    """Return the words at some places, of which the first `size` bytes count, as numbers that order as the bytes do."""
    words = words_of(text)
    return (words[np.minimum(at, len(words) - 1)] & FIRST[np.minimum(size, 8)]).byteswap()


def _find_shared_places(place: Ints, rows: Ints) -> Ints:
    """Return those of some names whose place is that of another one, too."""
    order = rows[np.argsort(place[rows], kind="stable")]
    same = np.diff(place[order]) == 0
    flags = np.concatenate([[False], same, [False]])
    alike: Ints = order[flags[: len(order)] | flags[1:][: len(order)]]
    return alike


def _refine(place: Ints, rows: Ints, key: Words | Ints) -> None:
    """Move names that share a place apart, by a key."""
    order = np.lexsort((key, place[rows]))
    before, key, rows = place[rows][order], key[order], rows[order]
    new_place = np.diff(before, prepend=-1) != 0
    new = new_place | np.append(True, key[1:] != key[:-1])[: len(key)]
    at = np.arange(len(rows))
    first_of_place, first = (np.maximum.accumulate(np.where(flag, at, 0)) for flag in (new_place, new))
    place[rows] = before + first - first_of_place
