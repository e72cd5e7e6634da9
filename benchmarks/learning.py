"""An iteration of boosting by our lambdas, as a multiple of one by LightGBM's own lambdarank.

    python -m benchmarks.learning

1,000 queries of 100 documents with 136 features, on one thread. Both are timed in one process, in turns, in time of the
processor, so that other work on the machine disturbs little. LightGBM must be installed.
"""

import time
from typing import Any

import numpy as np

from gradely.learning.lambdas import Lambdas

QUERIES, DOCUMENTS, FEATURES = 1_000, 100, 136
MEASURES = ["nDCG", "AP", "GAP", "xGAP", "eGAP", "muAP"]
GOALS = {"nDCG": 2, "eGAP": 4}
"""at most so many times an iteration of LightGBM's own"""
ROUNDS = 8


def data() -> tuple[Any, Any]:
    """Return features and labels from 0 to 4, which some of the features tell."""
    rng = np.random.default_rng(0)
    rows = QUERIES * DOCUMENTS
    features = rng.standard_normal((rows, FEATURES), dtype=np.float32)
    signal = features[:, :10].sum(axis=1) + 3 * rng.standard_normal(rows)
    return features, np.digitize(signal, np.quantile(signal, [0.5, 0.75, 0.9, 0.97])).astype(np.float64)


def booster(lightgbm: Any, features: Any, labels: Any, objective: str) -> Any:
    """Return a model that has learned nothing yet."""
    options = {"objective": objective, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(features, labels, group=[DOCUMENTS] * QUERIES, params=options)
    return lightgbm.Booster(options, data)


def main() -> None:
    """Time iterations in turns and print the ratios."""
    import lightgbm

    features, labels = data()
    own = booster(lightgbm, features, labels, "lambdarank")
    models = {name: booster(lightgbm, features, labels, "none") for name in MEASURES}
    lambdas = {name: Lambdas(labels, name, group=[DOCUMENTS] * QUERIES) for name in MEASURES}
    taken: dict[str, list[float]] = {name: [] for name in ["lambdarank", *MEASURES]}
    for _ in range(ROUNDS):
        taken["lambdarank"].append(timed(own.update))
        for name, model in models.items():
            taken[name].append(timed(lambda model=model, name=name: model.update(fobj=lambda s, _: lambdas[name](s))))
    base = float(np.mean(taken["lambdarank"]))
    print(f"LightGBM's lambdarank: {base * 1e3:.0f} ms an iteration")
    for name in MEASURES:
        mean, goal = float(np.mean(taken[name])), GOALS.get(name)
        verdict = "" if goal is None else f", at most {goal} wanted"
        print(f"{name:6} {mean * 1e3:5.0f} ms, {mean / base:.2f} times{verdict}; first {taken[name][0] / base:.2f}")


def timed(work: Any) -> float:
    """Return the seconds of the processor that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
