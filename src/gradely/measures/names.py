"""From names to measures: "nDCG@10", "AP(rel=2)", "eGAP(g=[0.2, 0.8])@100", and trec_eval's own names.

The grammar is that of ir_measures, NAME(parameter=value, …)@k. A measure prints the name that reads back as itself.
"""

import ast
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from gradely.errors import MeasureError, did_you_mean
from gradely.measures import ALL, Measure, parameters
from gradely.relevance import NAMED

MeasureLike: TypeAlias = str | Measure | type[Measure]

ALIASES = {
    "MAP": "AP",
    "MRR": "RR",
    "Precision": "P",
    "Recall": "R",
    "HitRate": "Success",
    "SetP": "P",
    "SetR": "R",
    "muMAP": "muAP",
    "μAP": "muAP",
    "μMAP": "muAP",
    "nDCGφ": "nDCGphi",
}
BY_NAME: dict[str, type[Measure]] = {measure.name.lower(): measure for measure in ALL}
BY_NAME |= {alias.lower(): BY_NAME[name.lower()] for alias, name in ALIASES.items()}
TREC = {
    r"map": "AP",
    r"map_cut_(\d+)": "AP@{}",
    r"ndcg_cut_(\d+)": "nDCG@{}",
    r"P_(\d+)": "P@{}",
    r"recall_(\d+)": "R@{}",
    r"success_(\d+)": "Success@{}",
    r"recip_rank": "RR",
    r"set_P": "P",
    r"set_recall": "R",
    r"set_F": "F1",
    r"set_F_([\d.]+)": "F(x={})",
    r"set_relative_P": "RelativeP",
    r"relative_P_(\d+)": "RelativeP@{}",
    r"iprec_at_recall_([\d.]+)": "IPrec(recall={})",
    r"11pt_avg": "IPrec",
    r"unj_(\d+)": "Unjudged@{}",
}
LONGEST = 10_000


def parse(name: MeasureLike) -> Measure:
    """Return the measure of a name; a measure is returned as it is, a class with its defaults.

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
        raise MeasureError(f"a measure is a name like 'nDCG@10' or an object like gradely.nDCG(k=10); found {name!r}")
    return _parsed(name.strip())


def label(name: MeasureLike) -> str:
    """Return what a measure is called in results: the name as it was given."""
    return name.strip() if isinstance(name, str) else str(parse(name))


def parse_all(measures: MeasureLike | Iterable[MeasureLike]) -> dict[str, Measure]:
    """Return the measures by what they are called in results."""
    several = list(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    if not several:
        raise MeasureError("no measure given: name one, like 'nDCG@10'")
    return {label(name): parse(name) for name in several}


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Measure:
    for pattern, name in TREC.items():
        if found := re.fullmatch(pattern, text):
            return _parsed(name.format(*found.groups()))
    tree = _tree(text)
    k: dict[str, Any] = {}
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        k, tree = {"k": _value(tree.right, text)}, tree.left
    given: dict[str, Any] = {}
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise MeasureError(f"{text}: parameters have names, as in AP(rel=2)")
        given = {str(keyword.arg): _value(keyword.value, text) for keyword in tree.keywords}
        tree = tree.func
    if not isinstance(tree, ast.Name):
        _unreadable(text)
    return _made(find(tree.id), text, given | k)


def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise MeasureError(f"a measure's name of {len(text):,} characters is too long")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _unreadable(text)


def _unreadable(text: str) -> NoReturn:
    raise MeasureError(f"cannot read the measure {text!r}: write it like nDCG@10 or AP(rel=2)@100")


def find(name: str) -> type[Measure]:
    """Return the measure class of a bare name, whatever its case."""
    found = BY_NAME.get(unicodedata.normalize("NFKC", name).lower())
    if found is None and name.startswith("gm_"):
        raise MeasureError(f"{name} is a geometric mean over queries: scores.geometric_mean(), or `gradely trec_eval`")
    if found is None:
        hint = did_you_mean(name, [*ALIASES, *(measure.name for measure in ALL)])
        raise MeasureError(f"no measure {name!r}.{hint} `gradely measures` lists them all")
    return found


def _made(measure: type[Measure], text: str, given: dict[str, Any]) -> Measure:
    """Return the measure with these parameters."""
    known = list(parameters(measure))
    if given.get("dcg") in ("log2", "exp-log2") and "gain" in known:
        given["gain"] = {"log2": "linear", "exp-log2": "exp"}[given.pop("dcg")]
    unknown = next((name for name in given if name not in known), None)
    if unknown == "judged_only":
        raise MeasureError(
            f"{text}: judged_only holds for all measures of a call: evaluate(…, judged_only=True) or --judged-only"
        )
    if unknown is not None:
        hint = did_you_mean(unknown, known)
        raise MeasureError(f"{text}: {measure.name} has no parameter {unknown!r}, only {', '.join(known)}.{hint}")
    return measure(**given)


def _value(node: ast.expr, text: str) -> Any:
    """Return a parameter's value: a literal, a bare word as text, or a relevance function like max(4)."""
    if isinstance(node, ast.Name):
        return {"True": True, "False": False, "None": None}.get(node.id, node.id)
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
