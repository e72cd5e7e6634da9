"""TREC text: what is read and what is refused, and that every way to read it gives the same.

The plain reader goes line by line; files of a few kilobytes, and whatever is odd, are left to it. Its values and errors
are looked at one by one. All other ways (pieces, threads, processes, two passes; see tests/ways.py) must agree with it.
"""

import gzip
from contextlib import nullcontext
from functools import partial
from itertools import cycle, zip_longest

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradely
from gradely.data.source import SMALL, Source
from gradely.data.table import DUPLICATES_HINT
from gradely.measures import PLAIN
from tests import ways

POLICIES = ["expected", "best", "worst", "trec", "order", "random"]
MEASURES = ["nDCG", "AP(rel=0)", "RR", "Judged@3", "P@2"]

# Files: names, numbers, lines

ODD_NAMES = [
    "é",
    "文書",
    "naïve-文書-🙂",
    "a\u202eb",
    "a\u00a0b",
    "\x7f",
    "#1",
    '"q"',
    "a,b",
    "_",
    "0",
    "00",
    "-1",
    "1e3",
]
NAMES = st.one_of(
    st.integers(0, 30).map(str),
    st.integers(0, 30).map("doc-{:09d}".format),
    st.builds(
        lambda size, last: "n" * size + last, st.sampled_from([0, 6, 7, 8, 14, 15, 16, 23, 24]), st.sampled_from("xy")
    ),
    st.builds(lambda first, size: first + "n" * size, st.sampled_from("xyX"), st.sampled_from([6, 7, 8, 15, 16, 70])),
    st.sampled_from([*ODD_NAMES, "long-name-" * 7, "long-name-" * 7 + "0", "long-name-" * 40, "y" + "long-name-" * 40]),
)
ALIKE = (
    st.integers(0, 10**9).map(str),
    st.integers(0, 99).map(lambda n: f"{n / 8:.3f}"),
    st.integers(0, 9).map("{}.".format),
)
FEW = st.sampled_from(["1", "1.0", "01", "+1", "1e0", "0.10e1", "2", "2.", "-3.5", "-0", "0", ".0", "0.1", "0.10"])
EXACT = st.floats(allow_nan=False, allow_infinity=False).map(repr)
DIGITS = st.integers(-(10**25), 10**25).map(str)
FRACTIONS = st.builds("{}.{}".format, st.integers(-(10**12), 10**12), st.integers(0, 10**12))
SINGLE = st.sampled_from(["0.1", "0.10000000149011612", "0.1000000015", "16777216", "16777217"])
"""numbers of which some are the same in single precision"""
NUMBERS = [*ALIKE, FEW, SINGLE, st.one_of(EXACT, DIGITS, FRACTIONS, FEW)]


POOLS = st.lists(NAMES, min_size=2, max_size=14, unique=True)
"""names of which two files are made, so that they have some in common"""


@st.composite
def tables(draw, pool, numbers):
    """Rows (query, document, number): query by query, or the queries in turn, or in any order."""
    queries = draw(st.lists(st.sampled_from(pool[:6]), min_size=1, max_size=6, unique=True))
    number = draw(st.sampled_from(numbers))
    documents = st.dictionaries(st.sampled_from(pool), number, min_size=1, max_size=12)
    rows = [[(query, doc, value) for doc, value in draw(documents).items()] for query in queries]
    order = draw(st.sampled_from(["together", "best first", "in turn", "any"]))
    if order == "best first":
        rows = [sorted(some, key=lambda row: -float(row[2])) for some in rows]
    if order == "in turn":
        return [row for turn in zip_longest(*rows) for row in turn if row]
    rows = [row for some in rows for row in some]
    return draw(st.permutations(rows)) if order == "any" else rows


SPACES = st.sampled_from([" ", "\t", "  ", " \t", "\t\t ", "\x0b", "\x0c"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n", " \n", "\n\n", "\n \t\n"])


@st.composite
def texts(draw, rows, kind):
    """Rows as TREC text: as most files are, or with any white space, ends of lines and tags."""
    regular = draw(st.booleans())
    space, end = (cycle(draw(st.lists(each, min_size=1, max_size=1 if regular else 4))) for each in (SPACES, ENDS))
    tag = cycle(draw(st.sampled_from([["tag"], ["tag", "my own tag"]])))
    rank = cycle(draw(st.lists(st.sampled_from(["1", "2", "10", "x", "-1", "nan", "1_0"]), min_size=1, max_size=3)))
    lines = []
    for query, doc, value in rows:
        fields = [query, "0", doc, value] if kind == "qrels" else [query, "Q0", doc, next(rank), value, next(tag)]
        lines.append("".join(field + next(space) for field in fields[:-1]) + fields[-1] + next(end))
    start = draw(st.sampled_from(["", "", "\ufeff", "\n", " ", "\n" * 70]))
    whole = start + "".join(lines)
    return whole.rstrip("\r\n \t") if draw(st.booleans()) else whole + draw(st.sampled_from(["", "\n" * 70]))


LABELS = [st.sampled_from(["0", "1", "2", "3"]), st.sampled_from(["0", "1", "2.5", "-1", "3e0", "+2"])]
SIZES = st.fixed_dictionaries(
    {},
    optional={
        "piece": st.sampled_from([1, 16, 40, 64, 300]),
        "longest": st.just(1000),
        "part": st.sampled_from([1, 7, 64]),
        "range": st.sampled_from([1, 20, 100, 1000]),
        "block": st.sampled_from([1, 7, 50]),
        "most_ranges": st.sampled_from([2, 9]),
        "in_memory": st.sampled_from([1, 5, 40]),
        "many": st.sampled_from([0, 1000]),
        "few": st.sampled_from([0, 1000]),
        "processes": st.sampled_from([0, 5]),
    },
)
SETTINGS = st.fixed_dictionaries(
    {
        "precision": st.sampled_from(["double", "single"]),
        "queries": st.sampled_from(["qrels", "run", "both"]),
        "threads": st.sampled_from([1, 2, 3]),
        "seed": st.integers(0, 3),
    }
)
"""sizes and settings; see tests/ways.py"""


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Return a function that writes a file, always the same one of a name, plain or packed."""
    folder = tmp_path_factory.mktemp("trec")

    def write(name, text, pack=bytes):
        path = folder / name
        path.write_bytes(pack(text if isinstance(text, bytes) else text.encode()))
        return path

    return write


def outcome_of(work):
    try:
        return work()
    except gradely.GradelyError as error:
        return type(error), str(error)


def look(qrels, run, policies=("expected",), **given):
    """Return all that can be learned of two files: judgments, values, notes, and what a check says, or the errors."""

    def judgments():
        read = gradely.read_qrels(qrels, threads=given["threads"])
        return list(read.queries), read.start.tolist(), list(read.docs), read.grade.tolist()

    def check():
        return list(map(str, gradely.check(qrels, run)))

    def values(ties):
        scores = gradely.evaluate(qrels, run, MEASURES, ties=ties, **given)
        return scores.per_query(), [str(note) for note in scores.notes]

    works = [judgments, check, *(partial(values, ties) for ties in policies)]
    return [outcome_of(work) for work in works]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), sizes=SIZES, how=SETTINGS, weak=st.booleans(), pack=st.sampled_from([bytes, gzip.compress]))
def test_every_way_agrees_with_the_plain_one_under_every_tie_policy(write, data, sizes, how, weak, pack):
    pool = data.draw(POOLS)
    qrels = write("qrels", data.draw(texts(data.draw(tables(pool, LABELS)), "qrels")), pack)
    run = write("run", data.draw(texts(data.draw(tables(pool, NUMBERS)), "run")), pack)
    with ways.weak_hashes() if weak else nullcontext():
        with ways.plain():
            expected = look(qrels, run, POLICIES, **how)
        with ways.fast(**sizes):
            assert look(qrels, run, POLICIES, **how) == expected


BAD_RUN = [
    *(f"q Q0 d 1 {number} t" for number in ("x", "nan", "-inf", "1e999", "1_0", ".", "-", "1.2.3", "0x10", "--1")),
    *("q Q0 d 1 5", "q Q0 d", "q  d 1 5 t", "q", "q Q0\rd 1 5 t", "q Q0 d 1 5 t\rr Q0 e 1 5 t"),
    *(
        "q Q0 d\x01 1 5 t",
        "q\x1fQ0 d 1 5 t",
        "q Q0 d 1 5\x00t",
        "q Q0 \udcff 1 5 t",
        "q\x08Q0 d 1 5 t",
        "q\x0eQ0 d 1 5 t",
    ),
    *("q Q0 d 1 5 t\nq Q0 d 2 4 t", "q Q0 d 1 5 t\nr Q0 d 2 4 t\nq Q0 d 2 4 t"),
]
BAD_QRELS = [
    *(f"q 0 d {number}" for number in ("x", "nan", "-inf", "1e999", "1_0", ".", "")),
    *("q 0 d 1 2", "q", "q 0\rd 1", "q 0 d\x01 1", "q 0 \udcff 1", "q\x000 d 1"),
    *("q 0 d 1\nq 0 d 1", "q 0 d 1\nr 0 d 1\nq 0 d 1", "q 0 d\n1 q 0 e 1"),
]


@pytest.mark.parametrize(("kind", "bad"), [("run", BAD_RUN), ("qrels", BAD_QRELS)])
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), sizes=SIZES, how=SETTINGS)
def test_errors_are_those_of_the_plain_reader(write, kind, bad, data, sizes, how):
    pool = data.draw(POOLS)
    rows = {"qrels": data.draw(tables(pool, LABELS)), "run": data.draw(tables(pool, NUMBERS))}
    lines = {kind: data.draw(texts(rows[kind], kind)).split("\n") for kind in rows}
    lines[kind].insert(data.draw(st.integers(0, len(lines[kind]))), data.draw(st.sampled_from(bad)))
    qrels, run = (write(kind, "\n".join(lines[kind]).encode(errors="surrogateescape")) for kind in lines)
    with ways.plain():
        expected = look(qrels, run, **how)
    with ways.fast(explained=True, **sizes):
        assert look(qrels, run, **how) == expected
    assert isinstance(expected[2][1], str)


# What the plain reader says


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file."""

    def write(content, name="file"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def read(path, kind):
    if kind == "run":
        return gradely.read_run(path).scores
    qrels = gradely.read_qrels(path)
    return {query: qrels.labels(query) for query in qrels.queries}


def test_values_by_query_and_document(file):
    content = "\ufeffq 0 a 1\r\n\nr\t0  b -2.5\n q 0 c 1e1"
    assert read(file(content), "qrels") == {"q": {"a": 1, "c": 10}, "r": {"b": -2.5}}
    assert read(file("q Q0 a 1 0.5 tag\nq Q0 b rank .25 my own tag \n"), "run") == {"q": {"a": 0.5, "b": 0.25}}


TABLE = "; a table has tabs or commas, and its first line names query, document and label"
LIKE_QRELS = "; these look like qrels, which come first: gradely evaluate QRELS RUN"


@pytest.mark.parametrize(
    ("kind", "line", "says"),
    [
        (
            "qrels",
            "q 0 d",
            f"3 fields instead of 4 (query iteration document label): 'q 0 d'{TABLE}",
        ),
        ("qrels", "q 0 d 1 2", "5 fields instead of 4 (query iteration document label): 'q 0 d 1 2'"),
        ("run", "q Q0 d 1 2", "5 fields instead of 6 (query Q0 document rank score tag): 'q Q0 d 1 2'"),
        (
            "run",
            "q 0 d 1",
            f"4 fields instead of 6 (query Q0 document rank score tag): 'q 0 d 1'{LIKE_QRELS}",
        ),
        (
            "run",
            "q d 1 0.5",
            f"4 fields instead of 6 (query Q0 document rank score tag): 'q d 1 0.5'{TABLE.replace('label', 'score')}",
        ),
        ("qrels", "q 0\rd 1", "a carriage return inside a line; end lines with LF or CR LF"),
        ("qrels", "q 0 d x", "the label 'x' is not a number"),
        ("qrels", "q 0 d 1_0", "the label '1_0' is not a number"),
        ("run", "q Q0 d 1 x t", "the score 'x' is not a number"),
        ("run", "q Q0 d 1 nan t", "the score is nan; it must be a finite number"),
        ("run", "q Q0 d 1 -inf t", "the score is -inf; it must be a finite number"),
        ("run", "a Q0 a 1 1 t", f"duplicate document 'a' of query 'a', first in line 2; {DUPLICATES_HINT}"),
        ("run", "a Q0 b 1 1 t", f"duplicate document 'b' of query 'a', first in line 3; {DUPLICATES_HINT}"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(file, kind, line, says):
    good = "\na 0 a 1\na 0 b 1\n" if kind == "qrels" else "\na Q0 a 1 1 t\na Q0 b 2 1 t\n"
    path = file(good + line + "\n" + good.replace("a", "z"))
    with pytest.raises(gradely.GradelyError) as error:
        read(path, kind)
    assert str(error.value) == f"{path}:4: {says}"
    files = (path,) if kind == "qrels" else (file("a 0 a 1\nz 0 z 1\n", "qrels"), path)
    assert f"{path}:4: error: {says}" in list(map(str, gradely.check(*files)))


@pytest.mark.parametrize("names", ["{} x", "q {}"])
@pytest.mark.parametrize(
    "way", [ways.plain, partial(ways.fast, explained=True), partial(ways.fast, processes=2, explained=True)]
)
def test_names_have_at_most_65535_bytes(file, names, way):
    for size in (65_535, 65_536):
        query, doc = names.format("n" * size).split()
        qrels, run = file(f"{query} 0 {doc} 1\n", "qrels"), file(f"{query} Q0 {doc} 1 1 t\n")
        for files in ((qrels, {query: [doc]}), ({query: {doc: 1}}, run)):
            with way():
                outcome = outcome_of(partial(gradely.evaluate, *files, ["RR"]))
            if size == 65_535:
                assert outcome.mean() == {"RR": 1}
            else:
                assert ":1: an id is longer than 65,535 bytes: " in outcome[1]


def test_ranks_that_go_against_scores_are_found_whatever_other_ranks_are(file):
    qrels = file("q 0 a 1\nr 0 a 1\n", "qrels")
    run = file("r Q0 a x 0.5 t\nq Q0 a 2 0.5 t\nq Q0 c 1 0.7 t t t\nr Q0 b 1 0.7 t\nq Q0 d 1 0.4 t\n")
    for way in (ways.plain, ways.fast):
        with way():
            assert "against" in " ".join(map(str, gradely.check(qrels, run)))


def test_the_small_files_of_newcomers_are_read_line_by_line(file):
    """One byte more, or a packed file, whose size nobody knows, and they are read in pieces."""
    lines = b"q 0 d 1\n" + b"\n" * (SMALL - 8)
    for content, small in ((lines, True), (lines + b"\n", False), (gzip.compress(lines), False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Source, "lines", ways.refuse_plain)
            if small:
                with pytest.raises(AssertionError, match="plain reader"):
                    gradely.read_qrels(file(content))
            else:
                assert len(gradely.read_qrels(file(content))) == 1


# Files of many lines


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Judgments and a run of some thousand lines with ties, query by query and the queries in turn."""
    folder = tmp_path_factory.mktemp("many")
    rows = [(f"topic-{q}", f"doc{(7 * q + 11 * r) % 997:05d}", (50 - r) // 3) for q in range(90) for r in range(50)]
    labels = [f"{query} 0 {doc} {len(doc) % 3 + i % 2}\n" for i, (query, doc, _) in enumerate(rows[::7]) if i % 10]
    (folder / "qrels").write_text("".join(labels))
    lines = [f"{query} Q0 {doc} 1 {score}.0 t\n" for query, doc, score in rows]
    (folder / "together").write_text("".join(lines))
    (folder / "in turn").write_text("".join(lines[50 * q + r] for r in range(50) for q in range(90)))
    return folder


@pytest.mark.parametrize("name", ["together", "in turn"])
def test_values_of_all_measures_are_the_same_to_the_last_digit(many, name):
    measures = [measure.name for measure in PLAIN if measure.takes_expected]
    plain = gradely.evaluate(gradely.read_qrels(many / "qrels"), gradely.read_run(many / name), measures)
    with ways.fast(piece=10_000, in_memory=1000):
        fast = gradely.evaluate(many / "qrels", many / name, measures, threads=2)
    assert fast.per_query() == plain.per_query()
    assert list(map(str, fast.notes)) == list(map(str, plain.notes))


@pytest.mark.parametrize("name", ["together", "in turn"])
@pytest.mark.parametrize("sizes", [{"piece": 4000}, {"piece": 4000, "range": 10_000, "processes": 5}])
def test_progress_grows_to_one(many, name, sizes):
    told = []
    with ways.fast(**sizes):
        gradely.evaluate(many / "qrels", many / name, ["AP"], progress=lambda name, done: told.append(done))
    assert told == sorted(told) and told[-1] == 1 and len(told) > 10
    assert 0 < told[0] <= 0.1


@pytest.mark.parametrize("sizes", [{"piece": 100}, {"range": 100, "block": 10, "processes": 5}])
@pytest.mark.parametrize("lines", [4, 400])
def test_a_query_that_is_longer_than_the_longest_piece_is_read_in_two_passes(file, sizes, lines):
    qrels = file("q 0 d3 1\nr 0 d 1\n", "qrels")
    run = file("".join(f"q Q0 d{i} 1 {i // 2} t\n" for i in range(lines)) + "r Q0 d 1 1 t\n")
    with ways.fast(longest=200, **sizes):
        values = gradely.evaluate(qrels, run, ["RR"]).per_query()
    assert values == {"q": {"RR": (1 / (lines - 3) + 1 / (lines - 2)) / 2}, "r": {"RR": 1}}


@pytest.mark.parametrize("apart", [1, 2, 500])
@pytest.mark.parametrize("chance", [0, 1000])
@pytest.mark.parametrize("name", ["together", "in turn"])
def test_a_duplicate_is_found_however_far_apart(many, file, apart, chance, name):
    lines = (many / name).read_text().splitlines(keepends=True)
    run = file("".join([*lines[: 20 + apart], lines[20], *lines[20 + apart :], *lines[21:29]]))
    with (
        ways.fast(explained=True, piece=900, in_memory=64, chance=chance),
        pytest.raises(gradely.DataError, match=rf"file:{21 + apart}: duplicate document 'doc.*', first in line 21"),
    ):
        gradely.evaluate(many / "qrels", run, ["RR"])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"a Q0 b 1 1 t\na Q0 c 1 1 t".ljust(text.index(b"\n")) + text[text.index(b"\n") :],
        lambda text: text.replace(b"\n", b" ", 1),
        lambda text: text[: len(text) // 2],
        lambda text: b"\n" * len(text),
    ],
    ids=["a line more", "a line less", "half", "nothing"],
)
def test_a_file_that_changes_between_two_passes_is_refused(many, file, change):
    text = (many / "in turn").read_bytes()
    run = file(text)

    def spoil(name, done):
        if done >= 0.5 and run.read_bytes() == text:
            run.write_bytes(change(text))

    with (
        ways.fast(explained=True, piece=1000),
        pytest.raises(gradely.InputError, match="file: changed while it was read; try again"),
    ):
        gradely.evaluate(many / "qrels", run, ["RR"], threads=1, progress=spoil)
