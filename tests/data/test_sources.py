"""Files as bytes: whole lines in blocks, the start of packed files, pipes and sockets, and what errors show of them."""

import gzip
import os
import random
import re
import socket
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from gradely import InputError
from gradely.data import source as sources
from gradely.data.read.formats import format_of
from gradely.data.source import Source
from gradely.errors import clip


@pytest.fixture
def source(tmp_path):
    """Return a function that writes a file and returns it as a source."""

    def write(content, name="file"):
        (tmp_path / name).write_bytes(content)
        return Source(tmp_path / name)

    return write


def test_blocks_are_whole_lines_with_the_number_of_the_first(source, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK", 8)
    told = []
    content = b"aa\nbb\ncc\n" + b"d" * 13 + b"\ne"  # 24 bytes: the second block ends with no line, the third with one
    assert list(source(content).blocks(told.append)) == [
        (1, b"aa\nbb\n"),
        (3, b"cc\n"),
        (4, b"d" * 13 + b"\n"),
        (5, b"e"),
    ]
    assert told == [8 / 24, 16 / 24, 24 / 24]
    assert list(source(b"aa\nbb\ncc").blocks()) == [(1, b"aa\nbb\n"), (3, b"cc")]
    assert list(source(b"aa\nbbbb\n").blocks()) == [(1, b"aa\nbbbb\n")]


def test_a_buffer_is_filled_from_any_place_however_little_comes_at_a_time(source, monkeypatch):
    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", lambda file, views, at: preadv(file, [views[0][:3]], at))
    with source(b"0123456789").open() as file:
        buffer = bytearray(8)
        file.fill(memoryview(buffer), 1)
        assert buffer == b"12345678"
        with pytest.raises(InputError, match="file: changed while it was read"):
            file.fill(memoryview(buffer), 5)


@pytest.mark.parametrize("change", ["replace", "rewrite", "shrink"])
def test_a_file_that_is_another_one_when_it_is_opened_again_is_refused(source, tmp_path, change):
    """Lines of both would otherwise be mixed, as many as the first one had bytes."""
    file = source(b"q 0 d1 1\nq 0 d2 1\n")
    with file.stream() as stream:
        assert stream.readall() == b"q 0 d1 1\nq 0 d2 1\n"
    if change == "replace":
        source(b"q 0 d1 1\nq 0 d2 1\nq 0 d3 1\n", "new")
        os.replace(tmp_path / "new", tmp_path / "file")
    else:
        source(b"q 0 d5 1\nq 0 d2 1\nq 0 d3 1\n" if change == "rewrite" else b"q 0 d1 1\n")
    with pytest.raises(InputError, match="file: changed while it was read; try again"), file.stream() as stream:
        stream.readall()


def test_a_file_that_grows_keeps_its_content(source, tmp_path):
    file = source(b"q 0 d1 1\n")
    assert file.read() == b"q 0 d1 1\n"
    with (tmp_path / "file").open("ab") as stream:
        stream.write(b"q 0 d2 1\n")
    assert file.read() == b"q 0 d1 1\n"


def test_a_line_may_be_64_megabytes_long(source, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "BLOCK", 1 << 24)
    for size in (1 << 26, (1 << 26) + 1):
        os.truncate(source(b"").path, size)  # zeros, which take no room on the disk
        blocks = Source(tmp_path / "file").blocks()
        if size == 1 << 26:
            assert [(number, len(block)) for number, block in blocks] == [(1, size)]
        else:
            with pytest.raises(InputError, match="file:1: a line is longer than 67,108,864 bytes"):
                list(blocks)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\n1 caf\xe9\n", ":2: is not UTF-8 text: '1 caf\N{REPLACEMENT CHARACTER}'; name"),
        (b'{"1":\n{"\xff": 1}}', ":2: is not UTF-8 text: '{\"\N{REPLACEMENT CHARACTER}\": 1}}'; name"),
        ("1 0 d 1\n".encode("utf-16"), ":1: is UTF-16 text, not UTF-8 text; save it as UTF-8"),
        (b"a\x00b", r":1: is not UTF-8 text: 'a\x00b'; name"),
        (b"x" * 40 + b"\x01" + b"y" * 40, ":1: is not UTF-8 text: '" + "x" * 30 + r"\x01" + "y" * 29 + "'; name"),
    ],
)
def test_what_is_no_text_is_shown_with_its_line(source, content, says):
    with pytest.raises(InputError, match=re.escape(says)):
        source(content).text()


def test_a_piece_of_60_characters_is_shown_whole():
    assert clip("x" * 60) == repr("x" * 60)
    assert clip("x" * 61) == clip(b"x" * 500) == repr("x" * 60 + "…")
    assert clip("é".encode() * 60 + b"\n") == repr("é" * 60)


def test_the_start_of_a_packed_file_is_read_although_its_end_is_missing(source):
    packed = source(gzip.compress(b"abc")[:-8])
    assert packed.start(3) == b"abc"
    with pytest.raises(InputError, match="ends too early"):
        packed.read()


def test_members_of_a_packed_file_follow_one_another(source):
    long = random.Random(1).randbytes(10_000)  # cannot be packed: its member goes on behind what is read first
    assert source(gzip.compress(b"abc") + gzip.compress(long)).read() == b"abc" + long
    assert source(gzip.compress(b"abc") + bytes(300_000) + gzip.compress(long)).read() == b"abc" + long
    with pytest.raises(InputError, match=r"cannot be read: Error -3 .* incorrect header check"):
        source(gzip.compress(b"abc") + zlib.compress(long)).read()


def test_a_packed_pipe_is_read_again_from_its_start():
    reader, writer = os.pipe()
    os.write(writer, gzip.compress(b"1 Q0 d 1 1 t\n"))
    os.close(writer)
    pipe = Source(f"/dev/fd/{reader}")
    contents = [pipe.read(), pipe.head, pipe.read()]
    os.close(reader)
    assert contents == [b"1 Q0 d 1 1 t\n"] * 3


@pytest.fixture
def piped():
    """Return a function that writes content into a pipe, as somebody reads it, and returns the pipe as a path."""
    with ThreadPoolExecutor() as pool, ExitStack() as stack:

        def write(content, wait=0.0, **options):
            reader, writer = os.pipe()
            stack.callback(os.close, reader)
            os.set_blocking(reader, options.get("blocking", True))

            def fill():
                with os.fdopen(writer, "wb") as file:
                    for at in range(0, len(content), 1 << 15):
                        time.sleep(wait)
                        file.write(content[at : at + (1 << 15)])

            pool.submit(fill)
            return f"/dev/fd/{reader}"

        yield write


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_those_who_read_one_pipe_at_the_same_time_do_not_move_each_other(piped, pack):
    pipe = Source(piped(pack(bytes(random.Random(0).choices(range(256), k=50_000)))))
    whole = pipe.read()
    with pipe.stream() as first, pipe.stream() as second:
        parts = [bytearray(1000) for _ in range(4)]
        got = [stream.readinto(part) for stream, part in zip((first, second, first, second), parts, strict=True)]
    assert got == [1000] * 4 and [bytes(part) for part in parts] == [whole[:1000]] * 2 + [whole[1000:2000]] * 2


def test_threads_that_ask_for_a_pipe_first_at_the_same_time_all_get_the_whole(piped):
    content = b"".join(b"%d\n" % i for i in range(30_000))
    path = piped(content, wait=0.01)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: Source(path).read(), range(8))) == {content}


def test_a_pipe_that_does_not_block_is_read_to_its_end(piped):
    content = bytes(range(256)) * 1000
    assert Source(piped(content, wait=0.02, blocking=False)).read() == content


def test_what_is_left_of_a_pipe_after_an_error_is_never_taken_for_the_whole(piped, monkeypatch):
    pipe = Source(piped(b"1 Q0 d 1 1 t\n" * 1000))
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", lambda: open("/dev/full", "wb"))  # noqa: SIM115 - the reader closes it
        with pytest.raises(InputError, match="No space left on device; set TMPDIR to a folder with enough space"):
            pipe.read()
    with pytest.raises(InputError, match="No space left on device; set TMPDIR to a folder with enough space"):
        pipe.read()


def test_a_socket_is_read_by_its_descriptor():
    here, there = socket.socketpair()
    there.sendall(b"1 Q0 d 1 1 t\n")
    there.close()
    with here:
        assert Source(f"/dev/fd/{here.fileno()}").read() == b"1 Q0 d 1 1 t\n"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"1": {"d1": 1}}', "json"),
        (b'{"1": {"d1": 1}\n}', "json"),
        (b'{"a": 1}', "json"),
        (b'{"1":\n{"d1": 1}}', "json"),
        (b'{"1": {"d1": 1}}\r\n{"2": {"d1": 1}}\r\n', "jsonl"),
        (b'{"query_id": "1", "doc_id": "a", "more": {"x": 1}}', "jsonl"),
        (b'{"1": {"' + b"x" * 70_000 + b'": 1}}\n{"2": {"d1": 1}}\n', "jsonl"),
        (b"query\t0\td1\t1\n", "trec"),
        (b"query\tdoc\n1\td1\n", "tsv"),
    ],
)
def test_formats_are_told_apart(source, content, name):
    assert format_of(source(content)) == name


def test_a_file_is_read_to_its_end_where_no_size_is_given(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    for size in ((), (None,), (-1,), (100,)):
        with Source(tmp_path / "file").open() as file:
            assert file.read(*size) == b"content"
