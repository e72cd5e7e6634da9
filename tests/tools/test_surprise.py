"""The predictions of Surprise, named tuples of uid, iid, r_ui, est and details, as it makes them."""

import numpy as np

import gradely
from tests.tools.tool import tool

tool("surprise")


def test_predictions_are_judgments_and_run_at_once():
    import pandas as pd
    from surprise import Dataset, NormalPredictor, Reader
    from surprise.model_selection import train_test_split

    rng = np.random.default_rng(0)
    columns = {"user": rng.integers(1, 30, 600), "item": rng.integers(100, 160, 600)}
    ratings = pd.DataFrame(columns | {"rating": rng.integers(1, 6, 600)}).drop_duplicates(["user", "item"])
    data = Dataset.load_from_df(ratings, Reader(rating_scale=(1, 5)))
    train, test = train_test_split(data, test_size=0.3, random_state=1)
    predictions = NormalPredictor().fit(train).test(test)

    qrels: dict = {}
    run: dict = {}
    for prediction in predictions:
        qrels.setdefault(prediction.uid, {})[prediction.iid] = prediction.r_ui
        run.setdefault(prediction.uid, {})[prediction.iid] = prediction.est
    expected = gradely.evaluate(qrels, run, ["nDCG@10", "AP(rel=4)"]).per_query()
    assert gradely.evaluate(predictions, predictions, ["nDCG@10", "AP(rel=4)"]).per_query() == expected
    frame = pd.DataFrame(predictions)
    assert gradely.evaluate(frame, frame, ["nDCG@10", "AP(rel=4)"]).per_query() == expected
