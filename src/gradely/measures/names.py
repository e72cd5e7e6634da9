"""From names to measures: "nDCG@10", "AP(rel=2)", "eGAP(g=[0.2, 0.8])@100", and the names of other libraries.

The grammar is that of ir_measures, NAME(parameter=value, …)@k. A measure prints the name that reads back as itself.
"""

import ast
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from gradely.errors import MeasureError, did_you_mean
from gradely.measures import ALL, Measure, P, RelativeP, parameters
from gradely.measures.aliases import ALIASES, PARAMETERS, PATTERNS, REFUSED
from gradely.relevance import NAMED, Levels

MeasureLike: TypeAlias = str | Measure | type[Measure]


def plain_name(name: str) -> str:
    """Return a name without what does not matter in it: case, - and _, and how µ is written."""
    return re.sub("[-_]", "", unicodedata.normalize("NFKC", name).lower())


BY_NAME: dict[str, type[Measure]] = {plain_name(measure.name): measure for measure in ALL}
OTHERS = {plain_name(alias): name for alias, name in ALIASES.items()}
NOT_HERE = {plain_name(name): (name, text) for name, text in REFUSED.items()}
LONGEST = 10_000
"""characters of a name; a longer one could exhaust the parser, and nobody types it"""


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
    return _parse(name.strip())


def label(name: MeasureLike) -> str:
    """Return what a measure is called in results: the name as it was given."""
    return name.strip() if isinstance(name, str) else str(parse(name))


def parse_all(measures: MeasureLike | Iterable[MeasureLike]) -> dict[str, Measure]:
    """Return the measures by what they are called in results."""
    entries = list(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    if not entries:
        raise MeasureError("no measure given: name one, like 'nDCG@10'")
    return {label(name): parse(name) for name in entries}


def fit_all(measures: Mapping[str, Measure], levels: Levels) -> dict[str, Measure]:
    """Return measures by name with what they take from the collection settled; refuse labels they cannot take."""
    return {name: measure.fit(levels) for name, measure in measures.items()}


@lru_cache(maxsize=1024)
def _parse(text: str) -> Measure:
    for pattern, name in PATTERNS.items():
        if match := re.fullmatch(pattern, text):
            base, level, threshold = name.format(*match.groups()).partition("-l")
            return _parse(base).replace(**_threshold(base, threshold)) if level else _parse(base)
    tree = _tree(_quote(text))
    at, arguments = None, dict[str, Any]()
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        at, tree = _value(tree.right, text), tree.left
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise MeasureError(f"{text}: parameters have names, as in AP(rel=2)")
        arguments = {str(keyword.arg): _value(keyword.value, text) for keyword in tree.keywords}
        tree = tree.func
    if not isinstance(tree, ast.Name):
        _unreadable(text)
    measure = _find_measure(tree.id, re.split(r"[@(]", text)[0].strip())
    if isinstance(measure, P) and arguments.pop("relative", False):
        measure = RelativeP()
    replaced = measure.replace(**translate(measure, text, arguments))
    return replaced if at is None else replaced @ at


def _threshold(base: str, level: str) -> dict[str, float]:
    """Return the parameter that ranx writes as -l2."""
    if "rel" not in _parse(base).parameters:
        raise MeasureError(f"{base}-l{level}: {base} takes labels as they are; leave -l{level} out")
    return {"rel": float(level)}


def _quote(text: str) -> str:
    """Return a name with - in it as Python reads names; refuse several cut-offs in one."""
    if match := re.fullmatch(r"(\w+)[._](\d+(?:,\d+)+)", text):
        names = ", ".join(f"{match[1]}.{k}" for k in match[2].split(","))
        raise MeasureError(f"{text} is several measures; name each: {names}")
    return re.sub(r"^([A-Za-z]+)-([A-Za-z]+)", r"\1_\2", text)


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
    return type(_find_measure(name, name))


def _find_measure(name: str, typed: str) -> Measure:
    """Return the measure of a bare name, ours or that of another library; errors have it as it was typed."""
    plain = plain_name(name)
    if plain in BY_NAME:
        return BY_NAME[plain]()
    if plain in OTHERS:
        return _parse(OTHERS[plain])
    if plain in NOT_HERE or plain.startswith("prefs"):
        title, text = NOT_HERE.get(plain) or (name, NOT_HERE["compat"][1])
        raise MeasureError(f"{title} is no measure of gradely: {text}")
    hint = did_you_mean(name, [*ALIASES, *(measure.name for measure in ALL)])
    raise MeasureError(f"no measure {typed!r}.{hint} `gradely measures` lists them all")


def translate(measure: Measure, text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of a measure, as ir_measures may call them, by their names here; refuse others."""
    names = list(parameters(type(measure)))
    arguments = {name if name in names else PARAMETERS.get(name, name): value for name, value in arguments.items()}
    if arguments.get("dcg") in ("log2", "exp-log2") and "gain" in names:
        arguments["gain"] = {"log2": "linear", "exp-log2": "exp"}[arguments.pop("dcg")]
    unknown = next((name for name in arguments if name not in names), None)
    if unknown == "judged_only":
        raise MeasureError(
            f"{text}: judged_only holds for all measures of a call: evaluate(…, judged_only=True) or --judged-only"
        )
    if unknown is not None:
        hint = did_you_mean(unknown, names)
        raise MeasureError(f"{text}: {measure.name} has no parameter {unknown!r}, only {', '.join(names)}.{hint}")
    return arguments


def _value(node: ast.expr, text: str) -> Any:
    """Return a parameter's value: a literal, a bare word as text, or a relevance function like max(4)."""
    if isinstance(node, ast.Name):
        return node.id
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
