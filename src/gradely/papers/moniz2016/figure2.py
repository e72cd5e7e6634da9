"""M16, figure 2: what two mistakes cost by nDCG and by nDCGφ, on balanced and on imbalanced scores."""

from typing import Any

import numpy as np

from gradely.comparison.charts import PALETTE, altair, drawn, styled
from gradely.data import Report
from gradely.data.types import Floats
from gradely.measures import nDCG, nDCGphi
from gradely.papers.library import Library
from gradely.papers.moniz2016.synthetic import DISTRIBUTIONS, ITEMS, SAMPLES, SCENARIOS, drawn_samples
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.relevance import Phi
from gradely.tables import Table

Cases = dict[tuple[str, str], dict[str, Floats]]
"""(distribution, scenario): {measure: a value each sample}"""
PLAIN, PHI, CODE = "nDCG@10", "nDCGφ@10", "nDCGφ@10, the authors' code"
MOST = 0.95
"""what holds for this share of the samples holds for nearly all"""


def study(seed: int, samples: int = SAMPLES) -> Cases:
    """Return the values of all samples."""
    plain, phi, code = (
        measure.replace(k=10) for measure in (nDCG(gain="exp"), nDCGphi(), nDCGphi(relevance=Phi("code")))
    )
    return {
        (each.distribution, each.scenario): {
            PLAIN: np.asarray(plain(each.grades)),
            PHI: np.asarray(phi(each.scores)),
            CODE: np.asarray(code(each.scores)),
        }
        for each in drawn_samples(seed, samples)
    }


def summary(cases: Cases) -> list[dict[str, Any]]:
    """Return the quartiles of each measure in each case."""
    shares = {"minimum": 0, "first quartile": 25, "median": 50, "third quartile": 75, "maximum": 100}
    return [
        {"distribution": distribution, "scenario": scenario, "measure": name}
        | {share: float(np.percentile(values, percent)) for share, percent in shares.items()}
        for (distribution, scenario), found in cases.items()
        for name, values in found.items()
    ]


def claims(cases: Cases) -> list[Claim]:
    """Check what the figure shows."""
    swap, inversion = SCENARIOS
    return [
        _blind(cases),
        *(_mild(cases, name, swap) for name in DISTRIBUTIONS),
        _noticed(cases, inversion),
        _worse(cases),
    ]


def _blind(cases: Cases) -> Claim:
    by_scenario = {
        scenario: {float(v) for d in DISTRIBUTIONS for v in np.round(cases[d, scenario][PLAIN], 12)}
        for scenario in SCENARIOS
    }
    shown = ", ".join(
        f"{scenario}: {' or '.join(f'{v:.4f}' for v in values)}" for scenario, values in by_scenario.items()
    )
    text = "nDCG of grades by place is one line: the same for every sample and both distributions."
    return Claim(text, "", shown, all(len(values) == 1 for values in by_scenario.values()))


def _mild(cases: Cases, distribution: str, swap: str) -> Claim:
    found = cases[distribution, swap]
    share = float(np.mean(found[PHI] > found[PLAIN]))
    text = (
        f"Items 10 and 11 swapped, {distribution}: nDCGφ sees less of a mistake than nDCG, which sees a step in grade."
    )
    ours = (
        f"median nDCGφ {np.median(found[PHI]):.4f}, nDCG {np.median(found[PLAIN]):.4f}; in {share:.1%} of the samples"
    )
    return Claim(text, "", ours, share >= MOST)


def _noticed(cases: Cases, inversion: str) -> Claim:
    highest = max(float(cases[d, inversion][PHI].max()) for d in DISTRIBUTIONS)
    lowest = min(float(cases[d, inversion][PLAIN].min()) for d in DISTRIBUTIONS)
    text = "The top 10 inverted: nDCG notices nothing, nDCGφ does."
    return Claim(text, "", f"nDCG at least {lowest:.4f}, nDCGφ at most {highest:.4f}", lowest == 1 and highest < 1)


def _worse(cases: Cases) -> Claim:
    medians = {
        scenario: [float(np.median(cases[d, scenario][PHI])) for d in ("balanced", "imbalanced")]
        for scenario in SCENARIOS
    }
    text = "Both mistakes cost more where few scores stand out."
    ours = "; ".join(
        f"{scenario}: median nDCGφ {a:.4f} balanced, {b:.4f} imbalanced" for scenario, (a, b) in medians.items()
    )
    return Claim(text, "", ours, all(b < a for a, b in medians.values()))


def chart(cases: Cases) -> Any:
    """Return nDCGφ as boxes and nDCG as lines across them; each scenario has a scale of its own."""
    alt = altair()
    return styled(alt.hconcat(*(_panel(cases, scenario) for scenario in SCENARIOS)))


def _panel(cases: Cases, scenario: str) -> Any:
    alt = altair()
    records = [
        {"scores": distribution, "plain": float(plain), "phi": float(phi)}
        for distribution in DISTRIBUTIONS
        for plain, phi in zip(*(cases[distribution, scenario][name] for name in (PLAIN, PHI)), strict=True)
    ]
    base = drawn(records).encode(x=alt.X("scores:N", title="scores", axis=alt.Axis(labelAngle=0)))
    values = alt.Y("phi:Q", title="nDCGφ@10 (boxes), nDCG@10 (lines)", scale=alt.Scale(zero=False))
    boxes = base.mark_boxplot(extent="min-max", size=50, color=PALETTE[0]).encode(y=values)
    lines = base.mark_tick(size=80, thickness=3, color=PALETTE[1]).encode(y=alt.Y("mean(plain):Q"))
    return (boxes + lines).properties(width=260, height=260, title=scenario)


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the samples and measure both mistakes."""
    cases = study(seed)
    progress(0.7)
    return Outcome(
        f"We drew {ITEMS} scores {SAMPLES:,} times, uniform on [1, 1000] (balanced), and 90% in [1, 100] with 10% in"
        " [100, 1000] (imbalanced). Grades by place are 3, 2, 1 and 0 for the top 10, 25, 50 and the rest; gains are"
        " 2^g - 1.",
        "Grades by place charge for a border that was drawn by hand and see nothing inside of it. φ charges for the"
        " distance between the scores. The control points of the authors' code give nearly the same.",
        claims(cases),
        {"summary": Sheet("Quartiles of all samples", Table.of(summary(cases)))},
        {"figure-2": Figure("Two mistakes, measured in two ways. Whiskers reach to the extremes.", chart(cases))},
    )


EXPERIMENTS = (
    Experiment(
        "m16-synthetic",
        "M16",
        "figure 2",
        "Two mistakes by nDCG and nDCGφ, on balanced and imbalanced scores",
        "Grades that are set by place ignore how scores are distributed: nDCG gives the same value to every sample,"
        " whether the items that changed places are alike or worlds apart. nDCGφ tells them apart.",
        (),
        run,
    ),
)
