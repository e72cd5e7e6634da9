"""Tokens are hashed, compared and sorted with array operations, as words of eight bytes.

A hash has 64 bits. Every word of a token is mixed separately, with a key of its own, before the words are added.
Otherwise a change in one word could cancel a change in another, as happens in numbered or padded names.

Look-ups use keys that are drawn anew in every process, so nobody can prepare a file of names that collide. Random ties
use fixed keys, since their order must be the same in every process. Equal hashes never count as equal names: the names
are always compared.
"""

import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradely.data.ids import PAD, Bools, Bytes, Ints, Tokens, U, Words

FIRST_FACTOR, SECOND_FACTOR = U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
"""multipliers of Stafford's mixer 13, whose shifts are below; with these, found by search, a change of one bit changes
about half of the others"""
GOLDEN = U(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio, whose multiples are far from one another"""
SALT = U(0xC2B2AE3D27D4EB4F)
"""an odd number, otherwise arbitrary, that keeps a query and a document of the same name from cancelling each other"""
LONG = 256
"""names longer than this many bytes are hashed one by one, since a loop over all their words would touch every line"""
TOGETHER = PAD // 8
"""number of words of a token that are fetched at once"""


FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=U)
"""masks for the first n bytes of a word in the text; a word is read with its first byte lowest"""
FINAL = np.array([((1 << (8 * n)) - 1) << (64 - 8 * n) if n else 0 for n in range(9)], dtype=U)
"""masks for the last n bytes of a word"""


def words_of(text: Bytes) -> Words:
    """Return a view of the text as 8-byte words, one beginning at every byte; nothing is copied."""
    return np.ndarray(len(text) - 7, "<u8", text, 0, (1,))


def whole_words(text: Bytes, start: Ints, count: int) -> Iterator[Words]:
    """Yield the first, second, … word of each token, as many as PAD bytes hold; bytes beyond a token are arbitrary.

    The words lie side by side and are fetched at once, which costs no more than fetching one.
    """
    if count > 1:
        rows = np.ndarray(len(text) - 8 * count + 1, f"V{8 * count}", text, 0, (1,))[start]
        yield from np.ascontiguousarray(rows.view(U).reshape(len(start), count).T)
    elif count:
        yield words_of(text)[start]


def compare_tokens(text: Bytes, start: Ints, other: Bytes, other_start: Ints, size: Ints) -> Bools:
    """Return flags of the pairs of tokens of the same size that are equal, byte for byte."""
    out = np.ones(len(size), bool)
    here, done = np.arange(len(size)), 0
    words, others = words_of(text), words_of(other)
    while len(here):
        mask = FIRST[np.minimum(size[here] - done, 8)]
        equal = (words[start[here] + done] & mask) == (others[other_start[here] + done] & mask)
        out[here[~equal]] = False
        done += 8
        here = here[equal & (size[here] > done)]
    return out


def new_tokens(text: Bytes, start: Ints, stop: Ints) -> Ints:
    """Return the lines whose token differs from the token of the line before.

    Whole words are compared first, including the bytes before a short token, which are mostly the same in all lines. If
    they differ, or if a token is long, the tokens themselves are compared.
    """
    size, words = stop - start, words_of(text)
    longest = int(size.max(initial=0))
    differs = (size[1:] != size[:-1]) | (size[1:] > LONG)
    for done in range(8, min(longest, LONG) + 8, 8):
        word = words[np.maximum(stop - done, 0)]
        differs |= word[1:] != word[:-1]
    maybe = np.flatnonzero(differs) + 1
    again = size[maybe] == size[maybe - 1]
    again[again] = compare_tokens(text, start[maybe[again]], text, start[maybe[again] - 1], size[maybe[again]])
    return np.concatenate([[0], maybe[~again]]) if len(size) else maybe


def has_repetition(key: Words, query: Ints, text: Bytes, start: Ints, stop: Ints) -> bool:
    """True if two lines have the same query and document; lines that merely share a key do not count.

    The arguments are the keys of all lines, the numbers of their queries, and the positions of their document names.
    """
    suspects = np.flatnonzero(is_among(key, find_repeated(key)))
    names = {(int(query[i]), text[start[i] : stop[i]].tobytes()) for i in suspects.tolist()}
    return len(names) < len(suspects)


def keys_from(seed: int) -> Words:
    """Return keys, one for each word of a token and one for its end."""
    return stir(np.arange(1, LONG // 8 + 2, dtype=U) * GOLDEN, U(seed))


def stir(words: Words, key: np.uint64) -> Words:
    """Mix words in place: every bit changes about half of the others, and different words stay different.

    The first shift matters: the last characters of a word are its highest bits, which a product does not move.
    """
    words ^= key
    words ^= words >> U(30)
    words *= FIRST_FACTOR
    words ^= words >> U(27)
    words *= SECOND_FACTOR
    words ^= words >> U(31)
    return words


PROCESS_KEYS = keys_from(int.from_bytes(os.urandom(8), "little"))
FIXED_KEYS = keys_from(0)


def hashes(text: Bytes, start: Ints, stop: Ints, keys: Words = PROCESS_KEYS) -> Words:
    """Hash each token from its size, its last eight bytes and the whole words before them."""
    size = stop - start
    shortest, longest = int(size.min(initial=LONG)), int(size.max(initial=0))
    out: Words = words_of(text)[stop - 8]
    if shortest < 8:
        out &= FINAL[np.minimum(size, 8)]
    out ^= size.view(U) * GOLDEN
    stir(out, keys[0])
    for i, words in enumerate(whole_words(text, start, min(max(longest - 1, 0) // 8, TOGETHER))):
        stir(words, keys[i + 1])
        out += words * (size > 8 * (i + 1)) if shortest <= 8 * (i + 1) else words
    _add_the_rest(out, text, start, size, keys)
    return out


def _add_the_rest(out: Words, text: Bytes, start: Ints, size: Ints, keys: Words) -> None:
    """Add the words of long tokens that were not fetched together."""
    words = words_of(text)
    for i in range(TOGETHER, LONG // 8):
        here = np.flatnonzero(size > 8 * (i + 1))
        if not len(here):
            return
        out[here] += stir(words[start[here] + 8 * i], keys[i + 1])
    for i in np.flatnonzero(size > LONG).tolist():
        out[i] = _hash_long(text[start[i] : start[i] + size[i]].tobytes(), keys)


def _hash_long(token: bytes, keys: Words) -> int:
    from hashlib import blake2b

    return int.from_bytes(blake2b(token, digest_size=8, key=keys[:8].tobytes()).digest(), "little")


def token_hashes(tokens: Tokens, keys: Words = PROCESS_KEYS) -> Words:
    """Hash each token."""
    start = tokens.start.astype(np.int64)
    return hashes(tokens.text, start, start + tokens.size, keys)


def shuffle_keys(seed: int, query: Words, docs: Words) -> Words:
    """Return a key for each document; sorting the documents of a query by it shuffles them with the seed.

    Queries and documents are given by hashes with the fixed keys, so the order depends only on the seed and the names,
    not on the order of the input, the process or the number of threads.
    """
    drawn = token_hashes(Tokens.of([b"%d" % seed]), FIXED_KEYS)
    return stir(stir(docs ^ query * SALT, drawn[0]), FIXED_KEYS[0])


def shuffle_keys_of(seed: int, query: bytes, docs: Sequence[bytes]) -> Words:
    """Return the same keys, for names as bytes."""
    return shuffle_keys(seed, token_hashes(Tokens.of([query]), FIXED_KEYS), token_hashes(Tokens.of(docs), FIXED_KEYS))


def slots(key: Words, shift: int, bits: int) -> Ints:
    """Return some bits of each key, as slots of a hash table."""
    return ((key >> U(max(shift, 0))) & U((1 << bits) - 1)).view(np.int64)


def table_bits(count: int) -> int:
    """Return the number of bits for a hash table that has few collisions and fits into the cache."""
    return min(19, max(8, (4 * count).bit_length()))


def is_distinct(key: Words) -> bool:
    """True if there are no duplicate keys.

    All keys are written into a small table, where later ones overwrite earlier ones. A key that was overwritten is
    either equal to the one in its slot, or goes into the next round, with other slots.
    """
    for top in (64, 48, 40, 32):
        bits = table_bits(len(key))
        table = np.empty(1 << bits, np.int32)
        number, slot = np.arange(len(key), dtype=np.int32), slots(key, top - bits, bits)
        table[slot] = number
        winner = table[slot]
        lost = np.flatnonzero(winner != number)
        if (key[lost] == key[winner[lost]]).any():
            return False
        key = key[lost]
    return not len(find_repeated(key))


def find_repeated(key: Words) -> Words:
    """Return the duplicate keys, each once, sorted."""
    key = np.sort(key)
    repeated = key[1:][key[1:] == key[:-1]]
    out: Words = repeated[np.append(True, repeated[1:] != repeated[:-1])[: len(repeated)]]
    return out  # np.unique would import numpy.ma, which takes 6 ms


def is_among(key: Words, few: Words) -> Bools:
    """Return flags of the keys that are among a few sorted ones."""
    at = np.minimum(np.searchsorted(few, key), max(len(few) - 1, 0))
    return few[at] == key if len(few) else np.zeros(len(key), bool)


def match_keys(key: Words, listed: Words) -> tuple[Ints, Ints]:
    """Return all pairs of equal keys: their positions among the keys, ascending, and among the listed ones.

    Some bits of a listed key determine its slot in a hash table. If two share a slot, one goes into the next round,
    which uses other bits of the key.
    """
    rest = np.arange(len(listed))
    at, matches = [np.zeros(0, np.int64)], [rest[:0]]
    for top in (64, 56, 48, 40, 32):
        bits = max(12, (8 * len(rest)).bit_length())
        place, number = slots(listed, top - bits, bits), np.arange(len(rest), dtype=np.int32)
        table = np.full(1 << bits, -1, np.int32)
        table[place] = number
        there = table[slots(key, top - bits, bits)]
        line = np.flatnonzero(there >= 0)
        line = line[listed[there[line]] == key[line]]
        at.append(line)
        matches.append(rest[there[line]])
        lost = np.flatnonzero(table[place] != number)
        if not len(lost):
            break
        listed, rest = listed[lost], rest[lost]
    else:
        line, match = _all_pairs(key, listed)
        at.append(line)
        matches.append(rest[match])
    line, match = np.concatenate(at), np.concatenate(matches)
    order = np.argsort(line, kind="stable")
    return line[order], match[order]


def _all_pairs(key: Words, listed: Words) -> tuple[Ints, Ints]:
    """Return the same pairs in any order, for keys that many listed ones share."""
    order = np.argsort(listed, kind="stable")
    low, high = (np.searchsorted(listed[order], key, side) for side in ("left", "right"))
    return np.repeat(np.arange(len(key)), high - low), order[ranges(low, high - low)]


def compare_names(
    text: Bytes, start: Ints, stop: Ints, other: Bytes, other_start: Ints, other_stop: Ints
) -> np.ndarray:
    """Compare pairs of names by their bytes: -1 if the first is less, 0 if they are equal, 1 if it is greater."""
    size, other_size = stop - start, other_stop - other_start
    out = np.sign(size - other_size).astype(np.int8)  # if one is a prefix of the other, the longer is greater
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
    """Return the rank of each name when the groups are in order and the names within each are sorted by their bytes.

    Names are sorted by their first words, then those that are still equal by their second words, and so on.
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
    _refine(place, alike, size[alike])  # one is a prefix of the other, which continues with zero bytes
    return place


def _order_words(text: Bytes, at: Ints, size: Ints) -> Words:
    """Return the words at some positions, cut to their first `size` bytes, as numbers that sort like the bytes."""
    words = words_of(text)
    return (words[np.minimum(at, len(words) - 1)] & FIRST[np.minimum(size, 8)]).byteswap()


def _find_shared_places(place: Ints, rows: Ints) -> Ints:
    """Return the rows of names that share their rank with another name."""
    order = rows[np.argsort(place[rows], kind="stable")]
    same = np.diff(place[order]) == 0
    flags = np.concatenate([[False], same, [False]])
    alike: Ints = order[flags[: len(order)] | flags[1:][: len(order)]]
    return alike


def _refine(place: Ints, rows: Ints, key: Words | Ints) -> None:
    """Separate names that share a rank, by a key."""
    order = np.lexsort((key, place[rows]))
    before, key, rows = place[rows][order], key[order], rows[order]
    new_place = np.diff(before, prepend=-1) != 0
    new = new_place | np.append(True, key[1:] != key[:-1])[: len(key)]
    at = np.arange(len(rows))
    first_of_place, first = (np.maximum.accumulate(np.where(flag, at, 0)) for flag in (new_place, new))
    place[rows] = before + first - first_of_place


def ranges(start: Ints, size: Ints) -> Ints:
    """Concatenate the ranges start, start + 1, … start + size - 1."""
    skipped = start - (np.cumsum(size) - size)
    return np.repeat(skipped, size) + np.arange(int(size.sum()))


def end_of_better(low: Ints, high: Ints, better: Callable[[Ints], Bools]) -> Ints:
    """Return the end of the better entries in each range low … high - 1, which is sorted best first.

    `better` is called with one position of every range at a time; its answer is ignored for ranges that are done.
    """
    while (searching := low < high).any():
        middle = np.where(searching, (low + high) >> 1, 0)
        up = searching & better(middle)
        low, high = np.where(up, middle + 1, low), np.where(searching & ~up, middle, high)
    return low
