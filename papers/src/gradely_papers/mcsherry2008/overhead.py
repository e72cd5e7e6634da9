"""M08, §3: the cost of tie-aware measures, as a ratio to the cost of tie-oblivious ones."""

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
"""the paper's queries: their number, and the mean numbers of labelled results and of results (from Najork, Zaragoza and
Taylor, HITS on the web, 2007)"""
SIZES = (JUDGED, RESULTS)
"""lengths of the lists in memory; longer lists are fewer, with about as many documents in total"""
ALONE_QUERIES = 1_000
"""sorted lists on which every measure is timed, not only the paper's"""
FILE_QUERIES, RETRIEVED = 150, 1000
"""queries and documents of the run file"""
REPEATS = 9
TIES: tuple[TiePolicy, TiePolicy] = ("expected", "order")
"""tie-aware; tie-oblivious, with ties in the order of sorting"""
GRADES, SHARES = (0, 1, 2, 3, 4), (0.6, 0.2, 0.1, 0.06, 0.04)


class Pair(NamedTuple):
    """Processor seconds of tie-aware and tie-oblivious work."""

    aware: float
    oblivious: float

    @property
    def ratio(self) -> float:
        """The ratio of tie-aware to tie-oblivious time."""
        return self.aware / self.oblivious


def in_degrees(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw whole numbers with a long tail, like numbers of links to a page."""
    return np.floor(rng.pareto(0.7, shape)).clip(max=1e6)


def grades(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw grades, most of them 0."""
    return rng.choice(np.array(GRADES, np.float64), shape, p=SHARES)


def batches(seed: int, queries: int = QUERIES) -> tuple[Batch, Batch]:
    """Return rankings with ties, and the same rankings with ties in input order."""
    rng = np.random.default_rng(seed)
    scores, labels = in_degrees(rng, queries, JUDGED), grades(rng, queries, JUDGED)
    return from_arrays(scores, labels), from_arrays(scores, labels, ties="order")


def draw_lists(seed: int, size: int, queries: int) -> tuple[Floats, Floats]:
    """Return scores and labels of lists, with as many labelled documents in long lists as in short ones."""
    rng, count = np.random.default_rng(seed), max(1, queries * JUDGED // size)
    scores, labels = in_degrees(rng, count, size), np.zeros((count, size))
    labels[:, :JUDGED] = grades(rng, count, JUDGED)
    return scores, rng.permuted(labels, axis=1)


def measure_aware(scores: Floats, labels: Floats, measure: Measure) -> Floats:
    """Return the mean over all orders of ties for each list."""
    return np.asarray(measure(from_arrays(scores, labels)))


def measure_oblivious(scores: Floats, labels: Floats, measure: Measure) -> Floats:
    """Return the measure of each list in the order of an ordinary, unstable sort."""
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
    """Return RR of each list without sorting, from the number of documents above the best relevant one."""
    best = np.where(labels > 0, scores, -np.inf).max(axis=1, keepdims=True)
    values: Floats = np.where(np.isfinite(best[:, 0]), 1 / (1.0 + (scores > best).sum(axis=1)), 0.0)
    return values


KINDS = [kind for kind in EXPECTED if kind.name in PRINTED]
"""the paper's measures"""
RR_SORTED = "RR, sorted"
"""RR with a baseline that sorts, as for every other measure"""


def time_in_memory(
    seed: int, sizes: tuple[int, ...] = SIZES, queries: int = QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[int, dict[str, Pair]]:
    """Time the paper's measures in its setting: scores and labels in memory, sorting included.

    The tie-oblivious baseline sorts, except for RR.
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
    """Time every measure on sorted rankings in memory."""
    by_ties = dict(zip(TIES, batches(seed, queries), strict=True))
    # a new batch has no cached values, so each repetition does all the work
    return time_each(EXPECTED, lambda measure, ties: measure(replace(by_ties[ties])), repeats, progress)


def time_from_file(
    seed: int, queries: int = FILE_QUERIES, repeats: int = REPEATS, progress: Report = ignore
) -> dict[str, Pair]:
    """Time each of the paper's measures from a run file to its mean."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, path = write_run(seed, queries, folder)
        return time_each(KINDS, lambda measure, ties: evaluate(qrels, path, [measure], ties=ties), repeats, progress)


def write_run(seed: int, queries: int, folder: str) -> tuple[Qrels, str]:
    """Write a run whose scores are in-degrees, and return judgments and the path of the run."""
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
    """Return the times of the same work for each measure by name."""
    out = {}
    for i, kind in enumerate(kinds):
        aware, oblivious = (partial(work, kind(), ties) for ties in TIES)
        out[kind.name] = time_both(aware, oblivious, repeats)
        progress((i + 1) / len(kinds))
    return out


def time_both(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> Pair:
    """Return the shortest processor time of each, alternating between them."""
    times = [(_seconds(first), _seconds(second)) for _ in range(repeats)]
    return Pair(*(min(column) for column in zip(*times, strict=True)))


def _seconds(work: Callable[[], Any]) -> float:
    start = process_time()
    work()
    return process_time() - start


ABOUT, LITTLE = 1.25, 0.1
"""the paper's largest ratio, that of RR, and the tolerance for being about equal to it"""
MEMORY, ALONE, FILE = "in memory, sorting included", "ours: the measure alone", "ours: from a run file to the mean"


class Times(NamedTuple):
    """The times in every setting."""

    in_memory: dict[int, dict[str, Pair]]
    """the paper's setting, by length of the lists"""
    alone: dict[str, Pair]
    from_file: dict[str, Pair]

    def records(self) -> list[Record]:
        """Return a row for each measure, setting and length of the lists."""
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
    criterion=f"the ratios of P, R, F1, AP and nDCG are at most {ABOUT}, the paper's largest, and at least"
    f" {1 / ABOUT:g}, since a lower ratio would show an unfair baseline",
    split=by_length,
)
def about_the_same(ratios: dict[str, float]) -> Verdict:
    """Tie-aware measures are computed as efficiently as tie-oblivious ones."""
    others = {name: ratios[name] for name in PRINTED if name != "RR"}
    return decide(all(1 / ABOUT <= ratio <= ABOUT for ratio in others.values()), listed(others))


@claim(
    "§3",
    printed="1.25",
    criterion=f"the ratio of RR is within {LITTLE} of {ABOUT}, and no other measure has a higher one",
    split=by_length,
)
def reciprocal_rank(ratios: dict[str, float]) -> Verdict:
    """Only RR costs about 25 % more."""
    printed = {name: ratios[name] for name in PRINTED}
    alone = max(printed, key=printed.__getitem__) == "RR"
    return decide(alone and abs(ratios["RR"] - ABOUT) <= LITTLE, listed(printed))


@claim(
    "§3",
    printed="words",
    quote="Reciprocal rank is the only measure … that can be computed without sorting",
    criterion=f"with a baseline that sorts, the ratio of RR is between {1 / ABOUT:g} and {ABOUT}; with one that does"
    " not sort, it is higher",
    split=by_length,
)
def because_unsorted(ratios: dict[str, float]) -> Verdict:
    """RR is the exception because its tie-oblivious form needs no sorting."""
    usual, unsorted = ratios[RR_SORTED], ratios["RR"]
    here = f"{usual:.2f} with a baseline that sorts, {unsorted:.2f} with one that does not"
    return decide(1 / ABOUT <= usual <= ABOUT and unsorted > usual, here)


def observations(times: Times) -> list[Observation]:
    """Return the ratios without sorting, and with reading a file."""
    kernels, files = ({name: pair.ratio for name, pair in pairs.items()} for pairs in (times.alone, times.from_file))
    costliest = max(kernels, key=kernels.__getitem__)
    aware, oblivious = (1e6 * seconds / ALONE_QUERIES for seconds in times.alone[costliest])
    return [
        Observation(
            f"What is the ratio for the measure alone, on sorted lists of {JUDGED}?",
            f"{listed({name: kernels[name] for name in PRINTED})}; at most {kernels[costliest]:.2f}, {costliest}, with"
            f" {aware:.1f} instead of {oblivious:.1f} microseconds per query.",
        ),
        Observation(
            "What is the ratio from a run file to the mean?",
            f"{listed({name: files[name] for name in PRINTED})}.",
        ),
    ]


def chart(rows: list[Record]) -> Any:
    """Return the ratio by length of the lists and by setting, with a panel for each of the paper's measures."""
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
    lengths = " and ".join(f"{size:,}" for size in SIZES)
    return Outcome(
        f"The paper ranked the results of {QUERIES:,} queries by in-degree in memory, and its times include sorting."
        " Its scores are not public. We drew whole numbers with a long tail, of which"
        f" {float((aware.tied > 1).mean()):.0%} tie in lists of {JUDGED}, and timed lists of {lengths} documents,"
        f" {JUDGED} of them labelled, with about as many documents in total. The tie-oblivious baseline uses NumPy's"
        f" ordinary, unstable sort, and does not sort for RR. Beyond the paper, we timed the measure alone on"
        f" {ALONE_QUERIES:,} sorted lists, and the whole way from a run file of {FILE_QUERIES} queries with"
        f" {RETRIEVED:,} documents each to the mean. Times are processor times, the shortest of {REPEATS} in"
        " alternation. They depend on the machine and the run; all other numbers are reproducible.",
        times,
        {"times": Sheet.of("Milliseconds and ratios", rows, 3)},
        {
            "ratios": Figure(
                f"The cost of ties in {QUERIES:,} lists of {JUDGED} documents, or in as many documents of longer lists;"
                " the dashed line is a ratio of 1.",
                chart(rows),
            )
        },
        observations(times),
    )


EXPERIMENT = Experiment(
    "m08-overhead",
    "§3",
    "The cost of handling ties, as a ratio",
    "Tie-aware measures cost about as much as tie-oblivious ones; RR costs about 25% more.",
    run,
    (("§3", "ratios, times"),),
    claims=(about_the_same, reciprocal_rank, because_unsorted),
    timed=True,
)
