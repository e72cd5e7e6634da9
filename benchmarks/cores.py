"""How the time to evaluate a large TREC run decreases with the number of cores: python -m benchmarks.cores FOLDER.

It needs nothing but NumPy and gradely, makes a run of 35 million lines (2 GB) and its judgments in the folder, and
prints seconds by number of workers: as gradely chooses (threads for up to four workers, processes beyond), and with
threads alone.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import gradely
from gradely.data.read import trec_pieces as runs

DEPTH = 1000
"""documents of a ranking"""
JUDGED = 20
"""judgments of a query"""
DOCUMENTS = 10_000_000
WORKERS = (1, 2, 4, 8, 16)
REPEATS = 3
"""how often each is timed; the least time counts"""


def digits(numbers: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.uint8]:
    """Return numbers as text with leading zeros, one row of bytes each."""
    powers = 10 ** np.arange(width - 1, -1, -1)
    return (48 + numbers[:, None] // powers % 10).astype(np.uint8)


def lines(parts: list[str | npt.NDArray[np.uint8]], rows: int) -> bytes:
    """Return rows of text whose parts are the same in all of them or given as bytes."""
    columns = [
        np.tile(np.frombuffer(part.encode(), np.uint8), (rows, 1)) if isinstance(part, str) else part for part in parts
    ]
    return np.hstack(columns).tobytes()


def make(folder: Path, total: int) -> tuple[Path, Path]:
    """Write a run of the given length, and judgments; return both files."""
    folder.mkdir(parents=True, exist_ok=True)
    run, qrels = folder / f"{total}.run", folder / f"{total}.qrels"
    if run.exists() and qrels.exists():
        return run, qrels
    rng = np.random.default_rng(0)
    with run.open("wb") as ranking, qrels.open("wb") as judgments:
        for first in range(0, total // DEPTH, 100):
            count = min(100, total // DEPTH - first)
            query = np.repeat(np.arange(first, first + count), DEPTH)
            place = np.tile(np.arange(DEPTH), count)
            document = (rng.integers(0, DOCUMENTS, len(query)) // DEPTH * DEPTH + place) % DOCUMENTS  # all differ
            score = (DEPTH - place) * 1000 + rng.integers(0, 1000, len(query))
            text = ["q", digits(query, 6), " Q0 passage-en-", digits(document, 8), " ", digits(place, 4), " "]
            text += [digits(score // 100, 6), ".", digits(score % 100, 2), " system\n"]
            ranking.write(lines(text, len(query)))
            judged = np.flatnonzero(rng.random(len(query)) < JUDGED / DEPTH)
            label = digits(rng.integers(0, 4, len(judged)), 1)
            judgments.write(
                lines(
                    ["q", digits(query[judged], 6), " 0 passage-en-", digits(document[judged], 8), " ", label, "\n"],
                    len(judged),
                )
            )
    return run, qrels


def seconds(qrels: gradely.Qrels, run: Path, workers: int) -> tuple[float, dict[str, float]]:
    """Return the shortest time of some evaluations, and their values."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        means = gradely.evaluate(qrels, run, ["nDCG@10", "AP", "RR"], threads=workers).mean()
        times.append(time.perf_counter() - start)
    return min(times), means


def main() -> None:
    """Print the curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=35_000_000)
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    options = parser.parse_args()
    run, qrels_file = make(options.folder, options.lines)
    qrels = gradely.read_qrels(qrels_file)
    print(f"{options.lines:,} lines, {run.stat().st_size / 1e9:.2f} GB; {len(os.sched_getaffinity(0))} cores")
    print("workers   seconds   times one   threads alone, seconds")
    alone, expected = seconds(qrels, run, 1)
    for workers in options.workers:
        took, means = (alone, expected) if workers == 1 else seconds(qrels, run, workers)
        few, runs.FEW = runs.FEW, 10**6
        threads = alone if workers == 1 else seconds(qrels, run, workers)[0]
        runs.FEW = few
        same = "" if means == expected else "   VALUES DIFFER"
        print(f"{workers:7}   {took:7.2f}   {alone / took:9.1f}   {threads:8.2f}{same}", flush=True)


if __name__ == "__main__":
    main()
