"""The fast reader and the plain one agree on every file, in pieces of any size and on any number of threads."""

import gzip
import struct
import tempfile
from collections import defaultdict
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradely
from gradely.data import source as sources
from gradely.data.hashing import FIXED_KEYS, is_distinct, shuffle_keys, shuffle_keys_of, token_hashes
from gradely.data.ids import Tokens
from gradely.data.locate.memory import align
from gradely.data.qrels import Qrels
from gradely.data.read import text as pieces
from gradely.data.read import text as runs
from gradely.data.read import trec_pieces as fast_qrels
from gradely.data.read.trec_lines import QRELS, read
from gradely.data.read.trec_pieces import load_qrels
from gradely.data.source import Source, ignore
from gradely.data.table import IrregularText
from gradely.errors import GradelyError
from gradely.parallel import on_threads
from gradely.settings import Settings
from tests.pieces import plain_run, stream_run

POLICIES = ["expected", "trec", "order", "random"]
IDS = st.one_of(
    st.integers(0, 30).map(str),
    st.integers(0, 30).map("doc-{:09d}".format),
    st.integers(0, 12).map(lambda n: "a" * n + "z"),
    st.integers(1, 3).map(lambda n: "long-name-" * 9 * n),
    st.sampled_from(["é", "文書", "naïve-文書-🙂", "a\u202eb", "x" * 8, "x" * 16, "x" * 17, "A", "Z", "_"]),
)
EXACT = st.floats(allow_nan=False, allow_infinity=False, width=64).map(repr)
SINGLE = st.floats(-100, 100, width=32).map(repr)
LONG = st.integers(-(10**25), 10**25).map(str)
FIXED = st.integers(0, 10**7).map(lambda n: f"{n / 1000:.6f}")
FEW = st.sampled_from(
    ["1", "1.0", "2", "-3.5", "0", "-0", "+7", "1e3", "1E-3", ".5", "5.", "00.50", "12345678", "0.1234567890123456789"]
)
NUMBERS = st.one_of(EXACT, SINGLE, LONG, FIXED, FEW)
SPACE = st.sampled_from([" ", "\t", "  ", " \t", "\t\t "])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \n"])


@st.composite
def table(draw, number):
    """Return {query: {document: number as text}}."""
    queries = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    return {query: draw(st.dictionaries(IDS, number, min_size=1, max_size=12)) for query in queries}


@st.composite
def text(draw, table, layout, *, shuffled=True):
    """Return a table as TREC text: regular or not, in order or not."""
    rows = [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]
    if shuffled and draw(st.booleans()):
        rows = draw(st.permutations(rows))
    regular = draw(st.booleans())
    space, end = (cycle(draw(st.lists(each, min_size=1, max_size=1 if regular else 4))) for each in (SPACE, END))
    lines = []
    for query, doc, value in rows:
        fields = [query, "0", doc, value] if layout == "qrels" else [query, "Q0", doc, "1", value, "tag"]
        lines.append("".join(field + next(space) for field in fields[:-1]) + fields[-1] + next(end))
    whole = draw(st.sampled_from(["", "\n", " "])) + "".join(lines)
    return whole.rstrip("\r\n") if draw(st.booleans()) else whole


def files(qrels, run):
    folder = Path(tempfile.mkdtemp())
    (folder / "qrels").write_bytes(qrels.encode())
    (folder / "run").write_bytes(run.encode())
    return Source(folder / "qrels"), Source(folder / "run")


def by_document(qrels, hits):
    """Return what is known of each hit, by query and document; and of each query."""
    place = hits.place if hits.place is not None else hits.above
    found = {
        (qrels.queries[q], qrels.docs[r]): (a, t, p)
        for q, r, a, t, p in zip(
            *(x.tolist() for x in (hits.query, hits.row, hits.above, hits.tied, place)), strict=True
        )
    }
    return found, dict(zip(qrels.queries, hits.retrieved.tolist(), strict=True)), sorted(hits.unjudged)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.data(),
    policy=st.sampled_from(POLICIES),
    single=st.booleans(),
    size=st.sampled_from([1, 40, 300, 1 << 21]),
    threads=st.sampled_from([1, 2, 3]),
)
def test_both_readers_agree(data, policy, single, size, threads, monkeypatch_module):
    labels, scores = (
        data.draw(table(st.sampled_from(["0", "1", "2", "0.5", "-1", "3e0"]))),
        data.draw(table(data.draw(st.sampled_from([NUMBERS, FEW, FIXED])))),
    )
    qrels_file, run_file = files(data.draw(text(labels, "qrels")), data.draw(text(scores, "run")))
    monkeypatch_module(size)
    plain = Qrels.of(read(qrels_file, QRELS))
    fast = load_qrels(qrels_file, threads)
    assert list(fast.queries) == list(plain.queries)
    assert list(fast.docs) == list(plain.docs)
    assert fast.grade.tolist() == plain.grade.tolist()
    assert fast.start.tolist() == plain.start.tolist()
    settings = Settings(policy, seed=5, precision="single" if single else "double")
    expected = by_document(plain, align(plain, plain_run(run_file), settings))
    assert by_document(fast, stream_run(fast, run_file, settings, threads, ignore)) == expected
    assert by_document(plain, stream_run(plain, run_file, settings, threads, ignore)) == expected


@pytest.fixture(scope="module")
def monkeypatch_module():
    """Return a function that sets the size of pieces; afterwards it is what it was."""
    before = runs.PIECE

    def set_size(size):
        runs.PIECE = fast_qrels.PIECE = size

    yield set_size
    set_size(before)


BAD = [
    "q Q0 d 1 x t\n",
    "q Q0 d 1 nan t\n",
    "q Q0 d 1 -inf t\n",
    "q Q0 d 1 1e999 t\n",
    "q Q0 d 1 1_0 t\n",
    "q Q0 d 1 . t\n",
    "q Q0 d 1 - t\n",
    "q Q0 d 1 1.2.3 t\n",
    "q Q0 d 1 0x10 t\n",
    "q Q0 d 1 5\n",
    "q Q0 d\n",
    "q  d 1 5 t\n",
    "q Q0 d 1 5 t\nq Q0 d 2 4 t\n",
    "q Q0 d 1 5 t\nr Q0 d 2 4 t\nq Q0 d 2 4 t\n",
    "q Q0 d\x01 1 5 t\n",
    "q\x1fQ0 d 1 5 t\n",
    "q Q0 d 1 5\x00t\n",
    "\n",
    "",
]


@pytest.mark.parametrize("line", BAD)
@pytest.mark.parametrize("around", ["{}", "q Q0 first 1 9.5 t\n{}", "{}q Q0 last 1 0.5 t\n"])
def test_what_is_wrong_is_left_to_the_plain_reader_and_explained(line, around):
    qrels_file, run_file = files("q 0 d 1\nr 0 d 1\n", around.format(line))
    if line.strip() or not around.format(line).strip():
        with pytest.raises(IrregularText):
            stream_run(load_qrels(qrels_file, 1), run_file, Settings(), 1, ignore)
        with pytest.raises(GradelyError):
            plain_run(run_file)
        with pytest.raises(GradelyError):
            gradely.evaluate(qrels_file.path, run_file.path)


@pytest.mark.parametrize(
    "content",
    [b"q 0 d\xff 1\n", b"q 0 d 1\nq 0 d 1\n", b"q 0 d 1\nr 0 d 1\nq 0 d 1\n", b"q 0 d x\n", b"q 0 d\n", b"q 0 d 1 2\n"],
)
def test_judgments_that_are_odd_are_left_to_the_plain_reader(tmp_path, content):
    (tmp_path / "qrels").write_bytes(content)
    with pytest.raises(IrregularText):
        load_qrels(Source(tmp_path / "qrels"), 1)


def test_tags_with_blanks_are_read_plainly(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 0.5 my best run\nq Q0 e 1 0.7 my best run\n")
    assert gradely.evaluate(tmp_path / "qrels", tmp_path / "run", ["RR"]).mean() == {"RR": 1 / 2}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A run of several pieces, with ties, and judgments for most of its queries; and the same, shuffled and packed."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(11)
    lines, labels = [], []
    for q in rng.permutation(900).tolist():
        docs = rng.permutation(5000)[:80]
        scores = np.sort(rng.integers(0, 60, 80))[::-1] / 8
        lines += [
            f"topic-{q} Q0 doc{d:05d} {i} {s} run\n"
            for i, (d, s) in enumerate(zip(docs.tolist(), scores.tolist(), strict=True))
        ]
        if q % 10:
            labels += [f"topic-{q} 0 doc{d:05d} {rng.integers(0, 4)}\n" for d in rng.permutation(docs)[:12].tolist()]
    (folder / "qrels").write_text("".join(labels))
    (folder / "run").write_text("".join(lines))
    (folder / "shuffled").write_text("".join(rng.permutation(lines).tolist()))
    packed = "".join(lines).encode()
    (folder / "packed").write_bytes(gzip.compress(packed[:1_000_000]) + gzip.compress(packed[1_000_000:]))
    return folder


@pytest.mark.parametrize("policy", POLICIES)
def test_neither_threads_nor_pieces_nor_the_order_of_lines_matter(large, policy, monkeypatch):
    settings = Settings(policy, seed=3)
    qrels = load_qrels(Source(large / "qrels"), 2)
    expected = by_document(qrels, align(qrels, plain_run(Source(large / "run")), settings))
    for name in ("run", "packed", "shuffled") if policy != "order" else ("run", "packed"):
        for size, threads in ((1 << 21, 1), (100_000, 2), (7_000, 3)):
            monkeypatch.setattr(runs, "PIECE", size)
            found = by_document(qrels, stream_run(qrels, Source(large / name), settings, threads, ignore))
            assert found == expected, (name, size, threads)


def test_a_query_too_long_for_a_piece_is_counted_in_two_passes(large, monkeypatch):
    monkeypatch.setattr(runs, "PIECE", 1000)
    monkeypatch.setattr(pieces, "LONGEST", 2000)
    qrels = load_qrels(Source(large / "qrels"), 2)
    found = by_document(qrels, stream_run(qrels, Source(large / "run"), Settings("trec"), 2, ignore))
    assert found == by_document(qrels, align(qrels, plain_run(Source(large / "run")), Settings("trec")))


def test_values_are_the_same_to_the_last_digit(large):
    measures = [measure.name for measure in gradely.ALL if measure.takes_expected]
    plain = gradely.evaluate(gradely.read_qrels(large / "qrels"), gradely.read_run(large / "run"), measures)
    fast = gradely.evaluate(large / "qrels", large / "run", measures, threads=2)
    assert fast.per_query() == plain.per_query()
    assert [note.as_dict() for note in fast.notes] == [note.as_dict() for note in plain.notes]


def test_progress_is_reported(large, monkeypatch):
    monkeypatch.setattr(runs, "PIECE", 100_000)
    told = []
    gradely.evaluate(large / "qrels", large / "run", ["AP"], progress=lambda name, done: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1
    assert len(told) > 10


def test_hashes_depend_on_the_bytes_alone():
    """A token has the same hash whatever stands around it and however long its neighbours are."""
    tokens = ["", "a", "ab", "12345678", "123456789", "x" * 16, "x" * 17, "y" * 63, "y" * 64, "z" * 65, "long" * 50]
    together = token_hashes(Tokens.of(token.encode() for token in tokens))
    alone = [token_hashes(Tokens.of([token.encode()]))[0] for token in tokens]
    assert together.tolist() == alone
    assert len(set(alone)) == len(alone)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=60))
def test_equal_hashes_mean_equal_bytes(tokens):
    found = defaultdict(set)
    for token, number in zip(tokens, token_hashes(Tokens.of(tokens)).tolist(), strict=True):
        found[number].add(token)
    assert all(len(same) == 1 for same in found.values())
    assert len(found) == len(set(tokens))


@given(st.lists(st.integers(0, 2**64 - 1), max_size=300), st.booleans())
def test_distinct(keys, again):
    keys = list(dict.fromkeys(keys))
    keys += keys[:1] if again else []
    assert is_distinct(np.array(keys, np.uint64)) == (len(set(keys)) == len(keys))


def test_distinct_finds_two_among_many_that_share_a_slot():
    keys = np.arange(1, 5000, dtype=np.uint64)
    assert is_distinct(keys)
    assert not is_distinct(np.append(keys, np.uint64(17)))


def test_shuffling_by_hash_is_that_by_name():
    query, docs = b"q7", [b"d1", b"document-2", b"x" * 30]
    query_hash, doc_hashes = (token_hashes(Tokens.of(names), FIXED_KEYS) for names in ([query], docs))
    assert shuffle_keys_of(1, query, docs).tolist() == shuffle_keys(1, query_hash, doc_hashes).tolist()


def test_numbers_are_rounded_as_float_does(tmp_path):
    """Half-way cases and their neighbours, where digits beyond a double's decide."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**63, 3000, dtype=np.uint64).tolist()
    doubles = [abs(struct.unpack("<d", struct.pack("<Q", value))[0]) for value in values]
    texts = [f"{value:.17f}"[:24] for value in doubles if 1e-5 < value < 1e6]
    texts += [
        str(n)
        for n in (
            2**53,
            2**53 + 1,
            2**53 + 2,
            2**53 + 3,
            2**60 + 128,
            2**60 + 127,
            2**60 + 129,
            2**63,
            10**18,
            10**19 - 1,
        )
    ]
    texts += [
        f"{n}.{m}"
        for n, m in zip(rng.integers(0, 10**9, 2000).tolist(), rng.integers(0, 10**9, 2000).tolist(), strict=True)
    ]
    (tmp_path / "run").write_text("".join(f"q Q0 d{i} 1 {number} t\n" for i, number in enumerate(texts)))
    (tmp_path / "qrels").write_text("".join(f"q 0 d{i} {number}\n" for i, number in enumerate(texts)))
    assert load_qrels(Source(tmp_path / "qrels"), 1).grade.tolist() == [float(number) for number in texts]


def test_one_thread_takes_one_thing_at_a_time():
    """A reader with one buffer waits for it: to ask for a second piece before the first is used would be for ever."""
    taken = []

    def things():
        for i in range(3):
            assert len(taken) == i
            yield i

    assert list(on_threads(lambda i: taken.append(i) or i, things(), 1)) == [0, 1, 2]


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_small_file_takes_the_plain_way_to_the_same_values(policy, data, monkeypatch):
    qrels = data.draw(table(st.integers(0, 3).map(str)))
    run = {query: data.draw(st.dictionaries(IDS, NUMBERS, min_size=1, max_size=12)) for query in qrels}
    paths = [source.path for source in files(data.draw(text(qrels, "qrels")), data.draw(text(run, "run")))]
    values = []
    for small in (-1, 1 << 14):
        monkeypatch.setattr(sources, "SMALL", small)
        scores = gradely.evaluate(*paths, ties=policy)
        values.append((scores.per_query(), [str(note) for note in scores.notes]))
    assert values[0] == values[1]


def test_what_is_small_is_neither_long_nor_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SMALL", 1 << 14)
    for name, content, small in [
        ("short", b"q Q0 d 1 1 t\n", True),
        ("long", b"q Q0 d 1 1 t\n" * 2000, False),
        ("packed", gzip.compress(b"q Q0 d 1 1 t\n" * 2000), False),
    ]:
        (tmp_path / name).write_bytes(content)
        assert Source(tmp_path / name).is_small is small, name


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("size", [1, 7, 64, 10**6])
def test_judgments_are_read_by_several_threads_in_ranges(start, size, tmp_path, monkeypatch):
    content = b"".join(b"q%d 0 d%d %d\n" % (i % 7, i, i % 3) for i in sorted(range(50), key=lambda i: i % 7))
    (tmp_path / "qrels").write_bytes(start + content)
    monkeypatch.setattr(fast_qrels, "READ_AT_ONCE", size)
    qrels = load_qrels(Source(tmp_path / "qrels"), 3)
    assert b"".join(qrels.docs.bytes_at(i) for i in range(50)) == b"".join(
        line.split()[2] for line in content.splitlines()
    )
    assert qrels.grade.tolist() == [float(line.split()[3]) for line in content.splitlines()]


def test_a_file_that_shrinks_while_threads_read_it_is_an_error(tmp_path):
    (tmp_path / "qrels").write_bytes(b"q 0 d 1\n" * 10)
    source = Source(tmp_path / "qrels")
    with source.stream() as stream:
        (tmp_path / "qrels").write_bytes(b"q 0 d 1\n")
        with pytest.raises(gradely.InputError, match="qrels: changed while it was read"):
            stream.fill(memoryview(bytearray(80)), 0)
