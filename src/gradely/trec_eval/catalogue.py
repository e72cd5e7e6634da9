"""The measures of trec_eval in its own order, how each takes parameters, and what it prints."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from gradely import measures as library
from gradely.errors import did_you_mean
from gradely.kernel.batch import Array
from gradely.trec_eval import gains, parameters, values
from gradely.trec_eval.gains import Gains
from gradely.trec_eval.options import GROUPED, USAGE, Options, Quit
from gradely.trec_eval.values import Value

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(i / 10 for i in range(11))
FIFTHS = tuple(i / 5 for i in range(1, 11))
LEVEL_LENGTH = 9
"""characters of a level in a name, with the line before it"""


class Column(NamedTuple):
    """One printed name: what it is of each query, and what it is of all."""

    name: str
    kind: str = "mean"
    """of all queries: mean, sum, geometric (mean), or what is no number of a query: runid, num_q, relstring"""
    value: Value | None = None
    length: int = 0
    """of a relstring"""
    by_group: bool = False
    """a mean over groups of judgments, which only one format of judgments has"""


class Entry(NamedTuple):
    """A measure: how it reads parameters, those by default, and its columns."""

    columns: Callable[[str, Any, Options], list[Column]]
    read: Callable[[str, str], Any] | None = None
    default: Any = None


def _of_run(kind: str, value: Value | None = None) -> Entry:
    """Return what is the same whichever documents are relevant."""
    return Entry(lambda name, *_: [Column(name, kind, value)])


def _of_level(value: Callable[..., Array], kind: str = "mean") -> Entry:
    """Return a value that knows relevant documents and others."""
    return Entry(lambda name, _, options: [Column(name, kind, partial(value, options=options))])


def _binary(measure: Any, kind: str = "mean") -> Entry:
    """Return a measure of the library that knows relevant documents and others."""
    return Entry(lambda name, _, options: [Column(name, kind, measure(rel=options.level).compute)])


def _at_cutoffs(measure: Any, default: tuple[int, ...] = CUTOFFS, *, binary: bool = True) -> Entry:
    """Return a measure of the library at cut-offs."""

    def columns(name: str, numbers: list[int], options: Options) -> list[Column]:
        instance = measure(rel=options.level) if binary else measure()
        return [Column(f"{name}_{k}", value=instance.replace(k=k).compute) for k in numbers]

    return Entry(columns, parameters.cutoffs, default)


def _levels(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return a value at levels that are real numbers; each may depend on those after it. Long names are cut off."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        out = []
        for i, number in enumerate(numbers):
            title = f"{name}_{number:3.2f}"[: len(name) + LEVEL_LENGTH]
            later = tuple(numbers[i + 1 :])
            out.append(Column(title, value=partial(value, options=options, number=number, later=later)))
        return out

    return Entry(columns, parameters.levels, default)


def _over_groups(entry: Entry) -> Entry:
    """Return a measure as the mean over groups of judgments."""

    def columns(name: str, numbers: Any, options: Options) -> list[Column]:
        return [column._replace(by_group=True) for column in entry.columns(name, numbers, options)]

    return entry._replace(columns=columns)


def _of_numbers(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return one value that has parameters, which its name shows."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        return [Column(name, value=partial(value, options=options, numbers=numbers))]

    return Entry(columns, parameters.values, default)


def _of_pairs(make: Callable[[parameters.Pairs, Options], Value]) -> Entry:
    """Return one value that has parameters by key, which its name shows."""
    return Entry(lambda name, pairs, options: [Column(name, value=make(pairs, options))], parameters.pairs, [])


def _of_gains(value: Callable[..., Array]) -> Entry:
    """Return one value of gains."""
    return _of_pairs(lambda pairs, options: partial(value, gains=_gains(pairs, options)))


def _gains(pairs: parameters.Pairs, options: Options) -> Gains:
    return Gains(parameters.gains(pairs, options.compat))


def _relstring(name: str, numbers: list[float], _: Options) -> list[Column]:
    return [Column(name, "relstring", length=max(int(values.to_c_integer(numbers[0])), 0))]


TABLE: dict[str, Entry] = {
    "runid": _of_run("runid"),
    "num_q": _of_run("num_q"),
    "num_ret": _of_run("sum", values.num_ret),
    "num_rel": _of_level(values.num_rel, "sum"),
    "num_rel_ret": _of_level(values.num_rel_ret, "sum"),
    "map": _binary(library.AP),
    "gm_map": _binary(library.AP, "geometric"),
    "Rprec": _binary(library.Rprec),
    "bpref": _binary(library.bpref),
    "recip_rank": _binary(library.RR),
    "iprec_at_recall": _levels(values.iprec_at_recall, TENTHS),
    "P": _at_cutoffs(library.P),
    "relstring": Entry(_relstring, parameters.values, (10.0,)),
    "recall": _at_cutoffs(library.R),
    "infAP": _binary(library.infAP),
    "gm_bpref": _binary(library.bpref, "geometric"),
    "Rprec_mult": _levels(values.Rprec_mult, FIFTHS),
    "utility": _of_numbers(values.utility, (1.0, -1.0, 0.0, 0.0)),
    "11pt_avg": _of_numbers(values.eleven_points, TENTHS),
    "binG": _binary(library.binG),
    "G": _of_gains(gains.G),
    "dcg": _of_gains(gains.dcg),
    "ideal_dcg": _of_gains(gains.ideal_dcg),
    "ndcg": _of_gains(gains.ndcg),
    "ndcg_rel": _of_gains(gains.ndcg_rel),
    "Rndcg": _of_pairs(lambda pairs, o: partial(gains.Rndcg, gains=_gains(pairs, o), options=o)),
    "ndcg_cut": _at_cutoffs(library.nDCG, binary=False),
    "map_cut": _at_cutoffs(library.AP),
    "relative_P": _at_cutoffs(library.RelativeP),
    "success": _at_cutoffs(library.Success, (1, 5, 10)),
    "set_P": _binary(library.P),
    "set_relative_P": _binary(library.RelativeP),
    "set_recall": _binary(library.R),
    "set_map": _of_level(values.set_map),
    "set_F": _of_numbers(values.set_F, (1.0,)),
    "num_nonrel_judged_ret": _of_level(values.num_nonrel_judged_ret, "sum"),
    "map_avgjg": _over_groups(_binary(library.AP)),
    "P_avgjg": _over_groups(_at_cutoffs(library.P)),
    "Rprec_mult_avgjg": _over_groups(_levels(values.Rprec_mult, FIFTHS)),
    "yaap": _of_level(values.yaap),
    "rbp": _of_pairs(lambda pairs, o: partial(gains.rbp, gains=_gains(pairs, o), p=parameters.persistence(pairs))),
    "rbp_resid": _of_pairs(lambda pairs, _: partial(gains.rbp_resid, p=parameters.persistence(pairs))),
    "unj": _at_cutoffs(library.Unjudged, (5, 10, 20), binary=False),
}
"""by name, in the order in which trec_eval prints them"""
NEW = ("rbp", "rbp_resid", "unj")
"""in version 10 only"""
OFFICIAL = tuple(TABLE)[: tuple(TABLE).index("relstring")]
GROUPS = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
BY_NAME_ONLY = ("dcg", "ideal_dcg", "yaap", *GROUPS)
RUN = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
SETS = (*RUN, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
PREFERENCES = ("prefs", "all_prefs")
"""these, and all that begin with prefs_, are of preference judgments"""


def nickname(name: str, compat: int) -> tuple[str, ...] | None:
    """Return the measures that a nickname stands for, None where it is not one."""
    names = tuple(measure for measure in TABLE if measure not in BY_NAME_ONLY and (compat == 10 or measure not in NEW))
    return {"official": OFFICIAL, "set": SETS, "all_trec": names, GROUPED: ("runid", "num_q", *GROUPS)}.get(name)


def select_columns(options: Options) -> list[Column]:
    """Return the columns of the measures asked for; of parameters given twice the first count."""
    texts: dict[str, str] = {}
    for measure in options.measures:
        name, dot, text = measure.partition(".")
        if dot:
            texts.setdefault(name, text)
    return [column for name in select_names(options) for column in _columns(name, texts.get(name), options)]


def select_names(options: Options) -> list[str]:
    """Return the measures asked for, in trec_eval's order."""
    selection: set[str] = set()
    for measure in options.measures or ["official"]:
        name, dot, text = measure.partition(".")
        if dot and not text:
            raise Quit(USAGE, f"-m {measure}: there are no parameters after the dot")
        selection.update(nickname(name, options.compat) or [_check_name(name, options.compat)])
    return [name for name in TABLE if name in selection]


def _columns(name: str, text: str | None, options: Options) -> list[Column]:
    entry = TABLE[name]
    if text is None or entry.read is None:
        return entry.columns(name, entry.default, options)
    title = name if entry.read in (parameters.cutoffs, parameters.levels) else f"{name}_{text}"
    return entry.columns(title, entry.read(name, text), options)


def _check_name(name: str, compat: int) -> str:
    if name.startswith("prefs_") or name in PREFERENCES:
        raise Quit(USAGE, f"-m {name}: measures of preference judgments are not here, only those of qrels")
    if compat == 9 and name in NEW:
        raise Quit(USAGE, f"-m {name}: there is no such measure in trec_eval 9; use --compat 10")
    if name not in TABLE:
        hint = did_you_mean(name, TABLE)
        raise Quit(USAGE, f"-m {name}: no such measure.{hint} Cut-offs follow a dot, as in P.5,10; `-h` lists all")
    return name
