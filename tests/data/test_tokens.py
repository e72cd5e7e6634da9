"""Tokens: byte strings in one buffer, compared byte for byte and put in order, whatever stands around them."""

import numpy as np
import pytest

from gradely.data.hashing import compare_names, rank_names
from gradely.data.ids import Tokens, as_tokens, compare_tokens, decode, encode, whole_words

NAMES = [
    b"",
    b"\0",
    b"\0\0",
    b"a",
    b"a\0",
    b"ab",
    b"abcdefg",
    b"abcdefgh",
    b"abcdefgh\0",
    b"abcdefghi",
    b"abcdefgi",
    b"abcdefgh12345678",
    b"abcdefgh12345679",
    b"abcdefgh123456789",
    b"b",
    b"\xff",
    b"\xc3\xa9",
    b"x" * 63,
    b"x" * 64,
    b"x" * 65,
    b"x" * 64 + b"y",
    b"y" * 300,
]


def test_tokens_are_a_sequence_of_text():
    tokens = Tokens.of(NAMES)
    assert len(tokens) == len(NAMES)
    assert list(tokens) == [decode(name) for name in NAMES]
    assert tokens[3:9:2] == [decode(name) for name in NAMES[3:9:2]]
    assert [tokens.bytes_at(i) for i in range(len(NAMES))] == NAMES
    assert as_tokens(tokens) is tokens
    assert list(as_tokens(["é", "", "x"])) == ["é", "", "x"]


@pytest.mark.parametrize("text", ["", "é", "\udcff", "a\udc80b"])
def test_ids_become_bytes_and_back(text):
    assert decode(encode(text)) == text


def test_other_lone_surrogates_become_bytes_too():
    assert encode("a\ud800") == b"a\xed\xa0\x80"


@pytest.mark.parametrize("count", range(9))
def test_words_side_by_side(count):
    text = np.arange(200, dtype=np.uint8)
    start = np.array([64, 65, 100, 130])
    words = [word.view(np.uint8).reshape(4, 8).tolist() for word in whole_words(text, start, count)]
    assert words == [[list(range(at + 8 * i, at + 8 * i + 8)) for at in start.tolist()] for i in range(count)]


def pairs():
    """Return tokens, and every pair of them by number."""
    one, other = np.indices((len(NAMES), len(NAMES))).reshape(2, -1)
    return Tokens.of(NAMES), one, other


def test_tokens_of_the_same_size_are_compared_byte_for_byte():
    tokens, one, other = pairs()
    same = tokens.size[one] == tokens.size[other]
    one, other = one[same], other[same]
    reverse = Tokens.of(NAMES[::-1])
    equal = compare_tokens(
        tokens.text, tokens.start[one], reverse.text, reverse.start[len(NAMES) - 1 - other], tokens.size[one]
    )
    assert equal.tolist() == (one == other).tolist()


def test_one_byte_anywhere_makes_a_difference():
    names = [b"x" * i + b"y" + b"x" * (29 - i) for i in range(30)]
    tokens, first = Tokens.of([*names, b"x" * 30]), np.full(30, 30)
    equal = compare_tokens(tokens.text, tokens.start[:30], tokens.text, tokens.start[first], tokens.size[:30])
    assert not equal.any()


def test_names_are_compared_by_their_bytes():
    tokens, one, other = pairs()
    stop = tokens.start + tokens.size
    sign = compare_names(tokens.text, tokens.start[one], stop[one], tokens.text, tokens.start[other], stop[other])
    expected = [
        (NAMES[i] > NAMES[j]) - (NAMES[i] < NAMES[j]) for i, j in zip(one.tolist(), other.tolist(), strict=True)
    ]
    assert sign.tolist() == expected


@pytest.mark.parametrize("groups", [1, 2, 5, 100])
def test_names_have_places_by_group_and_bytes(groups):
    rng = np.random.default_rng(groups)
    names = [NAMES[i] for i in rng.permutation(len(NAMES)).tolist()] * 2
    group = np.arange(len(names)) // len(NAMES) * groups + rng.integers(0, groups, len(names))
    tokens = Tokens.of(names)
    place = rank_names(tokens.text, tokens.start, tokens.start + tokens.size, group)
    order = sorted(range(len(names)), key=lambda i: (group[i], names[i]))
    first = {}
    for at, i in enumerate(order):
        first.setdefault((int(group[i]), names[i]), at)
    assert place.tolist() == [first[int(group[i]), names[i]] for i in range(len(names))]


def test_places_of_no_names():
    empty = np.zeros(0, np.int64)
    assert rank_names(Tokens.of([]).text, empty, empty, empty).tolist() == []
