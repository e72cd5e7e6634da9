"""A card for each measure: what it says, formula, parameters, ties, reference."""

import inspect
from typing import NamedTuple

from gradely.measures import Measure, parameters
from gradely.measures.base import show


class Card(NamedTuple):
    """All about a measure as it was used."""

    name: str
    summary: str
    formula: str
    ties: str
    reference: str
    parameters: list[tuple[str, str, str]]
    """name, value, meaning"""


def card(name: str, measure: Measure) -> Card:
    """Return the card of a measure, from its documentation and its parameters.

    >>> from gradely import RR
    >>> card("RR@10", RR(k=10)).parameters[-1][:2]
    ('k', '10')
    """
    summary, *rest = [part for part in (inspect.getdoc(measure) or "").split("\n\n") if not part.startswith(">>>")]
    lines = "\n".join(rest).split("\n")
    used = [
        (each, "all" if each == "k" and measure.k is None else show(getattr(measure, each)), declared.doc)
        for each, declared in parameters(type(measure)).items()
    ]
    return Card(name, summary, *_parts(lines), used)


def _parts(lines: list[str]) -> tuple[str, str, str]:
    """Return formula, ties and reference; a part goes on until the next begins."""
    parts: dict[str, list[str]] = {"formula": [], "Ties": [], "Reference": []}
    now = "formula"
    for line in lines:
        head, colon, rest = line.partition(": ")
        if colon and head in parts:
            now, line = head, rest  # noqa: PLW2901 - the rest of the line
        parts[now].append(line)
    return " ".join(parts["formula"]), " ".join(parts["Ties"]), " ".join(parts["Reference"])
