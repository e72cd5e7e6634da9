"""What is mutated, by area, and which tests never meet a mutant."""

from typing import NamedTuple

from tests.mutants.changes import SOURCE


class Area(NamedTuple):
    """Files by name or pattern."""

    files: tuple[str, ...]

    def paths(self):
        """Return the files."""
        return [path for pattern in self.files for path in sorted(SOURCE.glob(pattern))]


def area(**names):
    """Return the files of some folders: area(kernel="families gains"), with _ for a folder in a folder."""
    return Area(tuple(f"{folder.replace('_', '/')}/{name}.py" for folder in names for name in names[folder].split()))


AREAS = {
    "significance": area(comparison="significance resampling wilcoxon intervals equivalence pairs"),
    "planning": area(comparison="plan gate saved_scores"),
    "systems": area(comparison="correlate kendall pools stacked_runs"),
    "ties": area(comparison="ties", data="tie_counts tie_breaking"),
    "formulas": area(kernel="by_place families tie_groups gains lower_levels orders", relevance="*", measures="*"),
    "arrays": area(kernel="assembly backend batch fixed from_* notebook_card parameters rows", evaluation="arrays"),
    "trec_eval": Area(("trec_eval/*.py",)),
    "learning": area(learning="*"),
    "comparison": area(comparison="compare comparison segments leaderboard pairwise design verdict"),
    "users": area(comparison="users user_regions populations phi_curves", data="virtual_users"),
    "evaluation": area(evaluation="evaluate evaluation evaluations runs scores values segments"),
    "explanation": area(evaluation="explain explanation check mismatch notes flat_names"),
    "alignment": area(data="align batches details hits qrels search values locate selection exclude types"),
    "tables": area(data="columns table ids engine engine_hits engine_judgments score_precision demo"),
    "inputs": area(data_read="*"),
    "readers": area(data_trec="*"),
    "sentences": area(comparison="answers captions influence matrix selection"),
}
ROOMS = "kernel relevance measures learning trec_eval comparison evaluation data"
DRAWINGS = ["comparison/charts.py", "comparison/user_charts.py"]
"""sizes and fonts, which are judged by eye"""
SLOW = """
axioms claims documents engines error_rates figures fuzz memory mutants notebook page papers papers_f14 papers_m08
papers_m16 papers_s11 real_data report report_interactions spark_pipeline streams structure terminals
"""
LEFT_OUT = [*(f"test_{name}.py" for name in SLOW.split()), "tools", "spark", "fuzz", "mutants"]
"""tests that open pages, start processes, recompute papers or take long; they touch little that others do not"""
