"""The demo collection: made by the program, the same each time, with graded labels and many ties."""

import numpy as np

from gradely.data.ids import Floats, Ints

QUERIES, DOCUMENTS, JUDGED, DEPTH = 24, 120, 50, 50
RUNS = {
    "lexical": "whole numbers, like counts of matching words, with many ties",
    "dense": "half precision, like those of a neural model, with a few ties",
    "popular": "whole numbers, like counts of clicks, nearly all tied",
}


def collection() -> dict[str, str]:
    """Return the files of the collection, {name: text}: judgments and three runs."""
    rng = np.random.default_rng(2025)
    quality = rng.choice([0.0, 1.0, 2.0, 3.0], size=(QUERIES, DOCUMENTS), p=[0.80, 0.10, 0.07, 0.03])
    likely = quality + rng.gumbel(0, 1.2, quality.shape)
    judged = np.sort(np.argsort(-likely, axis=1)[:, :JUDGED], axis=1)
    runs = {f"{name}.run": _run(name, scores) for name, scores in _scores(rng, quality).items()}
    return {"qrels.txt": _qrels(quality, judged)} | runs


def _scores(rng: np.random.Generator, quality: Floats) -> dict[str, Floats]:
    """Return each run's scores of all documents."""
    noise = rng.normal(size=(3, *quality.shape))
    return {
        "lexical": np.maximum(0, np.round(3 + 1.15 * quality + 1.35 * noise[0])),
        "dense": (0.3 + 0.06 * quality + 0.079 * noise[1]).astype(np.float16).astype(np.float64),
        "popular": np.floor(np.exp(0.6 + 0.3 * quality + 0.8 * noise[2])),
    }


def _qrels(quality: Floats, judged: Ints) -> str:
    lines = (f"q{q + 1:02d} 0 d{d + 1:03d} {quality[q, d]:.0f}" for q in range(QUERIES) for d in judged[q].tolist())
    return "\n".join(lines) + "\n"


def _run(name: str, scores: Floats) -> str:
    """Return a run; the popular one leaves two queries unanswered."""
    lines = []
    for q in range(QUERIES - 2 * (name == "popular")):
        order = np.argsort(-scores[q], kind="stable")[:DEPTH].tolist()
        lines += [f"q{q + 1:02d} Q0 d{d + 1:03d} {rank} {scores[q, d]:g} {name}" for rank, d in enumerate(order, 1)]
    return "\n".join(lines) + "\n"
