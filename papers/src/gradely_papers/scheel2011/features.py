"""Features of OHSUMED as systems, measured against the judges' grades or against a feature that stands for a user."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely.data import Report
from gradely.data.read.sources import Source
from gradely.data.types import Floats
from gradely.measures import AP, nDCG
from gradely_papers.scheel2011.collection import FEATURES, Collection
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import Record

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
