"""The policies for ties and for queries, and what each one means."""

from gradely.errors import DataError, did_you_mean

TIES = {
    "expected": "the mean over all orders of tied documents, exact",
    "trec": "tied documents by document id, descending by bytes, as trec_eval has it",
    "order": "tied documents in the order of the input",
    "best": "tied documents in the order that is best for each measure",
    "worst": "tied documents in the order that is worst for each measure",
    "random": "tied documents in an order drawn with a seed",
}
QUERIES = {
    "qrels": "all queries of the judgments; one that the run does not answer counts 0",
    "both": "the queries that are in both the judgments and the run",
    "run": "all queries of the run; one without judgments counts 0",
}
PRECISIONS = {
    "double": "scores as they are",
    "single": "scores rounded to single precision first, as trec_eval 9 and older do; more of them tie",
}


def check_precision(precision: str) -> None:
    """Raise unless this is a precision."""
    check_choice("precision", precision, PRECISIONS)


def check_ties(ties: str, *, without_names: bool = False) -> None:
    """Raise unless this is a tie policy, and one that works where documents have no names."""
    check_choice("tie policy", ties, TIES)
    if without_names and ties == "trec":
        raise DataError("ties='trec' orders by document id, which arrays do not have: use 'expected' or 'order'")


def check_queries(queries: str) -> None:
    """Raise unless this is a query policy."""
    check_choice("query policy", queries, QUERIES)


def check_seed(seed: int) -> None:
    """Raise unless random numbers can be drawn with it."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise DataError(f"the seed is a whole number of at least 0; found {seed!r}")


def check_choice(kind: str, choice: str, known: dict[str, str]) -> None:
    """Raise unless this is one of the known choices of a kind."""
    if choice not in known:
        hint = did_you_mean(choice, known) if isinstance(choice, str) else ""
        raise DataError(f"no {kind} {choice!r}: use one of {', '.join(known)}.{hint}")
