"""The frames of LensKit, as it makes them."""

import numpy as np
import pytest

import gradely
from tests.tools.tool import tool

tool("lenskit")


@pytest.fixture(scope="module")
def recommendations():
    """Return recommendations of the most popular items, and the ratings that were held out."""
    import pandas as pd
    from lenskit.basic import PopScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, from_interactions_df
    from lenskit.pipeline import topn_pipeline

    rng = np.random.default_rng(0)
    columns = {"user_id": rng.integers(1, 30, 600), "item_id": rng.integers(100, 160, 600)}
    ratings = pd.DataFrame(columns | {"rating": rng.integers(1, 6, 600).astype(float)})
    ratings = ratings.drop_duplicates(["user_id", "item_id"])
    held_out = ratings.sample(frac=0.3, random_state=1)
    pipeline = topn_pipeline(PopScorer(), n=20)
    pipeline.train(from_interactions_df(ratings.drop(held_out.index)))
    lists = recommend(pipeline, held_out["user_id"].unique().tolist(), n=20, n_jobs=1)
    return lists, ItemListCollection.from_df(held_out, ["user_id"])


def test_its_values_are_ours(recommendations):
    from lenskit.metrics import Precision, Recall, RecipRank, RunAnalysis

    lists, truth = recommendations
    analysis = RunAnalysis()
    for metric in (RecipRank(n=20), Precision(n=10), Recall(n=10)):
        analysis.add_metric(metric)
    theirs = analysis.measure(lists, truth).list_summary()["mean"].tolist()
    scores = gradely.evaluate(truth.to_df(), lists.to_df(), ["RR@20", "P@10", "R@10"], ties="order")
    assert list(scores.mean().values()) == pytest.approx(theirs, abs=1e-6)  # theirs are in single precision


def test_users_stay_whole_numbers(recommendations):
    lists, truth = recommendations
    frame = gradely.evaluate(truth.to_df(), lists.to_df(), ["nDCG@10"]).to_frame()
    assert set(frame["query"]) == set(truth.to_df()["user_id"])
