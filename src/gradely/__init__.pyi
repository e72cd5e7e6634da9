"""The public names of gradely; `make docs` writes them from __init__.py and the list of measures: change those."""

from gradely.comparison.compare import Comparison, compare
from gradely.comparison.correlate import Correlation, Pools, correlate, pools
from gradely.comparison.gate import Gate, SavedScores, gate, keep_scores
from gradely.comparison.groups import SystemRuns, Systems
from gradely.comparison.influence import Influence, Without
from gradely.comparison.overlap import Overlap, QueryOverlap, overlap
from gradely.comparison.pairwise import Matrix, Pair, Shares
from gradely.comparison.phi_curves import PhiCurve, PhiCurves, phi
from gradely.comparison.plan import Plan, Planned, plan
from gradely.comparison.suite import Effect, Prediction, Suite, SuitePair, suite
from gradely.comparison.suite_gate import SuiteGate
from gradely.comparison.ties import Orders, RunTies, Swap, TieSensitivity, tie_sensitivity
from gradely.comparison.users import UserRegions, users
from gradely.comparison.verdicts import Change, Floor
from gradely.data import Qrels, Run, read_qrels, read_run
from gradely.data.selection import qrels_from_run
from gradely.errors import DataError, GradelyError, InputError, MeasureError, MissingExtra
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.by_query import QueryScores
from gradely.evaluation.check import Finding, Findings, check
from gradely.evaluation.evaluate import Evaluations, Evaluator, evaluate, evaluate_runs
from gradely.evaluation.explain import Explanation, Line, explain
from gradely.evaluation.notes import Note, TieRange
from gradely.evaluation.result import Result
from gradely.evaluation.scores import Scores
from gradely.judgments.agreement import AgreedPair, Coefficient
from gradely.judgments.by_judge import JudgedPair
from gradely.judgments.estimate import Estimated, EstimatedPair, Estimation, estimate
from gradely.judgments.holes import Holes, OpenPair, ToJudge, holes
from gradely.judgments.judges import Judges, judges
from gradely.judgments.judging import Judging, JudgingSimulation, simulate_judging
from gradely.judgments.merge import label_shares
from gradely.judgments.sample import QuerySample, sample
from gradely.kernel.arrays import from_arrays, from_groups, from_ids
from gradely.kernel.batch import Batch
from gradely.learning.lambdas import Lambdas, lambdas
from gradely.measures import ALL, Measure
from gradely.measures.ap import AP, IPrec, bpref, infAP
from gradely.measures.compat import Compat
from gradely.measures.dcg import DCG, NDCNG, SDCG, nDCG, nDCGphi
from gradely.measures.err import ERR, iRBU, nERR
from gradely.measures.function import MeasureFunction, as_function
from gradely.measures.g import G, binG
from gradely.measures.gap import GAP, eGAP, muAP, xGAP
from gradely.measures.names import parse
from gradely.measures.pairs import AUC, OPA
from gradely.measures.precision import F, F1, Judged, P, R, RelativeP, Rprec, SetAP, Unjudged, Utility
from gradely.measures.q import Pplus, Q
from gradely.measures.rbp import RBP, RBPresidual
from gradely.measures.rr import RR, Success
from gradely.measures.subtopics import AP_IA, D_nDCG, Dsharp_nDCG, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
from gradely.measures.user_models import BPM, INSQ, INST, NERR10, NERR11, NERR8, NERR9
from gradely.relevance import AtLeast, Max, Phi, Shift
from gradely.report.charts import plot
from gradely.settings import Settings

__version__: str
__all__ = [
    "ALL",
    "AP",
    "AP_IA",
    "AUC",
    "AgreedPair",
    "AtLeast",
    "BPM",
    "Batch",
    "Change",
    "Coefficient",
    "Comparison",
    "Compat",
    "Correlation",
    "DCG",
    "D_nDCG",
    "DataError",
    "Dsharp_nDCG",
    "ERR",
    "ERR_IA",
    "Effect",
    "Estimated",
    "EstimatedPair",
    "Estimation",
    "Evaluations",
    "Evaluator",
    "Explanation",
    "F",
    "F1",
    "Finding",
    "Findings",
    "Floor",
    "G",
    "GAP",
    "Gate",
    "GradelyError",
    "Holes",
    "INSQ",
    "INST",
    "IPrec",
    "Influence",
    "InputError",
    "Judged",
    "JudgedPair",
    "Judges",
    "Judging",
    "JudgingSimulation",
    "Lambdas",
    "Line",
    "Matrix",
    "Max",
    "Measure",
    "MeasureError",
    "MeasureFunction",
    "MissingExtra",
    "NDCNG",
    "NERR10",
    "NERR11",
    "NERR8",
    "NERR9",
    "NRBP",
    "Note",
    "OPA",
    "OpenPair",
    "Orders",
    "Overlap",
    "P",
    "P_IA",
    "Pair",
    "Phi",
    "PhiCurve",
    "PhiCurves",
    "Plan",
    "Planned",
    "Pools",
    "Pplus",
    "Prediction",
    "Q",
    "Qrels",
    "QueryOverlap",
    "QuerySample",
    "QueryScores",
    "R",
    "RBP",
    "RBPresidual",
    "RR",
    "RelativeP",
    "Result",
    "Rprec",
    "Run",
    "RunTies",
    "SDCG",
    "SavedScores",
    "Scores",
    "SetAP",
    "Settings",
    "Shares",
    "Shift",
    "StRecall",
    "Success",
    "Suite",
    "SuiteGate",
    "SuitePair",
    "Swap",
    "SystemRuns",
    "Systems",
    "TieRange",
    "TieSensitivity",
    "ToJudge",
    "Unjudged",
    "UserRegions",
    "Utility",
    "Without",
    "alpha_DCG",
    "alpha_nDCG",
    "as_function",
    "binG",
    "bpref",
    "check",
    "compare",
    "correlate",
    "eGAP",
    "estimate",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "explain",
    "from_arrays",
    "from_groups",
    "from_ids",
    "gate",
    "holes",
    "iRBU",
    "infAP",
    "judges",
    "keep_scores",
    "label_shares",
    "lambdas",
    "muAP",
    "nDCG",
    "nDCGphi",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "overlap",
    "parse",
    "phi",
    "plan",
    "plot",
    "pools",
    "qrels_from_run",
    "read_qrels",
    "read_run",
    "sample",
    "simulate_judging",
    "suite",
    "tie_sensitivity",
    "users",
    "xGAP",
]
