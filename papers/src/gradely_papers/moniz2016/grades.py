"""Grades by place in the true order, which M16 compares with φ."""

import numpy as np

from gradely.data.ids import Floats, Ints

TOP = ((10, 3.0), (25, 2.0), (50, 1.0))
"""the last place and the grade of each group; the rest has grade 0"""


def adhoc(scores: Floats) -> Floats:
    """Return the grade of each item of each row: 3 for the top 10, 2 for the top 25, 1 for the top 50, 0 for the rest.

    Items with equal scores have the grade of the last of their places, so items that nobody shared have 0.
    """
    return _grades(places(scores))


def places(scores: Floats) -> Ints:
    """Return the place of each item in the true order of its row; equal scores have the last of their places.

    >>> places(np.array([[5.0, 9.0, 5.0, 1.0]])).tolist()
    [[3, 1, 3, 4]]
    """
    return np.asarray(np.sum(scores[:, None, :] >= scores[:, :, None], axis=2))


def place_grades(items: int) -> Floats:
    """Return the grades of a list in its true order, best first, even if scores are equal."""
    return _grades(np.arange(1, items + 1))


def _grades(place: Ints) -> Floats:
    return np.select([place <= last for last, _ in TOP], [grade for _, grade in TOP], 0.0)
