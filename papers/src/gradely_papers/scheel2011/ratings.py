"""S11's outlook: µMAP and NDCNG of simple recommenders on film ratings of ten, five and two levels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradely import NDCNG, Batch, Measure, Shift, from_arrays, muAP, nDCG, read_qrels
from gradely.data.ids import Bools, Floats
from gradely_papers.charts import altair, draw_lines, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.progress import Report
from gradely_papers.scheel2011.means import SMALL
from gradely_papers.verdicts import Record, group_by, listed

HELD_OUT = 5
"""one of this many ratings of each user is held out"""
DAMPING = 5
"""the number of ratings equal to the overall mean that are added to each film"""


class Ratings(NamedTuple):
    """Ratings [users, films] in stars, or 0 for no rating, and which of them are held out."""

    stars: Floats
    held_out: Bools

    @property
    def training(self) -> Floats:
        """The ratings that recommenders see."""
        return np.where(self.held_out, 0.0, self.stars)


def read(path: Path, seed: int) -> Ratings:
    """Read a table with userId, movieId and rating, and hold out some ratings of each user."""
    qrels = read_qrels(path)
    user = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    film = np.unique(np.asarray(qrels.docs), return_inverse=True)[1]
    stars = np.zeros((len(qrels), int(film.max()) + 1))
    stars[user, film] = qrels.grade
    return Ratings(stars, hold_out(stars, seed))


def hold_out(stars: Floats, seed: int) -> Bools:
    """Return which ratings are held out, a random fifth of each user's."""
    draw = np.where(stars > 0, np.random.default_rng(seed).random(stars.shape), 2.0)
    rank = np.argsort(np.argsort(draw, axis=1), axis=1)
    return rank < np.count_nonzero(stars, axis=1, keepdims=True) // HELD_OUT


def popularity(training: Floats) -> Floats:
    """Score a film by its number of ratings, equally for every user."""
    return np.broadcast_to(np.count_nonzero(training, axis=0), training.shape).astype(np.float64)


def mean_rating(training: Floats) -> Floats:
    """Score a film by its damped mean rating, equally for every user."""
    counts, overall = np.count_nonzero(training, axis=0), training.sum() / np.count_nonzero(training)
    return np.broadcast_to((training.sum(axis=0) + DAMPING * overall) / (counts + DAMPING), training.shape)


def item_item(training: Floats) -> Floats:
    """Score a film by the sum of similarity × rating over the films that the user rated.

    The similarity of two films is the cosine of their ratings. The sum is a product of matrices that never builds the
    matrix of similarities. Scores are rounded, so films with equal ratings tie in any order of addition.
    """
    length = np.sqrt(np.sum(training**2, axis=0))
    unit = training / np.where(length > 0, length, 1.0)
    return np.round((training @ unit.T) @ unit, 9)


RECOMMENDERS: dict[str, Callable[[Floats], Floats]] = {
    "popularity": popularity,
    "mean rating": mean_rating,
    "item–item": item_item,
}


DATA = "ratings-ml-latest-small/ratings.csv.gz"
MEASURES: dict[str, Measure] = {"µMAP": muAP(), "nDCG": nDCG(gain="exp"), "NDCNG": NDCNG()}
SCALES = {"half stars": 10, "whole stars": 5, "four stars or not": 2}
"""the number of levels of each scale, of which the lowest is 0"""
USERS = 64
"""users per batch"""


def views(ratings: Ratings) -> dict[str, Bools]:
    """Return which films are ranked: those that were held out, or all that are new to the user."""
    return {"films they rated": ratings.held_out, "all films new to them": ratings.training == 0}


def grades(stars: Floats, scale: str) -> Floats:
    """Return stars as grades from 0, as the paper asks; unrated films also have grade 0."""
    if scale == "half stars":
        return np.maximum(2 * stars - 1, 0)
    return np.maximum(np.ceil(stars) - 1, 0) if scale == "whole stars" else (stars >= 4).astype(np.float64)


def score_recommenders(ratings: Ratings, progress: Report) -> list[Record]:
    """Return the mean of each measure over all users, for each recommender, task and scale."""
    out: list[Record] = []
    for i, (name, recommend) in enumerate(RECOMMENDERS.items()):
        scores = recommend(ratings.training)
        for title, ranked in views(ratings).items():
            out += [{"recommender": name, "ranked": title} | record for record in by_scale(ratings, scores, ranked)]
        progress((i + 1) / len(RECOMMENDERS))
    return out


def by_scale(ratings: Ratings, scores: Floats, ranked: Bools) -> list[Record]:
    """Return the mean of each measure over all users, for each scale."""
    stars = np.where(ratings.held_out, ratings.stars, 0.0)
    return [
        {"levels": levels, "measure": measure, "mean": mean}
        for scale, levels in SCALES.items()
        for measure, mean in means(scores, grades(stars, scale), ranked).items()
    ]


def means(
    scores: Floats, labels: Floats, ranked: Bools, measures: Mapping[str, Measure] = MEASURES
) -> dict[str, float]:
    """Return the mean of each measure over all users, ranking only the given films."""
    values: dict[str, list[Floats]] = {name: [] for name in measures}
    for start in range(0, len(scores), USERS):
        rows = slice(start, start + USERS)
        batch = rank_films(scores[rows], labels[rows], ranked[rows])
        for name, measure in measures.items():
            values[name].append(np.asarray(measure(batch)))
    return {name: float(np.mean(np.concatenate(parts))) for name, parts in values.items()}


def rank_films(scores: Floats, labels: Floats, ranked: Bools) -> Batch:
    """Return the rankings, with as many columns as the longest."""
    order = np.argsort(~ranked, axis=1, kind="stable")[:, : int(ranked.sum(axis=1).max())]
    return from_arrays(*(np.take_along_axis(array, order, axis=1) for array in (scores, labels, ranked)))


def by_shift(ratings: Ratings) -> list[Record]:
    """Return the means on whole stars from 1 to 5, and shifted to levels from 0 to 4."""
    labels = np.ceil(np.where(ratings.held_out, ratings.stars, 0.0))
    shifted = {name: measure.replace(relevance=Shift(1)) for name, measure in MEASURES.items()}
    return [
        {"recommender": name, "stars": stars} | means(recommend(ratings.training), labels, ratings.held_out, measures)
        for name, recommend in RECOMMENDERS.items()
        for stars, measures in (("1 to 5", MEASURES), ("0 to 4", shifted))
    ]


def by_recommender(records: list[Record], ranked: str, measure: str, levels: int) -> dict[str, float]:
    """Return the mean of each recommender for a task, a measure and a scale."""
    criteria = {"ranked": ranked, "measure": measure, "levels": levels}
    return {record["recommender"]: record["mean"] for record in records if criteria.items() <= record.items()}


def change(records: list[Record], ranked: str, measure: str, fewer: int = 5) -> float:
    """Return the mean absolute change from 10 levels (half stars) to fewer levels."""
    half_stars, others = (by_recommender(records, ranked, measure, levels) for levels in (10, fewer))
    return float(np.mean([abs(others[name] - half_stars[name]) for name in half_stars]))


def order(records: list[Record], ranked: str, measure: str, levels: int) -> list[str]:
    """Return the recommenders, best first."""
    means = by_recommender(records, ranked, measure, levels)
    return sorted(means, key=means.__getitem__, reverse=True)


def tasks(records: list[Record]) -> list[str]:
    """Return the tasks."""
    return list(group_by("ranked", records))


def chart(records: list[Record]) -> Any:
    """Return the means by scale, with a panel for each measure and a row, with a y axis of its own, for each task."""
    alt, rows = altair(), []
    x = alt.X("levels:O", title="levels of the scale", sort=[*SCALES.values()], axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title="mean over the users", scale=alt.Scale(zero=False, padding=10))
    for task, own in group_by("ranked", records).items():
        lines = draw_lines(own, x, y, "recommender", [*RECOMMENDERS]).properties(width=190, height=190)
        panels = lines.facet(alt.Column("measure:N", title=None, sort=[*MEASURES]))
        rows.append(panels.properties(title=f"Ranked: {task}"))
    return style(alt.vconcat(*rows))


def observations(records: list[Record]) -> list[Observation]:
    """Return the paper's questions about artificial lists, asked of real ratings."""
    winners = "; ".join(f"{order(records, ranked, 'µMAP', 10)[0]} for {ranked}" for ranked in tasks(records))
    return [
        Observation("Which recommender is best by µMAP, with half stars?", f"{winners}."),
        *(_change(records, ranked, levels) for ranked in tasks(records) for levels in (5, 2)),
        Observation("Does the number of levels reorder the recommenders?", describe_reordering(records)),
    ]


def _change(records: list[Record], ranked: str, levels: int) -> Observation:
    changes = {name: change(records, ranked, name, levels) for name in MEASURES}
    return Observation(
        f"Ranking {ranked}: how far do the measures move from 10 levels to {levels}?",
        f"Mean absolute change of the recommenders: {listed(changes, 4)}.{compare_with_ndcg(changes)}",
    )


def compare_with_ndcg(changes: Mapping[str, float]) -> str:
    """Say whether µMAP and NDCNG move much less than nDCG, as in the paper, or more than nDCG."""
    plain, others = changes["nDCG"], {name: changes[name] for name in ("µMAP", "NDCNG")}
    if max(others.values()) < SMALL * plain:
        return f" µMAP and NDCNG move by less than {SMALL:.0%} of nDCG's move, as in the paper's figures."
    farther = [name for name, value in others.items() if value > plain]
    if not farther:
        return ""
    verb = "moves" if len(farther) == 1 else "move"
    return f" {' and '.join(farther)} {verb} more than nDCG: contrary to the paper, the number of levels matters."


def shift(rows: list[Record]) -> Observation:
    """Return the effect of shifting a scale whose irrelevant level is not 0."""
    lines = "; ".join(
        f"{row['recommender']}: " + ", ".join(f"{name} {row[name]:.3f} and {after[name]:.3f}" for name in MEASURES)
        for row, after in zip(rows[::2], rows[1::2], strict=True)
    )
    return Observation(
        "What does the shift rule change for whole stars, 1 to 5 as given and 0 to 4 shifted?", f"{lines}."
    )


def describe_reordering(records: list[Record]) -> str:
    """Name the measures for which fewer levels reorder the recommenders, compared with 10 levels."""
    changes = [
        f"{name} of {ranked} ({' > '.join(order(records, ranked, name, 10))} with 10 levels,"
        f" {' > '.join(order(records, ranked, name, fewer))} with {fewer})"
        for ranked in tasks(records)
        for name in MEASURES
        for fewer in (5, 2)
        if order(records, ranked, name, 10) != order(records, ranked, name, fewer)
    ]
    return f"Only by {' and by '.join(changes)}." if changes else "No, by no measure."


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Hold out ratings, recommend films and measure the recommendations."""
    ratings = read(library.path(DATA), seed)
    records, shifts = score_recommenders(ratings, progress), by_shift(ratings)
    users, films = ratings.stars.shape
    title = f"Recommenders by number of levels: ranking the films that {users:,} users rated, and all new films."
    return Outcome(
        f"We held out a random {HELD_OUT}th of the ratings of each of {users:,} users. Three simple recommenders ranked"
        f" the held-out films, and all {films:,} films except those in the user's other ratings. Grades are half stars"
        " (0 to 9), whole stars (0 to 4), or 1 for four stars and more; the lowest level is 0, as the paper asks."
        " Popularity has many ties; values are means over all orders.",
        records,
        {
            "means": Sheet.of("The mean over all users", records),
            "shift": Sheet.of("The shift rule: whole stars as given, and shifted to 0", shifts),
        },
        {"levels": Figure(title, chart(records))},
        [*observations(records), shift(shifts)],
    )


EXPERIMENT = Experiment(
    "s11-ratings",
    "outlook",
    "µMAP and NDCNG of recommenders, on film ratings in half stars",
    "The paper proposes µMAP and NDCNG for users who rate on many levels, and leaves film ratings to future work.",
    run,
    (("outlook", "levels, means, shift"),),
    needs=(DATA,),
)
