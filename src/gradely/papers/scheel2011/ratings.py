"""S11's outlook: µMAP and NDCNG on film ratings, with simple recommenders as systems."""

from typing import Any

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Record, Sheet
from gradely.papers.scheel2011.films import MEASURES, SCALES, change, order, scored
from gradely.papers.scheel2011.recommenders import HELD_OUT, RECOMMENDERS, read
from gradely.tables import Table

DATA = "ratings-ml-latest-small/ratings.csv.gz"
SMALL = 1 / 4
"""a change is small against another where it is less than this share of it"""


def tasks(records: list[Record]) -> list[str]:
    """Return which films are ranked, the tasks."""
    return list(dict.fromkeys(record["ranked"] for record in records))


def chart(records: list[Record]) -> Any:
    """Return the mean of each recommender by scale, a panel a measure, a row a task."""
    alt = altair()
    return styled(alt.vconcat(*(_row([each for each in records if each["ranked"] == task]) for task in tasks(records))))


def _row(records: list[Record]) -> Any:
    """Return one task; its values have a range of their own."""
    alt = altair()
    lines = (
        drawn(records)
        .mark_line(point=alt.OverlayMarkDef(size=50))
        .encode(
            x=alt.X("levels:O", title="levels of the scale", sort=[*SCALES.values()], axis=alt.Axis(labelAngle=0)),
            y=alt.Y("mean:Q", title="mean over the users", scale=alt.Scale(zero=False)),
            color=alt.Color("recommender:N", title=None, sort=[*RECOMMENDERS]),
            shape=alt.Shape("recommender:N", sort=[*RECOMMENDERS], legend=None),
        )
    )
    panels = lines.properties(width=190, height=190).facet(alt.Column("measure:N", title=None, sort=[*MEASURES]))
    return panels.properties(title=f"Ranked: {records[0]['ranked']}")


def claims(records: list[Record]) -> list[Claim]:
    """Check on real ratings what the paper found on artificial lists."""
    return [_hardly_changes(records, ranked) for ranked in tasks(records)]


def _hardly_changes(records: list[Record], ranked: str) -> Claim:
    changes = {name: change(records, ranked, name) for name in MEASURES}
    return Claim(
        f"Ranking {ranked}: from half stars to whole stars, µMAP and NDCNG hardly change, against nDCG.",
        "",
        "mean absolute change: " + ", ".join(f"{name} {value:.4f}" for name, value in changes.items()),
        max(changes["µMAP"], changes["NDCNG"]) < SMALL * changes["nDCG"],
    )


def reordered(records: list[Record]) -> str:
    """Say for which measures whole stars put the recommenders in another order than half stars."""
    cases = [(ranked, name) for ranked in tasks(records) for name in MEASURES]
    found = [
        f"{name} of {ranked} ({' > '.join(order(records, ranked, name, 10))} with half stars,"
        f" {' > '.join(order(records, ranked, name, 5))} with whole stars)"
        for ranked, name in cases
        if order(records, ranked, name, 10) != order(records, ranked, name, 5)
    ]
    return (
        f"The number of levels reorders the recommenders by {' and by '.join(found)}, and by nothing else."
        if found
        else "The number of levels reorders the recommenders by no measure."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Hold ratings out, recommend, measure."""
    ratings = read(library.path(DATA), seed)
    records = scored(ratings, progress)
    winners = ", ".join(f"{order(records, ranked, 'µMAP', 10)[0]} for {ranked}" for ranked in tasks(records))
    users, films = ratings.stars.shape
    title = "Recommenders by number of levels: ordering what a user rated, and finding it."
    return Outcome(
        f"We held a random {HELD_OUT}th of the ratings of each of {users:,} users out and ranked, by three simple"
        f" recommenders, the films that the user rated, and all {films:,} films but those known to be seen. Grades are"
        " half stars (0 to 9), whole stars (0 to 4), or four stars and more against less; the lowest level is 0, as the"
        " paper asks. Popularity ties often; values are means over all orders.",
        f"Best by µMAP: {winners}. {reordered(records)} A threshold at four stars moves every measure: it asks another"
        " question, since all that lies below no longer counts.",
        claims(records),
        {"means": Sheet("The mean over all users", Table.of(records))},
        {"levels": Figure(title, chart(records))},
    )


EXPERIMENTS = (
    Experiment(
        "s11-ratings",
        "S11",
        "outlook",
        "µMAP and NDCNG of recommenders, on film ratings in half stars",
        "The paper proposes µMAP and NDCNG for users who rate on many levels, and leaves film ratings to later work.",
        (DATA,),
        run,
    ),
)
