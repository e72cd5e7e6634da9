"""Files of LETOR: labels, queries, names and features of documents."""

import gzip

import numpy as np
import pytest

from gradely import InputError
from gradely_papers.letor import read_letor


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))


def test_files_have_as_many_features_as_the_highest_number_in_any(tmp_path):
    write(tmp_path, a="1 qid:7 1:0.5 3:NULL # docid = x\n\n0 qid:7 2:4\n2 qid:8 1:1\n", b="0 qid:9 1:1\n")
    first, second = read_letor(tmp_path, ["a.txt", "b.txt"])
    assert first.queries == ["7", "7", "8"] and first.sizes().tolist() == [2, 1] and first.names == ["x", "3", "4"]
    assert first.labels.tolist() == [1, 0, 2] and second.sizes().tolist() == [1]
    np.testing.assert_array_equal(first.features, [[0.5, 0, np.nan], [0, 4, 0], [1, 0, 0]])
    assert second.features.tolist() == [[1, 0, 0]]


def test_sizes_of_queries_may_be_in_a_file_beside(tmp_path):
    (tmp_path / "rank.train").write_text("1 1:0.5\n0 1:4\n2 1:1\n")
    (tmp_path / "rank.train.query").write_text("2\n1\n")
    (documents,) = read_letor(tmp_path, ["rank.train"])
    assert documents.sizes().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 qid:7 1=0.5", r"a.txt.gz:1: expected label qid:Q .*, found '1 qid:7 1=0.5'"),
        ("x qid:7 1:0.5", "a.txt.gz:1: expected label"),
        ("1 qid:7 1:0.5:3", "a.txt.gz:1: expected label"),
        ("nan qid:7 1:0.5", "a.txt.gz:1: expected a finite label"),
        ("1 qid:7 0:0.5", "features numbered from 1"),
        ("1 qid:7 1:2 # docid = x\n0 qid:7 1:2 # docid = x", "a.txt.gz:2: duplicate document x of query 7"),
    ],
)
def test_what_is_no_letor_is_named_by_its_line(tmp_path, line, said):
    write(tmp_path, a=f"{line}\n")
    with pytest.raises(InputError, match=said):
        read_letor(tmp_path, ["a.txt"])
    with pytest.raises(InputError, match=r"no c.txt in it"):
        read_letor(tmp_path, ["c.txt"])
