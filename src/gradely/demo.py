"""The demo collection: made by the program, the same each time, with graded labels and many ties."""

import numpy as np

QUERIES, DOCUMENTS, JUDGED, DEPTH = 24, 400, 40, 60
SYSTEMS = {
    "lexical": "scores of one decimal, as of few matching words",
    "dense": "scores in half precision, as of a neural model",
    "popular": "whole numbers, as of clicks",
}


def collection() -> dict[str, str]:
    """Return the files of the collection, {name: text}: judgments and three runs."""
    rng = np.random.default_rng(2011)
    quality = rng.choice([0.0, 1.0, 2.0, 3.0], size=(QUERIES, DOCUMENTS), p=[0.86, 0.07, 0.05, 0.02])
    judged = np.sort(np.argsort(-(quality + rng.gumbel(0, 1.2, quality.shape)), axis=1)[:, :JUDGED], axis=1)
    files = {"qrels.txt": _qrels(quality, judged)}
    for name, scores in _scores(rng, quality).items():
        files[f"{name}.run"] = _run(name, scores)
    return files


def _scores(rng: np.random.Generator, quality: np.ndarray) -> dict[str, np.ndarray]:
    """Return each system's scores of all documents."""
    noise = rng.normal(size=(3, *quality.shape))
    return {
        "lexical": np.maximum(0, np.round(6 + 1.6 * quality + 2.6 * noise[0], 1)),
        "dense": (0.3 + 0.11 * quality + 0.13 * noise[1]).astype(np.float16).astype(np.float64),
        "popular": np.floor(np.exp(1.0 + 0.35 * quality + 0.8 * noise[2])),
    }


def _qrels(quality: np.ndarray, judged: np.ndarray) -> str:
    lines = (f"q{q + 1:02d} 0 d{d + 1:03d} {quality[q, d]:.0f}" for q in range(QUERIES) for d in judged[q])
    return "\n".join(lines) + "\n"


def _run(name: str, scores: np.ndarray) -> str:
    """Return a run; the popular one leaves two queries unanswered."""
    lines = []
    for q in range(QUERIES - 2 * (name == "popular")):
        order = np.argsort(-scores[q], kind="stable")[:DEPTH]
        lines += [
            f"q{q + 1:02d} Q0 d{d + 1:03d} {rank} {scores[q, d]:g} {name}" for rank, d in enumerate(order.tolist(), 1)
        ]
    return "\n".join(lines) + "\n"
