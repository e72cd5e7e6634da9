"""Settings: what holds for all runs and measures of a call, checked once and passed on."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, TypeAlias

from gradely.errors import DataError, GradelyError, did_you_mean
from gradely.parallel import workers

TiePolicy: TypeAlias = Literal["expected", "sampled", "trec", "order", "best", "worst", "random"]
QueryPolicy: TypeAlias = Literal["qrels", "both", "run"]
Precision: TypeAlias = Literal["double", "single"]
EmptyPolicy: TypeAlias = Literal["zero", "skip", "one"]
ArrayTies: TypeAlias = Literal["expected", "order", "best", "worst", "random"]
"""policies for arrays, which have no document names to break ties by"""
TestName: TypeAlias = Literal["t", "wilcoxon", "randomization", "bootstrap", "tukey", "max-t"]
GateTest: TypeAlias = Literal["t", "wilcoxon", "randomization", "bootstrap"]
"""tests of a single pair, which may be one-sided"""
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Slope: TypeAlias = Literal["auto", "least-squares", 1]
"""how far means follow a judge who labelled more queries than people did"""

TIES: dict[TiePolicy, str] = {
    "expected": "the mean over all orders of tied documents, exact",
    "sampled": "the same where it is exact, else the mean of drawn orders (200, or `samples`), with its standard error",
    "trec": "tied documents by document id, descending by bytes, as trec_eval has it",
    "order": "tied documents in the order of the input",
    "best": "tied documents in the order that is best for each measure",
    "worst": "tied documents in the order that is worst for each measure",
    "random": "tied documents in an order drawn with a seed",
}
QUERIES: dict[QueryPolicy, str] = {
    "qrels": "all queries of the qrels; one that the run does not answer counts 0",
    "both": "the queries that are in both the qrels and the run",
    "run": "all queries of the run; one without judgments counts 0",
}
PRECISIONS: dict[Precision, str] = {
    "double": "scores as they are",
    "single": "scores rounded to single precision first, as trec_eval 9 and older do; more of them tie",
}
EMPTY: dict[EmptyPolicy, str] = {
    "zero": "a query without relevant documents counts 0",
    "skip": "a query without relevant documents does not count",
    "one": "a query without relevant documents counts 1, whatever was retrieved",
}

SAMPLES = 200
"""drawn orders, unless said otherwise: their mean is then mostly within 0.02 of that over all orders"""


@dataclass(frozen=True)
class Settings:
    """How runs are evaluated. Public functions take these as keywords and make one object of them."""

    ties: TiePolicy = "expected"
    """how tied documents are ordered"""
    queries: QueryPolicy = "qrels"
    """which queries count"""
    judged_only: bool = False
    """whether unjudged documents are dropped from the runs first"""
    precision: Precision = "double"
    """whether scores are rounded before they are compared"""
    seed: int = 0
    """of what is drawn at random"""
    threads: int | None = None
    """how many work at a time; None: as many as there are processors"""
    empty: EmptyPolicy = "zero"
    """what becomes of queries without relevant documents"""
    exclude_self: bool = False
    """whether documents that have the id of their query are dropped from the runs first"""
    duplicates: str = "error"
    """what becomes of duplicate documents of a query"""
    document_pattern: str | None = None
    """the regular expression that finds the document in the name of a passage, where runs hold passages"""
    samples: int = SAMPLES
    """how many orders of tied documents are drawn where ties are sampled"""

    def __post_init__(self) -> None:
        """Refuse what is not a choice."""
        check_choice("tie policy", self.ties, TIES)
        check_choice("query policy", self.queries, QUERIES)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("way to count queries without relevant documents", self.empty, EMPTY)
        if not isinstance(self.exclude_self, bool):
            raise DataError(f"exclude_self must be True or False; found {self.exclude_self!r}")
        check_seed(self.seed)
        if not isinstance(self.samples, Integral) or self.samples < 4 or self.samples % 2:
            raise DataError(f"samples is an even number of at least 4, as orders come in pairs; found {self.samples!r}")
        if self.threads is not None and (not isinstance(self.threads, Integral) or self.threads < 1):
            raise DataError(f"the number of threads is at least 1; found {self.threads!r}")

    def replace(self, **changes: Any) -> "Settings":
        """Return other settings that differ in these."""
        return replace(self, **changes)

    def describe(self, *, weighted: bool = False) -> str:
        """Return what differs from how runs are usually evaluated, in words that follow others; mostly nothing."""
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
        """How many threads work."""
        return workers(self.threads)

    @property
    def breaks_ties(self) -> bool:
        """Whether the policy puts tied documents in one order, by document."""
        return self.ties not in ("expected", "sampled", "best", "worst")

    def round(self, scores: Any) -> Any:
        """Return an array of scores as they are compared."""
        if self.precision == "double":
            return scores
        import numpy as np

        with np.errstate(over="ignore"):
            return scores.astype(np.float32).astype(np.float64)


def check_choice(kind: str, choice: Any, choices: Collection[str], error: type[GradelyError] = DataError) -> None:
    """Raise unless this is one of the known choices of a kind."""
    if not isinstance(choice, str) or choice not in choices:
        hint = did_you_mean(choice, choices) if isinstance(choice, str) else ""
        raise error(f"no {kind} {choice!r}: use one of {', '.join(choices)}.{hint}")


def check_seed(seed: int) -> None:
    """Raise unless random numbers can be drawn with it."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise DataError(f"the seed must be a whole number of at least 0; found {seed!r}")


def check_ties(ties: str, *, without_names: bool = False) -> None:
    """Raise unless this is a tie policy, and one that works where documents have no names."""
    check_choice("tie policy", ties, TIES)
    if without_names and ties == "sampled":
        raise DataError("ties='sampled' draws orders by the names of queries, which arrays do not have: use evaluate")
    if without_names and ties not in ("expected", "order", "best", "worst", "random"):
        raise DataError(f"ties={ties!r} orders by document id, which arrays do not have: use 'expected' or 'order'")
