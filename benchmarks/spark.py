"""What evaluation on Spark takes: python -m benchmarks.spark FOLDER, on two cores with a heap of 1 GB.

It makes runs of 10, 30 and 100 million rows as Parquet, in the folder, and evaluates each in two ways:
gradely.evaluate, where hits are found in Spark and come back, and gradely.adapters.spark.evaluate, on the executors. It
prints seconds, and as Spark counts them seconds of the processor in its tasks, and what was shuffled; and how all three
grow with the rows. Seconds of Python on the executors are in the first number only.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gradely
from gradely.adapters import spark as adapter

DEPTH = 1000
MEASURES = ["nDCG@10", "AP", "RR"]
WAYS = ("in Spark", "executors")
ROWS = (10_000_000, 30_000_000, 100_000_000)
PART = 5_000_000
"""rows of a file"""
BLOCK = 1 << 24
"""bytes of a row group, of which every task holds one: two of the usual 128 MB, unpacked, fill a heap of 1 GB"""


def session(logs: str, heap: str) -> Any:
    """Start Spark with an event log."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", heap)
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{logs}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.sql.shuffle.partitions": "64",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make(spark: Any, folder: Path, rows: int) -> tuple[Any, Any]:
    """Write a run and its judgments unless they exist; return both as lazy frames."""
    run, qrels = str(folder / f"run-{rows}"), str(folder / f"qrels-{rows}")
    parts = max(2, rows // PART)
    if not (Path(run) / "_SUCCESS").exists():
        query = f"id div {DEPTH} AS user_id"
        score = "CAST((pmod(xxhash64(id), 100000) / 1000.0) AS DOUBLE) AS score"
        frame = spark.range(0, rows, 1, parts).selectExpr(query, f"id % {DEPTH} AS item_id", score)
        frame.write.option("parquet.block.size", BLOCK).mode("overwrite").parquet(run)
    if not (Path(qrels) / "_SUCCESS").exists():
        label = "pmod(xxhash64(id, 7), 4) AS label"
        judged = spark.range(0, rows, 1, parts).filter("pmod(xxhash64(id, 3), 100) = 0")
        frame = judged.selectExpr(f"id div {DEPTH} AS user_id", f"id % {DEPTH} AS item_id", label)
        frame.write.mode("overwrite").parquet(qrels)
    return spark.read.parquet(qrels), spark.read.parquet(run)


class Costs(NamedTuple):
    """The costs of Spark's tasks so far."""

    size: int
    """bytes that were shuffled"""
    seconds: float
    """of the processor, without those of Python on the executors"""


def count_costs(logs: str) -> Costs:
    """Add up Spark's log of events."""
    size, seconds = 0, 0.0
    for name in Path(logs).rglob("*"):
        for line in name.read_text(errors="replace").splitlines() if name.is_file() else ():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                size += (metrics.get("Shuffle Write Metrics") or {}).get("Shuffle Bytes Written", 0)
                seconds += metrics.get("Executor CPU Time", 0) / 1e9
    return Costs(size, seconds)


class Measurement(NamedTuple):
    """The costs of one way to evaluate."""

    name: str
    rows: int
    seconds: float
    costs: Costs


def measure(name: str, rows: int, logs: str, work: Callable[[], dict[str, float]]) -> Measurement:
    """Print and return the costs of some work."""
    before, start = count_costs(logs), time.perf_counter()
    means = work()
    took = time.perf_counter() - start
    time.sleep(2)  # the log is written behind
    after = count_costs(logs)
    costs = Costs(after.size - before.size, after.seconds - before.seconds)
    values = ", ".join(f"{key} {value:.6f}" for key, value in means.items())
    numbers = f"{took:8.1f} s   {costs.seconds:8.1f} s of tasks   {costs.size / 1e6:8.1f} MB shuffled"
    print(f"{rows:>12,} rows   {name:<10} {numbers}   {values}", flush=True)
    return Measurement(name, rows, took, costs)


def report_growth(measurements: Sequence[Measurement]) -> None:
    """Print the costs with more rows as multiples of those with the fewest."""
    for name in dict.fromkeys(one.name for one in measurements):
        least, *more = sorted((one for one in measurements if one.name == name), key=lambda one: one.rows)
        for one in more:
            costs = (one.costs.seconds / least.costs.seconds, one.costs.size / least.costs.size)
            numbers = f"{one.seconds / least.seconds:8.2f}     {costs[0]:8.2f}              {costs[1]:8.2f}"
            print(f"{one.rows / least.rows:12.1f} times  {name:<10} {numbers} times")


def main() -> None:
    """Print a line for each size and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as logs:
        spark = session(logs, options.heap)
        taken = []
        for rows in options.rows:
            qrels, run = make(spark, options.folder.resolve(), rows)
            ways: dict[str, Callable[[], dict[str, float]]] = {
                "in Spark": lambda: gradely.evaluate(qrels, run, MEASURES).mean(),  # noqa: B023
                "executors": lambda: _means(adapter.evaluate(qrels, run, MEASURES)),  # noqa: B023
            }
            taken += [measure(name, rows, logs, work) for name, work in ways.items() if name in options.ways]
        report_growth(taken)
        spark.stop()


def _means(values: Any) -> dict[str, float]:
    """Return the mean of each measure, computed in Spark."""
    rows = {row["measure"]: row["avg(value)"] for row in values.groupBy("measure").avg("value").collect()}
    return {name: rows[name] for name in MEASURES}


if __name__ == "__main__":
    main()
