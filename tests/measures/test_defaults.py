"""What measures take where nothing is stated, and what their parameters mean at an end."""

import pytest

import gradely


def test_recall_weighs_as_much_as_precision_or_not_at_all():
    scores = gradely.evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x"]}, ["F", "F1", "F(x=0)", "P"])
    f, f1, precision_alone, precision = scores.values[0].tolist()
    assert (f, precision_alone) == (pytest.approx(f1, abs=1e-15), precision) == (2 * 1 / (2 + 3), 1 / 2)


@pytest.mark.parametrize(("worth", "first"), [("a=1", 1), ("b=1", 0), ("c=1", 0), ("d=1, size=2", 1)])
def test_tied_documents_are_put_first_that_are_worth_more(worth, first):
    """Of two tied documents, one of which is relevant, one is in the top 1."""
    measure = f"Utility({', '.join([*(f'{name}=0' for name in 'ab' if name not in worth), worth])})@1"
    found = [
        gradely.evaluate({"q": {"r": 1, "n": 0}}, {"q": {"r": 1, "n": 1}}, [measure], ties=ties).values.item()
        for ties in ("best", "worst")
    ]
    order = [["r"], ["n"]] if first else [["n"], ["r"]]
    assert found == [gradely.evaluate({"q": {"r": 1, "n": 0}}, {"q": run}, [measure]).values.item() for run in order]
    assert found[0] > found[1]


def test_a_collection_has_no_documents_unless_somebody_counts_them():
    """One is retrieved, two are relevant: 0 - 1 - 2 + 1 are neither."""
    scores = gradely.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a"]}, ["Utility(a=0, d=1)"])
    assert scores.values.item() == -2


def test_levels_of_recall_are_eleven():
    assert gradely.IPrec().levels == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


def test_users_above_a_pool_are_said_to_find_nothing():
    scores = gradely.evaluate({"q": {"a": 1}, "r": {"a": 2}}, {"q": ["a"], "r": ["a"]}, ["eGAP(g=[0.5, 0.5])", "AP"])
    assert [(note.kind, note.count, note.of) for note in scores.notes] == [("unreachable", 1, 2)]
