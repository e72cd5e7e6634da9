"""Outcome: what an experiment of a paper gives, and Experiment: what there is to know before it runs."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradely.data import Report
from gradely.papers.library import Library
from gradely.tables import Table

Record: TypeAlias = dict[str, Any]
"""a row of what an experiment measured, by column"""


class Claim(NamedTuple):
    """Something the paper says, beside what we found."""

    text: str
    """what the paper says, as a sentence"""
    theirs: str
    """the paper's numbers; '' where it prints none"""
    ours: str
    """our numbers"""
    holds: bool

    @property
    def verdict(self) -> str:
        """Holds or differs."""
        return "holds" if self.holds else "differs"


class Sheet(NamedTuple):
    """A table with what it shows."""

    title: str
    table: Table


class Figure(NamedTuple):
    """An altair chart with what it shows."""

    title: str
    chart: Any


class Outcome(NamedTuple):
    """What an experiment gives: what was done and came out, in sentences; claims, tables and figures by name."""

    done: str
    found: str
    claims: Sequence[Claim]
    sheets: dict[str, Sheet]
    figures: dict[str, Figure]

    def claims_table(self) -> Table:
        """Return the claims as a table."""
        rows = [[claim.verdict, claim.text, claim.theirs, claim.ours] for claim in self.claims]
        return Table(["verdict", "claim", "the paper", "here"], rows)


Work: TypeAlias = Callable[[Library, int, Report], Outcome]
"""From data, seed and whom to tell the progress, from 0 to 1, to the outcome."""


class Experiment(NamedTuple):
    """An experiment of a paper."""

    name: str
    paper: str
    """key of PAPERS"""
    part: str
    """the figure or table of the paper"""
    shows: str
    """what it shows, in a line"""
    claim: str
    """what the paper claims, in a few sentences"""
    needs: tuple[str, ...]
    """files and folders of real data, relative to the data folder; * and ** stand for any names"""
    run: Work
    data: str = ""
    """the data in words, where `needs` does not say enough"""

    @property
    def wants(self) -> str:
        """What data it needs, in words."""
        return self.data or ", ".join(self.needs)
