"""M16, figure 1: scores by place in the ranking, and the curve of φ, on balanced and imbalanced scores."""

from typing import Any

import numpy as np

from gradely import Phi
from gradely.data.ids import Floats
from gradely_papers.charts import altair, draw, draw_dashes, style
from gradely_papers.experiment import Experiment, Figure, Library, Outcome, Sheet, claim
from gradely_papers.moniz2016.grades import TOP
from gradely_papers.moniz2016.synthetic import ITEMS, SAMPLES, TEXT
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import SAME, Record, Verdict, decide

CONTROLS = {"paper": "φ, the paper's text", "code": "φ, the authors' code"}
HALF = 0.5


def relevance(scores: Floats, control: str) -> Floats:
    """Return φ of [samples, items] of scores."""
    return np.asarray(Phi(control)(rank_labels(scores)).grade)


def curves(samples: dict[str, Floats]) -> list[Record]:
    """Return the scores of the first sample of each distribution, with both φ."""
    return [
        {"scores": name, "place": i, "score": float(score), "φ by": label, "φ": float(value)}
        for name, scores in samples.items()
        for control, label in CONTROLS.items()
        for i, (score, value) in enumerate(zip(scores[0], relevance(scores[:1], control)[0], strict=True), 1)
    ]


def chart(records: list[Record]) -> Any:
    """Return scores by place, with the borders of the grades, above the curves of φ by score."""
    alt = altair()
    x = alt.X("place:Q", title="place in the true order", scale=alt.Scale(domain=[0, ITEMS + 1], nice=False))
    base = draw([*records, *({"scores": name, "border": last} for name in TEXT for last, _ in TOP)])
    dots = base.transform_filter("isValid(datum.score)").mark_circle(size=18, opacity=0.8)
    borders = base.transform_filter("isValid(datum.border)").mark_rule(strokeDash=[4, 4])
    places = dots.encode(x=x, y=alt.Y("score:Q", title="score")) + borders.encode(x="border:Q")
    column = alt.Column("scores:N", title=None)
    phi = alt.Y("φ:Q", scale=alt.Scale(domain=[-0.02, 1.02], nice=False))
    lines = draw_dashes(records, alt.X("score:Q", title="score"), phi, "φ by", [*CONTROLS.values()])
    upper, lower = places.properties(width=330, height=170), lines.properties(width=330, height=170)
    return style(alt.vconcat(upper.facet(column=column), lower.facet(column=column)))


@claim("ends", "figure 1, §3", printed="control points", criterion=f"so for every sample, to within {SAME:g}")
def ends(samples: dict[str, Floats]) -> list[Verdict]:
    """φ is 0 up to the median of the scores and 1 at their maximum."""
    out = []
    for control, label in CONTROLS.items():
        highest, lowest = 0.0, 1.0
        for scores in samples.values():
            value = relevance(scores, control)
            low = scores <= np.median(scores, axis=1, keepdims=True)
            highest, lowest = max(highest, float(value[low].max())), min(lowest, float(value[:, 0].min()))
        here = f"at most {highest:.3g} up to the median, at least {lowest:.3g} at the maximum"
        out.append(decide(highest < SAME and lowest > 1 - SAME, here, label))
    return out


@claim(
    "few",
    "figure 1, §3",
    printed="figure only",
    criterion=f"the mean number of items with φ above {HALF} is lower on imbalanced than on balanced scores",
)
def fewer_relevant(samples: dict[str, Floats]) -> list[Verdict]:
    """Where few scores stand out, few items are relevant."""
    out = []
    for control, label in CONTROLS.items():
        counts = {name: float((relevance(s, control) > HALF).sum(axis=1).mean()) for name, s in samples.items()}
        here = ", ".join(f"{count:.1f} of {ITEMS} {name}" for name, count in counts.items())
        out.append(decide(counts["imbalanced"] < counts["balanced"], f"φ above {HALF}: {here}", label))
    return out


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the samples and the curves."""
    rng = np.random.default_rng(seed)
    samples = {name: draw(rng, SAMPLES) for name, draw in TEXT.items()}
    records = curves(samples)
    return Outcome(
        f"We drew {ITEMS} scores {SAMPLES:,} times, balanced and imbalanced as the paper's text has it, and fitted φ to"
        " each sample, with the control points of the text and with those of the authors' code. The figure shows the"
        " first sample of each.",
        samples,
        {"figure-1": Sheet.of("Scores and φ of one sample each", records)},
        {"figure-1": Figure("Scores by place (dashed: where grades change), and φ by score.", chart(records))},
    )


EXPERIMENT = Experiment(
    "m16-curves",
    "figure 1",
    "Scores by place, and the curves of φ, on balanced and imbalanced scores",
    "Grades that are set by place ignore how far scores lie apart. φ is fitted to their distribution.",
    run,
    claims=(ends, fewer_relevant),
)
