"""Qrels and runs from anything: files of every format, dataframes, dicts."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from gradely.data.qrels import Qrels
from gradely.data.read import letor, tables
from gradely.data.read.dicts import as_labels, as_scores
from gradely.data.read.files import Source
from gradely.data.trec import plain as trec
from gradely.errors import DataError, InputError, did_you_mean
from gradely.threads import cores

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


class Run:
    """What a system retrieved: {query: {document: score}}, ids as text."""

    def __init__(self, scores: Scores, name: str = "run") -> None:
        """Hold the scores and what the run is called."""
        self.scores, self.name = scores, name

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Run({self.name}: {len(self):,} queries)"


def read_qrels(given: Any, *, format: str | None = None, threads: int | None = None) -> Qrels:  # noqa: A002 - its name
    """Read judgments: a file, a dataframe, {query: {document: label}}, or {query: [relevant documents]}.

    `format` is one of trec, csv, tsv, json, jsonl, parquet, letor; by default it is told by the name and the content.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}, "q2": ["d7"]})
    Qrels(qrels: 2 queries, 3 judgments)
    """
    if isinstance(given, Qrels):
        return given
    if not isinstance(given, str | os.PathLike | Source):
        return Qrels.of(_in_memory(given, "qrels", "label"), "qrels")
    source = given if isinstance(given, Source) else Source(given)
    name = format or format_of(source)
    return _trec_qrels(source, threads or cores()) if name == "trec" else Qrels.of(_labels(source, name), source.name)


def _trec_qrels(source: Source, threads: int) -> Qrels:
    """Read judgments the fast way; where the text is odd, the plain one, which explains what is wrong with it."""
    from gradely.data.trec.chunks import Odd
    from gradely.data.trec.qrels import load_qrels

    try:
        return load_qrels(source, threads)
    except Odd:
        return Qrels.of(trec.read(source, trec.QRELS), source.name)


def read_run(given: Any, *, format: str | None = None, feature: int | None = None, ascending: bool = False) -> Run:  # noqa: A002
    """Read what a system retrieved: a file, a dataframe, {query: {document: score}}, or {query: [ranked documents]}.

    Of a LETOR file, `feature` is the number of the feature to rank by, `ascending` if low values are best.

    >>> read_run({"q1": {"d1": 0.9, "d2": 0.4}, "q2": ["d7", "d3"]})
    Run(run: 2 queries)
    """
    run = open_run(given, format=format, feature=feature, ascending=ascending)
    return plain_run(run) if isinstance(run, Source) else run


def open_run(
    given: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    feature: int | None = None,
    ascending: bool = False,
) -> Run | Source:
    """Read a run, as read_run does, but leave a TREC file to be read piece by piece. A function opens its run."""
    if callable(given):
        return open_run(given())
    if isinstance(given, Run | Source):
        return given
    if not isinstance(given, str | os.PathLike):
        return Run(_in_memory(given, "run", "score"), "run")
    source = Source(given)
    name = format or format_of(source)
    if name == "trec" and feature is None:
        return source
    title = run_name(source.path) + (f":{feature}" if feature is not None else "")
    return Run(_scores(source, name, feature, ascending=ascending), title)


def plain_run(source: Source) -> Run:
    """Read a TREC file as a whole."""
    return Run(trec.read(source, trec.RUN), run_name(source.path))


def run_name(path: str) -> str:
    """Return what a run is called: its file's name without the endings that all have.

    >>> run_name("runs/bm25.run.gz")
    'bm25'
    """
    name = os.path.basename(path).removesuffix(".gz")
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and f".{suffix}" in {*SUFFIXES, ".run", ".txt", ".res", ".trec", ".tsv"} else name


def run_names(paths: Sequence[str]) -> list[str]:
    """Return what runs are called, each by another name: their files' names or, where these are the same, their paths.

    >>> run_names(["a/bm25.run", "a/dense.run"]), run_names(["a/bm25.run", "b/bm25.run"])
    (['bm25', 'dense'], ['a/bm25.run', 'b/bm25.run'])
    """
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: the run is named twice")
    short = [run_name(path) for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


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
    suffix = os.path.splitext(source.path.removesuffix(".gz"))[1].lower()
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
    return letor.read_labels(source) if name == "letor" else _shared(source, name, "label")


def _scores(source: Source, name: str, feature: int | None, *, ascending: bool) -> Scores:
    if feature is not None and name != "letor":
        raise InputError(f"{source.name}: a feature to rank by is for LETOR files ({letor.EXPECTED})")
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
    if name in ("json", "jsonl"):
        from gradely.data.read import json_files as json

        return json.from_json(source, reader) if name == "json" else json.from_json_lines(source, kind, reader)
    if name == "parquet":
        return tables.from_parquet(source, kind)
    raise InputError(f"no format {name!r}: use one of {', '.join(FORMATS)}.{did_you_mean(name, FORMATS)}")
