"""The fuzzer itself: the cases it has found stay mended, it notices what is wrong, and makes failures small."""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz import cases, checks, commands
from tests.fuzz.cases import Case, failure_of, shrink
from tests.fuzz.checks import CHECK, MAKE

FOUND = sorted(cases.FOLDER.glob("*.json"))
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_is_mended(path):
    case = Case.load(path)
    CHECK[case.check](case)


@pytest.mark.parametrize("check", CHECK)
def test_each_check_passes_and_counts(check):
    done = Counter()
    for i in range(3):
        done += CHECK[check](MAKE[check](random.Random(f"test {i}")))
    assert done["inputs"] >= 3


COMMANDS, THROUGH = 150, 0.7
"""how many commands are sampled, and the least share of them that comes to the end; it is about 0.8"""


def test_most_commands_come_to_the_end():
    done = Counter()
    for i in range(COMMANDS):
        done += commands.check(commands.make(random.Random(f"share {i}")))
    assert done["commands"] == COMMANDS == sum(done[f"{command} in all"] for command in commands.WEIGHTS)
    through = sum(done[f"{command} through"] for command in commands.WEIGHTS)
    assert through == COMMANDS - done["refused"] >= THROUGH * COMMANDS, done


def test_the_same_seed_makes_the_same_cases():
    for make in MAKE.values():
        assert make(random.Random("7 0 3")) == make(random.Random("7 0 3"))


def test_cases_are_saved_as_they_are(tmp_path):
    case = Case("commands", {"a": b"text\n", "b": b"\xff\x00"}, ["evaluate", "a", "b"])
    assert Case.load(case.save("why", tmp_path / "cases")) == case


def test_a_traceback_is_noticed_and_made_small(monkeypatch):
    def broken(arguments):
        if b"\xff" in Path("run").read_bytes():
            raise KeyError
        return 0

    monkeypatch.setattr(commands, "run", broken)
    case = Case("commands", {"qrels": b"1 0 a 1\n" * 9, "run": b"1 Q0 a 1 2 t\n" * 20 + b"2 \xff x\n"}, ["evaluate"])
    assert failure_of(commands.check, case).startswith("KeyError")
    assert shrink(commands.check, case).files == {"qrels": b"", "run": b"\xff"}


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: Path("left").touch() or 2, "no clear line"),
        (lambda: (sys.stderr.write("one\n") and Path("left").touch()) or 2, "files left behind"),
        (lambda: sys.stderr.write("x" * 400 + "\n") and 2, "no clear line"),
        (lambda: sys.stderr.write("\x1b[2J\n") and 2, "steer the terminal"),
        (lambda: sys.stderr.write("one\n") and sys.stdout.write("half") and 2, "output besides an error"),
        (lambda: Path("run").write_text("changed") and 0, "changed input"),
        (lambda: 3, "exit code"),
        (lambda: 0, "no output"),
        (lambda: sys.stdout.write("a,b\n1\n") and 0, "columns"),
        (lambda: sys.stdout.write("a,b\n1,nan\n") and 0, "not finite"),
    ],
)
def test_what_a_command_must_not_do_is_noticed(monkeypatch, act, says):
    monkeypatch.setattr(commands, "run", lambda arguments: act())
    with pytest.raises(AssertionError, match=says):
        commands.check(Case("commands", {"run": b"x"}, ["evaluate", "run", "--format", "csv"]))


@pytest.mark.parametrize("check", ["readers", "inputs", "laws", "arrays", "numbers"])
def test_a_wrong_number_is_noticed(monkeypatch, check):
    """One number in the last place, in one of two ways to the same result."""
    seen, name = [], {"arrays": "evaluate_arrays", "numbers": "read_qrels"}.get(check, "evaluate")
    right = getattr(checks.gradely, name)

    def wrong(*given, **options):
        found = right(*given, **options)
        seen.append(found)
        if len(seen) % 2 or check in ("arrays", "numbers"):
            table = found["AP"] if check == "arrays" else found.grade if check == "numbers" else found.values
            table.flat[0] += 1e-9
        return found

    several = (MAKE[check](random.Random(i)) for i in range(99))
    case = next(case for case in several if CHECK[check](case)["numbers"])
    monkeypatch.setattr(checks.gradely, name, wrong)
    with pytest.raises(AssertionError):
        CHECK[check](case)


def test_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--rounds", "6", "--processes", "2", "--json", str(tmp_path / "done")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks of laws" in done.stdout and (tmp_path / "done").exists()
