"""The experiment of learning by every measure, in small: a few trees, two orders of rows, two sets."""

import numpy as np
import pytest

from gradely.errors import InputError
from gradely_papers.experiment import Library
from gradely_papers.ferrante2014 import learning, learning_data
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

for name in ("lightgbm", "xgboost", "altair"):
    tool(name)


@needs("lightgbm-lambdarank")
def test_it_gives_the_matrix_the_tests_and_the_spread(monkeypatch):
    sets = ("LightGBM's example", "news")
    for module in (learning, learning_data):
        monkeypatch.setattr(module, "SETS", sets)
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
    gains = [each for each in outcome.observations if each.question.startswith("By how much")]
    assert len(gains) == 8 and "news" not in gains[2].answer and "news, XGBoost's rank:ndcg: " in gains[4].answer


@needs("letor2-ohsumed")
def test_each_query_is_measured_once_and_never_learned_from():
    names = [path.name for path in sorted((DATA / "letor2-ohsumed").glob("S*.txt*"))]
    parts = [learning_data.read_part(DATA / "letor2-ohsumed" / name) for name in names]
    folds = learning_data.folds("OHSUMED", Library(DATA))
    for i, fold in enumerate(folds):
        np.testing.assert_array_equal(fold.test.labels, parts[i].labels)
        np.testing.assert_array_equal(fold.validation.labels, parts[i - 1].labels)
        train = [parts[(i + step) % 5].labels for step in (1, 2, 3)]
        np.testing.assert_array_equal(fold.train.labels, np.concatenate(train))


def test_validation_chooses_the_number_of_trees():
    part = learning_data.Part(np.zeros((3, 1)), np.array([2.0, 1.0, 0.0]), np.array([3]))

    def model(features, trees):
        return np.array([0.0, 1.0, 2.0]) * (10 - trees)

    kinds = learning.kinds_of([learning_data.Fold(part, part)])
    assert learning.choose_trees(model, "eGAP, small g_1", kinds, part) == 15
    assert learning.choose_trees(model, "eGAP", kinds, None) == learning.ROUNDS


def test_lines_are_read_with_or_without_queries(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("1 qid:7 1:0.5 3:NULL # doc\n0 qid:7 2:4\n2 qid:8 1:1\n")
    part = learning_data.read_part(path)
    assert part.sizes.tolist() == [2, 1] and part.labels.tolist() == [1, 0, 2]
    np.testing.assert_array_equal(part.features, [[0.5, 0, np.nan], [0, 4, 0], [1, 0, 0]])
    path.write_text("1 qid:7 1=0.5\n")
    with pytest.raises(InputError, match=r"some.txt:1: expected"):
        learning_data.read_part(path)
