"""M08, §3: what it costs to take care of ties, measure by measure, as a ratio."""

from typing import Any

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.papers.library import Library
from gradely.papers.mcsherry2008.enumeration import PRINTED
from gradely.papers.mcsherry2008.timing import (
    FILE_QUERIES,
    JUDGED,
    QUERIES,
    REPEATS,
    RETRIEVED,
    Pair,
    alone,
    batches,
    from_file,
)
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Record, Sheet
from gradely.papers.parts import part
from gradely.tables import Table

ABOUT = 1.25
"""the paper's own largest ratio, that of RR: up to here a cost is about the same"""
FILE, ALONE = "from a run file to the mean", "the measure alone"


def records(times: dict[str, dict[str, Pair]]) -> list[Record]:
    """Return one row a measure and way of timing."""
    return [
        {
            "measure": name,
            "timed": way,
            "ms, ties taken care of": 1000 * pair.aware,
            "ms, ties ignored": 1000 * pair.oblivious,
            "ratio": pair.ratio,
        }
        for way, pairs in times.items()
        for name, pair in pairs.items()
    ]


def claims(times: dict[str, dict[str, Pair]]) -> list[Claim]:
    """Check the paper's ratios for its measures, and state ours for all."""
    return [claim for way, pairs in times.items() for claim in (_about(way, pairs), _reciprocal(way, pairs))]


def _about(way: str, pairs: dict[str, Pair]) -> Claim:
    ratios = {name: pairs[name].ratio for name in PRINTED if name != "RR"}
    return Claim(
        f"Taking care of ties costs about what ignoring them does ({way}).",
        "about 1",
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
        max(ratios.values()) <= ABOUT,
    )


def _reciprocal(way: str, pairs: dict[str, Pair]) -> Claim:
    ratio = pairs["RR"].ratio
    return Claim(f"RR costs about 25% more ({way}).", "1.25", f"{ratio:.2f}", ratio <= ABOUT)


def chart(rows: list[Record]) -> Any:
    """Return the ratios, a dot a measure."""
    alt = altair()
    order = list(dict.fromkeys(row["measure"] for row in rows))
    dots = (
        drawn(rows)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X(
                "ratio:Q", title="time with ties taken care of, over time with ties ignored", scale=alt.Scale(zero=True)
            ),
            y=alt.Y("measure:N", title=None, sort=order),
            color=alt.Color("timed:N", title=None),
            shape=alt.Shape("timed:N", title=None),
        )
    )
    same = drawn([{"ratio": 1}]).mark_rule(strokeDash=[4, 4]).encode(x="ratio:Q")
    return styled((same + dots).properties(width=480, height=360))


def story(times: dict[str, dict[str, Pair]]) -> str:
    """Say what is dear."""
    first, second, third, *_ = sorted(times[ALONE], key=lambda name: -times[ALONE][name].ratio)
    aware, oblivious = (1e6 * seconds / QUERIES for seconds in times[ALONE][first])
    return (
        "Who evaluates a run file waits about as long for exact values: reading it takes most of the time. The measure"
        f" alone can take longer where ties are taken care of, {first}, {second} and {third} most, since on whole"
        f" arrays the plain measures do next to nothing: {first} takes {aware:.1f} in place of {oblivious:.1f}"
        " microseconds a query."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Time every measure in both ways."""
    times = {
        FILE: from_file(seed, progress=part(progress, 0, 2)),
        ALONE: alone(seed, progress=part(progress, 1, 2)),
    }
    rows = records(times)
    aware, _ = batches(seed)
    return Outcome(
        f"The paper ranked the results of {QUERIES:,} queries by in-degree. We drew whole-numbered scores with a long"
        f" tail and timed each measure twice: from a run file of {FILE_QUERIES} queries of {RETRIEVED:,} documents to"
        f" the mean, and alone, on {QUERIES:,} rankings of {JUDGED} judged documents that are in memory and in order,"
        f" {float((aware.tied > 1).mean()):.0%} of them tied. Times are the processor's, the shortest of {REPEATS}, in"
        " turns. They are of this machine and not the same in every run; all else is.",
        story(times),
        claims(times),
        {"times": Sheet("Milliseconds and ratios", Table.of(rows, 3))},
        {"ratios": Figure("What it costs to take care of ties; 1 is nothing.", chart(rows))},
    )


EXPERIMENTS = (
    Experiment(
        "m08-overhead",
        "M08",
        "§3",
        "What it costs to take care of ties, as a ratio",
        "The measures that take care of ties cost about what those that ignore them do; RR costs about 25% more.",
        (),
        run,
    ),
)
