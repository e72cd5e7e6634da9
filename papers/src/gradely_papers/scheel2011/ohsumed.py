"""S11, figures 6, 7 and 8: features of OHSUMED as systems, and two of them as users."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradely import AP, Batch, InputError, from_arrays, nDCG, read_qrels, read_run
from gradely.data.ids import Bools, Floats
from gradely.data.source import Source, ignore
from gradely_papers.charts import altair, draw, draw_dashes, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.progress import Report, part
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import SAME, Record, Verdict, agrees, decide

FOLDER = "letor2-ohsumed"
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
    """Documents of each query in the order of the files, [queries, documents]; padding where `real` is false."""

    queries: list[str]
    grade: Floats
    feature: dict[int, Floats]
    real: Bools

    def batch(self, feature: int, labels: Floats, ties: str) -> Batch:
        """Return the documents ranked by a feature, with these labels."""
        return from_arrays(self.feature[feature], labels, self.real, ties=ties)

    def levels(self, feature: int) -> int:
        """Return how many values a feature takes."""
        return len(np.unique(self.feature[feature][self.real]))

    def correlation(self, first: int, second: int) -> float:
        """Return Pearson's correlation of two features over all documents."""
        return float(np.corrcoef(self.feature[first][self.real], self.feature[second][self.real])[0, 1])

    def count_lacking(self, grade: float) -> int:
        """Return how many queries have no document of a grade."""
        return int(np.count_nonzero(~((self.grade == grade) & self.real).any(axis=1)))


def read(folder: Path, progress: Report = ignore) -> Collection:
    """Read all partitions of a folder."""
    paths = sorted(folder.glob("S*.txt*"))
    if not paths:
        raise InputError(f"{folder}: no S1.txt … S5.txt of LETOR 2.0 there")
    labels: dict[str, dict[str, float]] = {}
    for path in paths:
        qrels = read_qrels(path)
        labels |= {query: qrels.labels(query) for query in qrels.queries}
    feature = {}
    for i, number in enumerate(FEATURES):
        scores = {query: row for path in paths for query, row in read_run(path, feature=number).scores.items()}
        feature[number] = _pad([[scores[query][doc] for doc in docs] for query, docs in labels.items()])
        progress((i + 1) / len(FEATURES))
    real = _pad([[1.0] * len(docs) for docs in labels.values()]) > 0
    return Collection(list(labels), _pad([list(docs.values()) for docs in labels.values()]), feature, real)


def _pad(rows: list[list[float]]) -> Floats:
    out = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


MOST = 100
"""at how many thresholds MAP is measured at most, evenly spread over the levels"""
TIES = {"expected": "ties: mean over all orders", "order": "ties: order of the file"}


class User(NamedTuple):
    """Whose labels count: the judges, or a feature that stands for a user."""

    title: str
    feature: int = 0
    """none for the judges"""
    levels: int = 0
    """how many levels the paper says there are"""


USERS = {
    "figure-6": User("The judges' grades"),
    "figure-7": User("Term frequency of the title as a virtual user", 1, 9),
    "figure-8": User("TF-IDF of the title as a virtual user", 9, 158),
}


def labels(collection: Collection, user: User) -> Floats:
    """Return the labels that a user gives."""
    return collection.feature[user.feature] if user.feature else collection.grade


def score_systems(collection: Collection, user: User, progress: Report) -> list[Record]:
    """Return each mean of each feature as a system, with ties expected and in file order."""
    out, user_labels = [], labels(collection, user)
    systems = [(ties, feature) for ties in TIES for feature in FEATURES]
    for i, (ties, feature) in enumerate(systems):
        for name, value in _means(collection, feature, user_labels, ties, graded=not user.feature):
            out.append({"system": FEATURES[feature], "ties": ties, "measure": name, "value": value})
        progress((i + 1) / len(systems))
    return out


def _means(
    collection: Collection, feature: int, user_labels: Floats, ties: str, *, graded: bool
) -> Iterator[tuple[str, float]]:
    """Yield means by measure; MAP at a level only of grades, since features have levels of their own."""
    batch = collection.batch(feature, user_labels, ties)
    for name, mean in MEANS.items():
        yield name, float(np.mean(mean(batch)))
    for level in (1, 2) if graded else ():
        yield f"MAP at {level}", float(np.mean(AP(rel=level)(batch)))


def by_threshold(collection: Collection, user: User) -> list[Record]:
    """Return MAP of each feature as a run at each level of a user, ties expected: the left half of the figures.

    Queries without a document of that level count 0, as everywhere.
    """
    user_labels = labels(collection, user)
    levels = np.unique(user_labels[collection.real])
    levels = levels[levels > 0]
    thresholds = levels[np.unique(np.linspace(0, len(levels) - 1, MOST).astype(int))]
    batches = {name: collection.batch(feature, user_labels, "expected") for feature, name in FEATURES.items()}
    return [
        {"system": name, "threshold": float(level), "MAP": float(np.mean(AP(rel=float(level))(batch)))}
        for name, batch in batches.items()
        for level in thresholds
    ]


def compare_published(folder: Path, collection: Collection) -> list[Record]:
    """Return MAP and NDCG@10 as published with LETOR 2.0, which keeps ties in file order, beside ours."""
    files = {
        "MAP": ("published-single-feature-precision-map.tsv", AP()),
        "NDCG@10": ("published-single-feature-ndcg.tsv", nDCG(gain="exp", discount="letor").replace(k=10)),
    }
    out = []
    for column, (name, measure) in files.items():
        rows = csv.DictReader(Source(folder / name).text().splitlines(), delimiter="\t")
        theirs = {int(row["Feature No"]): float(row[column]) for row in rows}
        for feature in (feature for feature in FEATURES if feature in theirs):
            ours = float(np.mean(measure(collection.batch(feature, collection.grade, "order"))))
            out.append({"system": FEATURES[feature], "measure": column, "LETOR 2.0": theirs[feature], "here": ours})
    return out


SMALL = 1 / 4
"""a change is small against another where it is less than this share of it"""
PRINTED = 5e-5
"""numbers that differ by less agree to four decimals"""
READ = 5e-4
"""bars that differ by less look the same on a printed figure"""
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

    def largest_gap(self) -> float:
        """Return the largest difference between µMAP and the mean of MAP at 1 and 2."""
        value = self.by_measure("figure-6")
        return max(
            abs(value["µMAP"][name] - (value["MAP at 1"][name] + value["MAP at 2"][name]) / 2) for name in value["µMAP"]
        )


@claim("one", "figures 7 and 8", printed="1", criterion=f"1 for all measures and ties, to within {SAME:g}")
def scores_one(evidence: Evidence) -> list[Verdict]:
    """A feature that stands for the user scores 1 as a system."""
    out = []
    for name in VIRTUAL:
        values = evidence.own_scores(name)
        here = f"between {min(values):.12g} and {max(values):.12g} over all measures and ties"
        out.append(decide(all(abs(value - 1) < SAME for value in values), here, name.replace("-", " ")))
    return out


@claim("levels", "figures 7 and 8", printed="9, 158", criterion="as many distinct values in the data")
def levels(evidence: Evidence) -> list[Verdict]:
    """TF of the title has 9 levels, TF-IDF of the title 158."""
    return [
        decide(
            evidence.levels[name] == USERS[name].levels,
            f"{evidence.levels[name]:,} (printed: {USERS[name].levels})",
            name.replace("-", " "),
        )
        for name in VIRTUAL
    ]


@claim(
    "nearest",
    "figure 7",
    printed="figure only",
    criterion="it is the best system after the user's own, by each measure",
)
def nearest(evidence: Evidence) -> list[Verdict]:
    """With TF of the title as the user, strategy 9 (TF-IDF of the title) is nearest to 1."""
    own = FEATURES[USERS["figure-7"].feature]
    best = {
        measure: max((value, name) for name, value in systems.items() if name != own)
        for measure, systems in evidence.by_measure("figure-7").items()
    }
    here = ", ".join(f"{measure}: {name} {value:.3f}" for measure, (value, name) in best.items())
    return [decide(all(name == FEATURES[NEAREST] for _, name in best.values()), here)]


@claim("pearson", "figure 7", printed=PEARSON, criterion="ours, rounded, is the printed number")
def pearson(evidence: Evidence) -> list[Verdict]:
    """TF and TF-IDF of the title correlate (Pearson)."""
    return [decide(agrees(evidence.pearson, PEARSON), f"{evidence.pearson:.3f}")]


@claim(
    "more-levels",
    "figures 7 and 8",
    printed="figures only",
    criterion=f"nDCG of each falls; no µMAP or NDCNG changes by {SMALL:.0%} of its smallest fall",
)
def more_levels(evidence: Evidence) -> list[Verdict]:
    """From 9 levels to many more, nDCG of the other features falls, while µMAP and NDCNG hardly change."""
    change = evidence.changes()
    fall, others = -max(change["mean nDCG"]), [*change["µMAP"], *change["mean NDCNG"]]
    here = "; ".join(f"{name} {min(values):+.4f} to {max(values):+.4f}" for name, values in change.items())
    return [decide(max(map(abs, others)) < SMALL * fall, f"changes: {here}")]


@claim("average", "figure 6", printed="figure only", criterion=f"equal for every feature, to within {READ:g}")
def average(evidence: Evidence) -> list[Verdict]:
    """With grades 0, 1 and 2, µMAP is the mean of MAP at the thresholds 1 and 2."""
    gap = evidence.largest_gap()
    here = f"off by up to {gap:.4f}: {evidence.lacking} queries lack grade 2, and their µAP has one threshold only"
    return [decide(gap < READ, here)]


@claim("letor", "§ on OHSUMED", printed="8 numbers", criterion=f"each within {PRINTED:g}, ties in file order")
def letor(evidence: Evidence) -> list[Verdict]:
    """The data is LETOR 2.0's: MAP and NDCG@10 of single features are as published with it."""
    off = max(abs(record["LETOR 2.0"] - record["here"]) for record in evidence.letor)
    return [decide(off < PRINTED, f"{len(evidence.letor)} numbers, all within {off:.0e}")]


def chart(records: list[Record]) -> Any:
    """Return a bar for each system and measure, one row of panels per way of taking ties."""
    alt = altair()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    titled = [record | {"ties": TIES[record["ties"]]} for record in records]
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
                sort=[*FEATURES.values()],
                spacing=6,
                header=alt.Header(labelOrient="bottom", labelFontSize=12),
            ),
            row=alt.Row("ties:N", title=None, sort=[*TIES.values()], header=alt.Header(labelFontSize=12)),
        )
    )
    return style(bars.properties(width=96, height=180))


def thresholds(records: list[Record]) -> Any:
    """Return MAP by threshold, one line for each system: the left half of figures 7 and 8."""
    alt = altair()
    x = alt.X(
        "threshold:Q",
        title="threshold: documents that the user rates at least this high are relevant",
        axis=alt.Axis(tickMinStep=1),
        scale=alt.Scale(zero=True, nice=False, padding=6),
    )
    y = alt.Y("MAP:Q", title="MAP over the queries", scale=alt.Scale(domain=[-0.02, 1.02], nice=False))
    lines = draw_dashes(records, x, y, "system", [*FEATURES.values()])
    return style(lines.properties(width=560, height=280))


def gather(library: Library, progress: Report) -> tuple[Evidence, Collection]:
    """Read the collection and measure every feature for every user."""
    folder = library.path(FOLDER)
    steps = len(USERS) + 1
    collection = read(folder, part(progress, 0, steps))
    values = {
        name: score_systems(collection, user, part(progress, i, steps))
        for i, (name, user) in enumerate(USERS.items(), 1)
    }
    counts = {name: collection.levels(USERS[name].feature) for name in VIRTUAL}
    pearson = collection.correlation(*(USERS[name].feature for name in VIRTUAL))
    letor = compare_published(folder, collection)
    return Evidence(values, counts, pearson, collection.count_lacking(2), letor), collection


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Measure the figures, and MAP at every threshold for the virtual users."""
    evidence, collection = gather(library, progress)
    curves = {f"{name}-thresholds": by_threshold(collection, USERS[name]) for name in VIRTUAL}
    n = f"{len(collection.queries)} queries"
    titles = {
        f"{name}-thresholds": f"{USERS[name].title}: MAP over {n} at each threshold (the left half)."
        for name in VIRTUAL
    }
    return Outcome(
        f"We ranked the documents of {len(collection.queries)} queries by each of {len(FEATURES)} features, once with"
        " the mean over all orders of tied documents and once with ties in the order of the file. Mean nDCG and mean"
        " NDCNG are means over all cut-offs, as in table 2. A virtual user rates a document by its value of a feature.",
        evidence,
        {name: Sheet.of(USERS[name].title, records) for name, records in evidence.values.items()}
        | {name: Sheet.of(titles[name], records) for name, records in curves.items()}
        | {"letor": Sheet.of("As published with LETOR 2.0", evidence.letor)},
        {name: Figure(f"{USERS[name].title}; {n}.", chart(records)) for name, records in evidence.values.items()}
        | {name: Figure(titles[name], thresholds(records)) for name, records in curves.items()},
        observations(evidence.values["figure-6"]),
    )


def observations(records: Sequence[Record]) -> list[Observation]:
    """Say what file order does for a feature that carries no information."""
    idf = [record for record in records if record["system"] == FEATURES[5] and record["measure"] == "MAP at 1"]
    value = {record["ties"]: record["value"] for record in idf}
    return [
        Observation(
            "What does the order of the file do for IDF, which is the same for all documents of a query?",
            f"Its MAP is {value['order']:.4f} in file order and {value['expected']:.4f} over all orders of ties: the"
            " file lists relevant documents early.",
        )
    ]


EXPERIMENT = Experiment(
    "s11-ohsumed",
    "figures 6, 7 and 8",
    "Features as systems on OHSUMED, for judges and for virtual users",
    "µMAP, nDCG and NDCNG compare features as rankers. A feature can also stand for a user who rates documents on"
    " many levels, 9 for the term frequency of the title, 158 for its TF-IDF; that feature itself then scores 1.",
    run,
    claims=(average, scores_one, levels, nearest, pearson, more_levels, letor),
    needs=(FOLDER,),
)
