"""The public names of gradely; `make docs` writes them from __init__.py and the list of measures: change those."""

from gradely.comparison.compare import compare
from gradely.comparison.comparison import Comparison
from gradely.comparison.correlate import Correlation, correlate
from gradely.comparison.gate import gate
from gradely.comparison.influence import Influence, Without
from gradely.comparison.matrix import Matrix
from gradely.comparison.pairwise import Pair
from gradely.comparison.phi_curves import PhiCurve, PhiCurves, phi
from gradely.comparison.plan import Plan, Planned, plan
from gradely.comparison.pools import Pools, pools
from gradely.comparison.saved_scores import SavedScores, keep_scores
from gradely.comparison.ties import Orders, RunTies, Swap, TieSensitivity, tie_sensitivity
from gradely.comparison.user_regions import UserRegions
from gradely.comparison.users import users
from gradely.comparison.verdict import Change, Gate
from gradely.data import Qrels, Run, read_qrels, read_run
from gradely.data.virtual_users import qrels_from_run
from gradely.errors import DataError, GradelyError, InputError, MeasureError, MissingExtra
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.check import Finding, check
from gradely.evaluation.evaluate import Evaluator, evaluate
from gradely.evaluation.explain import explain
from gradely.evaluation.explanation import Explanation, Line
from gradely.evaluation.notes import Note, TieRange
from gradely.evaluation.runs import Evaluations, evaluate_runs
from gradely.evaluation.scores import Scores
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.kernel.from_groups import from_groups
from gradely.kernel.from_ids import from_ids
from gradely.learning.lambdas import Lambdas, lambdas
from gradely.measures import ALL, Measure
from gradely.measures.ap import AP, infAP
from gradely.measures.bpref import bpref
from gradely.measures.dcg import DCG, NDCNG, nDCG, nDCGphi
from gradely.measures.err import ERR
from gradely.measures.function import as_function
from gradely.measures.g import G, binG
from gradely.measures.gap import GAP, eGAP, xGAP
from gradely.measures.iprec import IPrec
from gradely.measures.judged import Judged, Unjudged
from gradely.measures.mu_ap import muAP
from gradely.measures.names import parse
from gradely.measures.precision import F, F1, P, R, RelativeP, Rprec, Utility
from gradely.measures.rbp import RBP
from gradely.measures.rr import RR, Success
from gradely.relevance import AtLeast, Max, Phi, Shift
from gradely.report.figures import plot
from gradely.settings import Settings

__version__: str
__all__ = [
    "ALL",
    "AP",
    "AtLeast",
    "Batch",
    "Change",
    "Comparison",
    "Correlation",
    "DCG",
    "DataError",
    "ERR",
    "Evaluations",
    "Evaluator",
    "Explanation",
    "F",
    "F1",
    "Finding",
    "G",
    "GAP",
    "Gate",
    "GradelyError",
    "IPrec",
    "Influence",
    "InputError",
    "Judged",
    "Lambdas",
    "Line",
    "Matrix",
    "Max",
    "Measure",
    "MeasureError",
    "MissingExtra",
    "NDCNG",
    "Note",
    "Orders",
    "P",
    "Pair",
    "Phi",
    "PhiCurve",
    "PhiCurves",
    "Plan",
    "Planned",
    "Pools",
    "Qrels",
    "R",
    "RBP",
    "RR",
    "RelativeP",
    "Rprec",
    "Run",
    "RunTies",
    "SavedScores",
    "Scores",
    "Settings",
    "Shift",
    "Success",
    "Swap",
    "TieRange",
    "TieSensitivity",
    "Unjudged",
    "UserRegions",
    "Utility",
    "Without",
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
    "from_groups",
    "from_ids",
    "gate",
    "infAP",
    "keep_scores",
    "lambdas",
    "muAP",
    "nDCG",
    "nDCGphi",
    "parse",
    "phi",
    "plan",
    "plot",
    "pools",
    "qrels_from_run",
    "read_qrels",
    "read_run",
    "tie_sensitivity",
    "users",
    "xGAP",
]
