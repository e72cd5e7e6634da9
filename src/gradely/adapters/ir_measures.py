"""Gradely's measures for ir_measures and PyTerrier: `from gradely.adapters.ir_measures import nDCG, muAP`.

They have cut-offs and parameters as there, `nDCG(gain="exp")@10`, and one more: `ties`, which is expected by default.
"""

from typing import Any

from gradely.lazy import optional
from gradely.measures import ALL
from gradely.measures.names import MeasureLike, parse
from gradely.settings import TiePolicy


def measure(name: MeasureLike, *, ties: TiePolicy = "expected") -> Any:
    """Return any measure of gradely, by name or as an object, as a measure of ir_measures."""
    optional("ir_measures", "ir-measures", "ir_measures")
    from gradely.adapters.ir_measures_pipeline import GradelyMeasure

    return GradelyMeasure(parse(name), ties)


def __getattr__(name: str) -> Any:
    """Return a measure by its name, when it is imported."""
    if name not in __dir__():
        raise AttributeError(f"module 'gradely.adapters.ir_measures' has no attribute {name!r}")
    return measure(name)


def __dir__() -> list[str]:
    """List the measures, and measure(), which takes any name."""
    return ["measure", *(kind.__name__ for kind in ALL)]
