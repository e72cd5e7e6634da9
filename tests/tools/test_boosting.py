"""Gradient boosting with measures as metrics and objectives, in the libraries themselves."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import gradely
from gradely.adapters import catboost as for_catboost
from gradely.adapters import lightgbm as for_lightgbm
from gradely.adapters import xgboost as for_xgboost
from tests.tools.tool import tool

rng = np.random.default_rng(3)
SIZES = rng.integers(5, 40, 60)
ROWS = int(SIZES.sum())
QID = np.repeat(np.arange(60), SIZES)
X = rng.standard_normal((ROWS, 6))
Y = np.clip(np.round(X[:, 0] + X[:, 1] + rng.standard_normal(ROWS)), 0, 3)
MEASURES = ["nDCG@10", "eGAP", "AP"]
LIGHTGBM = {"verbosity": -1, "num_threads": 1, "metric": "None", "learning_rate": 0.3, "deterministic": True}
XGBOOST = {"nthread": 1, "min_child_weight": 1e-3, "eta": 0.3, "disable_default_eval_metric": True}


def values(scores, sizes=SIZES, labels=Y):
    """Return the means by evaluate_arrays, one query at a time with its users and levels from all."""
    out = {}
    levels = np.unique(labels[labels > 0])
    for name in MEASURES:
        measure = gradely.parse(name).fit(lambda: levels)
        ends = np.cumsum(sizes)
        parts = [
            gradely.evaluate_arrays(scores[None, e - n : e], labels[None, e - n : e], [measure])
            for n, e in zip(sizes, ends, strict=True)
        ]
        out[name] = np.mean([next(iter(part.values()))[0] for part in parts])
    return out


def moved(train, predict):
    """Return how far predictions move when the rows of each query come in another order."""
    order = np.lexsort((rng.random(ROWS), QID))
    return np.abs(predict(train(X, Y))[order] - predict(train(X[order], Y[order]), X[order])).max()


def elsewhere(model, folder, x, expected):
    """Save a model with joblib; read it in another process, and predict the same."""
    joblib = tool("joblib")
    joblib.dump((model, x, expected), folder / "model.joblib")
    code = "import joblib, sys; m, x, y = joblib.load(sys.argv[1]); assert (m.predict(x) == y).all(); print('same')"
    done = subprocess.run(
        [sys.executable, "-c", code, folder / "model.joblib"], capture_output=True, text=True, check=False
    )
    assert done.stdout == "same\n", done.stderr


class TestLightGBM:
    lgb = tool("lightgbm")

    def train(self, x, y, objective, rounds=5, **options):
        data = self.lgb.Dataset(x, y, group=SIZES)
        return self.lgb.train(LIGHTGBM | {"objective": objective}, data, rounds, **options)

    def test_metrics_are_the_means_of_evaluate_arrays(self):
        record = {}
        data = self.lgb.Dataset(X, Y, group=SIZES)
        model = self.lgb.train(
            LIGHTGBM | {"objective": "lambdarank"}, data, 5, valid_sets=[data], feval=for_lightgbm.metric(*MEASURES),
            callbacks=[self.lgb.record_evaluation(record)],
        )  # fmt: skip
        for name, value in values(model.predict(X)).items():
            assert record["training"][name][-1] == pytest.approx(value, abs=1e-12)

    @pytest.mark.parametrize("name", ["nDCG", "eGAP", "xGAP", "muAP"])
    def test_the_order_of_rows_changes_nothing(self, name):
        ours = moved(lambda x, y: self.train(x, y, for_lightgbm.objective(name)), lambda m, x=X: m.predict(x))
        theirs = moved(lambda x, y: self.train(x, y, "lambdarank"), lambda m, x=X: m.predict(x))
        assert ours < 1e-9 < 1e-3 < theirs

    def test_train_and_ranker_learn_the_same_and_stop_early(self, tmp_path):
        data, valid = (self.lgb.Dataset(X, Y, group=SIZES) for _ in range(2))
        stop = self.lgb.early_stopping(3, verbose=False)
        model = self.lgb.train(
            LIGHTGBM | {"objective": for_lightgbm.objective("eGAP"), "min_data_in_leaf": 20}, data, 200,
            valid_sets=[valid], feval=for_lightgbm.metric("eGAP"), callbacks=[stop],
        )  # fmt: skip
        assert 0 < model.best_iteration < 200
        assert values(model.predict(X))["eGAP"] > values(rng.random(ROWS))["eGAP"] + 0.2
        ranker = self.lgb.LGBMRanker(
            objective=for_lightgbm.objective("eGAP"), n_estimators=model.best_iteration, learning_rate=0.3,
            min_child_samples=20, n_jobs=1, verbose=-1, deterministic=True,
        )  # fmt: skip
        ranker.fit(X, Y, group=SIZES, eval_set=[(X, Y)], eval_group=[SIZES], eval_metric=for_lightgbm.metric("AP"))
        np.testing.assert_allclose(ranker.predict(X), model.predict(X, num_iteration=model.best_iteration), atol=1e-9)
        assert next(iter(ranker.evals_result_.values()))["AP"][-1] == pytest.approx(
            values(ranker.predict(X))["AP"], abs=1e-12
        )
        model.save_model(tmp_path / "model.txt")
        again = self.lgb.Booster(model_file=tmp_path / "model.txt")
        np.testing.assert_allclose(again.predict(X), model.predict(X, num_iteration=model.best_iteration))

    def test_a_fitted_ranker_is_pickled_and_read_in_another_process(self, tmp_path):
        ranker = self.lgb.LGBMRanker(
            objective=for_lightgbm.objective("eGAP"), n_estimators=5, n_jobs=1, verbose=-1, deterministic=True
        )
        ranker.fit(X, Y, group=SIZES, eval_set=[(X, Y)], eval_group=[SIZES], eval_metric=for_lightgbm.metric("AP"))
        assert len(pickle.dumps(ranker)) < 100_000  # without what the objective keeps of the training data
        elsewhere(ranker, tmp_path, X, ranker.predict(X))

    def test_a_saved_model_is_trained_further(self, tmp_path):
        whole = self.train(X, Y, for_lightgbm.objective("eGAP"), rounds=6)
        self.train(X, Y, for_lightgbm.objective("eGAP"), rounds=3).save_model(tmp_path / "model.txt")
        more = self.train(X, Y, for_lightgbm.objective("eGAP"), rounds=3, init_model=tmp_path / "model.txt")
        assert more.num_trees() == whole.num_trees() == 6
        np.testing.assert_allclose(more.predict(X), whole.predict(X), rtol=0, atol=1e-6)

    def test_its_own_ndcg_has_exponential_gain(self):
        """And theirs is ours then, once no scores tie."""
        record, data = {}, self.lgb.Dataset(X[:, 2:] + 0.3 * X[:, :4], Y, group=SIZES)
        exp, linear = "nDCG(gain='exp')@10", "nDCG@10"
        self.lgb.train(
            LIGHTGBM | {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10]}, data, 10, valid_sets=[data],
            feval=for_lightgbm.metric(exp, linear), callbacks=[self.lgb.record_evaluation(record)],
        )  # fmt: skip
        theirs, *ours = (record["training"][name][-1] for name in ("ndcg@10", exp, linear))
        assert ours[0] == pytest.approx(theirs, abs=1e-12) and abs(ours[1] - theirs) > 0.01

    def test_data_without_queries_is_refused(self):
        with pytest.raises(gradely.DataError, match="group=sizes"):
            for_lightgbm.metric("AP")(Y, X[:, 0])


class TestXGBoost:
    xgb = tool("xgboost")

    def train(self, x, y, rounds=5, **options):
        return self.xgb.train(XGBOOST, self.xgb.DMatrix(x, y, qid=QID), rounds, **options)

    @pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
    def test_metrics_are_the_means_of_evaluate_arrays(self, kind):
        data, record = getattr(self.xgb, kind)(X, Y, qid=QID), {}
        model = self.xgb.train(
            XGBOOST, data, 5, obj=for_xgboost.objective("AP"), custom_metric=for_xgboost.metric("eGAP"),
            evals=[(data, "all")], evals_result=record, verbose_eval=False,
        )  # fmt: skip
        value = values(model.predict(self.xgb.DMatrix(X), output_margin=True).astype(float))["eGAP"]
        assert record["all"]["eGAP"][-1] == pytest.approx(value, abs=1e-6)  # XGBoost prints six decimals

    @pytest.mark.parametrize("name", ["nDCG", "eGAP"])
    def test_the_order_of_rows_changes_nothing(self, name):
        ours = moved(
            lambda x, y: self.train(x, y, obj=for_xgboost.objective(name)),
            lambda m, x=X: m.predict(self.xgb.DMatrix(x), output_margin=True),
        )
        assert ours < 1e-5

    def test_it_learns_saves_and_stops_early(self, tmp_path):
        data = self.xgb.DMatrix(X, Y, qid=QID)
        stop = self.xgb.callback.EarlyStopping(3, maximize=True, metric_name="eGAP", data_name="all", save_best=True)
        model = self.train(
            X, Y, 200, obj=for_xgboost.objective("eGAP"), custom_metric=for_xgboost.metric("eGAP"),
            evals=[(data, "all")], callbacks=[stop], verbose_eval=False,
        )  # fmt: skip
        model.save_model(tmp_path / "model.json")
        again = self.xgb.Booster(model_file=tmp_path / "model.json")
        scores = again.predict(data, output_margin=True).astype(float)
        assert values(scores)["eGAP"] > values(rng.random(ROWS))["eGAP"] + 0.2

    def test_objective_and_metric_are_pickled_with_a_model(self, tmp_path):
        made, data = (for_xgboost.objective("eGAP"), for_xgboost.metric("eGAP")), self.xgb.DMatrix(X, Y, qid=QID)
        first = self.train(X, Y, 3, obj=made[0])
        objective, metric, model = pickle.loads(pickle.dumps((*made, first)))
        assert metric(model.predict(data, output_margin=True), data) == made[1](
            first.predict(data, output_margin=True), data
        )
        first.save_model(tmp_path / "model.json")
        more = self.train(X, Y, 3, obj=objective, xgb_model=tmp_path / "model.json")
        whole = self.train(X, Y, 6, obj=made[0])
        assert more.num_boosted_rounds() == 6
        np.testing.assert_allclose(*(m.predict(data, output_margin=True) for m in (more, whole)), rtol=0, atol=1e-4)

    def test_data_without_queries_is_refused(self):
        with pytest.raises(gradely.DataError, match="qid=ids"):
            for_xgboost.metric("AP")(X[:, 0], self.xgb.DMatrix(X, Y))


class TestCatBoost:
    cat = tool("catboost")

    def test_the_metric_is_the_mean_of_evaluate_arrays(self):
        metric = for_catboost.metric("eGAP", QID)
        model = self.cat.CatBoostRanker(
            iterations=5, loss_function="YetiRank", eval_metric=metric, verbose=False, thread_count=1,
            allow_writing_files=False,
        )  # fmt: skip
        model.fit(X, Y, group_id=QID, eval_set=self.cat.Pool(X, Y, group_id=QID))
        found = model.get_evals_result()["validation"]["GroupedMetric"][-1]
        assert found == pytest.approx(values(model.predict(X))["eGAP"], abs=1e-9)

    def test_rows_without_ids_are_refused(self):
        with pytest.raises(gradely.DataError, match="a data set of 3 rows, only for 2"):
            for_catboost.metric("AP", [1, 1]).evaluate([[1, 2, 3]], [0, 1, 0], None)
        with pytest.raises(gradely.DataError, match="cannot be told apart"):
            for_catboost.metric("AP", [1, 1], [1, 2])
