"""QidRanker: a ranker that takes sizes of groups, as LGBMRanker does, in the pipelines of scikit-learn."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from gradely.errors import DataError


class QidRanker(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A ranker that is fitted with `qid`, the query of each document, instead of the sizes of groups.

    Sizes cannot be cut into folds, qid can. Documents need not be sorted by query. Cross-validation is told by
    `params={"qid": qid}`; with metadata routing, fit asks for it by itself.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, ranker: Any) -> None:
        """Take a ranker whose fit has `group`, like LGBMRanker."""
        self.ranker = ranker

    def fit(self, X: Any, y: Any, qid: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit a copy of the ranker on documents that are brought together by query."""
        if qid is None or len(qid) != len(y):
            raise DataError("fit needs qid, the query of each document: fit(X, y, qid=…), or params={'qid': qid}")
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
