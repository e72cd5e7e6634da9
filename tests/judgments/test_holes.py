"""Holes: ranges over the labels of unjudged documents, against all labels one by one."""

from itertools import product

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.evaluation import label_bounds
from gradely.evaluation.label_bounds import KINDS
from gradely.evaluation.label_ranges import Range
from gradely.report.holes import about_holes
from tests.shared_data import DATA, needs

ALL = [0, 1, 2, 3]
EXACT = [
    "nDCG@{k}",
    "nDCG",
    "nDCG(gain='exp')@{k}",
    "nDCG(gain={{0.5: 3, 1: 2, 2: 1, 3: 5}})@{k}",
    "nDCG(discount='letor')@{k}",
    "nDCG(relevance=shift(1))@{k}",
    "nDCG(relevance='binary')@{k}",
    "NDCNG(relevance=max(3))@{k}",
    "DCG@{k}",
    "DCG(gain='exp')",
    "SDCG@{k}",
    "RBP",
    "RBP(relevance='identity')@{k}",
    "P@{k}",
    "P",
    "Utility@{k}",
    "R@{k}",
    "R",
    "R(relevance='identity')@{k}",
    "P(relevance='identity')@{k}",
    "F1@{k}",
    "F(x=3)@{k}",
    "RelativeP@{k}",
]
ENUMERATED = [
    *("F1", "RelativeP", "AP", "AP@{k}", "AP(rel=2)@{k}", "Rprec", "Rprec@{k}"),
    *("binG", "binG@{k}", "SetAP", "SetAP@{k}", "RR", "RR@{k}", "Success@{k}"),
]
EXACT_ALONE = ["ERR", "ERR@{k}"]
BOUNDED = [f"{name}{end}" for name in ("GAP", "eGAP", "xGAP") for end in ("", "@{k}", "(g=[0.2, 0.3, 0.5])@{k}")]


class Cases:
    """Queries with a few unjudged documents, two runs with ties, and the values by all labels of these documents."""

    def __init__(self, count, seed, names, labels=ALL, most=3, allowed=None):
        rng = np.random.default_rng(seed)
        self.k = int(rng.integers(1, 6))
        self.names = [name.format(k=self.k) for name in names]
        self.allowed = allowed
        others = {f"o{i}": float(label) for i, label in enumerate(labels)}  # so that every label is in the collection
        self.qrels, self.holes, self.runs = {"others": others}, {}, {"a": {}, "b": {}}
        for i in range(count):
            documents = [f"d{j}" for j in range(int(rng.integers(3, 10)))]
            unjudged = set(rng.permutation(documents)[: int(rng.integers(1, most + 1))].tolist())
            rankings = [self.rank(rng, documents) for _ in "ab"]
            judged = {doc: float(rng.choice(labels)) for doc in documents if doc not in unjudged}
            self.qrels[f"q{i}"] = judged | {"unretrieved": float(rng.choice(labels))}
            self.holes[f"q{i}"] = sorted(doc for doc in unjudged if any(doc in ranking for ranking in rankings))
            for name, ranking in zip("ab", rankings, strict=True):
                self.runs[name][f"q{i}"] = ranking
        self.every = {
            f"{query} {i}": self.qrels[query] | dict(zip(holes, map(float, chosen), strict=True))
            for query, holes in self.holes.items()
            for i, chosen in enumerate(product(allowed or labels, repeat=len(holes)))
        }
        self.sizes = np.cumsum([0, *(len(allowed or labels) ** len(holes) for holes in self.holes.values())])

    @staticmethod
    def rank(rng, documents):
        chosen = rng.permutation(documents)[: int(rng.integers(1, len(documents) + 1))].tolist()
        scores = rng.integers(0, 3, len(chosen)) if rng.random() < 0.5 else rng.permutation(len(chosen))
        return dict(zip(chosen, scores.tolist(), strict=True))

    def values(self, run):
        """Return [every labelling, measures]."""
        rankings = {query: self.runs[run][query.partition(" ")[0]] for query in self.every}
        others = {"others": self.qrels["others"]}  # the scale is that of the collection
        return gradely.evaluate(self.every | others, rankings, self.names, queries="both").values

    def extremes(self, values):
        """Return the least and the greatest of each query."""
        at = self.sizes[:-1]
        return Range(np.minimum.reduceat(values, at), np.maximum.reduceat(values, at))

    def check(self, *, exact, exact_pairs):
        found = gradely.holes(self.qrels, self.runs, self.names, labels=self.allowed, depth=100)
        a, b = (self.values(run) for run in "ab")
        pair = np.array([0]), np.array([1])
        for j, name in enumerate(self.names):
            bounds = found.found.bounds[name]
            assert (bounds.exact, bounds.exact_pairs) == (exact, exact_pairs), name
            for run, values in (("a", a), ("b", b)):
                ends = [found.by_query[run][name][query] for query in self.holes]
                compare(name, Range(*np.array(ends).T), self.extremes(values[:, j]), exact=exact)
            low, high = (end[1:, 0] for end in bounds.differences(*pair))
            compare(name, Range(low, high), self.extremes(a[:, j] - b[:, j]), exact=exact_pairs)
            row = next(row for row in found.pairs if row.measure == name)
            np.testing.assert_allclose([row.low, row.high], [low.sum() / len(self.qrels), high.sum() / len(self.qrels)])


def compare(name, found, brute, *, exact):
    assert (found.low <= brute.low + 1e-12).all(), name
    assert (found.high >= brute.high - 1e-12).all(), name
    if exact:
        np.testing.assert_allclose(found.low, brute.low, rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(found.high, brute.high, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("names", "exact", "exact_pairs"),
    [(EXACT, True, True), (ENUMERATED, True, True), (EXACT_ALONE, True, False), (BOUNDED, False, False)],
)
def test_ranges_are_those_of_all_labels(names, exact, exact_pairs, seed):
    Cases(40, seed, names).check(exact=exact, exact_pairs=exact_pairs)


@pytest.mark.parametrize("seed", range(3))
def test_where_too_many_documents_are_open_for_all_labels_differences_are_bounds(seed, monkeypatch):
    monkeypatch.setattr(label_bounds, "ENUMERATED", 0)
    Cases(40, seed, ENUMERATED).check(exact=True, exact_pairs=False)


def test_a_query_with_many_open_documents_makes_differences_bounds():
    runs = {name: {"q": [f"{name}{i}" for i in range(6)], "r": ["d"]} for name in "ab"}
    for depth, exact in ((5, True), (6, False)):  # of both runs together, 10 or 12
        (pair,) = gradely.holes({"q": {"d": 1}, "r": {"d": 0}}, runs, ["AP"], depth=depth).pairs
        assert pair.exact == exact


def test_ranges_of_eight_holes_are_those_of_all_labels():
    names = ["nDCG@{k}", "P@{k}", "R@{k}", "F1@{k}"]
    Cases(40, 8, names, labels=[0, 1], most=8).check(exact=True, exact_pairs=True)
    Cases(40, 9, ["AP", "Rprec", "binG", "RR"], labels=[0, 1], most=8).check(exact=True, exact_pairs=True)


class Strict(Cases):
    """The same without ties."""

    @staticmethod
    def rank(rng, documents):
        chosen = rng.permutation(documents)[: int(rng.integers(1, len(documents) + 1))].tolist()
        return {doc: -rank for rank, doc in enumerate(chosen)}


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_ties_differences_by_the_first_relevant_document_are_those_of_all_labels(seed):
    names = ["RR", "RR@{k}", "RR(rel=2)@{k}", "Success@{k}", "Success(rel=3)@{k}"]
    Strict(40, seed, names).check(exact=True, exact_pairs=True)


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_not_relevant_change_nothing(seed):
    names = ["RR(rel=2)", "AP(rel=2)@{k}", "Rprec(rel=2)", "F1(rel=2)", "P(rel=2)@{k}"]
    cases = Cases(20, seed, names, allowed=[0, 1])
    found = gradely.holes(cases.qrels, cases.runs, cases.names, labels=[0, 1])
    for run, by_measure in found.ranges.items():
        for measure, (low, high) in by_measure.items():
            assert low == high == pytest.approx(found.values[run][measure], abs=1e-12), measure
    assert all(pair.low == pair.high == pytest.approx(pair.difference, abs=1e-12) for pair in found.pairs)


def test_judged_labels_may_lie_between_those_of_unjudged_documents():
    Cases(60, 1, ["nDCG@{k}", "nDCG(gain='exp')"], labels=[0, 0.5, 1, 2], allowed=[0, 2]).check(
        exact=True, exact_pairs=True
    )


def test_numbers_from_zero_to_a_top_have_their_extremes_at_judged_labels():
    qrels, runs = {"q": {"a": 1, "b": 0, "c": 0.4}}, {"run": {"q": {"x": 3, "a": 2, "y": 2, "c": 1}}}
    low, high = gradely.holes(qrels, runs, "nDCG@3", top=2).by_query["run"]["nDCG@3"]["q"]
    fine = gradely.holes(qrels, runs, "nDCG@3", labels=np.linspace(0, 2, 21))
    assert gradely.holes(qrels, runs, "nDCG@3", top=2).caption().endswith("may have any label from 0 to 2")
    assert gradely.holes(qrels, runs, "nDCG@3").caption().endswith("may have any of the labels 0, 0.4, 1")
    assert fine.by_query["run"]["nDCG@3"]["q"] == pytest.approx((low, high), abs=1e-12)


def only(found, measure):
    """Return the range of the only query of the only run."""
    return found.by_query["run"][measure]["q"]


def discount(rank):
    return 1 / np.log2(rank + 1)


def test_without_holes_the_value_is_there_twice():
    found = gradely.holes({"q": {"a": 1, "b": 0}}, {"run": {"q": ["b", "a"]}}, ["nDCG@10", "AP", "GAP"])
    for measure in found.measures:
        value = found.values["run"][measure]
        assert found.ranges["run"][measure] == pytest.approx((value, value), abs=1e-15)
    assert found.summary() == "No document in the top 10 is unjudged: nDCG@10 is certain."
    assert found.judge().documents == []


def test_without_a_relevant_document_the_best_placed_hole_decides():
    found = gradely.holes({"q": {"a": 0}, "o": {"x": 1}}, {"run": {"q": ["a", "h", "i"], "o": ["x"]}}, ["nDCG@3"])
    assert only(found, "nDCG@3") == pytest.approx((0, (discount(2) + discount(3)) / (discount(1) + discount(2))))
    alone = gradely.holes({"q": {"a": 0}, "o": {"x": 1}}, {"run": {"q": ["a", "h"], "o": ["x"]}}, ["nDCG@3"])
    assert only(alone, "nDCG@3") == pytest.approx((0, discount(2) / discount(1)))


def test_where_all_labels_are_zero_one_is_assumed():
    found = gradely.holes({"q": {"a": 0}}, {"run": {"q": ["a", "h"]}}, ["P@2"])
    assert only(found, "P@2") == (0.0, 0.5)
    assert "no judged document has a label above 0, so 1 is assumed to be the label of relevant documents" in str(found)


def test_a_missing_query_is_zero_twice():
    found = gradely.holes({"q": {"a": 1}, "r": {"b": 1}}, {"run": {"r": ["h", "b"]}}, ["nDCG@2", "AP", "RR"])
    assert {only(found, measure) for measure in found.measures} == {(0.0, 0.0)}
    assert "1 of 2 judged queries is not in the run and counts as 0: q" in str(found)
    both = gradely.holes({"q": {"a": 1}, "r": {"b": 1}}, {"run": {"r": ["h", "b"]}}, ["RR"], queries="both")
    assert both.ranges["run"]["RR"] == (0.5, 1.0)
    assert both.queries == ["r"]


def test_a_negative_label_is_a_judgment():
    found = gradely.holes({"q": {"spam": -2, "a": 1}}, {"run": {"q": ["spam", "a"]}}, ["P@2", "nDCG@2"])
    assert only(found, "P@2") == (0.5, 0.5)
    assert found.unjudged["P@2"] == 0


def test_the_worst_labels_are_not_all_zero_and_the_best_not_all_highest():
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"run": {"q": ["a", "h", "b", "i", "c"]}}
    low, high = only(gradely.holes(qrels, run, ["nDCG@3"], depth=5), "nDCG@3")

    def labelled(h, i):
        return gradely.evaluate({"q": qrels["q"] | {"h": h, "i": i}}, run["run"], ["nDCG@3"])["nDCG@3"]

    assert low < labelled(0, 0) - 0.05
    assert high > labelled(2, 2) + 0.05
    assert (low, high) == pytest.approx((labelled(0, 2), labelled(2, 0)))


def test_all_runs_share_the_label_of_a_document():
    runs = {"a": {"q": ["h", "x"]}, "b": {"q": ["h", "y"]}, "c": {"q": ["y", "h"]}}
    found = gradely.holes({"q": {"x": 0, "y": 0, "r": 1}}, runs, ["DCG@2"])
    assert [(pair.a, pair.b, pair.low, pair.high, pair.decided) for pair in found.pairs[:1]] == [("a", "b", 0, 0, True)]
    second = next(pair for pair in found.pairs if (pair.a, pair.b) == ("a", "c"))
    assert (second.low, second.high) == pytest.approx((0, discount(1) - discount(2)))
    assert not second.decided  # they may be equal, and then neither is better


def test_ranges_of_all_ways_in_are_the_same(tmp_path):
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(4)} for i in range(5)}
    run = {q: {f"d{j}": float(rng.integers(0, 6)) for j in rng.permutation(12)} for q in qrels}
    lines = [f"{q} Q0 {d} 0 {s} tag" for q, docs in run.items() for d, s in docs.items()]
    (tmp_path / "run.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "mixed.txt").write_text("\n".join(sorted(lines, key=lambda line: line.split()[2])) + "\n")
    import pandas as pd
    import polars as pl

    rows = [line.split() for line in lines]
    frame = {"query": [r[0] for r in rows], "document": [r[2] for r in rows], "score": [float(r[4]) for r in rows]}
    ways = {
        "dict": run,
        "file": str(tmp_path / "run.txt"),
        "scattered": str(tmp_path / "mixed.txt"),
        "pandas": pd.DataFrame(frame),
        "polars": pl.DataFrame(frame),
        "lazy": pl.DataFrame(frame).lazy(),
    }
    for policy in ("expected", "trec", "random"):
        found = {
            name: gradely.holes(qrels, {"run": way}, ["nDCG@5", "AP"], ties=policy, depth=7).by_query["run"]
            for name, way in ways.items()
        }
        for name in ways:
            assert found[name] == found["dict"], (name, policy)


def test_other_tie_policies_take_their_order():
    qrels, run = {"q": {"b": 1}}, {"run": {"q": {"a": 1, "b": 1, "c": 1}}}
    assert only(gradely.holes(qrels, run, ["RR"]), "RR")[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert only(gradely.holes(qrels, run, ["RR"], ties="trec"), "RR") == (0.5, 1.0)
    assert only(gradely.holes(qrels, run, ["RR"], ties="order"), "RR") == (0.5, 1.0)


def test_documents_that_are_excluded_are_no_holes():
    qrels, run = {"q": {"b": 1}}, {"run": {"q": ["x", "h", "i", "b"]}}
    found = gradely.holes(qrels, run, ["P@2"], exclude={"q": ["x"]})
    assert [document.document for document in found.judge().documents] == ["h", "i"]
    assert only(found, "P@2") == (0.0, 1.0)


def test_documents_below_the_depth_count_as_not_relevant():
    qrels, run = {"q": {"b": 1}}, {"run": {"q": ["h", "b", "i"]}}
    assert only(gradely.holes(qrels, run, ["P@3"], depth=2), "P@3") == pytest.approx((1 / 3, 2 / 3))
    assert only(gradely.holes(qrels, run, ["P@3"]), "P@3") == pytest.approx((1 / 3, 1))
    assert "unjudged documents below the top 2 of every run count as not relevant" in str(
        gradely.holes(qrels, run, ["P@3"], depth=2)
    )


def test_values_after_judging_lie_inside():
    rng = np.random.default_rng(7)
    truth = {f"q{i}": {f"d{j}": int(rng.choice([0, 0, 1, 2])) for j in range(30)} for i in range(12)}
    runs = {
        name: {q: {d: float(rng.normal() + label * skill) for d, label in docs.items()} for q, docs in truth.items()}
        for name, skill in (("good", 1.0), ("fair", 0.5), ("bad", 0.0))
    }
    qrels = {q: {d: label for d, label in docs.items() if rng.random() < 0.4} or {"d0": 0} for q, docs in truth.items()}
    qrels["q0"]["d0"] = 2
    names = ["nDCG@10", "AP@10", "P@10", "R@10"]
    found = gradely.holes(qrels, runs, names)
    for _ in range(6):
        for document in found.judge(25).documents:
            qrels[document.query][document.document] = truth[document.query][document.document]
        after = gradely.holes(qrels, runs, names, labels=[0, 1, 2])
        for run, by_measure in after.values.items():
            for measure, value in by_measure.items():
                low, high = found.ranges[run][measure]
                assert low - 1e-12 <= value <= high + 1e-12
                assert after.ranges[run][measure][0] >= low - 1e-12
                assert after.ranges[run][measure][1] <= high + 1e-12
        for before, pair in zip(found.pairs, after.pairs, strict=True):
            assert before.low - 1e-12 <= pair.difference <= before.high + 1e-12
            assert pair.decided or not before.decided
        found = after


def test_the_worth_of_all_documents_is_1():
    rng = np.random.default_rng(3)
    qrels = {f"q{i}": {"d0": 1, "d1": 2} for i in range(6)}
    runs = {name: {q: {f"d{j}": float(rng.normal()) for j in range(12)} for q in qrels} for name in "abc"}
    for measure in ("nDCG@5", "P@5", "AP"):
        found = gradely.holes(qrels, runs, [measure])
        alone = gradely.holes(qrels, {"a": runs["a"]}, [measure])
        for documents in (found.judge().documents, alone.judge().documents):
            assert sum(document.worth for document in documents) == pytest.approx(1)
            assert all(0 < document.worth <= 1 for document in documents)


def test_a_pair_near_its_decision_comes_first_and_is_worth_no_more_than_all():
    qrels = {"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1, "c": 0}}
    nearly = {"q": ["a", "b", "c"], "r": ["a", "c"]}
    runs = {"one": nearly, "two": {"q": ["a", "b", "c"], "r": ["a", "x"]}}  # the difference is at most 0
    (pair,) = gradely.holes(qrels, runs, ["P@2"]).pairs
    assert (pair.low, pair.high) == (-0.25, 0) and not pair.decided
    assert [document[1:] for document in gradely.holes(qrels, runs, ["P@2"]).judge().documents] == [("x", 1.0)]
    runs["three"] = {"q": ["y", "z", "c"], "r": ["a", "w"]}
    worth = {document: worth for _, document, worth in gradely.holes(qrels, runs, ["P@2"]).judge().documents}
    assert worth["x"] > 0.9 and sum(worth.values()) == pytest.approx(1)


def test_judging_a_document_shrinks_the_range_of_a_sum_by_what_it_is_worth():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    runs = {"one": {"q": ["x", "y", "a"], "r": ["a", "z"]}, "two": {"q": ["a", "y", "x"], "r": ["z", "a"]}}
    found = gradely.holes(qrels, runs, ["DCG@3"])
    (pair,), best = found.pairs, found.judge(1).documents[0]
    for label in (0, 1):
        judged = {q: docs | ({best.document: label} if q == best.query else {}) for q, docs in qrels.items()}
        (after,) = gradely.holes(judged, runs, ["DCG@3"]).pairs
        shrinks = pair.high - pair.low - (after.high - after.low)
        assert shrinks == pytest.approx(best.worth * (pair.high - pair.low))


@pytest.mark.parametrize("measure", [measure.name for measure in gradely.ALL if measure not in KINDS])
def test_measures_that_cannot_be_bounded_are_refused_by_name(measure):
    with pytest.raises(gradely.MeasureError, match=rf"^{measure} has no range over the labels of unjudged documents: "):
        gradely.holes({"q": {"a": 1}}, {"run": {"q": ["a", "h"]}}, [measure])


REFUSED = {
    "NDCNG": "state the scale, as in NDCNG\\(relevance=max\\(1\\)\\)",
    "nDCG(relevance='max')": "a label changes what the labels of other documents are worth",
    "nDCG(relevance='phi')": "a label changes what the labels of other documents are worth",
    "Utility(c=-1)": "documents that are not retrieved count",
}


@pytest.mark.parametrize("measure", REFUSED)
def test_labels_that_change_the_measure_are_refused(measure):
    with pytest.raises(gradely.MeasureError, match=REFUSED[measure]):
        gradely.holes({"q": {"a": 1}}, {"run": {"q": ["a", "h"]}}, [measure])


def test_labels_above_the_scale_need_one_that_is_stated():
    qrels, run = {"q": {"a": 1}}, {"run": {"q": ["a", "h"]}}
    with pytest.raises(gradely.MeasureError, match=r"no judgment has a label of 3, .* state it, as in ERR\(top=3\)"):
        gradely.holes(qrels, run, ["ERR"], labels=[0, 1, 3])
    assert only(gradely.holes(qrels, run, ["ERR(top=3)"], labels=[0, 1, 3]), "ERR(top=3)")[1] == pytest.approx(
        1 / 8 + (1 - 1 / 8) * (7 / 8) / 2
    )


@pytest.mark.parametrize("measure", ["AP", "RR", "ERR", "GAP"])
@pytest.mark.parametrize("ties", ["expected", "order"])
def test_runs_with_the_same_ranking_are_equal_by_bounds_too(measure, ties):
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}}
    one = {query: {"a": 3, "x": 2, "y": 2, "b": 1} for query in qrels}
    same = {query: {"b": 0.1, "x": 0.2, "y": 0.2, "a": 0.3} for query in qrels}
    other = {**same, "r": {"y": 4, "x": 3, "b": 2, "a": 1}}
    found = gradely.holes(qrels, {"one": one, "same": same, "other": other}, [measure], ties=ties)
    pair, differs, _ = found.pairs
    assert pair[3:7] == (0, 0, 0, True)
    assert differs.high - differs.low > 0
    alone = gradely.holes({"r": qrels["r"]}, {"one": one, "other": other}, [measure], ties=ties).pairs[0]
    assert differs[4:6] == pytest.approx((alone.low / 2, alone.high / 2))  # the query with the same ranking adds 0
    assert str(gradely.holes(qrels, {"one": one, "same": same}, [measure])).startswith(
        f"one and same are equal by {measure}, whatever the labels of the 4 unjudged documents in the top 100."
    )


def test_sentences_about_bounds_do_not_say_that_labels_reach_them():
    qrels, runs = {"q": {"a": 1}}, {"one": {"q": ["x", "a"]}, "two": {"q": ["a", "y"]}, "three": {"q": ["z", "a"]}}
    assert "and never outside -" in gradely.holes(qrels, dict(list(runs.items())[:2]), ["ERR"]).summary()
    assert gradely.holes(qrels, runs, ["ERR"]).summary().endswith(" may reverse all 3.")


def test_the_caption_says_which_labels_are_allowed():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"run": {"q": ["a", "x"]}}
    assert "document may have any of the labels 0, 1" in gradely.holes(qrels, run).caption()
    assert gradely.holes(qrels, run, top=2.5).caption().endswith("may have any label from 0 to 2.5")
    stated = gradely.holes(qrels, run, labels=[1, 2]).caption()
    assert stated.endswith("may have any of the labels 1, 2, or count as not relevant")
    many = {"q": {f"d{i}": i / 10 for i in range(1, 12)}}
    assert gradely.holes(many, run).caption().endswith("any of the 11 labels from 0.1 to 1.1, or count as not relevant")
    del many["q"]["d11"]
    assert " any of the labels 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, or" in gradely.holes(many, run).caption()


def test_a_list_of_what_to_judge_names_other_measures_that_are_open():
    qrels, runs = {"q": {"a": 1, "b": 0, "c": 0}}, {"good": {"q": ["a", "b", "x"]}, "bad": {"q": ["b", "c", "y"]}}
    listed = gradely.holes(qrels, runs, ["P@1", "P@3"]).judge()
    assert listed.remarks() == [
        "The only pair of runs is decided by P@1, whatever the labels.",
        "this list is about P@1; name another measure first: pairs are open by P@3",
    ]
    assert gradely.holes(qrels, runs, ["P@1"]).judge().remarks()[0].endswith(": nothing needs to be judged.")
    complete = gradely.holes({"q": {"a": 1}}, {"run": {"q": ["a"]}}).judge()
    assert complete.remarks() == ["No unjudged document matters to nDCG@10: nothing needs to be judged."]


BAD = {
    "best": ({"ties": "best"}, "ties='best' chooses the order of ties by the labels"),
    "run": ({"queries": "run"}, "queries='run' counts queries without any judgments"),
    "depth": ({"depth": 0}, "the depth down to which unjudged documents may be relevant must be at least 1; found 0"),
    "text": ({"labels": "abc"}, "labels of unjudged documents must be numbers like 0, 1, 2"),
    "none": ({"labels": [0]}, "one above 0; found \\[0\\]"),
    "top": ({"top": -1}, "top, the highest label of unjudged documents, must be a number above 0; found -1"),
    "both": (
        {"top": 2, "labels": [0, 2]},
        "give the labels of unjudged documents or top, the highest label of a scale, not both",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_makes_no_sense_is_refused(case):
    options, text = BAD[case]
    with pytest.raises(gradely.DataError, match=text):
        gradely.holes({"q": {"a": 1}}, {"run": {"q": ["a", "h"]}}, ["P@2"], **options)


def test_no_order_of_runs_or_queries_changes_a_number():
    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(5)} for i in range(9)}
    runs = {name: {q: {f"d{j}": float(rng.integers(0, 8)) for j in range(12)} for q in qrels} for name in "abc"}
    found = gradely.holes(qrels, runs, ["nDCG@5", "AP@5"])
    turned = gradely.holes(dict(reversed(qrels.items())), dict(reversed(runs.items())), ["nDCG@5", "AP@5"])
    assert all(turned.ranges[name] == found.ranges[name] for name in runs)
    ends = {(pair.b, pair.a, pair.measure): (-pair.high, -pair.low) for pair in turned.pairs}
    assert {(pair.a, pair.b, pair.measure): (pair.low, pair.high) for pair in found.pairs} == ends


def test_the_sentence_says_who_wins_or_that_nobody_can_know():
    qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    runs = {"good": {"q": ["a", "h"]}, "bad": {"q": ["b", "c"]}, "twin": {"q": ["a", "h"]}, "new": {"q": ["h", "i"]}}

    def summary(*names):
        return gradely.holes(qrels, {name: runs[name] for name in names}, ["P@2"]).summary()

    last = "the labels of the 1 unjudged document in the top 2."
    assert summary("good", "bad") == f"good is better than bad by P@2, by 0.5000 to 1.0000, whatever {last}"
    assert summary("bad", "good") == f"good is better than bad by P@2, by 0.5000 to 1.0000, whatever {last}"
    assert summary("good", "twin") == f"good and twin are equal by P@2, whatever {last}"
    two = last.replace("1 unjudged document", "2 unjudged documents")
    assert summary("good", "new") == (
        f"Undecided: good - new is +0.5000 by P@2, and between +0.0000 and +0.5000 depending on {two}"
    )
    assert summary("good") == f"P@2 of good is 0.5000, between 0.5000 and 1.0000 whatever {last}"
    assert summary("good", "bad", "new") == f"1 of 3 pairs of runs is decided by P@2, whatever {two}"
    assert summary("good", "bad", "twin") == f"All 3 pairs of runs are decided by P@2, whatever {last}"
    others = {"b": {"q": ["h", "b"]}, "c": {"q": ["i", "b"]}, "d": {"q": ["j", "b"]}}
    assert gradely.holes(qrels, others, ["P@2"]).summary() == (
        "No pair of runs is decided by P@2: the labels of the 3 unjudged documents in the top 2 could reverse all 3."
    )


def test_tables_and_data_hold_what_was_found():
    found = gradely.holes({"q": {"a": 1, "b": 0}}, {"x": {"q": ["a", "h"]}, "y": {"q": ["h", "b"]}}, ["P@2", "ERR@2"])
    assert found.to_frame().columns.tolist() == ["measure", "run", "value", "low", "high"]
    data = found.as_dict()
    assert data["pairs"][0] == found.pairs[0]._asdict()
    assert data["runs"][0]["queries"]["q"] == list(found.by_query["x"]["P@2"]["q"])
    assert "ranges of differences of ERR@2 are bounds" in str(found)
    assert found.judge(3).to_frame().columns.tolist() == ["query", "document", "worth"]
    assert [row[3:] for row in found.table().rows] == [
        [*found.ranges[run][measure], np.diff(found.ranges[run][measure]).item()]
        for measure in ("P@2", "ERR@2")
        for run in found.names
    ]
    weighted = gradely.holes({"q": {"a": 1}}, {"x": {"q": ["a", "h"]}}, ["P@2"], weights={"q": 2})
    assert "weighted" in weighted.caption() and "weighted" not in found.caption()
    assert len(found.sections(4)) == 3 and len(weighted.sections(4)) == 2
    many = {f"x{i}": {"q": ["a", "h", "b"][:: 1 if i % 2 else -1]} for i in range(10)}
    *_, pairs = gradely.holes({"q": {"a": 1, "b": 0}}, many, ["P@2"]).sections(4)
    assert (len(pairs.rows), pairs.more) == (20, "… and 25 more pairs; --format json shows all")
    with pytest.raises(gradely.DataError, match=r"RR was not bounded: use one of P@2, ERR@2"):
        found.judge(3, "RR")
    with pytest.raises(
        gradely.DataError, match="the number of documents to judge must be a whole number of at least 1"
    ):
        found.judge(0)
    assert found.judge(3, "ERR@2").measure == "ERR@2"


def test_the_worth_of_documents_of_one_run_is_their_share_of_its_range():
    """P@2 can move by 1/2 for each of three documents, and the queries weigh 3 and 1."""
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a", "h"], "r": ["i", "j"]}
    found = gradely.holes(qrels, {"x": run}, ["P@2"], weights={"q": 3, "r": 1}).judge()
    assert [tuple(row) for row in found.documents] == [("q", "h", 3 / 5), ("r", "i", 1 / 5), ("r", "j", 1 / 5)]
    assert "3 of 3 documents that matter; worth by P@2: the share of the range that" in str(found)


def test_simulated_judging_decides_every_pair_and_worth_comes_before_rank():
    rng = np.random.default_rng(11)
    qrels = {f"q{i}": {f"d{j}": int(rng.choice([0, 0, 1, 2])) for j in range(25)} for i in range(15)}
    runs = {
        name: {q: {d: float(rng.normal() + label * skill) for d, label in docs.items()} for q, docs in qrels.items()}
        for name, skill in (("good", 2.0), ("fair", 1.0), ("bad", 0.0))
    }
    found = gradely.simulate_judging(qrels, runs, "nDCG@5")
    assert found.steps[0] == (0, 0, 0)
    assert found.steps[-1][1:] == (3, 3)
    assert sum(step.by_worth for step in found.steps) > sum(step.by_rank for step in found.steps)
    assert found.needed("by_worth") <= found.needed("by_rank") <= found.total
    assert found.total == len(
        {(q, d) for run in runs.values() for q in run for d in sorted(run[q], key=run[q].get)[-5:]}
    )
    rows = found.sections(4)[1].rows  # only where more is decided than before
    assert [row[1:] for row in rows] == [list(pair) for pair in dict.fromkeys(tuple(step[1:]) for step in found.steps)]
    assert [step[1:] for step in found.steps] == sorted(step[1:] for step in found.steps)
    with pytest.raises(gradely.DataError, match="ties='best' chooses the order of ties by the labels"):
        gradely.simulate_judging(qrels, runs, "nDCG@5", ties="best")
    assert found.summary() == (
        f"All 3 pairs of runs are decided by nDCG@5 after {found.needed('by_worth')} of {found.total} judgments in the "
        f"order of worth, and after {found.needed('by_rank')} by rank."
    )


@pytest.mark.parametrize("measure", ["AP", "Rprec", "RR", "F1", "GAP", "xGAP", "nDCG@10", "P@1", "ERR"])
def test_a_ranking_without_any_judged_document_is_0_whatever_the_labels(measure):
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    runs = {"one": {"q": ["a", "b"], "r": ["a"]}, "two": {"q": ["b", "a"], "r": ["x"]}}
    assert gradely.simulate_judging(qrels, runs, measure).steps[-1].by_worth == 1
    alone = gradely.holes(qrels, {"two": runs["two"]}, [measure], exclude={"r": ["x"]})
    assert alone.by_query["two"][measure]["r"] == (0, 0)


def test_judging_is_simulated_for_two_runs_by_one_measure():
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(gradely.DataError, match="name another run"):
        gradely.simulate_judging(qrels, {"a": run})
    with pytest.raises(gradely.DataError, match="by a single measure; found AP, P@2"):
        gradely.simulate_judging(qrels, {"a": run, "b": run}, ["AP", "P@2"])
    same = gradely.simulate_judging(qrels, {"a": run, "b": run}, "P@2")
    assert same.summary().startswith("The pair of runs is decided by P@2 after 0 of 1 judgment ")


RUNS = ["lexical.run", "popular.run"]


def test_the_command_writes_what_to_judge(demo, capfd):
    assert cli(["holes", "qrels.txt", *RUNS, "--judge", "7", "-o", "to_judge.csv"]) == 0
    header, *rows = (demo / "to_judge.csv").read_text().splitlines()
    documents = gradely.holes("qrels.txt", RUNS).judge(7).documents
    assert header == "query,document,worth"
    assert [row.split(",")[:2] for row in rows] == [[document.query, document.document] for document in documents]
    assert "7 of 254 documents that matter; worth by nDCG@10: " in capfd.readouterr().err


COMMANDS = {
    "--judge 5 --simulate": "--judge and --simulate cannot be combined: leave one of them out",
    "--labels 0,a": "expected numbers separated by commas, like 1,0.5,0.1; found 0,a",
    "--labels 0,1 --top 3": "give the labels of unjudged documents or top, the highest label of a scale, not both",
    "--ties best": "ties='best' chooses the order of ties by the labels, which are unknown here",
    "--queries run": "queries='run' counts queries without any judgments: use 'qrels' or 'both'",
    "-m muAP": "muAP has no range over the labels of unjudged documents: a label changes what the labels of other",
    "-m nDCG@10 -m AP --simulate": "judging is simulated by a single measure; found nDCG@10, AP",
    "--depth 0": "0 is not in the range x>=1",
}


@pytest.mark.parametrize("arguments", COMMANDS)
def test_bad_input_is_one_line(demo, fails, arguments):
    fails("holes", "qrels.txt", *RUNS, *arguments.split(), says=COMMANDS[arguments])


@needs("trec-covid-round1")
def test_judgments_of_a_later_round_lie_inside():
    """Judgments are hidden and come back in rounds, the first half of each pool first, as of TREC-COVID."""
    folder = DATA / "trec-covid-round1"
    (path,) = folder.glob("qrels*")
    qrels, files = gradely.read_qrels(path), sorted((folder / "runs-top100").iterdir())[::24]
    rankings = [gradely.read_run(file).scores for file in files]
    seen = {query: {doc for ranking in rankings for doc in ranking.get(query, ())} for query in qrels.queries}
    truth = {
        query: {doc: label for doc, label in qrels.labels(query).items() if doc in seen[query]}
        for query in qrels.queries
    }
    rng = np.random.default_rng(1)
    turn = {query: {doc: int(rng.integers(0, 3)) for doc in docs} for query, docs in truth.items()}
    names = ["nDCG@10", "P@10", "AP@10"]
    before = None
    for round_ in range(3):
        known = {q: {d: label for d, label in docs.items() if turn[q][d] <= round_} for q, docs in truth.items()}
        found = gradely.holes(known, [str(file) for file in files], names, labels=[0, 1, 2], depth=1000)
        if before is not None:
            for run, by_measure in found.values.items():
                for measure, value in by_measure.items():
                    low, high = before.ranges[run][measure]
                    assert low - 1e-12 <= value <= high + 1e-12
            for earlier, pair in zip(before.pairs, found.pairs, strict=True):
                assert earlier.low - 1e-12 <= pair.low <= pair.high <= earlier.high + 1e-12
        before = found


def test_evaluate_says_how_far_labels_move_each_mean(demo, capfd):
    assert cli(["evaluate", "qrels.txt", "lexical.run", "-m", "nDCG@10,muAP", "--holes"]) == 0
    notes = capfd.readouterr().out.splitlines()
    low, high = gradely.holes("qrels.txt", ["lexical.run"]).ranges["lexical"]["nDCG@10"]
    line = f"nDCG@10 0.6403, between {low:.4f} and {high:.4f} whatever the labels of the 143 unjudged documents"
    assert f"{line} in the top 10" in notes
    assert "1 of 2 measures has no range over the labels of unjudged documents: muAP" in notes
    results = gradely.evaluate_runs("qrels.txt", ["lexical.run", "dense.run", "popular.run"], ["P@5"], holes=True)
    found = gradely.holes("qrels.txt", ["lexical.run", "dense.run", "popular.run"], ["P@5"])
    for entry in results.as_dict()["runs"]:
        (span,) = entry["holes"]
        assert (span["low"], span["high"]) == found.ranges[entry["run"]]["P@5"]
    assert "`gradely holes` shows the range of every run" in str(results)
    assert "popular: P@5 0.3689, between 0.3689 and " in str(results)  # the widest of three
    assert cli(["evaluate", "qrels.txt", "lexical.run", "-q", "--holes"]) == 2


def notes_on_holes(capfd, *arguments):
    assert cli(["evaluate", *arguments]) == 0
    return [line for line in capfd.readouterr().out.splitlines() if "unjudged" in line]


def test_evaluate_says_unasked_how_much_is_unjudged(demo, capfd):
    hint = "; `gradely holes` shows what they could change"
    for measure, depth in (("nDCG@10,AP", 10), ("AP,nDCG@10", 100)):
        share = 1 - gradely.evaluate("qrels.txt", "dense.run", [f"Judged@{depth}"]).mean()[f"Judged@{depth}"]
        said = notes_on_holes(capfd, "qrels.txt", "dense.run", "-m", measure)
        where = f"{100 * share:.1f} % of the documents in the top {depth} are unjudged and count as not relevant"
        assert said == [where + hint]
    runs = ["dense.run", "lexical.run", "popular.run"]
    (said,) = notes_on_holes(capfd, "qrels.txt", *runs, "-m", "nDCG@10")
    assert said.startswith("popular: ") and said.endswith(f", the largest share of 3 runs{hint}")
    assert len(notes_on_holes(capfd, "qrels.txt", *runs[:2], "-m", "nDCG@10")) == 2
    (said,) = notes_on_holes(capfd, "qrels.txt", "dense.run", "-m", "nDCG@10", "--holes")
    assert "whatever the labels" in said  # which says more
    (said,) = notes_on_holes(capfd, "qrels.txt", "dense.run", "--judged-only")
    assert "dropped" in said


def test_the_share_of_unjudged_documents_is_the_mean_over_orders_and_needs_judged_ones_that_are_not_relevant():
    qrels, run = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}, {"q": {"a": 2, "b": 1, "x": 1, "y": 1}, "r": {"c": 1}}
    found = gradely.evaluate(qrels, run, ["P@2"]).unjudged_share
    assert found.depth == 2 and found.documents == 3 and np.isclose(found.unjudged, 2 / 3)
    (said,) = (str(note) for note in gradely.evaluate(qrels, run, ["P@2"]).notes if note.kind == "holes")
    assert said.startswith("22.2 % of the documents in the top 2 are unjudged and count as not relevant; ")
    by_name = gradely.evaluate(qrels, run, ["P@2"], ties="trec").unjudged_share  # y comes first
    assert by_name.unjudged == 1
    relevant = {"q": {"a": 1}, "r": {"c": 1}}
    assert gradely.evaluate(relevant, run, ["P@2"]).unjudged_share is None
    for notes in (
        gradely.evaluate(relevant, run, ["P@2"]).notes,
        gradely.evaluate_runs(relevant, {"s": run}, ["P@2"]).notes,
    ):
        assert not [note for note in notes if note.kind == "holes"]
    every = {"q": dict.fromkeys("abxy", 0), "r": {"c": 1}}
    assert not [note for note in gradely.evaluate(every, run, ["P@2"]).notes if note.kind == "holes"]


def test_compare_marks_pairs_that_labels_could_turn(demo):
    runs, names = ["lexical.run", "dense.run", "popular.run"], ["nDCG@10", "P@5", "muAP"]
    comparison = gradely.compare("qrels.txt", runs, names, holes=True)
    ends = {(pair.a, pair.b, pair.measure): pair for pair in gradely.holes("qrels.txt", runs, names[:2]).pairs}
    for row in comparison.pairs_frame().to_dict("records"):
        if row["measure"] == "muAP":
            assert row["decided"] is None
        else:
            pair = ends[row["first"], row["second"], row["measure"]]
            assert (row["holes_low"], row["holes_high"], row["decided"]) == (pair.low, pair.high, pair.decided)
    text = str(comparison)
    assert "0.6403ᶜ?  0.7634ᶜ  0.5073ᶜ" in text
    assert (
        "the labels of 308 unjudged documents in the top 10 could reverse 3 of 3 pairs by nDCG@10, 2 of them "
        "significant: lexical and popular, dense and popular"
    ) in text
    assert "could reverse 1 of 3 pairs by P@5, none significant" in text
    assert "?" not in str(gradely.compare("qrels.txt", runs, names).table())
    judged = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 0}, "s": {"a": 0, "b": 1}}
    two = {"x": {q: ["a", "h"] for q in judged}, "y": {q: ["b", "h"] for q in judged}}
    whole = gradely.compare(judged, two, ["P@2"], holes=True)
    assert "the labels of 3 unjudged documents in the top 2 could reverse none of 1 pair by P@2" in str(whole)


def test_holes_of_systems_and_of_two_judges_are_refused(demo):
    with pytest.raises(gradely.DataError, match="holes needs single runs and the labels of one set of qrels"):
        gradely.compare("qrels.txt", {"a": RUNS, "b": RUNS[::-1]}, ["P@5"], holes=True)
    with pytest.raises(gradely.DataError, match="holes needs single runs and the labels of one set of qrels"):
        gradely.compare("qrels.txt", RUNS, ["P@5"], holes=True, judge="qrels.txt")
    with pytest.raises(gradely.DataError, match="holes needs the labels of one set of qrels"):
        gradely.gate("qrels.txt", *RUNS, ["P@5"], holes=True, judge="qrels.txt")


def test_a_gate_fails_where_labels_decide(demo, capfd):
    runs = "dense.run", "lexical.run"
    assert gradely.gate("qrels.txt", *runs, ["nDCG@10"], max_drop=0.01)
    verdict = gradely.gate("qrels.txt", *runs, ["nDCG@10"], max_drop=0.01, holes=True)
    (pair,) = gradely.holes("qrels.txt", [runs[1], runs[0]]).pairs
    (change,) = verdict.changes
    assert not verdict and change.open and (change.holes_low, change.holes_high) == (pair.low, pair.high)
    assert verdict.summary().endswith(
        f" The labels of unjudged documents leave that open: the drop of nDCG@10 is between {pair.low:+.4f} and "
        f"{pair.high:+.4f}, the limit is 0.01."
    )
    wide = gradely.gate("qrels.txt", *runs, ["nDCG@10"], max_drop=0.3, holes=True)
    assert wide and not wide.changes[0].open and "leave that open" not in wide.summary()
    assert wide.as_dict()["measures"][0]["holes_high"] == pair.high
    (row,) = wide.table().records()
    assert (row["holes low"], row["holes high"]) == (pair.low, pair.high) and "labels of unjudged" in wide.caption()
    without = gradely.gate("qrels.txt", *runs, ["muAP", "nDCG@10"], max_drop=0.3, holes=True)
    assert [(one.measure, one.holes_high) for one in without.changes] == [("muAP", None), ("nDCG@10", pair.high)]
    arguments = ["gate", "qrels.txt", runs[0], "--baseline", runs[1], "-m", "nDCG@10", "--max-drop", "0.01"]
    assert (cli(arguments), cli([*arguments, "--holes"])) == (0, 1)
    kept = gradely.keep_scores("qrels.txt", runs[1], ["nDCG@10"])
    with pytest.raises(gradely.DataError, match="holes needs the old run itself"):
        gradely.gate("qrels.txt", runs[0], kept, holes=True)


def test_weights_of_queries_weigh_ranges():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    runs = {"x": {"q": ["h", "a"], "r": ["a"]}, "y": {"q": ["a"], "r": ["h", "a"]}}
    found = gradely.holes(qrels, runs, ["P@1"], weights={"q": 3, "r": 1})
    assert found.ranges == {"x": {"P@1": (0.25, 1.0)}, "y": {"P@1": (0.75, 1.0)}}
    assert [(pair.low, pair.high) for pair in found.pairs] == [(-0.75, 0.25)]
    assert [(one.query, one.worth) for one in found.judge().documents] == [("q", 0.75), ("r", 0.25)]


def test_labels_that_are_probabilities_are_refused():
    qrels, run = {"q": {"a": {0: 0.5, 1: 0.5}}}, {"q": ["h", "a"]}
    with pytest.raises(gradely.DataError, match="probabilit"):
        gradely.holes(qrels, {"run": run}, ["P@2"])
    with pytest.raises(gradely.DataError, match="probabilit"):
        gradely.simulate_judging(qrels, {"run": run, "other": run}, ["P@2"])
    with pytest.raises(gradely.DataError, match="probabilit"):
        gradely.evaluate_runs(qrels, {"run": run}, ["P@2"], holes=True)


def test_the_page_has_no_such_section_where_nothing_is_open(demo):
    def about(qrels, runs, *arguments, **options):
        comparison = gradely.compare(qrels, runs, *arguments, **options)
        return about_holes(comparison, comparison.board.names)

    assert about("qrels.txt", RUNS, ["P@5"]) is not None
    for options in ({"judged_only": True}, {"ties": "best"}, {"empty": "skip"}, {"queries": "run"}):
        assert about("qrels.txt", RUNS, ["P@5"], **options) is None
    assert about("qrels.txt", RUNS, ["muAP"]) is None
    judged = {"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}}
    assert about(judged, {name: {q: list(name) for q in judged} for name in ("ab", "ba")}, ["P@1"]) is None


def test_where_no_label_is_relevant_nothing_is_open():
    """Neither the labels of the qrels nor those stated reach the threshold, so that no label changes anything."""
    qrels = {"q": {"a": 1, "b": 0}}
    h = gradely.holes(qrels, {"r": {"q": ["x", "a"]}, "s": {"q": ["y"]}}, ["nDCG(relevance=binary(2))", "AP(rel=2)"])
    assert all(ends == (0, 0) for of in h.ranges.values() for ends in of.values())
    assert all(pair.decided and (pair.low, pair.high) == (0, 0) for pair in h.pairs) and h.judge().documents == []


@pytest.mark.filterwarnings("error")
def test_real_labels_are_not_taken_for_scores():
    qrels = {"q": {"a": 0.5, "b": 1.25, "c": 0.75}}
    found = gradely.holes(qrels, {"r": {"q": ["x", "a", "b"]}}, ["nDCG@2", "DCG@2", "ERR@2", "GAP"])
    assert found.ranges["r"]["DCG@2"][1] == pytest.approx(1.25 + 0.5 / np.log2(3))
