"""Relevance functions, which turn the labels of a query into relevance before any gain is applied.

They are parameters of measures: NDCNG is nDCG with `max`, nDCGφ is nDCG with `phi`, and every graded measure accepts
all of them.
"""

from collections.abc import Mapping
from typing import TypeAlias

from gradely.errors import MeasureError, did_you_mean
from gradely.kernel.batch import Levels
from gradely.kernel.gains import LabelTable
from gradely.relevance.labels import AtLeast, Identity, Max, Relevance, Shift, Tabled
from gradely.relevance.phi import Phi

__all__ = [
    "NAMED",
    "AtLeast",
    "Identity",
    "Levels",
    "Max",
    "Phi",
    "Relevance",
    "RelevanceLike",
    "Shift",
    "Tabled",
    "relevance_of",
]

RelevanceLike: TypeAlias = Relevance | str | Mapping[float, float]
NAMED: dict[str, type[Relevance]] = {"identity": Identity, "binary": AtLeast, "max": Max, "phi": Phi, "shift": Shift}


def relevance_of(value: RelevanceLike) -> Relevance:
    """Return the relevance function given by a name, a {label: value} table or a function itself."""
    if isinstance(value, Relevance):
        return value
    if isinstance(value, Mapping):
        return Tabled(LabelTable.of(dict(value)))
    if isinstance(value, str) and value.lower() in NAMED:
        return NAMED[value.lower()]()
    hint = did_you_mean(value, NAMED) if isinstance(value, str) else ""
    examples = "'identity', 'binary', binary(2), 'shift', shift(1), 'max', max(4), 'phi' or a table like {1: 0.5, 2: 1}"
    raise MeasureError(f"no relevance function {value!r}: use {examples}.{hint}")
