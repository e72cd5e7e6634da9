"""Simple recommenders on film ratings: by popularity, by mean rating, and from film to film."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradely.data import read_qrels
from gradely.data.types import Bools, Floats

HELD_OUT = 5
"""one of so many ratings of each user is held out"""
DAMPING = 5
"""so many ratings of the mean of all are added to those of each film, so that a single one does not decide"""


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

    The likeness of two films is the cosine of their ratings. It is never laid out: the sum is a product of matrices.
    Scores are rounded, so that films with the same ratings tie whatever the order in which the product adds.
    """
    length = np.sqrt(np.sum(training**2, axis=0))
    unit = training / np.where(length > 0, length, 1.0)
    return np.round((training @ unit.T) @ unit, 9)


RECOMMENDERS: dict[str, Callable[[Floats], Floats]] = {
    "popularity": popularity,
    "mean rating": mean_rating,
    "item–item": item_item,
}
