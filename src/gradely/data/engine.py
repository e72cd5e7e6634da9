"""Runs that stay in their engine: lazy frames of polars, DuckDB, Spark and Ibis, which are never collected whole.

The names of the judged documents are uploaded to the engine, and only their ranks and some counts come back.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from threading import RLock
from typing import Any

import numpy as np

from gradely.data.column_roles import Names, Roles, pick_columns
from gradely.data.columns import compact
from gradely.data.hits import Hits, Unjudged
from gradely.data.ids import PAD, Bools, Floats, Ids, Ints, Tokens, as_tokens, from_arrow
from gradely.data.qrels import Qrels
from gradely.data.source import Report, change_error, split_report
from gradely.data.table import LazyScores, describe_merged
from gradely.data.tie_breaking import ORDERS, Documents, Order
from gradely.errors import DataError, clip
from gradely.lazy import optional
from gradely.settings import Settings

ROW_OBJECTS = 1 << 20
"""bytes of judgments up to which Spark may keep a Java object for each row, which saves a job but takes 15 times as
much heap: a million judgments, 32 MB, filled 480 MB of it, and the run did not fit beside them"""

BROADCAST = 1 << 26
"""bytes of judgments up to which they are broadcast to every executor, and the run need not be shuffled. Their hash
table takes 4.4 times as much, here 280 MB; by default, executors have a heap of 1 GB, of which Spark uses 434 MB."""


def judged_table(qrels: Qrels) -> Any:
    """Return the judged documents as an Arrow table: names of query and document, and the row in the qrels."""
    import pyarrow as pa

    queries, docs = (Ids.of(as_tokens(names)) for names in (qrels.queries, qrels.docs))
    owner = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    row = np.flatnonzero(_are_text(queries)[owner] & _are_text(docs))  # an engine cannot hold other ids
    columns = [_as_arrow(queries.take(owner[row])), _as_arrow(docs.take(row)), pa.array(row)]
    return pa.table(columns, ["judged_query", "judged", "row"])


def _are_text(ids: Ids) -> Bools:
    """Return flags of the ids that are valid UTF-8; usually all are, which a single check shows."""
    out = np.ones(len(ids.start), bool)
    if ids.text.max(initial=0) > 127:
        for i in range(len(out)):
            try:
                ids.bytes_at(i).decode()
            except UnicodeDecodeError:
                out[i] = False
    return out


def _as_arrow(ids: Ids) -> Any:
    """Return ids as Arrow text."""
    import pyarrow as pa

    ids = compact(ids)
    edges = np.concatenate([[0], np.cumsum(ids.stop - ids.start)]).astype(np.int64)
    text = ids.text[PAD:-PAD]
    return pa.LargeStringArray.from_buffers(len(ids.start), pa.py_buffer(edges), pa.py_buffer(text.tobytes()))


def _to_duckdb(native: Any, judged: Any) -> Any:  # noqa: ARG001 - DuckDB finds it by name
    """Return judgments as a relation of the same connection, which only a query on a relation can reach."""
    return native.query("gradely_run", "SELECT * FROM judged")


def _to_spark(native: Any, judged: Any) -> Any:
    """Return judgments as a Spark frame, kept as Arrow batches if there are many."""
    session = native.sparkSession
    with _keep_batches(session) if judged.nbytes > ROW_OBJECTS else nullcontext():
        return _broadcast(session.createDataFrame(judged), judged)


def _to_spark_connect(native: Any, judged: Any) -> Any:
    """Return judgments as a frame of a Spark Connect server, which decides itself how to keep them."""
    return _broadcast(native.sparkSession.createDataFrame(judged), judged)


def _broadcast(frame: Any, judged: Any) -> Any:
    """Broadcast the judgments to every executor if they are few; if they are many, Spark may shuffle the run."""
    return frame.hint("broadcast") if judged.nbytes <= BROADCAST else frame


@contextmanager
def _keep_batches(session: Any) -> Iterator[None]:
    """Make Spark keep frames that are created in this context as Arrow batches, not as an object per row."""
    name = "spark.sql.execution.arrow.localRelationThreshold"
    before = session.conf.get(name, None)
    session.conf.set(name, "0")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, before)


UPLOADS: dict[str, Callable[[Any, Any], Any]] = {
    "polars": lambda _, judged: import_module("polars").from_arrow(judged).lazy(),
    "duckdb": _to_duckdb,
    "pyspark": _to_spark,
    "pyspark_connect": _to_spark_connect,
    "ibis": lambda _, judged: import_module("ibis").memtable(judged),
}
"""functions that upload an Arrow table to the engine of a frame, for engines that can rank"""
WITH_ORDER = ("polars",)
"""engines whose rows have an order"""


SINGLE_OVERFLOW = 2.0**128 - 2.0**103
"""smallest number that overflows when it is rounded to single precision: halfway between the largest number of single
precision and the next power of two"""

ONE_AT_A_TIME = RLock()
"""held during a call to an engine: an engine already uses all processors, and a DuckDB connection rejects a second
call"""


def is_lazy(native: Any) -> bool:
    """True if the rows of a frame are still in its engine."""
    import narwhals.stable.v2 as nw

    try:
        return isinstance(nw.from_native(native, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # a frame in memory with two columns of the same name
        return False


class EngineScores(LazyScores):
    """A lazy run as {query: {document: score}}: one query is fetched when it is requested, and never all of them."""

    def __init__(self, native: Any, name: str, columns: Names | None, duplicates: str) -> None:
        """Pick the columns by the schema; nothing is computed yet."""
        import narwhals.stable.v2 as nw

        frame: Any = nw.from_native(native)
        self.name, self.engine = name, frame.implementation.name.lower()
        if self.engine not in UPLOADS:
            raise DataError(f"{name}: rankings cannot be computed in {self.engine}; collect it, or write it as Parquet")
        with ONE_AT_A_TIME:
            self.roles = pick_by_type(frame, "score", name, columns)
            self.frame = self._merge(rename(frame, self.roles, "score"), duplicates)
        self.duplicates = duplicates
        self.notes = [*self.roles.notes]
        """which of two columns is read and, once it is known, how many duplicates were merged"""

    def _merge(self, frame: Any, duplicates: str) -> Any:
        """Return the frame with duplicate documents merged."""
        import narwhals.stable.v2 as nw

        if duplicates == "error":
            return frame
        if duplicates != "max":
            raise DataError(f"{self.name}: duplicates={duplicates!r} depends on the order of rows, which lazy frames "
                            "do not have; use 'max', or merge rows in the engine")  # fmt: skip
        return frame.group_by("query", "document").agg(nw.col("score").max(), rows=nw.len())

    def find_hits(self, qrels: Qrels, settings: Settings, report: Report) -> Hits:
        """Return the hits of the run."""
        return find_engine_hits(qrels, self, settings, report)

    def first_scores(self, query: str, most: int) -> Floats:
        """Return at most `most` scores of a query."""
        import narwhals.stable.v2 as nw

        with ONE_AT_A_TIME:
            rows = fetch(self.frame.filter(nw.col("query") == query).select("score").head(most))
        return np.array(rows["score"].to_pylist(), np.float64)

    def find_tops(self, depth: int, settings: Settings) -> Iterator[tuple[str, str]]:
        """Yield query and document of all rows that have fewer than `depth` documents of their query above them."""
        import narwhals.stable.v2 as nw

        frame = self.frame.with_columns(score=_round_score()) if settings.precision == "single" else self.frame
        above = nw.col("score").rank("min", descending=True).over("query") - 1
        with ONE_AT_A_TIME:
            rows = fetch(frame.with_columns(above=above).filter(nw.col("above") < depth).select("query", "document"))
        queries, documents = (from_arrow(rows[name], self.name).tokens() for name in ("query", "document"))
        yield from zip(queries, documents, strict=True)

    def count_queries(self) -> tuple[Tokens, Ints]:
        """Return the queries and the lengths of their rankings; raise DataError for missing or non-finite values."""
        import narwhals.stable.v2 as nw

        score, document = nw.col("score"), nw.col("document")
        flagged = self.frame.with_columns(
            odd=(~score.is_finite()).cast(nw.Int64),
            no_score=score.is_null().cast(nw.Int64),
            no_document=document.is_null().cast(nw.Int64),
        )
        flags = {flag: nw.col(flag).max() for flag in ("odd", "no_score", "no_document")}
        merged = {} if self.duplicates == "error" else {"rows": nw.col("rows").sum()}
        counts = fetch(flagged.group_by("query").agg(size=nw.len(), **flags, **merged))
        if not len(counts):
            raise DataError(f"{self.name}: has no rows")
        self._check(counts)
        sizes = to_integers(counts["size"])
        if merged:
            again = int((to_integers(counts["rows"]) - sizes).sum())
            self.notes = [*self.roles.notes, *describe_merged(self.name, again, self.duplicates)]
        return from_arrow(counts["query"], self.name).tokens(), sizes

    def _check(self, counts: Any) -> None:
        """Raise DataError, naming the column, for queries with missing values."""
        query, document, score = self.roles[:3]
        names = counts["query"].to_pylist()
        if None in names:
            raise DataError(f"{self.name}: column {query!r} has missing values")
        for flag, column in (("no_document", document), ("no_score", score)):
            if (at := _first(counts[flag])) is not None:
                raise DataError(f"{self.name}: column {column!r} has missing values, as in query {clip(names[at])}")
        if (at := _first(counts["odd"])) is not None:
            raise DataError(
                f"{self.name}: query {clip(names[at])} has a score that is NaN or infinite; it must be a finite number"
            )

    def join(self, qrels: Qrels, settings: Settings) -> Any:
        """Return the run in its engine, joined with the row of each judged document in the qrels, null for the others.

        The names of documents or the numbers of lines are kept if ties are broken by them.
        """
        import narwhals.stable.v2 as nw

        frame = self.frame.with_columns(score=_round_score()) if settings.precision == "single" else self.frame
        order = ORDERS.get(settings.ties)
        if order is not None and order.by_line:
            frame = nw.from_native(frame.to_native().with_row_index("line"))
        judged = nw.from_native(UPLOADS[self.engine](frame.to_native(), judged_table(qrels)))
        frame = frame.join(judged, left_on=["query", "document"], right_on=["judged_query", "judged"], how="left")
        breakers = [] if order is None else ["line" if order.by_line else "document"]
        return frame.select("query", "score", "row", *breakers)

    def __getitem__(self, query: str) -> dict[str, float]:
        """Fetch one query."""
        import narwhals.stable.v2 as nw

        with ONE_AT_A_TIME:
            rows = fetch(self.frame.filter(nw.col("query") == query).select("document", "score"))
        if not len(rows):
            raise KeyError(query)
        return dict(zip(from_arrow(rows["document"], self.name).tokens()[:], rows["score"].to_pylist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        """Raise DataError: iteration would fetch all rows."""
        raise DataError(f"{self.name}: is a lazy frame, and this needs all of its rows; collect it first")

    def __len__(self) -> int:
        """Count the queries, in the engine."""
        with ONE_AT_A_TIME:
            names, _ = self.count_queries()
        return len(names)


def pick_by_type(frame: Any, kind: str, name: str, columns: Names | None) -> Roles:
    """Return the columns to read; raise DataError for types that engines convert in different ways."""
    schema = frame.collect_schema()
    roles = pick_columns(list(schema.names()), kind, name, columns)
    for column in roles[:2]:
        dtype = schema[column]
        if not (dtype.is_integer() or str(dtype).split("(")[0] in ("String", "Categorical", "Enum")):
            raise DataError(f"{name}: column {column!r} holds {dtype}; cast ids to text or to whole numbers")
    dtype = None if roles.value is None else schema[roles.value]
    if dtype is not None and not (dtype.is_numeric() or str(dtype) == "Boolean"):
        raise DataError(f"{name}: column {roles.value!r} holds {dtype}; cast {kind}s to doubles")
    return roles


def rename(frame: Any, roles: Roles, kind: str, **more: Any) -> Any:
    """Return the renamed columns: ids as text, and numbers as doubles, negated if low values are best."""
    import narwhals.stable.v2 as nw

    value = nw.lit(1.0) if roles.value is None else nw.col(roles.value).cast(nw.Float64) * roles.sign
    numbers = {kind: nw.when(value == 0.0).then(nw.lit(0.0)).otherwise(value)}  # engines disagree about -0.0
    ids = {"query": nw.col(roles.query).cast(nw.String), "document": nw.col(roles.document).cast(nw.String)}
    return frame.select(**ids, **numbers, **more)


def _round_score() -> Any:
    """Return scores in single precision; numbers that overflow, which engines do not cast, become infinite."""
    import narwhals.stable.v2 as nw

    score = nw.col("score")
    inside = nw.when(score.abs() < SINGLE_OVERFLOW).then(score).otherwise(nw.lit(0.0))
    infinite = nw.when(score > 0.0).then(nw.lit(float("inf"))).otherwise(nw.lit(float("-inf")))
    return nw.when(score.abs() < SINGLE_OVERFLOW).then(inside.cast(nw.Float32).cast(nw.Float64)).otherwise(infinite)


def fetch(frame: Any) -> Any:
    """Compute a lazy frame, and return it as an Arrow table."""
    optional("pyarrow", "pyarrow", "parquet")
    return frame.collect("pyarrow").to_native()


def to_integers(column: Any) -> Ints:
    """Convert an Arrow column to integers."""
    return column.to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def _first(flags: Any) -> int | None:
    """Return the first flagged row."""
    here = np.flatnonzero(np.array(flags.to_pylist(), dtype=float) > 0)
    return int(here[0]) if len(here) else None


MOST_TIED = 1 << 24
"""largest number of documents that are fetched to be shuffled since they tie with judged ones: about 1 GB with names"""


def find_engine_hits(qrels: Qrels, scores: EngineScores, settings: Settings, report: Report) -> Hits:
    """Return the hits of a lazy run; only judged documents are fetched.

    Random ties are broken by a hash that engines do not have. Under that policy, documents that tie with judged ones
    are fetched as well.
    """
    order = ORDERS.get(settings.ties)
    if order is not None and order.by_line and scores.engine not in WITH_ORDER:
        raise DataError(
            f"{scores.name}: ties={settings.ties!r} depends on the order of rows, which {scores.engine} does not have; "
            "use 'expected', 'trec' or 'random'"
        )
    first, second = split_report(report)
    with ONE_AT_A_TIME:
        retrieved, unjudged = _count_retrieved(qrels, scores, settings)
        first(1.0)
        places = _count_places(scores.join(qrels, settings), order)
        row, above, tied, place = _fetch_hits(places, order)
        query = _queries_of(qrels, row)
        _check_hits(qrels, scores, row, above + tied > retrieved[query])
        if order is not None and order.shuffled:
            place = above + _shuffle_places(qrels, places, settings, row, np.stack([query, above, tied]))
        second(1.0)
    return Hits(query, row, above, tied, place, retrieved, retrieved > 0, unjudged)


def _queries_of(qrels: Qrels, row: Ints) -> Ints:
    """Return the number of the query of each judgment."""
    return np.searchsorted(qrels.start, row, side="right") - 1


def _count_retrieved(qrels: Qrels, scores: EngineScores, settings: Settings) -> tuple[Ints, Unjudged]:
    """Return the lengths of the rankings of judged queries, and the other queries."""
    names, sizes = scores.count_queries()
    retrieved = np.zeros(len(qrels), np.int64)
    unjudged = []
    for name, size in zip(names, sizes.tolist(), strict=True):
        at = qrels.index.get(name)
        if at is None:
            unjudged.append(name)
        else:
            retrieved[at] = size
    return retrieved, Unjudged.of(sorted(unjudged), settings, qrels.names_left_out)  # engines return them in any order


def _count_places(run: Any, order: Order | None) -> Any:
    """Return the run in its engine with the number of documents above each one and the number that tie with it.

    If the engine can order tied documents, it also counts those before each one.
    """
    import narwhals.stable.v2 as nw

    group = ("query", "score")
    windows = {
        "above": nw.col("score").rank("min", descending=True).over("query") - 1,
        "tied": nw.len().over(*group),
    }
    if order is not None and order.shuffled:
        windows["last_row"] = nw.col("row").max().over(*group)
    elif order is not None:
        breaker = nw.col("line") if order.by_line else nw.col("document")
        windows["ahead"] = breaker.rank("min", descending=order.descending).over(*group) - 1
    return run.with_columns(**windows)


def _fetch_hits(places: Any, order: Order | None) -> tuple[Ints, Ints, Ints, Ints | None]:
    """Return row, above, tied and place of the judged documents, in the order of the qrels."""
    import narwhals.stable.v2 as nw

    names = ["row", "above", "tied", *(["ahead"] if order is not None and not order.shuffled else [])]
    hits = fetch(places.filter(~nw.col("row").is_null()).select(names))
    by_row = np.argsort(to_integers(hits["row"]), kind="stable")
    row, above, tied, *ahead = (to_integers(hits[name])[by_row] for name in names)
    return row, above, tied, above + ahead[0] if ahead else None


def _check_hits(qrels: Qrels, scores: EngineScores, row: Ints, beyond: Any) -> None:
    """Raise an error for duplicates of a judged document, or if the run changed between two calls to the engine."""
    again = np.flatnonzero(np.diff(row) == 0)
    if len(again):
        at = int(row[again[0]])
        query = qrels.queries[int(_queries_of(qrels, row)[again[0]])]
        raise DataError(
            f"{scores.name}: duplicate document {clip(qrels.docs[at])} of query {clip(query)}; "
            "keep one, or pass duplicates='max'"
        )
    if beyond.any():
        raise change_error(scores.name)


def _shuffle_places(qrels: Qrels, places: Any, settings: Settings, row: Ints, groups: Ints) -> Ints:
    """Return the number of tied documents before each judged one after they are shuffled with the seed.

    `groups` holds query, above and tied of each row.
    """
    import narwhals.stable.v2 as nw

    distinct = np.unique(groups[:, groups[2] > 1], axis=1)
    if (documents := int(distinct[2].sum())) > MOST_TIED:
        raise DataError(
            f"{documents:,} documents tie with judged ones, too many to shuffle here; "
            "use 'expected', or break ties in the engine"
        )
    if not documents:
        return np.zeros(len(row), np.int64)
    ties = places.filter((nw.col("tied") > 1) & ~nw.col("last_row").is_null())
    rows = fetch(ties.select("last_row", "document", row=nw.col("row").fill_null(-1)))
    ahead = np.zeros(len(qrels.docs), np.int64)
    judged, place = _shuffle(qrels, settings, rows)
    ahead[judged] = place
    return ahead[row]


def _shuffle(qrels: Qrels, settings: Settings, rows: Any) -> tuple[Ints, Ints]:
    """Return the rows of judged documents among tied ones, and the number of documents of their group before each.

    A group is identified by the last row of the qrels in it, which also determines its query.
    """
    group, row, docs = to_integers(rows["last_row"]), to_integers(rows["row"]), from_arrow(rows["document"], "run")
    queries = Ids.of(as_tokens(qrels.queries))
    tied = Documents.of(settings, docs, np.arange(len(group)), queries, _queries_of(qrels, group))
    order = tied.sort(group)
    group, row = group[order], row[order]
    place = np.arange(len(order)) - np.searchsorted(group, group)
    return row[row >= 0], place[row >= 0]
