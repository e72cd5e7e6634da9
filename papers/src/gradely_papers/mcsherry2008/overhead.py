"""M08, §3: the cost of tie-aware measures, as a ratio to that of tie-oblivious ones."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from gradely import Batch, Measure, Qrels, evaluate, from_arrays, read_qrels
from gradely.data.ids import Floats
from gradely.measures import EXPECTED
from gradely.settings import TiePolicy
from gradely_papers.charts import altair, categories, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.mcsherry2008.enumeration import PRINTED
from gradely_papers.progress import Report, ignore, part
from gradely_papers.verdicts import Record, Verdict, decide

QUERIES, JUDGED = 28_043, 18
"""as many queries as in the paper; judged documents of each"""
SIZES = (JUDGED, 100, 1000)
"""lengths of the lists in memory; longer ones are fewer, so that all sizes have about as many documents"""
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


ABOUT = 1.25
"""the paper's own largest ratio, that of RR: up to here a cost is about the same"""
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


@claim(
    "same",
    "abstract, §3",
    printed="about 1",
    criterion=f"the ratio of P, R, F1, AP and nDCG is at most {ABOUT}, the paper's own largest",
)
def about_the_same(times: Times) -> list[Verdict]:
    """Measures that take care of ties are computed as efficiently as those that ignore them."""
    out = []
    for size, pairs in times.in_memory.items():
        ratios = {name: pairs[name].ratio for name in PRINTED if name != "RR"}
        out.append(decide(max(ratios.values()) <= ABOUT, _list(ratios), _lists(size)))
    return out


@claim("RR", "§3", printed="1.25", criterion=f"the ratio of RR is at most {ABOUT}")
def reciprocal_rank(times: Times) -> list[Verdict]:
    """RR alone costs about 25 % more."""
    return [
        decide(pairs["RR"].ratio <= ABOUT, f"{pairs['RR'].ratio:.2f}", _lists(size))
        for size, pairs in times.in_memory.items()
    ]


def _lists(size: int) -> str:
    return f"lists of {size:,} documents"


def _list(ratios: dict[str, float]) -> str:
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())


def observations(times: Times) -> list[Observation]:
    """Say what the same costs where sorting is left out, and where reading a file is part of it."""
    kernels, files = ({name: pair.ratio for name, pair in pairs.items()} for pairs in (times.alone, times.from_file))
    costliest = max(kernels, key=kernels.__getitem__)
    aware, oblivious = (1e6 * seconds / QUERIES for seconds in times.alone[costliest])
    return [
        Observation(
            f"What is the ratio for the measure alone, on lists of {JUDGED} that are sorted already?",
            f"{_list({name: kernels[name] for name in PRINTED})}; at most {kernels[costliest]:.2f}, {costliest}, which"
            f" takes {aware:.1f} in place of {oblivious:.1f} microseconds per query.",
        ),
        Observation(
            "What is the ratio from a run file to the mean?",
            f"{_list({name: files[name] for name in PRINTED})}: reading takes most of the time.",
        ),
    ]


def chart(rows: list[Record]) -> Any:
    """Return the paper's measures: the ratio by length of list, with the other settings beside."""
    alt = altair()
    printed = [row for row in rows if row["measure"] in PRINTED]
    lines = alt.Chart().mark_line(point=alt.OverlayMarkDef(size=60))
    lines = lines.encode(
        x=alt.X(
            "documents:Q",
            title="documents in a list",
            scale=alt.Scale(type="log", domain=[SIZES[0] / 1.5, SIZES[-1] * 1.5], nice=False),
            axis=alt.Axis(values=[*SIZES]),
        ),
        y=alt.Y("ratio:Q", title="tie-aware / tie-oblivious", scale=alt.Scale(domainMin=0)),
        **categories("setting", [MEMORY, ALONE, FILE]),
    )
    same = alt.Chart().mark_rule(strokeDash=[4, 4]).encode(y=alt.YDatum(1))
    panel = alt.layer(same, lines, data=alt.Data(values=printed)).properties(width=170, height=170)
    return style(panel.facet(alt.Facet("measure:N", title=None, sort=[*PRINTED]), columns=3))


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
        f"The paper ranked the results of {QUERIES:,} queries by in-degree, in memory, and counts sorting. We drew"
        f" whole-numbered scores with a long tail, {float((aware.tied > 1).mean()):.0%} of them tied in lists of"
        f" {JUDGED}, and timed the same for lists of {lengths} documents, as many documents in all. Beside it, and"
        f" ours: the measure alone, on lists that are sorted already, and from a run file of {FILE_QUERIES}"
        f" queries of {RETRIEVED:,} documents to the mean. Times are the processor's, the shortest of {REPEATS},"
        " in turns. They are of this machine and not the same in every run; all else is.",
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
    claims=(about_the_same, reciprocal_rank),
)
