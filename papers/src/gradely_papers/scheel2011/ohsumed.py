"""S11, figures 6, 7 and 8: features of OHSUMED as systems, and two of them as users."""

import csv
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradely import AP, Batch, InputError, from_arrays, nDCG
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.source import Source
from gradely.evaluation.notes import SAME
from gradely.settings import ArrayTies
from gradely_papers.charts import altair, draw, draw_dashes, panels, style
from gradely_papers.experiment import THEOREM, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.letor import OHSUMED, PARTITIONS, read_letor
from gradely_papers.progress import Report, part
from gradely_papers.scheel2011.means import MEANS, SMALL
from gradely_papers.verdicts import Record, Verdict, agrees, decide, group_by

FEATURES = {
    1: "TF title",
    5: "IDF title",
    9: "TF-IDF title",
    11: "TF abstract",
    15: "IDF abstract",
    19: "TF-IDF abstract",
    21: "BM25",
    22: "log BM25",
}


class Collection(NamedTuple):
    """Documents of each query in file order, [queries, documents], padded where `real` is false."""

    queries: list[str]
    features: int
    """the number of features in the files"""
    grade: Floats
    feature: dict[int, Floats]
    real: Bools

    def batch(self, feature: int, labels: Floats, ties: ArrayTies) -> Batch:
        """Return the documents ranked by a feature, with these labels."""
        with warnings.catch_warnings():  # a feature may be the labels, which then look like scores
            warnings.simplefilter("ignore")
            return from_arrays(self.feature[feature], labels, self.real, ties=ties)

    def levels(self, feature: int) -> int:
        """Return the number of distinct values of a feature."""
        return len(np.unique(self.feature[feature][self.real]))

    def correlation(self, first: int, second: int) -> float:
        """Return Pearson's correlation of two features over all documents."""
        return float(np.corrcoef(self.feature[first][self.real], self.feature[second][self.real])[0, 1])

    def uses(self, feature: int) -> tuple[Floats, Ints]:
        """Return the levels of a feature, ascending, and the number of documents at each."""
        return np.unique(self.feature[feature][self.real], return_counts=True)

    def alike(self) -> list[tuple[int, int]]:
        """Return the pairs of features that rank the documents of every query alike, ties included."""
        return [(a, b) for a, b in combinations(self.feature, 2) if np.array_equal(self._places(a), self._places(b))]

    def _places(self, feature: int) -> Ints:
        rows = zip(self.feature[feature], self.real, strict=True)
        return np.concatenate([np.unique(row[real], return_inverse=True)[1] for row, real in rows])

    def count_lacking(self, grade: float) -> int:
        """Return the number of queries without a document of a grade."""
        return int(np.count_nonzero(~((self.grade == grade) & self.real).any(axis=1)))


def read(folder: Path) -> Collection:
    """Read all partitions of a folder."""
    parts = read_letor(folder, PARTITIONS)
    labels, features = (np.concatenate(column) for column in zip(*(each[2:] for each in parts), strict=True))
    if features.shape[1] < max(FEATURES):
        raise InputError(f"{folder}: documents have {features.shape[1]} features; {max(FEATURES)} are needed")
    rows: dict[str, list[int]] = {}
    for i, query in enumerate(query for each in parts for query in each.queries):
        rows.setdefault(query, []).append(i)

    def pad(values: Floats) -> Floats:
        out = np.zeros((len(rows), max(map(len, rows.values()))))
        for row, own in zip(out, rows.values(), strict=True):
            row[: len(own)] = values[own]
        return out

    feature = {number: pad(features[:, number - 1]) for number in FEATURES}
    return Collection(list(rows), features.shape[1], pad(labels), feature, pad(np.ones(len(labels))) > 0)


MOST = 100
"""the most thresholds at which MAP is measured; they are spread evenly over the levels"""
TIES: dict[ArrayTies, str] = {"expected": "ties: mean over all orders", "order": "ties: order of the file"}


class User(NamedTuple):
    """The source of the labels: the judges, or a feature that represents a user."""

    title: str
    feature: int = 0
    """the number of the feature, or 0 for the judges"""
    levels: int = 0
    """the number of levels according to the paper"""


USERS = {
    "figure-6": User("The judges' grades"),
    "figure-7": User("Term frequency of the title as a virtual user", 1, 9),
    "figure-8": User("TF-IDF of the title as a virtual user", 9, 158),
}


def labels(collection: Collection, user: User) -> Floats:
    """Return the labels of a user."""
    return collection.feature[user.feature] if user.feature else collection.grade


def score_systems(collection: Collection, user: User, progress: Report) -> list[Record]:
    """Return each mean for each feature as a system, with expected ties and in file order."""
    out, user_labels = [], labels(collection, user)
    systems = [(ties, feature) for ties in TIES for feature in FEATURES]
    for i, (ties, feature) in enumerate(systems):
        for name, value in _means(collection, feature, user_labels, ties, graded=not user.feature):
            out.append({"system": FEATURES[feature], "ties": ties, "measure": name, "value": value})
        progress((i + 1) / len(systems))
    return out


def _means(
    collection: Collection, feature: int, user_labels: Floats, ties: ArrayTies, *, graded: bool
) -> Iterator[tuple[str, float]]:
    """Yield means by measure, including MAP at levels 1 and 2 if the labels are grades."""
    batch = collection.batch(feature, user_labels, ties)
    for name, mean in MEANS.items():
        yield name, float(np.mean(mean(batch)))
    for level in (1, 2) if graded else ():
        yield f"MAP at {level}", float(np.mean(AP(rel=level)(batch)))


ZERO, LEFT_OUT = "queries without a document of the level count 0", "queries without a document of the level left out"
"""two readings of MAP at a threshold, between which the paper does not decide"""


def by_threshold(collection: Collection, user: User) -> list[Record]:
    """Return MAP of each feature at each level of a user, with expected ties: the left half of the figures."""
    user_labels = labels(collection, user)
    levels = np.unique(user_labels[collection.real])
    levels = levels[levels > 0]
    thresholds = levels[np.unique(np.linspace(0, len(levels) - 1, MOST).astype(int))]
    batches = {name: collection.batch(feature, user_labels, "expected") for feature, name in FEATURES.items()}
    has = {level: ((user_labels >= level) & collection.real).any(axis=1) for level in thresholds.tolist()}
    out = []
    for name, batch in batches.items():
        for level, some in has.items():
            value = np.asarray(AP(rel=level)(batch))
            shared = {"system": name, "threshold": level, "queries with it": int(some.sum())}
            out += [shared | {"reading": ZERO, "MAP": float(np.mean(value))}]
            out += [shared | {"reading": LEFT_OUT, "MAP": float(np.mean(value[some]))}]
    return out


def compare_published(folder: Path, collection: Collection) -> list[Record]:
    """Return MAP and NDCG@10 as published with LETOR 2.0, with ties in file order, and our values."""
    files = {
        "MAP": ("published-single-feature-precision-map.tsv", AP()),
        "NDCG@10": ("published-single-feature-ndcg.tsv", nDCG(gain="exp", discount="letor").replace(k=10)),
    }
    out = []
    for column, (name, measure) in files.items():
        rows = csv.DictReader(Source(folder / name).text().splitlines(), delimiter="\t")
        try:
            theirs = {int(row["Feature No"]): float(row[column]) for row in rows}
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{folder / name}: expected numbers in the columns Feature No and {column}") from None
        for feature in (feature for feature in FEATURES if feature in theirs):
            ours = float(np.mean(measure(collection.batch(feature, collection.grade, "order"))))
            out.append({"system": FEATURES[feature], "measure": column, "LETOR 2.0": theirs[feature], "here": ours})
    return out


READ = 5e-4
"""bars that differ by less look equal in a printed figure"""
VIRTUAL = [name for name, user in USERS.items() if user.feature]
OWN = [FEATURES[USERS[name].feature] for name in VIRTUAL]
"""the features that represent users"""
PEARSON, NEAREST = "0.96", 9
"""the paper's correlation of the two features that represent users, and the feature nearest to 1 for the first one"""


class Evidence(NamedTuple):
    """The values by figure, and properties of the data."""

    values: dict[str, list[Record]]
    levels: dict[str, int]
    """the number of levels of each virtual user"""
    pearson: float
    lacking: int
    """the number of queries without a document of grade 2"""
    thresholds: list[Record]
    """MAP at each level of the first virtual user"""
    uses: tuple[Floats, Ints]
    """the levels of the second virtual user, and the number of documents at each"""
    size: tuple[int, int]
    """the numbers of queries and features"""
    alike: list[tuple[int, int]]
    """features that rank alike"""

    def mean_of_thresholds(self, reading: str) -> dict[str, float]:
        """Return for each system the mean of MAP over all levels of the first virtual user."""
        by_system = group_by("system", group_by("reading", self.thresholds)[reading])
        return {name: float(np.mean([record["MAP"] for record in own])) for name, own in by_system.items()}

    def own_scores(self, name: str) -> list[float]:
        """Return the values of the virtual user's own feature for all measures and ties."""
        own = group_by("system", self.values[name])[FEATURES[USERS[name].feature]]
        return [record["value"] for record in own]

    def by_measure(self, name: str) -> dict[str, dict[str, float]]:
        """Return the value of each system by measure, with expected ties."""
        by_measure = group_by("measure", group_by("ties", self.values[name])["expected"])
        return {measure: {record["system"]: record["value"] for record in own} for measure, own in by_measure.items()}

    def changes(self) -> dict[str, list[float]]:
        """Return by measure the change from figure 7 to figure 8 of each system that does not represent a user."""
        before, after = (self.by_measure(name) for name in VIRTUAL)
        return {
            measure: [after[measure][name] - value for name, value in before[measure].items() if name not in OWN]
            for measure in MEANS
        }

    def largest_gap(self) -> float:
        """Return the largest difference between µMAP and the mean of MAP at 1 and 2."""
        value = self.by_measure("figure-6")
        return max(
            abs(value["µMAP"][name] - (value["MAP at 1"][name] + value["MAP at 2"][name]) / 2) for name in value["µMAP"]
        )


def by_figure(evidence: Evidence) -> Iterator[tuple[str, tuple[Evidence, str]]]:
    """Yield the evidence and the name of each figure with a virtual user."""
    for name in VIRTUAL:
        yield name.replace("-", " "), (evidence, name)


@claim(
    "figures 7 and 8, §2",
    printed="1",
    criterion=f"1 for all measures and ties, to within {SAME:g}",
    quote="the optimal item list … should achieve the performance value 1.0",
    kind=THEOREM,
    split=by_figure,
)
def scores_one(part: tuple[Evidence, str]) -> Verdict:
    """A feature that represents the user has the value 1 as a system."""
    evidence, figure = part
    values = evidence.own_scores(figure)
    here = f"between {min(values):.12g} and {max(values):.12g} over all measures and ties"
    return decide(all(abs(value - 1) < SAME for value in values), here)


@claim("figures 7 and 8", printed="9, 158", criterion="the data has as many distinct values", split=by_figure)
def levels(part: tuple[Evidence, str]) -> Verdict:
    """TF of the title has 9 levels, and TF-IDF of the title has 158."""
    evidence, figure = part
    ours, printed = evidence.levels[figure], USERS[figure].levels
    return decide(ours == printed, f"{ours:,} (printed: {printed})")


@claim(
    "figure 7",
    printed="figure only",
    criterion="by each measure, it is the best system after the user's own feature",
)
def nearest(evidence: Evidence) -> Verdict:
    """If TF of the title is the user, strategy 9 (TF-IDF of the title) is nearest to 1."""
    best = {
        measure: max((value, name) for name, value in systems.items() if name != OWN[0])
        for measure, systems in evidence.by_measure("figure-7").items()
    }
    here = ", ".join(f"{measure}: {name} {value:.3f}" for measure, (value, name) in best.items())
    return decide(all(name == FEATURES[NEAREST] for _, name in best.values()), here)


@claim("figure 7", printed=PEARSON, criterion="ours, rounded or truncated, is the printed number")
def pearson(evidence: Evidence) -> Verdict:
    """TF and TF-IDF of the title correlate (Pearson)."""
    return decide(agrees(evidence.pearson, PEARSON), f"{evidence.pearson:.3f}")


@claim(
    "figures 7 and 8",
    printed="figures only",
    criterion=f"nDCG falls for each; no µMAP or NDCNG changes by {SMALL:.0%} of the smallest fall or more",
)
def more_levels(evidence: Evidence) -> Verdict:
    """From 9 levels to many more, nDCG falls for the other features, while µMAP and NDCNG hardly change."""
    change = evidence.changes()
    fall, others = -max(change["mean nDCG"]), [*change["µMAP"], *change["mean NDCNG"]]
    here = "; ".join(f"{name} {min(values):+.4f} to {max(values):+.4f}" for name, values in change.items())
    return decide(max(map(abs, others)) < SMALL * fall, f"changes: {here}")


@claim("figure 6", printed="figure only", criterion=f"equal for every feature, to within {READ:g}")
def average(evidence: Evidence) -> Verdict:
    """With grades 0, 1 and 2, µMAP is the mean of MAP at the thresholds 1 and 2."""
    gap = evidence.largest_gap()
    here = f"off by up to {gap:.4f}; {evidence.lacking} queries lack grade 2, and their µAP has only one threshold"
    return decide(gap < READ, here)


@claim(
    "figure 7, §4",
    printed="8 values of MAP",
    criterion=f"equal for every feature, to within {READ:g}",
    quote="On this data, µMAP is the mean of 8 different MAP values",
    split=lambda evidence: ((reading, (evidence, reading)) for reading in (ZERO, LEFT_OUT)),
)
def mean_of_8(part: tuple[Evidence, str]) -> Verdict:
    """µMAP of the first virtual user is the mean of MAP at all thresholds."""
    evidence, reading = part
    graded, means = evidence.by_measure("figure-7")["µMAP"], evidence.mean_of_thresholds(reading)
    farthest = max(means, key=lambda name: abs(means[name] - graded[name]))
    gaps = ", ".join(
        f"{name} µMAP {graded[name]:.3f}, mean {means[name]:.3f}" for name in dict.fromkeys((OWN[0], farthest))
    )
    count = len({record["threshold"] for record in evidence.thresholds})
    return decide(abs(means[farthest] - graded[farthest]) < READ, f"{count} thresholds; {gaps}")


SIMILAR = 0.05
"""very similar values differ by less; the limit is ours"""


@claim(
    "figures 7 and 8, §4",
    printed="figures only",
    criterion=f"by each measure, they differ by less than {SIMILAR}",
    quote="strategies 1 and 9 show very similar performances in both figures",
    split=by_figure,
)
def similar(part: tuple[Evidence, str]) -> Verdict:
    """Strategies 1 and 9, TF and TF-IDF of the title, have very similar values."""
    evidence, figure = part
    systems = evidence.by_measure(figure)
    values = {name: [systems[name][feature] for feature in OWN] for name in MEANS}
    here = ", ".join(f"{name} {first:.3f} and {second:.3f}" for name, (first, second) in values.items())
    return decide(all(abs(first - second) < SIMILAR for first, second in values.values()), here)


TENTH, TIMES, WIDE = 10, 2, 10
"""the share of levels that are high, and the factors for “much more” and for “varies a lot”; all are ours"""


@claim(
    "figure 8, §4",
    printed="words",
    criterion="the median of the highest tenth of the levels is 1 document, and the mean of the lower half is at least"
    f" {TIMES} times that of the upper half",
    quote="very high scores are used only once, lower much more frequently",
)
def rare(evidence: Evidence) -> Verdict:
    """High levels of TF-IDF of the title have one document, and low levels have many more."""
    _, counts = evidence.uses
    top = float(np.median(counts[-max(1, len(counts) // TENTH) :]))
    lower, upper = (float(np.mean(half)) for half in np.array_split(counts, 2))
    here = f"documents per level: highest tenth {top:g}, lower half {lower:.1f}, upper half {upper:.1f}"
    return decide(top == 1 and lower >= TIMES * upper, here)


@claim(
    "figure 8, §4",
    printed="words",
    criterion=f"the largest distance between neighbouring levels is at least {WIDE} times the median",
    quote="distance varies a lot",
)
def distances(evidence: Evidence) -> Verdict:
    """The distances between the levels of TF-IDF of the title vary."""
    gaps = np.diff(evidence.uses[0])
    middle, widest = float(np.median(gaps)), float(gaps.max())
    return decide(widest >= WIDE * middle, f"median {middle:.4f}, largest {widest:.4f}")


QUERIES, STRATEGIES = 106, 25


@claim("§2.2", printed=f"{QUERIES}, {STRATEGIES}", criterion="the numbers are equal")
def size(evidence: Evidence) -> Verdict:
    """OHSUMED has 106 queries and 25 strategies."""
    queries, features = evidence.size
    return decide(evidence.size == (QUERIES, STRATEGIES), f"{queries} queries, {features} features")


@claim(
    "§2.2",
    printed="words",
    criterion="at least one pair of the eight strategies in the figures ranks every query alike",
)
def alike(evidence: Evidence) -> Verdict:
    """Some strategies are very similar."""
    pairs = ", ".join(f"{a} ({FEATURES[a]}) and {b} ({FEATURES[b]})" for a, b in evidence.alike)
    return decide(evidence.alike, f"the same order, ties included: {pairs or 'none'}")


def chart(records: list[Record]) -> Any:
    """Return a bar for each system and measure, with a row of panels for each tie policy."""
    alt = altair()
    measures = list(group_by("measure", records))
    numbered = {name: f"{number}: {name}" for number, name in FEATURES.items()}
    titled = [record | {"ties": TIES[record["ties"]], "system": numbered[record["system"]]} for record in records]
    bars = (
        draw(titled)
        .mark_bar()
        .encode(
            x=alt.X("measure:N", title=None, sort=measures, axis=None),
            y=alt.Y("value:Q", title="mean over the queries", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title=None, sort=measures),
            column=alt.Column(
                "system:N",
                title=None,
                sort=[*numbered.values()],
                spacing=6,
                header=alt.Header(labelOrient="bottom", labelFontSize=12),
            ),
            row=alt.Row("ties:N", title=None, sort=[*TIES.values()], header=alt.Header(labelFontSize=12)),
        )
    )
    return style(bars.properties(width=96, height=180))


def thresholds(records: list[Record]) -> Any:
    """Return MAP by threshold, with a line for each system and a panel for each reading."""
    alt = altair()
    x = alt.X(
        "threshold:Q",
        title="threshold: the lowest relevant label",
        axis=alt.Axis(tickMinStep=1),
        scale=alt.Scale(zero=True, nice=False, padding=6),
    )
    y = alt.Y("MAP:Q", title="MAP over the queries", scale=alt.Scale(domain=[-0.02, 1.02], nice=False))
    lines = draw_dashes(records, x, y, "system", [*FEATURES.values()])
    return panels(lines.properties(width=400, height=280), by="reading", columns=2, order=[ZERO, LEFT_OUT])


def gather(collection: Collection, progress: Report) -> Evidence:
    """Measure every feature for every user."""
    values = {
        name: score_systems(collection, user, part(progress, i, len(USERS)))
        for i, (name, user) in enumerate(USERS.items())
    }
    counts = {name: collection.levels(USERS[name].feature) for name in VIRTUAL}
    pearson = collection.correlation(*(USERS[name].feature for name in VIRTUAL))
    return Evidence(
        values,
        counts,
        pearson,
        collection.count_lacking(2),
        by_threshold(collection, USERS["figure-7"]),
        collection.uses(USERS["figure-8"].feature),
        (len(collection.queries), collection.features),
        collection.alike(),
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Measure every figure, and MAP at every threshold for the virtual users."""
    folder = library.path(OHSUMED)
    collection = read(folder)
    evidence, letor = gather(collection, progress), compare_published(folder, collection)
    curves = {f"{name}-thresholds": by_threshold(collection, USERS[name]) for name in VIRTUAL}
    n = f"{len(collection.queries)} queries"
    titles = {
        f"{name}-thresholds": f"{USERS[name].title}: MAP over {n} at each threshold (left half of the figure)."
        for name in VIRTUAL
    }
    return Outcome(
        f"We ranked the documents of {len(collection.queries)} queries by each of {len(FEATURES)} features, once with"
        " the mean over all orders of tied documents and once with ties in file order. Mean nDCG and mean NDCNG are"
        " means over all cut-offs, as in table 2. A virtual user rates a document by its value of a feature. The paper"
        " does not say how MAP at a level treats queries without a document of that level. We show both readings:"
        " they count 0, or they are left out, which gives the user's own feature the value 1 at every threshold.",
        evidence,
        {name: Sheet.of(USERS[name].title, records) for name, records in evidence.values.items()}
        | {name: Sheet.of(titles[name], records) for name, records in curves.items()}
        | {"letor": Sheet.of("As published with LETOR 2.0", letor)},
        {name: Figure(f"{USERS[name].title}; {n}.", chart(records)) for name, records in evidence.values.items()}
        | {name: Figure(titles[name], thresholds(records)) for name, records in curves.items()},
        observations(evidence.values["figure-6"], letor),
    )


def observations(records: Sequence[Record], letor: Sequence[Record]) -> list[Observation]:
    """Say how file order favours a constant feature, and whether the data is that of LETOR."""
    idf = [record for record in records if record["system"] == FEATURES[5] and record["measure"] == "MAP at 1"]
    value = {record["ties"]: record["value"] for record in idf}
    off = max(abs(record["LETOR 2.0"] - record["here"]) for record in letor)
    return [
        Observation(
            "How does file order change MAP of IDF title, a feature that is equal for all documents of a query?",
            f"MAP is {value['order']:.4f} in file order, and {value['expected']:.4f} over all orders of ties.",
        ),
        Observation(
            "Do MAP and NDCG@10 of single features agree with those published with LETOR 2.0, with ties in file order?",
            f"The largest difference from the {len(letor)} published numbers is {off:.0e}.",
        ),
    ]


EXPERIMENT = Experiment(
    "s11-ohsumed",
    "figures 6, 7 and 8",
    "Features of OHSUMED as systems, for judges and for virtual users",
    "µMAP, nDCG and NDCNG compare features as rankers. A feature can also represent a user who rates documents on"
    " many levels: 9 for the term frequency of the title, 158 for its TF-IDF. That feature must then have the value 1.",
    run,
    (
        ("figure 6", "figure-6, letor"),
        ("figure 7", "figure-7, figure-7-thresholds"),
        ("figure 8", "figure-8, figure-8-thresholds"),
    ),
    claims=(
        size,
        alike,
        average,
        scores_one,
        levels,
        nearest,
        similar,
        pearson,
        mean_of_8,
        more_levels,
        rare,
        distances,
    ),
    needs=(OHSUMED,),
)
