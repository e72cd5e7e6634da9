"""The measures: one small class each, with formula, worked example and reference.

The table below lists all of them: a measure in this table is public, has a name that the command line reads, and a
section in the documents. Every table of measures has this order. A module is imported when one of its measures is first
used, since few commands need them all.
"""

from importlib import import_module

from gradely.measures.base import Binary, Graded, Measure, parameters

__all__ = ["ALL", "EXPECTED", "HOMES", "PLAIN", "Binary", "Graded", "Measure", "load", "parameters"]

MODULES = (
    ("precision", "P R F1 F SetAP RelativeP Rprec Utility Judged Unjudged"),
    ("rr", "RR Success"),
    ("ap", "AP infAP IPrec bpref"),
    ("pairs", "AUC OPA"),
    ("dcg", "DCG nDCG NDCNG nDCGphi SDCG"),
    ("g", "G binG"),
    ("rbp", "RBP RBPresidual"),
    ("err", "ERR nERR iRBU"),
    ("user_models", "INSQ INST BPM NERR8 NERR9 NERR10 NERR11"),
    ("q", "Q Pplus"),
    ("compat", "Compat"),
    ("gap", "GAP xGAP eGAP muAP"),
    ("subtopics", "alpha_DCG alpha_nDCG ERR_IA nERR_IA NRBP nNRBP AP_IA P_IA StRecall D_nDCG Dsharp_nDCG"),
)
HOMES = {name: module for module, names in MODULES for name in names.split()}
"""the module of each measure by its name, which is also that of its class"""

ALL: tuple[type[Measure], ...]
"""all measures"""
PLAIN: tuple[type[Measure], ...]
"""the measures that need no judgments by subtopic"""
EXPECTED: tuple[type[Measure], ...]
"""the measures in PLAIN with a known mean over all orders of tied documents"""


def load(name: str) -> type[Measure]:
    """Return the measure with this name."""
    measure: type[Measure] = getattr(import_module(f"gradely.measures.{HOMES[name]}"), name)
    return measure


def __getattr__(name: str) -> tuple[type[Measure], ...]:
    """Load all measures when one of the lists is first used."""
    if name not in ("ALL", "PLAIN", "EXPECTED"):
        raise AttributeError(f"module 'gradely.measures' has no attribute {name!r}")
    every = tuple(map(load, HOMES))
    plain = tuple(measure for measure in every if not measure.needs_subtopics)
    expected = tuple(measure for measure in plain if measure.takes_expected)
    globals().update(ALL=every, PLAIN=plain, EXPECTED=expected)
    return tuple(globals()[name])
