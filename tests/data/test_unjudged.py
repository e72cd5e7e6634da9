"""Queries of a run without judgments: the same notes and values however a run is read, and few names in memory."""

from contextlib import nullcontext
from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest

import gradely
from gradely.data import locate, open_run, read_qrels
from gradely.settings import Settings
from tests import ways

QRELS = {f"q{i}": {"d1": 1, "d2": 0} for i in range(4)} | {"left": {"d1": 1}, "gone": {"d1": 1}}
WEIGHTS = {query: float(query not in ("left", "gone")) for query in QRELS}


def rows(scattered):
    """Return three lines of judged queries, of one with weight 0 and of 200 without judgments."""
    queries = [f"q{i}" for i in range(3)] + ["left"] + [f"u{i}" for i in range(200)]
    return (
        [(q, f"d{r}", 3 - r) for r in range(3) for q in queries]
        if scattered
        else [(q, f"d{r}", 3 - r) for q in queries for r in range(3)]
    )


@pytest.fixture(params=["in memory", "temporary file"])
def sizes(request, monkeypatch):
    """Small pieces, with little room in memory or enough."""
    monkeypatch.setattr("gradely.data.table.ROWS", 50)
    return {"piece": 900, "in_memory": 64 if request.param == "temporary file" else 1 << 16}


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("hashes", [nullcontext, ways.weak_hashes])
@pytest.mark.parametrize(
    "policy", [{}, {"queries": "both"}, {"queries": "run"}, {"queries": "run", "empty": "skip"}], ids=str
)
def test_notes_and_values_are_those_of_a_dict(tmp_path, sizes, scattered, hashes, policy):
    table = rows(scattered)
    (tmp_path / "run").write_text("".join(f"{q} Q0 {doc} 1 {score} t\n" for q, doc, score in table))
    whole = {}
    for query, doc, score in table:
        whole.setdefault(query, {})[doc] = float(score)
    weights = {} if policy.get("queries") == "run" else {"weights": WEIGHTS}
    expected = gradely.evaluate(QRELS, whole, ["RR", "nDCG"], **policy, **weights)
    assert "200 of 20" in str(expected.notes)
    frame = pd.DataFrame(table, columns=["query", "document", "score"])
    for run, merged in product((tmp_path / "run", frame), ({}, {"duplicates": "max"})):
        with hashes(), ways.fast(**sizes):
            scores = gradely.evaluate(QRELS, run, ["RR", "nDCG"], **policy, **weights, **merged, threads=2)
        assert scores.per_query() == expected.per_query()
        assert [note.text for note in scores.notes] == [note.text for note in expected.notes]
        assert list(scores.queries) == list(expected.queries)


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize(("policy", "kept"), [("qrels", 50), ("both", 50), ("run", 201)])
def test_no_more_names_are_kept_than_needed(tmp_path, monkeypatch, sizes, scattered, policy, kept):
    monkeypatch.setattr(import_module("gradely.data.locate.parts"), "EXAMPLES", 50)
    (tmp_path / "run").write_text("".join(f"{q} Q0 {doc} 1 {score} t\n" for q, doc, score in rows(scattered)))
    qrels = read_qrels({query: labels for query, labels in QRELS.items() if query != "left"})
    with ways.fast(**sizes):
        hits = locate(qrels, open_run(tmp_path / "run"), Settings(queries=policy), 1)
    assert (hits.unjudged.size, len(hits.unjudged.names)) == (201, kept)
    assert list(hits.unjudged.names) == ["left", *(f"u{i}" for i in range(200))][:kept]


def test_a_run_of_queries_that_were_left_out_is_refused():
    with pytest.raises(gradely.DataError, match="have no query in common that counts: those of the run were left out"):
        gradely.evaluate(QRELS, {"left": {"d1": 1.0}}, ["RR"], weights=WEIGHTS)


def test_runs_of_other_queries_share_those_that_all_have(tmp_path):
    runs = {"a": {"q0": {"d1": 1.0}, "x": {"d": 1.0}, "y": {"d": 1.0}}, "b": {"q0": {"d2": 1.0}, "y": {"d": 1.0}}}
    found = gradely.compare(QRELS, runs, ["RR"], queries="run", correction="none")
    assert found.board.common["a"].per_query().keys() == {"q0", "y"}
    assert np.isclose(found.board.common["a"]["RR"], 0.5)
