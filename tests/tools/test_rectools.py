"""The frames of RecTools: made in its environment, since it wants an older NumPy than gradely."""

import json
import subprocess

import pandas as pd
import pytest

import gradely
from tests.tools.test_documents import RECTOOLS

MAKE = """
import json, sys
import numpy as np, pandas as pd
from rectools import Columns, metrics
from rectools.dataset import Dataset
from rectools.models import PopularModel

rng = np.random.default_rng(0)
frame = pd.DataFrame({Columns.User: rng.integers(1, 30, 600), Columns.Item: rng.integers(100, 160, 600)})
frame[Columns.Weight], frame[Columns.Datetime] = rng.integers(1, 6, 600), pd.Timestamp("2026-01-01")
frame = frame.drop_duplicates([Columns.User, Columns.Item])
held_out = frame.sample(frac=0.3, random_state=1)
dataset = Dataset.construct(frame.drop(held_out.index))
lists = PopularModel().fit(dataset).recommend(dataset.user_id_map.external_ids, dataset, 20, filter_viewed=True)
held_out = held_out[held_out[Columns.User].isin(lists[Columns.User])]
held_out.to_csv(sys.argv[1] + "/truth.csv", index=False)
lists.to_csv(sys.argv[1] + "/lists.csv", index=False)
theirs = {"RR@10": metrics.MRR(k=10), "P@10": metrics.Precision(k=10), "R@10": metrics.Recall(k=10)}
theirs["AP@10"] = metrics.MAP(k=10)
print(json.dumps({name: metric.calc(lists, held_out) for name, metric in theirs.items()}))
"""


@pytest.mark.skipif(not RECTOOLS.exists(), reason="RecTools is not installed: make test-tools")
def test_its_values_are_ours(tmp_path):
    done = subprocess.run([RECTOOLS, "-c", MAKE, str(tmp_path)], check=True, capture_output=True, text=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    truth, lists = pd.read_csv(tmp_path / "truth.csv"), pd.read_csv(tmp_path / "lists.csv")
    assert list(truth.columns) == ["user_id", "item_id", "weight", "datetime"]
    assert list(lists.columns) == ["user_id", "item_id", "score", "rank"]
    for qrels, run in ((truth, lists), (tmp_path / "truth.csv", tmp_path / "lists.csv")):
        ours = gradely.evaluate(qrels, run, list(theirs), ties="order").mean()
        assert ours == pytest.approx(theirs, abs=1e-12)
