"""Formats: functions that recognise a file, and the readers that open it.

A reader takes a Source and returns its content: a Table, which is read in parts, or, if the format has to be read as a
whole, {query: {document: value}}. A new format is a reader and an entry in FORMATS.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradely.data.column_roles import DOC, QUERY, Names, normalize
from gradely.data.source import HEAD, Source, is_folder_or_pattern
from gradely.data.table import Scores
from gradely.errors import InputError


class ReadOptions(NamedTuple):
    """Options for reading a file."""

    kind: str
    """the kind of its numbers: label or score"""
    columns: Names | None = None
    """the columns of a table, if the caller names them"""
    duplicates: str = "error"
    """how to merge duplicate documents, or "error" to raise an error"""
    feature: int | None = None
    """for a LETOR file: the feature to rank by"""
    ascending: bool = False
    """for a LETOR file: true if low values of the feature are best"""
    split: str | None = None
    """for MTEB predictions: the split to read, like test or default/test"""


def _open_trec(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.trec import TrecTable

    return TrecTable(source, options.kind, options.duplicates)


def _open_csv(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.csv_files import CsvTable

    return CsvTable(source, options.kind, comma_of(source.head), options.columns, options.duplicates)


def _open_tsv(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.csv_files import CsvTable

    return CsvTable(source, options.kind, "\t", options.columns, options.duplicates)


def _open_json(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.json_files import read_json

    return read_json(source, options.kind, options.columns, options.duplicates, options.split)


def _is_json(source: Source) -> bool:
    start = source.head.lstrip()
    return start.startswith(b"{") or (start.startswith(b"[") and start[1:].lstrip().startswith(b"{"))


def _open_json_lines(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.json_files import read_json_lines

    return read_json_lines(source, options.kind, options.columns, options.duplicates, options.split)


def _is_json_lines(source: Source) -> bool:
    if not source.head.lstrip().startswith(b"{"):
        return False
    from gradely.data.read.json_files import has_json_lines

    return has_json_lines(source)


def _open_parquet(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.frames import ParquetTable, parquet_rows

    try:
        return ParquetTable(source, options.kind, options.columns, options.duplicates)
    except InputError:
        from gradely.data.read.exports import is_ragas, read_export

        rows = [*parquet_rows(source)] if is_ragas(next(parquet_rows(source), None)) else []
        exported = read_export(rows, options.kind, source.name, options.duplicates)
        if exported is None:
            raise
        return exported


def _open_letor(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.letor import read_feature, read_labels

    if options.kind == "label":
        return read_labels(source)
    if options.feature is None:
        raise InputError(f"{source.name}: is a LETOR file; say which feature to rank by: feature=21, or --feature 21")
    return read_feature(source, options.feature, ascending=options.ascending)


def _open_ranks(source: Source, options: ReadOptions) -> Scores:
    from gradely.data.read.csv_files import RankTable

    if options.kind == "label":
        raise InputError(f"{source.name}: query, document and rank look like a run of MS MARCO, and qrels come first")
    return RankTable(source, options.duplicates)


def _is_ranks(source: Source) -> bool:
    """True if lines have a query, a document and a rank that rises from 1 in each query, as in MS MARCO."""
    lines = source.head.splitlines()[: -1 if len(source.head) == HEAD else None]
    places: dict[bytes, int] = {}
    for line in filter(bytes.strip, lines):
        query, _, rest = line.partition(b"\t")
        places[query] = places.get(query, 0) + 1
        if rest.count(b"\t") != 1 or rest.rpartition(b"\t")[2].strip() != b"%d" % places[query]:
            return False
    return bool(places)


def _is_letor(source: Source) -> bool:
    """True if the first line that is no comment has a qid field, or numbered features without one."""
    pattern = rb"(\s*#.*\n)*\s*\S+[ \t]+(qid:\S|\d+:\S+[ \t]+\d+:)"
    return b":" in source.head and re.match(pattern, source.head) is not None


class Format(NamedTuple):
    """A file format."""

    suffixes: tuple[str, ...]
    """file name extensions of this format"""
    fits: Callable[[Source], bool]
    """returns true if a file looks like this format, usually by its first bytes"""
    open: Callable[[Source, ReadOptions], Scores]
    """opens a file; it may be read later"""


FORMATS = {
    "trec": Format((), lambda _: True, _open_trec),
    "csv": Format((".csv",), lambda source: delimiter_of(source.head) in (",", ";"), _open_csv),
    "tsv": Format((".inter",), lambda source: delimiter_of(source.head) == "\t", _open_tsv),
    "json": Format((".json",), _is_json, _open_json),
    "jsonl": Format((".jsonl", ".ndjson"), _is_json_lines, _open_json_lines),
    "parquet": Format((".parquet", ".pq"), lambda source: source.head.startswith(b"PAR1"), _open_parquet),
    "letor": Format((), _is_letor, _open_letor),
    "msmarco": Format((), _is_ranks, _open_ranks),
}
"""formats by name; the last one that fits is used, so special formats come after general ones"""

UNTELLING = {*(suffix for known in FORMATS.values() for suffix in known.suffixes)} | {
    ".run",
    ".txt",
    ".res",
    ".trec",
    ".tsv",
}
"""extensions that are not part of the name of a run"""


PICKLE = "a pickle, which is never loaded, since it may run code: write it as Parquet or CSV"
ARROW = "an Arrow file: in Python, give pyarrow.feather.read_table(path) or datasets.load_from_disk(folder)"
BINARY = {
    b"ARROW1": ARROW,
    b"\xff\xff\xff\xff": ARROW,
    b"SQLite format 3": "an SQLite database, which holds many tables: write one of them as CSV",
    b"\x93NUMPY": "a file of NumPy: in Python, give its arrays to evaluate_arrays(scores, labels)",
    b"\x89HDF": "an HDF5 file: in Python, give pandas.read_hdf(path, key)",
    b"\x80\x04": PICKLE,
    b"\x80\x05": PICKLE,
    b"\xd0\xcf\x11\xe0": "a spreadsheet, which is not read: save the sheet as CSV",
}
"""descriptions of binary formats by their first bytes, with advice for errors"""


def open_file(source: Source, name: str | None, options: ReadOptions) -> Scores:
    """Open a file of the given format, or of the one that it looks like."""
    return FORMATS[name or format_of(source)].open(source, options)


def format_of(source: Source) -> str:
    """Return the format of a file, by its name or else by its first line; folders and patterns are Parquet."""
    suffix = os.path.splitext(bare_name(source.path))[1].lower()
    by_name = next((name for name, known in FORMATS.items() if suffix in known.suffixes), None)
    if by_name is not None:
        return _look_again(by_name, source) if os.path.isfile(source.path) else by_name
    if not os.path.isfile(source.path) and is_folder_or_pattern(source.path):
        return "parquet"
    if suffix in (".xls", ".xlsx", ".ods"):
        raise InputError(f"{source.name}: is a spreadsheet, which is not read: save the sheet as CSV")
    archive = "zip" if source.head.startswith(b"PK\x03\x04") else "tar" if source.head[257:262] == b"ustar" else None
    if archive is not None:
        many = "which may hold many files: unpack it, and name one of them"
        raise InputError(f"{source.name}: is a {archive} archive, {many}")
    binary = next((what for start, what in BINARY.items() if source.head.startswith(start)), None)
    if binary is not None:
        raise InputError(f"{source.name}: is {binary}")
    if source.head[8:12] == b"DUCK":
        advice = f"in Python, give duckdb.connect({source.name!r}).table('run')"
        raise InputError(f"{source.name}: is a DuckDB database, which holds many tables; {advice}")
    return next(name for name, known in reversed(FORMATS.items()) if known.fits(source))


def _look_again(name: str, source: Source) -> str:
    """Return the format of a file whose name says json, jsonl, csv or tsv, but whose content is its sibling's."""
    if name == "json" and re.match(rb"\s*\{[^\n]*\}[ \t\r]*\n\s*\{", source.head):
        return "jsonl"
    if name == "jsonl" and re.match(rb"\s*(\[|\{[ \t\r]*\n)", source.head):
        return "json"
    if name in ("csv", "tsv"):
        return {",": "csv", ";": "csv", "\t": "tsv"}.get(delimiter_of(source.head) or "", name)
    return name


def bare_name(path: str) -> str:
    """Return the name of a file without the extension of a compressed file."""
    ending = next((ending for ending in (".gz", ".bz2", ".xz", ".zst") if path.lower().endswith(ending)), "")
    return path[: len(path) - len(ending)]


def comma_of(head: bytes) -> str:
    """Return the delimiter of a CSV file: a comma, or a semicolon, which spreadsheets use in many countries."""
    header = re.split(rb"[\r\n]", head)[0]
    return ";" if b";" in header and b"," not in header else ","


def delimiter_of(head: bytes, documents: Sequence[str] = DOC) -> str | None:
    """Return the delimiter of a table whose header names a query and a document column, or None."""
    header = re.split(rb"[\r\n]", head)[0].decode(errors="replace")
    for delimiter in filter(header.__contains__, (",", "\t", ";")):
        cells = {normalize(cell) for cell in header.split(delimiter)}
        if all(cells & set(map(normalize, usual)) for usual in (QUERY, documents)):
            return delimiter
    return None


def run_name(path: str) -> str:
    """Return the name of a run: the name of its file without common extensions; a pipe has no name of its own.

    >>> run_name("runs/bm25.run.gz"), run_name("bm25.run.zst"), run_name("-"), run_name("/dev/fd/63")
    ('bm25', 'bm25', 'stdin', 'pipe')
    """
    if path == "-":
        return "stdin"
    if _is_descriptor(path):
        return "pipe"
    name = bare_name(os.path.basename(path.rstrip(os.sep)))
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and f".{suffix}" in UNTELLING else name


def run_names(paths: Sequence[str]) -> list[str]:
    """Return distinct names of runs: the names of their files or, if some are equal, their paths.

    Several pipes are numbered.

    >>> run_names(["a/bm25.run", "a/dense.run"]), run_names(["a/bm25.run", "b/bm25.run"])
    (['bm25', 'dense'], ['a/bm25.run', 'b/bm25.run'])
    >>> run_names(["/dev/fd/63", "/dev/fd/62", "bm25.run"])
    ['pipe-1', 'pipe-2', 'bm25']
    """
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: the run is named twice")
    pipes = [path for path in paths if _is_descriptor(path)]
    numbers = {path: f"pipe-{i}" for i, path in enumerate(pipes, 1)} if len(pipes) > 1 else {}
    short = [numbers.get(path) or run_name(path) for path in paths]
    return short if len(set(short)) == len(short) else [numbers.get(path, path) for path in paths]


def _is_descriptor(path: str) -> bool:
    """True for a path that a shell substitutes for <(…)."""
    return path.startswith(("/dev/fd/", "/proc/")) and path.rpartition("/fd/")[2].isdigit()
