"""Batches from arrays: what stands in their fields, in padding too, and which way is taken to it."""

import copy
import pickle
import re
from functools import partial

import array_api_strict as strict
import numpy as np
import pytest

import gradely
from gradely import DataError
from gradely.kernel import arrays as groups
from gradely.kernel import backend
from gradely.kernel.backend import divide, rank_rows, sum_rows
from gradely.kernel.batch import Levels, card, title
from gradely.kernel.fixed import fix_shapes
from gradely.kernel.parameters import Parametric, parameter

FIELDS = ("grade", "judged", "above", "tied", "first", "last", "pool", "pooled", "retrieved")
RNG = np.random.default_rng(8)


def same_fields(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS)


# Sums and quotients


def test_rows_without_cells_add_up_to_0():
    assert sum_rows(np.zeros((3, 0))).tolist() == [0.0] * 3
    assert sum_rows(np.zeros((0, 3))).tolist() == []
    assert sum_rows(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [3.0, 7.0]


@pytest.mark.parametrize("xp", [np, strict])
def test_a_quotient_is_never_minus_0(xp):
    values = divide(xp.asarray([-0.0, 1.0, 1.0]), xp.asarray([1.0, 2.0, 0.0]))
    assert [str(float(value)) for value in values] == ["0.0", "0.5", "0.0"]


# Batches


def test_ranks_are_as_many_as_places():
    batch = gradely.from_arrays([[0.9, 0.4, 0.4]], [[0, 2, 1]])
    assert batch.ranks.tolist() == [1.0, 2.0, 3.0] and batch.count_up(2).tolist() == [1.0, 2.0]


def test_the_top_holds_no_more_columns_than_twice_those_that_count():
    batch = gradely.from_arrays([[5, 5, 5, 4, 3, 2, 1, 0]], [[1, 0, 2, 1, 0, 1, 0, 1]])
    assert [batch.top(k).grade.shape[1] for k in (None, 1, 2, 3, 5, 8, 9)] == [8, 4, 4, 3, 5, 8, 8]
    assert batch.top(8) is batch.top(None) is batch


def test_padding_of_fixed_shapes_counts_nothing():
    scores, labels = np.array([[0.5, 0.9, 0.1], [0.2, 0.3, 0.4]]), np.array([[1, 2, 3], [3, -1, 2]])
    batch = fix_shapes(scores, labels, np.array([[True, True, False], [True, False, False]]), "expected")
    assert batch.grade.tolist() == [[2.0, 1.0, 0.0], [3.0, 0.0, 0.0]]
    assert batch.pool.tolist() == [[2.0, 1.0, 0.0], [3.0, 0.0, 0.0]]
    assert batch.pooled.tolist() == [[True, True, False], [True, False, False]]
    assert batch.by_place and not fix_shapes(scores, labels, None, "order").by_place


def test_keys_rise_where_the_highest_comes_first():
    keys, labels = np.array([[1.0, 3.0, 2.0, 3.0]]), np.array([[0, 1, 2, 3]])
    for stable, in_order in ((True, [[1, 3, 2, 0]]), (False, [[3, 1, 2, 0]])):
        rising, by_key, pool = rank_rows(keys, labels, stable=stable)
        assert by_key.tolist() == in_order and pool.tolist() == [[3, 2, 1, 0]]
        assert (np.diff(rising) >= 0).all() and rising[0, 0] == rising[0, 1]


@pytest.mark.parametrize("make", [gradely.from_arrays, gradely.from_groups])
def test_the_seed_is_0_unless_said(make):
    scores, labels = np.zeros(30), RNG.permutation(30)
    options = {} if make is gradely.from_arrays else {"group": [30]}
    said = [make(scores, labels, ties="random", **options, **seed) for seed in ({}, {"seed": 0}, {"seed": 1})]
    assert same_fields(said[0], said[1]) and not same_fields(said[0], said[2])


@pytest.mark.parametrize(
    "call",
    [
        lambda: gradely.from_groups([0.5], [1], group=[1], ties="trec"),
        lambda: gradely.from_arrays([[0.5]], [[1]], ties="trec"),
        lambda: gradely.evaluate_arrays([[0.5]], [[1]], ["RR"], ties="trec"),
        lambda: gradely.as_function("RR", ties="trec"),
    ],
)
def test_ties_by_name_are_refused_where_there_are_no_names(call):
    with pytest.raises(DataError, match="orders by document id, which arrays do not have"):
        call()


def test_unknown_policies_are_refused():
    with pytest.raises(DataError, match="use one of"):
        gradely.from_arrays([1], [1], ties="alphabetic")


# Groups


@pytest.mark.parametrize("scores", [np.arange(40) * 7 % 40, np.arange(40) * 7 % 40 // 2, np.zeros(40)])
@pytest.mark.parametrize("sizes", [[5] * 8, [3, 0, 12, 1, 20, 4], [39, 1]])
@pytest.mark.parametrize("ties", ["expected", "best", "order", "random"])
def test_batches_of_groups_are_the_same_made_a_few_rows_at_a_time(monkeypatch, scores, sizes, ties):
    labels = np.arange(40) % 3
    whole = gradely.from_groups(scores, labels, group=sizes, ties=ties)
    monkeypatch.setattr(groups, "rows_at_a_time", lambda width: 1)
    parts = gradely.from_groups(scores, labels, group=sizes, ties=ties)
    assert same_fields(whole, parts) and whole.ties == parts.ties
    assert whole.grade.shape == (len(sizes), max(sizes))


def test_short_queries_are_taken_together():
    few = groups.group_documents(np.zeros(15), np.zeros(15), [5, 1, 4, 2, 3], None, "expected", 0)
    assert [block.tolist() for block in few.blocks()] == [[1, 3, 4, 2, 0]]


@pytest.mark.parametrize("sizes", [[1, 0], [0, 1], [3, 2], [2, 2, 1]])
def test_groups_of_different_lengths(sizes):
    count = sum(sizes)
    values = gradely.RR()(gradely.from_groups(np.arange(count), np.ones(count), group=sizes))
    assert values.tolist() == [float(size > 0) for size in sizes]


@pytest.mark.parametrize("seed", range(5))
def test_queries_stay_in_the_order_of_their_first_rows_at_random(seed):
    """Of queries 7, 3 and 5, all, none and half of the documents are relevant."""
    qid, labels = [7, 3, 7, 5, 3, 5], [1, 0, 1, 1, 0, 0]
    found = gradely.evaluate_arrays(np.zeros(6), labels, ["P@2"], qid=qid, ties="random", seed=seed)
    assert found["P@2"].tolist() == [1.0, 0.0, 0.5]


@pytest.mark.parametrize("qid", [np.array(["b", "a", "b"], object), np.array([1, "a", 1], object), ["b", "a", "b"]])
def test_queries_may_be_objects(qid):
    assert gradely.evaluate_arrays([1, 2, 3], [0, 1, 1], ["RR", "P@1"], qid=qid)["P@1"].tolist() == [1.0, 1.0]


def test_lists_and_arrays_may_be_mixed_one_per_query():
    found = gradely.evaluate_arrays([[0.1, 0.2], np.array([0.3])], [[1, 0], [1]], ["RR"])
    assert found["RR"].tolist() == [0.5, 1.0]


# Ids


@pytest.mark.parametrize("xp", [np, strict])
def test_fields_of_ranked_ids(xp):
    ranked = xp.asarray([[7, 5, 3, 9], [1, 2, -1, -1]])
    batch = gradely.from_ids(ranked, xp.asarray([[3, 5, 8], [4, 2, -1]]), xp.asarray([[1, 2, 3], [3, 4, 5]]))
    expected = {
        "grade": [[2.0, 1.0, 0.0], [4.0, 0.0, 0.0]],
        "judged": [[True, True, False], [True, False, False]],
        "above": [[1, 2, 0], [1, 0, 0]],
        "tied": [[1, 1, 1], [1, 1, 1]],
        "first": [[0, 1, 2], [0, 1, 2]],
        "last": [[1, 2, 3], [1, 2, 3]],
        "pool": [[3.0, 2.0, 1.0], [4.0, 3.0, 0.0]],
        "pooled": [[True, True, True], [True, True, False]],
        "retrieved": [4, 2],
    }
    assert {name: np.asarray(getattr(batch, name)).tolist() for name in FIELDS} == expected


@pytest.mark.parametrize("xp", [np, strict])
def test_ids_that_are_wrong_are_refused_by_row(xp):
    with pytest.raises(DataError, match="the padding -1 must come after the last ranked id"):
        gradely.from_ids(xp.asarray([[7, -1, 5]]), xp.asarray([[7]]))
    with pytest.raises(DataError, match=r"row 1 \(from 0\) has a duplicate id"):
        gradely.from_ids(xp.asarray([[7, 5], [3, 3]]), xp.asarray([[7], [3]]))


@pytest.mark.parametrize("large", [4, 100_000_000, 400_000_000, 2**40, 2**61, 2**62])
def test_ids_of_any_size(large):
    batch = gradely.from_ids([[large, 5, 7]], [[7, large]], [[1, 2]])
    assert (batch.grade.tolist(), batch.above.tolist()) == ([[2.0, 1.0]], [[0, 2]])


def test_ids_of_different_types_meet():
    large = 2**60  # beside which a real number does not tell 1
    batch = gradely.from_ids(np.array([[large + 1, 5, large]], np.uint64), np.array([[large, large + 1]], np.int64))
    assert batch.above.tolist() == [[0, 2]]


# Levels


def test_levels_are_the_distinct_positive_labels():
    found = Levels(np.array([[3.0, -1.0], [1.0, 3.0]]))
    assert found().tolist() == [1.0, 3.0] and found.lowest == -1.0
    assert found.lower_by(1)().tolist() == [2.0]
    counted = Levels(np.array([[3.0, -1.0], [1.0, 3.0]]), np.array([[True, False], [True, True]]))
    assert counted().tolist() == [1.0, 3.0] and counted.lowest == 1.0


# Arrays of other libraries


def test_flat_arrays_of_other_libraries_need_groups():
    with pytest.raises(DataError, match="2 scores without queries: pass the query of each"):
        gradely.evaluate_arrays(strict.asarray([0.9, 0.4]), strict.asarray([0, 1]), ["RR"])


def test_long_rows_of_jax_are_not_flagged_by_bits(monkeypatch):
    monkeypatch.setattr("array_api_compat.is_jax_array", lambda x: True)
    assert [backend.has_short_rows(strict.ones((2, width))) for width in (1, 31, 32)] == [True, True, False]
    assert not backend.has_short_rows(np.ones((2, 3)))


# What a prompt and a notebook show


def test_a_batch_says_how_large_it_is():
    batch = gradely.from_arrays([[0.9, 0.4, 0.4], [1.0, 0.5, 0.2]], [[0, 2, 1], [3, 1, 0]], [[1, 1, 1], [1, 0, 0]])
    size = "2 queries, up to 3 judged and retrieved documents"
    assert title(batch) == repr(batch) == f"Batch({size}, numpy arrays, ties expected)"
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", card(batch))
    assert cells == ["0", "3", "3", "2", "3", "2", "1", "1", "1", "0", "1", "3"]


@pytest.mark.parametrize("send", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
@pytest.mark.parametrize("make", [gradely.from_arrays, partial(fix_shapes, mask=None, ties="best")])
def test_a_batch_that_was_measured_is_copied_and_pickled(make, send):
    batch = make(np.array([[3.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 2.0]]))
    values = gradely.nDCG()(batch)
    again = send(batch)
    assert same_fields(again, batch) and again.ties == batch.ties and not again.memo
    assert np.array_equal(gradely.nDCG()(again), values)


@pytest.mark.parametrize(("queries", "more"), [(10, ""), (11, "… and 1 more query"), (13, "… and 3 more queries")])
def test_ten_queries_of_a_batch_are_shown(queries, more):
    text = card(gradely.from_arrays(np.zeros((queries, 2)), np.ones((queries, 2))))
    assert len(re.findall(r"<td[^>]*>\s*2\s*</td>", text)) >= 10 and (more or "queries, up to") in text
    assert ("… and" in text) == bool(more) and text.count("<tr") == 11


# Parameters


def test_parameters_of_a_class_and_of_those_it_derives_from():
    class One(Parametric):
        a = parameter(default=1, doc="one")

    class Two(One):
        b = parameter(default=2, doc="two")

    assert (list(One.parameters), list(Two.parameters)) == (["a"], ["a", "b"])
    assert (Two(b=5).a, Two(b=5).b) == (1, 5)


def test_a_parameter_is_named_unless_it_says_otherwise():
    assert parameter(default=1, doc="one").kw_only
    assert not parameter(default=1, doc="one", kw_only=False).kw_only


def test_padding_is_not_relevant_although_its_label_would_be():
    batch = gradely.from_arrays(np.array([[2.0, 1.0], [2.0, 0.0]]), np.zeros((2, 2)), np.array([[1, 1], [1, 0]]) > 0)
    assert gradely.P(2, rel=0)(batch).tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ranked", ([[1, 2], [3]], [[1], [3]])),
        ("labelled", ([[1], [3]], [[1, 2], [3]])),
        ("labels", ([[1], [3]], [[1], [3]], [[1, 0], [1]])),
    ],
)
def test_rows_of_ids_of_different_lengths_are_refused(name, arguments):
    with pytest.raises(
        gradely.DataError, match=f"{name}: the rows are of different lengths; fill them up with the pad"
    ):
        gradely.from_ids(*arguments)
