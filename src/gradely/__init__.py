"""Measures of ranking quality, with graded relevance and exact handling of ties.

Public names are imported on first use, which keeps `import gradely` and `gradely --version` instant.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

__version__ = "1.0.0.dev0"

_PUBLIC = {
    "evaluation.evaluate": "evaluate Evaluator evaluate_runs Evaluations",
    "evaluation.arrays": "evaluate_arrays",
    "evaluation.explain": "explain Explanation Line",
    "evaluation.check": "check Finding Findings",
    "evaluation.result": "Result",
    "evaluation.by_query": "QueryScores",
    "evaluation.scores": "Scores",
    "evaluation.notes": "Note TieRange",
    "settings": "Settings",
    "comparison.compare": "compare Comparison",
    "comparison.groups": "Systems SystemRuns",
    "comparison.suite_gate": "SuiteGate",
    "comparison.suite": "suite Suite SuitePair Effect Prediction",
    "comparison.pairwise": "Pair Shares Matrix",
    "comparison.influence": "Influence Without",
    "comparison.plan": "plan Plan Planned",
    "comparison.verdicts": "Change Floor",
    "comparison.gate": "gate Gate keep_scores SavedScores",
    "comparison.ties": "tie_sensitivity TieSensitivity RunTies Orders Swap",
    "comparison.correlate": "correlate Correlation pools Pools",
    "comparison.overlap": "overlap Overlap QueryOverlap",
    "comparison.users": "UserRegions users",
    "comparison.phi_curves": "phi PhiCurves PhiCurve",
    "judgments.holes": "holes Holes OpenPair ToJudge",
    "judgments.judging": "simulate_judging JudgingSimulation Judging",
    "judgments.estimate": "estimate Estimation Estimated EstimatedPair",
    "judgments.sample": "sample QuerySample",
    "judgments.judges": "judges Judges",
    "judgments.by_judge": "JudgedPair",
    "judgments.agreement": "AgreedPair Coefficient",
    "judgments.merge": "label_shares",
    "report.charts": "plot",
    "data": "read_qrels read_run Qrels Run",
    "data.selection": "qrels_from_run",
    "kernel.arrays": "from_arrays from_groups from_ids",
    "kernel.batch": "Batch",
    "learning.lambdas": "lambdas Lambdas",
    "measures": "ALL Measure",
    "measures.function": "as_function MeasureFunction",
    "measures.names": "parse",
    "relevance": "AtLeast Max Phi Shift",
    "errors": "GradelyError InputError DataError MeasureError MissingExtra",
}
"""The public names by module, except the measures, which gradely.measures lists."""
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}


def _homes() -> dict[str, str]:
    """Return the module of each public name, including the measures."""
    measures = _import_module("gradely.measures").HOMES
    return _HOMES | {name: f"measures.{module}" for name, module in measures.items()}


def __getattr__(name: str) -> _Any:
    """Import a public name on first use."""
    if name == "__all__":
        return list(_homes())
    if name not in _HOMES and (name.startswith("_") or name not in _homes()):
        instead = {"report": "; use compare(…).to_html()", "ties": "; use tie_sensitivity"}.get(name, "")
        raise AttributeError(f"module 'gradely' has no attribute {name!r}{instead}")
    value = getattr(_import_module(f"gradely.{_HOMES.get(name) or _homes()[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and the special attributes of the module."""
    return [*(name for name in globals() if name.startswith("__")), *_homes()]
