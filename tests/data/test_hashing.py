"""Hashes of names that people use, which collide no more than random numbers would, and names compared by bytes."""

import subprocess
import sys
import uuid
from itertools import product

import numpy as np
import pytest

import gradely
from gradely.data import hashing
from gradely.data.hashing import (
    FIXED_KEYS,
    compare_names,
    compare_tokens,
    find_repeated,
    hashes,
    is_among,
    is_distinct,
    keys_from,
    rank_names,
    shuffle_keys,
    shuffle_keys_of,
    slots,
    table_bits,
    token_hashes,
    whole_words,
)
from gradely.data.ids import Tokens, as_tokens, decode, encode

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
COUNT = 100_000


def base62(number, width):
    return "".join(BASE62[number // 62**i % 62] for i in reversed(range(width)))


def identifiers(count):
    rng = np.random.default_rng(1)
    return [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(count)]


FAMILIES = {
    "base 62": lambda n: [base62(i, 4) for i in range(n)],
    "base 62 after a word": lambda n: [f"doc{base62(i, 5)}" for i in range(n)],
    "base 62 in two words": lambda n: [f"{base62(i // 317, 8)}{base62(i % 317, 8)}" for i in range(n)],
    "uuid": identifiers,
    "numbers": lambda n: [str(i) for i in range(n)],
    "zero-padded": lambda n: [f"doc{i:08d}" for i in range(n)],
    "zero-padded, long": lambda n: [
        f"clueweb22-en{i % 100:04d}-{i // 100 % 100:02d}-{i // 10_000:05d}" for i in range(n)
    ],
    "urls": lambda n: [f"https://www.example.org/shop/item?id={i}&page={i % 7}" for i in range(n)],
    "chunks": lambda n: [f"doc_{i // 50:04d}_chunk_{i % 50:02d}" for i in range(n)],
    "chunks of paths": lambda n: [f"corpus/part-{i // 100:05d}.jsonl#chunk-{i % 100}" for i in range(n)],
    "case": lambda n: ["".join(word) for word in list(product(*(c + c.upper() for c in "abcdefghijklmnopqr")))[:n]],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_names_that_people_use_collide_no_more_than_random_numbers(family):
    """No two of 100,000 have the same 64 bits; of 32 bits, n²/2³³ = 1.2 have.

    Names of two parts that vary separately collide in bunches of about ten under a few keys in a hundred: the words of
    a name are added, so that two first parts and two second parts that cancel do so in all names made of them. Hence
    the median over several keys, which are fixed, so that the test always sees the same.
    """
    names = FAMILIES[family](COUNT)
    assert len(set(names)) == COUNT
    tokens = Tokens.of(name.encode() for name in names)
    collisions = []
    for keys in (FIXED_KEYS, *map(keys_from, (1, 2, 3))):
        numbers = token_hashes(tokens, keys)
        assert len(np.unique(numbers)) == COUNT
        halves = (numbers >> np.uint64(32), numbers & np.uint64(2**32 - 1))
        collisions += [COUNT - len(np.unique(half)) for half in halves]
    assert np.median(collisions) <= 3


def test_the_pairs_that_once_collided():
    names = [b"doc0000a", b"doc0000A", b"ug7v8991", b"ug7v899q"]
    assert len(set(token_hashes(Tokens.of(names)).tolist())) == 4


def test_long_names_are_told_apart_wherever_they_differ():
    long = b"x" * 1000
    names = [long[:i] + b"y" + long[i + 1 :] for i in range(0, 1000, 7)] + [long[:i] for i in range(200, 1001)]
    assert len(set(token_hashes(Tokens.of(names)).tolist())) == len(names)


def run_in_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_look_ups_are_keyed_by_process_but_random_ties_are_not():
    code = (
        "from gradely.data.hashing import *; from gradely.data.ids import Tokens;"
        "print(token_hashes(Tokens.of([b'd1']))[0]);"
        "print(shuffle_keys_of(7, b'q', [b'd1', b'd2', b'x' * 400]).tolist())"
    )
    first, second = (run_in_new_process(code).splitlines() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] == second[1] == str(shuffle_keys_of(7, b"q", [b"d1", b"d2", b"x" * 400]).tolist())


def test_documents_that_once_collided_take_turns_under_random_ties():
    """Both used to have the same key, so that the one that came first was first under every seed."""
    qrels, run = {"q": {"ug7v8991": 1}}, {"q": {"ug7v8991": 1.0, "ug7v899q": 1.0}}
    values = {seed: gradely.evaluate(qrels, run, ["RR"], ties="random", seed=seed).mean()["RR"] for seed in range(40)}
    assert set(values.values()) == {1.0, 0.5}


def stir(word, key):
    """Stafford's mixer 13 on Python's integers."""
    word ^= key
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def hash_of(token, keys):
    """Return the hash of a token that is not long: its end, with its size, and every whole word before the end."""
    last = int.from_bytes(token[-8:].rjust(8, b"\0"), "little") ^ len(token) * 0x9E3779B97F4A7C15 % 2**64
    words = [int.from_bytes(token[i : i + 8], "little") for i in range(0, len(token) - 8, 8)]
    return sum(map(stir, [last, *words], keys.tolist())) % 2**64


SIZES = [0, 1, 7, 8, 9, 15, 16, 17, 24, 25, 63, 64, 65, 71, 72, 73, 79, 80, 81, 200, 255, 256]


def test_hashes_are_those_of_the_definition():
    keys = hashing.keys_from(5)
    assert keys.tolist() == [stir(i * 0x9E3779B97F4A7C15 % 2**64, 5) for i in range(1, 34)]
    names = [bytes(range(i, i + size)) if size < 100 else bytes(range(size)) for i, size in enumerate(SIZES)]
    assert token_hashes(Tokens.of(names), keys).tolist() == [hash_of(name, keys) for name in names]


@pytest.mark.parametrize("size", [*SIZES, 257, 400])
def test_a_hash_does_not_depend_on_other_tokens(size):
    mine = b"0123456789" * (size // 10) + b"x" * (size % 10)
    alone = token_hashes(Tokens.of([mine]))[0]
    for other in (*SIZES, 257, 400):
        assert token_hashes(Tokens.of([b"y" * other, mine]))[1] == alone


def test_random_orders_stay_what_they_are():
    """A seed that is written down in a paper draws the same order in every version."""
    keys = shuffle_keys_of(7, b"q1", [b"d1", b"document-2", b"x" * 100, b"x" * 300])
    assert keys.tolist() == [11415973647698415519, 773850881679015147, 11857600340929940514, 9003407701470472808]
    assert (shuffle_keys_of(-7, b"q1", [b"d1"]) != keys[:1]).all()


def test_distinct_keys():
    """Keys that share a place in the table go into the next round, with other bits of theirs, down to the last."""
    few = np.arange(300, dtype=np.uint64)
    for shift in (0, 8, 16, 24, 32, 40, 55):
        keys = few << np.uint64(shift)
        assert is_distinct(keys)
        assert not is_distinct(np.append(keys, keys[77]))
    assert is_distinct(few[:0])
    assert not is_distinct(few[[3, 3]])


def test_places_in_a_table():
    keys = np.array([0x0123456789ABCDEF, 2**64 - 1, 0], np.uint64)
    assert slots(keys, 56, 8).tolist() == [0x01, 255, 0]
    assert slots(keys, 4, 12).tolist() == [0xCDE, 4095, 0]
    assert slots(keys, -3, 4).tolist() == [15, 15, 0]
    assert [table_bits(count) for count in (0, 1, 63, 64, 1000, 10**6)] == [8, 8, 8, 9, 12, 19]


def test_keys_that_are_there_more_than_once():
    keys = np.array([5, 3, 9, 3, 5, 5, 1], np.uint64)
    assert find_repeated(keys).tolist() == [3, 5]
    assert find_repeated(keys[:3]).tolist() == []
    assert find_repeated(keys[:0]).tolist() == []
    assert is_among(keys, find_repeated(keys)).tolist() == [True, True, False, True, True, True, False]
    assert is_among(keys, keys[:0]).tolist() == [False] * 7


def test_hashes_of_nothing():
    empty = np.zeros(0, np.int64)
    assert len(hashes(np.zeros(200, np.uint8), empty, empty)) == 0


def test_shuffling_by_hash_is_that_by_name():
    query, docs = b"q7", [b"d1", b"document-2", b"x" * 30]
    query_hash, doc_hashes = (token_hashes(Tokens.of(names), FIXED_KEYS) for names in ([query], docs))
    assert shuffle_keys_of(1, query, docs).tolist() == shuffle_keys(1, query_hash, doc_hashes).tolist()


# Names

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
