"""M08: the closed forms, compared with the mean over an enumeration of all orders of tied documents."""

from itertools import groupby, permutations, product
from math import factorial, fsum, prod
from typing import NamedTuple

import numpy as np

from gradely import RR, Measure, P, from_arrays
from gradely.data.ids import Floats
from gradely.evaluation.notes import SAME
from gradely.measures import EXPECTED
from gradely_papers.experiment import THEOREM, Claim, Experiment, Library, Observation, Outcome, Sheet, claim
from gradely_papers.progress import Report, ignore
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import Record, Verdict, decide

DOCUMENTS, RANKINGS, MOST = 9, 40, 5040
"""documents per ranking; rankings; the most orders of a ranking, those of seven tied documents"""
CUTOFF = 4
"""a cut-off that often divides a group"""
PRINTED = ("P", "R", "F1", "AP", "RR", "nDCG")
"""the measures of the paper"""


class Ranking(NamedTuple):
    """Scores, many of them tied, and grades."""

    scores: tuple[int, ...]
    labels: tuple[int, ...]

    def groups(self) -> list[list[int]]:
        """Return the documents that share a score, best first."""
        ranked = sorted(range(len(self.scores)), key=lambda i: -self.scores[i])
        return [list(group) for _, group in groupby(ranked, key=lambda i: self.scores[i])]

    def size(self) -> int:
        """Return the number of orders."""
        return prod(factorial(len(group)) for group in self.groups())

    def orders(self) -> Floats:
        """Return the labels in every order that the scores allow [orders, documents]."""
        every = product(*(permutations(group) for group in self.groups()))
        return np.array([[self.labels[i] for part in order for i in part] for order in every], np.float64)


def measures() -> list[Measure]:
    """Return every measure with a known closed form, without and with a cut-off."""
    return [measure for kind in EXPECTED for measure in (kind(), kind().replace(k=CUTOFF))]


def evaluate_closed_form(measure: Measure, ranking: Ranking) -> float:
    """Return the mean over all orders in closed form."""
    return float(measure(from_arrays(ranking.scores, ranking.labels))[0])


def enumerate_mean(measure: Measure, ranking: Ranking) -> float:
    """Return the mean of the plain measure over an enumeration of all orders."""
    orders = ranking.orders()
    return fsum(measure(rank_labels(orders)).tolist()) / len(orders)


def rankings(seed: int, count: int = RANKINGS) -> list[Ranking]:
    """Draw rankings with few distinct scores and at most MOST orders each."""
    rng = np.random.default_rng(seed)
    out: list[Ranking] = []
    while len(out) < count:
        scores, labels = rng.integers(0, 4, DOCUMENTS), rng.choice([0, 0, 1, 2, 3], DOCUMENTS)
        ranking = Ranking(tuple(scores.tolist()), tuple(labels.tolist()))
        if 1 < ranking.size() <= MOST:
            out.append(ranking)
    return out


def compare_forms(seed: int, count: int = RANKINGS, progress: Report = ignore) -> list[Record]:
    """Return for each measure the largest difference between closed form and enumeration."""
    sample, every = rankings(seed, count), measures()
    off = {str(measure): 0.0 for measure in every}
    for i, ranking in enumerate(sample):
        for measure in every:
            gap = abs(evaluate_closed_form(measure, ranking) - enumerate_mean(measure, ranking))
            off[str(measure)] = max(off[str(measure)], gap)
        progress((i + 1) / len(sample))
    orders = sum(ranking.size() for ranking in sample)
    return [
        {"measure": name, "rankings": len(sample), "orders": orders, "largest difference": gap}
        for name, gap in off.items()
    ]


def printed_rr(ranking: Ranking) -> float:
    """Return RR as printed: Σ f(x)/(t+x), with f(x) the probability that the first x of the group are irrelevant.

    Only the first group with a relevant document matters. It follows t documents, and r of its n are relevant.
    """
    t = 0
    for group in ranking.groups():
        n, r = len(group), sum(ranking.labels[i] > 0 for i in group)
        if r:
            chance = np.cumprod([max(0.0, 1 - r / (n - j)) for j in range(n)])
            return float(np.sum(chance / (t + np.arange(1, n + 1))))
        t += n
    return 0.0


class Reach(NamedTuple):
    """The documents that measures with a cut-off use, over rankings with a group that the cut-off divides."""

    cases: int
    below: float
    """the largest change of a measure if labels below the group are exchanged among themselves"""
    inside: int
    """the number of cases in which exchanging a relevant and a non-relevant label across its end changes precision"""


def find_reach(seed: int, count: int = RANKINGS) -> Reach:
    """Exchange labels below the group that the cut-off divides, and across its end."""
    measures = [kind().replace(k=CUTOFF) for kind in EXPECTED if kind.name in PRINTED]
    cases, below, inside = 0, 0.0, 0
    for ranking in rankings(seed, count):
        groups = ranking.groups()
        ends = np.cumsum([len(group) for group in groups])
        cut = int(np.searchsorted(ends, CUTOFF))
        rest = [i for group in groups[cut + 1 :] for i in group]
        pair = next(((i, j) for i in groups[cut] for j in rest if _differ(ranking, i, j)), None)
        if ends[cut] == CUTOFF or pair is None:
            continue
        cases += 1
        turned = exchange(ranking, dict(zip(rest, reversed(rest), strict=True)))
        gaps = (abs(evaluate_closed_form(x, ranking) - evaluate_closed_form(x, turned)) for x in measures)
        below = max(below, *gaps)
        across = exchange(ranking, {pair[0]: pair[1], pair[1]: pair[0]})
        values = [evaluate_closed_form(P().replace(k=CUTOFF), each) for each in (ranking, across)]
        inside += abs(values[0] - values[1]) > SAME
    return Reach(cases, below, inside)


def _differ(ranking: Ranking, i: int, j: int) -> bool:
    return (ranking.labels[i] > 0) != (ranking.labels[j] > 0)


def exchange(ranking: Ranking, places: dict[int, int]) -> Ranking:
    """Return the ranking with exchanged labels.

    >>> exchange(Ranking((3, 2, 1), (0, 1, 2)), {1: 2, 2: 1}).labels
    (0, 2, 1)
    """
    return ranking._replace(labels=tuple(ranking.labels[places.get(i, i)] for i in range(len(ranking.labels))))


class Evidence(NamedTuple):
    """The differences between closed forms and enumeration, the error of the printed RR, and the reach of cut-offs."""

    records: list[Record]
    printed_rr: float
    reach: Reach

    def worst(self, *names: str) -> Record:
        """Return the record with the largest difference among these measures, or among all."""
        records = [record for record in self.records if not names or record["measure"].partition("@")[0] in names]
        return max(records, key=lambda record: float(record["largest difference"]))


def describe(worst: Record) -> str:
    """Return the largest difference, as text."""
    gap, name = float(worst["largest difference"]), worst["measure"]
    return f"largest difference {gap:.0e}, {name}, over {worst['orders']:,} orders of {worst['rankings']} rankings"


QUOTE = "precisely the same performance value as the approach of averaging over all permutations"


def claim_exact(name: str) -> Claim:
    """Return the claim that the closed form of a measure equals the mean over all orders."""

    def test(evidence: Evidence) -> Verdict:
        worst = evidence.worst(name)
        return decide(float(worst["largest difference"]) < SAME, describe(worst))

    return Claim(
        name,
        f"abstract, §2.{list(PRINTED).index(name) + 1}",
        f"The closed form of {name} equals the mean over all orders of tied documents.",
        "exact",
        f"with and without a cut-off, it is within {SAME:g} of the mean over an enumeration of all orders",
        test,
        QUOTE,
        THEOREM,
    )


@claim(
    "§2",
    printed="O(t_(c+1)) instead of O(k)",
    criterion=f"exchanging labels below the group changes no measure by {SAME:g} or more; exchanging a relevant label"
    " of the group and a non-relevant one from below, or the reverse, changes precision in every case",
    kind=THEOREM,
)
def reaches_to_the_group(evidence: Evidence) -> Verdict:
    """At cut-off k, a tie-aware measure uses the documents down to the end of the group at k, and no others."""
    cases, below, inside = evidence.reach
    here = (
        f"labels below change a measure by at most {below:.0e}; the exchange changes precision in {inside} of {cases}"
        " rankings"
    )
    return decide(cases and below < SAME and inside == cases, here)


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Enumerate all orders of small rankings."""
    records = compare_forms(seed, progress=progress)
    off = max(abs(printed_rr(ranking) - enumerate_mean(RR(), ranking)) for ranking in rankings(seed))
    evidence = Evidence(records, off, find_reach(seed))
    return Outcome(
        f"We drew {RANKINGS} rankings of {DOCUMENTS} documents with few distinct scores, enumerated all orders that the"
        f" scores allow, and averaged the plain measure, without a cut-off and at {CUTOFF}.",
        evidence,
        {"differences": Sheet.of("Closed form and enumeration", records, 18)},
        {},
        [
            Observation(
                "How large is the error of the printed formula of RR?",
                f"Up to {evidence.printed_rr:.3f} on these rankings; with differences of adjacent f, at most"
                f" {float(evidence.worst('RR')['largest difference']):.0e}.",
            ),
            Observation(
                "Are the closed forms of all measures of gradely exact?",
                f"{len(records)} measures and cut-offs: {describe(evidence.worst())}.",
            ),
        ],
    )


EXPERIMENT = Experiment(
    "m08-enumeration",
    "§2",
    "Closed forms, compared with an enumeration of all orders of ties",
    "If scores tie, a measure should be the mean over all orders of the tied documents. This mean has a closed form for"
    " precision, recall, F1, average precision, reciprocal rank and nDCG.",
    run,
    (("§2", "differences"),),
    claims=(*map(claim_exact, PRINTED), reaches_to_the_group),
)
