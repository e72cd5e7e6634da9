"""Runs that stay in their engine: lazy frames of polars, DuckDB, Spark and Ibis, which are never collected whole.

The engine gets the names of the judged documents and is asked what must be known of the run; only that comes back.
"""

from collections.abc import Iterator, Mapping
from threading import RLock
from typing import Any

import numpy as np

from gradely.data.engine_judgments import UPLOADS, judged_table
from gradely.data.ids import from_arrow
from gradely.data.qrels import Qrels
from gradely.data.read.column_roles import Names, Roles, pick_columns
from gradely.data.read.sources import clip
from gradely.data.trec.tokens import Tokens
from gradely.data.types import Ints
from gradely.errors import DataError
from gradely.optional import optional
from gradely.settings import Settings

SINGLE_OVERFLOW = 2.0**128 - 2.0**103
"""from here on, halfway between the largest number of single precision and the next power of two, rounding overflows"""

ONE_AT_A_TIME = RLock()
"""held while an engine is asked: it uses all processors by itself, and a connection of DuckDB refuses a second call"""


def is_lazy(native: Any) -> bool:
    """True for a frame whose rows are still in their engine."""
    import narwhals.stable.v2 as nw

    try:
        return isinstance(nw.from_native(native, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # a frame in memory, of which two columns have one name
        return False


class EngineScores(Mapping[str, dict[str, float]]):
    """A lazy run as {query: {document: score}}: a query is fetched when it is asked for, and never all of them."""

    def __init__(self, native: Any, name: str, columns: Names | None = None, duplicates: str = "error") -> None:
        """Pick the columns by the schema; nothing is computed yet."""
        import narwhals.stable.v2 as nw

        frame: Any = nw.from_native(native)
        self.name, self.engine = name, frame.implementation.name.lower()
        if self.engine not in UPLOADS:
            raise DataError(f"{name}: rankings cannot be computed in {self.engine}; collect it, or write it as Parquet")
        with ONE_AT_A_TIME:
            self.roles = pick_by_type(frame, "score", name, columns)
            self.frame = self._merge(rename(frame, self.roles, "score"), duplicates)

    def _merge(self, frame: Any, duplicates: str) -> Any:
        """Return the frame with documents that are there twice put together."""
        import narwhals.stable.v2 as nw

        if duplicates == "error":
            return frame
        if duplicates != "max":
            raise DataError(f"{self.name}: duplicates={duplicates!r} depends on the order of rows, which lazy frames "
                            "do not have; use 'max', or put rows together in the engine")  # fmt: skip
        return frame.group_by("query", "document").agg(nw.col("score").max())

    def count_queries(self) -> tuple[Tokens, Ints]:
        """Return the queries and the lengths of their rankings; refuse what is missing or not a finite number."""
        import narwhals.stable.v2 as nw

        score, document = nw.col("score"), nw.col("document")
        flagged = self.frame.with_columns(
            odd=(~score.is_finite()).cast(nw.Int64),
            no_score=score.is_null().cast(nw.Int64),
            no_document=document.is_null().cast(nw.Int64),
        )
        flags = {flag: nw.col(flag).max() for flag in ("odd", "no_score", "no_document")}
        counts = fetch(flagged.group_by("query").agg(size=nw.len(), **flags))
        if not len(counts):
            raise DataError(f"{self.name}: has no rows")
        self._check(counts)
        return from_arrow(counts["query"], self.name).tokens(), to_integers(counts["size"])

    def _check(self, counts: Any) -> None:
        """Refuse rows of a query that have something missing, and say what."""
        query, document, score = self.roles
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
        """Return the run in its engine with the row of each judged document in the qrels, null for the others.

        Names of documents, or numbers of lines, stay where ties are broken by them.
        """
        import narwhals.stable.v2 as nw

        frame = self.frame.with_columns(score=_round_score()) if settings.precision == "single" else self.frame
        if settings.ties == "order":
            frame = nw.from_native(frame.to_native().with_row_index("line"))
        judged = nw.from_native(UPLOADS[self.engine](frame.to_native(), judged_table(qrels)))
        frame = frame.join(judged, left_on=["query", "document"], right_on=["judged_query", "judged"], how="left")
        breakers = {"trec": ["document"], "random": ["document"], "order": ["line"]}
        return frame.select("query", "score", "row", *breakers.get(settings.ties, []))

    def __getitem__(self, query: str) -> dict[str, float]:
        """Fetch one query."""
        import narwhals.stable.v2 as nw

        with ONE_AT_A_TIME:
            rows = fetch(self.frame.filter(nw.col("query") == query).select("document", "score"))
        if not len(rows):
            raise KeyError(query)
        return dict(zip(from_arrow(rows["document"], self.name).tokens()[:], rows["score"].to_pylist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        """Refuse: whoever goes through all queries wants all rows."""
        raise DataError(f"{self.name}: is a lazy frame, and this needs all of its rows; collect it first")

    def __len__(self) -> int:
        """Count the queries, in the engine."""
        with ONE_AT_A_TIME:
            names, _ = self.count_queries()
        return len(names)


def pick_by_type(frame: Any, kind: str, name: str, columns: Names | None) -> Roles:
    """Return the columns to read; refuse those that engines would turn into text or numbers each in its own way."""
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
    """Return the columns under names of our own: ids as text, numbers as doubles, of which the highest is best."""
    import narwhals.stable.v2 as nw

    value = nw.lit(1.0) if roles.value is None else nw.col(roles.value).cast(nw.Float64) * roles.sign
    numbers = {kind: nw.when(value == 0.0).then(nw.lit(0.0)).otherwise(value)}  # engines disagree about -0.0
    ids = {"query": nw.col(roles.query).cast(nw.String), "document": nw.col(roles.document).cast(nw.String)}
    return frame.select(**ids, **numbers, **more)


def _round_score() -> Any:
    """Return scores in single precision; engines refuse to cast what overflows, which is infinite here."""
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
    """Return an Arrow column of whole numbers."""
    return column.to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def _first(flags: Any) -> int | None:
    """Return the first row that is flagged."""
    here = np.flatnonzero(np.array(flags.to_pylist(), dtype=float) > 0)
    return int(here[0]) if len(here) else None
