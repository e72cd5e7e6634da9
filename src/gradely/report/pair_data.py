"""The tests of all pairs, as small as a page can have them.

Where the page holds every query, its script computes difference, interval, effect size and wins from the values of the
queries; only what it cannot compute is shipped: p-values, and how many standard errors an interval reaches. Where it
holds some of the queries, those numbers are shipped, too, as far as there is room.
"""

from typing import Any

import numpy as np

from gradely.comparison.equivalence import chances
from gradely.comparison.influence import FEWEST, Influence
from gradely.comparison.pairs import Pairs, count_wins, differences, effect_sizes
from gradely.comparison.pairwise import Pairwise, to_optional
from gradely.data.types import Floats

NUMBERS = 450_000
"""so many numbers about pairs a page holds; beyond, only the first measures have them"""
TURNING = 5_000_000
"""so many tests without a query are made: 20 bytes each, and a second in all; beyond, a page does not have them"""
NAMED = 5
"""so many of the queries that change a verdict are named"""
FEW, MANY = 7, 12
"""decimals of the values of queries: a page is smaller with few, and some differences are lost then"""


def digits_for(values: Floats, pairs: Pairs) -> int:
    """Return how many decimals the values [measures, queries, runs] need for pairs to have the same wins and spread."""
    rounded = values.round(FEW)
    for table, short in zip(values, rounded, strict=True):
        exact, near = differences(table, pairs), differences(short, pairs)
        if not len(pairs) or not len(exact):
            continue
        spread = np.ptp(near, axis=0) > 2.5 * 10.0**-FEW
        if np.any(np.sign(exact) != np.sign(near)) or np.any(spread != (np.ptp(exact, axis=0) > 0)):
            return MANY
    return FEW


def pair_data(pairwise: Pairwise, influence: Influence, *, complete: bool) -> dict[str, Any]:
    """Return the tests of the pairs, and what single queries do; `complete` says that the page holds every query."""
    kinds = 2 + (4 if pairwise.design.rope is not None else 0) + (0 if complete else 5)
    room = NUMBERS // max(1, kinds * len(pairwise.pairs))
    shipped = range(len(pairwise.measures))[:room] if len(pairwise.pairs) else range(0)
    explicit = bool(pairwise.design.baselines)
    return {
        "tested": len(pairwise.pairs),
        "first": pairwise.pairs.first.tolist() if explicit else None,
        "second": pairwise.pairs.second.tolist() if explicit else None,
        "p": [pack_p_values(pairwise.p[m], pairwise.design.alpha) for m in shipped],
        "adjusted": [pack_p_values(pairwise.adjusted[m], pairwise.design.alpha) for m in shipped],
        "reach": to_optional(np.asarray(pairwise.reaches)),
        "numbers": None if complete else [_numbers(pairwise, m) for m in shipped],
        "equivalence": [_equivalence(pairwise, m) for m in shipped] if pairwise.design.rope is not None else None,
        "turning": _count_turning_queries(influence) if complete and len(shipped) == len(pairwise.measures) else None,
    }


def pack_p_values(values: Floats, alpha: float) -> str:
    """Return p-values as one text, three digits each; none crosses alpha by rounding, none has a 0 before its point.

    Below 0.0001 a page shows no digits, and two are enough to sort by.

    >>> pack_p_values(np.array([0.25, 1.0, 0.0499999, 1.234e-7]), 0.05)
    '.25 1 .0499999 1.2e-7'
    """
    return " ".join(_format_p(value, alpha) for value in values.tolist())


def _format_p(value: float, alpha: float) -> str:
    text = f"{value:.3g}" if value >= 0.0001 else f"{value:.2g}".replace("e-0", "e-")
    return (text if (float(text) < alpha) == (value < alpha) else repr(value)).removeprefix("0") or "0"


def _numbers(pairwise: Pairwise, m: int) -> list[list[float | None]]:
    """Return low, high, effect size, wins and losses of each pair, by one measure; no effect size is infinite here."""
    differ = pairwise.by_query(m)
    wins, _, losses = (count.tolist() for count in count_wins(differ))
    effect = np.clip(effect_sizes(differ), -1e300, 1e300)
    low, high = (to_optional(end.round(7)) for end in pairwise.intervals[m])
    return [low, high, [float(f"{value:.3g}") for value in effect.tolist()], wins, losses]


def _equivalence(pairwise: Pairwise, m: int) -> list[str]:
    """Return the corrected p-values of TOST, and the chances of better, equal and worse, each as one text."""
    three = chances(pairwise.by_query(m), float(pairwise.design.rope or 0))
    alpha = pairwise.design.alpha
    return [
        pack_p_values(pairwise.tost_adjusted[m], alpha),
        *(pack_p_values(np.nan_to_num(part, nan=-1.0), 0.0) for part in three),
    ]


def _count_turning_queries(influence: Influence) -> list[dict[str, list[int]]] | None:
    """Return, by measure and pair, how many queries change the verdict if left out, and the first of them.

    None where that was not looked for: only t is tested again without each query: it has a closed form.
    """
    pairwise, queries = influence.pairwise, len(influence.queries)
    if pairwise.design.test != "t" or queries < FEWEST or queries * pairwise.p.size > TURNING:
        return None
    rows: list[dict[str, list[int]]] = []
    for m in range(len(pairwise.measures)):
        changed = influence.changes[:, m]
        turned = np.flatnonzero(changed.any(axis=0)).tolist()
        every = {pair: np.flatnonzero(changed[:, pair]).tolist() for pair in turned}
        rows.append({str(pair): [len(queries), *queries[:NAMED]] for pair, queries in every.items()})
    return rows
