"""The layout of RePlay, query_id, item_id, rating and timestamp, in pandas and polars: its values are ours."""

import numpy as np
import pytest

import gradely
from tests.tools.tool import tool

tool("replay")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_its_values_are_ours(library):
    import pandas as pd
    import polars as pl
    from replay.metrics import MRR, NDCG, Precision, Recall

    rng = np.random.default_rng(0)

    def frame(rows, **more):
        ids = {"query_id": rng.integers(1, 30, rows), "item_id": rng.integers(100, 160, rows)}
        unique = pd.DataFrame(ids | more).drop_duplicates(["query_id", "item_id"])
        return pl.from_pandas(unique) if library == "polars" else unique

    truth = frame(600, timestamp=np.arange(600))
    lists = frame(900, rating=rng.random(900))
    theirs = [next(iter(metric(10)(lists, truth).values())) for metric in (NDCG, MRR, Precision, Recall)]
    scores = gradely.evaluate(truth, lists, ["nDCG@10", "RR@10", "P@10", "R@10"])
    assert list(scores.mean().values()) == pytest.approx(theirs, abs=1e-12)
    assert "no label column" in scores.notes[0].text
