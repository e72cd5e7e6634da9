"""The measures: one small class each, with formula, worked example and reference.

The imports below are the list of them: what they name is a measure of gradely, public, with a name that the command
line reads, and a section in the documents. Their order is that of every table of measures.
"""

# ruff: noqa: F401, I001 - the imports are the list, in the order that readers want
from gradely.measures.base import Binary, Graded, Measure, parameters
from gradely.measures.precision import P, R, F1, F, SetAP, RelativeP, Rprec, Utility, Judged, Unjudged
from gradely.measures.users import RR, Success
from gradely.measures.ap import AP, infAP, IPrec, bpref
from gradely.measures.pairs import AUC, OPA
from gradely.measures.dcg import DCG, nDCG, NDCNG, nDCGphi, SDCG
from gradely.measures.g import G, binG
from gradely.measures.users import RBP, RBPresidual
from gradely.measures.err import ERR, nERR, iRBU
from gradely.measures.user_models import INSQ, INST, BPM, NERR8, NERR9, NERR10, NERR11
from gradely.measures.q import Q, Pplus
from gradely.measures.compat import Compat
from gradely.measures.gap import GAP, xGAP, eGAP, muAP
from gradely.measures.subtopics import alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP
from gradely.measures.subtopics import AP_IA, P_IA, StRecall, D_nDCG, Dsharp_nDCG

ALL: tuple[type[Measure], ...] = tuple(
    value
    for value in globals().values()
    if isinstance(value, type) and issubclass(value, Measure) and "name" in vars(value)
)
PLAIN = tuple(measure for measure in ALL if not measure.needs_subtopics)
"""those that need no judgments by subtopic"""
EXPECTED = tuple(measure for measure in PLAIN if measure.takes_expected)
"""those of them of which the mean over all orders of tied documents is known"""
