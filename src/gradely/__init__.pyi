"""The public names of gradely; `make docs` writes them from __init__.py and the list of measures: change those."""

from gradely.comparison.compare import Comparison, compare
from gradely.comparison.correlate import Correlation, correlate
from gradely.comparison.pairwise import Pair
from gradely.comparison.pools import Pools, pools
from gradely.comparison.ties import Orders, RunTies, Swap, TieSensitivity, tie_sensitivity
from gradely.data import Qrels, Run, read_qrels, read_run
from gradely.errors import DataError, GradelyError, InputError, MeasureError, MissingExtra
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.check import Finding, check
from gradely.evaluation.evaluate import evaluate
from gradely.evaluation.explain import Explanation, Line, explain
from gradely.evaluation.notes import Note, TieRange
from gradely.evaluation.runs import Evaluations, evaluate_runs
from gradely.evaluation.scores import Scores
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.kernel.from_ids import from_ids
from gradely.learning.lambdas import Lambdas, lambdas
from gradely.measures import ALL, Measure
from gradely.measures.ap import AP, infAP
from gradely.measures.bpref import bpref
from gradely.measures.dcg import DCG, NDCNG, nDCG, nDCGphi
from gradely.measures.err import ERR
from gradely.measures.function import as_function
from gradely.measures.g import G, binG
from gradely.measures.gap import GAP, eGAP, muAP, xGAP
from gradely.measures.iprec import IPrec
from gradely.measures.judged import Judged, Unjudged
from gradely.measures.names import parse
from gradely.measures.precision import F, F1, P, R, RelativeP, Rprec, Utility
from gradely.measures.rbp import RBP
from gradely.measures.rr import RR, Success
from gradely.papers import reproduce
from gradely.papers.outcome import Claim, Figure, Outcome, Sheet
from gradely.relevance import AtLeast, Max, Phi
from gradely.settings import Settings

__version__: str
__all__ = [
    "ALL",
    "AP",
    "AtLeast",
    "Batch",
    "Claim",
    "Comparison",
    "Correlation",
    "DCG",
    "DataError",
    "ERR",
    "Evaluations",
    "Explanation",
    "F",
    "F1",
    "Figure",
    "Finding",
    "G",
    "GAP",
    "GradelyError",
    "IPrec",
    "InputError",
    "Judged",
    "Lambdas",
    "Line",
    "Max",
    "Measure",
    "MeasureError",
    "MissingExtra",
    "NDCNG",
    "Note",
    "Orders",
    "Outcome",
    "P",
    "Pair",
    "Phi",
    "Pools",
    "Qrels",
    "R",
    "RBP",
    "RR",
    "RelativeP",
    "Rprec",
    "Run",
    "RunTies",
    "Scores",
    "Settings",
    "Sheet",
    "Success",
    "Swap",
    "TieRange",
    "TieSensitivity",
    "Unjudged",
    "Utility",
    "as_function",
    "binG",
    "bpref",
    "check",
    "compare",
    "correlate",
    "eGAP",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "explain",
    "from_arrays",
    "from_ids",
    "infAP",
    "lambdas",
    "muAP",
    "nDCG",
    "nDCGphi",
    "parse",
    "pools",
    "read_qrels",
    "read_run",
    "reproduce",
    "tie_sensitivity",
    "xGAP",
]
