"""Bad input: one clear line on standard error, exit code 2, no traceback, nothing half-written."""

import gzip
import os
import subprocess
import sys

import pytest

from gradely.cli.main import run

GOOD_QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n"
GOOD_RUN = "1 Q0 d1 1 0.5 t\n1 Q0 d2 2 0.4 t\n2 Q0 d1 1 0.5 t\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(GOOD_QRELS)
    (tmp_path / "run").write_text(GOOD_RUN)
    return tmp_path


FILES = {
    "empty": (b"", "is empty"),
    "blank": (b"\n  \n\t\n", "is empty"),
    "rubbish": (bytes(range(256)) * 20, "is not UTF-8 text"),
    "latin": ("1 0 caf\xe9 1\n".encode("latin-1"), "convert it to UTF-8"),
    "utf16": (GOOD_QRELS.encode("utf-16"), "is UTF-16 text, not UTF-8 text"),
    "broken.gz": (gzip.compress(GOOD_QRELS.encode() * 500)[:-20], "cannot be read"),
    "not.gz": (b"\x1f\x8bnothing", "cannot be read"),
    "few": (b"1 0 d1 1\n1 0 d2\n", ("few:2:", "3 fields instead of 4", "'1 0 d2'")),
    "many": (b"1 0 d1 1 5\n", ("many:1:", "5 fields instead of 4")),
    "one": (b"1\n", ("one:1:", "1 field instead of 4")),
    "word": (b"1 0 d1 1\n\n1 0 d2 high\n", ("word:3:", "'high' is not a number; write numbers in place of words")),
    "header": (b"qid iter docno rel\n1 0 d1 1\n", ("header:1: 'qid iter docno rel' looks like a header", "delete it")),
    "ratings.dat": (b"1::d1::4.5::96\n1::d2::3::96\n", ("ratings.dat:1: 1 field instead of 4", "replace :: with tabs")),
    "u.data": (b"1\t7\t4\t881250949\n1\t9\t4\t881250950\n", ("u.data:2:", "'881250950' looks like a time: write the")),
    "sep.csv": (b"sep=;\nqid;docno;label\n1;d1;1\n", "sep.csv:1: 'sep=;' is for spreadsheets; delete this line"),
    "gap.csv": (b"qid,docno,label\n1,d1,\n", "gap.csv:2: the label '' is not a number; drop rows without one"),
    "share.csv": (b"qid,docno,label\n1,d1,85%\n", "'85%' is not a number; write a number alone, like 0.85"),
    "true.csv": (b"qid,docno,label\n1,d1,TRUE\n", "'TRUE' is not a number; write numbers in place of words"),
    "under": (b"1 0 d1 1_0\n", "'1_0' is not a number"),
    "nan": (b"1 0 d1 nan\n", ("nan:1:", "finite")),
    "infinite": (b"1 0 d1 -inf\n", ("infinite:1:", "finite")),
    "twice": (b"1 0 d1 1\n2 0 d1 1\n1 0 d1 2\n", ("twice:3:", "'d1'", "'1'", "in line 1")),
    "header.csv": (b"a,b\n1,2\n", "no query column among 'a', 'b'"),
    "short.csv": (b"qid,docno,label\n1,d1\n", ("short.csv:2:", "2 fields instead of 3")),
    "shorter.csv": (b"qid,docno,label\n1\n", ("shorter.csv:2:", "1 field instead of 3")),
    "word.csv": (b"qid,docno,label\n1,d1,x\n", ("word.csv:2:", "'x' is not a number")),
    "twice.csv": (b"qid,docno,label\n1,d1,1\n1,d1,1\n", ("twice.csv:3:", "in line 2")),
    "none.csv": (b"qid,docno,label\n", "no rows"),
    "broken.json": (b'{"1": {"d1": 1}', ("broken.json", "is not valid JSON", "line 1")),
    "list.json": (b"[1, 2]", "expected an object"),
    "nan.json": (b'{"1": {"d1": NaN}}', "finite"),
    "text.json": (b'{"1": {"d1": "x"}}', "'x' is not a number"),
    "twice.json": (b'{"1": {"d1": 1, "d1": 2}}', "duplicate key 'd1'"),
    "deep.json": (b'{"a":' * 100_000, "nested too deeply"),
    "flat.json": (b'{"1": 5}', "expected {document: number}"),
    "broken.jsonl": (b'{"1": {"d1": 1}}\n{"1":\n', "broken.jsonl:2:"),
    "twice.jsonl": (b'{"1": {"d1": 1}}\n{"1": {"d1": 1}}\n', ("twice.jsonl:2:", "in line 1")),
    "fields.jsonl": (b'{"query_id": "1", "label": 1}\n', "no document column"),
    "broken.parquet": (b"PAR1 no", "is not a Parquet file"),
    "letor": (b"1 qid:1 1:0.5\n1 1:0.5\n", ("letor:2:", "label qid:Q")),
    "letor.without": (b"1 1:0.5 7:1\n", ("letor.without:1:", "label qid:Q", "query of each line")),
    "wide.csv": (b",".join(b"c%d" % i for i in range(50)) + b"\n1,2\n", "'c7', …; name it query_id"),
    "letor.word": (b"x qid:1 1:0.5\n", "'x' is not a number"),
    "letor.twice": (b"1 qid:1 1:1 #docid = a\n0 qid:1 1:2 #docid = a\n", ("letor.twice:2:", "in line 1")),
}


@pytest.mark.parametrize("name", FILES)
def test_judgments_that_cannot_be_read(folder, fails, name):
    content, says = FILES[name]
    (folder / name).write_bytes(content)
    fails("evaluate", name, "run", says=says)
    assert (folder / name).read_bytes() == content


RUNS = {
    "empty": (b"", "is empty"),
    "five": (
        b"1 Q0 d1 1 0.5 t\n1 Q0 d2 2 0.5\n",
        ("five:2:", "5 fields instead of 6", "query Q0 document rank score tag"),
    ),
    "word": (b"1 Q0 d1 1 high t\n", ("word:1:", "'high' is not a number; write numbers in place of words")),
    "header": (
        b"qid Q0 docno rank score tag\n1 Q0 d1 1 0.5 t\n",
        "header:1: 'qid Q0 docno rank score tag' looks like a",
    ),
    "predictions": (b"0.5\n0.25\n", ("predictions:1: 1 field", "use evaluate_arrays(scores, labels, qid=")),
    "nan": (b"1 Q0 d1 1 0.5 t\n1 Q0 d2 2 NaN t\n", ("nan:2:", "finite")),
    "infinite": (b"1 Q0 d1 1 1e999 t\n", ("infinite:1:", "finite")),
    "twice": (b"1 Q0 d1 1 0.5 t\n1 Q0 d2 1 0.5 t\n1 Q0 d1 1 0.4 t\n", ("twice:3:", "in line 1")),
    "others": (b"7 Q0 d1 1 0.5 t\n", ("no query in common", "'7'", "'1'")),
    "letor": (b"1 qid:1 1:0.5\n", "--feature 21"),
    "set.json": (b'{"1": {"d1": null}}', "not a number"),
    "twice.json": (b'{"1": ["d1", "d1"]}', "twice"),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs_that_cannot_be_read(folder, fails, name):
    content, says = RUNS[name]
    (folder / name).write_bytes(content)
    fails("evaluate", "qrels", name, "-o", "out", says=says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate", "nowhere", "run"], "nowhere: no such file"),
        (["evaluate", "qrels", "nowhere"], "nowhere: no such file"),
        (["evaluate", ".", "run"], "is a directory"),
        (["evaluate", "qrels", "."], "is a directory"),
        (["evaluate", "qrels"], "name a run"),
        (["evaluate"], "QRELS"),
        (["evaluate", "-", "-"], "only once"),
        (["evaluate", "qrels", "run", "run"], "named twice"),
        (["evaluate", "qrels", "run", "-m", "nDGC"], "Did you mean nDCG"),
        (["evaluate", "qrels", "run", "-m", "P@0"], "at least 1"),
        (["evaluate", "qrels", "run", "-m", "P@-5"], "at least 1"),
        (["evaluate", "qrels", "run", "-m", "GAP(g=[1, 1])"], "sum to 1"),
        (["evaluate", "qrels", "run", "-o", "."], "is a directory"),
        (["evaluate", "qrels", "run", "-o", "no/such/folder/out"], "there is no folder"),
        (["evaluate", "qrels", "run", "-o", "/proc/out"], "cannot be written"),
        (["evaluate", "qrels", "run", "--ties", "alphabetic"], "'alphabetic' is not one of"),
        (["evaluate", "qrels", "run", "--format", "pdf"], "'pdf' is not one of"),
        (["evaluate", "qrels", "run", "--run-format", "pdf"], "'pdf' is not one of"),
        (["evaluate", "qrels", "run", "--qrels-format", "msmarco"], "'msmarco' is not one of"),
        (["evaluate", "qrels", "run", "--wrong"], "--wrong"),
        (["evaluate", "qrels", "run", "--seed", "1.5"], "'--seed': '1.5' is not a whole number (see"),
        (["plan", "qrels", "run", "--alpha", "x"], "'--alpha': 'x' is not a number (see"),
        (["evaluate", "qrels", "--feature", "1"], "only LETOR files"),
        (["evaluat"], "Did you mean evaluate"),
        (["measures", "foo"], "no measure 'foo'"),
        (["explain", "qrels", "run", "3", "-m", "AP"], "no query '3'"),
        (["explain", "qrels", "run", "1"], "--measure"),
        (["explain", "qrels", "run", "1", "-m", "foo"], "no measure 'foo'"),
        (
            ["explain", "qrels", "run", "1", "-m", "RR", "-m", "AP"],
            "explain takes one measure; found 2: RR, AP",
        ),
        (["explain", "qrels", "run", "1", "-m", "RR,AP"], "explain takes one measure; found 2: RR, AP"),
        (["users", "qrels", "run", "-m", "eGAP", "-m", "GAP"], "users takes one measure; found 2: eGAP, GAP"),
        (["gate", "qrels", "run", "old.run"], "also found old.run; did you mean --baseline old.run?"),
        (["gate", "qrels", "run", "x", "--baseline", "old.run"], "a gate takes only one run, NEW; also found x (see"),
        (["check", "-", "-"], "only once"),
        (["explain", "qrels", "run", "1", "-m", "AP", "--feature", "1", "--feature", "2"], "takes a single --feature"),
        (["demo", "run"], "cannot be created"),
    ],
)
def test_commands_that_make_no_sense(folder, fails, arguments, says):
    fails(*arguments, says=says)


def test_the_demo_replaces_no_files_of_others(folder, fails):
    (folder / "qrels.txt").write_text("mine")
    fails("demo", ".", says="not from the demo")
    assert (folder / "qrels.txt").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_without_permission(folder, fails):
    (folder / "secret").write_text(GOOD_RUN)
    (folder / "secret").chmod(0)
    fails("evaluate", "qrels", "secret", says="cannot be opened: Permission denied")


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "gradely", *arguments], capture_output=True, text=True, check=False, **options
    )


def test_as_a_program(folder):
    done = command("evaluate", "qrels", "nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "gradely: nowhere: no such file\n")


def test_a_pipe_closed_early(folder):
    lines = "".join(f"{q} Q0 d1 1 0.5 t\n" for q in range(20_000))
    (folder / "long").write_text(lines)
    (folder / "labels").write_text("".join(f"{q} 0 d1 1\n" for q in range(20_000)))
    shell = f"{sys.executable} -m gradely evaluate labels long -q --format tsv; echo code $? >&2"
    done = subprocess.run(["bash", "-c", f"({shell}) | head -n 1"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("run\tquery\t")
    assert done.stderr == "gradely: standard output was closed early\ncode 2\n"


def test_an_output_file_is_replaced_only_by_a_whole_one(folder, capfd):
    (folder / "out").write_text("before")
    assert run(["evaluate", "qrels", "nowhere", "-o", "out"]) == 2
    assert (folder / "out").read_text() == "before"
    assert run(["evaluate", "qrels", "run", "-o", "out"]) == 0
    assert (folder / "out").read_text().startswith("measure")
    assert sorted(os.listdir(".")) == ["out", "qrels", "run"]
