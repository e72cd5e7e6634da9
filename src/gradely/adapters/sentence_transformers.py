"""Sentence Transformers: `GradedRetrievalEvaluator` evaluates a model on graded judgments while it is trained."""

from typing import Any

from gradely.lazy import optional


def __getattr__(name: str) -> Any:
    """Return the evaluator, which is a class of Sentence Transformers, when it is imported."""
    if name != "GradedRetrievalEvaluator":
        raise AttributeError(f"module 'gradely.adapters.sentence_transformers' has no attribute {name!r}")
    optional("sentence_transformers", "sentence-transformers", "sentence_transformers")
    from gradely.adapters.sentence_transformers_pipeline import GradedRetrievalEvaluator

    return GradedRetrievalEvaluator


def __dir__() -> list[str]:
    """List what is public."""
    return ["GradedRetrievalEvaluator"]
