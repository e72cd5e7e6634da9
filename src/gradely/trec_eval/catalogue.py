"""The measures of trec_eval in its own order, how each takes parameters, and what it prints."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from gradely import measures as library
from gradely.errors import did_you_mean
from gradely.kernel.batch import Batch
from gradely.trec_eval import gains, parameters, values
from gradely.trec_eval.gains import Gains
from gradely.trec_eval.options import GROUPED, IMPOSSIBLE, USAGE, Options, Quit
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


def _plain_measure(make: Callable[[Options], Value | None], kind: str = "mean") -> Entry:
    """Return a measure without parameters."""
    return Entry(lambda name, _, options: [Column(name, kind, make(options))])


def _binary(measure: Any, kind: str = "mean") -> Entry:
    """Return a measure of the library that knows relevant documents and others."""
    return _plain_measure(lambda options: measure(rel=options.level).compute, kind)


def _at_cutoffs(measure: Any, default: tuple[int, ...] = CUTOFFS, *, binary: bool = True) -> Entry:
    """Return a measure of the library at cut-offs."""

    def columns(name: str, numbers: list[int], options: Options) -> list[Column]:
        instance = measure(rel=options.level) if binary else measure()
        return [Column(f"{name}_{k}", value=instance.replace(k=k).compute) for k in numbers]

    return Entry(columns, parameters.cutoffs, default)


def _levels(make: Callable[[Options, float, tuple[float, ...]], Value], default: tuple[float, ...]) -> Entry:
    """Return a measure at levels that are real numbers; each may depend on those after it. Long names are cut off."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        return [
            Column(f"{name}_{level:3.2f}"[: len(name) + LEVEL_LENGTH], value=make(options, level, (*numbers[i + 1 :],)))
            for i, level in enumerate(numbers)
        ]

    return Entry(columns, parameters.levels, default)


def _over_groups(entry: Entry) -> Entry:
    """Return a measure as the mean over groups of judgments."""

    def columns(name: str, numbers: Any, options: Options) -> list[Column]:
        return [column._replace(by_group=True) for column in entry.columns(name, numbers, options)]

    return entry._replace(columns=columns)


def _with_values(make: Callable[[Options, Any], Value], read: Callable[[str, str], Any], default: Any) -> Entry:
    """Return one value that has parameters, which its name shows."""
    return Entry(lambda name, numbers, options: [Column(name, value=make(options, numbers))], read, default)


def _of_gains(make: Callable[[Gains], Value]) -> Entry:
    """Return one value of gains."""
    return _with_values(lambda options, pairs: make(_gains(pairs, options)), parameters.pairs, [])


def _gains(pairs: parameters.Pairs, options: Options) -> Gains:
    return Gains(parameters.gains(pairs, options.compat))


def _relstring(name: str, numbers: list[float], _: Options) -> list[Column]:
    return [Column(name, "relstring", length=max(int(values.to_c_integer(numbers[0])), 0))]


def _utility(options: Options, numbers: list[float]) -> Value:
    if len(numbers) == 4:
        return values.utility(options.level, options.size, *numbers)

    def value(_: Batch) -> NoReturn:
        raise Quit(IMPOSSIBLE, f"-m utility takes four parameters, as in utility.1,-1,0,0; found {len(numbers)}")

    return value


def _rounding(options: Options) -> str:
    return "up" if options.compat == 9 else "nearest"


TABLE: dict[str, Entry] = {
    "runid": _plain_measure(lambda _: None, "runid"),
    "num_q": _plain_measure(lambda _: None, "num_q"),
    "num_ret": _plain_measure(lambda _: values.num_ret, "sum"),
    "num_rel": _plain_measure(lambda options: values.num_rel(options.level), "sum"),
    "num_rel_ret": _plain_measure(lambda options: values.num_rel_ret(options.level), "sum"),
    "map": _binary(library.AP),
    "gm_map": _binary(library.AP, "geometric"),
    "Rprec": _binary(library.Rprec),
    "bpref": _binary(library.bpref),
    "recip_rank": _binary(library.RR),
    "iprec_at_recall": _levels(
        lambda o, level, later: values.iprec_at_recall(o.level, level, _rounding(o), later), TENTHS
    ),
    "P": _at_cutoffs(library.P),
    "relstring": Entry(_relstring, parameters.values, (10.0,)),
    "recall": _at_cutoffs(library.R),
    "infAP": _binary(library.infAP),
    "gm_bpref": _binary(library.bpref, "geometric"),
    "Rprec_mult": _levels(lambda o, times, later: values.Rprec_mult(o.level, times, later), FIFTHS),
    "utility": _with_values(_utility, parameters.values, (1.0, -1.0, 0.0, 0.0)),
    "11pt_avg": _with_values(lambda o, v: values.eleven_points(o.level, v, _rounding(o)), parameters.values, TENTHS),
    "binG": _binary(library.binG),
    "G": _of_gains(gains.G),
    "dcg": _of_gains(gains.dcg),
    "ideal_dcg": _of_gains(gains.ideal_dcg),
    "ndcg": _of_gains(gains.ndcg),
    "ndcg_rel": _of_gains(gains.ndcg_rel),
    "Rndcg": _with_values(lambda o, v: gains.Rndcg(_gains(v, o), o.level), parameters.pairs, []),
    "ndcg_cut": _at_cutoffs(library.nDCG, binary=False),
    "map_cut": _at_cutoffs(library.AP),
    "relative_P": _at_cutoffs(library.RelativeP),
    "success": _at_cutoffs(library.Success, (1, 5, 10)),
    "set_P": _binary(library.P),
    "set_relative_P": _binary(library.RelativeP),
    "set_recall": _binary(library.R),
    "set_map": _plain_measure(lambda options: values.set_map(options.level)),
    "set_F": _with_values(lambda options, numbers: values.set_F(options.level, numbers[0]), parameters.values, (1.0,)),
    "num_nonrel_judged_ret": _plain_measure(lambda options: values.num_nonrel_judged_ret(options.level), "sum"),
    "map_avgjg": _over_groups(_binary(library.AP)),
    "P_avgjg": _over_groups(_at_cutoffs(library.P)),
    "Rprec_mult_avgjg": _over_groups(_levels(lambda o, times, later: values.Rprec_mult(o.level, times, later), FIFTHS)),
    "yaap": _plain_measure(lambda options: values.yaap(options.level)),
    "rbp": _with_values(lambda o, v: gains.rbp(_gains(v, o), parameters.persistence(v)), parameters.pairs, []),
    "rbp_resid": _with_values(lambda _, v: gains.rbp_resid(parameters.persistence(v)), parameters.pairs, []),
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
