"""The time of a boosting iteration with our lambdas, relative to LightGBM's own lambdarank.

    python -m benchmarks.learning docs/inside/benchmarks.md

puts a section at the end of the page, in place of an earlier one.

1,000 queries of 100 documents with 136 features, on one thread. Both are timed in one process, in turns, in time of the
processor, so that other work on the machine disturbs little. LightGBM must be installed.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import verdict
from gradely.learning.lambdas import Lambdas

QUERIES, DOCUMENTS, FEATURES = 1_000, 100, 136
MEASURES = ["nDCG", "AP", "GAP", "xGAP", "eGAP", "muAP"]
GOALS = {"nDCG": 2, "eGAP": 4}
"""the limit, as a multiple of an iteration of LightGBM's own"""
ROUNDS = 8
OWN = "LightGBM's lambdarank"
TITLE = "## Learning to rank\n"
TEXT = f"""\
One iteration of LightGBM learns by the lambdas of a measure, or by LightGBM's own objective, from {QUERIES:,} queries
of {DOCUMENTS} documents with {FEATURES} features, on one thread. Times are processor time, the shortest of {ROUNDS}
iterations taken in turns (`python -m benchmarks.learning`).
"""


def data() -> tuple[Any, Any]:
    """Return features, and labels from 0 to 4 that depend on some of the features."""
    rng = np.random.default_rng(0)
    rows = QUERIES * DOCUMENTS
    features = rng.standard_normal((rows, FEATURES), dtype=np.float32)
    signal = features[:, :10].sum(axis=1) + 3 * rng.standard_normal(rows)
    return features, np.digitize(signal, np.quantile(signal, [0.5, 0.75, 0.9, 0.97])).astype(np.float64)


def booster(lightgbm: Any, features: Any, labels: Any, objective: str) -> Any:
    """Return an untrained model."""
    options = {"objective": objective, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(features, labels, group=[DOCUMENTS] * QUERIES, params=options)
    return lightgbm.Booster(options, data)


def seconds() -> dict[str, list[float]]:
    """Time iterations in turns: LightGBM's own, then one by each measure."""
    import lightgbm

    features, labels = data()
    own = booster(lightgbm, features, labels, "lambdarank")
    models = {name: booster(lightgbm, features, labels, "none") for name in MEASURES}
    lambdas = {name: Lambdas(labels, name, group=[DOCUMENTS] * QUERIES) for name in MEASURES}
    times: dict[str, list[float]] = {name: [] for name in [OWN, *MEASURES]}
    for _ in range(ROUNDS):
        times[OWN].append(time_work(own.update))
        for name, model in models.items():
            times[name].append(
                time_work(lambda model=model, name=name: model.update(fobj=lambda s, _: lambdas[name](s)))
            )
    return times


def section(taken: dict[str, list[float]]) -> str:
    """Return the shortest times and their ratios as a section of the page."""
    base = min(taken[OWN])
    lines = [TITLE, TEXT, "| learned by | best, s | times LightGBM's | bar |", "|---|--:|--:|---|"]
    for name, times in taken.items():
        ratio, goal = min(times) / base, GOALS.get(name)
        bar = "" if goal is None else verdict(f"at most {goal}", ratio <= goal)
        lines.append(f"| {name} | {min(times):.3f} | {ratio:.2f} | {bar} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Put the section into a page."""
    page = Path(sys.argv[1])
    before = page.read_text("utf-8").partition(TITLE)[0].rstrip("\n")
    text = section(seconds())
    page.write_text(f"{before}\n\n{text}", "utf-8")
    print(text)


def time_work(work: Any) -> float:
    """Return the processor time of some work in seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
