"""All measures in all settings on collections of many queries at once: every value is what the reference says.

The other tests look at one query at a time; here queries of all widths stand in one batch and must not disturb one
another. `tests/mutants.py` runs this first, since it takes a second and notices nearly every change of a formula.
"""

import random
from functools import cache
from math import fsum

import numpy as np
import pytest

import gradely
from tests.cases import CASES, LABELS, Query
from tests.test_ties import INEXACT

POLICIES = {"expected": lambda values: fsum(values) / len(values), "best": max, "worst": min}


def cases(policy):
    """Return the cases of which a tie policy has a value that the reference can tell."""
    told = {"expected": lambda measure: measure.takes_expected}.get(policy, lambda measure: measure.name not in INEXACT)
    return [case for case in CASES if told(case.measure)]


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


@cache
def expected(kind, policy):
    """Return [queries, measures]: what the reference says."""
    queries = collection(kind)
    everything = Query((), tuple(label for query in queries.values() for label in query.pool))
    given = [case.parameters(everything) if callable(case.parameters) else case.parameters for case in cases(policy)]
    return np.array(
        [
            [
                POLICIES[policy]([case.by_reference(order, query.pool, each) for order in query.orderings()])
                for case, each in zip(cases(policy), given, strict=True)
            ]
            for query in queries.values()
        ]
    )


def found(kind, policy):
    """Return [queries, measures]: what gradely says."""
    qrels = {name: query.qrels()["q"] for name, query in collection(kind).items()}
    run = {name: query.run()["q"] for name, query in collection(kind).items()}
    return gradely.evaluate(qrels, run, [case.measure for case in cases(policy)], ties=policy).values


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", LABELS)
def test_every_measure_is_what_the_reference_says(kind, policy):
    differs = ~(np.abs(found(kind, policy) - expected(kind, policy)) <= 1e-12)  # so that NaN differs
    assert [str(cases(policy)[j]) for j in np.flatnonzero(differs.any(axis=0))] == []
