"""Numbers from text: as float() reads them, and without its help wherever digits alone decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradely.data.ids import PAD
from gradely.data.read import pieces as module
from gradely.data.read.pieces import Piece, numbers, to_finite
from gradely.data.table import IrregularText

EXTENDED = np.finfo(np.longdouble).nmant == 63
LONG = ["0.12345678901234567", "12345678901234568", "9007199254740994", "9.999999999999999999", "1234567890.123456789"]
"""numbers of more digits than a double has"""


def parse(texts, unusual):
    content = " ".join(texts).encode()
    piece = Piece(np.frombuffer(b"\n" * PAD + content + b"\n" * PAD, np.uint8), PAD, PAD + len(content) + 1, 0)
    sizes = np.array([len(text) for text in texts], np.int64)
    start = PAD + np.cumsum(sizes + 1) - sizes - 1
    return numbers(piece, start, start + sizes, unusual).tolist()


def refuse(text):
    raise AssertionError(f"{text} should not be unusual")


SPELLINGS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(1e-7, 1e9).map("{:.17f}".format),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"\A[+-]?[0-9]{0,22}\.[0-9]{0,22}\Z").filter(lambda text: any(map(str.isdigit, text))),
    st.builds(lambda power, beside: str(2**power + beside), st.integers(52, 66), st.integers(-1025, 1025)),
    st.sampled_from(
        ["9007199254740992", "9007199254740993", "2,5", "2/5", "12x45678", ":23456789", "1.2.3", "1234567:"]
    ),
)


@settings(deadline=None)
@given(st.lists(SPELLINGS, max_size=9), st.booleans())
def test_numbers_are_those_of_float(texts, alone):
    """Half-way cases and their neighbours, too, where digits beyond a double's decide; what is no number is odd."""
    for some in [[text] for text in texts] if alone else [texts]:
        try:
            expected = list(map(float, some))
        except ValueError:
            with pytest.raises(IrregularText):
                parse(some, to_finite)
        else:
            assert parse(some, to_finite) == expected


def test_no_numbers():
    assert parse([], refuse) == []


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2.5"],
        ["-1.5", "2", "-.5", "5.", "-0"],
        [".2345678", "1234567.", "1234.678", "12345678"],
        [".234567890123456", "1.34567890123456", "1234567.9012345", "12345678.012345", "12345678901234.", "1"],
        ["-12345678901234.5", "0.00000000000000000001", "0.0000000000000000000001"],
        ["0000000000000000000.5", "00000000000000000000000.", "000000000000000000000001"],
    ],
)
def test_signs_and_points_anywhere_take_no_help(texts):
    assert parse(texts, refuse) == [float(text) for text in texts]


@pytest.mark.skipif(not EXTENDED, reason="needs the 64 bits of x87")
def test_long_numbers_are_rounded_in_extended_precision():
    assert parse(LONG, refuse) == [float(text) for text in LONG]


def test_long_numbers_without_extended_precision_are_unusual(monkeypatch):
    monkeypatch.setattr(module, "EXTENDED", False)
    asked = []
    parse([*LONG, "1"], lambda text: asked.append(text.decode()) or 0.0)
    assert asked == LONG


@pytest.mark.parametrize(
    "text",
    [
        "1e3",
        "+7",
        "1.2.3",
        "1.2345678.9",
        "-",
        ".",
        "-.",
        "--1",
        "/2345678",
        "123456/8",
        "1234567:",
        "x234567890",
        "12x",
        ".00000000000000000000001",
        "0.00000000000000000000001",
        "0000000000000000000000001",
        "10000000000000000000",
        "99999999999999999999.5",
    ],
)
def test_what_is_unusual_is_read_by_a_function_and_nothing_else(text):
    asked = []
    assert parse(["1", text, "2.5"], lambda word: asked.append(word.decode()) or 77.0) == [1, 77, 2.5]
    assert asked == [text]


@pytest.mark.skipif(not EXTENDED, reason="needs the 64 bits of x87")
@pytest.mark.parametrize("beside", [-2, -1, 0, 1, 2])
def test_next_to_the_middle_between_two_doubles_float_decides(beside):
    """Doubles of 64 bits are 2048 apart; what lies one unit of the extended precision beside the middle is unsure."""
    number, asked = (1 << 63) + (1 << 10) + beside, []
    parse([str(number), "2.5"], lambda text: asked.append(int(text)) or 0.0)
    assert asked == ([number] if abs(beside) <= 1 else [])


@pytest.mark.parametrize("text", [b"nan", b"inf", b"-inf", b"1e999", b"1_0", b"x", b""])
def test_what_is_no_finite_number_is_odd(text):
    with pytest.raises(IrregularText):
        to_finite(text)
