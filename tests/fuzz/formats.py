"""Judgments and runs in every format that gradely reads, as bytes."""

import csv
import gzip
import importlib.util
import io
import json

HAS = {name: importlib.util.find_spec(name) is not None for name in ("pandas", "polars", "pyarrow")}


def rows(table):
    return [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]


def trec(table, kind):
    middle = "{} 0 {} {!r}\n" if kind == "qrels" else "{} Q0 {} 1 {!r} tag\n"
    return "".join(middle.format(*row) for row in rows(table)).encode()


def to_delimited(table, kind, delimiter=","):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["query_id", "doc_id", "label" if kind == "qrels" else "score"])
    writer.writerows((query, doc, repr(value)) for query, doc, value in rows(table))
    return out.getvalue().encode()


def as_json(table, kind):
    return json.dumps(table).encode()


def json_lines(table, kind):
    return "".join(json.dumps({query: docs}) + "\n" for query, docs in table.items()).encode()


def json_records(table, kind):
    value = "label" if kind == "qrels" else "score"
    return "".join(json.dumps({"qid": q, "docno": d, value: v}) + "\n" for q, d, v in rows(table)).encode()


def parquet(table, kind):
    import pyarrow as pa
    from pyarrow import parquet as files

    columns = zip(*rows(table), strict=True)
    names = ["query_id", "doc_id", "label" if kind == "qrels" else "score"]
    out = io.BytesIO()
    files.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), out)
    return out.getvalue()


def letor(table, kind):
    return "".join(f"{v!r} qid:{q} 1:{v!r} 2:0.5 # docid = {d}\n" for q, d, v in rows(table)).encode()


FORMATS = {
    "trec": trec,
    "csv": to_delimited,
    "tsv": lambda table, kind: to_delimited(table, kind, "\t"),
    "json": as_json,
    "jsonl": json_lines,
    "records.jsonl": json_records,
    **({"parquet": parquet} if HAS["pyarrow"] else {}),
}


def write_table(table, kind, rng, number):
    """Return the name of a file and its content, in some format, at times compressed."""
    has_comment = any("#" in name for query, doc, _ in rows(table) for name in (query, doc))
    form = rng.choice([*FORMATS, "trec", "trec", "trec" if has_comment or kind == "run" else "letor"])
    text = (letor if form == "letor" else FORMATS[form])(table, kind)
    name = f"{kind}{number}.{form}"
    if rng.random() < 0.15:
        name, text = f"{name}.gz", gzip.compress(text, 1, mtime=0)
    return name, text


def in_memory(table, kind):
    """Yield the same as dicts and, where they are installed, as dataframes."""
    yield table
    names = ["query_id", "doc_id", "label" if kind == "qrels" else "score"]
    columns = dict(zip(names, map(list, zip(*rows(table), strict=True)), strict=True))
    if HAS["pandas"]:
        import pandas as pd

        yield pd.DataFrame(columns)
    if HAS["polars"]:
        import polars as pl

        yield pl.DataFrame(columns, strict=False)
    if HAS["pyarrow"]:
        import pyarrow as pa

        yield pa.table(columns)
