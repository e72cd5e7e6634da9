"""M08 on real runs: how far arbitrary orders of ties move each measure, and whether they reorder systems."""

from statistics import fmean
from typing import Any

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.papers.judged_collections import DATA, NEEDS, collections, enough
from gradely.papers.library import Library
from gradely.papers.mcsherry2008.breaking import MEASURES, SEEDS, Means, moves, read, reorderings
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Record, Sheet
from gradely.papers.parts import part
from gradely.tables import Table

SHOWN, BY = 20, "nDCG@10"
"""how many systems of a collection a figure shows, those that ties move most, and by which measure"""
VISIBLE = 0.001
"""a move that shows in three decimals"""
WAYS = ("swapped by name", "swapped in file order", "swapped at random")


def named(found: dict[str, list[Record]]) -> list[Record]:
    """Return the rows of all collections, each with its name."""
    return [{"collection": name} | row for name, rows in found.items() for row in rows]


def claims(moved: list[Record], reordered: list[Record]) -> list[Claim]:
    """Say of every collection whether the order of ties matters."""
    names = list(dict.fromkeys(row["collection"] for row in moved))
    found = ([[row for row in rows if row["collection"] == name] for rows in (moved, reordered)] for name in names)
    return [
        claim
        for name, (one, other) in zip(names, found, strict=True)
        for claim in (_moves(name, one), _reorders(name, other))
    ]


def _range(row: Record) -> float:
    return float(row["worst to best order, most"])


def _moves(collection: str, rows: list[Record]) -> Claim:
    least, *_, most = sorted(rows, key=_range)
    return Claim(
        f"{collection}: the value of a measure depends on how ties are broken.",
        "",
        f"from the worst order to the best, {most['measure']} of {most['system']} moves by"
        f" {most['worst to best order, most']:.4f}; document names move a measure by up to"
        f" {max(row['by name, most'] for row in rows):.4f}; the steadiest, {least['measure']}, moves by"
        f" {least['worst to best order, most']:.4f} at most",
        _range(most) >= VISIBLE,
    )


def _reorders(collection: str, rows: list[Record]) -> Claim:
    counts = {way: max((int(row[way]), str(row["measure"])) for row in rows) for way in WAYS}
    shown = ", ".join(f"{way} {f'up to {n} ({measure})' if n else 'none'}" for way, (n, measure) in counts.items())
    either = max(rows, key=lambda row: int(row["in either order"]))
    return Claim(
        f"{collection}: how ties are broken reorders systems.",
        "",
        f"of {rows[0]['pairs']:,} pairs of systems: {shown}; {either['in either order']} can come in either order"
        f" ({either['measure']}); lowest τ {min(float(row['τ at random, least']) for row in rows):.4f}",
        any(int(row[way]) for row in rows for way in WAYS),
    )


def agreement(reordered: list[Record]) -> Any:
    """Return how alike systems are ranked with ties broken at random and with the mean over all orders, at least."""
    alt = altair()
    dots = (
        drawn(reordered)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("τ at random, least:Q", title="lowest τ, ties broken at random", scale=alt.Scale(zero=False)),
            y=alt.Y("measure:N", title=None, sort=[*MEASURES]),
            color=alt.Color("collection:N", title=None),
            shape=alt.Shape("collection:N", title=None),
        )
    )
    return styled(dots.properties(width=460, height=260))


def ranges(means: Means, measure: str) -> Any:
    """Return the systems that ties move most: how far from the mean over all orders other ways to take ties lie."""
    alt = altair()
    rows = away(means, measure)[:SHOWN]
    system = alt.Y("system:N", title=None, sort=[row["system"] for row in rows])
    title = f"{measure} less its mean over all orders; bars: from the worst order to the best"
    bars = (
        drawn(rows).mark_bar(height=9, color="#c8c8c8").encode(x=alt.X("worst:Q", title=title), x2="best:Q", y=system)
    )
    broken = [
        {"system": row["system"], "ties": ties, "value": row[policy]}
        for row in rows
        for policy, ties in (("trec", "by name"), ("order", "in file order"))
    ]
    points = (
        drawn(broken)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x="value:Q", y=system, color=alt.Color("ties:N", title="ties"), shape=alt.Shape("ties:N", title="ties"))
    )
    return styled((bars + points).properties(width=480))


def away(means: Means, measure: str) -> list[Record]:
    """Return how far every policy lies from the mean over all orders, a row a system, those that move most first."""
    i = means.column(measure)
    apart = {policy: (table - means.by_policy["expected"])[:, i].tolist() for policy, table in means.by_policy.items()}
    rows = [{"system": name} | {policy: apart[policy][j] for policy in apart} for j, name in enumerate(means.systems)]
    return sorted(rows, key=lambda row: float(row["worst"]) - float(row["best"]))


def story(moved: list[Record]) -> str:
    """Say which measures move most, and what follows."""
    ranges = {name: fmean(_range(row) for row in moved if row["measure"] == name) for name in MEASURES}
    first, second, *_, last_but_one, last = sorted(ranges, key=lambda name: -ranges[name])
    return (
        f"Over all collections {first} and {second} move most from the worst order to the best, {last_but_one} and"
        f" {last} least. Few pairs of systems change places, but where they do, names or files decide which one is"
        " called better. The mean over all orders depends on neither. Where hardly any judged document ties, nothing"
        " moves."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Break ties in every way, on every collection with enough runs."""
    chosen = [each for each in collections(library) if enough(each)]
    found = {
        each.name: read(each.qrels, each.runs, seed, progress=part(progress, i, len(chosen)))
        for i, each in enumerate(chosen)
    }
    moved, reordered = (named({name: table(means) for name, means in found.items()}) for table in (moves, reorderings))
    where = str(max((row for row in moved if row["measure"] == BY), key=_range)["collection"])
    return Outcome(
        f"We evaluated the runs of {len(found)} collections with {len(MEASURES)} measures: the mean over all orders of"
        f" ties; ties broken by document name, as trec_eval does; in file order; at random, {SEEDS} times; and for each"
        " measure in its best and its worst order.",
        story(moved),
        claims(moved, reordered),
        {
            "moves": Sheet("How far the order of ties moves a system", Table.of(moved)),
            "reorderings": Sheet("How alike systems are ranked", Table.of(reordered)),
        },
        {
            "ranges": Figure(f"{where}: the systems that ties move most.", ranges(found[where], BY)),
            "agreement": Figure("How alike systems are ranked when ties are broken at random.", agreement(reordered)),
        },
    )


EXPERIMENTS = (
    Experiment(
        "m08-ties",
        "M08",
        "on real runs",
        "How far the order of ties moves measures and reorders systems",
        "Sorting breaks ties in an arbitrary order, so that the same scores give different values, depending on names,"
        " files or the sorting algorithm. The mean over all orders does not depend on them.",
        NEEDS,
        run,
        DATA,
    ),
)
