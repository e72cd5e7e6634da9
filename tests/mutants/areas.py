"""What is mutated, by area, and which tests never meet a mutant."""

from typing import NamedTuple

from tests.mutants.changes import SOURCE


class Area(NamedTuple):
    """Files by name or pattern."""

    files: tuple[str, ...]

    def paths(self):
        """Return the files."""
        return [path for pattern in self.files for path in sorted(SOURCE.glob(pattern))]


def area(folder, names="*"):
    return Area(tuple(f"{folder}/{name}.py" for name in names.split()))


AREAS = {
    "kernel": area("kernel"),
    "measures": area("measures"),
    "relevance": area("relevance"),
    "learning": area("learning"),
    "comparison": area("comparison"),
    "evaluation": area("evaluation"),
    "data": area("data"),
    "inputs": area("data/read"),
    "readers": area("data/trec"),
    "trec_eval": area("trec_eval"),
}
SLOW = """
axioms claims documents engines error_rates f14 figures fuzz memory mutants notebook page papers papers_m08 papers_m16
papers_s11 real_data report report_interactions spark_pipeline streams structure terminals
"""
LEFT_OUT = [*(f"test_{name}.py" for name in SLOW.split()), "tools", "spark", "fuzz", "mutants"]
"""tests that open pages, start processes, recompute papers or take long; they touch little that others do not"""
