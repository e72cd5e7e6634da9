"""M08, §3: the cost of tie-aware measures, as a ratio to that of tie-oblivious ones."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from gradely import RR, Batch, Measure, Qrels, evaluate, from_arrays, read_qrels
from gradely.data.ids import Floats
from gradely.kernel.arrays import best_first
from gradely.measures import EXPECTED
from gradely.settings import TiePolicy
from gradely_papers.charts import altair, categories, panels
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.mcsherry2008.enumeration import PRINTED
from gradely_papers.progress import Report, ignore, part
from gradely_papers.verdicts import Record, Verdict, decide, listed

QUERIES, JUDGED, RESULTS = 28_043, 17, 2_383
"""the paper's set of queries: how many, and of each about how many results are labelled, and how many there are in the
mean (Najork, Zaragoza and Taylor, HITS on the web, 2007, describe it)"""
SIZES = (JUDGED, RESULTS)
"""lengths of the lists in memory; the longer ones are fewer, so that both have about as many documents"""
ALONE_QUERIES = 1_000
"""lists that are sorted already, of which every measure is timed, and not only the paper's"""
FILE_QUERIES, RETRIEVED = 150, 1000
"""queries and documents of the run file"""
REPEATS = 9
TIES: tuple[TiePolicy, TiePolicy] = ("expected", "order")
"""tie-aware, and tie-oblivious: ties in the order in which sorting leaves them"""
GRADES, SHARES = (0, 1, 2, 3, 4), (0.6, 0.2, 0.1, 0.06, 0.04)


class Pair(NamedTuple):
    """Processor seconds for the same work, tie-aware and tie-oblivious."""

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


def draw_lists(seed: int, size: int, queries: int) -> tuple[Floats, Floats]:
    """Return scores and labels of lists; of long ones as many documents are labelled as of short ones."""
    rng, count = np.random.default_rng(seed), max(1, queries * JUDGED // size)
    scores, labels = in_degrees(rng, count, size), np.zeros((count, size))
    labels[:, :JUDGED] = grades(rng, count, JUDGED)
    return scores, rng.permuted(labels, axis=1)


def measure_aware(scores: Floats, labels: Floats, measure: Measure) -> Floats:
    """Return the mean over all orders of ties of each list."""
    return np.asarray(measure(from_arrays(scores, labels)))


def measure_oblivious(scores: Floats, labels: Floats, measure: Measure) -> Floats:
    """Return the measure of each list in the order in which an ordinary sort, which is not stable, leaves it."""
    order = np.argsort(-scores, axis=1)
    grade, everywhere = np.take_along_axis(labels, order, axis=1), np.ones(labels.shape, bool)
    above = np.broadcast_to(np.arange(labels.shape[1]), labels.shape)
    length = np.full(len(labels), labels.shape[1])
    batch = Batch(
        grade=grade,
        judged=everywhere,
        above=above,
        tied=np.ones_like(above),
        first=above,
        last=above + 1,
        retrieved=length,
        **best_first(labels, everywhere),
    )
    return np.asarray(measure(batch))


def find_first(scores: Floats, labels: Floats) -> Floats:
    """Return RR of each list without sorting: one more than the documents above the best relevant one."""
    best = np.where(labels > 0, scores, -np.inf).max(axis=1, keepdims=True)
    values: Floats = np.where(np.isfinite(best[:, 0]), 1 / (1.0 + (scores > best).sum(axis=1)), 0.0)
    return values


KINDS = [kind for kind in EXPECTED if kind.name in PRINTED]
"""the paper's measures"""
RR_SORTED = "RR, sorted"
"""RR against a baseline that sorts, as that of every other measure does"""


def time_in_memory(
    seed: int, sizes: tuple[int, ...] = SIZES, queries: int = QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[int, dict[str, Pair]]:
    """Time the paper's measures as it did: scores and labels lie in memory, sorting is part of the work.

    What ignores ties sorts in an ordinary way, and for RR does not sort at all.
    """
    out: dict[int, dict[str, Pair]] = {}
    for i, size in enumerate(sizes):
        lists, pairs, tell = draw_lists(seed, size, queries), {}, part(progress, i, len(sizes))
        for j, kind in enumerate(KINDS):
            aware, oblivious = (partial(way, *lists, kind()) for way in (measure_aware, measure_oblivious))
            if kind is RR:
                pairs[RR_SORTED] = time_both(aware, oblivious, repeats)
                oblivious = partial(find_first, *lists)
            pairs[kind.name] = time_both(aware, oblivious, repeats)
            tell((j + 1) / len(KINDS))
        out[size] = pairs
    return out


def time_alone(
    seed: int, queries: int = ALONE_QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[str, Pair]:
    """Time every measure on rankings that are in memory and in order."""
    by_ties = dict(zip(TIES, batches(seed, queries), strict=True))
    # of a batch that was replaced nothing is known yet, so that each time does all the work
    return time_each(EXPECTED, lambda measure, ties: measure(replace(by_ties[ties])), repeats, progress)


def time_from_file(
    seed: int, queries: int = FILE_QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[str, Pair]:
    """Time each of the paper's measures from a run file on the disk to its mean."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, path = write_run(seed, queries, folder)
        return time_each(KINDS, lambda measure, ties: evaluate(qrels, path, [measure], ties=ties), repeats, progress)


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


ABOUT, LITTLE = 1.25, 0.1
"""the paper's own largest ratio, that of RR, and how far ours may be from it to be about that"""
MEMORY, ALONE, FILE = "in memory, sorting included", "ours: the measure alone", "ours: from a run file to the mean"


class Times(NamedTuple):
    """How long the work takes, tie-aware and tie-oblivious."""

    in_memory: dict[int, dict[str, Pair]]
    """by length of the lists: the paper's setting"""
    alone: dict[str, Pair]
    from_file: dict[str, Pair]

    def records(self) -> list[Record]:
        """Return one row per measure, setting and length of list."""
        settings = [(MEMORY, size, pairs) for size, pairs in self.in_memory.items()]
        settings += [(ALONE, JUDGED, self.alone), (FILE, RETRIEVED, self.from_file)]
        return [
            {
                "measure": name,
                "setting": setting,
                "documents": size,
                "ms, tie-aware": 1000 * pair.aware,
                "ms, tie-oblivious": 1000 * pair.oblivious,
                "ratio": pair.ratio,
            }
            for setting, size, pairs in settings
            for name, pair in pairs.items()
        ]


def by_length(times: Times) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the ratio of each measure in memory, for each length of the lists."""
    for size, pairs in times.in_memory.items():
        yield f"lists of {size:,} documents", {name: pair.ratio for name, pair in pairs.items()}


@claim(
    "abstract, §3",
    printed="about 1",
    quote="does so as efficiently as the original, tie-oblivious measures",
    criterion=f"the ratios of P, R, F1, AP and nDCG are at most {ABOUT}, the paper's own largest, and at least"
    f" {1 / ABOUT:g}: a lower one would mean that the baseline is not fair",
    split=by_length,
)
def about_the_same(ratios: dict[str, float]) -> Verdict:
    """Measures that take care of ties are computed as efficiently as those that ignore them."""
    others = {name: ratios[name] for name in PRINTED if name != "RR"}
    return decide(all(1 / ABOUT <= ratio <= ABOUT for ratio in others.values()), listed(others))


@claim(
    "§3",
    printed="1.25",
    criterion=f"the ratio of RR is within {LITTLE} of {ABOUT}, and no other measure has a higher one",
    split=by_length,
)
def reciprocal_rank(ratios: dict[str, float]) -> Verdict:
    """RR alone costs about 25 % more."""
    printed = {name: ratios[name] for name in PRINTED}
    alone = max(printed, key=printed.__getitem__) == "RR"
    return decide(alone and abs(ratios["RR"] - ABOUT) <= LITTLE, listed(printed))


@claim(
    "§3",
    printed="words",
    quote="Reciprocal rank is the only measure … that can be computed without sorting",
    criterion=f"with a baseline that sorts, the ratio of RR is between {1 / ABOUT:g} and {ABOUT}, and without sorting"
    " it is higher",
    split=by_length,
)
def because_unsorted(ratios: dict[str, float]) -> Verdict:
    """RR is the exception because those who ignore ties need not sort for it."""
    usual, unsorted = ratios[RR_SORTED], ratios["RR"]
    here = f"{usual:.2f} with a baseline that sorts, {unsorted:.2f} with one that does not"
    return decide(1 / ABOUT <= usual <= ABOUT and unsorted > usual, here)


def observations(times: Times) -> list[Observation]:
    """Say what the same costs where sorting is left out, and where reading a file is part of it."""
    kernels, files = ({name: pair.ratio for name, pair in pairs.items()} for pairs in (times.alone, times.from_file))
    costliest = max(kernels, key=kernels.__getitem__)
    aware, oblivious = (1e6 * seconds / ALONE_QUERIES for seconds in times.alone[costliest])
    return [
        Observation(
            f"What is the ratio for the measure alone, on lists of {JUDGED} that are sorted already?",
            f"{listed({name: kernels[name] for name in PRINTED})}; at most {kernels[costliest]:.2f}, {costliest}, which"
            f" takes {aware:.1f} in place of {oblivious:.1f} microseconds per query.",
        ),
        Observation(
            "What is the ratio from a run file to the mean?",
            f"{listed({name: files[name] for name in PRINTED})}.",
        ),
    ]


def chart(rows: list[Record]) -> Any:
    """Return the paper's measures: the ratio by length of list, with the other settings beside."""
    alt = altair()
    order = ["P", "R", "F1", "AP", "nDCG", "RR", RR_SORTED]
    printed = [row for row in rows if row["measure"] in order]
    lines = alt.Chart().mark_line(point=alt.OverlayMarkDef(size=60))
    lines = lines.encode(
        x=alt.X(
            "documents:Q",
            title="documents in a list",
            scale=alt.Scale(type="log", domain=[SIZES[0] / 1.5, SIZES[-1] * 1.5], nice=False),
            axis=alt.Axis(values=[*SIZES, RETRIEVED], labelAngle=-45, labelOverlap=False),
        ),
        y=alt.Y(
            "ratio:Q",
            title="tie-aware / tie-oblivious",
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=alt.Axis(values=[0.5, 1, 2, 5, 10, 20, 50]),
        ),
        **categories("setting", [MEMORY, ALONE, FILE]),
    )
    same = alt.Chart().mark_rule(strokeDash=[4, 4]).encode(y=alt.YDatum(1))
    panel = alt.layer(same, lines, data=alt.Data(values=printed)).properties(width=200, height=170)
    return panels(panel, by="measure", columns=4, order=order)


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Time every measure in every setting."""
    times = Times(
        time_in_memory(seed, progress=part(progress, 0, 3)),
        time_alone(seed, progress=part(progress, 1, 3)),
        time_from_file(seed, progress=part(progress, 2, 3)),
    )
    rows = times.records()
    aware, _ = batches(seed)
    lengths = ", ".join(f"{size:,}" for size in SIZES)
    return Outcome(
        f"The paper ranked the results of {QUERIES:,} queries by in-degree, in memory, and counts sorting. Its scores"
        f" are not public. We drew whole numbers with a long tail, {float((aware.tied > 1).mean()):.0%} of them tied in"
        f" lists of {JUDGED}, and timed lists of {lengths} documents, {JUDGED} of them labelled, as many documents in"
        " all. What ignores ties sorts with NumPy's ordinary sort, which is not stable, and for RR does not sort."
        f" Beyond the paper, we timed the measure alone, on {ALONE_QUERIES:,} lists that are sorted already, and all"
        f" the way from a run file of {FILE_QUERIES} queries of {RETRIEVED:,} documents to the mean. Times are the"
        f" processor's, the shortest of {REPEATS}, in turns. They are of this machine and not the same in every run;"
        " all else is.",
        times,
        {"times": Sheet.of("Milliseconds and ratios", rows, 3)},
        {
            "ratios": Figure(
                f"What it costs to take care of ties in {QUERIES:,} lists of {JUDGED} documents, or in as many"
                " documents of longer lists; 1 (dashed) is nothing.",
                chart(rows),
            )
        },
        observations(times),
    )


EXPERIMENT = Experiment(
    "m08-overhead",
    "§3",
    "What it costs to take care of ties, as a ratio",
    "The measures that take care of ties cost about what those that ignore them do; RR costs about 25% more.",
    run,
    (("§3", "ratios, times"),),
    claims=(about_the_same, reciprocal_rank, because_unsorted),
    timed=True,
)
