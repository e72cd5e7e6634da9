"""Film ratings on scales of ten, five and two levels, and how simple recommenders do on them."""

from collections.abc import Mapping

import numpy as np

from gradely.data import Report
from gradely.data.types import Bools, Floats
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.measures import NDCNG, Measure, muAP, nDCG
from gradely.papers.scheel2011.recommenders import RECOMMENDERS, Ratings
from gradely.papers.verdicts import Record
from gradely.relevance import Shift

MEASURES: dict[str, Measure] = {"µMAP": muAP(), "nDCG": nDCG(gain="exp"), "NDCNG": NDCNG()}
SCALES = {"half stars": 10, "whole stars": 5, "four stars or not": 2}
"""how many levels each scale has; the lowest is 0"""
USERS = 64
"""how many users are ranked in one go"""


def views(ratings: Ratings) -> dict[str, Bools]:
    """Return which films are ranked: those that the user rated, or all that are new to them, to find these among."""
    return {"films they rated": ratings.held_out, "all films new to them": ratings.training == 0}


def grades(stars: Floats, scale: str) -> Floats:
    """Return stars as grades, the lowest level 0, as the paper asks; what is not rated is 0, too."""
    if scale == "half stars":
        return np.maximum(2 * stars - 1, 0)
    return np.maximum(np.ceil(stars) - 1, 0) if scale == "whole stars" else (stars >= 4).astype(np.float64)


def score_recommenders(ratings: Ratings, progress: Report) -> list[Record]:
    """Return the mean over all users of each measure, for each recommender, task and scale."""
    out: list[Record] = []
    for i, (name, recommend) in enumerate(RECOMMENDERS.items()):
        scores = recommend(ratings.training)
        for title, ranked in views(ratings).items():
            out += [{"recommender": name, "ranked": title} | record for record in by_scale(ratings, scores, ranked)]
        progress((i + 1) / len(RECOMMENDERS))
    return out


def by_scale(ratings: Ratings, scores: Floats, ranked: Bools) -> list[Record]:
    """Return the mean over all users of each measure on each scale."""
    stars = np.where(ratings.held_out, ratings.stars, 0.0)
    return [
        {"levels": levels, "measure": measure, "mean": mean}
        for scale, levels in SCALES.items()
        for measure, mean in means(scores, grades(stars, scale), ranked).items()
    ]


def means(
    scores: Floats, labels: Floats, ranked: Bools, measures: Mapping[str, Measure] = MEASURES
) -> dict[str, float]:
    """Return the mean over users of each measure; films that are not to be ranked are left out."""
    values: dict[str, list[Floats]] = {name: [] for name in measures}
    for start in range(0, len(scores), USERS):
        rows = slice(start, start + USERS)
        batch = rank_films(scores[rows], labels[rows], ranked[rows])
        for name, measure in measures.items():
            values[name].append(np.asarray(measure(batch)))
    return {name: float(np.mean(np.concatenate(parts))) for name, parts in values.items()}


def rank_films(scores: Floats, labels: Floats, ranked: Bools) -> Batch:
    """Return the rankings in no more columns than the longest needs."""
    order = np.argsort(~ranked, axis=1, kind="stable")[:, : int(ranked.sum(axis=1).max())]
    return from_arrays(*(np.take_along_axis(array, order, axis=1) for array in (scores, labels, ranked)))


def by_shift(ratings: Ratings) -> list[Record]:
    """Return the means on whole stars as they are given, 1 to 5, and shifted so that the lowest means not relevant."""
    labels = np.ceil(np.where(ratings.held_out, ratings.stars, 0.0))
    shifted = {name: measure.replace(relevance=Shift(1)) for name, measure in MEASURES.items()}
    return [
        {"recommender": name, "stars": stars} | means(recommend(ratings.training), labels, ratings.held_out, measures)
        for name, recommend in RECOMMENDERS.items()
        for stars, measures in (("1 to 5", MEASURES), ("0 to 4", shifted))
    ]


def by_recommender(records: list[Record], ranked: str, measure: str, levels: int) -> dict[str, float]:
    """Return the mean of each recommender, for a task, a measure and a scale."""
    criteria = {"ranked": ranked, "measure": measure, "levels": levels}
    return {record["recommender"]: record["mean"] for record in records if criteria.items() <= record.items()}


def change(records: list[Record], ranked: str, measure: str) -> float:
    """Return the mean absolute change from half stars to whole stars."""
    half_stars, whole_stars = (by_recommender(records, ranked, measure, levels) for levels in (10, 5))
    return float(np.mean([abs(whole_stars[name] - half_stars[name]) for name in half_stars]))


def order(records: list[Record], ranked: str, measure: str, levels: int) -> list[str]:
    """Return the recommenders, best first."""
    means = by_recommender(records, ranked, measure, levels)
    return sorted(means, key=means.__getitem__, reverse=True)
