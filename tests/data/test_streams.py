"""Standard streams that are full, closed or interrupted, output files with odd names, and lines of errors."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from gradely.cli.main import run
from gradely.cli.output import error_line
from gradely.errors import LONGEST

PYTHON = sys.executable


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 0.5 t\n1 Q0 d2 2 0.4 t\n2 Q0 d1 1 0.5 t\n")
    (tmp_path / "half.json").write_text(r'{"1": {"\ud800": 1}}')
    return tmp_path


def shell(line):
    """Run a line in which `gradely` is this program; return exit code, output and errors."""
    done = subprocess.run(
        ["bash", "-c", line.replace("gradely", f"{PYTHON} -m gradely")], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["evaluate qrels run", "trec_eval qrels run", "measures", "--help", "check qrels"])
def test_a_full_device(folder, command):
    code, _, err = shell(f"gradely {command} > /dev/full")
    assert (code, err.count("\n")) == (2, 1) and "No space left on device" in err


@pytest.mark.skipif(sys.platform != "linux", reason="streams have names in /proc")
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_an_output_that_is_a_stream_leaves_what_the_stream_has(folder, path):
    (folder / "link").symlink_to("/dev/stdout")
    (folder / "log").write_text("before\n")
    assert shell(f"gradely evaluate qrels run -m RR --format csv -o {path} >> log")[0] == 0
    assert (folder / "log").read_text() == "before\nrun,RR\nrun,1.0\n"
    assert shell(f"{{ echo first; gradely evaluate qrels run -m RR --format csv -o {path}; echo last; }} > log")[0] == 0
    assert (folder / "log").read_text() == "first\nrun,RR\nrun,1.0\nlast\n"


@pytest.mark.skipif(sys.platform != "linux", reason="streams have names in /proc")
def test_an_output_to_another_stream(folder):
    (folder / "log").write_text("before\n")
    assert shell("gradely evaluate qrels run -m RR --format csv -o /dev/fd/3 3>> log")[0] == 0
    assert (folder / "log").read_text() == "before\nrun,RR\nrun,1.0\n"
    code, _, err = shell("gradely evaluate qrels run -m RR -o /dev/fd/77")
    assert (code, err) == (2, "gradely: /dev/fd/77: cannot be written: Bad file descriptor\n")


@pytest.mark.skipif(sys.platform != "linux", reason="streams have names in /proc")
@pytest.mark.parametrize("second", ["link", "/proc/self/fd/0", "/dev/stdin"])
@pytest.mark.parametrize("first", ["-", "/dev/fd/0", "link"])
def test_a_pipe_by_two_names_is_read_once(large, first, second):
    (large / "link").symlink_to("/dev/stdin")
    rows = "".join(f"{q},d{d},{d},{d}\n" for q in range(500) for d in range(9))
    (large / "both.csv").write_text(f"query,document,label,score\n{rows}")
    code, out, err = shell(f"cat both.csv | gradely evaluate {first} {second} -m AUC,nDCG --format csv")
    assert (code, out.splitlines()[1].split(",")[1:]) == (0, ["1.0", "1.0"]), err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_errors_that_cannot_be_written(folder):
    assert shell("gradely evaluate qrels nowhere 2> /dev/full") == (2, "", "")
    assert shell("gradely evaluate qrels nowhere 2>&-") == (2, "", "")


@pytest.fixture
def large(folder):
    """Return a folder with qrels and runs that are larger than what a full disk takes."""
    (folder / "qrels").write_text("".join(f"{q} 0 d{d} {(q + d) % 2}\n" for q in range(500) for d in range(9)))
    rows = [f"{q} Q0 d{d} 0 {d}.5 t\n" for q in range(500) for d in range(9)]
    (folder / "run").write_text("".join(rows))
    table = pa.table({"query": [row.split()[0] for row in rows], "document": [row.split()[2] for row in rows]})
    scores = pa.array([float(row.split()[4]) for row in rows])
    parquet.write_table(table.append_column("score", scores), folder / "run.parquet", compression="none")
    (folder / "run.parquet.gz").write_bytes(gzip.compress((folder / "run.parquet").read_bytes()))
    return folder


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("cat run | gradely evaluate qrels - -m AP", "standard input: cannot be kept in a temporary file"),
        ("gradely evaluate qrels <(cat run) -m AP", "cannot be kept in a temporary file"),
        ("cat run | gradely trec_eval qrels -", "standard input: cannot be kept in a temporary file"),
        ("gradely evaluate qrels run.parquet.gz -m AP", "run.parquet.gz: cannot be kept in a temporary file"),
    ],
)
def test_a_full_temporary_folder_never_cuts_the_input_short(large, command, says):
    assert shell(command)[0] == 0
    for blocks in (1, 8):
        code, out, err = shell(f"ulimit -f {blocks}; {command}")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert says in err and err.endswith(": File too large; set TMPDIR to a folder with enough space\n")


FEATURES = "gradely {} {} --feature 1 --feature 2 --feature 3 --feature 4 -m AP --threads 4 --format csv"


@pytest.mark.parametrize("command", ["evaluate", "compare", "ties"])
def test_features_of_a_letor_file_have_the_same_values_from_a_pipe_every_time(folder, command):
    draw = random.Random(1)
    lines = (
        f"{draw.choice([0, 0, 1, 2])} qid:{q} " + " ".join(f"{i}:{draw.random():.6f}" for i in range(1, 9)) + "\n"
        for q in range(600)
        for _ in range(20)
    )
    (folder / "letor").write_text("".join(lines))
    code, values, _ = shell(FEATURES.format(command, "letor"))
    assert code == 0
    for _ in range(4):
        code, out, err = shell("cat letor | " + FEATURES.format(command, "-"))
        assert (code, out) == (0, values.replace("letor:", "stdin:")), err


def test_standard_output_that_is_closed(folder):
    code, _, err = shell("gradely evaluate qrels run >&-")
    assert (code, err) == (2, "gradely: standard output is closed; open it, or name a file with -o\n")
    assert shell("gradely evaluate qrels run -o out >&- 2>&- <&-; cat out")[1].startswith("measure")


def test_standard_input_that_is_closed(folder):
    for command in ("gradely evaluate qrels - <&-", "gradely trec_eval qrels - <&-"):
        code, _, err = shell(command)
        assert (code, err.count("\n")) == (2, 1) and "standard input is closed" in err


def test_standard_errors_that_are_closed_do_no_harm(folder):
    code, out, _ = shell("gradely evaluate qrels run --format csv 2>&-")
    assert code == 0 and out.startswith("run,")


def test_half_a_surrogate_pair_is_written_so_that_it_can_be_read(folder, capfdbinary):
    for form in ("csv", "json", "table", "markdown"):
        options = ["explain", "half.json", "half.json", "1", "-m", "AP", "--format", form]
        assert run([*options, "-o", "out"]) == 0
        assert run(options) == 0
        written = (folder / "out").read_bytes()
        assert written.decode() and written == capfdbinary.readouterr().out
        if form == "json":
            assert json.loads(written)["lines"][0]["document"] == "\ud800"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_names_of_files_that_are_not_utf_8(folder):
    os.rename(b"run", b"run\xff")
    for form in ("csv", "json", "table"):
        code, _, err = shell(f"gradely evaluate qrels $'run\\xff' --format {form} -o $'out\\xff'")
        assert (code, err) == (0, "")
    assert b"out\xff" in os.listdir(b".")
    code, _, err = shell("gradely evaluate qrels $'none\\xff'")
    assert (code, err.count("\n")) == (2, 1)


KILLED = """
import os, signal, sys, time
from gradely.cli import main, output
def replace(*_):
    os.kill(os.getpid(), signal.{name})
    time.sleep(9)
output.os.replace = replace
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, which stays so
sys.argv[1:] = ["evaluate", "qrels", "run", "-o", "out"]
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_leaves_no_temporary_file(folder, name, code):
    before = sorted(os.listdir("."))
    done = subprocess.run([PYTHON, "-c", KILLED.format(name=name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)
    assert sorted(os.listdir(".")) == before


EARLY = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from gradely.cli import main
main()
"""


def test_an_interruption_while_modules_are_imported_is_no_traceback(folder):
    done = subprocess.run([PYTHON, "-c", EARLY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_line_of_an_error_is_short_and_printable(folder, capfd):
    huge = "1" + "0" * 400
    for arguments in (
        ["evaluate", "qrels", "run", "-m", f"AP(rel={huge})"],
        ["evaluate", "qrels", "run", "-m", "x" * 900],
        ["evaluate", "qrels", "no\nsuch\x1b[31m\x9bfile" + "y" * 2000],
        ["trec_eval", "-m", "z" * 900, "qrels", "run"],
        ["explain", "qrels", "run", "q\x1b]0;" * 200, "-m", "AP"],
    ):
        assert run(arguments) in (1, 2)
        line = capfd.readouterr().err.removesuffix("\n")
        assert len(line) <= LONGEST and line.isprintable()
    assert error_line("gradely: " + "x" * 999 + " what to do").endswith("xx what to do")
    assert len(error_line("x" * LONGEST)) == len(error_line("x" * (LONGEST + 1))) == LONGEST


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["pools", "qrels", "run", "--seed", "-1"], "--seed"),
        (["compare", "qrels", "run", "--seed", "-1"], "--seed"),
        (["evaluate", "qrels", "run", "-m", "ERR(top=2000)"], None),
        (["evaluate", "qrels", "run", "-m", "eGAP(g=[1e308, 1e308])"], "sum to 1"),
        (["evaluate", "qrels", "run", "-m", "eGAP(g={1e308: 1})"], None),
        (["evaluate", "qrels", "run", "-m", f"AP(rel=1{'0' * 400})"], "found 1000"),
        (["evaluate", "qrels", "run", "-m", f"nDCG(gain={{1: 1{'0' * 400}}})"], "a table must map labels"),
    ],
)
def test_numbers_that_are_too_large_or_too_small(folder, capfd, arguments, says):
    assert run(arguments) == (2 if says else 0)
    err = capfd.readouterr().err
    assert err.count("\n") == (1 if says else 0) and (says or "") in err


def test_a_label_whose_power_is_too_large(folder, capfd):
    (folder / "high").write_text("1 0 d1 2000\n1 0 d2 1999\n")
    assert run(["evaluate", "high", "run", "-m", "ERR", "-m", "nDCG(gain=exp)"]) == 0
    out, err = capfd.readouterr()
    assert "nan" not in out + err and "inf" not in out
