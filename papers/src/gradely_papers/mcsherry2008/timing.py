"""How long measures take with ties taken care of and with ties ignored."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Qrels, Report, read_qrels
from gradely.data.read.sources import ignore
from gradely.data.types import Floats
from gradely.evaluation.evaluate import evaluate
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.measures import EXPECTED, Measure
from gradely.settings import TiePolicy
from gradely_papers.mcsherry2008.enumeration import PRINTED
from gradely_papers.outcome import part

QUERIES, JUDGED = 28_043, 18
"""as many queries as in the paper; judged documents of each"""
SIZES = (JUDGED, 100, 1000)
"""lengths of the lists in memory; longer ones are fewer, so that all sizes have about as many documents"""
FILE_QUERIES, RETRIEVED = 150, 1000
"""queries and documents of the run file"""
REPEATS = 9
TIES: tuple[TiePolicy, TiePolicy] = ("expected", "order")
"""ties taken care of, and ties in the order in which sorting leaves them"""
GRADES, SHARES = (0, 1, 2, 3, 4), (0.6, 0.2, 0.1, 0.06, 0.04)


class Pair(NamedTuple):
    """Processor seconds for the same work, ties taken care of and ties ignored."""

    aware: float
    oblivious: float

    @property
    def ratio(self) -> float:
        """How much more the first takes."""
        return self.aware / self.oblivious


def in_degrees(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw scores like the number of links to a page: whole numbers, small ones often, large ones now and then."""
    return np.floor(rng.pareto(0.7, shape)).clip(max=1e6)


def grades(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw grades, most of them 0."""
    return rng.choice(np.array(GRADES, np.float64), shape, p=SHARES)


def batches(seed: int, queries: int = QUERIES) -> tuple[Batch, Batch]:
    """Return the same rankings with their ties and with ties in the order of the input."""
    rng = np.random.default_rng(seed)
    scores, labels = in_degrees(rng, queries, JUDGED), grades(rng, queries, JUDGED)
    return from_arrays(scores, labels), from_arrays(scores, labels, ties="order")


def time_in_memory(
    seed: int, sizes: tuple[int, ...] = SIZES, queries: int = QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[int, dict[str, Pair]]:
    """Time the paper's measures as it did: scores and labels lie in memory, sorting is part of the work."""
    out: dict[int, dict[str, Pair]] = {}
    kinds = [kind for kind in EXPECTED if kind.name in PRINTED]
    for i, size in enumerate(sizes):
        rng, count = np.random.default_rng(seed), max(1, queries * JUDGED // size)
        scores, labels = in_degrees(rng, count, size), grades(rng, count, size)
        work = partial(_sort_and_measure, scores, labels)
        out[size] = time_each(kinds, work, repeats, part(progress, i, len(sizes)))
    return out


def _sort_and_measure(scores: Floats, labels: Floats, measure: Measure, ties: TiePolicy) -> None:
    measure(from_arrays(scores, labels, ties=ties))


def time_alone(seed: int, queries: int = QUERIES, repeats: int = REPEATS, progress: Report = ignore) -> dict[str, Pair]:
    """Time each measure on rankings that are in memory and in order."""
    by_ties = dict(zip(TIES, batches(seed, queries), strict=True))
    # of a batch that was replaced nothing is known yet, so that each time does all the work
    return time_each(EXPECTED, lambda measure, ties: measure(replace(by_ties[ties])), repeats, progress)


def time_from_file(
    seed: int, queries: int = FILE_QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[str, Pair]:
    """Time each measure from a run file on the disk to its mean."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, path = write_run(seed, queries, folder)
        return time_each(EXPECTED, lambda measure, ties: evaluate(qrels, path, [measure], ties=ties), repeats, progress)


def write_run(seed: int, queries: int, folder: str) -> tuple[Qrels, str]:
    """Write a run whose scores are in-degrees; return judgments of some of its documents, and where the run is."""
    rng = np.random.default_rng(seed)
    scores = in_degrees(rng, queries, RETRIEVED)
    labels = {
        f"q{q}": dict(zip((f"d{d}" for d in rng.permutation(RETRIEVED)[:JUDGED]), grades(rng, JUDGED), strict=True))
        for q in range(queries)
    }
    path = os.path.join(folder, "in-degree.run")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(
            f"q{q} Q0 d{d} {d} {score:.0f} in-degree\n" for q, row in enumerate(scores) for d, score in enumerate(row)
        )
    return read_qrels(labels), path


def time_each(
    kinds: Sequence[type[Measure]], work: Callable[[Measure, TiePolicy], Any], repeats: int, progress: Report
) -> dict[str, Pair]:
    """Return the time of the same work for each measure, by name."""
    out = {}
    for i, kind in enumerate(kinds):
        aware, oblivious = (partial(work, kind(), ties) for ties in TIES)
        out[kind.name] = time_both(aware, oblivious, repeats)
        progress((i + 1) / len(kinds))
    return out


def time_both(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> Pair:
    """Return the shortest time of each, in turns; processor time, since whatever else the machine does is no cost."""
    times = [(_seconds(first), _seconds(second)) for _ in range(repeats)]
    return Pair(*(min(column) for column in zip(*times, strict=True)))


def _seconds(work: Callable[[], Any]) -> float:
    start = process_time()
    work()
    return process_time() - start
