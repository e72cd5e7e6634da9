"""Scikit-learn: `score` for arrays, `scorer` for cross_validate and GridSearchCV, `QidRanker` for LGBMRanker."""

from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.scores import means
from gradely.kernel.backend import check_unmasked
from gradely.lazy import optional
from gradely.measures.names import MeasureLike, parse
from gradely.settings import TiePolicy

ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def score(
    y_true: Any, y_score: Any, *, qid: Any = None, measure: MeasureLike = "nDCG@10", ties: TiePolicy = "expected"
) -> float:
    """Return the mean of a measure over queries, from labels and scores in the order of scikit-learn.

    They are tables with one row per query, as in `sklearn.metrics.ndcg_score`, or flat, with `qid`, the query of
    each document.

    >>> score([[1, 0, 2]], [[0.3, 0.2, 0.1]], measure="RR") == score([1, 0, 2], [3, 2, 1], qid=[7, 7, 7], measure="RR")
    True
    """
    if qid is None and np.ndim(y_true) == 1:
        raise DataError(
            "there is no qid to say which documents belong to which query: give score(…, qid=…), or, in"
            " cross-validation, params={'qid': qid}"
        )
    parsed = parse(measure)
    check_unmasked(y_true=y_true, y_score=y_score, qid=qid)
    labels, scores = (np.asarray(values, np.float64) for values in (y_true, y_score))
    queries = None if qid is None else np.asarray(qid)
    values = evaluate_arrays(scores, labels, [parsed], qid=queries, ties=ties)[str(parsed)]
    return means(np.asarray(values, np.float64)[:, None])[0]


def scorer(measure: MeasureLike, *, ties: TiePolicy = "expected") -> Any:
    """Return a scorer for `scoring=` of cross_validate, GridSearchCV and others, which asks them for qid.

    It needs metadata routing, which is off by default: without it scikit-learn gives the scorer no qid, and then NaN.
    """
    sklearn = optional("sklearn", "scikit-learn", "sklearn")
    metrics = optional("sklearn.metrics", "scikit-learn", "sklearn")
    name = str(parse(measure))
    if not sklearn.get_config()["enable_metadata_routing"]:
        raise DataError(f"a scorer of rankings needs the qid of each document: call {ROUTING} before scorer({name!r})")
    return metrics.make_scorer(score, measure=name, ties=ties).set_score_request(qid=True)


def __getattr__(name: str) -> Any:
    """Return QidRanker, which is an estimator of scikit-learn, when it is imported."""
    if name != "QidRanker":
        raise AttributeError(f"module 'gradely.adapters.sklearn' has no attribute {name!r}")
    optional("sklearn", "scikit-learn", "sklearn")
    from gradely.adapters.sklearn_pipeline import QidRanker

    return QidRanker


def __dir__() -> list[str]:
    """List what is public."""
    return ["QidRanker", "score", "scorer"]
