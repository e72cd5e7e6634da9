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
    text: str
    """what the letters of the formula mean, and other prose; may be empty"""
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
    summary, *paragraphs = (inspect.getdoc(measure) or "").split("\n\n")
    formula = [inspect.cleandoc(part) for part in paragraphs if part.startswith(" ")]
    prose = [part for part in paragraphs if not part.startswith((" ", ">>>", "Ties:"))]
    labelled = _split_labels(next(part for part in paragraphs if part.startswith("Ties:")))
    used = [
        (key, "all" if key == "k" and measure.k is None else show(getattr(measure, key)), declared.doc)
        for key, declared in parameters(type(measure)).items()
    ]
    text = " ".join(" ".join(prose).split())
    return Card(name, summary, "\n".join(formula), text, labelled["Ties"], labelled["Reference"], used)


def _split_labels(paragraph: str) -> dict[str, str]:
    """Return what stands behind Ties and Reference; each goes on until the next begins."""
    parts: dict[str, list[str]] = {"Ties": [], "Reference": []}
    now = "Ties"
    for line in paragraph.split("\n"):
        head, colon, rest = line.partition(": ")
        now, text = (head, rest) if colon and head in parts else (now, line)
        parts[now].append(text)
    return {label: " ".join(lines) for label, lines in parts.items()}
