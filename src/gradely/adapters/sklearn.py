"""scikit-learn: `score` for arrays, `scorer` for cross_validate and GridSearchCV, `QidRanker` for LGBMRanker."""

from typing import Any, ClassVar, Self

import numpy as np

from gradely.errors import DataError
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.scores import means
from gradely.kernel.backend import check_unmasked
from gradely.lazy import optional
from gradely.measures.names import MeasureLike, parse
from gradely.settings import ArrayTies

try:
    from sklearn.base import BaseEstimator
except ImportError:  # `score` needs no scikit-learn
    BaseEstimator = object


def score(
    y_true: Any, y_score: Any, *, qid: Any = None, measure: MeasureLike = "nDCG@10", ties: ArrayTies = "expected"
) -> float:
    """Return the mean of a measure over queries; as in scikit-learn, labels come before scores.

    Both are arrays with one row per query, as in `sklearn.metrics.ndcg_score`, or flat arrays, with the query of each
    document in `qid`.

    >>> score([[1, 0, 2]], [[0.3, 0.2, 0.1]], measure="RR") == score([1, 0, 2], [3, 2, 1], qid=[7, 7, 7], measure="RR")
    True
    """
    if qid is None and np.ndim(y_true) == 1:
        raise DataError(
            "flat arrays need qid, the query of each document: pass score(…, qid=…) or, in cross-validation,"
            " params={'qid': qid}"
        )
    parsed = parse(measure)
    check_unmasked(y_true=y_true, y_score=y_score, qid=qid)
    labels, scores = (np.asarray(values, np.float64) for values in (y_true, y_score))
    queries = None if qid is None else np.asarray(qid)
    values = evaluate_arrays(scores, labels, [parsed], qid=queries, ties=ties)[str(parsed)]
    return means(np.asarray(values, np.float64)[:, None])[0]


def scorer(measure: MeasureLike, *, ties: ArrayTies = "expected") -> Any:
    """Return a scorer for the `scoring` parameter of cross_validate, GridSearchCV and others, which requests qid.

    It needs metadata routing, which is off by default: without it, scikit-learn does not pass qid and reports NaN.
    """
    sklearn, metrics = (optional(module, "scikit-learn", "sklearn") for module in ("sklearn", "sklearn.metrics"))
    name = str(parse(measure))
    if not sklearn.get_config()["enable_metadata_routing"]:
        call = "sklearn.set_config(enable_metadata_routing=True)"
        raise DataError(f"a scorer of rankings needs the qid of each document: call {call} before scorer({name!r})")
    return metrics.make_scorer(score, measure=name, ties=ties).set_score_request(qid=True)


class QidRanker(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A ranker that is fitted with `qid`, the query of each document, instead of group sizes.

    Unlike group sizes, qid can be split into folds, and documents need not be sorted by query. Pass
    `params={"qid": qid}` to cross-validation; with metadata routing, fit requests qid.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, ranker: Any) -> None:
        """Take a ranker whose fit method takes `group`, like LGBMRanker."""
        optional("sklearn", "scikit-learn", "sklearn")
        self.ranker = ranker

    def fit(self, X: Any, y: Any, qid: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit a copy of the ranker on the documents sorted by query."""
        from sklearn.base import clone
        from sklearn.utils import _safe_indexing

        if qid is None or len(qid) != len(y):
            raise DataError("fit needs qid, the query of each document: pass fit(X, y, qid=…) or params={'qid': qid}")
        _, query = np.unique(np.asarray(qid), return_inverse=True)
        order = np.argsort(query, kind="stable")
        X, y = _safe_indexing(X, order), _safe_indexing(y, order)  # noqa: N806 - scikit-learn's name
        self.ranker_ = clone(self.ranker).fit(X, y, group=np.bincount(query))
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Return the scores of documents."""
        return self.ranker_.predict(X)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether fit was called."""
        return hasattr(self, "ranker_")
