"""The measures of trec_eval, in its order, with their parameters and columns."""

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
"""computes a column for each query; the functions below become Values by `partial`"""
DEEPEST = 2.0**53
"""a depth beyond the end of every ranking"""
LEAST = -(2.0**63)
"""the least integer of C, to which C converts NaN and numbers that are too large"""


def num_ret(batch: Batch) -> Array:
    """Return the number of retrieved documents."""
    return batch.to_real(batch.retrieved)


def num_rel(batch: Batch, options: Options) -> Array:
    """Return the number of relevant documents in the pool."""
    return P(rel=options.level).recall_base(batch)


def num_rel_ret(batch: Batch, options: Options) -> Array:
    """Return the number of retrieved documents that are relevant."""
    return sum_rows(batch.to_real(P(rel=options.level).relevant(batch)))


def num_nonrel_judged_ret(batch: Batch, options: Options) -> Array:
    """Return the number of retrieved documents that are judged not relevant."""
    return sum_rows(batch.to_real(batch.judged & (batch.grade >= 0) & (batch.grade < options.level)))


def to_c_integer(number: Array) -> Array:
    """Return numbers as C converts them to integers: those that are not finite or too large become LEAST."""
    return np.where(np.abs(number) < -LEAST, number, LEAST)


def quotient(above: Array, below: Array) -> Array:
    """Return a quotient, or 0 where the divisor is 0."""
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
    """Return the utility of the retrieved set."""
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
    """Return the precision at a multiple of the number of relevant documents.

    trec_eval walks up the ranking with the last multiple first, and never gets past one that is too large.
    """
    depth, waits = _needs(batch, options, number, later, "up")
    depth = np.clip(np.where(waits, 0, depth), 0, DEEPEST)
    inside = count_in_top(batch, P(rel=options.level).relevant(batch), depth.astype(np.int64)[:, None])
    return quotient(sum_rows(inside), depth)


def _needs(
    batch: Batch, options: Options, share: float, later: tuple[float, ...], rounding: str
) -> tuple[Array, Array]:
    """Return a share of the number of relevant documents, and whether a later share overflows."""
    relevant = num_rel(batch, options)
    needed = [to_c_integer(ROUNDING[rounding](batch, number * relevant)) for number in (share, *later)]
    return needed[0], np.any(np.stack(needed[1:] or [np.zeros_like(relevant)]) == LEAST, axis=0)


def iprec_at_recall(batch: Batch, options: Options, number: float, later: tuple[float, ...]) -> Array:
    """Return the interpolated precision at a level of recall, which need not lie between 0 and 1.

    trec_eval walks up the ranking with the last level first, and to the top for a level that overflows.
    """
    needed, waits = _needs(batch, options, number, later, options.rounding)
    relevant = IPrec(rel=options.level).relevant(batch)
    return sum_rows(best_precision(batch, relevant, np.where(waits, LEAST, needed), None))


def eleven_points(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return the mean of interpolated precision over levels of recall.

    trec_eval walks up the ranking with the last level first. If a level needs more relevant documents than a later one,
    it has already been passed, and trec_eval uses the best precision of all ranks.
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
"""approximate number of ranks to process at a time"""


class Gains:
    """The gains of levels: a level that is not listed is its own gain, and unjudged documents have none.

    If a level is listed several times, the lowest gain counts for retrieved documents, and the first one for the ideal
    ranking.
    """

    def __init__(self, pairs: list[tuple[int, float]]) -> None:
        """Take the listed levels and gains."""
        self.gains = [gain for _, gain in pairs]
        self.table = dict(reversed(pairs))
        self.lowest = {level: min(gain for other, gain in pairs if other == level) for level in self.table}

    def _gains_of(self, labels: Array, rows: Array, table: dict[int, float]) -> Array:
        listed = (np.where(labels == level, gain, 0.0) for level, gain in table.items())
        own = np.where(np.isin(labels, list(table)), 0.0, labels)
        return np.where(rows & (labels >= 0), reduce(np.add, listed, own), 0.0)

    def retrieved_gains(self, batch: Batch) -> Array:
        """Return the gain of each judged document that is retrieved, [Q, H]."""
        return self._gains_of(batch.grade, batch.judged, self.lowest)

    def ideal(self, batch: Batch) -> Array:
        """Return the gains of the pool, best first, with 0 for negative ones, [Q, B]."""
        return np.maximum(-np.sort(-self._gains_of(batch.pool, batch.pooled, self.table), axis=1), 0.0)

    def range(self, batch: Batch) -> tuple[Array, Array]:
        """Return the lowest and the highest gain of the levels from 0 to the best of the pool, each [Q, 1]."""
        best, inverse = np.unique(np.where(batch.pooled, batch.pool, -1.0).max(axis=1), return_inverse=True)
        spans = np.array([self._span(int(level)) for level in best])[inverse]
        return spans[:, :1], spans[:, 1:]

    def _span(self, best: int) -> tuple[float, float]:
        low = next((level for level in range(best + 1) if level not in self.table), None)
        high = next((level for level in range(best, -1, -1) if level not in self.table), None)
        levels = [*self.gains, *(level for level in (low, high) if level is not None)]
        return min(levels, default=0.0), max(levels, default=0.0)


def running_gains(batch: Batch, gain: Array) -> Array:
    """Return the discounted gains of the first 0, 1, … columns in rank order, [Q, H+1]."""
    return np.cumulative_sum(additive(batch, gain, log2, None), axis=1, include_initial=True)


def running_ideal(batch: Batch, gains: Gains) -> Array:
    """Return the discounted gains of the first 0, 1, … places of the ideal ranking, [Q, B+1]."""
    ideal = gains.ideal(batch)
    rank = np.arange(1, ideal.shape[1] + 1, dtype=np.float64)
    return np.cumulative_sum(ideal / log2(batch, rank), axis=1, include_initial=True)


def dcg(batch: Batch, gains: Gains) -> Array:
    """Return the discounted cumulative gain."""
    return running_gains(batch, gains.retrieved_gains(batch))[:, -1]


def ideal_dcg(batch: Batch, gains: Gains) -> Array:
    """Return the discounted cumulative gain of the ideal ranking."""
    return running_ideal(batch, gains)[:, -1]


def ndcg(batch: Batch, gains: Gains) -> Array:
    """Return DCG over ideal DCG."""
    return quotient(dcg(batch, gains), ideal_dcg(batch, gains))


def G(batch: Batch, gains: Gains) -> Array:
    """Return the gain, discounted by the gain missed above, over the ideal gain."""
    ideal = gains.ideal(batch)
    ones = batch.xp.zeros_like(ideal[:, :1])  # exponents: the units of the gains are 1
    return quotient(sum_rows(gain_over_missed(batch, gains.retrieved_gains(batch), ideal, ones)), sum_rows(ideal))


def ndcg_rel(batch: Batch, gains: Gains) -> Array:
    """Return the mean of ndcg at the ranks of documents with a gain; those not retrieved count with the last value."""
    gain, ideal = gains.retrieved_gains(batch), running_ideal(batch, gains)
    sums, places = running_gains(batch, gain), np.minimum(batch.above + 1, ideal.shape[1] - 1)
    at = np.where(gain > 0, quotient(sums[:, 1:], ideal[batch.row, places]), 0.0)
    count = (gains.ideal(batch) > 0).sum(axis=1)
    missed = batch.to_real(count - (gain > 0).sum(axis=1))
    added = sum_rows(at) + quotient(missed * sums[:, -1], ideal[:, -1])
    return np.where(added > 0, quotient(added, batch.to_real(count)), 0.0)


def Rndcg(batch: Batch, gains: Gains, options: Options) -> Array:
    """Return the mean of ndcg at the ranks where the ideal gain decreases, and at the end of longer rankings."""
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
    """Return rank-biased precision; gains are scaled to 0 … 1 for queries in which some lie outside."""
    low, high = gains.range(batch)
    gain, outside = gains.retrieved_gains(batch), (low < 0) | (high > 1)
    judged = batch.judged & (batch.grade >= 0)
    scaled = np.where(judged, quotient(gain - low, high - low), 0.0)
    return (1.0 - p) * sum_rows(np.where(outside, scaled, gain) * _patience(p, batch.depth)[batch.above])


def rbp_resid(batch: Batch, p: float) -> Array:
    """Return the increase of rank-biased precision if all unjudged documents were relevant."""
    depth = int(batch.retrieved.max())
    patience = _patience(p, depth + 1)
    step = max(1, CELLS // (depth + 1))
    starts = range(0, len(batch.retrieved), step)
    parts = [_residual(batch, slice(i, i + step), patience, depth) for i in starts]
    incomplete = batch.retrieved > (batch.judged & (batch.grade >= 0)).sum(axis=1)
    return np.where(incomplete, patience[batch.retrieved] + (1 - p) * np.concatenate(parts), 0.0)


def _residual(batch: Batch, rows: slice, patience: Array, depth: int) -> Array:
    """Return, for some queries, the sum of p^(i-1) over the unjudged ranks i, added in rank order."""
    open_places = np.arange(depth) < batch.retrieved[rows, None]
    query, column = np.nonzero((batch.judged & (batch.grade >= 0))[rows])
    open_places[query, batch.above[rows][query, column]] = False
    return np.cumulative_sum(np.where(open_places, patience[:depth], 0.0), axis=1, include_initial=True)[:, -1]


def _patience(p: float, depth: int) -> Array:
    """Return 1, p, p², … by repeated multiplication, as trec_eval does."""
    return np.cumulative_prod(np.full(max(depth - 1, 0), p), include_initial=True)


CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(i / 10 for i in range(11))
FIFTHS = tuple(i / 5 for i in range(1, 11))


class Column(NamedTuple):
    """A name that trec_eval prints, with its value of each query and the kind of its value over all queries."""

    name: str
    kind: str = "mean"
    """mean, sum or geometric (mean); or runid, num_q or relstring, which have no number per query"""
    value: Value | None = None
    length: int = 0
    """the length of a relstring"""
    by_group: bool = False
    """whether it is a mean over judgment groups, which only one format of judgments has"""


class Entry(NamedTuple):
    """A measure: its columns, the parser of its parameters, and their defaults."""

    columns: Callable[[str, Any, Options], list[Column]]
    read: Callable[[str, str], Any] | None = None
    default: Any = None


def _of_run(kind: str, value: Value | None = None) -> Entry:
    """Return an entry that does not depend on relevance."""
    return Entry(lambda name, *_: [Column(name, kind, value)])


def _of_level(value: Callable[..., Array], kind: str = "mean") -> Entry:
    """Return an entry that depends on which documents are relevant."""
    return Entry(lambda name, _, options: [Column(name, kind, partial(value, options=options))])


def _binary(measure: Any, kind: str = "mean") -> Entry:
    """Return an entry for a binary measure of gradely."""
    return Entry(lambda name, _, options: [Column(name, kind, measure(rel=options.level).compute)])


def _at_cutoffs(measure: Any, default: tuple[int, ...] = CUTOFFS, *, binary: bool = True) -> Entry:
    """Return an entry for a measure of gradely at cut-offs."""

    def columns(name: str, numbers: list[int], options: Options) -> list[Column]:
        instance = measure(rel=options.level) if binary else measure()
        return [Column(f"{name}_{k}", value=instance.replace(k=k).compute) for k in numbers]

    return Entry(columns, read_cutoffs, default)


def _levels(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return an entry with real-valued levels, each of which may depend on later ones; long names are cut off."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        out = []
        for i, number in enumerate(numbers):
            title = f"{name}_{number:3.2f}"[: len(name) + 9]  # with the underscore
            later = tuple(numbers[i + 1 :])
            out.append(Column(title, value=partial(value, options=options, number=number, later=later)))
        return out

    return Entry(columns, read_levels, default)


def _over_groups(entry: Entry) -> Entry:
    """Return an entry for the mean of a measure over judgment groups."""

    def columns(name: str, numbers: Any, options: Options) -> list[Column]:
        return [column._replace(by_group=True) for column in entry.columns(name, numbers, options)]

    return entry._replace(columns=columns)


def _of_numbers(value: Callable[..., Array], default: tuple[float, ...]) -> Entry:
    """Return an entry with numbers as parameters, which its name shows."""

    def columns(name: str, numbers: Sequence[float], options: Options) -> list[Column]:
        return [Column(name, value=partial(value, options=options, numbers=numbers))]

    return Entry(columns, read_numbers, default)


def _of_pairs(make: Callable[[Pairs, Options], Value]) -> Entry:
    """Return an entry with (key, number) pairs as parameters, which its name shows."""
    return Entry(lambda name, pairs, options: [Column(name, value=make(pairs, options))], read_pairs, [])


def _of_gains(value: Callable[..., Array]) -> Entry:
    """Return an entry with gains as parameters."""
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
"""the measures by name, in the order of trec_eval's output"""
NEW = ("rbp", "rbp_resid", "unj")
"""measures that only version 10 has"""
OFFICIAL = tuple(TABLE)[: tuple(TABLE).index("relstring")]
GROUPS = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
BY_NAME_ONLY = ("dcg", "ideal_dcg", "yaap", *GROUPS)
RUN = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
SETS = (*RUN, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")


def nickname(name: str, compat: int) -> tuple[str, ...] | None:
    """Return the measures that a nickname stands for, or None if it is not a nickname."""
    names = tuple(measure for measure in TABLE if measure not in BY_NAME_ONLY and (compat == 10 or measure not in NEW))
    return {"official": OFFICIAL, "set": SETS, "all_trec": names, GROUPED: ("runid", "num_q", *GROUPS)}.get(name)


def select_columns(options: Options) -> list[Column]:
    """Return the columns of the selected measures; if parameters are given twice, the first ones count."""
    texts: dict[str, str] = {}
    for measure in options.measures:
        name, dot, text = measure.partition(".")
        if dot:
            texts.setdefault(name, text)
    return [column for name in select_names(options) for column in _columns(name, texts.get(name), options)]


def select_names(options: Options) -> list[str]:
    """Return the selected measures in the order of trec_eval."""
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
    if name.startswith("prefs_") or name in ("prefs", "all_prefs"):
        raise Quit(USAGE, f"-m {name}: measures of preference judgments are not supported, only those of qrels")
    if compat == 9 and name in NEW:
        raise Quit(USAGE, f"-m {name}: there is no such measure in trec_eval 9; use --compat 10")
    if name not in TABLE:
        hint = did_you_mean(name, TABLE)
        raise Quit(USAGE, f"-m {name}: no such measure.{hint} Cut-offs follow a dot, as in P.5,10; `-h` lists all")
    return name
