"""τ over a grid of g: how alike GAP, xGAP and eGAP rank systems as other measures do."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from gradely.comparison.correlate import above_quartile
from gradely.comparison.kendall import DIGITS, kendall
from gradely.data import Report
from gradely.data.types import Floats
from gradely.measures import Measure
from gradely.measures.names import parse_all
from gradely.papers.ferrante2014.limits import FAMILY
from gradely.papers.judged_collections import Collection, printed

REFERENCES = ("AP", "nDCG", "RBP", "bpref")
PARTS = {2: 10, 3: 5, 4: 4}
"""into how many parts the users are divided, by the number of levels"""


def grid(levels: int) -> list[tuple[float, ...]]:
    """Return all g in steps, as in the paper: from users who want only the best to those who take all.

    >>> grid(2)[:2], len(grid(3))
    ([(0.0, 1.0), (0.1, 0.9)], 21)
    """
    parts = PARTS[levels]
    return [tuple(x / parts for x in g) for g in product(range(parts + 1), repeat=levels) if sum(g) == parts]


def measures(levels: Floats) -> dict[Any, Measure]:
    """Return the references by name, and the three measures by name and g."""
    own = {
        (name, g): kind(g=dict(zip(levels.tolist(), g, strict=True)))
        for g in grid(len(levels))
        for name, kind in FAMILY.items()
    }
    return {**parse_all(REFERENCES), **own}


def tau_table(collection: Collection, progress: Report) -> list[dict[str, Any]]:
    """Return τ for each set of topics, g, measure and reference, over the runs above the first quartile of AP."""
    systems = collection.systems(progress)
    wanted = {key: each.fit(systems.qrels.levels) for key, each in measures(systems.qrels.levels()).items()}
    good = above_quartile(systems)[0]
    values, theirs = systems.values(wanted)[good], printed_tau(collection)
    records = []
    for topics, some in collection.topics().items():
        means = dict(zip(wanted, np.round(values[:, some].mean(axis=1), DIGITS).T, strict=True))
        about = {"collection": collection.name, "runs": int(good.sum()), "topics": topics, "of them": int(some.sum())}
        for key, tau in _taus(means, grid(collection.levels)):
            point = dict(zip(("g", "measure", "reference"), key, strict=True))
            records.append(about | point | {"tau": tau, "the paper": theirs.get((topics, *key))})
    return records


def _taus(means: dict[Any, Floats], points: list[tuple[float, ...]]) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield (g, measure, reference) and τ; GAP with the same g is a reference, too."""
    for g, name, reference in product(points, FAMILY, ("GAP", *REFERENCES)):
        other = means[("GAP", g) if reference == "GAP" else reference]
        yield (" ".join(map(str, g)), name, reference), kendall(means[name, g], other)


def printed_tau(collection: Collection) -> dict[tuple[str, ...], float]:
    """Return the paper's τ by topics, g, measure and reference; none where the collection is not the paper's."""
    if collection.printed is None:
        return {}
    rows = [row for row in printed("tau") if row["collection"] == collection.printed["collection"]]
    return {
        (row["topics"], row["g"], row["measure"], reference): float(row[reference])
        for row in rows
        for reference in ("GAP", *REFERENCES)
    }
