"""The experiment of learning by every measure, in small: a few trees, two orders of rows, two sets."""

import numpy as np
import pytest

from gradely.errors import InputError
from gradely_papers.experiment import Library
from gradely_papers.ferrante2014 import learning
from gradely_papers.letor import OHSUMED, PARTITIONS, read_letor
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

for name in ("lightgbm", "xgboost", "altair"):
    tool(name)


@needs("lightgbm-lambdarank")
def test_it_gives_the_matrix_the_tests_and_the_spread(monkeypatch):
    sets = ("LightGBM's example", "news")
    monkeypatch.setattr(learning, "SETS", sets)
    monkeypatch.setattr(learning, "ROUNDS", 3)
    monkeypatch.setattr(learning, "SEEDS", 1)
    outcome = learning.run(Library(DATA), 0, lambda done: None)
    rows = outcome.sheets["matrix"].table.rows
    assert len(rows) == 11 + 8 and all(0 < value <= 1 for row in rows for value in row[2:] if value is not None)
    assert all((None in row) == (row[0] == "news") for row in rows)
    tests = outcome.sheets["tests"].table.rows
    assert len(tests) == 10 * len(learning.COLUMNS) + 7 * len(learning.MEASURES)
    assert {(row[0], row[2]) for row in tests} == set(zip(sets, (learning.LIGHTGBM, learning.XGBOOST), strict=True))
    shift = {tuple(row[:2]): row[3] for row in outcome.sheets["spread"].table.rows if row[2] == "orders"}
    assert shift[sets[0], "eGAP"] < 1e-9 < 1e-3 < shift[sets[0], learning.LIGHTGBM]
    gains = [each for each in outcome.observations if each.question.startswith("How much higher")]
    assert len(gains) == 8 and "news" not in gains[2].answer and "news, XGBoost's rank:ndcg: " in gains[4].answer


@needs(OHSUMED)
def test_each_query_is_measured_once_and_never_learned_from():
    parts = read_letor(DATA / OHSUMED, PARTITIONS)
    folds = learning.folds("OHSUMED", Library(DATA))
    for i, fold in enumerate(folds):
        np.testing.assert_array_equal(fold.test.labels, parts[i].labels)
        np.testing.assert_array_equal(fold.validation.labels, parts[i - 1].labels)
        train = [parts[(i + step) % 5].labels for step in (1, 2, 3)]
        np.testing.assert_array_equal(fold.train.labels, np.concatenate(train))


def test_validation_chooses_the_number_of_trees():
    part = learning.Part(np.zeros((3, 1)), np.array([2.0, 1.0, 0.0]), np.array([3]))

    def model(features, trees):
        return np.array([0.0, 1.0, 2.0]) * (10 - trees)

    kinds = learning.kinds_of([learning.Fold(part, part)])
    assert learning.choose_trees(model, "eGAP, small g_1", kinds, part) == 15
    assert learning.choose_trees(model, "eGAP", kinds, None) == learning.ROUNDS


def test_sets_that_are_too_small_are_named(tmp_path, monkeypatch):
    (tmp_path / learning.EXAMPLE).mkdir()
    for name in ("train", "test"):
        (tmp_path / learning.EXAMPLE / f"rank.{name}.gz").write_text("1 qid:7 1:0.5\n0 qid:7 1:4\n")
    monkeypatch.setattr(learning, "SETS", ("LightGBM's example",))
    with pytest.raises(InputError, match=r"LightGBM's example: LightGBM does not learn from 2 documents"):
        learning.run(Library(tmp_path), 0, lambda done: None)
