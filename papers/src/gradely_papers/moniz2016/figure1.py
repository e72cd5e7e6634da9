"""M16, figure 1: curves of φ with their control points, on balanced and imbalanced scores."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from gradely import Phi, phi
from gradely.data.ids import Floats
from gradely.evaluation.notes import SAME
from gradely_papers.charts import PALETTE, altair, draw, panels
from gradely_papers.experiment import THEOREM, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.moniz2016.synthetic import ITEMS, SAMPLES, TEXT
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import Record, UntestableError, Verdict, decide

CONTROLS = {"paper": "φ, the paper's text", "code": "φ, the authors' code"}
STEPS = 400
"""the number of points of a drawn curve"""
CLEAR = 0.5
"""clearly distinguished means of φ differ by more; the limit is ours"""


def relevance(scores: Floats, control: str, at: Floats | None = None) -> Floats:
    """Return φ fitted to each sample of scores [samples, items], at these scores or at others."""
    batch = rank_labels(scores)
    if at is not None:
        batch = batch.relabel(at, batch.pool, batch.pooled)
    return np.asarray(Phi(control)(batch).grade)


def upper_fence(scores: Floats) -> Floats:
    """Return w = Q3 + 1.5·IQR of each sample [samples, 1]."""
    q1, q3 = np.percentile(scores, [25, 75], axis=1, keepdims=True)
    return np.asarray(q3 + 1.5 * (q3 - q1))


def curves(samples: dict[str, Floats]) -> list[Record]:
    """Return the curve, the control points and the items of the first sample of each distribution."""
    out: list[Record] = []
    for name, scores in samples.items():
        first = {f"item {i}": float(score) for i, score in enumerate(scores[0], 1)}
        for control, label in CONTROLS.items():
            (curve,) = phi({name: first}, name, control).curves
            shared = {"scores": name, "φ by": label}
            at = np.linspace(min(0.0, *first.values()), max(first.values()), STEPS)
            line = zip(at.tolist(), curve(at).tolist(), strict=True)
            out += [shared | {"is": "curve", "score": x, "φ": y} for x, y in line]
            out += [shared | {"is": "control point", "score": x, "φ": y} for x, y in curve.points]
            out += [shared | {"is": "item", "score": first[doc], "φ": y} for doc, y in curve.documents().items()]
    return out


def chart(records: list[Record]) -> Any:
    """Return the curves with control points, and the scores of the items as ticks below, with a panel for each."""
    alt = altair()
    titled = [record | {"panel": f"{record['scores']} scores; {record['φ by']}"} for record in records]
    x = alt.X("score:Q", title="score", scale=alt.Scale(nice=False, padding=10))
    y = alt.Y("φ:Q", title="φ", scale=alt.Scale(domain=[-0.06, 1.06], nice=False))
    base = draw(titled)
    line = base.transform_filter("datum.is == 'curve'").mark_line(strokeWidth=2, color=PALETTE[0]).encode(x=x, y=y)
    points = base.transform_filter("datum.is == 'control point'").mark_point(
        filled=True, size=80, opacity=1, color=PALETTE[1]
    )
    ticks = base.transform_filter("datum.is == 'item'").mark_tick(thickness=1, size=8, color="#333333")
    layers = line + ticks.encode(x=x, y=alt.datum(-0.03)) + points.encode(x=x, y=y)
    order = list(dict.fromkeys(record["panel"] for record in titled))
    return panels(layers.properties(width=330, height=190), by="panel", columns=2, order=order)


@claim(
    "figure 1, §3.1",
    printed="control points",
    criterion=f"both hold for every sample, to within {SAME:g}",
    kind=THEOREM,
    split=lambda samples: ((label, (samples, control)) for control, label in CONTROLS.items()),
)
def ends(part: tuple[dict[str, Floats], str]) -> Verdict:
    """φ is 0 up to the median of the scores and 1 at their maximum."""
    samples, control = part
    highest, lowest = 0.0, 1.0
    for scores in samples.values():
        value = relevance(scores, control)
        low = scores <= np.median(scores, axis=1, keepdims=True)
        highest, lowest = max(highest, float(value[low].max())), min(lowest, float(value[:, 0].min()))
    here = f"at most {highest:.3g} up to the median, at least {lowest:.3g} at the maximum"
    return decide(highest < SAME and lowest > 1 - SAME, here)


def select_extreme(samples: dict[str, Floats]) -> dict[str, Floats]:
    """Return the samples with scores beyond w."""
    extreme = {name: scores[scores.max(axis=1) > upper_fence(scores)[:, 0]] for name, scores in samples.items()}
    return {name: scores for name, scores in extreme.items() if len(scores)}


NONE_EXTREME = UntestableError("no sample has scores beyond w")


@claim(
    "§3.1, eq. (2)",
    printed="φ(w) = 1 - α",
    criterion=f"they are equal to within {SAME:g} for every sample with scores beyond w = Q3 + 1.5·IQR",
    kind=THEOREM,
    split=lambda samples: [("", [*select_extreme(samples).values()] or NONE_EXTREME)],
)
def at_fence(samples: list[Floats]) -> Verdict:
    """φ of w, the limit of extreme scores, is 1 - α with α = (maximum - w)/(maximum - minimum)."""
    off = 0.0
    for scores in samples:
        w, high, low = upper_fence(scores), scores.max(axis=1, keepdims=True), scores.min(axis=1, keepdims=True)
        expected = 1 - (high - w) / (high - low)
        off = max(off, float(np.abs(relevance(scores, "paper", w) - expected).max()))
    return decide(off < SAME, f"{sum(map(len, samples)):,} samples; off by at most {off:.1g}")


def by_control(samples: dict[str, Floats]) -> Iterator[tuple[str, tuple[Floats, str] | UntestableError]]:
    """Yield the samples with scores beyond w, by control points and distribution."""
    extreme = select_extreme(samples)
    for (control, label), (name, scores) in product(CONTROLS.items(), extreme.items()):
        yield f"{name} scores ({len(scores):,} samples), {label}", (scores, control)
    if not extreme:
        yield "", NONE_EXTREME


@claim(
    "§3.1",
    printed="words",
    criterion=f"the mean φ of scores beyond w exceeds that of the others by more than {CLEAR}",
    quote="clearly distinguished",
    split=by_control,
)
def distinguished(part: tuple[Floats, str]) -> Verdict:
    """Extreme scores are clearly distinguished from the others."""
    scores, control = part
    value, extreme = relevance(scores, control), scores > upper_fence(scores)
    high, low = float(value[extreme].mean()), float(value[~extreme].mean())
    here = f"mean φ {high:.3f} of {extreme.sum() / len(scores):.1f} extreme items per sample, {low:.3f} of the others"
    return decide(high - low > CLEAR, here)


def observations(samples: dict[str, Floats]) -> list[Observation]:
    """Return the mean number of relevant items for each distribution."""
    out = []
    for control, label in CONTROLS.items():
        counts = {name: float((relevance(s, control) > CLEAR).sum(axis=1).mean()) for name, s in samples.items()}
        here = ", ".join(f"{count:.1f} of {ITEMS} on {name} scores" for name, count in counts.items())
        out.append(Observation(f"On average, how many items have a φ above {CLEAR} ({label})?", f"{here}."))
    return out


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the samples and the curves."""
    rng = np.random.default_rng(seed)
    samples = {name: draw(rng, SAMPLES) for name, draw in TEXT.items()}
    records = curves(samples)
    return Outcome(
        f"We drew {SAMPLES:,} samples of {ITEMS} balanced and imbalanced scores, as in the paper's text, and fitted φ"
        " to each sample, with the control points of the text and with those of the authors' code. The figure shows the"
        " first sample of each. If the median is the maximum, φ is a step from 0 to 1 at the maximum.",
        samples,
        {"figure-1": Sheet.of("Curves, control points and items of the first samples", records)},
        {
            "figure-1": Figure(
                "φ by score: curves, control points (dots), and the scores of the items (ticks).", chart(records)
            )
        },
        observations(samples),
    )


EXPERIMENT = Experiment(
    "m16-curves",
    "figure 1",
    "Curves of φ with their control points, on balanced and imbalanced scores",
    "Grades by place ignore how far apart scores are, whereas φ is fitted to their distribution.",
    run,
    (("figure 1", "figure-1"),),
    claims=(ends, at_fence, distinguished),
)
