"""What F14 prints: its table 1 of collections, its tables 2 and 3 of τ, and how to tell that judgments are the same."""

import csv
from importlib import resources

import numpy as np

from gradely.data import Qrels
from gradely.data.types import Ints
from gradely_papers.verdicts import Record

REFERENCES = ("AP", "nDCG", "RBP", "bpref")


def read_printed(table: str) -> list[dict[str, str]]:
    """Return a table of the paper: collections, or tau."""
    text = (resources.files("gradely_papers.ferrante2014") / f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def printed_records() -> list[Record]:
    """Return the paper's τ, one record per pair of measures."""
    return [
        {**{x: row[x] for x in ("collection", "topics", "g", "measure")}, "reference": y, "tau": float(row[y])}
        for row in read_printed("tau")
        for y in ("GAP", *REFERENCES)
    ]


def printed_tau(collection: str | None) -> dict[tuple[str, ...], float]:
    """Return the paper's τ for one of its collections, by topics, g, measure and reference; none for others."""
    return {
        tuple(record[x] for x in ("topics", "g", "measure", "reference")): record["tau"]
        for record in printed_records()
        if record["collection"] == collection
    }


def count_relevant(qrels: Qrels) -> Ints:
    """Return how many relevant documents each topic has."""
    return np.diff(np.concatenate([[0], np.cumsum(qrels.grade > 0)])[qrels.start])


def recognise(qrels: Qrels) -> dict[str, str] | None:
    """Return the paper's collection that has as many topics and relevant documents; None where none has."""
    relevant = count_relevant(qrels)
    ours = (len(relevant), relevant.min(), round(float(relevant.mean()), 2), relevant.max())
    columns = ("topics", "min relevant", "mean relevant", "max relevant")
    return next((row for row in read_printed("collections") if tuple(float(row[x]) for x in columns) == ours), None)


def merge_levels(qrels: Qrels, theirs: dict[str, str] | None) -> Qrels:
    """Return judgments with the levels that the paper has: its highest one stands for higher ones, too.

    Of the paper's degrees of relevance one is "not relevant".
    """
    top = float(theirs["degrees"]) - 1 if theirs else np.inf
    return Qrels(qrels.queries, qrels.start, qrels.docs, np.minimum(qrels.grade, top), qrels.name)
