"""The workloads: TREC files and arrays, the same on every machine.

    python -m benchmarks.workloads DIR [--scale 0.01]

Runs are 'query Q0 document rank score tag', judgments 'query 0 document grade'. Polars writes them fast.
"""

import argparse
import gzip
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

PASSAGES = 8_841_823
GRADES = [0.60, 0.20, 0.13, 0.07]


def make(folder: Path, scale: float = 1.0) -> None:
    """Write all workloads into a folder, unless they exist."""
    marker = folder / f"made-{scale:g}"
    if marker.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    adhoc(folder, systems=max(2, round(70 * scale)))
    passages(folder, queries=max(30, round(6_980 * scale)))
    recommendations(folder, users=max(100, round(1_000_000 * scale)))
    dense(folder, queries=max(10, round(10_000 * scale)))
    marker.touch()


def adhoc(folder: Path, systems: int) -> None:
    """A and C: 50 queries, 1,000 documents each, 300 judged; one run, and many of rising quality."""
    rng = np.random.default_rng(7)
    queries = np.arange(301, 351)
    documents = distinct(rng, len(queries), 3_000, PASSAGES)
    grade = rng.choice(4, (len(queries), 300), p=GRADES)
    write_qrels(folder / "a.qrels", queries, passage(documents[:, :300]), grade)
    for system in range(systems):
        quality = 0.3 + 0.7 * (system + 1) / systems
        noisy = rng.normal(0, 1, documents.shape)
        noisy[:, :300] += quality * (grade + 0.5)
        order = np.argsort(-noisy, axis=1)[:, :1_000]
        score = np.maximum(12 + 4 * np.take_along_axis(noisy, order, axis=1), 0)
        ranked = passage(np.take_along_axis(documents, order, axis=1))
        write_run(folder / f"c{system:02}.run", queries, ranked, decimals(score, 6))
    shutil.copy(folder / f"c{systems - 1:02}.run", folder / "a.run")


def passages(folder: Path, queries: int) -> None:
    """B: the shape of MS MARCO, 1,000 documents a query and one to three judged; and the same in other dress."""
    rng = np.random.default_rng(2)
    ids = rng.permutation(rng.choice(1_102_390, queries, replace=False) + 2)
    documents = distinct(rng, queries, 1_003, PASSAGES)
    score = 10 + np.sort(rng.gamma(2.0, 3.0, (queries, 1_000)), axis=1)[:, ::-1]
    query, document, grade = few_judged(rng, documents)
    names, text = passage(documents[:, :1_000]), decimals(score, 6)
    for name, part in (("b", queries), ("b-third", queries // 3), ("b-tenth", queries // 10)):
        first_part = query < part
        write_qrels(folder / f"{name}.qrels", ids[query[first_part]], passage(document[first_part]), grade[first_part])
        write_run(folder / f"{name}.run", ids[:part], names[: part * 1_000], text[: part * 1_000])
    write_run(folder / "b-ties.run", ids, names, format_integers(np.floor(score)))
    full = (score - 16).astype(np.float32).astype(np.float64) * (1 + 2**-30)
    write_run(folder / "b-digits.run", ids, names, pl.Series(full.ravel()).cast(pl.String))
    undress(folder, rng)


def few_judged(rng: np.random.Generator, documents: Any) -> tuple[Any, Any, Any]:
    """Return the judged (query, document, grade): 85 % of them retrieved, most near the top."""
    count = rng.choice([1, 2, 3], len(documents), p=[0.93, 0.05, 0.02])
    query = np.repeat(np.arange(len(documents)), count)
    nth = np.arange(len(query)) - np.repeat(np.cumsum(count) - count, count)
    rank = np.minimum((rng.pareto(0.6, len(query)) * 4).astype(np.int64), 996) // 3 * 3 + nth
    column = np.where(rng.random(len(query)) < 0.85, rank, 1_000 + nth)
    return query, documents[query, column], rng.choice([1, 2, 3], len(query), p=[0.7, 0.2, 0.1])


def undress(folder: Path, rng: np.random.Generator) -> None:
    """Write the run of B with irregular white space, with its lines shuffled, and compressed."""
    lines = (folder / "b.run").read_bytes().split(b"\n")[:-1]
    gaps = [[(b" ", b"  ", b"\t", b" \t")[i] for i in row] for row in rng.integers(0, 4, (1_000, 5))]
    with (folder / "b-blanks.run").open("wb") as out:
        for i, line in enumerate(lines):
            fields = line.split(b" ")
            out.write(fields[0] + b"".join(g + f for g, f in zip(gaps[i % 1_000], fields[1:], strict=True)) + b"\n")
    with (folder / "b-shuffled.run").open("wb") as out:
        out.writelines(lines[i] + b"\n" for i in rng.permutation(len(lines)))
    with (folder / "b.run").open("rb") as plain, gzip.open(folder / "b-gzip.run.gz", "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)


def recommendations(folder: Path, users: int) -> None:
    """D and F2: 20 items a user and 10 graded labels, a quarter of them recommended; as files and as arrays."""
    rng = np.random.default_rng(4)
    items = distinct(rng, users, 30, 100_003).astype(np.int32)
    score = np.sort(rng.beta(2, 5, (users, 20)), axis=1)[:, ::-1]
    near_top = np.argsort(rng.random((users, 20)) * np.arange(1, 21), axis=1)[:, :10]
    recommended = rng.random((users, 10)) < 0.25
    labelled = np.where(recommended, np.take_along_axis(items, near_top, axis=1), items[:, 20:])
    grade = rng.choice(4, labelled.shape, p=[0.1, 0.4, 0.3, 0.2]).astype(np.int8)
    for name, array in (("ranked", items[:, :20]), ("labelled", labelled), ("labels", grade)):
        np.save(folder / f"f2-{name}.npy", array)
    names = np.arange(users)
    write_qrels(folder / "d.qrels", names, format_ids("i{}", labelled), grade, query="u{}")
    write_run(folder / "d.run", names, format_ids("i{}", items[:, :20]), decimals(score, 6), query="u{}")


def dense(folder: Path, queries: int) -> None:
    """F: 1,000 documents a query, all labelled; scores that hardly tie, and scores that tie a lot."""
    rng = np.random.default_rng(5)
    labels = rng.choice(4, (queries, 1_000), p=[0.9, 0.06, 0.03, 0.01]).astype(np.int8)
    scores = (rng.normal(0, 1, labels.shape) + 0.8 * labels).astype(np.float32)
    for name, array in (("labels", labels), ("scores", scores), ("tied", np.floor(scores * 4))):
        np.save(folder / f"f-{name}.npy", array)


def distinct(rng: np.random.Generator, rows: int, width: int, space: int) -> Any:
    """Return [rows, width] numbers below a prime, distinct within a row: a random start and stride."""
    start, stride = rng.integers(0, space, (rows, 1)), rng.integers(1, space - 1, (rows, 1))
    return (start + np.arange(width) * stride) % space


def format_ids(form: str, numbers: Any) -> pl.Series:
    """Return numbers in a form such as i{}."""
    return pl.select(pl.format(form, format_integers(numbers))).to_series()


def passage(numbers: Any) -> pl.Series:
    """Return ids like those of MS MARCO: msmarco_passage_12_3456789."""
    n = pl.Series(np.ascontiguousarray(numbers).ravel())
    shard = (n % 70).cast(pl.String).str.zfill(2)
    return pl.select(pl.format("msmarco_passage_{}_{}", shard, n * 97 % 850_000_019)).to_series()


def format_integers(numbers: Any) -> pl.Series:
    """Return whole numbers as text."""
    return pl.Series(np.ascontiguousarray(numbers).ravel().astype(np.int64)).cast(pl.String)


def decimals(numbers: Any, digits: int) -> pl.Series:
    """Return numbers of at least 0 as text, with the given number of decimals."""
    scaled = pl.Series(np.rint(np.ascontiguousarray(numbers).ravel() * 10**digits).astype(np.int64))
    fraction = (scaled % 10**digits).cast(pl.String).str.zfill(digits)
    return pl.select(pl.format("{}.{}", scaled // 10**digits, fraction)).to_series()


def write_qrels(path: Path, queries: Any, documents: pl.Series, grade: Any, query: str = "{}") -> None:
    """Write judgments, as many for each query."""
    per_query = len(documents) // len(queries)
    write(path, format_ids(query, np.repeat(queries, per_query)), "0", documents, format_integers(grade))


def write_run(path: Path, queries: Any, documents: pl.Series, scores: pl.Series, query: str = "{}") -> None:
    """Write a run, as many documents for each query."""
    per_query = len(documents) // len(queries)
    rank = format_integers(np.tile(np.arange(1, per_query + 1), len(queries)))
    write(path, format_ids(query, np.repeat(queries, per_query)), "Q0", documents, rank, scores, path.stem)


def write(path: Path, *columns: pl.Series | str) -> None:
    """Write columns of text, separated by blanks; a text alone is the same in each line."""
    frame = pl.select(
        **{str(i): pl.lit(column) if isinstance(column, str) else column for i, column in enumerate(columns)}
    )
    frame.write_csv(path, include_header=False, separator=" ", quote_style="never")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    make(arguments.folder, arguments.scale)
