"""Settings: the options that apply to all runs and measures of a call, checked once and passed on."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from gradely.errors import DataError, GradelyError, did_you_mean
from gradely.parallel import workers

TiePolicy: TypeAlias = Literal["expected", "sampled", "trec", "order", "best", "worst", "random"]
QueryPolicy: TypeAlias = Literal["qrels", "both", "run"]
Precision: TypeAlias = Literal["double", "single"]
EmptyPolicy: TypeAlias = Literal["zero", "skip", "one"]
DuplicatePolicy: TypeAlias = Literal["error", "max", "sum", "first"]
"""what to do with duplicate documents of a query"""
ArrayTies: TypeAlias = Literal["expected", "order", "best", "worst", "random"]
"""tie policies for arrays, which have no document ids"""
TestName: TypeAlias = Literal["t", "wilcoxon", "randomization", "bootstrap", "tukey", "max-t"]
Undecided: TypeAlias = Literal["pass", "fail"]
"""whether a gate that can show neither a drop nor its absence passes"""
GateTest: TypeAlias = Literal["t", "wilcoxon", "randomization", "bootstrap"]
"""tests of a single pair, which can be one-sided"""
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Slope: TypeAlias = Literal["auto", "least-squares", 1]
"""how closely means follow the judge, who labelled more queries than people did"""

TIES: dict[TiePolicy, str] = {
    "expected": "the exact mean over all orders of tied documents",
    "sampled": "the exact mean if it is known, else the mean of `samples` (200) random orders, with its standard error",
    "trec": "tied documents by document id, in descending byte order, as trec_eval does",
    "order": "tied documents in input order",
    "best": "tied documents in the order that is best for each measure",
    "worst": "tied documents in the order that is worst for each measure",
    "random": "tied documents in a random order, drawn with a seed",
}
QUERIES: dict[QueryPolicy, str] = {
    "qrels": "all queries of the qrels; a query missing from the run counts as 0",
    "both": "the queries that are in both the qrels and the run",
    "run": "all queries of the run; a query without judgments counts as 0",
}
PRECISIONS: dict[Precision, str] = {
    "double": "scores are not rounded",
    "single": "scores are rounded to single precision first, as trec_eval 9 and older do; more of them tie",
}
EMPTY: dict[EmptyPolicy, str] = {
    "zero": "a query without relevant documents counts as 0",
    "skip": "a query without relevant documents does not count",
    "one": "a query without relevant documents counts as 1, whatever was retrieved",
}

SAMPLES = 200
"""random orders that are drawn by default: their mean is mostly within 0.02 of the mean over all orders"""


@dataclass(frozen=True)
class Settings:
    """How runs are evaluated. Public functions take these settings as keywords and make one object of them."""

    ties: TiePolicy = "expected"
    """how tied documents are ordered"""
    queries: QueryPolicy = "qrels"
    """which queries count"""
    judged_only: bool = False
    """whether unjudged documents are dropped from the runs first"""
    precision: Precision = "double"
    """whether scores are rounded before they are compared"""
    seed: int = 0
    """the seed of all random draws"""
    threads: int | None = None
    """the number of threads; None means one per processor"""
    empty: EmptyPolicy = "zero"
    """how queries without relevant documents count"""
    exclude_self: bool = False
    """whether documents with the id of their query are dropped from the runs first"""
    duplicates: DuplicatePolicy = "error"
    """what to do with duplicate documents of a query"""
    document_pattern: str | None = None
    """the regular expression that finds the document in the name of a passage, if runs hold passages"""
    samples: int = SAMPLES
    """the number of orders that ties="sampled" draws"""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        check_choice("tie policy", self.ties, TIES)
        check_choice("query policy", self.queries, QUERIES)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("way to count queries without relevant documents", self.empty, EMPTY)
        if not isinstance(self.exclude_self, bool):
            raise DataError(f"exclude_self must be True or False; found {self.exclude_self!r}")
        check_seed(self.seed)
        if not isinstance(self.samples, Integral) or self.samples < 4 or self.samples % 2:
            raise DataError(
                f"samples must be an even number of at least 4, since orders are drawn in pairs; found {self.samples!r}"
            )
        if self.threads is not None and (not isinstance(self.threads, Integral) or self.threads < 1):
            raise DataError(f"the number of threads must be at least 1; found {self.threads!r}")

    def replace(self, **changes: Any) -> "Settings":
        """Return a copy of these settings with some of them changed."""
        return replace(self, **changes)

    def describe(self, *, weighted: bool = False) -> str:
        """Return the settings that differ from the defaults, as words to append to a line; usually none."""
        said = {
            "judged documents only": self.judged_only,
            "weighted means": weighted,
            f"empty {self.empty}": self.empty != "zero",
            "exclude_self": self.exclude_self,
            f"duplicates {self.duplicates}": self.duplicates != "error",
            f"document pattern {self.document_pattern!r}": self.document_pattern is not None,
        }
        return "".join(f", {words}" for words, holds in said.items() if holds)

    @property
    def workers(self) -> int:
        """The number of threads to use; not cached, since settings may be sent to another machine."""
        return workers(self.threads)

    @cached_property
    def counts_unjudged(self) -> bool:
        """Whether queries of the run without judgments count; then all of their names are needed."""
        return self.queries == "run" and self.empty != "skip"

    @cached_property
    def breaks_ties(self) -> bool:
        """Whether the policy gives tied documents one order that is the same for all measures."""
        return self.ties not in ("expected", "sampled", "best", "worst")

    def round(self, scores: Any) -> Any:
        """Return an array of scores rounded to the precision in which they are compared."""
        if self.precision == "double":
            return scores
        import numpy as np

        with np.errstate(over="ignore"):
            return scores.astype(np.float32).astype(np.float64)


def check_choice(kind: str, choice: Any, choices: Collection[str], error: type[GradelyError] = DataError) -> None:
    """Raise an error that lists the choices of this kind if `choice` is not among them."""
    if not isinstance(choice, str) or choice not in choices:
        hint = did_you_mean(choice, choices) if isinstance(choice, str) else ""
        raise error(f"no {kind} {choice!r}: use one of {', '.join(choices)}.{hint}")


def is_number(value: Any) -> bool:
    """True for a finite number other than a bool; False for an integer that is too large for a float."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_seed(seed: int) -> None:
    """Raise DataError unless the seed is a non-negative integer."""
    if not is_whole(seed) or seed < 0:
        raise DataError(f"the seed must be a whole number of at least 0; found {seed!r}")


def check_ties(ties: str, *, without_names: bool = False) -> None:
    """Raise DataError unless this is a tie policy and, with `without_names`, one that needs no document ids."""
    check_choice("tie policy", ties, TIES)
    if without_names and ties == "sampled":
        raise DataError("ties='sampled' draws orders by query id, which arrays do not have: use evaluate")
    if without_names and ties not in ("expected", "order", "best", "worst", "random"):
        raise DataError(f"ties={ties!r} orders by document id, which arrays do not have: use 'expected' or 'order'")
