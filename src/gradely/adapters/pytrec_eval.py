"""The interface of pytrec_eval: `import gradely.adapters.pytrec_eval as pytrec_eval`.

Names and values are those of pytrec_eval, and no compiler is needed. In addition, labels may be any numbers, and
`ties="expected"` computes means over all orders of tied documents.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from functools import partialmethod
from math import exp, fsum
from types import ModuleType
from typing import Any

import numpy as np

from gradely.data import Qrels, Run, read_qrels
from gradely.data.locate import find_hits
from gradely.data.read.dicts import as_scores
from gradely.errors import DataError, InputError, MeasureError, did_you_mean
from gradely.measures.dcg import nDCG
from gradely.settings import Settings, TiePolicy, check_ties, is_number
from gradely.trec_eval.command import Queries, values
from gradely.trec_eval.measures import BY_NAME_ONLY, NEW, TABLE, Column, Entry, nickname
from gradely.trec_eval.options import Options, parse

PUBLIC = (
    *("RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run"),
    *("supported_measures", "supported_nicknames"),
)
VERSION = 9
"""the version of trec_eval that pytrec_eval is built on, which compares scores in single precision"""
supported_measures = frozenset(name for name in TABLE if name not in (*NEW, *BY_NAME_ONLY))
supported_nicknames = {name: set(nickname(name, VERSION) or ()) for name in ("official", "set", "all_trec")}
WITHOUT_ORDER = frozenset({"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "utility"})
"""the measures, besides the set_ measures, that do not depend on the order of documents"""
WITH_EXPECTATION = frozenset(
    (
        *("map", "gm_map", "map_cut", "Rprec", "Rprec_mult", "bpref", "gm_bpref", "recip_rank", "P", "recall"),
        *("relative_P", "success", "binG", "ndcg", "ndcg_cut"),
    )
)
"""the measures whose mean over all orders of tied documents is known"""


class RelevanceEvaluator:
    """Evaluates any number of runs with the same judgments and measures."""

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, float]],
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT002 - as pytrec_eval has it
        *,
        ties: TiePolicy = "trec",
    ) -> None:
        """Take judgments {query: {document: label}} and names of measures, as pytrec_eval does.

        The default ties="trec" breaks ties as pytrec_eval does; "expected" computes the mean over all orders of tied
        documents, and "best" and "worst" its bounds.
        """
        if is_number(relevance_level) and relevance_level <= 0:
            problem = "must be above 0, since unjudged documents are not relevant"
            raise MeasureError(f"relevance_level {problem}; found {relevance_level}")
        self.settings = Settings(ties, judged_only=judged_docs_only_flag, precision="single")
        judged = {query: labels for query, labels in query_relevance.items() if len(labels)}
        self.qrels: Qrels | None = read_qrels(judged) if judged else None
        self.columns = _columns(measures, relevance_level, ties)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return {query: {measure: value}} for the judged queries of a run {query: {document: score}}."""
        if self.qrels is None or not scores:
            return {}
        run = Run(as_scores(scores, "run"))
        common = [self.qrels.index[query] for query in run.scores if query in self.qrels.index]
        hits = find_hits(self.qrels, run, self.settings)
        hits = hits.select(self.qrels.grade[hits.row] >= 0).judged_only() if self.settings.judged_only else hits
        queries = Queries(np.asarray(common, np.int64), np.zeros(0, np.int64), len(common))
        table = values(self.qrels, hits, queries, self.columns, self.settings.ties)
        table[:, [column.kind == "num_q" for column in self.columns]] = 1.0
        names = [column.name for column in self.columns]
        return {
            self.qrels.queries[i]: dict(zip(names, row, strict=True))
            for i, row in zip(common, table.tolist(), strict=True)
        }


def _columns(measures: Iterable[str], level: float, ties: str) -> list[Column]:
    """Return the columns of these measures in the order of trec_eval."""
    texts: dict[str, set[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, [measure]):
            base, parameters = _split(name)
            texts.setdefault(base, set()).update(parameters)
    options = parse(["--compat", str(VERSION), "", ""])._replace(level=level)  # labels may be any numbers
    return [
        column
        for name in TABLE
        if name in texts
        for column in _columns_of(name, TABLE[name], ",".join(sorted(texts[name])), options, ties)
    ]


def _split(measure: str) -> tuple[str, list[str]]:
    """Return the name and the parameters of a measure such as map, P.5,10 or ndcg_cut_10."""
    if measure in supported_measures:
        return measure, []
    for name in sorted(supported_measures, key=len, reverse=True):
        if match := re.fullmatch(rf"{re.escape(name)}[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", measure):
            return name, match[1].split(",")
    raise MeasureError(f"unsupported measure {measure}.{did_you_mean(measure, supported_measures)}")


def _columns_of(name: str, entry: Entry, parameters: str, options: Options, ties: str) -> list[Column]:
    """Return the columns of a measure; refuse a tie policy that the measure does not support."""
    keeps_ties = ties in ("expected", "best", "worst")
    if keeps_ties and name not in WITH_EXPECTATION | WITHOUT_ORDER and not name.startswith("set_"):
        raise MeasureError(f"{name}: the mean over all orders of tied documents has no closed form; use ties='trec'")
    if keeps_ties and name == "ndcg":
        return [Column(name, value=nDCG().compute)]
    read = entry.read(name, parameters) if parameters and entry.read else entry.default
    return entry.columns(name, read, options)


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return {query: {document: score}} from the lines of a run in TREC format."""
    return _parse(lines, 6, 4, float, "query Q0 document rank score tag")


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return {query: {document: label}} from the lines of qrels in TREC format."""
    return _parse(lines, 4, 3, _parse_label, "query 0 document label")


def _parse_label(text: str) -> Any:
    """Return a label as an int if possible, else as a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parse(lines: Iterable[str], count: int, value: int, read: Any, form: str) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        try:
            parsed = read(fields[value]) if len(fields) == count else None
        except ValueError:
            parsed = None
        if parsed is None:
            raise InputError(f"line {number}: expected {form!r}; found {line.strip()!r}")
        documents = out.setdefault(fields[0], {})
        if fields[2] in documents:
            raise DataError(f"line {number}: duplicate document {fields[2]} of query {fields[0]}; keep one")
        documents[fields[2]] = parsed
    return out


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Return the mean of a measure over queries, the geometric mean of a gm_ measure, or the sum of counts."""
    listed = [float(value) for value in values]
    if not listed:
        raise DataError(f"{measure}: there are no values to average")
    if measure.startswith("num_"):
        return fsum(listed)
    mean = fsum(listed) / len(listed)
    return exp(mean) if measure.startswith("gm_") else mean


def install(*, ties: TiePolicy = "trec") -> None:
    """Make `import pytrec_eval` import this module, also inside BEIR, MTEB and other libraries.

    Call it before importing these libraries: those that have imported pytrec_eval already keep it. `ties` is the
    default tie policy of the evaluators they create.
    """
    check_ties(ties)
    module = ModuleType("pytrec_eval", __doc__)
    vars(module).update({name: globals()[name] for name in PUBLIC})
    init = partialmethod(RelevanceEvaluator.__init__, ties=ties)
    vars(module)["RelevanceEvaluator"] = type("RelevanceEvaluator", (RelevanceEvaluator,), {"__init__": init})
    sys.modules["pytrec_eval"] = module
