"""The mutants themselves: what is changed, that a change has its effect, and which survivors are let through."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.mutants.__main__ import conclude
from tests.mutants.areas import AREAS, DRAWINGS, JUDGED, UNJUDGED, paths_of
from tests.mutants.changes import ROOT, SOURCE, SPEED, Mutant, all_changes, mutants, one_per_line
from tests.mutants.check import Check, sort_tests, uses_of
from tests.mutants.forks import in_forks
from tests.mutants.survivors import find_gone, read_list
from tests.mutants.touch import sample_tests


def changed(code):
    """Return the code after each of its changes."""
    found = []
    for i in range(len(list(all_changes(ast.parse(code))))):
        tree = ast.parse(code)
        list(all_changes(tree))[i].make()
        found.append(ast.unparse(tree))
    return found


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("a + b", ["a - b"]),
        ("a += b", ["a -= b"]),
        ("a < b", ["a <= b", "a >= b"]),
        ("min(a, 1)", ["max(a, 1)", "min(a, 2)"]),
        ("a and b", ["a or b"]),
        ("raise E(1 + 1)", []),
        ("1e300", []),
        ("assert a < 1", []),
        ("a / where(b, c, 1.0)", ["a * where(b, c, 1.0)"]),
        ("where(b, c, 1.0)", ["where(b, c, 2.0)"]),
        ("a.reshape(-1)", ["a.reshape(+1)"]),
        ("progress('runs', i / 2)", []),
        ("def chart(self): return axis(labelAngle=40)", []),
        ("zip(a, b, strict=True)", []),
        ("Number: TypeAlias = int | float", []),
        ("def f(a: int = 3): return a", ["def f(a: int=4):\n    return a"]),
    ],
)
def test_what_is_changed(code, after):
    assert sorted(changed(code)) == sorted(after)


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("def f(a):\n    a.append(b)", ["def f(a):\n    pass"]),
        ("def f(a):\n    a[b] = c", ["def f(a):\n    pass"]),
        ("def f(a):\n    a = a + b", ["def f(a):\n    pass", "def f(a):\n    a = a - b"]),
        ("def f(a):\n    b = c", []),
        ("def f(a):\n    if a:\n        return b", ["def f(a):\n    if a:\n        pass"]),
        ("def f(a):\n    if a:\n        raise E(1)", ["def f(a):\n    if a:\n        pass"]),
        ("def f(a):\n    raise NotImplementedError", []),
        ("for a in b:\n    continue", ["for a in b:\n    pass"]),
        ("f(a, b=c)", ["f(a)"]),
        ("zip(a, b, strict=c)", []),
        ("f(a, device=b, threads=1)", []),
        ("a = b.tolist()", []),
        ("a = np.zeros(b)", []),
        ("a = sorted(b)", ["a = b"]),
        ("a = np.sqrt(b)", ["a = b"]),
        ("a = b.strip()", ["a = b"]),
        ("a = list(b)", []),
        ("a = len(b)", []),
        ("a = f(b, c)", []),
        ("file.close()", []),
    ],
)
def test_what_is_left_out(code, after):
    assert sorted(changed(code)) == sorted(after)


def test_constants_that_decide_speed_are_there():
    for file, names in SPEED.items():
        texts = [path.read_text() for path in SOURCE.rglob(f"{file}.py")]
        for name in names.split():
            assert any(re.search(rf"^([A-Z_]+, )*{name}\b.* = ", text, re.MULTILINE) for text in texts), (file, name)


def test_every_file_of_a_room_is_in_one_area():
    paths = [path for area in AREAS for path in paths_of(area)]
    assert len(paths) == len(set(paths)) and all(map(paths_of, AREAS))
    assert sorted([*JUDGED, *UNJUDGED]) == sorted(AREAS)
    rooms = "kernel relevance measures learning trec_eval comparison evaluation data judgments"
    for room in rooms.split():
        files = {*(SOURCE / room).rglob("*.py")} - {SOURCE / name for name in DRAWINGS}
        assert files <= set(paths)


SET_UP = """
import sys
sys.path[:0] = ["src", "."]
from tests.mutants.changes import SOURCE, mutants
from tests.mutants.lives import Finder, exchange
from tests.mutants.touch import functions
def mutant(file, change):
    return next(mutant for mutant in mutants(SOURCE / file) if change in mutant.name)
"""
INSIDE = """
from gradely.comparison.kendall import meaning
noticed = mutant("comparison/kendall.py", "meaning: tau > EQUIVALENT  →  tau <= EQUIVALENT")
assert noticed.source and exchange(noticed, functions()[noticed.path])
print(meaning(0.95))
"""
OUTSIDE = """
changed = mutant("comparison/kendall.py", "0.9  →  1.9")
assert not changed.source
sys.meta_path.insert(0, Finder(changed))
from gradely.comparison.kendall import meaning
print(meaning(0.95))
"""


@pytest.mark.parametrize("code", [INSIDE, OUTSIDE])
def test_a_change_has_its_effect_and_no_file_is_touched(code):
    path = SOURCE / "comparison" / "kendall.py"
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", SET_UP + code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"  # without the change it is "equivalent"
    assert path.read_bytes() == before


def test_a_fork_that_dies_has_no_answer():
    work = lambda task: os.kill(os.getpid(), signal.SIGKILL) if task == "bad" else task.upper()
    assert dict(in_forks(["good", "bad", "fair"], work, 2)) == {"good": "GOOD", "bad": None, "fair": "FAIR"}


TRACED = """
from gradely.comparison import kendall
from tests.mutants.touch import Tracer
tracer = Tracer()
sys.settrace(tracer)
kendall.meaning(0.95), kendall.meaning(0.92)
sys.settrace(None)
text = (SOURCE / "comparison" / "kendall.py").read_text(encoding="utf-8").splitlines()
print(*[text[line - 1].strip() for line in tracer.lines()["comparison/kendall.py"]][1:], sep="\\n")
"""


def test_the_lines_that_a_test_touches():
    """In a process of its own, where nothing else traces."""
    done = subprocess.run([sys.executable, "-c", SET_UP + TRACED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["if tau > EQUIVALENT:", 'return "equivalent"']


def test_of_many_parameters_some_are_taken_from_the_first_to_the_last():
    items = [SimpleNamespace(nodeid=f"test[{i}]") for i in range(100)] + [SimpleNamespace(nodeid="other")]
    taken = [item.nodeid for item in sample_tests(items)]
    assert taken[:2] == ["test[0]", "test[3]"] and taken[-2:] == ["test[99]", "other"] and len(taken) == 35


def test_a_mutant_meets_first_who_noticed_others_then_quick_tests_of_many_kinds():
    seconds = {"f[a]": 1.0, "f[b]": 1.0, "f[c]": 1.0, "g": 1.5, "h": 2.5, "slow": 9.0}
    assert sort_tests(seconds, Counter(slow=1)) == ["slow", "f[a]", "g", "f[b]", "h", "f[c]"]


def test_a_constant_meets_tests_of_its_own_uses():
    """And not those of its namesakes, of which there are several."""
    path = SOURCE / "evaluation/notes.py"
    (mutant,) = [mutant for mutant in mutants(path) if mutant.name.endswith("DIGITS = 4")]
    assert mutant.constants == {"DIGITS"}
    users = {use.name for use, _ in uses_of(mutant.constants, path)}
    assert {"scores.py", "evaluate.py"} <= users and "tests.py" not in users
    path = SOURCE / "comparison/tests.py"
    mutant = next(mutant for mutant in mutants(path) if mutant.constants == {"EXACT"})
    assert {use for use, _ in uses_of(mutant.constants, path)} == {path}


@pytest.mark.parametrize(
    ("file", "tests", "installed", "left_out"),
    [
        ("kernel/backend.py", [], False, True),
        ("kernel/backend.py", [], True, False),
        ("kernel/backend.py", ["a test"], False, False),
        ("kernel/batch.py", [], False, False),
    ],
)
def test_lines_for_libraries_that_are_not_installed_are_left_out(monkeypatch, file, tests, installed, left_out):
    monkeypatch.setattr("tests.mutants.check.find_spec", lambda name: installed)
    check = SimpleNamespace(tests_of=lambda mutant: tests)
    assert Check.is_beyond_reach(check, SimpleNamespace(path=SOURCE / file)) == left_out


def test_reasons_hold_for_the_changes_above_them(tmp_path, monkeypatch):
    (tmp_path / "list").write_text("# about\na\nb\n    Both\n    are.\n\nc\n    One is.\nd\n", encoding="utf-8")
    monkeypatch.setattr("tests.mutants.survivors.LIST", tmp_path / "list")
    assert read_list() == {"a": "Both are.", "b": "Both are.", "c": "One is.", "d": ""}


def mutant_of(name):
    return Mutant(SOURCE / "comparison" / "kendall.py", 0, name, 7, frozenset(), "", frozenset())


KILLED, SURVIVING, LISTED = (mutant_of(f"comparison/kendall.py {name}") for name in ("killed", "surviving", "listed"))
GOOD = {KILLED: "a test", LISTED: ""}


@pytest.mark.parametrize(
    ("outcomes", "failing", "code", "line"),
    [
        (GOOD, [], 0, "2 mutants: 0 survive, 1 are listed, 0 are left"),
        ({KILLED: "a test"}, [], 0, "2 mutants: 0 survive, 1 are listed, 0 are left"),
        (GOOD | {SURVIVING: ""}, [], 1, "comparison/kendall.py surviving  at line 7"),
        ({KILLED: "a test", LISTED: "a test"}, [], 1, "listed, but noticed: comparison/kendall.py listed"),
        ({LISTED: ""}, [], 1, "2 mutants: 0 survive, 1 are listed, 1 are left"),
        (GOOD, ["a test"], 1, "fails without any change: a test"),
    ],
)
def test_the_check_fails_where_the_list_is_not_right(outcomes, failing, code, line, monkeypatch):
    lines = []
    monkeypatch.setattr("tests.mutants.__main__.say", lines.append)
    monkeypatch.setattr("tests.mutants.__main__.read_list", lambda: {LISTED.name: "why"})
    check = SimpleNamespace(
        mutants=[*GOOD | outcomes],
        outcomes=lambda: outcomes,
        tests_of=lambda mutant: ["a test"],
        touched=SimpleNamespace(failing=lambda: failing),
    )
    assert conclude(check, check.mutants) == code
    assert line in lines


def test_a_listed_change_that_is_gone():
    reasons = dict.fromkeys(("comparison/kendall.py gone", "comparison/no_file.py f", "cli/main.py f"), "why")
    assert find_gone(reasons, [KILLED], [KILLED.path]) == ["comparison/kendall.py gone", "comparison/no_file.py f"]


def test_one_change_of_a_line_is_taken_always_the_same():
    made = mutants(SOURCE / "comparison" / "kendall.py")
    taken = one_per_line(made)
    assert one_per_line(made[::-1]) == taken[::-1] and len(taken) < len(made)
    lines = {(mutant.line, mutant.leaves_out) for mutant in made}
    assert Counter((mutant.line, mutant.leaves_out) for mutant in taken) == dict.fromkeys(lines, 1)


def test_each_listed_survivor_has_a_reason_and_can_still_be_made():
    paths = [path for area in AREAS for path in paths_of(area)]
    assert find_gone(read_list(), [mutant for path in paths for mutant in mutants(path)], paths) == []
    assert all(read_list().values())


def test_a_name_of_a_change_has_no_number_of_its_line_and_occurs_once():
    names = [mutant.name for mutant in mutants(SOURCE / "comparison" / "kendall.py")]
    assert len(names) == len(set(names))
    assert "comparison/kendall.py meaning: tau < NOTICEABLE  →  tau <= NOTICEABLE" in " ".join(names)
