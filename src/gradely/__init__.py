"""Exact, tie-honest, graded measures of ranking quality.

Names are imported when they are first used, so that `import gradely` and `gradely --version` take no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradely.comparison.compare import Comparison as Comparison
    from gradely.comparison.compare import compare as compare
    from gradely.comparison.correlate import correlate as correlate
    from gradely.comparison.pools import pools as pools
    from gradely.comparison.ties import TieSensitivity as TieSensitivity
    from gradely.comparison.ties import tie_sensitivity as tie_sensitivity
    from gradely.data import Qrels as Qrels
    from gradely.data import Run as Run
    from gradely.data import read_qrels as read_qrels
    from gradely.data import read_run as read_run
    from gradely.errors import DataError as DataError
    from gradely.errors import GradelyError as GradelyError
    from gradely.errors import InputError as InputError
    from gradely.errors import MeasureError as MeasureError
    from gradely.errors import MissingExtra as MissingExtra
    from gradely.evaluation.arrays import evaluate_arrays as evaluate_arrays
    from gradely.evaluation.check import check as check
    from gradely.evaluation.evaluate import evaluate as evaluate
    from gradely.evaluation.explain import explain as explain
    from gradely.evaluation.scores import Note as Note
    from gradely.evaluation.scores import Scores as Scores
    from gradely.evaluation.scores import TieRange as TieRange
    from gradely.kernel.batch import Batch as Batch
    from gradely.kernel.from_arrays import from_arrays as from_arrays
    from gradely.kernel.from_ids import from_ids as from_ids
    from gradely.learning.lambdas import Lambdas as Lambdas
    from gradely.learning.lambdas import lambdas as lambdas
    from gradely.measures import (
        ALL as ALL,
    )
    from gradely.measures import (
        AP as AP,
    )
    from gradely.measures import (
        DCG as DCG,
    )
    from gradely.measures import (
        ERR as ERR,
    )
    from gradely.measures import (
        F1 as F1,
    )
    from gradely.measures import (
        GAP as GAP,
    )
    from gradely.measures import (
        NDCNG as NDCNG,
    )
    from gradely.measures import RBP as RBP
    from gradely.measures import RR as RR
    from gradely.measures import F as F
    from gradely.measures import G as G
    from gradely.measures import IPrec as IPrec
    from gradely.measures import Judged as Judged
    from gradely.measures import Measure as Measure
    from gradely.measures import (
        P as P,
    )
    from gradely.measures import R as R
    from gradely.measures import RelativeP as RelativeP
    from gradely.measures import Rprec as Rprec
    from gradely.measures import Success as Success
    from gradely.measures import Unjudged as Unjudged
    from gradely.measures import Utility as Utility
    from gradely.measures import binG as binG
    from gradely.measures import (
        bpref as bpref,
    )
    from gradely.measures import (
        eGAP as eGAP,
    )
    from gradely.measures import infAP as infAP
    from gradely.measures import (
        muAP as muAP,
    )
    from gradely.measures import (
        nDCG as nDCG,
    )
    from gradely.measures import (
        nDCGphi as nDCGphi,
    )
    from gradely.measures import (
        xGAP as xGAP,
    )
    from gradely.measures.function import as_function as as_function
    from gradely.measures.names import parse as parse
    from gradely.papers import reproduce as reproduce
    from gradely.relevance import AtLeast as AtLeast
    from gradely.relevance import Max as Max
    from gradely.relevance import Phi as Phi

__version__ = "0.1.0"

_PUBLIC = {
    "kernel.from_arrays": "from_arrays",
    "kernel.batch": "Batch",
    "comparison.compare": "Comparison compare",
    "data": "Qrels Run read_qrels read_run",
    "evaluation.arrays": "evaluate_arrays",
    "errors": "DataError GradelyError InputError MeasureError MissingExtra",
    "evaluation.evaluate": "evaluate",
    "comparison.correlate": "correlate",
    "papers": "reproduce",
    "comparison.pools": "pools",
    "comparison.ties": "TieSensitivity tie_sensitivity",
    "evaluation.explain": "explain",
    "evaluation.check": "check",
    "kernel.from_ids": "from_ids",
    "learning.lambdas": "Lambdas lambdas",
    "measures": "ALL AP DCG ERR F F1 G GAP NDCNG P R RBP RR IPrec Judged Measure RelativeP Rprec Success Unjudged"
    " Utility binG bpref eGAP infAP muAP nDCG nDCGphi xGAP",
    "measures.function": "as_function",
    "measures.names": "parse",
    "relevance": "AtLeast Max Phi",
    "evaluation.scores": "Note Scores TieRange",
}
_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name where it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'gradely' has no attribute {name!r}")
    value = getattr(import_module(f"gradely.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*globals(), *_HOME]
