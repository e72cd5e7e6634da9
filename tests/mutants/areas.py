"""What is mutated, and the tests that must notice, the quickest first."""

from typing import NamedTuple

from tests.mutants.changes import SOURCE


class Area(NamedTuple):
    """Files, and tests in stages: a mutant that survives one meets the next."""

    files: tuple[str, ...]
    stages: tuple[tuple[str, ...], ...]
    values: bool = False
    """whether the values of all measures are compared with the reference before any test"""

    def paths(self):
        """Return the files."""
        return [path for pattern in self.files for path in sorted(SOURCE.glob(pattern))]


def tests(names):
    return tuple(f"tests/test_{name}.py" for name in names.split())


def named(folder, names):
    return tuple(f"{folder}/{name}.py" for name in names.split())


AREAS = {
    "formulas": Area(
        (*named("kernel", "families tie_groups gains"), "relevance/*.py", "measures/*.py"),
        (
            (
                *tests("golden names measures kernels scores"),
                "tests/test_documents.py::test_the_page_of_measures_is_current",
                "src/gradely/measures",
                "src/gradely/relevance",
            ),
            tests("together arrays laws"),
        ),
        values=True,
    ),
    "significance": Area(
        named("comparison", "significance resampling pairwise"),
        (tests("boundaries significance"), tests("compare"), named("src/gradely/comparison", "significance pairwise")),
    ),
    "comparison": Area(
        named("comparison", "compare leaderboard"), (tests("compare"), ("src/gradely/comparison/compare.py",))
    ),
    "systems": Area(
        named("comparison", "correlate kendall pools systems"), (tests("systems"), ("src/gradely/comparison",))
    ),
    "ties": Area(
        ("comparison/ties.py", "data/tie_counts.py"),
        (tests("boundaries tie_sensitivity"), ("src/gradely/comparison/ties.py",)),
    ),
    "evaluation": Area(
        (*named("evaluation", "evaluate scores"), "kernel/batch.py"),
        (tests("scores boundaries"), tests("inputs cli"), tests("laws"), ("src/gradely/evaluation",)),
        values=True,
    ),
    "explanation": Area(
        named("evaluation", "explain check"), (tests("check"), tests("cli"), ("src/gradely/evaluation",))
    ),
    "arrays": Area(
        ("evaluation/arrays.py", "kernel/from_arrays.py"), (tests("arrays"), tests("laws"), ("src/gradely/kernel",))
    ),
    "alignment": Area(
        named("data", "align batches hits qrels rule search tie_breaking values locate"),
        (tests("scores trec_eval"), tests("inputs boundaries"), tests("fast laws")),
        values=True,
    ),
    "tallies": Area(("data/tally.py",), (tests("check"),)),
    "readers": Area(("data/trec/*.py",), (tests("boundaries"), tests("trec_eval check"), tests("fast"))),
    "trec_eval": Area(("trec_eval/*.py",), (tests("trec_eval"), tests("trec_eval_9"), ("src/gradely/trec_eval",))),
}
SAME = "not agrees_with_the_reference"
"""these ask what tests/test_together.py asked, and take long"""
