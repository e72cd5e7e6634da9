"""The measures: one small class each, with formula, worked example and reference. ALL lists them."""

from gradely.measures.average_precision import AP
from gradely.measures.base import Binary, Graded, Measure, parameters
from gradely.measures.bpref import bpref
from gradely.measures.first import RR, Success
from gradely.measures.gain import DCG, NDCNG, nDCG, nDCGphi
from gradely.measures.graded_ap import GAP, eGAP, muAP, xGAP
from gradely.measures.sets import F1, Judged, P, R
from gradely.measures.users import ERR, RBP

__all__ = [
    "ALL",
    "AP",
    "DCG",
    "ERR",
    "F1",
    "GAP",
    "NDCNG",
    "RBP",
    "RR",
    "Binary",
    "Graded",
    "Judged",
    "Measure",
    "P",
    "R",
    "Success",
    "bpref",
    "eGAP",
    "muAP",
    "nDCG",
    "nDCGphi",
    "parameters",
    "xGAP",
]  # fmt: skip

ALL: tuple[type[Measure], ...] = (
    P,
    R,
    F1,
    Success,
    Judged,
    AP,
    RR,
    bpref,
    DCG,
    nDCG,
    NDCNG,
    nDCGphi,
    RBP,
    ERR,
    GAP,
    xGAP,
    eGAP,
    muAP,
)
