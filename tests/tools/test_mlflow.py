"""The names that flat() gives, in MLflow as it logs to a folder."""

import gradely
from tests.cases import CASES
from tests.tools.tool import tool

mlflow = tool("mlflow")
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
RUNS = {"bm25": {"q1": {"a": 0.5, "b": 0.5, "c": 0.1}}, "../<script>.run": {"q2": ["x", "a"]}}


def test_every_name_of_every_measure_is_taken_and_read_back(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions would rather have a database
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    measures = [case.measure for case in CASES if case.measure.takes_expected]
    results = gradely.evaluate_runs(QRELS, RUNS, measures)
    flat = results.flat() | results["bm25"].flat("one/")
    with mlflow.start_run() as run:
        mlflow.log_metrics(flat)
    assert mlflow.get_run(run.info.run_id).data.metrics == flat
