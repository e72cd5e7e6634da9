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


def find_files(folder, names):
    return tuple(f"{folder}/{name}.py" for name in names.split())


AREAS = {
    "formulas": Area(
        (*find_files("kernel", "families tie_groups gains lower_levels orders"), "relevance/*.py", "measures/*.py"),
        (
            (
                *tests("golden names measures kernels scores large_labels"),
                "tests/test_documents.py::test_what_follows_from_the_code_is_current",
                "src/gradely/measures",
                "src/gradely/relevance",
            ),
            tests("together arrays laws"),
        ),
        values=True,
    ),
    "significance": Area(
        find_files("comparison", "significance resampling wilcoxon intervals equivalence"),
        (tests("boundaries significance intervals"), tests("compare answers"), ("src/gradely/comparison",)),
    ),
    "comparison": Area(
        find_files(
            "comparison", "compare comparison leaderboard pairwise pairs design answers verdict influence captions"
        ),
        (tests("boundaries compare"), tests("answers significance"), ("src/gradely/comparison",)),
    ),
    "planning": Area(
        find_files("comparison", "plan gate saved_scores"),
        (tests("plan gate"), find_files("src/gradely/comparison", "plan gate")),
    ),
    "systems": Area(
        find_files("comparison", "correlate kendall pools stacked_runs"),
        (tests("stacked"), ("src/gradely/comparison",)),
    ),
    "ties": Area(
        ("comparison/ties.py", "data/tie_counts.py"),
        (tests("boundaries tie_sensitivity"), ("src/gradely/comparison/ties.py",)),
    ),
    "evaluation": Area(
        (*find_files("evaluation", "evaluate evaluation runs scores notes"), "kernel/batch.py"),
        (tests("scores boundaries"), tests("inputs cli"), tests("laws"), ("src/gradely/evaluation",)),
        values=True,
    ),
    "explanation": Area(
        find_files("evaluation", "explain check"), (tests("check"), tests("cli"), ("src/gradely/evaluation",))
    ),
    "arrays": Area(
        ("evaluation/arrays.py", "kernel/from_arrays.py"), (tests("arrays"), tests("laws"), ("src/gradely/kernel",))
    ),
    "alignment": Area(
        find_files("data", "align batches details hits qrels search tie_breaking values locate"),
        (tests("scores trec_eval"), tests("inputs boundaries"), tests("fast laws")),
        values=True,
    ),
    "readers": Area(
        ("data/trec/*.py",), (tests("boundaries readers hashing"), tests("trec_eval check"), tests("fast"))
    ),
    "trec_eval": Area(("trec_eval/*.py",), (tests("trec_eval"), tests("trec_eval_9"), ("src/gradely/trec_eval",))),
}
SAME = "not agrees_with_the_reference"
"""these ask what tests/test_together.py asked, and take long"""
