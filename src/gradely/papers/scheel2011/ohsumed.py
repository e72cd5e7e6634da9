"""S11, figures 6, 7 and 8: features of OHSUMED as systems, and two of them as users."""

from typing import Any

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.evaluation.evaluation import SAME
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Record, Sheet
from gradely.papers.parts import part
from gradely.papers.scheel2011.collection import FEATURES, FOLDER, Collection, read
from gradely.papers.scheel2011.features import TIES, USERS, User, published, scored
from gradely.papers.scheel2011.means import MEANS
from gradely.tables import Table

SMALL = 1 / 4
"""a change is small against another where it is less than this share of it"""
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]
"""of Okabe and Ito, which everybody tells apart: bars have no shape that would"""
PRINTED = 5e-5
"""how far apart numbers are that agree to four decimals"""


def chart(records: list[Record]) -> Any:
    """Return a bar for each system and measure, one row of panels a way of taking ties."""
    alt = altair()
    measures = list(dict.fromkeys(record["measure"] for record in records))
    shown = [record | {"ties": TIES[record["ties"]]} for record in records]
    bars = (
        drawn(shown)
        .mark_bar()
        .encode(
            x=alt.X("measure:N", title=None, sort=measures, axis=None),
            y=alt.Y("value:Q", title="mean over the queries", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("measure:N", title=None, sort=measures, scale=alt.Scale(range=COLOURS[: len(measures)])),
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
    return styled(bars.properties(width=96, height=180))


def own(found: dict[str, list[Record]], name: str) -> list[float]:
    """Return what the virtual user's own feature scores, all measures and ties."""
    feature = USERS[name].feature
    return [record["value"] for record in found[name] if feature and record["system"] == FEATURES[feature]]


def changes(found: dict[str, list[Record]]) -> dict[str, list[float]]:
    """Return by measure how much each other system changes from figure 7 to figure 8, with ties expected."""
    users = {FEATURES[user.feature] for user in USERS.values() if user.feature}
    before, after = (
        {
            (record["system"], record["measure"]): record["value"]
            for record in found[name]
            if record["ties"] == "expected" and record["system"] not in users
        }
        for name in ("figure-7", "figure-8")
    )
    return {measure: [after[key] - before[key] for key in before if key[1] == measure] for measure in MEANS}


def claims(found: dict[str, list[Record]], collection: Collection, letor: list[Record]) -> list[Claim]:
    """Check the figures' claims, and the numbers published with the data."""
    virtual = {name: user for name, user in USERS.items() if user.feature}
    off = max(abs(record["LETOR 2.0"] - record["here"]) for record in letor)
    return [
        *(_scores_one(user, own(found, name)) for name, user in virtual.items()),
        *(_levels(user, collection) for user in virtual.values()),
        _more_levels(changes(found)),
        Claim(
            "MAP and NDCG@10 of single features, as published with LETOR 2.0 (ties in file order).",
            f"{len(letor)} numbers",
            f"all within {off:.0e}",
            off < PRINTED,
        ),
    ]


def _scores_one(user: User, values: list[float]) -> Claim:
    return Claim(
        f"{user.title}: the feature itself scores 1.",
        "1",
        f"between {min(values):.12g} and {max(values):.12g} over all measures and ties",
        all(abs(value - 1) < SAME for value in values),
    )


def _levels(user: User, collection: Collection) -> Claim:
    found = collection.levels(user.feature or 0)
    return Claim(
        f"{user.title}: how many levels the feature has.", str(user.levels), f"{found:,}", found == user.levels
    )


def _more_levels(change: dict[str, list[float]]) -> Claim:
    fall, others = -max(change["mean nDCG"]), [*change["µMAP"], *change["mean NDCNG"]]
    return Claim(
        "From 9 levels to many more (TF-IDF in place of TF as the user), nDCG of the other features falls, while µMAP"
        " and NDCNG hardly change.",
        "",
        "changes: " + "; ".join(f"{name} {min(each):+.4f} to {max(each):+.4f}" for name, each in change.items()),
        max(map(abs, others)) < SMALL * fall,
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Read the collection and measure every feature for every user."""
    folder = library.path(FOLDER)
    steps = len(USERS) + 1
    collection = read(folder, part(progress, 0, steps))
    found = {
        name: scored(collection, user, part(progress, i, steps)) for i, (name, user) in enumerate(USERS.items(), 1)
    }
    letor = published(folder, collection)
    return Outcome(
        f"We ranked the documents of {len(collection.queries)} queries by each of {len(FEATURES)} features, once with"
        " the mean over all orders of tied documents and once with ties in the order of the file. Mean nDCG and mean"
        " NDCNG are means over all cut-offs, as in table 2. A virtual user rates a document by its value of a feature.",
        _story(found["figure-6"]),
        claims(found, collection, letor),
        {name: Sheet(USERS[name].title, Table.of(records)) for name, records in found.items()}
        | {"letor": Sheet("As published with LETOR 2.0", Table.of(letor))},
        {name: Figure(f"{USERS[name].title}.", chart(records)) for name, records in found.items()},
    )


def _story(records: list[Record]) -> str:
    idf = [record for record in records if record["system"] == FEATURES[5] and record["measure"] == "MAP at 1"]
    value = {record["ties"]: record["value"] for record in idf}
    return (
        "The features' own scores are exactly 1. The data that is public today has more levels of TF-IDF than the paper"
        " counts. IDF is the same for all documents of a query and so says nothing about them: with ties in file order"
        f" it still gets a MAP of {value['order']:.4f} in place of {value['expected']:.4f}, since the file lists"
        " relevant documents early."
    )


EXPERIMENTS = (
    Experiment(
        "s11-ohsumed",
        "S11",
        "figures 6, 7 and 8",
        "Features as systems on OHSUMED, for judges and for virtual users",
        "µMAP, nDCG and NDCNG compare features as rankers. A feature can also stand for a user who rates documents on"
        " many levels, 9 for the term frequency of the title, 158 for its TF-IDF; that feature itself then scores 1.",
        (FOLDER,),
        run,
    ),
)
