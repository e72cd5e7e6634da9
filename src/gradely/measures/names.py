"""From names to measures: "nDCG@10", "AP(rel=2)", "eGAP(g=[0.2, 0.8])@100", and the names of other libraries.

The grammar is that of ir_measures, NAME(parameter=value, …)@k. A measure prints the name that reads back as itself.
"""

import ast
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, TypeAlias

from gradely.errors import MeasureError, clip, did_you_mean
from gradely.measures import HOMES, Measure, load, parameters
from gradely.measures.precision import P, RelativeP
from gradely.relevance import NAMED, Levels

ALIASES = {
    "MAP": "AP",
    "muMAP": "muAP",
    "μAP": "muAP",
    "μMAP": "muAP",
    "nDCGφ": "nDCGphi",
    "MRR": "RR",
    "Precision": "P",
    "Recall": "R",
    "HitRate": "Success",
    "SetP": "P",
    "SetR": "R",
    "SetF": "F",
    "SetRelP": "RelativeP",
    **dict.fromkeys(("R_cap", "recall_cap"), "RelativeP"),
    "r-precision": "Rprec",
    "hits": "Utility(b=0)",
    "dcg_burges": "DCG(gain='exp')",
    "ndcg_burges": "nDCG(gain='exp')",
    "RetrievalMAP": "AP",
    "RetrievalMRR": "RR",
    "RetrievalPrecision": "P",
    "RetrievalRecall": "R",
    "RetrievalHitRate": "Success",
    "RetrievalRPrecision": "Rprec",
    "RetrievalNormalizedDCG": "nDCG",
    **dict.fromkeys(("average_precision", "mean_average_precision", "retrieval_average_precision"), "AP"),
    **dict.fromkeys(("average_precision_score", "label_ranking_average_precision_score"), "AP"),
    **dict.fromkeys(("reciprocal_rank", "mean_reciprocal_rank", "retrieval_reciprocal_rank", "recip_rank"), "RR"),
    **dict.fromkeys(("normalized_dcg", "retrieval_normalized_dcg", "ndcg_score", "document_ndcg"), "nDCG"),
    "DocumentNDCGEvaluator": "nDCG",
    **dict.fromkeys(("document_mrr", "DocumentMRREvaluator"), "RR"),
    **dict.fromkeys(("normalized_discounted_cumulative_gain", "normalized_discounted_cumulated_gain"), "nDCG"),
    **dict.fromkeys(("discounted_cumulative_gain", "discounted_cumulated_gain", "dcg_score"), "DCG"),
    **dict.fromkeys(("Hit", "HR", "hit_ratio", "success_rate", "retrieval_hit_rate", "recall_single_hit"), "Success"),
    **dict.fromkeys(("pre", "prec", "PrecisionAt", "retrieval_precision", "id_based_context_precision"), "P"),
    **dict.fromkeys(("RecallAt", "retrieval_recall", "recall_multi_hit", "id_based_context_recall"), "R"),
    "f1_score": "F1",
    "retrieval_r_precision": "Rprec",
    "expected_reciprocal_rank": "ERR",
    "rank_biased_precision": "RBP",
    "α_DCG": "alpha_DCG",
    "α_nDCG": "alpha_nDCG",
    "MAP_IA": "AP_IA",
    **dict.fromkeys(("I_rec", "SRecall", "S_recall", "subtopic_recall", "strec", "nugget_coverage"), "StRecall"),
    "D_sharp_nDCG": "Dsharp_nDCG",
    **dict.fromkeys(("Q-measure", "Qmeasure"), "Q"),
    "AWP": "Q(beta=inf)",
    "CG": "DCG(discount='none')",
    "nCG": "nDCG(discount='none')",
    **dict.fromkeys(("gP", "generalized_precision", "generalised_precision"), "P(relevance='identity')"),
    **dict.fromkeys(("gR", "generalized_recall", "generalised_recall"), "R(relevance='identity')"),
    "ARHR": "DCG(relevance='binary', discount='zipf')",
    "MSnDCG": "nDCG",
    **dict.fromkeys(("RetrievalAUROC", "retrieval_auroc", "AUROC", "roc_auc_score"), "AUC"),
    "ordered_pair_accuracy": "OPA",
    "P-plus": "Pplus",
    "compatibility": "Compat",
    "set_map": "SetAP",
    "rbp_resid": "RBPresidual(p=0.9)",
}
"""other names, of ir_measures, ranx, torchmetrics, scikit-learn, BEIR, MTEB, Haystack, ragas, RecBole, XGBoost; case, -
and _ do not matter"""
PATTERNS = {
    r"map": "AP",
    r"map_cut[._](\d+)": "AP@{}",
    r"ndcg_cut[._](\d+)": "nDCG@{}",
    r"P[._](\d+)": "P@{}",
    r"recall[._](\d+)": "R@{}",
    r"success[._](\d+)": "Success@{}",
    r"set_P": "P",
    r"set_recall": "R",
    r"set_F": "F1",
    r"set_F[._]([\d.]+)": "F(x={})",
    r"set_relative_P": "RelativeP",
    r"relative_P[._](\d+)": "RelativeP@{}",
    r"iprec_at_recall[._]([\d.]+)": "IPrec(recall={})",
    r"11pt_avg": "IPrec",
    r"unj[._](\d+)": "Unjudged@{}",
    r"utility\.([-\d.]+),([-\d.]+),([-\d.]+),([-\d.]+)": "Utility(a={}, b={}, c={}, d={})",
    r"rbp\.(\d+)": "RBP(p=0.{})",
    r"P\+(\(.*\))?(@\d+)?": "Pplus{}{}",
    r"([\w-]+(?:@\d+)?)-l(\d+)": "{}-l{}",
    r"(?:\w+_)?(?:cosine|dot|euclidean|manhattan)[_-](\w+@\d+)": "{}",
    r"(?i:f1)(?:_at_|[._-])(\d+)": "F1@{}",
    r"(?i:D[#♯]-?nDCG)(.*)": "Dsharp_nDCG{}",
}
"""patterns of names that contain numbers, as in trec_eval, ranx and sentence-transformers, with their meanings"""
WITH_CUTOFF = r"([^\d@(]*?[^\W\d_])(?:_at_|[._-])?(\d+)"
"""matches a name with a cut-off, like MTEB's ndcg_at_10, recall_10 and ndcg10"""
UNCLEAR = {
    **dict.fromkeys(("g", "iprec", "r", "utility"), "other parameters have names, as in `AP(rel=2)`"),
    "f": "the square of β is a parameter, as in `F(x=4)`",
    "hits": "`Success@10` is the share of queries with a hit; hits counts them",
    "rbp": "the persistence is a parameter, as in `RBP(p=0.8)`",
}
"""names after which a number may not be a cut-off, as in R2, RBP80 and hits_at_10, and what to type instead"""
PARAMETERS = {"cutoff": "k", "gains": "gain", "beta": "x", "max_rel": "top"}
"""parameters by their names in ir_measures"""
_COUNT = "it is a count, not a measure of a ranking; `gradely trec_eval -m {}` prints it"
_TREC = "`gradely trec_eval -m {}` prints it"
_ITEMS = "it describes the recommended items, not how well they are ranked; use `nDCG` or `R`"
_PREDICTION = "it compares predicted with true numbers and evaluates no ranking; `nDCG` uses true numbers as labels"
_FOUND = "it divides by the relevant documents that were found; `AP{at}` divides by all of them"
_TEXTS = "a language model or a text distance judges the retrieved texts; with judgments, use `P{at}` or `R{at}`"
_CLASSES = "it evaluates a classifier, not a ranking; `P{at}` and `R{at}` evaluate the first k documents"
_AUC = "`AUC` is the area under the whole curve of a query, and `OPA` the same for graded labels"
_OBJECTIVE = "it is an objective for learning to rank, not a measure; {}"
_PREFERENCES = "it needs preference judgments, which gradely does not read; with qrels, `bpref` is similar"
REFUSED = {
    **{ours: _COUNT.format(trec) for ours, trec in (("NumQ", "num_q"), ("NumRel", "num_rel"), ("NumRet", "num_ret"))},
    **{name: _COUNT.format(name) for name in ("num_q", "num_rel", "num_ret", "num_rel_ret", "num_nonrel_judged_ret")},
    **{name: _COUNT.format(name) for name in ("runid", "relstring")},
    "NumRelRet": _COUNT.format("num_rel_ret"),
    **{name: _TREC.format(name) for name in ("ndcg_rel", "Rndcg", "Rprec_mult", "yaap", "ideal_dcg")},
    **dict.fromkeys(("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"), _PREFERENCES),
    "Accuracy": "in BEIR, MTEB and sentence-transformers it is `Success{at}`; in ir_measures it is `AUC{at}`",
    **dict.fromkeys(("top_k_accuracy", "top_k_accuracy_score"), "it is `Success{at}`"),
    "GAUC": "RecBole weights users by their number of relevant items; `AUC` weights all users equally",
    **dict.fromkeys(("document_map", "DocumentMAPEvaluator", "context_precision"), _FOUND),
    **dict.fromkeys(
        ("document_recall", "DocumentRecallEvaluator"), "it is `Success{at}` for single hits, and `R{at}` otherwise"
    ),
    **dict.fromkeys(("context_recall", "non_llm_context_recall", "non_llm_context_precision_with_reference"), _TEXTS),
    **dict.fromkeys(("faithfulness", "answer_relevancy", "response_relevancy", "context_relevancy"), _TEXTS),
    **dict.fromkeys(("precision_score", "recall_score", "accuracy_score"), _CLASSES),
    **dict.fromkeys(("label_ranking_loss", "ranking_loss"), "without ties, it is 1 - `AUC`"),
    "coverage_error": "lower values are better; `R{at}` is the share of the relevant documents down to a rank",
    **dict.fromkeys(("infNDCG", "statAP", "xinfAP"), "it needs sampling probabilities; `infAP` is similar"),
    "Hole": "`Unjudged` measures it by the judgments of the query itself",
    **dict.fromkeys(
        ("RetrievalFallOut", "retrieval_fall_out"),
        "1 - `P{at}` is the share of what is retrieved that is not relevant",
    ),
    **dict.fromkeys(("QueryAUC", "PartialAUC"), _AUC),
    **dict.fromkeys(
        ("RetrievalPrecisionRecallCurve", "retrieval_precision_recall_curve", "aucpr", "auc_pr", "PAP"),
        "`IPrec(recall=0.1)` is a point of the curve, `IPrec` the mean of eleven, `AP` about the area below it",
    ),
    "RetrievalRecallAtFixedPrecision": "`R` and `P` have a cut-off; `IPrec` is the precision at a level of recall",
    **dict.fromkeys(
        ("gm_map", "GMAP"),
        "a geometric mean over queries: scores.geometric_mean() of `AP`, or `gradely trec_eval -m gm_map`",
    ),
    "gm_bpref": "a geometric mean over queries: scores.geometric_mean() of `bpref`, or `gradely trec_eval -m gm_bpref`",
    **dict.fromkeys(("MAE", "MSE", "RMSE", "MAPE", "LogLoss"), _PREDICTION),
    **dict.fromkeys(("ItemCoverage", "CatalogCoverage", "AveragePopularity", "AvgRecPopularity", "GiniIndex"), _ITEMS),
    **dict.fromkeys(("ShannonEntropy", "TailPercentage", "MeanInvUserFreq", "Serendipity", "Novelty"), _ITEMS),
    **dict.fromkeys(("IntraListDiversity", "CoveredUsers", "SufficientReco", "UnrepeatedReco", "Intersection"), _ITEMS),
    **dict.fromkeys(("F2", "F1Beta", "F_beta"), "x is the square of β: `F(x=4){at}` for β = 2, `F1{at}` for β = 1"),
    "MCC": "it needs the size of the catalogue; without it, `F1{at}` is similar",
    "NumRetrieved": _COUNT.format("num_ret"),
    "IDCG": _TREC.format("ideal_dcg"),
    **dict.fromkeys(("lambdarank", "rank_xendcg"), _OBJECTIVE.format("it optimises `nDCG(gain='exp'){at}`")),
    "Coverage": "`StRecall{at}` is coverage of subtopics or nuggets; coverage of a catalogue is not about rankings",
    **dict.fromkeys(("O-measure", "P-measure", "NCU", "EBR"), "NTCIREVAL computes it; `Q` and `Pplus` are similar"),
    **dict.fromkeys(("U-measure", "TBG"), "it needs document lengths or times; without them, `RBP` is similar"),
    **dict.fromkeys(("IFT", "NPV"), "`INST` and `RBP` are models of the same kind"),
    "rpref": "`bpref` replaced it",
    "ADM": "it compares scores with labels; `OPA` compares their orders",
    "RR_IA": "with judgments by subtopic, `ERR_IA` is similar",
    **dict.fromkeys(("ESL", "expected_search_length", "ARP", "mean_rank"), "lower values are better; `RR` is similar"),
    **dict.fromkeys(("ILD", "Gini", "Diversity"), _ITEMS),
    **dict.fromkeys(
        ("RBO", "tau", "tau_AP", "Kendall", "Spearman"), "it compares two runs: use `gradely overlap RUN RUN`"
    ),
    "PFound": "`ERR` is the same idea with another stopping probability",
}
"""names of measures that gradely does not have, and what to type instead; {at} is the cut-off that was typed"""


MeasureLike: TypeAlias = str | Measure | type[Measure]


def plain_name(name: str) -> str:
    """Return a name in lower case, without - and _, and with every spelling of µ as mu."""
    return unicodedata.normalize("NFKC", name).lower().replace("-", "").replace("_", "")


BY_NAME = {plain_name(name): name for name in HOMES}
OTHERS = {plain_name(alias): name for alias, name in ALIASES.items()}
NOT_HERE = {plain_name(name): (name, text) for name, text in REFUSED.items()}
LONGEST = 10_000
"""maximum length of a name; a longer one could exhaust the parser"""


def parse(name: MeasureLike) -> Measure:
    """Return the measure with this name; a measure is returned unchanged, and a class is called without arguments.

    >>> parse("nDCG(gain='exp')@10")
    nDCG(k=10, relevance=Identity(), gain='exp', discount='log2')
    >>> str(parse("ndcg_cut_10"))
    'nDCG@10'
    """
    if isinstance(name, Measure):
        return name
    if isinstance(name, type) and issubclass(name, Measure):
        return name()
    if not isinstance(name, str):
        package = type(name).__module__.partition(".")[0]
        own = package in ("builtins", "gradely")
        found = repr(name) if own else f"{clip(str(name))}, an object of {package}: pass its name, str(measure)"
        raise MeasureError(
            f"a measure must be a name like 'nDCG@10' or an object like gradely.nDCG(k=10); found {found}"
        )
    return _parse(name.strip())


def label(name: MeasureLike) -> str:
    """Return the name of a measure in results, which is the name that the user gave."""
    return name.strip() if isinstance(name, str) else str(parse(name))


def parse_all(measures: MeasureLike | Iterable[MeasureLike]) -> dict[str, Measure]:
    """Return the measures by their names in results."""
    by_name = isinstance(measures, Mapping) and all(isinstance(measure, Measure) for measure in measures.values())
    if not by_name and (isinstance(measures, Mapping) or hasattr(measures, "columns")):
        what = "a dict" if isinstance(measures, Mapping) else "a table"  # a run: its queries may be q1, a name of Q@1
        others = "for several runs, use evaluate_runs or compare, with a dict {name: run}"
        raise MeasureError(f"measures are names, like ['nDCG@10', 'AP']; found {what}; {others}")
    entries = list(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    for entry in entries:
        joined = entry if isinstance(entry, str) and (entry is measures or "," in entry) else ""
        if joined and (several := _split_names(joined)):
            raise MeasureError(f"{clip(joined)} is several measures: give a list, as in {several}")
    if not entries:
        raise MeasureError("no measure given: name one, like 'nDCG@10'")
    return {label(name): parse(name) for name in entries}


def _split_names(text: str) -> list[str]:
    """Split a text with several names, separated by commas or blanks; return [] if one of them is not a measure.

    >>> _split_names("nDCG@10, AP(rel=2)"), _split_names("P.5,10"), _split_names("AP")
    (['nDCG@10', 'AP(rel=2)'], [], [])
    """
    names = re.split(r"[,\s]+(?![^(]*\))", text.strip())
    return names if len(names) > 1 and all(map(_is_name, names)) else []


def _is_name(text: str) -> bool:
    """True for the name of a measure."""
    try:
        return bool(parse(text))
    except MeasureError:
        return False


def need_subtopics(measures: Mapping[str, Measure]) -> bool:
    """True if one of the measures needs judgments by subtopic."""
    return any(measure.needs_subtopics for measure in measures.values())


def fit_all(measures: Mapping[str, Measure], levels: Levels) -> dict[str, Measure]:
    """Return measures by name, fitted to the collection; raise an error if one does not support its labels."""
    if levels.uncertain:
        for measure in measures.values():
            measure.check_expectation()
    return {name: measure.fit(levels) for name, measure in measures.items()}


@lru_cache(maxsize=1024)
def _parse(text: str) -> Measure:
    return _read_listed(text) or _read_any(text)


def _read_listed(text: str) -> Measure | None:
    """Return the measure of a name as it is listed, with or without a cut-off; None for any other text.

    Nearly all names are, and need none of the patterns and tables, which take a millisecond in a new process.
    """
    name, at, k = text.partition("@")
    if name not in HOMES or (at and not (k.isascii() and k.isdecimal() and k == k.lstrip("0")[:9])):
        return None
    measure = load(name)()
    return measure @ int(k) if at else measure


def _read_any(text: str) -> Measure:
    for pattern, name in PATTERNS.items():
        if match := re.fullmatch(pattern, text):
            base, level, threshold = name.format(*match.groups(default="")).partition("-l")
            return _parse(base).replace(**_threshold(base, threshold)) if level else _parse(base)
    _refuse_form(text)
    call = take_apart(_mark_cutoff(text))
    measure = _find_measure(call.name, call.typed, "" if call.at is None else f"@{call.at}")
    arguments = call.arguments
    if isinstance(measure, P) and arguments.pop("relative", False):
        measure = RelativeP()
    replaced = measure.replace(**translate(measure, text, arguments))
    return replaced if call.at is None else replaced @ call.at


class Call(NamedTuple):
    """The parts of a name."""

    name: str
    """the name as Python parses it"""
    typed: str
    """the name as it was typed"""
    arguments: dict[str, Any]
    at: Any
    """the cut-off, or None"""


def take_apart(text: str) -> Call:
    """Return the parts of NAME(parameter=value, …)@k; raise MeasureError for other forms."""
    name, at, arguments = _quote(text), None, dict[str, Any]()
    if len(name) > LONGEST:
        raise MeasureError(f"a measure's name of {len(name):,} characters is too long")
    try:
        tree = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _unreadable(name)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        at, tree = _value(tree.right, text), tree.left
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise MeasureError(f"{text}: parameters have names, as in AP(rel=2)")
        arguments = {str(keyword.arg): _value(keyword.value, text) for keyword in tree.keywords}
        tree = tree.func
    if not isinstance(tree, ast.Name):
        _unreadable(text)
    return Call(tree.id, re.split(r"[@(]", text)[0].strip(), arguments, at)


def _threshold(base: str, level: str) -> dict[str, float]:
    """Return the parameter that ranx writes as -l2, for example."""
    if "rel" not in _parse(base).parameters:
        raise MeasureError(f"{base}-l{level}: {base} uses labels as they are; leave -l{level} out")
    return {"rel": float(level)}


def _quote(text: str) -> str:
    """Return a name that contains - as a Python identifier; raise MeasureError if it has several cut-offs."""
    if match := re.fullmatch(r"(\w+)([._@])(\d+(?:, *\d+)+)", text):
        names = ", ".join(f"{match[1]}{match[2]}{int(k)}" for k in match[3].split(","))
        raise MeasureError(f"{text} is several measures; name each: {names}")
    name, *rest = re.split(r"(?=[@(])", text, maxsplit=1)
    return re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", "_", name) + "".join(rest)


def _unreadable(text: str) -> NoReturn:
    names = re.split(r"[;\s]+", text.strip())
    joined = re.sub(r"\s+", "_", text.strip())
    if joined != text and not _split_names(text) and _is_name(joined):
        raise MeasureError(f"{text}: write `{joined}`, without blanks")
    if len(names) > 1 and all(re.fullmatch(r"[\w.-]+(@\d+)?", name) for name in names):
        raise MeasureError(f"{text} is several measures: put commas between them, as in {','.join(names)}")
    raise MeasureError(f"cannot read the measure {text!r}: write it like nDCG@10 or AP(rel=2)@100")


def _mark_cutoff(text: str) -> str:
    """Return a name with its cut-off after an @; raise MeasureError if the number may mean something else."""
    match, plain = re.fullmatch(WITH_CUTOFF, text), plain_name(text)
    if match is None or plain in BY_NAME or plain in OTHERS or plain in NOT_HERE:
        return text
    base, k = match.groups()
    plain = plain_name(base)
    if plain in UNCLEAR:
        raise MeasureError(f"{text}: write `{base}@{k}` if {k} is a cut-off; {UNCLEAR[plain]}")
    return f"{base}@{k}" if plain in BY_NAME or plain in OTHERS or plain in NOT_HERE else text


def _refuse_form(text: str) -> None:
    """Raise MeasureError for forms that only one tool uses, and say what to type."""
    if match := re.fullmatch(r"(\w+)(@\d+)?-", text):
        write = _in_boosting("XGBoost", match[1], match[2] or "", "type=Exp")
        raise MeasureError(f"{text}: queries without a relevant document count as 0 here anyway: {write}")
    if match := re.fullmatch(r"rank:(ndcg|map)", text):
        write = _in_boosting("XGBoost", match[1], "", "type=Exp")
        raise MeasureError(f"{text} is an objective of XGBoost, not a measure: {write}")
    if match := re.fullmatch(r"(\w+):top=(\d+)(?:;(.*))?", text):
        write = _in_boosting("CatBoost", match[1], f"@{match[2]}", match[3] or "")
        raise MeasureError(f"{text} is the notation of CatBoost: {write}")
    if match := re.fullmatch(r"(.*?)(?:@|[_-]at[_-])[kK]", text):
        raise MeasureError(f"{text}: k is the cut-off: write a number, as in `{match[1]}@10`")
    if text.startswith("nauc_"):
        raise MeasureError(
            f"{text} measures how well a model predicts its own failures; `nDCG@10` measures how well it ranks"
        )


def _in_boosting(tool: str, name: str, at: str, options: str) -> str:
    """Return what to write for a measure of XGBoost or CatBoost with options like type=Exp, or how ours differs."""
    plain = plain_name(name)
    if plain in ("ndcg", "dcg"):
        gain = "gain='exp'" if "type=Exp" in options else ""
        discount = "discount='zipf'" if "denominator=Position" in options else ""
        given = ", ".join(filter(None, (gain, discount)))
        return f"write `{'nDCG' if plain == 'ndcg' else 'DCG'}{given and f'({given})'}{at}`"
    if plain == "map" and at:
        return f"{tool} divides by at most {at[1:]} relevant documents, and `AP{at}` by all of them"
    if plain == "err" and tool == "CatBoost":
        return f"it takes labels as probabilities, and `ERR{at}` derives them from grades"
    return f"write `{name}{at}`"


def _find_measure(name: str, typed: str, at: str = "") -> Measure:
    """Return the measure with a bare name, ours or that of another library; errors quote it as typed."""
    plain = plain_name(name)
    if plain in BY_NAME:
        return load(BY_NAME[plain])()
    if plain in OTHERS:
        return _parse(OTHERS[plain])
    if plain in NOT_HERE or plain.startswith("prefs"):
        title, text = NOT_HERE.get(plain) or (name, _PREFERENCES)
        raise MeasureError(f"{title} is not a measure of gradely: {text.replace('{at}', at)}")
    near = [other for other in (*HOMES, *ALIASES) if _is_typo(plain, plain_name(other))]
    hint = f" Did you mean {near[0]}?" if near else ""
    raise MeasureError(f"no measure {typed!r}.{hint} `gradely measures` lists them all")


def _is_typo(typed: str, name: str) -> bool:
    """True if the names differ by one missing, extra or wrong letter, or by two swapped ones.

    Names that differ more, or have fewer than four letters, are more likely other measures than typing errors.
    """
    short, long = sorted((typed, name), key=len)
    if len(short) < 4 or len(long) > len(short) + 1:
        return False
    start = next((i for i, letter in enumerate(short) if letter != long[i]), len(short))
    rest, other = short[start:], long[start:]
    swapped = rest[:2] == other[:2][::-1] and rest[2:] == other[2:]
    return rest == other[1:] or rest[1:] == other[1:] or swapped


def translate(measure: Measure, text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return parameters by their names in gradely, given ours or those of ir_measures; raise an error for others."""
    names = list(parameters(type(measure)))
    arguments = {name if name in names else PARAMETERS.get(name, name): value for name, value in arguments.items()}
    if arguments.get("dcg") in ("log2", "exp-log2") and "gain" in names:
        arguments["gain"] = {"log2": "linear", "exp-log2": "exp"}[arguments.pop("dcg")]
    unknown = next((name for name in arguments if name not in names), None)
    if unknown == "judged_only":
        raise MeasureError(
            f"{text}: judged_only applies to all measures of a call: evaluate(…, judged_only=True) or --judged-only"
        )
    if unknown is not None:
        hint = did_you_mean(unknown, names)
        raise MeasureError(f"{text}: {measure.name} has no parameter {unknown!r}, only {', '.join(names)}.{hint}")
    return arguments


def _value(node: ast.expr, text: str) -> Any:
    """Return the value of a parameter: a literal, a bare word as text, a discount, or a function like max(4)."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "jk":
        return ast.unparse(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lower() in NAMED:
        options = {str(keyword.arg): _value(keyword.value, text) for keyword in node.keywords}
        try:
            return NAMED[node.func.id.lower()](*(_value(arg, text) for arg in node.args), **options)
        except TypeError:
            _unreadable(text)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        _unreadable(text)
