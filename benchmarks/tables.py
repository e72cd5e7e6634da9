"""Frames, Parquet, CSV and flat arrays against TREC text of the same content, as ratios within one process.

    python -m benchmarks.tables DATA [--times 5] [--scale 1.0] [--out FILE]

All contenders take turns, and the best of some times counts, so that a busy moment of the machine hits all. The bars
are what gradely promises; the command fails where one is missed. benchmarks.table_peers gives the same to peers.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import gradely

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
BARS = {
    "Parquet": 1.5,
    "polars": 1.5,
    "polars, whole numbers": 1.5,
    "pandas": 1.5,
    "pandas, whole numbers": 1.5,
    "pyarrow": 1.5,
    "CSV": 3.0,
    "pandas objects": 4.0,
}
"""how many times as long as TREC text each may take"""
GROUPS, IDS = 1.5, 3.0
"""how many times as long as from_ids flat arrays may take, and as a sketch by hand from_ids"""
Work = Callable[[], Any]


def make(folder: Path, queries: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Write judgments and a run of 1,000 documents per query in every format; return them as frames."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2)
    start, stride = rng.integers(0, 8_841_823, (queries, 1)), rng.integers(1, 8_841_822, (queries, 1))
    documents = (start + np.arange(1_000) * stride) % 8_841_823
    score = np.round(10 + np.sort(rng.gamma(2.0, 3.0, documents.shape), axis=1)[:, ::-1], 6)
    ids = np.arange(queries) + 1_000
    run = pl.DataFrame({"query_id": ids.repeat(1_000), "doc_id": documents.ravel(), "score": score.ravel()})
    judged = documents[np.arange(queries), rng.integers(0, 1_000, queries)]
    qrels = pl.DataFrame({"query_id": ids, "doc_id": judged, "label": rng.integers(1, 4, queries)})
    for name, frame in (("qrels", name_documents(qrels)), ("run", name_documents(run))):
        frame.write_parquet(folder / f"{name}.parquet")
        frame.write_csv(folder / f"{name}.csv")
    trec = {"include_header": False, "separator": " "}
    name_documents(qrels).select("query_id", pl.lit("0"), "doc_id", "label").write_csv(folder / "qrels.trec", **trec)
    constant = {name: pl.lit(name) for name in ("Q0", "1", "tag")}
    lines = name_documents(run).with_columns(**constant).select("query_id", "Q0", "doc_id", "1", "score", "tag")
    lines.write_csv(folder / "run.trec", **trec)
    return qrels, run


def name_documents(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with document ids like those of MS MARCO."""
    name = pl.format("msmarco_passage_{}_{}", pl.col("doc_id") % 70, pl.col("doc_id"))
    return frame.with_columns(pl.col("query_id").cast(pl.String), name.alias("doc_id"))


def contenders(folder: Path, qrels: pl.DataFrame, run: pl.DataFrame) -> Iterator[tuple[str, Work]]:
    """Yield the work of each contender."""

    def work(judgments: Any, ranking: Any) -> Work:
        return lambda: gradely.evaluate(judgments, ranking, MEASURES)

    def pandas(frame: pl.DataFrame, kind: Any) -> pd.DataFrame:
        return pd.DataFrame({name: frame[name].to_list() for name in frame.columns}).astype(kind)

    text = name_documents(qrels), name_documents(run)
    yield "TREC text", work(folder / "qrels.trec", folder / "run.trec")
    yield "Parquet", work(folder / "qrels.parquet", folder / "run.parquet")
    yield "CSV", work(folder / "qrels.csv", folder / "run.csv")
    yield "polars", work(*text)
    yield "polars, whole numbers", work(qrels, run)
    yield "pyarrow", work(*(frame.to_arrow() for frame in text))
    ids = {"query_id": "string[pyarrow]", "doc_id": "string[pyarrow]"}
    yield "pandas", work(*(pandas(frame, ids) for frame in text))
    yield "pandas objects", work(*(pandas(frame, dict.fromkeys(ids, object)) for frame in text))
    yield "pandas, whole numbers", work(*(pandas(frame, {}) for frame in (qrels, run)))


def arrays(users: int) -> Iterator[tuple[str, Work]]:
    """Yield what is done with arrays of 20 ranked items and 10 labels per user, and with flat ones of 20."""
    rng = np.random.default_rng(4)
    start, stride = rng.integers(0, 100_003, (users, 1)), rng.integers(1, 100_002, (users, 1))
    items = ((start + np.arange(30) * stride) % 100_003).astype(np.int32)
    ranked = np.ascontiguousarray(items[:, :20])
    labelled = np.where(rng.random((users, 10)) < 0.25, ranked[:, :10], items[:, 20:])
    labels, scores = rng.choice(4, labelled.shape).astype(np.int8), rng.random(20 * users)
    flat, sizes = rng.integers(0, 4, 20 * users), np.full(users, 20)

    def sketch() -> Any:
        place = np.full(labelled.shape, 20, np.int8)
        for i in range(20):
            place[labelled == ranked[:, i : i + 1]] = i
        return place

    yield "a sketch by hand of from_ids", sketch
    yield "from_ids", lambda: gradely.from_ids(ranked, labelled, labels)
    yield "from_groups", lambda: gradely.from_groups(scores, flat, group=sizes)

    def measure_ids() -> Any:
        batch = gradely.from_ids(ranked, ranked, flat.reshape(ranked.shape))
        return [gradely.parse(measure)(batch) for measure in MEASURES]

    yield "from_ids, 20 labels, measured", measure_ids
    yield "evaluate_arrays, group=", lambda: gradely.evaluate_arrays(scores, flat, MEASURES, group=sizes)


def race(entries: list[tuple[str, Work]], times: int) -> dict[str, float]:
    """Return the best time of each, measured in turns."""
    best = {name: float("inf") for name, _ in entries}
    for _ in range(times):
        for name, work in entries:
            start = perf_counter()
            work()
            best[name] = min(best[name], perf_counter() - start)
    return best


def main() -> None:
    """Print the times and ratios; fail if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    frames = make(arguments.data / "tables", max(20, round(6_980 * arguments.scale)))
    tables = race(list(contenders(arguments.data / "tables", *frames)), arguments.times)
    ids = race(list(arrays(max(100, round(1_000_000 * arguments.scale)))), arguments.times)
    bars = {name: (tables[name], tables["TREC text"], bar) for name, bar in BARS.items()}
    bars["from_ids"] = ids["from_ids"], ids["a sketch by hand of from_ids"], IDS
    bars["from_groups"] = ids["from_groups"], ids["from_ids"], GROUPS
    bars["evaluate_arrays, group="] = ids["evaluate_arrays, group="], ids["from_ids, 20 labels, measured"], GROUPS
    missed = [name for name, (seconds, base, bar) in bars.items() if seconds > bar * base]
    lines = []
    for name, seconds in (tables | ids).items():
        ratio = f"  {seconds / bars[name][1]:5.2f} times, bar {bars[name][2]}" if name in bars else ""
        lines.append(f"{name:32} {seconds:8.3f} s{ratio}")
    print("\n".join(lines))
    if arguments.out is not None:
        arguments.out.write_text("\n".join([*lines, ""]), "utf-8")
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
