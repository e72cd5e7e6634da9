"""What a file is, told by its name, its first bytes and its status, before anything else is read of it."""

import os
import re
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradely.errors import InputError

if TYPE_CHECKING:
    from gradely.data.read.sources import Source

FORMATS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "letor")
SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
PLAIN = {*SUFFIXES, ".run", ".txt", ".res", ".trec", ".tsv"}
"""endings that say nothing of a run"""
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""how packed files begin"""
ENDINGS = (".gz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def format_of(source: "Source") -> str:
    """Return the format of a file, by its name or else by its first line; folders and patterns are of Parquet."""
    suffix = os.path.splitext(bare_name(source.path))[1].lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if not os.path.isfile(source.path):
        from gradely.data.read.parquet import is_folder_or_pattern

        if is_folder_or_pattern(source.path):
            return "parquet"
    head = source.head
    if head.startswith(b"PAR1"):
        return "parquet"
    if head[8:12] == b"DUCK":
        advice = f"in Python, give duckdb.connect({source.name!r}).table('run')"
        raise InputError(f"{source.name}: is a DuckDB database, which holds many tables; {advice}")
    if re.match(rb"\s*\[\s*\{", head):
        return "json"
    if head.lstrip().startswith(b"{"):
        from gradely.data.read.json_files import has_json_lines

        return "jsonl" if has_json_lines(source) else "json"
    return _format_of_lines(head)


def _format_of_lines(head: bytes) -> str:
    """Return the format of text in lines: that of LETOR, a table with a header, or else TREC's."""
    if b":" in head:
        from gradely.data.read.letor import looks_like

        if looks_like(head):
            return "letor"
    if b"," in head or b"\t" in head:
        from gradely.data.read.column_roles import DELIMITED, delimiter_of

        return DELIMITED.get(delimiter_of(head) or "", "trec")
    return "trec"


def kind_of(start: bytes) -> str | None:
    """Return how a file is packed, by its first bytes; None where it is not."""
    return next((kind for mark, kind in PACKED.items() if start.startswith(mark)), None)


def is_pipe(path: str) -> bool:
    """True for standard input, pipes and sockets, which can be read only once; refuse devices that never end.

    Files that seem empty belong to them: those of the system, as in /proc, do not tell their size.
    """
    if path == "-":
        return True
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    mode = status.st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and path not in (*STANDARD_INPUT, os.devnull, "/dev/tty")):
        raise InputError(f"{path}: is a device; name a file")
    return not stat.S_ISDIR(mode) and (status.st_size == 0 or not stat.S_ISREG(mode))


def bare_name(path: str) -> str:
    """Return a file's name without the ending of a packed one."""
    ending = next((ending for ending in ENDINGS if path.lower().endswith(ending)), "")
    return path[: len(path) - len(ending)]


def run_name(path: str) -> str:
    """Return what a run is called: its file's name without the endings that all have.

    >>> run_name("runs/bm25.run.gz"), run_name("bm25.run.zst")
    ('bm25', 'bm25')
    """
    name = bare_name(os.path.basename(path.rstrip(os.sep)))
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and f".{suffix}" in PLAIN else name


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
