"""The names of other libraries in tests/other_libraries.py are all that they have, by their own lists."""

import inspect
import re

from tests.other_libraries import BEIR, IR_MEASURES, RANX, TORCHMETRICS, TREC_EVAL
from tests.tools.tool import tool


def bare(names):
    """Return names without parameters, cut-offs and levels."""
    return {re.split(r"[(@]|-l\d|\.\d", name)[0] for name in names}


def test_all_of_ir_measures():
    library = tool("ir_measures")
    theirs = {name for name, value in vars(library.measures).items() if isinstance(value, library.measures.Measure)}
    assert theirs - bare(IR_MEASURES) == set()


def test_all_of_pytrec_eval():
    theirs = set(tool("pytrec_eval").supported_measures)
    ours = bare(TREC_EVAL) | {re.sub(r"_[\d.]+$", "", name) for name in TREC_EVAL}
    assert theirs - ours == set()


def test_all_of_ranx():
    library = tool("ranx.metrics")
    theirs = set(re.findall(r'metric == "([\w-]+)"', inspect.getsource(library.metric_switch)))
    assert theirs and theirs - bare(RANX) == set()


def test_all_of_torchmetrics():
    assert set(tool("torchmetrics.retrieval").__all__) == set(TORCHMETRICS)


def test_all_of_beir():
    library = tool("beir.retrieval.evaluation")
    theirs = set(re.findall(r'f"([A-Z]\w*)@\{k', inspect.getsource(library)))
    custom = set(re.findall(r'f"([A-Z]\w*)@\{k', inspect.getsource(tool("beir.retrieval.custom_metrics"))))
    assert theirs | custom and (theirs | custom) - bare(BEIR) == set()
