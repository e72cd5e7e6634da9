"""The mutants themselves: what is changed, that a changed file is imported, and which survivors are let through."""

import ast
import subprocess
import sys

import pytest

from tests.mutants.areas import AREAS
from tests.mutants.changes import ROOT, SOURCE, Mutant, all_changes, mutants
from tests.mutants.survivors import read_survivors, verdict


def changed(code):
    """Return the code after each of its changes."""
    found = []
    for i in range(len(all_changes(ast.parse(code)))):
        tree = ast.parse(code)
        change = all_changes(tree)[i]
        setattr(change.node, change.field, change.value)
        found.append(ast.unparse(tree))
    return found


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("a + b", ["a - b"]),
        ("a < b", ["a <= b", "a >= b"]),
        ("min(a, 1)", ["max(a, 1)", "min(a, 2)"]),
        ("a and b", ["a or b"]),
        ("raise E(1 + 1)", []),
        ("def f(a: int = 3): return a", ["def f(a: int=4):\n    return a"]),
    ],
)
def test_what_is_changed(code, after):
    assert sorted(changed(code)) == sorted(after)


def test_every_file_is_in_one_area_and_every_test_exists():
    paths = [path for area in AREAS.values() for path in area.paths()]
    assert len(paths) == len(set(paths)) and all(area.paths() for area in AREAS.values())
    for area in AREAS.values():
        for test in (test for stage in area.stages for test in stage):
            assert (ROOT / test.split("::")[0]).exists(), test


IMPORTED = """
import sys
sys.path[:0] = ["src", "."]
from tests.mutants.changes import SOURCE, Finder, Mutant, mutants
mutant = next(m for m in mutants([SOURCE / "trec_eval" / "options.py"]) if "10  →  11" in str(m))
sys.meta_path.insert(0, Finder(mutant))
from gradely.trec_eval.options import Options
print(Options("q", "r", []).compat)
"""


def test_a_changed_file_is_imported_and_no_file_is_touched():
    before = (SOURCE / "trec_eval" / "options.py").read_bytes()
    done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "11\n"
    assert (SOURCE / "trec_eval" / "options.py").read_bytes() == before


def test_survivors_must_be_listed():
    assert verdict({"a": 1, "b": 2}, {"a", "b", "c"}, {"a": "why", "c": "why", "gone": "why"}) == (["b"], ["c"])


def test_each_listed_survivor_has_a_reason_and_is_a_change_of_today():
    reasons = read_survivors()
    assert all(reasons.values())
    today = {str(mutant) for area in AREAS.values() for mutant in mutants(area.paths())} if reasons else set()
    assert [change for change in reasons if change not in today] == []


def test_a_name_of_a_change_has_no_number_of_its_line():
    path = SOURCE / "comparison" / "kendall.py"
    assert str(Mutant(path, 0)).startswith("comparison/kendall.py: ")
