"""The table of a benchmark."""

import json
from pathlib import Path

from benchmarks.bars import DEFAULT, IMPORT, LINEAR, OVERHEAD, REPORT, TREC, Workload
from benchmarks.device import table, verdicts
from benchmarks.process import Outcome

INTRODUCTION = """# Benchmarks

gradely and other popular tools compute the same measures: nDCG@10, nDCG, AP, RR, P@10 and R@100. Each contender runs in
a process of its own, at least three times, alternating with the others. The best time counts; *spread* is the longest
time divided by the shortest. *times gradely's* is a contender's best time divided by gradely's, under the slower tie
policy. A *bar* is what gradely must reach. Work on files is timed from the start of the process to its end, and work in
memory when warm. Values are compared as well: on files, `gradely --ties trec --precision single` and pytrec_eval must
agree to 1e-9.
"""
HEADER = "| workload | contender | best, s | spread | peak, MB | times gradely's | bar |\n|---|---|--:|--:|--:|--:|---|"
Row = tuple[Workload, list[Outcome]]
DEVICE = Path(__file__).with_name("device.json")
"""what benchmarks/device.py wrote"""
CORES = Path(__file__).with_name("cores.txt")
"""what benchmarks/cores.py printed"""
TABLES = Path(__file__).with_name("tables.txt")
"""what benchmarks/tables.py and benchmarks/table_peers.py printed"""
TABLES_TEXT = """A run of 6,980 queries × 1,000 documents, 7 million rows, is evaluated by nDCG@10, AP, RR, P@10 and
R@100: as TREC text and as tables of the same content, in one process, alternating. Ratios are relative to TREC text.
The last lines are about a million users × 20 items in arrays; the ratio of `from_ids` is relative to a hand-written
sketch, and those of flat groups to `from_ids`. ranx and RecTools get a pandas frame and one measure. `make
bench-tables` measured this, the best of three times (ranx once, RecTools twice), on 2 idle processors."""
CORES_TEXT = """One run as TREC text is evaluated by nDCG@10, AP and RR. Up to four workers are threads; more are
processes. `python -m benchmarks.cores` measured this on 16 cores, the best of three times."""
DEVICE_TEXT = """Six measures ({}) of dense arrays in single precision, in which about half of the scores tie. *sorts*
is the time over that of one sort of the scores, *memory / input* the peak over the memory of scores and labels, and
*error* the largest difference from double precision. `python -m benchmarks.device` measured this on one {}, {}."""


def slowest(outcomes: list[Outcome]) -> float:
    """Return gradely's time, under the tie policy that takes longer."""
    return max(outcome.best for outcome in outcomes if outcome.contender in (DEFAULT, TREC))


def bars(workload: Workload, outcomes: list[Outcome]) -> dict[str, str]:
    """Return the bars of each contender, and whether they are met."""
    ours = [outcome for outcome in outcomes if outcome.contender in (DEFAULT, TREC)]
    verdicts = {}
    for outcome in outcomes:
        if (least := workload.faster.get(outcome.contender)) is not None:
            verdicts[outcome.contender] = verdict(f"at least {least:g}", outcome.best / slowest(outcomes) >= least)
    if workload.megabytes < float("inf"):
        most = max(outcome.memory for outcome in ours)
        verdicts[DEFAULT] = verdict(f"at most {workload.megabytes:g} MB", most <= workload.megabytes)
    if workload.seconds < float("inf"):
        verdicts[DEFAULT] = verdict(f"at most {workload.seconds * 1000:g} ms", slowest(outcomes) <= workload.seconds)
    return verdicts


def verdict(text: str, met: bool) -> str:
    """Return a bar and whether it is met."""
    return f"{text}: {'met' if met else '**missed**'}"


def line(workload: Workload, outcomes: list[Outcome]) -> str:
    """Return a workload in one line, to show progress."""
    times = ", ".join(f"{outcome.contender} {outcome.best:.4g} s" for outcome in outcomes)
    return f"{workload.name}: {times}; {'; '.join(bars(workload, outcomes).values())}"


def markdown(rows: list[Row], extra: dict[str, dict[str, float]], machine: str) -> str:
    """Return all results."""
    lines = [INTRODUCTION, f"Measured with `make bench` on {machine}.", "", HEADER]
    for workload, outcomes in rows:
        verdicts = bars(workload, outcomes)
        lines += [table_row(workload, outcome, outcomes, verdicts) for outcome in outcomes]
    parts = [*startup(extra.get("G")), *ties(extra.get("H")), *linear(extra.get("I")), *page(extra.get("J"))]
    parts += [*tables(), *cores(), *device()]
    return "\n".join([*lines, "", *parts]) + "\n"


def tables() -> list[str]:
    """Return the times of tables and flat arrays, as ratios."""
    return [
        "## From frames, tables and arrays",
        "",
        TABLES_TEXT,
        "",
        "```",
        TABLES.read_text(encoding="utf-8").rstrip(),
        "```",
        "",
    ]


def cores() -> list[str]:
    """Return the times by number of cores, which were measured on a machine with many."""
    return ["## On many cores", "", CORES_TEXT, "", "```", CORES.read_text(encoding="utf-8").rstrip(), "```", ""]


def device() -> list[str]:
    """Return the results on an accelerator, which `make bench` may not have."""
    record = json.loads(DEVICE.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    return [
        "## On an accelerator",
        "",
        DEVICE_TEXT.format(", ".join(record["measures"]), record["device"], versions),
        "",
        table(record["shapes"]),
        "",
        *(f"- {line}" for line in verdicts(record["shapes"])),
        "",
    ]


def table_row(workload: Workload, outcome: Outcome, outcomes: list[Outcome], verdicts: dict[str, str]) -> str:
    """Return a contender's row; the first one has the title of the workload."""
    title = f"{workload.name}: {workload.title}" if outcome is outcomes[0] else ""
    ours = outcome.contender in (DEFAULT, TREC)
    ratio = "" if ours else f"{outcome.best / slowest(outcomes):.1f}"
    cells = (title, outcome.contender, f"{outcome.best:.4g}", f"{outcome.spread:.2f}", f"{outcome.memory:.0f}", ratio)
    return f"| {' | '.join(cells)} | {verdicts.get(outcome.contender, '')} |"


def startup(seconds: dict[str, float] | None) -> list[str]:
    """Return G."""
    if not seconds:
        return []
    over = seconds["import gradely"] - seconds["import numpy"]
    text = ", ".join(f"`{name}` {value:.3f} s" for name, value in seconds.items())
    return [f"**G, start-up time**: {text}. {verdict(f'At most {IMPORT} s over NumPy', over <= IMPORT)}.", ""]


def ties(ratios: dict[str, float] | None) -> list[str]:
    """Return H."""
    if not ratios:
        return []
    text = "; ".join(f"{name} {value:.2f}" for name, value in ratios.items())
    met = verdict(f"At most {OVERHEAD}", max(ratios.values()) <= OVERHEAD)
    return [f"**H, cost of exact ties**, as a multiple of the time with ties in input order: {text}. {met}.", ""]


def linear(seconds: dict[str, float] | None) -> list[str]:
    """Return I: the additional time for more of B, relative to linear growth."""
    if not seconds:
        return []
    tenth, third, full = (seconds[part] for part in ("B-tenth", "B-third", "B"))
    rate = ((full - third) / (2 / 3)) / ((third - tenth) / (1 / 3 - 1 / 10))
    times = f"a tenth of B takes {tenth:.3f} s, a third {third:.3f} s, all of it {full:.3f} s"
    met = verdict(f"Within {LINEAR * 100:.0f} %", abs(rate - 1) <= LINEAR)
    later = f"After the first third, a line takes {rate:.2f} times as long as before"
    return [f"**I, growth**: {times}. {later}. {met}.", ""]


def page(seconds: dict[str, float] | None) -> list[str]:
    """Return J."""
    if not seconds:
        return []
    text = ", ".join(f"`{name}` {value:.2f} s" for name, value in seconds.items())
    met = verdict(f"At most {REPORT} times", seconds["compare --report"] <= REPORT * seconds["evaluate"])
    return [f"**J, cost of a page**, in processor time, with the runs of C: {text}. {met}.", ""]
