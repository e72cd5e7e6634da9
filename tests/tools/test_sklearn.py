"""gradely.adapters.sklearn in scikit-learn's own cross-validation, and beside ndcg_score."""

import numpy as np
import pytest

import gradely
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

sklearn = tool("sklearn")
from sklearn.base import BaseEstimator  # noqa: E402 - after the check that it is there
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.metrics import cohen_kappa_score, ndcg_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate  # noqa: E402

from gradely.adapters import sklearn as ours  # noqa: E402 - after the check that it is there

RNG = np.random.default_rng(3)
QID = np.repeat(np.arange(40), 12)
X = RNG.normal(size=(480, 4))
Y = np.clip(np.round(X[:, 0] + RNG.normal(size=480)), 0, 4)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_a_table_has_the_value_of_ndcg_score_ties_included(k):
    y_true, y_score = RNG.integers(0, 5, (50, 20)), RNG.integers(0, 6, (50, 20)).astype(float)
    name = "nDCG" if k is None else f"nDCG@{k}"
    assert ours.score(y_true, y_score, measure=name) == pytest.approx(ndcg_score(y_true, y_score, k=k), abs=1e-15)


def test_flat_arrays_with_qid_have_the_value_of_evaluate():
    order = RNG.permutation(480)
    y_score = np.round(X[:, 1], 1)
    qrels, run = {}, {}
    for i, (query, label, number) in enumerate(zip(QID, Y, y_score, strict=True)):
        qrels.setdefault(str(query), {})[str(i)] = label
        run.setdefault(str(query), {})[str(i)] = number
    for name in ("nDCG@5", "AP", "muAP", "RR"):
        value = gradely.evaluate(qrels, run, [name])[name]
        assert ours.score(Y, y_score, qid=QID, measure=name) == pytest.approx(value, abs=1e-15)
        assert ours.score(Y[order], y_score[order], qid=QID[order], measure=name) == pytest.approx(value, abs=1e-15)


def test_cross_validation_gives_the_values_of_score(routing):
    folds = GroupKFold(4)
    scoring = {name: ours.scorer(name) for name in ("nDCG@5", "AP")}
    given = {"qid": QID, "groups": QID}
    found = cross_validate(Ridge(), X, Y, scoring=scoring, cv=folds, params=given, error_score="raise")
    for fold, (train, test) in enumerate(folds.split(X, Y, QID)):
        scores = Ridge().fit(X[train], Y[train]).predict(X[test])
        for name in scoring:
            assert found[f"test_{name}"][fold] == ours.score(Y[test], scores, qid=QID[test], measure=name)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10]}, scoring=scoring["AP"], cv=folds, error_score="raise")
    assert 0 < search.fit(X, Y, qid=QID, groups=QID).best_score_ <= 1


def test_without_routing_the_scorer_says_what_to_call():
    with pytest.raises(gradely.DataError, match=r"sklearn\.set_config\(enable_metadata_routing=True\) before"):
        ours.scorer("nDCG@10")


def test_without_qid_the_score_says_what_to_give(routing):
    with pytest.raises(gradely.DataError, match="flat arrays need qid"):
        ours.score(Y, X[:, 0])
    with pytest.raises(gradely.DataError, match="params="):
        cross_val_score(Ridge(), X, Y, scoring=ours.scorer("AP"), error_score="raise")


class Groups(BaseEstimator):
    """A ranker that takes sizes of groups and remembers what it was given."""

    def fit(self, X, y, group=None):
        self.given_ = (X, y, group)
        return self

    def predict(self, X):
        return X[:, 0]


def test_the_ranker_is_given_groups_that_fit_its_documents(routing):
    order = RNG.permutation(480)
    fitted = ours.QidRanker(Groups()).fit(X[order], Y[order], qid=QID[order])
    rows, labels, sizes = fitted.ranker_.given_
    assert sizes.tolist() == [12] * 40 and sorted(map(tuple, rows[:12])) == sorted(map(tuple, X[:12]))
    assert sorted(labels[:12]) == sorted(Y[:12])
    with pytest.raises(gradely.DataError, match="fit needs qid"):
        ours.QidRanker(Groups()).fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_lgbmranker_in_cross_validation(routing):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed: make test-tools")
    ranker = ours.QidRanker(lightgbm.LGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1))
    found = cross_val_score(
        ranker,
        X,
        Y.astype(int),
        scoring=ours.scorer("nDCG@5"),
        cv=GroupKFold(3),
        params={"qid": QID, "groups": QID},
        error_score="raise",
    )
    noise = ours.score(Y, RNG.normal(size=480), qid=QID, measure="nDCG@5")
    assert len(found) == 3 and found.mean() > noise


@needs("lightgbm-lambdarank")
@pytest.mark.filterwarnings("ignore")
def test_on_real_data_a_fold_has_the_value_of_evaluate(routing):
    """LightGBM's own example of ranking, with real judgments in five grades."""
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed: make test-tools")
    from sklearn.datasets import load_svmlight_file

    rows, labels = load_svmlight_file(str(DATA / "lightgbm-lambdarank" / "rank.train.gz"))
    sizes = np.loadtxt(DATA / "lightgbm-lambdarank" / "rank.train.query", dtype=int)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    ranker = ours.QidRanker(lightgbm.LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1))
    folds, scoring = GroupKFold(3), {name: ours.scorer(name) for name in ("nDCG@10", "AP", "muAP")}
    given = {"qid": qid, "groups": qid}
    found = cross_validate(
        ranker, rows, labels, scoring=scoring, cv=folds, params=given, return_estimator=True, error_score="raise"
    )
    for fold, (_, test) in enumerate(folds.split(rows, labels, qid)):
        qrels, run = {}, {}
        for i, number in zip(test, found["estimator"][fold].predict(rows[test]), strict=True):
            qrels.setdefault(str(qid[i]), {})[str(i)] = labels[i]
            run.setdefault(str(qid[i]), {})[str(i)] = number
        wanted = gradely.evaluate(qrels, run, list(scoring)).mean()
        for name in scoring:
            assert found[f"test_{name}"][fold] == pytest.approx(wanted[name], abs=1e-15)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 4, 60)
        y = np.where(rng.random(60) < 0.5, x, rng.integers(0, 4, 60))
        judged = {
            name: {f"q{q}": {f"d{d}": int(of[6 * q + d]) for d in range(6)} for q in range(10)}
            for name, of in (("x", x), ("y", y))
        }
        expected = cohen_kappa_score(x, y, weights=weights, labels=[0, 1, 2, 3])
        assert np.isclose(gradely.judges(judged).kappa("x", "y", weights=weights), expected)
