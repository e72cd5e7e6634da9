"""M08, §3: what it costs to take care of ties, measure by measure, as a ratio."""

from typing import Any, NamedTuple

from gradely.comparison.charts import altair, categories, style
from gradely.data import Report
from gradely.tables import Table
from gradely_papers.library import Library
from gradely_papers.mcsherry2008 import timing
from gradely_papers.mcsherry2008.enumeration import PRINTED
from gradely_papers.mcsherry2008.timing import JUDGED, QUERIES, RETRIEVED, SIZES, Pair
from gradely_papers.outcome import Claim, Experiment, Figure, Observation, Outcome, Sheet, part
from gradely_papers.verdicts import Record, Verdict, decide

ABOUT = 1.25
"""the paper's own largest ratio, that of RR: up to here a cost is about the same"""
MEMORY, ALONE, FILE = "in memory, sorting included", "ours: the measure alone", "ours: from a run file to the mean"


class Times(NamedTuple):
    """How long the work takes with ties taken care of and with ties ignored."""

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
                "ms, ties taken care of": 1000 * pair.aware,
                "ms, ties ignored": 1000 * pair.oblivious,
                "ratio": pair.ratio,
            }
            for setting, size, pairs in settings
            for name, pair in pairs.items()
        ]


def about_the_same(times: Times) -> list[Verdict]:
    """Return for each length of list whether the measures other than RR cost about the same."""
    out = []
    for size, pairs in times.in_memory.items():
        ratios = {name: pairs[name].ratio for name in PRINTED if name != "RR"}
        out.append(decide(max(ratios.values()) <= ABOUT, _list(ratios), _lists(size)))
    return out


def reciprocal_rank(times: Times) -> list[Verdict]:
    """Return for each length of list whether RR costs no more than a quarter more."""
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
    dearest = max(kernels, key=kernels.__getitem__)
    aware, oblivious = (1e6 * seconds / QUERIES for seconds in times.alone[dearest])
    return [
        Observation(
            f"What is the ratio for the measure alone, on lists of {JUDGED} that are sorted already?",
            f"{_list({name: kernels[name] for name in PRINTED})}; at most {kernels[dearest]:.2f}, {dearest}, which"
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
        y=alt.Y("ratio:Q", title="ties taken care of / ignored", scale=alt.Scale(domainMin=0)),
        **categories("setting", [MEMORY, ALONE, FILE]),
    )
    same = alt.Chart().mark_rule(strokeDash=[4, 4]).encode(y=alt.YDatum(1))
    panel = alt.layer(same, lines, data=alt.Data(values=printed)).properties(width=170, height=170)
    return style(panel.facet(alt.Facet("measure:N", title=None, sort=[*PRINTED]), columns=3))


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Time every measure in every setting."""
    times = Times(
        timing.time_in_memory(seed, progress=part(progress, 0, 3)),
        timing.time_alone(seed, progress=part(progress, 1, 3)),
        timing.time_from_file(seed, progress=part(progress, 2, 3)),
    )
    rows = times.records()
    aware, _ = timing.batches(seed)
    lengths = ", ".join(f"{size:,}" for size in SIZES)
    return Outcome(
        f"The paper ranked the results of {QUERIES:,} queries by in-degree, in memory, and counts sorting. We drew"
        f" whole-numbered scores with a long tail, {float((aware.tied > 1).mean()):.0%} of them tied in lists of"
        f" {JUDGED}, and timed the same for lists of {lengths} documents, as many documents in all. Beside it, and"
        f" ours: the measure alone, on lists that are sorted already, and from a run file of {timing.FILE_QUERIES}"
        f" queries of {RETRIEVED:,} documents to the mean. Times are the processor's, the shortest of {timing.REPEATS},"
        " in turns. They are of this machine and not the same in every run; all else is.",
        "Sorting is dearer than most measures, so that the ratio is near 1; only where lists are short do AP and RR,"
        " whose plain forms take a single pass, show what ties cost.",
        times,
        {"times": Sheet("Milliseconds and ratios", Table.of(rows, 3))},
        {
            "ratios": Figure(
                f"What it costs to take care of ties in {QUERIES:,} lists of {JUDGED} documents, or in as many"
                " documents of longer lists; 1 (dashed) is nothing.",
                chart(rows),
            )
        },
        observations(times),
    )


CLAIMS = (
    Claim(
        "same",
        "abstract, §3",
        "Measures that take care of ties are computed as efficiently as those that ignore them.",
        "about 1",
        f"the ratio of P, R, F1, AP and nDCG is at most {ABOUT}, the paper's own largest",
        about_the_same,
    ),
    Claim(
        "RR", "§3", "RR alone costs about 25 % more.", "1.25", f"the ratio of RR is at most {ABOUT}", reciprocal_rank
    ),
)
EXPERIMENT = Experiment(
    "m08-overhead",
    "§3",
    "What it costs to take care of ties, as a ratio",
    "The measures that take care of ties cost about what those that ignore them do; RR costs about 25% more.",
    run,
    claims=CLAIMS,
)
