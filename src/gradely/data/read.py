"""Qrels and runs from anything: files of every format, dataframes, dicts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeAlias

from gradely.data import json, letor, tables, trec
from gradely.data.mapping import as_labels, as_scores
from gradely.data.qrels import Qrels
from gradely.data.source import Source
from gradely.errors import DataError, InputError, did_you_mean

FORMATS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "letor")
SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}

Scores: TypeAlias = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Run:
    """What a system retrieved: {query: {document: score}}, ids as text."""

    scores: Scores
    name: str = "run"

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Run({self.name}: {len(self):,} queries)"


def read_qrels(given: Any, *, format: str | None = None) -> Qrels:  # noqa: A002 - what users call it
    """Read judgments: a file, a dataframe, {query: {document: label}}, or {query: [relevant documents]}.

    `format` is one of trec, csv, tsv, json, jsonl, parquet, letor; by default it is told by the name and the content.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}, "q2": ["d7"]})
    Qrels(qrels: 2 queries, 3 judgments)
    """
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        source = Source(given)
        return Qrels.of(_labels(source, format or format_of(source)), source.name)
    return Qrels.of(_in_memory(given, "qrels", "label"), "qrels")


def read_run(given: Any, *, format: str | None = None, feature: int | None = None, ascending: bool = False) -> Run:  # noqa: A002
    """Read what a system retrieved: a file, a dataframe, {query: {document: score}}, or {query: [ranked documents]}.

    Of a LETOR file, `feature` is the number of the feature to rank by, `ascending` if low values are best.

    >>> read_run({"q1": {"d1": 0.9, "d2": 0.4}, "q2": ["d7", "d3"]})
    Run(run: 2 queries)
    """
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        source = Source(given)
        return Run(_scores(source, format or format_of(source), feature, ascending=ascending), run_name(source.path))
    return Run(_in_memory(given, "run", "score"), "run")


def run_name(path: str) -> str:
    """Return what a run is called: its file's name without the endings that all have.

    >>> run_name("runs/bm25.run.gz")
    'bm25'
    """
    name = PurePath(path).name.removesuffix(".gz")
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and f".{suffix}" in {*SUFFIXES, ".run", ".txt", ".res", ".trec", ".tsv"} else name


def _in_memory(given: Any, name: str, kind: str) -> Scores:
    if isinstance(given, Mapping):
        return as_labels(given, name) if kind == "label" else as_scores(given, name)
    if tables.is_frame(given):
        return tables.from_frame(given, kind, name)
    raise DataError(
        f"{name}: cannot be read from {type(given).__name__}; "
        f"give a path, a dataframe or {{query: {{document: {kind}}}}}"
    )


def format_of(source: Source) -> str:
    """Return the format of a file, by its name or else by its first line."""
    suffix = PurePath(source.path.removesuffix(".gz")).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    head = source.head
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.lstrip().startswith(b"{"):
        return "jsonl" if b"}\n{" in head.replace(b" ", b"").replace(b"\r", b"") else "json"
    if letor.looks_like(head):
        return "letor"
    return {",": "csv", "\t": "tsv", None: "trec"}[tables.delimiter_of(head)]


def _labels(source: Source, name: str) -> Scores:
    if name == "trec":
        return trec.read(source, trec.QRELS)
    if name == "letor":
        return letor.read_labels(source)
    return _shared(source, name, "label")


def _scores(source: Source, name: str, feature: int | None, *, ascending: bool) -> Scores:
    if feature is not None and name != "letor":
        raise InputError(f"{source.name}: a feature to rank by is for LETOR files ({letor.EXPECTED})")
    if name == "trec":
        return trec.read(source, trec.RUN)
    if name == "letor":
        if feature is None:
            raise InputError(
                f"{source.name}: is a LETOR file; say which feature to rank by: feature=21, or --feature 21"
            )
        return letor.read_feature(source, feature, ascending=ascending)
    return _shared(source, name, "score")


def _shared(source: Source, name: str, kind: str) -> Scores:
    """Read a format that judgments and runs share."""
    reader = as_labels if kind == "label" else as_scores
    if name in ("csv", "tsv"):
        return tables.from_csv(source, kind, "," if name == "csv" else "\t")
    if name == "json":
        return json.from_json(source, reader)
    if name == "jsonl":
        return json.from_json_lines(source, kind, reader)
    if name == "parquet":
        return tables.from_parquet(source, kind)
    raise InputError(f"no format {name!r}: use one of {', '.join(FORMATS)}.{did_you_mean(name, FORMATS)}")
