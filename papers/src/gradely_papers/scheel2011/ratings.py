"""S11's outlook: µMAP and NDCNG on film ratings of ten, five and two levels, with simple recommenders as systems."""

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
from gradely_papers.verdicts import Record, listed

HELD_OUT = 5
"""one in this many ratings of each user is held out"""
DAMPING = 5
"""number of ratings equal to the overall mean that are added to each film, so that a single rating does not decide"""


class Ratings(NamedTuple):
    """Ratings [users, films] in stars, 0 where there is none, and which of them are held out."""

    stars: Floats
    held_out: Bools

    @property
    def training(self) -> Floats:
        """The ratings that recommenders see."""
        return np.where(self.held_out, 0.0, self.stars)


def read(path: Path, seed: int) -> Ratings:
    """Read a table of userId, movieId, rating, and hold some of each user's ratings out."""
    qrels = read_qrels(path)
    user = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    film = np.unique(np.asarray(qrels.docs), return_inverse=True)[1]
    stars = np.zeros((len(qrels), int(film.max()) + 1))
    stars[user, film] = qrels.grade
    return Ratings(stars, hold_out(stars, seed))


def hold_out(stars: Floats, seed: int) -> Bools:
    """Return which ratings are held out: of each user a random fifth."""
    draw = np.where(stars > 0, np.random.default_rng(seed).random(stars.shape), 2.0)
    rank = np.argsort(np.argsort(draw, axis=1), axis=1)
    return rank < np.count_nonzero(stars, axis=1, keepdims=True) // HELD_OUT


def popularity(training: Floats) -> Floats:
    """Score a film by how many rated it; the same for every user, and often tied."""
    return np.broadcast_to(np.count_nonzero(training, axis=0), training.shape).astype(np.float64)


def mean_rating(training: Floats) -> Floats:
    """Score a film by its mean rating, damped; the same for every user."""
    counts, overall = np.count_nonzero(training, axis=0), training.sum() / np.count_nonzero(training)
    return np.broadcast_to((training.sum(axis=0) + DAMPING * overall) / (counts + DAMPING), training.shape)


def item_item(training: Floats) -> Floats:
    """Score a film by the sum over the films that the user rated of likeness × rating.

    The likeness of two films is the cosine of their ratings. Its matrix is never built, since the sum is a product of
    matrices. Scores are rounded, so that films with the same ratings tie whatever the order in which the product adds.
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
REORDERED = "Does the number of levels reorder the recommenders?"
MEASURES: dict[str, Measure] = {"µMAP": muAP(), "nDCG": nDCG(gain="exp"), "NDCNG": NDCNG()}
SCALES = {"half stars": 10, "whole stars": 5, "four stars or not": 2}
"""how many levels each scale has; the lowest is 0"""
USERS = 64
"""users per batch"""


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


def change(records: list[Record], ranked: str, measure: str, fewer: int = 5) -> float:
    """Return the mean absolute change from half stars, 10 levels, to fewer levels."""
    half_stars, others = (by_recommender(records, ranked, measure, levels) for levels in (10, fewer))
    return float(np.mean([abs(others[name] - half_stars[name]) for name in half_stars]))


def order(records: list[Record], ranked: str, measure: str, levels: int) -> list[str]:
    """Return the recommenders, best first."""
    means = by_recommender(records, ranked, measure, levels)
    return sorted(means, key=means.__getitem__, reverse=True)


def tasks(records: list[Record]) -> list[str]:
    """Return which films are ranked, the tasks."""
    return list(dict.fromkeys(record["ranked"] for record in records))


def chart(records: list[Record]) -> Any:
    """Return the mean of each recommender by scale, one panel per measure, one row per task."""
    alt = altair()
    return style(
        alt.vconcat(*(_row([record for record in records if record["ranked"] == task]) for task in tasks(records)))
    )


def _row(records: list[Record]) -> Any:
    """Return one task; its values have a range of their own."""
    alt = altair()
    x = alt.X("levels:O", title="levels of the scale", sort=[*SCALES.values()], axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title="mean over the users", scale=alt.Scale(zero=False, padding=10))
    lines = draw_lines(records, x, y, "recommender", [*RECOMMENDERS]).properties(width=190, height=190)
    panels = lines.facet(alt.Column("measure:N", title=None, sort=[*MEASURES]))
    return panels.properties(title=f"Ranked: {records[0]['ranked']}")


def observations(records: list[Record]) -> list[Observation]:
    """Ask of real ratings what the paper asked of artificial lists."""
    return [
        Observation("Which recommender is best by µMAP, with half stars?", describe_winners(records)),
        *(_change(records, ranked, levels) for ranked in tasks(records) for levels in (5, 2)),
        Observation(REORDERED, describe_reordering(records)),
    ]


def describe_winners(records: list[Record]) -> str:
    """Say which recommender is best at each task."""
    return "; ".join(f"{order(records, ranked, 'µMAP', 10)[0]} for {ranked}" for ranked in tasks(records)) + "."


def _change(records: list[Record], ranked: str, levels: int) -> Observation:
    changes = {name: change(records, ranked, name, levels) for name in MEASURES}
    return Observation(
        f"Ranking {ranked}: how far do the measures move from 10 levels to {levels}?",
        f"Mean absolute change over the recommenders: {listed(changes, 4)}.{compare_with_ndcg(changes)}",
    )


def compare_with_ndcg(changes: Mapping[str, float]) -> str:
    """Say whether µMAP and NDCNG move as little as the paper's thesis has it, or farther than nDCG."""
    plain, others = changes["nDCG"], {name: changes[name] for name in ("µMAP", "NDCNG")}
    if max(others.values()) < SMALL * plain:
        return f" µMAP and NDCNG move by less than {SMALL:.0%} of what nDCG moves by, as in the paper's figures."
    farther = [name for name, value in others.items() if value > plain]
    if not farther:
        return ""
    verb = "moves" if len(farther) == 1 else "move"
    return (
        f" {' and '.join(farther)} {verb} farther than nDCG: here the number of levels does matter, against the paper."
    )


def shift(rows: list[Record]) -> Observation:
    """Say what it does to shift the scale, as S11 asks where the irrelevant level is not 0."""
    lines = "; ".join(
        f"{row['recommender']}: " + ", ".join(f"{name} {row[name]:.3f} and {after[name]:.3f}" for name in MEASURES)
        for row, after in zip(rows[::2], rows[1::2], strict=True)
    )
    return Observation("What does the shift rule do to whole stars, 1 to 5 as given and 0 to 4 shifted?", f"{lines}.")


def describe_reordering(records: list[Record]) -> str:
    """Say for which measures fewer levels put the recommenders in another order than half stars, 10 levels, do."""
    changes = [
        f"{name} of {ranked} ({' > '.join(order(records, ranked, name, 10))} with 10 levels,"
        f" {' > '.join(order(records, ranked, name, fewer))} with {fewer})"
        for ranked in tasks(records)
        for name in MEASURES
        for fewer in (5, 2)
        if order(records, ranked, name, 10) != order(records, ranked, name, fewer)
    ]
    return (
        f"The number of levels reorders the recommenders by {' and by '.join(changes)}, and by nothing else."
        if changes
        else "The number of levels reorders the recommenders by no measure."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Hold ratings out, recommend, measure."""
    ratings = read(library.path(DATA), seed)
    records, shifts = score_recommenders(ratings, progress), by_shift(ratings)
    users, films = ratings.stars.shape
    title = f"Recommenders by number of levels: ordering what each of {users:,} users rated, and finding it."
    return Outcome(
        f"We held a random {HELD_OUT}th of the ratings of each of {users:,} users out and ranked, by three simple"
        f" recommenders, the films that the user rated, and all {films:,} films but those known to be seen. Grades are"
        " half stars (0 to 9), whole stars (0 to 4), or four stars and more against less; the lowest level is 0, as the"
        " paper asks. Popularity ties often; values are means over all orders.",
        records,
        {
            "means": Sheet.of("The mean over all users", records),
            "shift": Sheet.of("The shift rule: whole stars as given and with the lowest at 0", shifts),
        },
        {"levels": Figure(title, chart(records))},
        [*observations(records), shift(shifts)],
    )


EXPERIMENT = Experiment(
    "s11-ratings",
    "outlook",
    "µMAP and NDCNG of recommenders, on film ratings in half stars",
    "The paper proposes µMAP and NDCNG for users who rate on many levels, and leaves film ratings to later work.",
    run,
    (("outlook", "levels, means, shift"),),
    needs=(DATA,),
)
