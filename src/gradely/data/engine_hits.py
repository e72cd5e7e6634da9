"""Where the judged documents of a lazy run stand, found in its engine by window functions."""

from typing import Any

import numpy as np

from gradely.data.engine import ONE_AT_A_TIME, EngineScores, fetch, to_integers
from gradely.data.hits import Hits
from gradely.data.ids import from_arrow
from gradely.data.qrels import Qrels
from gradely.data.read.sources import Report, change_error, clip, split_report
from gradely.data.trec.hashing import FIXED_KEYS, token_hashes
from gradely.data.trec.tie_breaking import Documents, sort_tied
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
    first, second = split_report(report)
    with ONE_AT_A_TIME:
        retrieved, unjudged = _count_retrieved(qrels, scores)
        first(1.0)
        places = _count_places(scores.join(qrels, settings), settings)
        row, above, tied, place = _fetch_hits(places, settings)
        query = _queries_of(qrels, row)
        _check_hits(qrels, scores, row, above + tied > retrieved[query])
        if settings.ties == "random":
            place = above + _shuffle_places(qrels, places, settings, row, np.stack([query, above, tied]))
        second(1.0)
    return Hits(query, row, above, tied, place, retrieved, retrieved > 0, unjudged)


def _queries_of(qrels: Qrels, row: Ints) -> Ints:
    """Return the query of each judgment, both as numbers."""
    return np.searchsorted(qrels.start, row, side="right") - 1


def _count_retrieved(qrels: Qrels, scores: EngineScores) -> tuple[Ints, tuple[str, ...]]:
    """Return the lengths of the rankings of judged queries, and the names of the others."""
    names, sizes = scores.count_queries()
    retrieved = np.zeros(len(qrels), np.int64)
    unjudged = []
    for name, size in zip(names, sizes.tolist(), strict=True):
        at = qrels.index.get(name)
        if at is None:
            unjudged.append(name)
        else:
            retrieved[at] = size
    return retrieved, tuple(sorted(unjudged))  # engines give them in any order


def _count_places(run: Any, settings: Settings) -> Any:
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
        windows["last_row"] = nw.col("row").max().over(*group)
    return run.with_columns(**windows)


def _fetch_hits(places: Any, settings: Settings) -> tuple[Ints, Ints, Ints, Ints | None]:
    """Return row, above, tied and place of the judged documents, in the order of the judgments."""
    import narwhals.stable.v2 as nw

    names = ["row", "above", "tied", *(["ahead"] if settings.ties in ("trec", "order") else [])]
    hits = fetch(places.filter(~nw.col("row").is_null()).select(names))
    order = np.argsort(to_integers(hits["row"]), kind="stable")
    row, above, tied, *ahead = (to_integers(hits[name])[order] for name in names)
    return row, above, tied, above + ahead[0] if ahead else None


def _check_hits(qrels: Qrels, scores: EngineScores, row: Ints, beyond: Any) -> None:
    """Refuse a judged document that is there twice, and a run that changed between two looks at it."""
    again = np.flatnonzero(np.diff(row) == 0)
    if len(again):
        at = int(row[again[0]])
        query = qrels.queries[int(_queries_of(qrels, row)[again[0]])]
        raise DataError(
            f"{scores.name}: document {clip(qrels.docs[at])} of query {clip(query)} is there twice; "
            "keep one, or say duplicates='max'"
        )
    if beyond.any():
        raise change_error(scores.name)


def _shuffle_places(qrels: Qrels, places: Any, settings: Settings, row: Ints, groups: Ints) -> Ints:
    """Return how many tied documents stand before each judged one, when they are shuffled with the seed.

    `groups` has the query, the documents above and those that tie, of each row.
    """
    import narwhals.stable.v2 as nw

    distinct = np.unique(groups[:, groups[2] > 1], axis=1)
    if (documents := int(distinct[2].sum())) > MOST_TIED:
        raise DataError(
            f"{documents:,} documents tie with judged ones, which are more than ties='random' can shuffle here; "
            "use 'expected', or break ties in the engine"
        )
    if not documents:
        return np.zeros(len(row), np.int64)
    ties = places.filter((nw.col("tied") > 1) & ~nw.col("last_row").is_null())
    rows = fetch(ties.select("last_row", "document", row=nw.col("row").fill_null(-1)))
    ahead = np.zeros(len(qrels.grade), np.int64)
    judged, place = _shuffle(qrels, settings, rows)
    ahead[judged] = place
    return ahead[row]


def _shuffle(qrels: Qrels, settings: Settings, rows: Any) -> tuple[Ints, Ints]:
    """Return the rows of judged documents among tied ones, and how many of their group stand before each.

    A group goes by the last row of the judgments that it holds, which tells its query, too.
    """
    group, row, docs = to_integers(rows["last_row"]), to_integers(rows["row"]), from_arrow(rows["document"], "run")
    query = token_hashes(as_tokens(qrels.queries), FIXED_KEYS)[_queries_of(qrels, group)]
    tied = Documents.of(settings, docs.text, (docs.start, docs.stop), np.arange(len(group)), query)
    order = sort_tied(settings, tied, group)
    group, row = group[order], row[order]
    place = np.arange(len(order)) - np.searchsorted(group, group)
    return row[row >= 0], place[row >= 0]
