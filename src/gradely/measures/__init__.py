"""The measures: one small class each, with formula, worked example and reference. ALL lists them."""

from gradely.measures.ap import AP, infAP
from gradely.measures.base import Binary, Graded, Measure, parameters
from gradely.measures.bpref import bpref
from gradely.measures.dcg import DCG, NDCNG, nDCG, nDCGphi
from gradely.measures.err import ERR
from gradely.measures.g import G, binG
from gradely.measures.gap import GAP, eGAP, muAP, xGAP
from gradely.measures.iprec import IPrec
from gradely.measures.judged import Judged, Unjudged
from gradely.measures.precision import F1, F, P, R, RelativeP, Rprec, Utility
from gradely.measures.rbp import RBP
from gradely.measures.rr import RR, Success

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
    "F",
    "G",
    "Graded",
    "IPrec",
    "Judged",
    "Measure",
    "P",
    "R",
    "RelativeP",
    "Rprec",
    "Success",
    "Unjudged",
    "Utility",
    "binG",
    "bpref",
    "eGAP",
    "infAP",
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
    F,
    RelativeP,
    Rprec,
    Success,
    Judged,
    Unjudged,
    Utility,
    AP,
    infAP,
    IPrec,
    RR,
    bpref,
    binG,
    DCG,
    nDCG,
    NDCNG,
    nDCGphi,
    G,
    RBP,
    ERR,
    GAP,
    xGAP,
    eGAP,
    muAP,
)
EXPECTED = tuple(measure for measure in ALL if measure.takes_expected)
"""those of which the mean over all orders of tied documents is known"""
