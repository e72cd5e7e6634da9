"""What is mutated, by area, and which tests never meet a mutant."""

from tests.mutants.changes import SOURCE


def area(**names):
    """Return patterns of files by folder: area(kernel="families gains"), with __ for a folder in a folder."""
    return [f"{folder.replace('__', '/')}/{name}.py" for folder in names for name in names[folder].split()]


AREAS = {
    "significance": area(comparison="tests intervals"),
    "planning": area(comparison="plan"),
    "gates": area(comparison="gate verdicts suite_gate"),
    "systems": area(comparison="correlate kendall groups estimates random_effects suite"),
    "ties": area(comparison="ties", data="tie_counts tops"),
    "formulas": area(kernel="families ties compositions gains", relevance="*", measures="*"),
    "arrays": area(kernel="*", evaluation="arrays"),
    "trec_eval": area(trec_eval="*"),
    "learning": area(learning="*"),
    "users": area(comparison="users populations phi_curves", data="selection"),
    "sentences": area(comparison="sentences influence"),
    "comparison": area(comparison="*"),
    "explanation": area(evaluation="explain check notes"),
    "evaluation": area(evaluation="*"),
    "tables": area(data="columns table ids engine demo"),
    "readers": area(data__read="pieces trec lines trec_pieces", data="source survey"),
    "inputs": area(data__read="*"),
    "alignment": area(data__locate="*", data="*"),
    "judgments": area(judgments="*"),
}
"""a file belongs to the first area that names it, so that * takes the rest of a folder"""
JUDGED = ["significance", "planning", "gates", "systems", "ties"]
"""areas of which every change is noticed or listed, which `make mutants` holds"""
UNJUDGED = [name for name in AREAS if name not in JUDGED]
"""areas with changes that survive and that nobody has judged yet: `--area` looks at them"""
ACCELERATED = ["kernel/backend.py", "kernel/by_place.py"]
"""hold lines for PyTorch and JAX, which no test can touch where those are not installed"""
DRAWINGS = ["comparison/charts.py"]
DRAWINGS += ["judgments/judge_charts.py"]
"""sizes and fonts, which are judged by eye"""
SLOW = """
documents error_rates figures fuzz memory mutants notebook page real_data
report report_interactions spark_pipeline streams structure terminals
"""
LEFT_OUT = [*(f"--ignore-glob=*/test_{name}.py" for name in SLOW.split())]
LEFT_OUT += [f"--ignore=tests/{folder}" for folder in ("papers", "tools", "spark", "fuzz", "mutants")]
"""tests that open pages, start processes, recompute papers or take long; they touch little that others do not"""


def paths_of(name):
    """Return the files of an area."""
    others = {SOURCE / path for path in DRAWINGS}
    for area, patterns in AREAS.items():
        paths = [path for pattern in patterns for path in sorted(SOURCE.glob(pattern)) if path not in others]
        if area == name:
            return paths
        others.update(paths)
    raise KeyError(name)
