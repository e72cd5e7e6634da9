"""Memory is bounded by the judgments and a constant, whatever the text is like: peaks of processes of their own."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

LIMIT = 6 << 30
"""bytes of address space: what takes too much fails, and takes nothing from others"""
CODE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import gradely
from gradely.data.read import pieces as runs
runs.PIECE = {piece} or runs.PIECE
try:
    print({call})
except gradely.GradelyError as error:
    print(error)
with open("/proc/self/status") as status:  # ru_maxrss would be that of the tests, where they are larger
    print(next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")))
"""


CHECK = 'gradely.check("qrels", "run")[-1].text.split(", ")[1]'


def peak(folder, run="run", ties="expected", piece=0, call=""):
    """Return what an evaluation or another call says, and how many megabytes it took at most."""
    call = call or f'gradely.evaluate("qrels", {run!r}, ["RR", "P@5"], ties={ties!r}, threads=1).mean()'
    code = CODE.format(limit=LIMIT, call=call, piece=piece)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    said, megabytes = done.stdout.splitlines()
    return said, int(megabytes)


@pytest.mark.parametrize("ties", ["trec", "random", "order"])
def test_tied_lines_are_not_paired_with_tied_judgments(tmp_path, ties):
    """Two queries take turns, 30,000 tied lines each, of which 2,000 are judged: 120 million pairs."""
    docs = [f"doc{i:05d}" for i in range(30_000)]
    (tmp_path / "run").write_text("".join(f"{q} Q0 {doc} 1 1.0 t\n" for doc in docs for q in ("a", "b")))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {doc} 1\n" for q in ("a", "b") for doc in docs[::15]))
    said, megabytes = peak(tmp_path, ties=ties)
    assert said.startswith("{'RR'")
    assert megabytes < 250


def test_pieces_of_scattered_runs_keep_no_array_of_all_queries(tmp_path):
    """100,000 users, rank by rank, in 200 pieces: an array of all users per piece would take 160 MB and more."""
    users = range(100_000)
    (tmp_path / "run").write_text("".join(f"{u} Q0 i{u % 7 + r} 1 {9 - r} t\n" for r in range(3) for u in users))
    (tmp_path / "qrels").write_text("".join(f"{u} 0 i{u % 7} 1\n" for u in users))
    _, contiguous = peak(tmp_path, piece=1 << 22)
    said, megabytes = peak(tmp_path, piece=1 << 15)
    assert said == "{'RR': 1.0, 'P@5': 0.2}"
    assert megabytes < contiguous + 60


@pytest.mark.parametrize(
    ("call", "answer"),
    [("", "{'RR': 0.5, 'P@5': 0.2}"), (CHECK, "90.0 % of the top 10")],
    ids=["evaluate", "check"],
)
@pytest.mark.parametrize(("queries", "piece"), [(500, 0), (20_000, 1 << 18)], ids=["in a piece", "in several"])
def test_scattered_runs_take_no_more_memory_where_they_are_longer(tmp_path, call, answer, queries, piece):
    """1.2 and 3.6 million lines, rank by rank: eight bytes per line, three times at once, would be 58 MB more.

    Queries are met twice in a piece, or only in several.
    """
    lines = "".join(f"q{q} Q0 d%d %d %d t\n" for q in range(queries))
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d1 1\n" for q in range(queries)))
    peaks = []
    for count in (1_200_000, 3_600_000):
        with (tmp_path / "run").open("w") as run:
            run.writelines(lines % ((r, r, -r) * queries) for r in range(count // queries))
        said, megabytes = peak(tmp_path, piece=piece, call=call)
        assert said == answer
        peaks.append(megabytes)
    assert peaks[1] < peaks[0] + 35  # with two threads, peaks of the same file differ by up to 26


@pytest.mark.parametrize("orders", [1, 2], ids=["together", "scattered"])
def test_queries_without_judgments_take_no_memory(tmp_path, orders):
    """200,000 and 800,000 names, of which all were kept, take 90 MB more."""
    (tmp_path / "qrels").write_text("q0 0 d1 1\n")
    peaks = []
    for count in (200_000, 800_000):
        with (tmp_path / "run").open("w") as run:
            for i in range(orders):
                run.writelines(f"q{q} Q0 d{i + 1} 1 1 t\n" for q in range(count))
        call = 'gradely.evaluate("qrels", "run", ["RR"], threads=1).notes[0].text'
        said, megabytes = peak(tmp_path, call=call)
        assert said.startswith(f"{count - 1:,} of {count:,} queries of the run have no judgments and are left out: q1")
        peaks.append(megabytes)
    assert peaks[1] < peaks[0] + 30


@pytest.mark.parametrize(
    "call",
    [
        'gradely.evaluate("qrels", "run", ["RR"], duplicates="max", threads=1)["RR"]',
        'len(str(gradely.tie_sensitivity("qrels", {"a": "run"}, ["RR"], threads=1)))',
    ],
    ids=["duplicates", "ties"],
)
def test_scattered_queries_that_are_needed_whole_are_not_held_in_memory_together(tmp_path, call):
    """300,000 and 900,000 lines, rank by rank: in memory, the difference would be 150 MB."""
    lines = "".join(f"q{q} Q0 d%d %d %d t\n" for q in range(3000))
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d1 1\n" for q in range(3000)))
    peaks = []
    for depth in (100, 300):
        with (tmp_path / "run").open("w") as run:
            run.writelines(lines % ((r, r, -r) * 3000) for r in range(depth))
        peaks.append(peak(tmp_path, call=call)[1])
    assert peaks[1] < peaks[0] + 45


@pytest.mark.parametrize("ties", ["trec", "random"])
@pytest.mark.parametrize("scattered", [False, True])
def test_one_long_name_among_tied_lines(tmp_path, ties, scattered):
    """Words of all lines up to the length of the longest would take 60,000 × 20,000 bytes, and more than once."""
    docs = [f"doc{i:05d}" for i in range(20_000)] + ["x" * 60_000, "x" * 59_999 + "y"]
    lines = [f"q Q0 {doc} 1 1.0 t\n" for doc in docs] + ["r Q0 d 1 1 t\n"]
    (tmp_path / "run").write_text("".join(lines + ["q Q0 last 1 1.0 t\n"] * scattered))
    (tmp_path / "qrels").write_text(f"q 0 {docs[-1]} 1\nq 0 doc00007 1\n")
    said, megabytes = peak(tmp_path, ties=ties)
    assert said.startswith("{'RR': 1.0") or ties == "random"
    assert megabytes < 300


@pytest.mark.parametrize("name", ["run", "run.csv", "run.jsonl", "qrels"])
def test_a_packed_line_without_an_end_is_an_error(tmp_path, name):
    """300 KB of gzip hold a line of 300 MB; the longest line is 64 MB."""
    begin = {"run.csv": b"qid,docno,score\n", "run.jsonl": b'{"q": {"d": 1}}\n'}.get(name, b"q Q0 d 1 1 t\n")
    content = b"q 0 d 1\n" if name == "qrels" else begin
    (tmp_path / "qrels").write_bytes(b"q 0 d 1\n")
    with gzip.open(tmp_path / name, "wb", 1) as file:
        file.write(content)
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    if name == "qrels":
        (tmp_path / "run").write_bytes(b"q Q0 d 1 1 t\n")
    said, megabytes = peak(tmp_path, run="run" if name == "qrels" else name)
    assert said == f"{name}:2: a line is longer than 67,108,864 bytes"
    assert megabytes < 500


TREC_EVAL = '__import__("gradely.cli.main", fromlist=["run"]).run(["trec_eval", "-c", "-n", "qrels", "run"])'
"""prints nothing; its exit code is what is said"""


@pytest.mark.parametrize("name", ["qrels", "run"])
def test_trec_eval_refuses_a_packed_line_without_an_end(tmp_path, name):
    content = {"qrels": b"q 0 d 1\n", "run": b"q Q0 d 1 1 t\n"}
    for each, text in content.items():
        (tmp_path / each).write_bytes(text)
    with gzip.open(tmp_path / name, "wb", 1) as file:
        file.write(content[name])
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    code, megabytes = peak(tmp_path, call=TREC_EVAL)
    assert code == "2" and megabytes < 400


@pytest.fixture(scope="module")
def regular(tmp_path_factory):
    """A folder with a run, lines of judgments, and the megabytes that trec_eval takes for both."""
    folder = tmp_path_factory.mktemp("regular")
    (folder / "run").write_bytes(b"".join(b"q%d Q0 doc000001 1 1 t\n" % q for q in range(200)))
    lines = [b"q%d 0 doc%06d 1\n" % (q, d) for q in range(200) for d in range(1500)]
    (folder / "qrels").write_bytes(b"".join(lines))
    return folder, lines, peak(folder, call=TREC_EVAL)[1]


@pytest.mark.parametrize(
    "odd", [b"q1 0 d\xe9 1\n", b"q1 0 doc000001 1\n", b"# a comment\n", b"q1 0 x 12\n", b"q1 0 x 1x\n"]
)
def test_one_odd_line_of_judgments_costs_trec_eval_no_memory(regular, odd):
    folder, lines, usual = regular
    (folder / "qrels").write_bytes(b"".join([*lines, odd]))
    code, megabytes = peak(folder, call=TREC_EVAL)
    assert code == ("4" if odd in lines else "0") and megabytes < usual + 30


def test_a_name_that_is_too_long_is_an_error_with_its_line(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 t\nq Q0 " + "x" * 65_536 + " 1 1 t\n")
    said, _ = peak(tmp_path)
    assert said.startswith("run:2: an id is longer than 65,535 bytes: 'q Q0 xxx")
    assert len(said) <= 300


def test_judgments_that_are_not_together_are_read_in_little_memory(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"q{q} 0 doc{d:06d} 1\n" for d in range(400) for q in range(500)]
    (tmp_path / "qrels").write_text("".join(rng.permutation(lines)))
    (tmp_path / "run").write_text("".join(f"q{q} Q0 doc{d:06d} 1 {-d} t\n" for q in range(500) for d in range(3)))
    said, megabytes = peak(tmp_path)
    assert said == "{'RR': 1.0, 'P@5': 0.6}"
    assert megabytes < 130


@pytest.mark.parametrize("name", ["run.csv", "run"])
def test_duplicates_are_merged_in_memory_that_does_not_grow_with_the_run(tmp_path, name):
    """Of 300,000 and 1,200,000 passages, every tenth is of a document that was there; read whole, 120 bytes each."""
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d1 1\n" for q in range(100)))
    line = "q%d,d%d,%d\n" if name == "run.csv" else "q%d Q0 d%d 1 %d t\n"
    peaks = []
    for queries in (300, 1200):
        with (tmp_path / name).open("w") as run:
            run.write("qid,docno,score\n" if name == "run.csv" else "")
            run.writelines(line % (q, d % 900, -d) for q in range(queries) for d in range(1000))
        call = f'gradely.evaluate("qrels", {name!r}, ["RR", "P@5"], duplicates="max", threads=1).mean()'
        said, megabytes = peak(tmp_path, call=call)
        assert said == "{'RR': 0.5, 'P@5': 0.2}"
        peaks.append(megabytes)
    assert peaks[1] < peaks[0] + 15
