"""S11's outlook: µMAP and NDCNG on film ratings, with simple recommenders as systems."""

from typing import Any

from gradely.comparison.charts import altair, draw_lines, style
from gradely.data import Report
from gradely.papers.library import Library
from gradely.papers.outcome import Experiment, Figure, Observation, Outcome, Sheet
from gradely.papers.scheel2011.films import MEASURES, SCALES, by_shift, change, order, score_recommenders
from gradely.papers.scheel2011.recommenders import HELD_OUT, RECOMMENDERS, read
from gradely.papers.verdicts import Record
from gradely.tables import Table

DATA = "ratings-ml-latest-small/ratings.csv.gz"
REORDERED = "Does the number of levels reorder the recommenders?"


def tasks(records: list[Record]) -> list[str]:
    """Return which films are ranked, the tasks."""
    return list(dict.fromkeys(record["ranked"] for record in records))


def chart(records: list[Record]) -> Any:
    """Return the mean of each recommender by scale, one panel per measure, one row per task."""
    alt = altair()
    return style(
        alt.vconcat(*(_row([record for record in records if record["ranked"] == task]) for task in tasks(records)))
    )


def _row(records: list[Record]) -> Any:
    """Return one task; its values have a range of their own."""
    alt = altair()
    x = alt.X("levels:O", title="levels of the scale", sort=[*SCALES.values()], axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title="mean over the users", scale=alt.Scale(zero=False, padding=10))
    lines = draw_lines(records, x, y, "recommender", [*RECOMMENDERS]).properties(width=190, height=190)
    panels = lines.facet(alt.Column("measure:N", title=None, sort=[*MEASURES]))
    return panels.properties(title=f"Ranked: {records[0]['ranked']}")


def observations(records: list[Record]) -> list[Observation]:
    """Ask of real ratings what the paper asked of artificial lists."""
    return [
        *(_change(records, ranked) for ranked in tasks(records)),
        Observation(REORDERED, describe_reordering(records)),
    ]


def _change(records: list[Record], ranked: str) -> Observation:
    changes = {name: change(records, ranked, name) for name in MEASURES}
    ratio = max(changes["µMAP"], changes["NDCNG"]) / changes["nDCG"]
    return Observation(
        f"Ranking {ranked}: how much do the measures change from half stars to whole stars?",
        "Mean absolute change: "
        + ", ".join(f"{name} {value:.4f}" for name, value in changes.items())
        + f"; µMAP and NDCNG change by at most {ratio:.0%} of nDCG's change.",
    )


def shift(rows: list[Record]) -> Observation:
    """Say what it does to shift the scale, as S11 asks where the irrelevant level is not 0."""
    pairs = ((row, after) for row, after in zip(rows[::2], rows[1::2], strict=True))
    lines = "; ".join(
        f"{row['recommender']}: " + ", ".join(f"{name} {row[name]:.3f} and {after[name]:.3f}" for name in MEASURES)
        for row, after in pairs
    )
    return Observation("What does the shift rule do to whole stars, 1 to 5 as given and 0 to 4 shifted?", f"{lines}.")


def describe_reordering(records: list[Record]) -> str:
    """Say for which measures whole stars put the recommenders in another order than half stars."""
    cases = [(ranked, name) for ranked in tasks(records) for name in MEASURES]
    changes = [
        f"{name} of {ranked} ({' > '.join(order(records, ranked, name, 10))} with half stars,"
        f" {' > '.join(order(records, ranked, name, 5))} with whole stars)"
        for ranked, name in cases
        if order(records, ranked, name, 10) != order(records, ranked, name, 5)
    ]
    return (
        f"The number of levels reorders the recommenders by {' and by '.join(changes)}, and by nothing else."
        if changes
        else "The number of levels reorders the recommenders by no measure."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Hold ratings out, recommend, measure."""
    ratings = read(library.path(DATA), seed)
    records, shifts = score_recommenders(ratings, progress), by_shift(ratings)
    winners = ", ".join(f"{order(records, ranked, 'µMAP', 10)[0]} for {ranked}" for ranked in tasks(records))
    users, films = ratings.stars.shape
    title = f"Recommenders by number of levels: ordering what each of {users:,} users rated, and finding it."
    return Outcome(
        f"We held a random {HELD_OUT}th of the ratings of each of {users:,} users out and ranked, by three simple"
        f" recommenders, the films that the user rated, and all {films:,} films but those known to be seen. Grades are"
        " half stars (0 to 9), whole stars (0 to 4), or four stars and more against less; the lowest level is 0, as the"
        " paper asks. Popularity ties often; values are means over all orders.",
        f"Best by µMAP: {winners}. A threshold at four stars moves every measure: it asks another"
        " question, since all that lies below no longer counts.",
        records,
        {
            "means": Sheet("The mean over all users", Table.of(records)),
            "shift": Sheet("The shift rule: whole stars as given and with the lowest at 0", Table.of(shifts)),
        },
        {"levels": Figure(title, chart(records))},
        [*observations(records), shift(shifts)],
    )


EXPERIMENT = Experiment(
    "s11-ratings",
    "S11",
    "outlook",
    "µMAP and NDCNG of recommenders, on film ratings in half stars",
    "The paper proposes µMAP and NDCNG for users who rate on many levels, and leaves film ratings to later work.",
    run,
    needs=(DATA,),
)
