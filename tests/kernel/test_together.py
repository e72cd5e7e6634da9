"""All measures in all settings on collections of many queries at once: every value is what the reference says.

The other tests look at one query at a time; here queries of all widths stand in one batch and must not disturb one
another. `tests/mutants` runs this first, since it takes a second and notices nearly every change of a formula.
"""

import random
from functools import cache
from math import fsum

import numpy as np
import pytest

import gradely
from tests.cases import CASES, LABELS, Query

POLICIES = {"expected": lambda values: fsum(values) / len(values), "best": max, "worst": min}


def cases(policy):
    """Return the cases of which a tie policy has a value that the reference can tell."""
    return [case for case in CASES if case.measure.takes_expected or policy != "expected"]


@cache
def collection(kind):
    """Return queries by name: short ones full of ties, and long ones that end in a tie, so that orders are few."""
    draw = random.Random(f"together {kind}")
    label = lambda: draw.choice([None, *LABELS[kind]])
    found = {}
    while len(found) < 50:
        short = [(draw.randrange(2), label()) for _ in range(draw.randint(1, 4))]
        long = [(-min(i, 37), label()) for i in range(draw.randint(38, 40))]
        retrieved = short if len(found) < 45 else long
        query = Query(tuple(retrieved), tuple(draw.choices(LABELS[kind], k=draw.randrange(4))))
        if query.pool:
            found[f"q{len(found)}"] = query
    return found


def parameters(kind, cases):
    """Return the reference's parameters for each case, with the levels of the whole collection."""
    everything = Query((), tuple(label for query in collection(kind).values() for label in query.pool))
    return [case.parameters(everything) if callable(case.parameters) else case.parameters for case in cases]


@cache
def expected(kind, policy):
    """Return [queries, measures]: what the reference says."""
    given = parameters(kind, cases(policy))
    return np.array(
        [
            [
                POLICIES[policy]([case.by_reference(order, query.pool, each) for order in query.orderings()])
                for case, each in zip(cases(policy), given, strict=True)
            ]
            for query in collection(kind).values()
        ]
    )


def evaluated(kind, measures, ties="expected"):
    qrels = {name: query.qrels()["q"] for name, query in collection(kind).items()}
    run = {name: query.run()["q"] for name, query in collection(kind).items()}
    return gradely.evaluate(qrels, run, measures, ties=ties)


def found(kind, policy):
    """Return [queries, measures]: what gradely says."""
    return evaluated(kind, [case.measure for case in cases(policy)], policy).values


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", LABELS)
def test_every_measure_is_what_the_reference_says(kind, policy):
    differs = ~(np.abs(found(kind, policy) - expected(kind, policy)) <= 1e-12)  # so that NaN differs
    assert [str(cases(policy)[j]) for j in np.flatnonzero(differs.any(axis=0))] == []


@pytest.mark.parametrize("kind", LABELS)
def test_queries_that_can_earn_nothing_are_counted(kind):
    """By the reference they are those in which all judged documents, best first, and an unjudged one are worth 0."""
    never = ("Unjudged", "RBPresidual", "Utility")
    whole = [case for case in cases("expected") if case.measure.k is None and case.measure.name not in never]
    given = parameters(kind, whole)
    for case, each in zip(whole, given, strict=True):
        ideals = [
            case.by_reference([*sorted(query.pool, reverse=True), None], query.pool, each)
            for query in collection(kind).values()
        ]
        notes = evaluated(kind, [case.measure]).notes
        of_pools = [
            note
            for note in notes
            if note.kind == "degenerate" and "although they have relevant documents" not in note.text
        ]
        counts = [note.count for note in of_pools]  # not of rankings that lack a pair
        assert sum(counts) == ideals.count(0), case
