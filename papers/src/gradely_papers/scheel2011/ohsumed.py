"""S11, figures 6, 7 and 8: features of OHSUMED as systems, and two of them as users."""

from collections.abc import Sequence
from typing import Any

from gradely.comparison.charts import altair, draw, draw_dashes, style
from gradely.data import Report
from gradely.tables import Table
from gradely_papers.library import Library
from gradely_papers.outcome import Experiment, Figure, Observation, Outcome, Sheet, part
from gradely_papers.scheel2011.collection import FEATURES, FOLDER, Collection, read
from gradely_papers.scheel2011.features import TIES, USERS, by_threshold, compare_published, score_systems
from gradely_papers.scheel2011.ohsumed_claims import CLAIMS, VIRTUAL, Evidence
from gradely_papers.verdicts import Record


def chart(records: list[Record]) -> Any:
    """Return a bar for each system and measure, one row of panels per way of taking ties."""
    alt = altair()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    titled = [record | {"ties": TIES[record["ties"]]} for record in records]
    bars = (
        draw(titled)
        .mark_bar()
        .encode(
            x=alt.X("measure:N", title=None, sort=measures, axis=None),
            y=alt.Y("value:Q", title="mean over the queries", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title=None, sort=measures),
            column=alt.Column(
                "system:N",
                title=None,
                sort=[*FEATURES.values()],
                spacing=6,
                header=alt.Header(labelOrient="bottom", labelFontSize=12),
            ),
            row=alt.Row("ties:N", title=None, sort=[*TIES.values()], header=alt.Header(labelFontSize=12)),
        )
    )
    return style(bars.properties(width=96, height=180))


def thresholds(records: list[Record]) -> Any:
    """Return MAP by threshold, one line for each system: the left half of figures 7 and 8."""
    alt = altair()
    x = alt.X(
        "threshold:Q",
        title="threshold: documents that the user rates at least so high are relevant",
        axis=alt.Axis(tickMinStep=1),
        scale=alt.Scale(zero=True, nice=False, padding=6),
    )
    y = alt.Y("MAP:Q", title="MAP over the queries", scale=alt.Scale(domain=[-0.02, 1.02], nice=False))
    lines = draw_dashes(records, x, y, "system", [*FEATURES.values()])
    return style(lines.properties(width=560, height=280))


def gather(library: Library, progress: Report) -> tuple[Evidence, Collection]:
    """Read the collection and measure every feature for every user."""
    folder = library.path(FOLDER)
    steps = len(USERS) + 1
    collection = read(folder, part(progress, 0, steps))
    values = {
        name: score_systems(collection, user, part(progress, i, steps))
        for i, (name, user) in enumerate(USERS.items(), 1)
    }
    counts = {name: collection.levels(USERS[name].feature) for name in VIRTUAL}
    pearson = collection.correlation(*(USERS[name].feature for name in VIRTUAL))
    letor = compare_published(folder, collection)
    return Evidence(values, counts, pearson, collection.count_lacking(2), letor), collection


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Measure the figures, and MAP at every threshold for the virtual users."""
    evidence, collection = gather(library, progress)
    curves = {f"{name}-thresholds": by_threshold(collection, USERS[name]) for name in VIRTUAL}
    n = f"{len(collection.queries)} queries"
    titles = {
        f"{name}-thresholds": f"{USERS[name].title}: MAP over {n} at each threshold (the left half)."
        for name in VIRTUAL
    }
    return Outcome(
        f"We ranked the documents of {len(collection.queries)} queries by each of {len(FEATURES)} features, once with"
        " the mean over all orders of tied documents and once with ties in the order of the file. Mean nDCG and mean"
        " NDCNG are means over all cut-offs, as in table 2. A virtual user rates a document by its value of a feature.",
        "The features' own scores are exactly 1. The data that is public today has more levels of TF-IDF than the paper"
        " counts.",
        evidence,
        {name: Sheet(USERS[name].title, Table.of(records)) for name, records in evidence.values.items()}
        | {name: Sheet(titles[name], Table.of(records)) for name, records in curves.items()}
        | {"letor": Sheet("As published with LETOR 2.0", Table.of(evidence.letor))},
        {name: Figure(f"{USERS[name].title}; {n}.", chart(records)) for name, records in evidence.values.items()}
        | {name: Figure(titles[name], thresholds(records)) for name, records in curves.items()},
        observations(evidence.values["figure-6"]),
    )


def observations(records: Sequence[Record]) -> list[Observation]:
    """Say what file order does for a feature that tells nothing."""
    idf = [record for record in records if record["system"] == FEATURES[5] and record["measure"] == "MAP at 1"]
    value = {record["ties"]: record["value"] for record in idf}
    return [
        Observation(
            "What does the order of the file do for IDF, which is the same for all documents of a query?",
            f"Its MAP is {value['order']:.4f} in file order and {value['expected']:.4f} over all orders of ties: the"
            " file lists relevant documents early.",
        )
    ]


EXPERIMENT = Experiment(
    "s11-ohsumed",
    "figures 6, 7 and 8",
    "Features as systems on OHSUMED, for judges and for virtual users",
    "µMAP, nDCG and NDCNG compare features as rankers. A feature can also stand for a user who rates documents on"
    " many levels, 9 for the term frequency of the title, 158 for its TF-IDF; that feature itself then scores 1.",
    run,
    claims=CLAIMS,
    needs=(FOLDER,),
)
