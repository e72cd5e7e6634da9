"""The lines that trec_eval prints."""

from collections.abc import Iterator
from math import copysign, isnan

import numpy as np

from gradely.data import Hits, Qrels
from gradely.data.types import Floats
from gradely.trec_eval.catalogue import Column
from gradely.trec_eval.queries import Queries, gives_away

COUNTS = ("sum", "num_q")
"""kinds of columns that are whole numbers"""


def format_queries(
    table: Floats, names: list[bytes], columns: list[Column], strings: dict[str, list[bytes]], *, zscores: bool
) -> Iterator[bytes]:
    """Yield the lines of each query."""
    printed = [
        (j, _form(column, zscores=zscores), column)
        for j, column in enumerate(columns)
        if column.kind not in ("runid", "num_q", "geometric")
    ]
    for i, (name, row) in enumerate(zip(names, table.tolist(), strict=True)):
        for j, form, column in printed:
            yield _line(form, name, strings[column.name][i] if column.kind == "relstring" else row[j])


def _line(form: bytes, name: bytes, value: float | bytes) -> bytes:
    """Return a line; what is no number has a sign, as C prints it."""
    if isinstance(value, float) and isnan(value) and copysign(1, value) < 0:
        return (form % (name, value)).replace(b"   nan\n", b"  -nan\n")
    return form % (name, value)


def format_summary(summary: list[float], columns: list[Column], run_id: bytes, *, zscores: bool) -> Iterator[bytes]:
    """Yield the lines of the summary."""
    for value, column in zip(summary, columns, strict=True):
        if column.kind != "relstring":
            yield _line(_form(column, zscores=zscores), b"all", run_id if column.kind == "runid" else value)


def _form(column: Column, *, zscores: bool) -> bytes:
    """Return how a line looks: name, query, value."""
    name = column.name.encode(errors="backslashreplace").ljust(22).replace(b"%", b"%%")
    if column.kind in ("runid", "relstring"):
        return name + (b"\t%s\t'%s'\n" if column.kind == "relstring" else b"\t%s\t%s\n")
    if zscores:
        return b"Z" + name + b"\t%s\t%6.4f\n"
    return name + (b"\t%s\t%d\n" if column.kind in COUNTS else b"\t%s\t%6.4f\n")


def relstrings(qrels: Qrels, hits: Hits, queries: Queries, columns: list[Column]) -> dict[str, list[bytes]]:
    """Return, of each column that is a string of labels, that of every query: `-` unknown, `.` a negative label."""
    return {
        column.name: _strings(qrels, hits, queries, column.length, untold=gives_away(column.name))
        for column in columns
        if column.kind == "relstring"
    }


def _strings(qrels: Qrels, hits: Hits, queries: Queries, length: int, *, untold: bool) -> list[bytes]:
    assert hits.place is not None
    retrieved = hits.retrieved.copy()
    retrieved[queries.missing] *= not untold
    strings = {i: bytearray(b"-" * min(length, int(retrieved[i]))) for i in queries.measured.tolist()}
    near = np.flatnonzero(hits.place < length)
    places = (hits.query[near].tolist(), hits.place[near].tolist(), qrels.grade[hits.row[near]].tolist())
    for query, place, label in zip(*places, strict=True):
        if query in strings:
            strings[query][place] = _letter(label)
    return [bytes(strings[i]) for i in queries.measured.tolist()]


def _letter(label: float) -> int:
    if label < 0:
        return ord(".")
    return ord(">") if label > 9 else ord("0") + int(label)
