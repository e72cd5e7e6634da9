"""The times of other tools for a frame with the same content as in benchmarks.tables, which creates it.

    python -m benchmarks.table_peers DATA [--times 2] [--out FILE]

Whichever of ranx and RecTools is installed takes part, with one measure; RecTools wants an older NumPy than the others,
and so an environment of its own. Frames are made before; what is timed is what users call.
"""

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

Work = Callable[[], Any]


def with_ranx(qrels: pd.DataFrame, run: pd.DataFrame) -> Any:
    """Evaluate with ranx, as its users do."""
    import ranx

    judgments = ranx.Qrels.from_df(qrels, q_id_col="query_id", doc_id_col="doc_id", score_col="label")
    ranking = ranx.Run.from_df(run, q_id_col="query_id", doc_id_col="doc_id", score_col="score")
    return ranx.evaluate(judgments, ranking, ["ndcg@10"])


def peers(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, Work]]:
    """Yield the work of the other tools that are installed."""
    if find_spec("ranx") is not None:
        yield "ranx, a pandas frame, nDCG@10", lambda: with_ranx(qrels, run)
    if find_spec("rectools") is not None:
        from rectools import metrics

        names = {"query_id": "user_id", "doc_id": "item_id", "label": "weight"}
        known, ranked = qrels.rename(columns=names), run.rename(columns=names)
        ranked["rank"] = ranked.groupby("user_id")["score"].rank("first", ascending=False).astype(int)
        yield "RecTools, a pandas frame, MRR", lambda: metrics.MRR(k=1_000).calc(ranked, known)


def main() -> None:
    """Print the best time of each tool, and append it to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kinds = {"query_id": object, "doc_id": object}  # as ranx wants them
    frames = [pd.read_csv(given.data / "tables" / f"{name}.csv", dtype=kinds) for name in ("qrels", "run")]
    for name, work in peers(*frames):
        best = float("inf")
        for _ in range(given.times):
            start = perf_counter()
            work()
            best = min(best, perf_counter() - start)
        line = f"{name:32} {best:8.3f} s"
        print(line)
        if given.out is not None:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


if __name__ == "__main__":
    main()
