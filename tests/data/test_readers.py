"""Readers: pipes, packed files, tables as people have them, and one clear line for whatever cannot be read."""

import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import gradely
from gradely import DataError, InputError
from gradely.cli.main import run
from gradely.data import open_run
from gradely.data import source as sources
from gradely.data.read import pieces as runs
from gradely.data.source import DiskFile, Source
from gradely.data.table import IrregularText
from gradely.install import install_extra
from gradely.trec_eval import read as trec_eval_read

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n"
RUN = "1 Q0 d2 1 0.5 t\n1 Q0 d1 2 0.4 t\n2 Q0 d1 1 0.5 t\n"
EXPECTED = {"RR": 0.75}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def written(name, content):
    with open(name, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return name


def mean(qrels="qrels", ranking="run", measure="RR"):
    return gradely.evaluate(qrels, ranking, [measure]).mean()


# Pipes


def shell(command):
    program = f"{sys.executable} -m gradely"
    return subprocess.run(
        ["bash", "-c", command.replace("gradely", program)], capture_output=True, text=True, check=False, timeout=120
    )


COMMANDS = {
    "evaluate": "gradely evaluate {} {} -m RR",
    "compare": "gradely compare {} {} other -m RR",
    "ties": "gradely ties {} {} -m RR",
    "explain": "gradely explain {} {} 1 -m RR",
    "check": "gradely check {} {}",
    "correlate": "gradely correlate {} {} other -m RR -m AP",
    "gate": "gradely gate {} other --baseline {} -m RR",
    "trec_eval": "gradely trec_eval {} {}",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_read_pipes_for_both_files(folder, command, capfd):
    (folder / "other").write_text(RUN.replace("0.4", "0.6"))
    (folder / "run.gz").write_bytes(gzip.compress(RUN.encode()))
    assert run(COMMANDS[command].format("qrels", "run").split()[1:]) == 0
    plain = capfd.readouterr().out
    piped = shell(COMMANDS[command].format("<(cat qrels)", "<(zcat run.gz)"))
    assert piped.returncode == 0, piped.stderr
    nameless = [re.sub(r"/dev/fd/\d+|\bpipe\b|\bqrels\b|\brun\b|[─ ]+", " ", out) for out in (plain, piped.stdout)]
    assert nameless[0] == nameless[1]


def test_saved_scores_from_a_pipe(folder):
    assert shell("gradely gate qrels run -m RR --save scores.json").returncode == 0
    for baseline in ("<(cat scores.json)", "<(gzip < scores.json)", "- < scores.json"):
        done = shell(f"gradely gate qrels run -m RR --baseline {baseline}")
        assert (done.returncode, done.stderr) == (0, "")


def test_segments_are_a_column_of_piped_qrels(folder):
    written("judged.csv", "query,document,label,kind\n1,d1,1,short\n2,d1,1,long\n")
    plain, piped = (
        shell(f"gradely evaluate {qrels} run -m RR --by kind") for qrels in ("judged.csv", "<(cat judged.csv)")
    )
    assert plain.returncode == 0 and plain.stdout == piped.stdout, piped.stderr
    segments = str(gradely.evaluate("judged.csv", "run", ["RR"], by="kind").segments)
    os.mkfifo("fifo")
    writer = threading.Thread(target=written, args=("fifo", (folder / "judged.csv").read_text()))
    writer.start()
    assert str(gradely.evaluate("fifo", "run", ["RR"], by="kind").segments) == segments
    writer.join()


def test_standard_input_by_any_name(folder):
    for name in ("-", "/dev/stdin", "/dev/fd/0"):
        assert "0.7500" in shell(f"cat run | gradely evaluate qrels {name} -m RR").stdout
        assert "0.7500" in shell(f"cat qrels | gradely evaluate {name} run -m RR").stdout
        assert "0.7500" in shell(f"gradely evaluate qrels {name} -m RR < run").stdout
    closed = shell("gradely evaluate qrels - <&-")
    assert closed.returncode == 2 and re.fullmatch("gradely: standard input:? is (closed|empty)\n", closed.stderr)


def test_named_pipes_in_python(folder):
    os.mkfifo("fifo")
    for content, value in ((RUN, 0.75), (RUN.replace("0.4", "0.6"), 1.0)):  # what comes the second time is read anew
        writer = threading.Thread(target=written, args=("fifo", content))
        writer.start()
        assert mean(ranking="fifo") == {"RR": value}
        writer.join()


def test_parquet_from_a_pipe_and_packed(folder):
    table = pa.table({"query_id": ["1", "1", "2"], "doc_id": ["d2", "d1", "d1"], "score": [0.5, 0.4, 0.5]})
    parquet.write_table(table, "run.parquet")
    with open("run.parquet", "rb") as file:
        written("run.parquet.gz", gzip.compress(file.read()))
    assert mean(ranking="run.parquet") == mean(ranking="run.parquet.gz") == EXPECTED
    for command in ("cat run.parquet | gradely evaluate qrels - -m RR", "gradely evaluate qrels - -m RR < run.parquet"):
        assert "0.7500" in shell(command).stdout
    assert "0.7500" in shell("zcat run.parquet.gz | gradely evaluate qrels /dev/stdin -m RR").stdout


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/dev/zero", "/dev/zero: is a device; name a file"),
        ("/dev/null", "/dev/null: the file is empty"),
        ("/proc/self/mem", "/proc/self/mem: cannot be read: Input/output error"),
        ("a\0b", "cannot be opened: embedded null byte"),
    ],
)
def test_what_is_no_file(folder, path, says):
    for files in ((path, "run"), ("qrels", path)):
        with pytest.raises(InputError, match=re.escape(says)):
            mean(*files)


def test_errors_while_reading(folder):
    descriptor = os.open("run", os.O_WRONLY)
    with (
        DiskFile(descriptor, "run") as file,
        pytest.raises(InputError, match="run: cannot be read: Bad file descriptor"),
    ):
        file.read(10)


# Packed files


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", PACK)
def test_packed_files(folder, ending):
    pack = PACK[ending]
    half = len(RUN) // 2
    written(f"run.{ending}", pack(RUN[:half].encode()) + pack(b"") + pack(RUN[half:].encode()) + bytes(8))
    written("nameless", pack("\ufeff".encode() + QRELS.encode()))
    written(f"run.csv.{ending}", pack(b"qid,docno,score\n1,d1,1\n1,d2,2\n2,d1,1\n"))
    assert mean("nameless", f"run.{ending}") == mean(ranking=f"run.csv.{ending}") == EXPECTED
    assert str(gradely.evaluate("qrels", f"run.{ending}", ["RR"]).name) == "run"
    written(f"broken.{ending}", pack(RUN.encode() * 500)[:-20])
    with pytest.raises(InputError, match=f"broken.{ending}: cannot be read"):
        mean(ranking=f"broken.{ending}")


def zstandard():
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    return None


def test_zstandard_is_read_or_what_reads_it_is_named(folder, monkeypatch):
    library = zstandard()
    content = library.compress(RUN.encode()) if library else b"\x28\xb5\x2f\xfd" + bytes(20)
    written("run.zst", content)
    if library:
        assert mean(ranking="run.zst") == EXPECTED
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(gradely.MissingExtra, match=f"{re.escape(install_extra('zstd'))}$"):
        mean(ranking="run.zst")


def test_little_is_unpacked_at_a_time(folder, monkeypatch):
    """A megabyte of gzip may hold a gigabyte."""
    written("run.gz", gzip.compress(b"x" * 50_000_000))
    with Source("run.gz").stream() as stream:
        assert stream.readinto(bytearray(1 << 26)) <= sources.BLOCK


# Files that change while they are read


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_that_grows_is_read_as_it_was(folder, monkeypatch, order):
    """Lines are added after every piece; in one order queries are together, in the other they are scattered."""
    lines = [f"q{q} Q0 d{d} 1 {d} t\n" for q in range(50) for d in range(40)]
    lines = lines if order == 1 else [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]
    written("growing", "".join(lines))
    written("labels", "".join(f"q{q} 0 d39 1\n" for q in range(50)))
    monkeypatch.setattr(runs, "PIECE", 2000)
    told = []

    def grow(done):
        told.append(done)
        with open("growing", "a") as file:
            file.write("late Q0 d 1 1 t\nq1 Q0 d39 1 99 t\n")

    hits = gradely.data.locate(gradely.read_qrels("labels"), open_run("growing"), gradely.settings.Settings(), 1, grow)
    assert hits.retrieved.tolist() == [40] * 50
    assert told[-1] == 1 and max(told) <= 1


# Numbers that were wrong


@pytest.mark.parametrize("labels", [[[None, 1]], [["a", "1"]], np.array([[None, 1]], object)])
def test_labels_and_scores_that_are_no_numbers(labels):
    for call in (gradely.evaluate_arrays, gradely.from_arrays):
        with pytest.raises(DataError, match=r"labels (must be|are) numbers"):
            call([[0.5, 0.4]], labels)
        with pytest.raises(DataError, match=r"scores (must be|are) numbers"):
            call(labels, [[0, 1]])
    with pytest.raises(DataError, match=r"labels (must be|are) numbers"):
        gradely.from_ids([[1, 2]], [[1, 2]], labels)


# One line for everything that cannot be read


def test_ids_of_other_types_in_the_middle(folder):
    labels = {"1": {"d9": 0, 5: 1, b"d7": 1, "d8": 0}}
    assert mean(labels, {"1": {"5": 1.0, "x": 2.0}}) == {"RR": 0.5}
    assert mean(labels, written("r", "1 Q0 x 1 2 t\n1 Q0 d7 1 1 t\n")) == {"RR": 0.5}
    with pytest.raises(DataError, match="an id is missing"):
        mean({"1": {"d1": 1, None: 1, "d2": 0}})
    with pytest.raises(DataError, match="not UTF-8"):
        mean({"1": {"d1": 1, b"\xff": 1, "d2": 0}})


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", '{"1": {"d1": ' + "9" * 5000 + "}}", "a.json: a number has too many digits"),
        ("a.json", '{"1": {"d1": ' + "9" * 4000 + "}}", "is too large to represent"),
        ("a.jsonl", '{"query_id": 1, "doc_id": ' + "9" * 5000 + ', "score": 1}\n', "a.jsonl:1: a number has too many"),
        ("a.csv", "qid,docno,score\n1,d1,1\n1," + "d" * 200_000 + ",1\n", "a.csv:3: is not CSV: field larger than"),
        ("a.csv", "qid,docno,score\n1," + "d" * 90_000 + ",x\n", "a.csv:2: the score 'x' is not a number"),
        ("a.csv", "qid,docno,score\n" + "1," * 90_000 + "\n", "a.csv:2: 90,001 fields"),
        ("a", "1 Q0 d1 1 " + "9" * 5000 + " t\n", "it must be a finite number"),
        ("a" * 130, "1 Q0 " + "d" * 250 + "\n" + "1 Q0 d 1 x t\n" * 3, "3 fields instead of 6"),
        ("a.json", '{"' + "q" * 5000 + '": 5}', "expected {document: number}"),
        ("a.json", '{"1": {"' + "d" * 5000 + '": "x"}}', "'x' is not a number"),
    ],
)
def test_errors_of_any_input_are_one_line_of_at_most_300_characters(folder, capfd, name, content, says):
    written(name, content)
    for command in (["evaluate", "qrels", name], ["explain", "qrels", name, "1", "-m", "RR"]):
        assert run(command) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert says in err and len(err) <= len("gradely: ") + 300 + len("\n")


def test_a_query_without_documents_is_checked(folder, capfd):
    written("empty.json", '{"1": {}, "2": {"d1": 1}}')
    assert run(["check", "qrels", "empty.json"]) == 0
    assert "empty.json: 2 queries, 1 document\n" in capfd.readouterr().out


def test_explain_takes_scores_as_evaluate_does(folder, capfd):
    written("text.json", '{"1": {"d1": "0.5", "d2": "0.7"}}')
    assert run(["explain", "qrels", "text.json", "1", "-m", "RR"]) == 0
    assert "RR 0.5000" in capfd.readouterr().out
    assert gradely.evaluate("qrels", "text.json", ["RR"]).per_query()["1"] == {"RR": 0.5}


# What trec_eval takes, the fast way


ODD_LINES = {
    "comment": b"# a comment\n",
    "comment in six fields": b"# Q0 docno rank score tag\n",
    "infinity": b"1 Q0 inf 1 inf t\n1 Q0 minus 1 -Infinity t\n",
    "bytes": b"1 Q0 caf\xe9 1 0.45 t\n",
    "fields": b"1 Q0 d3 1 0.45 my best run\n",
    "prefix of a number": b"1 Q0 d3 1 0.45abc t\n",
    "hexadecimal": b"1 Q0 d3 1 0x1p-2 t\n",
    "control characters": b"1 Q0 d\x013 1 0.45 t\n",
    "other white space": b"1\x0bQ0\x0cd3 1 0.45 t\r\n",
    "blank": b"\n \n",
}


@pytest.mark.parametrize("name", ODD_LINES)
@pytest.mark.parametrize("scattered", [False, True])
def test_trec_eval_reads_odd_lines_the_fast_way(folder, monkeypatch, capfdbinary, name, scattered):
    lines = RUN.encode() + ODD_LINES[name] + b"1 Q0 late 1 0.45 t\n" * scattered
    written("odd", lines)
    written("judged", QRELS.encode() + b"1 0 inf 1\n1 0 d3 1\n1 0 d\x013 1\n")
    arguments = ["trec_eval", "-q", "-m", "official", "judged", "odd"]
    with monkeypatch.context() as plainly:
        plainly.setattr(trec_eval_read, "find_in_table", refuse)
        assert run(arguments) == 0
        expected = capfdbinary.readouterr().out
    monkeypatch.setattr(trec_eval_read, "_plain_run", refuse)
    assert run(arguments) == 0
    assert capfdbinary.readouterr().out == expected


def refuse(*_, **__):
    raise IrregularText
