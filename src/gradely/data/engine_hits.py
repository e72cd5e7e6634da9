"""Where the judged documents of a lazy run stand, found in its engine by window functions."""

from typing import Any

import numpy as np

from gradely.data.engine import ONE_AT_A_TIME, EngineScores, fetch, whole
from gradely.data.hits import Hits
from gradely.data.ids import from_arrow
from gradely.data.qrels import Qrels
from gradely.data.read.sources import Report, change_error, clip, split_report
from gradely.data.trec.hashing import FIXED_KEYS, hashes
from gradely.data.trec.tie_places import Documents, order_ties
from gradely.data.trec.tokens import as_tokens
from gradely.data.types import Ints
from gradely.errors import DataError
from gradely.settings import Settings

MOST_TIED = 1 << 24
"""documents that tie with judged ones, of which at most so many are fetched to shuffle them: about 1 GB with names"""


def find_engine_hits(qrels: Qrels, scores: EngineScores, settings: Settings, report: Report) -> Hits:
    """Return where the judged documents of a lazy run stand; nothing but judged documents is fetched.

    Random ties follow a hash that engines do not have: there documents that tie with judged ones are fetched, too.
    """
    if settings.ties == "order" and scores.engine != "polars":
        raise DataError(
            f"{scores.name}: ties='order' goes by the order of rows, which {scores.engine} does not have; "
            "use 'expected', 'trec' or 'random'"
        )
    with ONE_AT_A_TIME:
        return _find_hits(qrels, scores, settings, *split_report(report))


def _find_hits(qrels: Qrels, scores: EngineScores, settings: Settings, first: Report, second: Report) -> Hits:
    """Ask the engine for the lengths of rankings, then for the judged documents."""
    retrieved, unjudged = _count(qrels, scores)
    first(1.0)
    placed = _placed(scores.label(qrels, settings, names=settings.ties in ("trec", "random")), settings)
    row, above, tied, place = _fetch_hits(placed, settings)
    query = np.searchsorted(qrels.start, row, side="right") - 1
    _check(qrels, scores, row, above + tied > retrieved[query])
    if settings.ties == "random":
        place = above + _random_places(qrels, placed, settings, row, above, tied)
    second(1.0)
    return Hits(query, row, above, tied, place, retrieved, retrieved > 0, unjudged)


def _count(qrels: Qrels, scores: EngineScores) -> tuple[Ints, tuple[str, ...]]:
    """Return the lengths of the rankings of judged queries, and the names of the others."""
    counts = scores.count_queries()
    retrieved = np.zeros(len(qrels), np.int64)
    unjudged = []
    for name, size in zip(counts.names, counts.size.tolist(), strict=True):
        at = qrels.index.get(name)
        if at is None:
            unjudged.append(name)
        else:
            retrieved[at] = size
    return retrieved, tuple(sorted(unjudged))  # engines give them in any order


def _placed(labelled: Any, settings: Settings) -> Any:
    """Return the run in its engine with how many documents stand above each one and how many tie with it."""
    import narwhals.stable.v2 as nw

    group = ("query", "score")
    windows = {
        "above": nw.col("score").rank("min", descending=True).over("query") - 1,
        "tied": nw.len().over(*group),
    }
    if settings.ties == "trec":
        windows["ahead"] = nw.col("document").rank("min", descending=True).over(*group) - 1
    elif settings.ties == "order":
        windows["ahead"] = nw.col("line").rank("min").over(*group) - 1
    elif settings.ties == "random":
        windows["company"] = nw.col("row").max().over(*group)
    return labelled.with_columns(**windows)


def _fetch_hits(placed: Any, settings: Settings) -> tuple[Ints, Ints, Ints, Ints | None]:
    """Return row, above, tied and place of the judged documents, in the order of the judgments."""
    import narwhals.stable.v2 as nw

    pushed = settings.ties in ("trec", "order")
    names = ["row", "above", "tied", *(["ahead"] if pushed else [])]
    hits = fetch(placed.filter(~nw.col("row").is_null()).select(names))
    row, above, tied, *ahead = (whole(hits[name]) for name in names)
    order = np.argsort(row, kind="stable")
    return row[order], above[order], tied[order], (above + ahead[0])[order] if pushed else None


def _check(qrels: Qrels, scores: EngineScores, row: Ints, beyond: Any) -> None:
    """Refuse a judged document that is there twice, and a run that changed between two looks at it."""
    again = np.flatnonzero(np.diff(row) == 0)
    if len(again):
        at = int(row[again[0]])
        query = qrels.queries[int(np.searchsorted(qrels.start, at, side="right")) - 1]
        raise DataError(
            f"{scores.name}: document {clip(qrels.docs[at])} of query {clip(query)} is there twice; "
            "keep one, or say duplicates='max'"
        )
    if beyond.any():
        raise change_error(scores.name)


def _random_places(qrels: Qrels, placed: Any, settings: Settings, row: Ints, above: Ints, tied: Ints) -> Ints:
    """Return how many tied documents stand before each judged one, when they are shuffled with the seed."""
    import narwhals.stable.v2 as nw

    query = np.searchsorted(qrels.start, row, side="right") - 1
    groups = np.unique(np.stack([query, above, tied])[:, tied > 1], axis=1)
    if (documents := int(groups[2].sum())) > MOST_TIED:
        raise DataError(
            f"{documents:,} documents tie with judged ones, which are more than ties='random' can shuffle here; "
            "use 'expected', or break ties in the engine"
        )
    if not documents:
        return np.zeros(len(row), np.int64)
    tying = placed.filter((nw.col("tied") > 1) & ~nw.col("company").is_null())
    rows = fetch(tying.select("company", "document", row=nw.col("row").fill_null(-1)))
    ahead = np.zeros(len(qrels.grade), np.int64)
    judged, place = _shuffled(qrels, settings, rows)
    ahead[judged] = place
    return ahead[row]


def _shuffled(qrels: Qrels, settings: Settings, rows: Any) -> tuple[Ints, Ints]:
    """Return the rows of judged documents among tied ones, and how many of their group stand before each.

    A group goes by the last row of the judgments that it holds, which tells its query, too.
    """
    group, row, docs = whole(rows["company"]), whole(rows["row"]), from_arrow(rows["document"], "run")
    names = as_tokens(qrels.queries)
    begin = names.start.astype(np.int64)
    owner = np.searchsorted(qrels.start, group, side="right") - 1
    query = hashes(names.text, begin, begin + names.size, FIXED_KEYS)[owner]
    tied = Documents.of(settings, docs.text, (docs.start, docs.stop), np.arange(len(group)), query)
    order = order_ties(settings, tied, group)
    group, row = group[order], row[order]
    place = np.arange(len(order)) - np.searchsorted(group, group)
    return row[row >= 0], place[row >= 0]
