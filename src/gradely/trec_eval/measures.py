"""The measures of trec_eval in its order, with the parameters that each takes and the columns that it prints."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import log
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely.errors import did_you_mean
from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, count_in_top
from gradely.kernel.gains import log2
from gradely.measures.ap import AP, ROUNDING, IPrec, best_precision, bpref, infAP
from gradely.measures.dcg import nDCG
from gradely.measures.g import binG, gain_over_missed
from gradely.measures.precision import P, R, RelativeP, Rprec, Unjudged
from gradely.measures.rr import RR, Success
from gradely.trec_eval.options import (
    GROUPED,
    IMPOSSIBLE,
    USAGE,
    Options,
    Pairs,
    Quit,
    read_cutoffs,
    read_gains,
    read_levels,
    read_numbers,
    read_pairs,
    read_persistence,
)

Value: TypeAlias = Callable[[Batch], Array]
"""what a column is of each query; those below are values once their other arguments are given"""
DEEPEST = 2.0**53
"""no ranking is as long"""
LEAST = -(2.0**63)
"""the least whole number of C, which becomes of what is none or too large"""


def num_ret(batch: Batch) -> Array:
    """Return how many documents are retrieved."""
    return batch.to_real(batch.retrieved)


def num_rel(batch: Batch, options: Options) -> Array:
    """Return how many documents of the pool are relevant."""
    return P(rel=options.level).recall_base(batch)


def num_rel_ret(batch: Batch, options: Options) -> Array:
    """Return how many relevant documents are retrieved."""
    return sum_rows(batch.to_real(P(rel=options.level).relevant(batch)))


def num_nonrel_judged_ret(batch: Batch, options: Options) -> Array:
    """Return how many judged documents are retrieved that are not relevant."""
    return sum_rows(batch.to_real(batch.judged & (batch.grade >= 0) & (batch.grade < options.level)))


def to_c_integer(number: Array) -> Array:
    """Return whole numbers as C has them: what is not finite, or too large for them, becomes the least."""
    return np.where(np.abs(number) < -LEAST, number, LEAST)


def quotient(above: Array, below: Array) -> Array:
    """Return a quotient, 0 where there is nothing to divide by."""
    return np.where(below != 0, above / np.where(below != 0, below, 1.0), 0.0)


def set_map(batch: Batch, options: Options) -> Array:
    """Return recall times precision of the retrieved set."""
    relevant_retrieved = num_rel_ret(batch, options)
    return quotient(relevant_retrieved * relevant_retrieved, num_ret(batch) * num_rel(batch, options))


def set_F(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return the weighted harmonic mean of recall and precision of the retrieved set."""
    x, p, r = numbers[0], P(rel=options.level).compute(batch), R(rel=options.level).compute(batch)
    return np.where(p > 0, (x + 1.0) * p * r / np.where(p > 0, x * p + r, 1.0), 0.0)


def utility(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return what the retrieved set is worth."""
    if len(numbers) != 4:
        raise Quit(IMPOSSIBLE, f"-m utility takes four parameters, as in utility.1,-1,0,0; found {len(numbers)}")
    a, b, c, d = numbers
    relevant_retrieved, retrieved, relevant = num_rel_ret(batch, options), num_ret(batch), num_rel(batch, options)
    rest = options.size + relevant_retrieved - retrieved - relevant
    missed = relevant - relevant_retrieved
    return a * relevant_retrieved + b * (retrieved - relevant_retrieved) + c * missed + d * rest


def yaap(batch: Batch, options: Options) -> Array:
    """Return Robertson's smoothed average precision."""
    precisions = sum_rows(AP(rel=options.level).terms(batch))
    odds = (1.0 + precisions) / (1.0 + num_rel(batch, options) - precisions)
    return np.array([log(ratio) for ratio in odds.tolist()])


def Rprec_mult(batch: Batch, options: Options, number: float, later: tuple[float, ...]) -> Array:
    """Return the precision after some times as many documents as there are relevant ones.

    trec_eval walks up the ranking with the last multiple first, and waits for one that is too large for ever.
    """
    depth, waits = _needs(batch, options, number, later, "up")
    depth = np.clip(np.where(waits, 0, depth), 0, DEEPEST)
    inside = count_in_top(batch, P(rel=options.level).relevant(batch), depth.astype(np.int64)[:, None])
    return quotient(sum_rows(inside), depth)


def _needs(
    batch: Batch, options: Options, share: float, later: tuple[float, ...], rounding: str
) -> tuple[Array, Array]:
    """Return how many documents a share of the relevant ones is, and whether a later share is too large a number."""
    relevant = num_rel(batch, options)
    needed = [to_c_integer(ROUNDING[rounding](batch, number * relevant)) for number in (share, *later)]
    return needed[0], np.any(np.stack(needed[1:] or [np.zeros_like(relevant)]) == LEAST, axis=0)


def iprec_at_recall(batch: Batch, options: Options, number: float, later: tuple[float, ...]) -> Array:
    """Return the interpolated precision at a level of recall, which need not lie between 0 and 1.

    trec_eval walks up the ranking with the last level first, and to its top for one that is too large a number.
    """
    needed, waits = _needs(batch, options, number, later, options.rounding)
    relevant = IPrec(rel=options.level).relevant(batch)
    return sum_rows(best_precision(batch, relevant, np.where(waits, LEAST, needed), None))


def eleven_points(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return the mean of interpolated precision over levels of recall.

    trec_eval walks up the ranking with the last level first. A level that needs more relevant documents than one after
    it has been walked past: from there on it takes the best precision of all.
    """
    relevant_retrieved, relevant = num_rel_ret(batch, options), num_rel(batch, options)
    best = iprec_at_recall(batch, options, 0.0, ())
    remaining, out_of_reach = relevant_retrieved, np.ones_like(relevant_retrieved, bool)
    passed, added = ~out_of_reach, np.zeros_like(relevant_retrieved)
    for recall in reversed(numbers):
        needed = to_c_integer(ROUNDING[options.rounding](batch, recall * relevant))
        out_of_reach = out_of_reach & (needed > relevant_retrieved)
        passed = passed | ~out_of_reach & ((needed > remaining) | (needed <= 0))
        value_at = np.where(passed, best, iprec_at_recall(batch, options, recall, ()))
        added = added + np.where(out_of_reach, 0.0, value_at)
        remaining = needed
    return added / len(numbers)


CELLS = 1 << 20
"""about how many places of rankings are looked at in one go"""


class Gains:
    """The gains of levels; a level that is not listed gains its number, a document without judgment nothing.

    Of a level that is listed several times, a retrieved document gains the lowest, and an ideal one the first.
    """

    def __init__(self, pairs: list[tuple[int, float]]) -> None:
        """Hold the gains that differ from their level."""
        self.gains = [gain for _, gain in pairs]
        self.table = dict(reversed(pairs))
        self.lowest = {level: min(gain for other, gain in pairs if other == level) for level in self.table}

    def _gains_of(self, labels: Array, rows: Array, table: dict[int, float]) -> Array:
        listed = (np.where(labels == level, gain, 0.0) for level, gain in table.items())
        own = np.where(np.isin(labels, list(table)), 0.0, labels)
        return np.where(rows & (labels >= 0), reduce(np.add, listed, own), 0.0)

    def retrieved_gains(self, batch: Batch) -> Array:
        """Return [Q, H]: the gain of each judged document that is retrieved."""
        return self._gains_of(batch.grade, batch.judged, self.lowest)

    def ideal(self, batch: Batch) -> Array:
        """Return [Q, B]: the gains of the pool above 0, best first."""
        return np.maximum(-np.sort(-self._gains_of(batch.pool, batch.pooled, self.table), axis=1), 0.0)

    def range(self, batch: Batch) -> tuple[Array, Array]:
        """Return [Q, 1] each: the lowest and the highest gain of the levels from 0 to the best of the pool."""
        best, inverse = np.unique(np.where(batch.pooled, batch.pool, -1.0).max(axis=1), return_inverse=True)
        spans = np.array([self._span(int(level)) for level in best])[inverse]
        return spans[:, :1], spans[:, 1:]

    def _span(self, best: int) -> tuple[float, float]:
        low = next((level for level in range(best + 1) if level not in self.table), None)
        high = next((level for level in range(best, -1, -1) if level not in self.table), None)
        levels = [*self.gains, *(level for level in (low, high) if level is not None)]
        return min(levels, default=0.0), max(levels, default=0.0)


def running_gains(batch: Batch, gain: Array) -> Array:
    """Return [Q, H+1]: the discounted gain of the first 0, 1, … columns, in rank order."""
    return np.cumulative_sum(additive(batch, gain, log2, None), axis=1, include_initial=True)


def running_ideal(batch: Batch, gains: Gains) -> Array:
    """Return [Q, B+1]: the discounted gain of the first 0, 1, … places of the ideal ranking."""
    ideal = gains.ideal(batch)
    rank = np.arange(1, ideal.shape[1] + 1, dtype=np.float64)
    return np.cumulative_sum(ideal / log2(batch, rank), axis=1, include_initial=True)


def dcg(batch: Batch, gains: Gains) -> Array:
    """Return the discounted cumulated gain."""
    return running_gains(batch, gains.retrieved_gains(batch))[:, -1]


def ideal_dcg(batch: Batch, gains: Gains) -> Array:
    """Return that of the ideal ranking."""
    return running_ideal(batch, gains)[:, -1]


def ndcg(batch: Batch, gains: Gains) -> Array:
    """Return DCG over ideal DCG."""
    return quotient(dcg(batch, gains), ideal_dcg(batch, gains))


def G(batch: Batch, gains: Gains) -> Array:
    """Return normalized gain."""
    ideal = gains.ideal(batch)
    ones = batch.xp.zeros_like(ideal[:, :1])  # exponents: the units of the gains are 1
    return quotient(sum_rows(gain_over_missed(batch, gains.retrieved_gains(batch), ideal, ones)), sum_rows(ideal))


def ndcg_rel(batch: Batch, gains: Gains) -> Array:
    """Return the mean of ndcg over the documents that gain, at their ranks; those not retrieved take the last value."""
    gain, ideal = gains.retrieved_gains(batch), running_ideal(batch, gains)
    sums, places = running_gains(batch, gain), np.minimum(batch.above + 1, ideal.shape[1] - 1)
    at = np.where(gain > 0, quotient(sums[:, 1:], ideal[batch.row, places]), 0.0)
    count = (gains.ideal(batch) > 0).sum(axis=1)
    missed = batch.to_real(count - (gain > 0).sum(axis=1))
    added = sum_rows(at) + quotient(missed * sums[:, -1], ideal[:, -1])
    return np.where(added > 0, quotient(added, batch.to_real(count)), 0.0)


def Rndcg(batch: Batch, gains: Gains, options: Options) -> Array:
    """Return the mean of ndcg at the ranks where the ideal gain falls, and at the end of a ranking that goes on."""
    ideal, best = running_ideal(batch, gains), gains.ideal(batch)
    sums = running_gains(batch, gains.retrieved_gains(batch))
    added, points = np.zeros(len(best)), np.zeros(len(best))
    for gain in np.unique(best[best > 0])[::-1]:
        depth = (best >= gain).sum(axis=1)
        falls = (best == gain).any(axis=1)
        inside = (batch.judged & (batch.above < depth[:, None])).sum(axis=1)
        row = np.arange(len(best))
        added = added + np.where(falls, quotient(sums[row, inside], ideal[row, depth]), 0.0)
        points = points + falls
    goes_on = (best > 0).sum(axis=1) + 1 < batch.retrieved
    added = added + np.where(goes_on, quotient(sums[:, -1], ideal[:, -1]), 0.0)
    return np.where(num_rel(batch, options) > 0, quotient(added, points + goes_on), 0.0)


def rbp(batch: Batch, gains: Gains, p: float) -> Array:
    """Return rank-biased precision; gains that leave 0 … 1 are brought there, query by query."""
    low, high = gains.range(batch)
    gain, outside = gains.retrieved_gains(batch), (low < 0) | (high > 1)
    judged = batch.judged & (batch.grade >= 0)
    scaled = np.where(judged, quotient(gain - low, high - low), 0.0)
    return (1.0 - p) * sum_rows(np.where(outside, scaled, gain) * _patience(p, batch.depth)[batch.above])


def rbp_resid(batch: Batch, p: float) -> Array:
    """Return how much rank-biased precision may rise, were all documents without judgment relevant."""
    depth = int(batch.retrieved.max())
    patience = _patience(p, depth + 1)
    step = max(1, CELLS // (depth + 1))
    starts = range(0, len(batch.retrieved), step)
    parts = [_residual(batch, slice(i, i + step), patience, depth) for i in starts]
    incomplete = batch.retrieved > (batch.judged & (batch.grade >= 0)).sum(axis=1)
    return np.where(incomplete, patience[batch.retrieved] + (1 - p) * np.concatenate(parts), 0.0)


def _residual(batch: Batch, rows: slice, patience: Array, depth: int) -> Array:
    """Return, for some queries, the sum of p^(i-1) over the ranks i without a judgment, added in rank order."""
    open_places = np.arange(depth) < batch.retrieved[rows, None]
    query, column = np.nonzero((batch.judged & (batch.grade >= 0))[rows])
    open_places[query, batch.above[rows][query, column]] = False
    return np.cumulative_sum(np.where(open_places, patience[:depth], 0.0), axis=1, include_initial=True)[:, -1]


def _patience(p: float, depth: int) -> Array:
    """Return 1, p, p², …, each made from the one before."""
    return np.cumulative_prod(np.full(max(depth - 1, 0), p), include_initial=True)


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

    return Entry(columns, read_cutoffs, default)


def _levels(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return a value at levels that are real numbers; each may depend on those after it. Long names are cut off."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        out = []
        for i, number in enumerate(numbers):
            title = f"{name}_{number:3.2f}"[: len(name) + LEVEL_LENGTH]
            later = tuple(numbers[i + 1 :])
            out.append(Column(title, value=partial(value, options=options, number=number, later=later)))
        return out

    return Entry(columns, read_levels, default)


def _over_groups(entry: Entry) -> Entry:
    """Return a measure as the mean over groups of judgments."""

    def columns(name: str, numbers: Any, options: Options) -> list[Column]:
        return [column._replace(by_group=True) for column in entry.columns(name, numbers, options)]

    return entry._replace(columns=columns)


def _of_numbers(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return one value that has parameters, which its name shows."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        return [Column(name, value=partial(value, options=options, numbers=numbers))]

    return Entry(columns, read_numbers, default)


def _of_pairs(make: Callable[[Pairs, Options], Value]) -> Entry:
    """Return one value that has parameters by key, which its name shows."""
    return Entry(lambda name, pairs, options: [Column(name, value=make(pairs, options))], read_pairs, [])


def _of_gains(value: Callable[..., Array]) -> Entry:
    """Return one value of gains."""
    return _of_pairs(lambda pairs, options: partial(value, gains=_gains(pairs, options)))


def _gains(pairs: Pairs, options: Options) -> Gains:
    return Gains(read_gains(pairs, options.compat))


def _relstring(name: str, numbers: list[float], _: Options) -> list[Column]:
    return [Column(name, "relstring", length=max(int(to_c_integer(numbers[0])), 0))]


TABLE: dict[str, Entry] = {
    "runid": _of_run("runid"),
    "num_q": _of_run("num_q"),
    "num_ret": _of_run("sum", num_ret),
    "num_rel": _of_level(num_rel, "sum"),
    "num_rel_ret": _of_level(num_rel_ret, "sum"),
    "map": _binary(AP),
    "gm_map": _binary(AP, "geometric"),
    "Rprec": _binary(Rprec),
    "bpref": _binary(bpref),
    "recip_rank": _binary(RR),
    "iprec_at_recall": _levels(iprec_at_recall, TENTHS),
    "P": _at_cutoffs(P),
    "relstring": Entry(_relstring, read_numbers, (10.0,)),
    "recall": _at_cutoffs(R),
    "infAP": _binary(infAP),
    "gm_bpref": _binary(bpref, "geometric"),
    "Rprec_mult": _levels(Rprec_mult, FIFTHS),
    "utility": _of_numbers(utility, (1.0, -1.0, 0.0, 0.0)),
    "11pt_avg": _of_numbers(eleven_points, TENTHS),
    "binG": _binary(binG),
    "G": _of_gains(G),
    "dcg": _of_gains(dcg),
    "ideal_dcg": _of_gains(ideal_dcg),
    "ndcg": _of_gains(ndcg),
    "ndcg_rel": _of_gains(ndcg_rel),
    "Rndcg": _of_pairs(lambda pairs, o: partial(Rndcg, gains=_gains(pairs, o), options=o)),
    "ndcg_cut": _at_cutoffs(nDCG, binary=False),
    "map_cut": _at_cutoffs(AP),
    "relative_P": _at_cutoffs(RelativeP),
    "success": _at_cutoffs(Success, (1, 5, 10)),
    "set_P": _binary(P),
    "set_relative_P": _binary(RelativeP),
    "set_recall": _binary(R),
    "set_map": _of_level(set_map),
    "set_F": _of_numbers(set_F, (1.0,)),
    "num_nonrel_judged_ret": _of_level(num_nonrel_judged_ret, "sum"),
    "map_avgjg": _over_groups(_binary(AP)),
    "P_avgjg": _over_groups(_at_cutoffs(P)),
    "Rprec_mult_avgjg": _over_groups(_levels(Rprec_mult, FIFTHS)),
    "yaap": _of_level(yaap),
    "rbp": _of_pairs(lambda pairs, o: partial(rbp, gains=_gains(pairs, o), p=read_persistence(pairs))),
    "rbp_resid": _of_pairs(lambda pairs, _: partial(rbp_resid, p=read_persistence(pairs))),
    "unj": _at_cutoffs(Unjudged, (5, 10, 20), binary=False),
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
    title = name if entry.read in (read_cutoffs, read_levels) else f"{name}_{text}"
    return entry.columns(title, entry.read(name, text), options)


def _check_name(name: str, compat: int) -> str:
    if name.startswith("prefs_") or name in PREFERENCES:
        raise Quit(USAGE, f"-m {name}: measures of preference judgments are not supported, only those of qrels")
    if compat == 9 and name in NEW:
        raise Quit(USAGE, f"-m {name}: there is no such measure in trec_eval 9; use --compat 10")
    if name not in TABLE:
        hint = did_you_mean(name, TABLE)
        raise Quit(USAGE, f"-m {name}: no such measure.{hint} Cut-offs follow a dot, as in P.5,10; `-h` lists all")
    return name
