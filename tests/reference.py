"""Every measure again, slow and plain, straight from the definitions: the oracle of the tests.

A ranking is a list of labels, best rank first; None is an unjudged document. A pool is the list of the labels of all
judged documents. `top` and `levels` are those of the collection. Nothing here knows of ties, arrays or speed.
"""

from fractions import Fraction
from functools import cache
from math import fsum, inf, log, log2, log10

from scipy.interpolate import PchipInterpolator
from scipy.special import polygamma

Ranking = list[float | None]
Pool = list[float]


def cut(ranking, k):
    return ranking if k is None else ranking[:k]


def is_relevant(label, rel):
    return label is not None and label >= rel


def recall_base(pool, rel):
    return sum(label >= rel for label in pool)


def hits(ranking, rel, k):
    return sum(is_relevant(label, rel) for label in cut(ranking, k))


def P(ranking, pool, rel=1, relevance=None, top=None, k=None):
    size = k or len(ranking)
    if relevance is not None:
        return sum(cut(relevances(ranking, pool, relevance)[0], k)) / top / size if size else 0
    return hits(ranking, rel, k) / size if size else 0


def R(ranking, pool, rel=1, relevance=None, k=None):
    if relevance is not None:
        ranking, pool = relevances(ranking, pool, relevance)
        return sum(cut(ranking, k)) / sum(pool) if sum(pool) else 0
    base = recall_base(pool, rel)
    return hits(ranking, rel, k) / base if base else 0


def SetAP(ranking, pool, rel=1, k=None):
    return P(ranking, pool, rel, k=k) * R(ranking, pool, rel, k=k)


def F1(ranking, pool, rel=1, k=None):
    size = (k or len(ranking)) + recall_base(pool, rel)
    return 2 * hits(ranking, rel, k) / size if size else 0


def Success(ranking, pool, rel=1, k=None):
    return float(hits(ranking, rel, k) > 0)


def Judged(ranking, pool, k=None):
    top = cut(ranking, k)
    return sum(label is not None for label in top) / len(top) if top else 0


def RR(ranking, pool, rel=1, k=None):
    for rank, label in enumerate(cut(ranking, k), 1):
        if is_relevant(label, rel):
            return 1 / rank
    return 0


def AP(ranking, pool, rel=1, k=None):
    base = recall_base(pool, rel)
    return ap_numerator(ranking, rel, k) / base if base else 0


def ap_numerator(ranking, rel, k):
    found, total = 0, 0.0
    for rank, label in enumerate(cut(ranking, k), 1):
        if is_relevant(label, rel):
            found += 1
            total += found / rank
    return total


def bpref(ranking, pool, rel=1, k=None):
    base = recall_base(pool, rel)
    opposed = sum(0 <= label < rel for label in pool)
    above, total = 0, 0.0
    for label in cut(ranking, k):
        if is_relevant(label, rel):
            total += 1 if above == 0 else 1 - min(above, base) / min(base, opposed)
        elif label is not None and label >= 0:
            above += 1
    return total / base if base else 0


def F(ranking, pool, x=1, rel=1, k=None):
    found, size, base = hits(ranking, rel, k), k or len(ranking), recall_base(pool, rel)
    if not found:
        return 0
    p, r = found / size, found / base
    return (x + 1) * p * r / (r + x * p)


def RelativeP(ranking, pool, rel=1, k=None):
    most = min(k or len(ranking), recall_base(pool, rel))
    return hits(ranking, rel, k) / most if most else 0


def Rprec(ranking, pool, rel=1, k=None):
    base = recall_base(pool, rel)
    return hits(ranking, rel, min(base, k or base)) / base if base else 0


def Unjudged(ranking, pool, k=None):
    size = k or len(ranking)
    return sum(label is None or label < 0 for label in cut(ranking, k)) / size if size else 0


def Utility(ranking, pool, a=1, b=-1, c=0, d=0, size=0, rel=1, k=None):
    retrieved, found, base = len(cut(ranking, k)), hits(ranking, rel, k), recall_base(pool, rel)
    rest = size - retrieved - (base - found)
    return a * found + b * (retrieved - found) + c * (base - found) + d * rest


def infAP(ranking, pool, rel=1, k=None):
    base, total = recall_base(pool, rel), 0.0
    for i, label in enumerate(cut(ranking, k), 1):
        if is_relevant(label, rel):
            above = [other for other in ranking[: i - 1] if other is not None]
            r, n = sum(other >= rel for other in above), sum(0 <= other < rel for other in above)
            total += 1 / i
            if i > 1:
                total += (i - 1) / i * len(above) / (i - 1) * (r + 1e-5) / (r + n + 2e-5)
    return total / base if base else 0


def IPrec(ranking, pool, recall=tuple(i / 10 for i in range(11)), rounding="nearest", rel=1, k=None):
    base = recall_base(pool, rel)

    def at(level):
        documents = level * base
        needed = int(documents + 0.9) if rounding == "up" else int(documents) + (documents - int(documents) >= 0.5)
        ranks = range(1, len(cut(ranking, k)) + 1)
        return max((hits(ranking, rel, i) / i for i in ranks if hits(ranking, rel, i) >= needed), default=0)

    levels = recall if isinstance(recall, tuple) else (recall,)
    return sum(map(at, levels)) / len(levels)


def opa_of(levels):
    """Return the share of pairs of different levels in which the higher one stands first."""
    pairs = [(a, b) for i, a in enumerate(levels) for b in levels[i + 1 :] if a != b]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else 0


def AUC(ranking, pool, rel=1, k=None):
    return opa_of([is_relevant(label, rel) for label in cut(ranking, k)])


def OPA(ranking, pool, relevance="identity", k=None):
    return opa_of(cut(relevances(ranking, pool, relevance)[0], k))


def binG(ranking, pool, rel=1, k=None):
    base, against, total = recall_base(pool, rel), 0, 0.0
    for label in cut(ranking, k):
        if is_relevant(label, rel):
            total += 1 / log2(2 + against)
        else:
            against += 1
    return total / base if base else 0


def G(ranking, pool, relevance="identity", gain="linear", k=None):
    ranking, pool = relevances(ranking, pool, relevance)
    gains, ideal = ([gain_of(gain)(r) for r in each] for each in (ranking, pool))
    ideal.sort(reverse=True)
    found = cost = total = 0.0
    for i, g in enumerate(cut(gains, k)):
        found += g
        cost += max(1, ideal[i] if i < len(ideal) else 0)
        total += g / log2(2 + cost - found)
    return total / sum(ideal) if sum(ideal) else 0


def relevance_of(relevance, pool):
    """Return the function from a label to relevance for one query."""
    if relevance == "identity":
        return lambda label: label
    if relevance == "max":
        highest = max(pool, default=0)
        return lambda label: label / highest if highest > 0 else 0
    if relevance in ("phi", "phi_code"):
        return fitted(phi if relevance == "phi" else phi_code, tuple(pool))
    if isinstance(relevance, dict):
        return lambda label: relevance.get(label, 0)
    raise ValueError(relevance)


@cache
def fitted(curve, pool):
    """Return a curve for a pool, which remembers its values: SciPy takes its time."""
    return cache(curve(list(pool)))


def quantile(ordered, share):
    position = (len(ordered) - 1) * share
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def phi(pool):
    """Return φ of the paper, fitted to a pool."""
    ordered = sorted(pool)
    low, median, high = ordered[0], quantile(ordered, 0.5), ordered[-1]
    if low == high:
        return lambda y: 0.0
    if median == high:
        return lambda y: float(y == high)
    q1, q3 = quantile(ordered, 0.25), quantile(ordered, 0.75)
    fence = q3 + 1.5 * (q3 - q1)
    points = [(median, 0.0), (high, 1.0)]
    if low < median:
        points.insert(0, (low, 0.0))
    if median < fence < high:
        points.insert(-1, (fence, 1 - (high - fence) / (high - low)))
    curve = PchipInterpolator(*zip(*points, strict=True))
    return lambda y: 0.0 if y <= median else float(curve(y))


def phi_code(pool):
    """Return φ of the authors' own code, fitted to the positive scores of a pool."""
    ordered = sorted(y for y in pool if y > 0)
    if not ordered or min(pool) == ordered[-1]:
        return lambda y: 0.0
    n = len(ordered)
    depth = ((n + 3) // 2) / 2

    def number(d):
        return 0.5 * (ordered[int(d) - 1] + ordered[int(-(-d // 1)) - 1])

    lower, upper = number(depth), number(n + 1 - depth)
    median, high, low = number((n + 1) / 2), ordered[-1], ordered[0]
    if median == high:
        return lambda y: float(y == high)
    whisker = max(y for y in ordered if y <= upper + 1.5 * (upper - lower))
    points = [(0.0, 0.0), (median, 0.0), (high, 1.0)]
    if median < whisker < high:
        points.insert(-1, (whisker, 1 - (high - whisker) / (high - low)))
    curve = PchipInterpolator(*zip(*points, strict=True))
    return lambda y: 0.0 if y <= median else float(curve(y))


def relevances(ranking, pool, relevance):
    """Return ranking and pool with relevance in place of labels: never below 0, 0 for unjudged documents."""
    of = relevance_of(relevance, pool)
    return [0.0 if label is None else max(0.0, of(label)) for label in ranking], [max(0.0, of(label)) for label in pool]


def gain_of(gain):
    if isinstance(gain, dict):
        return lambda r: gain.get(r, 0)
    return {"linear": lambda r: r, "exp": lambda r: 2**r - 1}[gain]


DISCOUNT = {
    "log2": lambda i: log2(i + 1),
    "zipf": lambda i: i,
    "letor": lambda i: max(1, log2(i)),
    "jk10": lambda i: max(1, log10(i)),
    "jk(3)": lambda i: 1 if i < 3 else log(i, 3),
    "none": lambda i: 1,
}


def DCG(ranking, pool, relevance="identity", gain="linear", discount="log2", k=None):
    of = relevance_of(relevance, pool)
    gains = [0.0 if label is None else gain_of(gain)(max(0.0, of(label))) for label in ranking]
    return sum(g / DISCOUNT[discount](i) for i, g in enumerate(cut(gains, k), 1))


def nDCG(ranking, pool, relevance="identity", gain="linear", discount="log2", k=None):
    of = relevance_of(relevance, pool)
    ideal = sorted(pool, key=lambda label: gain_of(gain)(max(0.0, of(label))), reverse=True)
    best = DCG(ideal, pool, relevance, gain, discount, k)
    return DCG(ranking, pool, relevance, gain, discount, k) / best if best else 0


def NDCNG(ranking, pool, k=None):
    return nDCG(ranking, pool, "max", "exp", k=k)


def nDCGphi(ranking, pool, k=None):
    return nDCG(ranking, pool, "phi", "exp", k=k)


def RBP(ranking, pool, p=0.8, rel=1, relevance=None, top=None, k=None):
    if relevance is None:
        worth = [float(is_relevant(label, rel)) for label in ranking]
    else:
        worth = [r / (top or 1) for r in relevances(ranking, pool, relevance)[0]]
    return (1 - p) * sum(w * p ** (i - 1) for i, w in enumerate(cut(worth, k), 1))


def RBPresidual(ranking, pool, p=0.8, k=None):
    top = cut(ranking, k)
    unjudged = sum(p ** (i - 1) for i, label in enumerate(top, 1) if label is None or label < 0)
    return (1 - p) * unjudged + p ** len(top)


def SDCG(ranking, pool, relevance="identity", top=1, k=None):
    worth = [r / top for r in relevances(ranking, pool, relevance)[0]]
    full = sum(1 / log2(i + 1) for i in range(1, (k or len(ranking)) + 1))
    return sum(w / log2(i + 1) for i, w in enumerate(cut(worth, k), 1)) / full


def Compat(ranking, pool, relevance="identity", *, p=0.95, normalize=True, k=None):
    ranking, pool = relevances(ranking, pool, relevance)
    run = list(enumerate(cut(ranking, k)))
    missed = list(pool)
    for _, label in run:
        if label in missed:
            missed.remove(label)
    documents = run + [(-1 - i, label) for i, label in enumerate(missed)]
    ideal = [document for document in sorted(documents, key=lambda document: -document[1]) if document[1] > 0]
    if not ideal:
        return 0
    depths = range(1, max(len(run), len(ideal)) + 1)

    def overlap(one):
        return sum(p ** (d - 1) * len({*one[:d]} & {*ideal[:d]}) / d for d in depths)

    return overlap(run) / (overlap(ideal) if normalize else sum(p ** (d - 1) for d in depths))


def rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, tail):
    """Return Σ g W of a user who goes on from rank i with a chance, by the gain there and so far.

    `tail(n, gained)` is the sum of the chances to reach the ranks behind n, once there, where nothing is gained.
    """
    gains = [r / top for r in relevances(ranking, pool, relevance)[0]]
    gains = [g if (k is None or i < k) and (depth is None or i < depth) else 0 for i, g in enumerate(gains)]
    ranks = range(1, (depth or len(gains)) + 1)
    reach, gained, looked, total = 1.0, 0.0, 0.0, 0.0
    for i in ranks:
        g = gains[i - 1] if i <= len(gains) else 0
        gained += g
        looked += reach
        total += reach * g
        reach *= go_on(i, g, gained)
    return total / (looked + (reach * tail(len(gains), gained) if depth is None else 0))


def INSQ(ranking, pool, relevance="identity", top=1, depth=None, T=1, k=None):
    go_on = lambda i, g, gained: ((i + 2 * T - 1) / (i + 2 * T)) ** 2
    tail = lambda n, gained: (n + 2 * T) ** 2 * polygamma(1, n + 2 * T)
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, tail)


def INST(ranking, pool, relevance="identity", top=1, depth=None, T=1, k=None):
    def go_on(i, g, gained):
        s = 2 * T - gained
        return ((i + s - 1) / (i + s)) ** 2

    tail = lambda n, gained: (n + 2 * T - gained) ** 2 * polygamma(1, n + 2 * T - gained)
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, tail)


def NERR8(ranking, pool, relevance="identity", top=1, depth=None, k=None):
    end = k or len(ranking)
    go_on = lambda i, g, gained: 1 - g if i < end else 0
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, lambda n, gained: max(0, end - n))


def NERR9(ranking, pool, relevance="identity", top=1, depth=None, k=None):
    end = k or len(ranking)
    go_on = lambda i, g, gained: i / (i + 1) * (1 - g) if i < end else 0
    tail = lambda n, gained: sum((n + 1) / i for i in range(n + 1, end + 1))
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, tail)


def NERR10(ranking, pool, relevance="identity", top=1, depth=None, p=0.9, k=None):
    go_on = lambda i, g, gained: p * (1 - g)
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, lambda n, gained: 1 / (1 - p))


def NERR11(ranking, pool, relevance="identity", top=1, depth=None, T=1, k=None):
    go_on = lambda i, g, gained: ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - g)
    tail = lambda n, gained: (n + 2 * T) ** 2 * polygamma(1, n + 2 * T)
    return rate_of_gain(ranking, pool, relevance, top, depth, k, go_on, tail)


def BPM(ranking, pool, relevance="identity", top=1, depth=None, T=1, k=None):
    end = min(k or len(ranking), depth or inf)
    gained = Fraction(0)
    for i, r in enumerate(relevances(ranking, pool, relevance)[0], 1):
        gained += Fraction(r)
        if gained >= Fraction(T * top) or i == end:
            return float(gained) / top / i
    return float(gained) / top / end


def satisfaction(ranking, pool, relevance, gain, top):
    """Return the chance that each document satisfies: of the ranking, and of the pool, best first."""
    highest = max(gain.values()) if isinstance(gain, dict) else gain_of(gain)(top)
    ranking, pool = relevances(ranking, pool, relevance)
    stops, ideal = ([gain_of(gain)(r) / (highest + 1) for r in labels] for labels in (ranking, pool))
    return stops, sorted(ideal, reverse=True)


def walk(stops, worth):
    """Return what a user gains who stops at each rank with a chance, and gains what the rank is worth."""
    reach, total = 1.0, 0.0
    for i, stop in enumerate(stops, 1):
        total += reach * stop * worth(i)
        reach *= 1 - stop
    return total


def ERR(ranking, pool, relevance="identity", gain="exp", top=1, k=None):
    return walk(cut(satisfaction(ranking, pool, relevance, gain, top)[0], k), lambda i: 1 / i)


def nERR(ranking, pool, relevance="identity", gain="exp", top=1, k=None):
    best = walk(cut(satisfaction(ranking, pool, relevance, gain, top)[1], k), lambda i: 1 / i)
    return ERR(ranking, pool, relevance, gain, top, k) / best if best else 0


def iRBU(ranking, pool, relevance="identity", gain="exp", top=1, p=0.99, k=None):
    return walk(cut(satisfaction(ranking, pool, relevance, gain, top)[0], k), lambda i: p**i)


def blended_ratios(ranking, pool, relevance, gain, beta, k):
    """Return the blended ratio at each relevant rank, by rank, and the gains down to the cut-off."""
    ranking, pool = relevances(ranking, pool, relevance)
    gains, ideal = ([gain_of(gain)(r) for r in labels] for labels in (ranking, pool))
    ideal.sort(reverse=True)
    gains, ratios = cut(gains, k), {}
    for i in range(1, len(gains) + 1):
        found, gained, best = sum(g > 0 for g in gains[:i]), sum(gains[:i]), sum(ideal[:i])
        if gains[i - 1] > 0:
            ratios[i] = gained / best if beta == inf else (found + beta * gained) / (i + beta * best)
    return ratios, gains


def Q(ranking, pool, relevance="identity", gain="linear", beta=1, k=None):
    ratios, _ = blended_ratios(ranking, pool, relevance, gain, beta, k)
    base = sum(gain_of(gain)(r) > 0 for r in relevances(ranking, pool, relevance)[1])
    return sum(ratios.values()) / min(base, k or base) if base else 0


def Pplus(ranking, pool, relevance="identity", gain="linear", beta=1, k=None):
    ratios, gains = blended_ratios(ranking, pool, relevance, gain, beta, k)
    if not ratios:
        return 0
    last = gains.index(max(gains)) + 1
    reached = [ratio for rank, ratio in ratios.items() if rank <= last]
    return sum(reached) / len(reached)


def spread(top):
    """Return users whose thresholds lie evenly between 0 and the top: a function from a pool to {level: share}."""

    def users(pool):
        levels = sorted({r for r in pool if r > 0})
        return {level: (level - below) / top for level, below in zip(levels, [0.0, *levels], strict=False)}

    return users


def GAP(ranking, pool, g, relevance="identity", k=None):
    """`g` is a table {level: share}, or a function that makes one for a pool."""
    ranking, pool = relevances(ranking, pool, relevance)
    g = g(pool) if callable(g) else g
    norm = sum(share * recall_base(pool, level) for level, share in g.items())
    return sum(share * ap_numerator(ranking, level, k) for level, share in g.items()) / norm if norm else 0


def eGAP(ranking, pool, g, relevance="identity", k=None):
    ranking, pool = relevances(ranking, pool, relevance)
    g = g(pool) if callable(g) else g
    return sum(
        share * ap_numerator(ranking, level, k) / recall_base(pool, level)
        for level, share in g.items()
        if recall_base(pool, level)
    )


def xGAP(ranking, pool, g, relevance="identity", k=None):
    """The definition with Δ, not the rearranged sum."""
    ranking, pool = relevances(ranking, pool, relevance)
    g = g(pool) if callable(g) else g

    def w(r):
        users = sum(share for level, share in g.items() if level <= r)
        return sum(share / recall_base(pool, level) for level, share in g.items() if level <= r) / users if users else 0

    def delta(a, b):
        return sum(share for level, share in g.items() if level <= min(a, b))

    return sum(
        w(ranking[n]) * sum(delta(ranking[m], ranking[n]) for m in range(n + 1)) / (n + 1)
        for n in range(len(cut(ranking, k)))
        if ranking[n] > 0
    )


def muAP(ranking, pool, relevance="identity", k=None):
    ranking, pool = relevances(ranking, pool, relevance)
    levels = sorted({r for r in pool if r > 0})
    distances = [level - below for level, below in zip(levels, [0.0, *levels], strict=False)]
    return (
        sum(d * AP(ranking, pool, level, k) for level, d in zip(levels, distances, strict=True)) / sum(distances)
        if levels
        else 0
    )


# Measures of judgments by subtopic. A ranking holds {subtopic: label} of each document, None where it is not judged; so
# does the pool, in which all are judged.


def subtopics_of(pool, rel):
    """Return the subtopics with a relevant document, in order; no others count."""
    return sorted({name for document in pool for name, label in document.items() if label >= rel})


def is_relevant_to(document, name, rel):
    return document is not None and name in document and document[name] >= rel


def novelty(ranking, pool, alpha, rel, discount, k):
    """Return Σ over ranks of Σ over subtopics of (1-α)^(relevant ones above) / discount."""
    total = 0.0
    for name in subtopics_of(pool, rel):
        seen = 0
        for i, document in enumerate(cut(ranking, k), 1):
            if is_relevant_to(document, name, rel):
                total += (1 - alpha) ** seen / discount(i)
                seen += 1
    return total


def greedy(pool, alpha, rel):
    """Return the pool in the order of the greedy ideal; of equal gains, the largest labels first."""
    names = sorted({name for document in pool for name in document})
    left = sorted(pool, key=lambda document: [document.get(name, -inf) for name in names], reverse=True)
    seen, order = dict.fromkeys(names, 0), []
    while left:
        gains = [
            sum(Fraction(1 - alpha) ** seen[name] for name in names if is_relevant_to(document, name, rel))
            for document in left
        ]
        chosen = left.pop(gains.index(max(gains)))
        for name in names:
            seen[name] += is_relevant_to(chosen, name, rel)
        order.append(chosen)
    return order


def full(alpha, discount, k):
    """Return the sum over ranks if every document were relevant to a subtopic."""
    return fsum((1 - alpha) ** (i - 1) / discount(i) for i in range(1, (k or 400) + 1))


def over(value, norm):
    return value / norm if norm > 0 else 0.0


def log2_of_next(i):
    return log2(i + 1)


def alpha_DCG(ranking, pool, alpha=0.5, *, normalize=True, rel=1, k=None):
    value = novelty(ranking, pool, alpha, rel, log2_of_next, k)
    return over(value, len(subtopics_of(pool, rel)) * full(alpha, log2_of_next, k)) if normalize else value


def alpha_nDCG(ranking, pool, alpha=0.5, rel=1, k=None):
    ideal = novelty(greedy(pool, alpha, rel), pool, alpha, rel, log2_of_next, k)
    return over(novelty(ranking, pool, alpha, rel, log2_of_next, k), ideal)


def ERR_IA(ranking, pool, alpha=0.5, *, normalize=True, rel=1, k=None):
    value = novelty(ranking, pool, alpha, rel, float, k)
    return over(value, len(subtopics_of(pool, rel)) * full(alpha, float, k)) if normalize else value


def nERR_IA(ranking, pool, alpha=0.5, rel=1, k=None):
    ideal = novelty(greedy(pool, alpha, rel), pool, alpha, rel, float, k)
    return over(novelty(ranking, pool, alpha, rel, float, k), ideal)


def NRBP(ranking, pool, alpha=0.5, beta=0.5, *, normalize=True, rel=1, k=None):
    value = novelty(ranking, pool, alpha, rel, lambda i: beta ** (1 - i), k)
    return over(value * (1 - (1 - alpha) * beta), len(subtopics_of(pool, rel))) if normalize else value


def nNRBP(ranking, pool, alpha=0.5, beta=0.5, rel=1, k=None):
    ideal = novelty(greedy(pool, alpha, rel), pool, alpha, rel, lambda i: beta ** (1 - i), k)
    return over(novelty(ranking, pool, alpha, rel, lambda i: beta ** (1 - i), k), ideal)


def over_subtopics(measure, ranking, pool, rel, k):
    """Return the mean of a binary measure over subtopics."""
    names = subtopics_of(pool, rel)
    values = [
        measure(
            [int(is_relevant_to(document, name, rel)) for document in ranking],
            [int(is_relevant_to(document, name, rel)) for document in pool],
            k=k,
        )
        for name in names
    ]
    return over(sum(values), len(names))


def AP_IA(ranking, pool, rel=1, k=None):
    return over_subtopics(AP, ranking, pool, rel, k)


def P_IA(ranking, pool, rel=1, k=None):
    return over_subtopics(P, ranking, pool, rel, k)


def StRecall(ranking, pool, rel=1, k=None):
    return over_subtopics(Success, ranking, pool, rel, k)


def D_nDCG(ranking, pool, gain="linear", weights=None, k=None):
    weights = weights or dict.fromkeys({name for document in pool for name in document}, 1)

    def worth(document):
        labels = (document or {}).items()
        return sum(weights[name] * (2**label - 1 if gain == "exp" else label) for name, label in labels if label > 0)

    def gained(documents):
        return sum(worth(document) / log2_of_next(i) for i, document in enumerate(cut(documents, k), 1))

    return over(gained(ranking), gained(sorted(pool, key=worth, reverse=True)))


def Dsharp_nDCG(ranking, pool, gamma=0.5, gain="linear", weights=None, rel=1, k=None):
    return gamma * StRecall(ranking, pool, rel, k) + (1 - gamma) * D_nDCG(ranking, pool, gain, weights, k)
