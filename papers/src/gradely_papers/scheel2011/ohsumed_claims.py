"""What the figures on OHSUMED show, and the claims that S11 makes of them."""

from typing import NamedTuple

from gradely_papers.outcome import Claim
from gradely_papers.scheel2011.collection import FEATURES
from gradely_papers.scheel2011.features import USERS
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import SAME, Record, Verdict, agrees, decide

SMALL = 1 / 4
"""a change is small against another where it is less than this share of it"""
PRINTED = 5e-5
"""how far apart numbers are that agree to four decimals"""
READ = 5e-4
"""how far apart bars are that nobody tells apart on a printed figure, generously"""
VIRTUAL = [name for name, user in USERS.items() if user.feature]
PEARSON, NEAREST = "0.96", 9
"""the paper's correlation of the two features that stand for users; the feature nearest to 1 for the first of them"""


class Evidence(NamedTuple):
    """What was measured, by figure, and what is known of the data."""

    values: dict[str, list[Record]]
    levels: dict[str, int]
    """how many levels each virtual user has"""
    pearson: float
    lacking: int
    """how many queries have no document of grade 2"""
    letor: list[Record]

    def own_scores(self, name: str) -> list[float]:
        """Return what the virtual user's own feature scores, all measures and ties."""
        feature = FEATURES[USERS[name].feature]
        return [record["value"] for record in self.values[name] if record["system"] == feature]

    def by_measure(self, name: str) -> dict[str, dict[str, float]]:
        """Return the value of each system by measure, with ties expected."""
        out: dict[str, dict[str, float]] = {}
        for record in self.values[name]:
            if record["ties"] == "expected":
                out.setdefault(record["measure"], {})[record["system"]] = record["value"]
        return out

    def changes(self) -> dict[str, list[float]]:
        """Return by measure how much each system that is no user changes from figure 7 to figure 8."""
        users = {FEATURES[USERS[name].feature] for name in VIRTUAL}
        before, after = (self.by_measure(name) for name in VIRTUAL)
        return {
            measure: [after[measure][name] - value for name, value in before[measure].items() if name not in users]
            for measure in MEANS
        }

    def apart(self) -> float:
        """Return how far µMAP is from the mean of MAP at 1 and 2, at most."""
        value = self.by_measure("figure-6")
        return max(
            abs(value["µMAP"][name] - (value["MAP at 1"][name] + value["MAP at 2"][name]) / 2) for name in value["µMAP"]
        )


def scores_one(evidence: Evidence) -> list[Verdict]:
    """Return whether a virtual user's own feature scores 1, figure by figure."""
    out = []
    for name in VIRTUAL:
        values = evidence.own_scores(name)
        here = f"between {min(values):.12g} and {max(values):.12g} over all measures and ties"
        out.append(decide(all(abs(value - 1) < SAME for value in values), here, name.replace("-", " ")))
    return out


def levels(evidence: Evidence) -> list[Verdict]:
    """Return whether the virtual users have as many levels as the paper says."""
    return [
        decide(
            evidence.levels[name] == USERS[name].levels,
            f"{evidence.levels[name]:,} (printed: {USERS[name].levels})",
            name.replace("-", " "),
        )
        for name in VIRTUAL
    ]


def nearest(evidence: Evidence) -> list[Verdict]:
    """Return whether the paper's feature comes next to 1, after the user's own."""
    own = FEATURES[USERS["figure-7"].feature]
    best = {
        measure: max((value, name) for name, value in systems.items() if name != own)
        for measure, systems in evidence.by_measure("figure-7").items()
    }
    here = ", ".join(f"{measure}: {name} {value:.3f}" for measure, (value, name) in best.items())
    return [decide(all(name == FEATURES[NEAREST] for _, name in best.values()), here)]


def more_levels(evidence: Evidence) -> list[Verdict]:
    """Return whether nDCG alone falls from few levels to many."""
    change = evidence.changes()
    fall, others = -max(change["mean nDCG"]), [*change["µMAP"], *change["mean NDCNG"]]
    here = "; ".join(f"{name} {min(values):+.4f} to {max(values):+.4f}" for name, values in change.items())
    return [decide(max(map(abs, others)) < SMALL * fall, f"changes: {here}")]


def average(evidence: Evidence) -> list[Verdict]:
    """Return whether µMAP is the mean of MAP at both levels."""
    gap = evidence.apart()
    here = f"off by up to {gap:.4f}: {evidence.lacking} queries lack grade 2, and their µAP has one threshold only"
    return [decide(gap < READ, here)]


def letor(evidence: Evidence) -> list[Verdict]:
    """Return whether MAP and NDCG@10 are those published with the data."""
    off = max(abs(record["LETOR 2.0"] - record["here"]) for record in evidence.letor)
    return [decide(off < PRINTED, f"{len(evidence.letor)} numbers, all within {off:.0e}")]


CLAIMS = (
    Claim(
        "average",
        "figure 6",
        "With grades 0, 1 and 2, µMAP is the mean of MAP at the thresholds 1 and 2.",
        "figure only",
        f"equal for every feature, to within {READ:g}",
        average,
    ),
    Claim(
        "one",
        "figures 7 and 8",
        "A feature that stands for the user scores 1 as a system.",
        "1",
        f"1 for all measures and ties, to within {SAME:g}",
        scores_one,
    ),
    Claim(
        "levels",
        "figures 7 and 8",
        "TF of the title has 9 levels, TF-IDF of the title 158.",
        "9, 158",
        "as many distinct values in the data",
        levels,
    ),
    Claim(
        "nearest",
        "figure 7",
        "With TF of the title as the user, strategy 9 (TF-IDF of the title) is nearest to 1.",
        "figure only",
        "it is the best system after the user's own, by each measure",
        nearest,
    ),
    Claim(
        "pearson",
        "figure 7",
        "TF and TF-IDF of the title correlate (Pearson).",
        PEARSON,
        "ours, rounded, is the printed number",
        lambda evidence: [decide(agrees(evidence.pearson, PEARSON), f"{evidence.pearson:.3f}")],
    ),
    Claim(
        "more-levels",
        "figures 7 and 8",
        "From 9 levels to many more, nDCG of the other features falls, while µMAP and NDCNG hardly change.",
        "figures only",
        f"nDCG of each falls; no µMAP or NDCNG changes by {SMALL:.0%} of its smallest fall",
        more_levels,
    ),
    Claim(
        "letor",
        "§ on OHSUMED",
        "The data is LETOR 2.0's: MAP and NDCG@10 of single features are as published with it.",
        "8 numbers",
        f"each within {PRINTED:g}, ties in file order",
        letor,
    ),
)
