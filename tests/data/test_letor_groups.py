"""SVMlight files with a file of group sizes beside them, as LightGBM and XGBoost have them."""

import pytest

import gradely
from gradely import InputError

LINES = ["2 1:0.1 3:9", "0 1:0.9", "1 1:0.5", "", "0 1:0.2", "1 1:0.4"]
QIDS = [1, 1, 1, None, 2, 2]


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "rank.train"
    path.write_text("\n".join(LINES))
    return path


@pytest.mark.parametrize("ending", ["rank.train.query", "rank.train.group", "rank.query", "rank.group"])
@pytest.mark.parametrize("sizes", ["3\n2\n", "3 2"])
def test_sizes_beside_a_file_are_its_queries(train, tmp_path, ending, sizes):
    (tmp_path / ending).write_text(sizes)
    named = [f"{line[0]} qid:{qid} {line[2:]}" for line, qid in zip(LINES, QIDS, strict=True) if line]
    (tmp_path / "named").write_text("\n".join([*named[:3], "", *named[3:]]))
    qrels = gradely.read_qrels(train, format="letor")
    expected = gradely.read_qrels(tmp_path / "named")
    assert [qrels.labels(query) for query in ("1", "2")] == [expected.labels(query) for query in ("1", "2")]
    run, same = (gradely.read_run(path, format="letor", feature=1) for path in (train, tmp_path / "named"))
    assert run.scores == same.scores
    assert gradely.evaluate(qrels, run, ["RR"]).mean() == {"RR": (1 / 2 + 1) / 2}


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ("3\n1\n", "has sizes for 4 lines only"),
        ("3\n3\n", "add up to more lines than"),
        ("3\nx\n", "group:2: expected the size of a group"),
        ("-3\n", "expected the size of a group"),
        ("3\n100000000000000\n", "add up to more lines than"),
        ("3\n1000000000000000\n", "expected the size of a group"),
    ],
)
def test_sizes_that_do_not_fit_are_explained(train, tmp_path, sizes, says):
    (tmp_path / "rank.train.group").write_text(sizes)
    with pytest.raises(InputError, match=says):
        gradely.read_qrels(train, format="letor")


def test_without_sizes_it_says_what_to_add(train):
    with pytest.raises(InputError, match=r"write the query of each line into it, or the sizes .*rank\.train\.query"):
        gradely.read_qrels(train, format="letor")


def test_a_file_that_names_its_queries_needs_no_sizes(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:7 1:0.5\n")
    (tmp_path / "a.txt.group").write_text("100\n")
    assert gradely.read_qrels(tmp_path / "a.txt").labels("7") == {"1": 1.0}


def test_a_query_none_of_whose_documents_has_the_feature_is_answered_with_nothing(tmp_path):
    (tmp_path / "train").write_text("1 qid:1 1:0.5\n1 qid:2 1:NULL\n0 qid:2 1:NULL\n")
    run = gradely.read_run(tmp_path / "train", feature=1)
    assert run.scores == {"1": {"1": 0.5}, "2": {}}
    for queries in ("qrels", "run", "both"):
        assert gradely.evaluate(tmp_path / "train", run, ["RR"], queries=queries).mean() == {"RR": 0.5}
