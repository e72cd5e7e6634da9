"""M16's outlook: φ as the relevance of other measures, compared with nDCGφ."""

from typing import Any, NamedTuple

import numpy as np

from gradely import ERR, RBP, Batch, Measure, muAP, nDCG, nDCGphi
from gradely.data.ids import Floats
from gradely_papers.charts import altair, categories, draw, draw_lines, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.moniz2016.news import DATA, END, HOURS, Lists, join, read_topics
from gradely_papers.moniz2016.synthetic import BOTH, INVERSION, SAMPLES, SCENARIOS, SWAP, draw_samples
from gradely_papers.progress import Report
from gradely_papers.verdicts import Record

GRADES, PHI = "grades by place", "φ"
QUARTILES = ("first quartile", "median loss", "third quartile")


class Pair(NamedTuple):
    """A measure of grades by place, and the same measure of φ."""

    grades: Measure
    phi: Measure


PAIRS = {
    "nDCG@10": Pair(nDCG(gain="exp").replace(k=10), nDCGphi().replace(k=10)),
    "ERR@10": Pair(ERR(top=3).replace(k=10), ERR(relevance="phi").replace(k=10)),
    "graded RBP@10": Pair(RBP(relevance="identity", top=3).replace(k=10), RBP(relevance="phi").replace(k=10)),
    "µAP@10": Pair(muAP().replace(k=10), muAP(relevance="phi").replace(k=10)),
}


def share(measure: Measure, batch: Batch, ideal: Batch) -> Floats:
    """Return the values as shares of the ideal ranking's, which is not 1 for all measures."""
    best = np.asarray(measure(ideal))
    shares: Floats = np.asarray(measure(batch)) / np.where(best > 0, best, 1.0)
    return shares


def synthetic(seed: int, samples: int = SAMPLES) -> list[Record]:
    """Return the median and the quartiles of the loss by each measure, for both mistakes and distributions."""
    out: list[Record] = []
    for sample in draw_samples(seed, samples):
        case = {"scenario": sample.scenario, "scores": sample.distribution}
        for name, pair in PAIRS.items():
            losses = {
                GRADES: 1 - share(pair.grades, sample.grades, sample.ideal_grades),
                PHI: 1 - share(pair.phi, sample.scores, sample.ideal_scores),
            }
            for of, loss in losses.items():
                quartiles = dict(zip(QUARTILES, np.percentile(loss, [25, 50, 75]).tolist(), strict=True))
                out.append(case | {"measure": name, "relevance": of} | quartiles)
    return out


def news(lists: Lists) -> list[Record]:
    """Return the mean share of the ideal value by each measure, by number of hours."""
    return [
        {"hours": hours, "measure": name, "relevance": of, "mean": float(np.mean(share(measure, batch, best)))}
        for hours in HOURS
        for name, pair in PAIRS.items()
        for of, measure, batch, best in (
            (GRADES, pair.grades, lists.with_grades(hours), lists.with_grades(END)),
            (PHI, pair.phi, lists.with_popularity(hours), lists.with_popularity(END)),
        )
    ]


def losses(records: list[Record]) -> Any:
    """Return the median and quartiles of the loss, with a panel for each mistake and distribution."""
    alt = altair()
    signs = categories("relevance", [GRADES, PHI])
    base = draw(records).encode(
        y=alt.Y("measure:N", title=None, sort=[*PAIRS]),
        yOffset=alt.YOffset("relevance:N", sort=[GRADES, PHI]),
        color=signs["color"],
    )
    title = "loss, as a share of the ideal value"
    scale = alt.Scale(padding=8, nice=False)
    # point=False removes a small point at the start of each rule, which the shapes of the other layer would cause
    rules = base.mark_rule(strokeWidth=2, point=False)
    ranges = rules.encode(x=alt.X("first quartile:Q", title=title, scale=scale), x2="third quartile:Q")
    points = base.mark_point(filled=True, size=70, opacity=1)
    medians = points.encode(x=alt.X("median loss:Q", title=title, scale=scale), shape=signs["shape"])
    return style(
        (ranges + medians)
        .properties(width=280, height=150)
        .facet(column=alt.Column("scores:N", title=None), row=alt.Row("scenario:N", title=None, sort=[*SCENARIOS]))
    )


def hours(records: list[Record]) -> Any:
    """Return the means by number of hours, with a panel for each kind of relevance."""
    alt = altair()
    x = alt.X("hours:O", title="hours after which items are ranked", axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title="mean share of the ideal value", scale=alt.Scale(domain=[0, 1.05], nice=False))
    lines = draw_lines(records, x, y, "measure", [*PAIRS]).properties(width=260, height=240)
    return style(lines.facet(alt.Column("relevance:N", title=None, sort=[GRADES, PHI])))


def observations(records: list[Record]) -> list[Observation]:
    """Return the paper's questions about nDCG for every measure."""
    loss = {(row["scenario"], row["scores"], row["measure"], row["relevance"]): row["median loss"] for row in records}
    out = []
    for name in PAIRS:
        blind = max(loss[INVERSION, scores, name, GRADES] for scores in BOTH)
        even, uneven = (loss[INVERSION, scores, name, PHI] for scores in BOTH)
        answer = f"The median loss is {blind:.4f} by grades; by φ, {even:.4f} balanced and {uneven:.4f} imbalanced."
        out.append(Observation(f"{name}: what is the loss if the top 10 is inverted?", answer))
        swapped = ", ".join(
            f"{loss[SWAP, scores, name, GRADES]:.5f} by grades and {loss[SWAP, scores, name, PHI]:.5f} by φ on {scores}"
            for scores in BOTH
        )
        answer = f"The median loss is {swapped} scores."
        out.append(Observation(f"{name}: what is the loss if items 10 and 11 are swapped?", answer))
    return out


def observe_news(shared: list[Record]) -> Observation:
    """Return the range of the measures on the earliest rankings of news."""
    early = {
        (record["measure"], record["relevance"]): record["mean"] for record in shared if record["hours"] == HOURS[0]
    }
    by_grades, by_phi = ([early[name, of] for name in PAIRS] for of in (GRADES, PHI))
    return Observation(
        f"Which share of the ideal value do rankings of news reach after {HOURS[0]} hour, depending on the measure?",
        f"{min(by_grades):.2f} to {max(by_grades):.2f} by grades, {min(by_phi):.2f} to {max(by_phi):.2f} by φ.",
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Measure the synthetic samples and the news with φ in every measure."""
    drawn_up = synthetic(seed)
    progress(0.5)
    lists = join(read_topics(library))
    shared = news(lists)
    return Outcome(
        "We used φ of the true score as the relevance in ERR, graded RBP and µAP, and measured the paper's cases of"
        " nDCGφ: the two mistakes of figure 2, and early rankings of news. Values are shares of the ideal ranking's"
        " value, which is not 1 for ERR and RBP. All measures have the cut-off 10.",
        drawn_up,
        {
            "synthetic": Sheet.of("The loss of two mistakes", drawn_up, 5),
            "news": Sheet.of("Early rankings of news", shared),
        },
        {
            "synthetic": Figure(
                f"The loss of two mistakes: medians and quartiles of {SAMPLES:,} samples.", losses(drawn_up)
            ),
            "news": Figure(f"Early rankings of news: the mean over {len(lists.counts)} lists.", hours(shared)),
        },
        [*observations(drawn_up), observe_news(shared)],
    )


EXPERIMENT = Experiment(
    "m16-outlook",
    "outlook",
    "φ in ERR, graded RBP and µAP, compared with nDCGφ",
    "φ can be the relevance of other measures for graded relevance, which the paper leaves to future work.",
    run,
    (("outlook", "synthetic, news"),),
    needs=(DATA,),
)
