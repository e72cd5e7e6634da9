"""The experiment of learning by every measure, in small: a few trees, two orders of rows, two sets."""

import numpy as np
import pytest

from gradely.errors import InputError
from gradely.papers.ferrante2014 import learning, learning_data, learning_models
from gradely.papers.library import Library
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

for name in ("lightgbm", "xgboost", "altair"):
    tool(name)


@needs("lightgbm-lambdarank")
def test_it_gives_the_matrix_the_tests_and_the_spread(monkeypatch):
    sets = ("LightGBM's example", "news")
    for module in (learning, learning_data):
        monkeypatch.setattr(module, "SETS", sets)
    monkeypatch.setattr(learning_models, "ROUNDS", 3)
    monkeypatch.setattr(learning, "ORDERS", 2)
    outcome = learning.run(Library(DATA), 0, lambda done: None)
    rows = outcome.sheets["matrix"].table.rows
    assert len(rows) == 9 + 7 and all(0 < value <= 1 for row in rows for value in row[2:])
    assert len(outcome.sheets["tests"].table.rows) == (8 + 6) * len(learning.MEASURED)
    moved = {tuple(row[:2]): row[2] for row in outcome.sheets["orders"].table.rows}
    assert moved[sets[0], "eGAP"] < 1e-9 < 1e-3 < moved[sets[0], learning.LIGHTGBM]
    assert len(outcome.observations) == 4


def test_lines_are_read_with_or_without_queries(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("1 qid:7 1:0.5 3:NULL # doc\n0 qid:7 2:4\n2 qid:8 1:1\n")
    part = learning_data.read_part(path)
    assert part.sizes.tolist() == [2, 1] and part.labels.tolist() == [1, 0, 2]
    np.testing.assert_array_equal(part.features, [[0.5, 0, np.nan], [0, 4, 0], [1, 0, 0]])
    path.write_text("1 qid:7 1=0.5\n")
    with pytest.raises(InputError, match=r"some.txt:1: expected"):
        learning_data.read_part(path)
