"""The qrels of several judges: by name, as files, or one table with a column `judge` or one column per rater."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gradely.data.column_roles import Names, find_judge, normalize
from gradely.data.qrels import Qrels
from gradely.data.read.formats import format_of, run_names
from gradely.data.read.readers import read_qrels
from gradely.data.source import Source
from gradely.errors import DataError, InputError, clip, did_you_mean
from gradely.settings import DuplicatePolicy


def read_judges(
    qrels: Any,
    *,
    raters: Iterable[str] | None = None,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    threads: int | None = None,
) -> dict[str, Qrels]:
    """Return the qrels of each judge by name; raise DataError for a single judge.

    `qrels` is {name: qrels}, a list of files, or a table (a file, a dataframe or records). `raters` are the columns of
    a table that hold labels, one per rater.
    """
    how: dict[str, Any] = {"columns": columns, "duplicates": duplicates}
    if isinstance(qrels, Mapping):
        first = next(iter(qrels.values()), None)
        if isinstance(first, Mapping) and not any(isinstance(of, Mapping | list) for of in first.values()):
            raise DataError(
                "give the judges by name, {'nist': qrels, 'gpt4o': qrels}; these are the qrels of one judge"
            )
        judges = {str(name): read_qrels(of, **how, threads=threads) for name, of in qrels.items()}
    elif _are_paths(qrels) and len(qrels) != 1:
        paths = [os.fspath(path) for path in qrels]
        pairs = zip(judge_names(paths), paths, strict=True)
        judges = {name: read_qrels(path, **how, threads=threads) for name, path in pairs}
    else:
        table = qrels[0] if _are_paths(qrels) else qrels
        judges = _read_table(table, None if raters is None else list(raters), columns, duplicates)
    if len(judges) < 2:
        only = f": there is only {clip(next(iter(judges)))}" if judges else ""
        raise DataError(f"agreement needs at least two judges{only}; give the qrels of another one")
    return judges


def judge_names(paths: Sequence[str]) -> list[str]:
    """Return the names of judges: those of their files, without the extension of qrels if the names stay distinct.

    >>> judge_names(["nist.qrels", "llm/gpt.qrels.gz"]), judge_names(["a.qrels", "a"])
    (['nist', 'gpt'], ['a.qrels', 'a'])
    """
    twice = next((path for i, path in enumerate(paths) if path in paths[:i]), None)
    if twice is not None:
        raise DataError(f"{twice}: is named twice; give the qrels of another judge")
    names = run_names(paths)
    short = [name.removesuffix(".qrels") for name in names]
    return short if len(set(short)) == len(names) else names


def _are_paths(qrels: Any) -> bool:
    return isinstance(qrels, list | tuple) and all(isinstance(path, str | os.PathLike) for path in qrels)


def _read_table(
    table: Any, raters: list[str] | None, columns: Names | None, duplicates: DuplicatePolicy
) -> dict[str, Qrels]:
    """Return the qrels of each judge of one table."""
    name, records = _records(table)
    header = list(dict.fromkeys(key for record in records for key in record))
    roles = {role: value for role, value in (columns or {}).items() if role != "judge"}
    named = (columns or {}).get("judge")
    if named is not None and named not in header:
        raise InputError(f"{name}: has no column {named!r}.{did_you_mean(named, header)}")
    by = named or find_judge(header)
    if by is not None and raters is None:
        parts: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            who = record.get(by)
            if _is_missing(who):
                raise DataError(f"{name}: a row has no {by}: {clip(repr(record))}")
            parts.setdefault(str(who), []).append({key: value for key, value in record.items() if key != by})
        return {who: _read_rows(rows, name, who, roles, duplicates) for who, rows in parts.items()}
    raters = find_raters(name, header) if raters is None else raters
    unknown = next((rater for rater in raters if rater not in header), None)
    if unknown is not None:
        raise InputError(f"{name}: has no column {unknown!r} of a rater.{did_you_mean(unknown, header)}")
    keys = [key for key in header if key not in raters]
    found = {}
    for rater in raters:
        rows = [
            {**{key: record.get(key) for key in keys}, rater: record[rater]}
            for record in records
            if not _is_missing(record.get(rater))
        ]
        if rows:
            found[rater] = _read_rows(rows, name, rater, {**roles, "label": rater}, duplicates)
    return found


def find_raters(name: str, header: Sequence[str]) -> list[str]:
    """Return the columns of raters in a Quepid book: all that follow query and docid."""
    first = [normalize(key) for key in header[:2]]
    if first == ["query", "docid"] and len(header) > 3:
        return list(header[2:])
    listing = ", ".join(map(clip, header))
    raise InputError(
        f"{name}: is the table of one judge: give the qrels of another, or a table with a column judge, or name the "
        f"columns of raters (--raters, raters=) among {listing}"
    )


def _read_rows(
    rows: list[dict[str, Any]], table: str, judge: str, columns: Names, duplicates: DuplicatePolicy
) -> Qrels:
    """Return the qrels of one judge of a table; errors name the judge."""
    try:
        qrels = read_qrels(rows, columns=columns, duplicates=duplicates)
    except (InputError, DataError) as error:  # whose message says qrels for any input
        raise type(error)(str(error).replace("qrels: ", f"{table}, {judge}: ", 1)) from None
    qrels.name = judge
    return qrels


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124 - NaN


def _records(table: Any) -> tuple[str, list[Mapping[str, Any]]]:
    """Return the name of a table for error messages, and its rows as records."""
    from gradely.data.read.frames import is_frame, rows_of
    from gradely.data.read.records import are_records, flat_records

    if isinstance(table, str | os.PathLike):
        source = Source(table)
        return source.name, _read_file(source)
    if (
        are_records(table)
        and isinstance(table[0], Mapping)
        and any(isinstance(of, Mapping) for of in table[0].values())
    ):
        raise InputError("judges: is a list; give the judges by name, {'nist': qrels, 'gpt4o': qrels}")
    if are_records(table):
        return "judges", list(flat_records(table, "judges"))
    if is_frame(table):
        return "judges", list(rows_of(table))
    example = "{'nist': qrels, 'gpt4o': qrels}"
    raise InputError(f"judges: cannot be {type(table).__name__}; give {example}, files, or a table with a column judge")


def _read_file(source: Source) -> list[Mapping[str, Any]]:
    form = format_of(source)
    if form in ("csv", "tsv"):
        reader = csv.DictReader(io.StringIO(source.text()), delimiter="," if form == "csv" else "\t")
        return [{key: value for key, value in row.items() if key is not None} for row in reader]
    if form in ("json", "jsonl"):
        from gradely.data.read.json_files import read_records

        records = read_records(source, form)
        if records:
            return list(records)
    if form == "parquet":
        from gradely.data.read.frames import parquet_rows

        return list(parquet_rows(source))
    raise InputError(
        f"{source.name}: has the labels of one judge; give those of another, too, or a table with a column judge"
    )
