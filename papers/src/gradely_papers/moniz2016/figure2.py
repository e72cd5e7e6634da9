"""M16, figure 2: the cost of two mistakes by nDCG and nDCGφ, on balanced and imbalanced scores."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradely import Phi, nDCG, nDCGphi
from gradely.data.ids import Floats
from gradely_papers.charts import PALETTE, altair, draw, style
from gradely_papers.experiment import THEOREM, Claim, Experiment, Figure, Library, Outcome, Sheet, claim
from gradely_papers.moniz2016.synthetic import (
    BOTH,
    CODE,
    INVERSION,
    ITEMS,
    SAMPLES,
    SCENARIOS,
    SWAP,
    TEXT,
    Draw,
    draw_samples,
)
from gradely_papers.progress import Report
from gradely_papers.verdicts import Record, Verdict, decide

Cases = dict[tuple[str, str], dict[str, Floats]]
"""(distribution, scenario): {measure: one value per sample}"""
PLAIN, PHI = "nDCG@10", "nDCGφ@10"
SOURCES = {"the paper's text": (TEXT, "paper"), "the authors' code": (CODE, "code")}
"""the distributions of the scores, and the control points of φ"""
MOST = 0.95
"""the share of the samples that are nearly all; the limit is ours"""
FIGURE = {"balanced": 0.908, "imbalanced": 0.898}
"""the median nDCGφ of an inverted top 10, read from the authors' figure"""
READ = 0.01
"""the precision of reading a median, and the difference between two draws of the samples"""
TIMES = 2
"""a loss that is much greater than another is this many times as large; the limit is ours"""
WIDE = 0.1
"""the range of values that vary considerably is larger; the limit is ours"""


def study(seed: int, source: str, samples: int = SAMPLES, draws: dict[str, Draw] | None = None) -> Cases:
    """Return the values of all samples, drawn as in a source or by other functions."""
    distributions, control = SOURCES[source]
    plain, phi = (measure.replace(k=10) for measure in (nDCG(gain="exp"), nDCGphi(relevance=Phi(control))))
    return {
        (sample.distribution, sample.scenario): {
            PLAIN: np.asarray(plain(sample.grades)),
            PHI: np.asarray(phi(sample.scores)),
        }
        for sample in draw_samples(seed, samples, draws or distributions)
    }


def summary(cases: dict[str, Cases]) -> list[Record]:
    """Return the quartiles and extremes of each measure in each case."""
    shares = {"minimum": 0, "first quartile": 25, "median": 50, "third quartile": 75, "maximum": 100}
    return [
        {"drawn as": source, "distribution": distribution, "scenario": scenario, "measure": name}
        | {share: float(np.percentile(values, percent)) for share, percent in shares.items()}
        for source, samples in cases.items()
        for (distribution, scenario), measured in samples.items()
        for name, values in measured.items()
    ]


def medians(cases: Cases) -> dict[str, float]:
    """Return the median nDCGφ of an inverted top 10 for both distributions."""
    return {name: float(np.median(cases[name, INVERSION][PHI])) for name in BOTH}


def by_source(cases: dict[str, Cases]) -> Iterator[tuple[str, Cases]]:
    """Yield the samples of each source."""
    for source, samples in cases.items():
        yield f"samples by {source}", samples


@claim(
    "figure 2",
    printed="lines",
    criterion="it has one value for each mistake, to twelve decimals",
    kind=THEOREM,
    split=by_source,
)
def is_blind(cases: Cases) -> Verdict:
    """nDCG of grades by place is a line: it is equal for all samples of both distributions."""
    by_scenario = {
        scenario: sorted({float(v) for d in BOTH for v in np.round(cases[d, scenario][PLAIN], 12)})
        for scenario in SCENARIOS
    }
    here = ", ".join(
        f"{scenario}: {' or '.join(f'{v:.4f}' for v in values[:3])}" for scenario, values in by_scenario.items()
    )
    return decide(all(len(values) == 1 for values in by_scenario.values()), here)


@claim(
    "abstract, figure 2",
    printed="words",
    criterion="to three decimals, it has more distinct values than nDCG in each case",
    quote="a more fine-grained evaluation of rankings when compared to the standard nDCG",
    kind=THEOREM,
    split=by_source,
)
def is_finer(cases: Cases) -> Verdict:
    """nDCGφ is a more fine-grained evaluation than nDCG."""
    counts = [
        len(np.unique(np.round(measured[PHI], 3))) - len(np.unique(np.round(measured[PLAIN], 3)))
        for measured in cases.values()
    ]
    return decide(min(counts) > 0, f"{min(counts)} to {max(counts)} more values, to three decimals")


def claim_mild(distribution: str) -> Claim:
    """Return the claim that nDCGφ penalises a swap of neighbours less than nDCG."""

    def test(cases: Cases) -> Verdict:
        measured = cases[distribution, SWAP]
        share = float(np.mean(measured[PHI] > measured[PLAIN]))
        phi, plain = np.median(measured[PHI]), np.median(measured[PLAIN])
        return decide(share >= MOST, f"median nDCGφ {phi:.4f}, nDCG {plain:.4f}; above in {share:.1%}")

    return Claim(
        f"mild-{distribution}",
        "figure 2",
        f"Items 10 and 11 swapped, {distribution} scores: nDCGφ penalises the swap less than nDCG.",
        "figure only",
        f"nDCGφ is above nDCG in at least {MOST:.0%} of the samples",
        test,
        split=by_source,
    )


@claim(
    "figure 2",
    printed="figure only",
    criterion="in every sample, nDCG is 1 and nDCGφ is below 1",
    kind=THEOREM,
    split=by_source,
)
def notices(cases: Cases) -> Verdict:
    """Top 10 inverted: nDCGφ penalises the mistake, and nDCG does not."""
    highest = max(float(cases[d, INVERSION][PHI].max()) for d in BOTH)
    lowest = min(float(cases[d, INVERSION][PLAIN].min()) for d in BOTH)
    return decide(lowest == 1 and highest < 1, f"nDCG at least {lowest:.4f}, nDCGφ at most {highest:.4f}")


@claim(
    "figure 2, §4.1",
    printed="medians 0.908 balanced, 0.898 imbalanced",
    criterion=f"top 10 inverted: the median loss on imbalanced scores is at least {TIMES} times that on balanced ones",
    quote="the impact of our proposal concerning the imbalanced distribution is much greater",
    split=by_source,
)
def is_worse(cases: Cases) -> Verdict:
    """Top 10 inverted: the loss in nDCGφ is much larger if few scores stand out."""
    balanced, imbalanced = (1 - medians(cases)[name] for name in BOTH)
    here = f"median loss {balanced:.3f} balanced, {imbalanced:.3f} imbalanced"
    return decide(imbalanced >= TIMES * balanced, here)


@claim(
    "figure 2, §4.1",
    printed="figure only",
    criterion="on both distributions, their medians are nearer to each other than in the second scenario",
    quote="similar results by both metrics",
    split=by_source,
)
def is_similar(cases: Cases) -> Verdict:
    """In the first scenario (items 10 and 11 swapped), both measures have similar values."""
    gap = {case: abs(float(np.median(of[PLAIN]) - np.median(of[PHI]))) for case, of in cases.items()}
    here = ", ".join(f"{gap[name, SWAP]:.3f} against {gap[name, INVERSION]:.3f} {name}" for name in BOTH)
    return decide(all(gap[name, SWAP] < gap[name, INVERSION] for name in BOTH), f"medians differ by {here}")


@claim(
    "figure 2, §4.1",
    printed="figure only",
    criterion=f"on both distributions, the lowest and the highest nDCGφ are more than {WIDE} apart",
    quote="varies considerably",
    split=by_source,
)
def varies(cases: Cases) -> Verdict:
    """In the second scenario (top 10 inverted), the values of nDCGφ vary considerably."""
    ranges = {
        name: (float(cases[name, INVERSION][PHI].min()), float(cases[name, INVERSION][PHI].max())) for name in BOTH
    }
    here = ", ".join(f"{low:.3f} to {high:.3f} {name}" for name, (low, high) in ranges.items())
    return decide(all(high - low > WIDE for low, high in ranges.values()), here)


@claim("figure 2", printed="0.908 and 0.898", criterion=f"both are within {READ} of the figure", split=by_source)
def as_read(cases: Cases) -> Verdict:
    """The medians of nDCGφ with the top 10 inverted."""
    value = medians(cases)
    off = max(abs(value[name] - FIGURE[name]) for name in BOTH)
    return decide(off <= READ, f"{value['balanced']:.3f} and {value['imbalanced']:.3f}")


def chart(rows: list[Record]) -> Any:
    """Return nDCGφ as boxes and nDCG as lines, with a row for each source and a column for each mistake."""
    panels = [
        _panel(
            [row for row in rows if (row["drawn as"], row["scenario"]) == (source, scenario)],
            min(row["minimum"] for row in rows if row["scenario"] == scenario),
        )
        for source in SOURCES
        for scenario in SCENARIOS
    ]
    return style(altair().concat(*panels, columns=len(SCENARIOS)))


def _panel(rows: list[Record], lowest: float) -> Any:
    alt = altair()
    base = draw(rows).encode(x=alt.X("distribution:N", title="scores", axis=alt.Axis(labelAngle=0)))
    phi, plain = (base.transform_filter(f"datum.measure == '{name}'") for name in (PHI, PLAIN))
    scale = alt.Scale(domain=[lowest, 1], nice=False, padding=8)
    title = "nDCGφ@10 (boxes), nDCG@10 (lines)"
    whiskers = phi.mark_rule(color=PALETTE[0]).encode(y=alt.Y("minimum:Q", scale=scale, title=title), y2="maximum:Q")
    boxes = phi.mark_bar(size=50, color=PALETTE[0]).encode(y="first quartile:Q", y2="third quartile:Q")
    medians = phi.mark_tick(size=50, thickness=2, color="white").encode(y="median:Q")
    lines = plain.mark_tick(size=80, thickness=3, color=PALETTE[1]).encode(y="median:Q")
    heading = f"{rows[0]['scenario']}; {rows[0]['drawn as']} (n = {SAMPLES:,} each)"
    return (whiskers + boxes + medians + lines).properties(
        width=320, height=220, title=alt.Title(heading, anchor="middle", fontWeight="normal")
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the samples and measure both mistakes."""
    cases = {source: study(seed, source) for source in SOURCES}
    progress(0.7)
    rows = summary(cases)
    return Outcome(
        f"We drew {SAMPLES:,} samples of {ITEMS} scores. In the text, balanced scores are uniform on [1, 1000], and"
        " imbalanced scores have 90% in [1, 100] and 10% in [100, 1000]. In the authors' code, balanced scores are"
        " whole numbers up to 1000; imbalanced scores are 80 up to 500 and 20 from 500 to 1000, drawn again if none is"
        " an outlier; φ has the control points of the code. Grades by place are 3, 2 and 1 for the top 10, 25 and 50,"
        " and 0 for the rest; gains are 2^g - 1.",
        cases,
        {"summary": Sheet.of("Quartiles and extremes of all samples", rows)},
        {"figure-2": Figure("Two mistakes by nDCG and nDCGφ; whiskers extend to the extremes.", chart(rows))},
    )


EXPERIMENT = Experiment(
    "m16-synthetic",
    "figure 2",
    "Two mistakes by nDCG and nDCGφ, on balanced and imbalanced scores",
    "Grades by place ignore the distribution of scores, so nDCG is equal for all samples, however far apart the scores"
    " of the misplaced items are. nDCGφ is meant to distinguish them.",
    run,
    (("figure 2", "figure-2, summary"),),
    claims=(is_blind, is_finer, is_similar, *map(claim_mild, BOTH), notices, varies, is_worse, as_read),
)
