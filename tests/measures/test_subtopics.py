"""Measures of judgments by subtopic: against their definitions, over all orders of ties, and by published values."""

import math
import random
from fractions import Fraction
from itertools import groupby, permutations, product

import numpy as np
import pytest

import gradely
from gradely.kernel import compositions
from gradely.measures import PLAIN
from tests import reference

SETTINGS = {
    "alpha_DCG": [{}, {"alpha": 0.25, "rel": 2}, {"normalize": False}, {"alpha": 1}],
    "alpha_nDCG": [{}, {"alpha": 0.25}, {"rel": 2}, {"alpha": 0}],
    "ERR_IA": [{}, {"alpha": 0.75}, {"normalize": False, "alpha": 0}],
    "nERR_IA": [{}, {"alpha": 0.25, "rel": 2}],
    "NRBP": [{}, {"alpha": 0.25, "beta": 0.8}, {"normalize": False}],
    "nNRBP": [{}, {"alpha": 0.75, "beta": 0.8}],
    "AP_IA": [{}, {"rel": 2}, {"rel": 0}],
    "P_IA": [{}, {"rel": 2}],
    "StRecall": [{}, {"rel": 2}],
    "D_nDCG": [{}, {"gain": "exp"}],
    "Dsharp_nDCG": [{}, {"gamma": 0.25, "gain": "exp"}, {"rel": 2}],
}
CASES = [
    pytest.param(name, settings, k, id=f"{name}-{settings}-{k}")
    for name, every in SETTINGS.items()
    for settings in every
    for k in (None, 1, 3)
    if not (k is None and settings.get("alpha") == 0 and name == "alpha_DCG")
]
EXCEEDS = ("alpha_nDCG", "nERR_IA", "nNRBP")
"""measures whose ideal is not always the best ranking"""


class Query:
    """Documents with scores, of which some are judged by subtopic, and judged ones that were not retrieved."""

    def __init__(self, seed, most=5):
        rng = random.Random(seed)
        labels = (-1, 0, 0, 1, 1, 2, 3)

        def judge():
            return {name: rng.choice(labels) for name in rng.sample("abc", rng.randint(1, 3))}

        self.scores = {f"d{i}": rng.choice((1, 2, 2, 3)) for i in range(rng.randint(1, most))}
        self.judged = {doc: judge() for doc in self.scores if rng.random() < 0.8}
        self.judged |= {f"m{i}": judge() for i in range(rng.randint(0, 3))}
        self.judged = self.judged or {"m0": {"a": 1}}
        self.weights = {name: rng.choice((0.2, 0.3, 0.5)) for name in "abc"} if rng.random() < 0.5 else None

    @property
    def qrels(self):
        subtopics = {"q": self.weights} if self.weights else True
        return gradely.read_qrels({"q": self.judged}, subtopics=subtopics)

    @property
    def pool(self):
        return list(self.judged.values())

    def orders(self):
        ranked = sorted(self.scores, key=lambda doc: -self.scores[doc])
        groups = [list(group) for _, group in groupby(ranked, key=lambda doc: self.scores[doc])]
        return [
            [self.judged.get(doc) for part in parts for doc in part] for parts in product(*map(permutations, groups))
        ]

    def values(self, name, settings, k):
        """Return the values of all orders, by definition."""
        of_gains = "nDCG" in name and name.startswith("D")
        options = settings | ({"weights": self.weights} if of_gains else {})
        return [getattr(reference, name)(order, self.pool, k=k, **options) for order in self.orders()]

    def measure(self, name, settings, k, **options):
        measure = getattr(gradely, name)(k=k, **settings)
        return gradely.evaluate(self.qrels, {"q": self.scores}, [measure], **options).values.item()


@pytest.mark.parametrize(("name", "settings", "k"), CASES)
def test_expected_best_and_worst_are_the_mean_and_the_extremes_of_all_orders(name, settings, k):
    for seed in range(12):
        query = Query(f"{name} {settings} {k} {seed}")
        values = query.values(name, settings, k)
        assert query.measure(name, settings, k) == pytest.approx(np.mean(values), abs=1e-12)
        for policy, extreme in (("best", max(values)), ("worst", min(values))):
            assert query.measure(name, settings, k, ties=policy) == pytest.approx(extreme, abs=1e-12), (seed, policy)


@pytest.mark.parametrize(("name", "settings", "k"), CASES)
def test_groups_that_are_too_large_to_search_have_bounds(name, settings, k, monkeypatch):
    monkeypatch.setattr("gradely.measures.searched_measure.STATES", 1)
    assert compositions.STATES > 1
    for seed in range(4):
        query = Query(f"bound {name} {settings} {k} {seed}")
        values = query.values(name, settings, k)
        assert query.measure(name, settings, k, ties="best") >= max(values) - 1e-12
        assert query.measure(name, settings, k, ties="worst") <= min(values) + 1e-12


def test_every_measure_of_subtopics_is_tested():
    assert set(SETTINGS) == {measure.name for measure in gradely.ALL if measure.needs_subtopics}
    assert not {*SETTINGS} & {measure.name for measure in PLAIN}


@pytest.mark.parametrize("name", SETTINGS)
def test_values_are_between_0_and_1_unless_the_ideal_can_be_exceeded(name):
    for seed in range(40):
        query = Query(f"range {name} {seed}", most=12)
        value = query.measure(name, {}, None)
        assert value >= 0
        assert name in EXCEEDS or query.weights or value <= 1 + 1e-12


def test_the_greedy_ideal_can_be_exceeded_and_nothing_is_clipped():
    """From the pool bc, ad, ab greedy takes ab first, and then has nothing that is new twice over."""
    judged = {"x": {"b": 1, "c": 1}, "y": {"a": 1, "d": 1}, "z": {"a": 1, "b": 1}}
    value = gradely.evaluate({"q": judged}, {"q": ["x", "y", "z"]}, ["alpha_nDCG@3"])["alpha_nDCG@3"]
    assert value == pytest.approx((2 + 2 / math.log2(3) + 1 / 2) / (2 + 1.5 / math.log2(3) + 1.5 / 2), abs=1e-12)
    assert value == pytest.approx(1.0177, abs=5e-5)


E = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"c": 1}, "D": {"b": 1}}}
GOLDEN = {
    "alpha_nDCG@5": (0.786895617614, 0.794282182253),
    "alpha_DCG@5": (0.405289230450, None),
    "ERR_IA@5": (Fraction(260, 661), Fraction(790, 1983)),
    "nERR_IA@5": (Fraction(39, 47), None),
    "NRBP": (Fraction(25, 64), Fraction(51, 128)),
    "nNRBP": (Fraction(25, 29), None),
    "AP_IA": (Fraction(1, 2), Fraction(17, 36)),
    "P_IA@5": (Fraction(1, 5), None),
    "P_IA@3": (None, Fraction(5, 18)),
    "StRecall@5": (Fraction(2, 3), None),
    "StRecall@1": (None, Fraction(1, 3)),
}
"""of the example of pyndeval, and of the same with ties {A D} {E B}"""


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    for run, value in zip(
        ({"q": ["A", "D", "E", "B"]}, {"q": {"A": 2, "D": 2, "E": 1, "B": 1}}), GOLDEN[name], strict=True
    ):
        if value is not None:
            assert gradely.evaluate(E, run, [name])[name] == pytest.approx(float(value), abs=1e-12)


def test_golden_values_of_gains_with_weights():
    judged = {"w": {"1": 3}, "x": {"2": 1}, "y": {"2": 3, "3": 1}, "z": {"3": 3}}
    qrels = gradely.read_qrels({"q": judged}, subtopics={"q": {"1": 0.5, "2": 0.3, "3": 0.2}})
    scores = gradely.evaluate(qrels, {"q": {"w": 2, "x": 2, "u": 1, "y": 1}}, ["D_nDCG@3", "D#-nDCG@3"])
    assert list(scores.mean().values()) == pytest.approx([0.698805491225, 0.766069412279], abs=1e-12)


def test_names_matter_only_under_trec():
    """Documents of equal gain: the ideal takes the one for the first subtopics, or the last by name."""
    judged = {"a": {"1": 1, "2": 1}, "m": {"3": 1, "4": 1}, "z": {"2": 1, "3": 1}}
    renamed = {{"a": "z", "z": "a", "m": "m"}[name]: labels for name, labels in judged.items()}
    turned = {name: renamed[name] for name in sorted(renamed)}
    values = {
        policy: [
            gradely.evaluate({"q": qrels}, {"q": ["m"]}, ["alpha_nDCG@3"], ties=policy)["alpha_nDCG@3"]
            for qrels in (judged, renamed, turned)
        ]
        for policy in ("expected", "trec")
    }
    assert values["expected"][0] == values["expected"][1] == values["expected"][2]
    assert values["trec"][0] != values["trec"][1] == values["trec"][2]


def test_no_order_of_input_changes_a_digit():
    rng = random.Random(2)
    names = [measure.name for measure in gradely.ALL if measure.needs_subtopics]
    docs = [f"d{i}" for i in range(30)]
    judged = {doc: {str(s): rng.randint(0, 2) for s in rng.sample(range(12), 4)} for doc in docs}
    scores = {doc: rng.randint(0, 5) for doc in docs}
    first = gradely.evaluate({"q": judged}, {"q": scores}, names).values
    for _ in range(3):
        rng.shuffle(docs)
        again = {doc: dict(rng.sample(list(judged[doc].items()), 4)) for doc in docs}
        found = gradely.evaluate({"q": again}, {"q": {doc: scores[doc] for doc in docs}}, names).values
        assert (found == first).all()


def test_several_queries_have_the_values_of_each():
    """Blocks of queries with other numbers of subtopics, documents and hits."""
    queries = {f"q{seed}": Query(f"block {seed}", most=9) for seed in range(25)}
    judged = {name: query.judged for name, query in queries.items()}
    names = [measure.name for measure in gradely.ALL if measure.needs_subtopics]
    names += ["alpha_nDCG(alpha=0.3)", "NRBP(alpha=0.3)"]  # powers of which have no exact digits
    for policy in ("expected", "best", "worst", "trec"):
        together = gradely.evaluate(judged, {name: query.scores for name, query in queries.items()}, names, ties=policy)
        for name, query in queries.items():
            alone = gradely.evaluate({name: query.judged}, {name: query.scores}, names, ties=policy)
            assert together.query(name) == alone.query(name)  # neither padding nor chunks change a digit


def test_subtopics_without_a_relevant_document_do_not_count():
    judged = {"A": {"a": 1}, "B": {"b": 0, "0": 0}}
    scores = gradely.evaluate({"q": judged}, {"q": ["B", "A"]}, ["StRecall", "AP_IA", "P_IA@1"])
    assert list(scores.mean().values()) == [1, 0.5, 0]
    zero = gradely.evaluate({"q": {"B": {"b": 0}}}, {"q": ["B"]}, list(SETTINGS))
    assert not zero.values.any()
    assert "has no relevant document" in str(zero.notes[0])


def test_plain_measures_take_the_highest_label_and_a_note_says_so():
    qrels = {"q": {"A": {"a": 1, "b": 3}, "B": {"a": 2}, "C": {"b": 0}}}
    plain = gradely.evaluate({"q": {"A": 3, "B": 2, "C": 0}}, {"q": ["B", "A", "C"]}, ["nDCG", "AP(rel=3)"])
    scores = gradely.evaluate(qrels, {"q": ["B", "A", "C"]}, ["nDCG", "AP(rel=3)", "StRecall"])
    assert scores.mean()["nDCG"] == plain["nDCG"] and scores.mean()["AP(rel=3)"] == plain["AP(rel=3)"]
    assert [note.text for note in scores.notes if note.kind == "subtopics"] == [
        "qrels judges 3 documents by subtopic: nDCG, AP(rel=3) take the highest label of each"
    ]
    assert not [note for note in gradely.evaluate(qrels, {"q": ["B"]}, ["StRecall"]).notes if note.kind == "subtopics"]


@pytest.mark.parametrize("name", SETTINGS)
def test_without_subtopics_they_say_what_they_need(name):
    with pytest.raises(gradely.MeasureError, match=f"{name} needs judgments by subtopic: TREC diversity qrels"):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [name])
    with pytest.raises(gradely.MeasureError, match="needs judgments by subtopic"):
        getattr(gradely, name)()(gradely.from_arrays([2.0, 1.0], [1, 0]))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("alpha_nDCG(alpha=2)", "alpha, the probability of satisfaction, must be a number from 0 to 1; found 2"),
        ("NRBP(beta=1)", "beta, the probability of continuing, must be a number between 0 and 1; found 1"),
        ("alpha_DCG(alpha=0)", "alpha_DCG(alpha=0) needs a cut-off, as in alpha_DCG(alpha=0)@10"),
        ("ERR_IA(normalize=3)", "normalize must be True or False; found 3"),
        ("Dsharp_nDCG(gamma=-1)", "gamma, the weight of subtopic recall, must be a number from 0 to 1; found -1"),
        ("D_nDCG(gain=cubic)", "no gain 'cubic': use one of linear, exp"),
        ("StRecall(rel='x')", "rel, the lowest label that counts as relevant, must be a number"),
        ("Coverage@20", "`StRecall@20` is coverage of subtopics or nuggets"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name, says):
    with pytest.raises(gradely.MeasureError) as error:
        gradely.parse(name)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("α_nDCG@10", "alpha_nDCG@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("α-nDCG(alpha=0.3)@20", "alpha_nDCG(alpha=0.3)@20"),
        ("D#-nDCG@10", "Dsharp_nDCG@10"),
        ("D♯-nDCG(gamma=0.3)@10", "Dsharp_nDCG(gamma=0.3)@10"),
        ("I-rec@10", "StRecall@10"),
        ("SRecall@5", "StRecall@5"),
        ("strec@10", "StRecall@10"),
        ("subtopic_recall@20", "StRecall@20"),
        ("MAP-IA", "AP_IA"),
        ("ERR-IA@20", "ERR_IA@20"),
    ],
)
def test_names_of_others_are_read(name, ours):
    assert str(gradely.parse(name)) == ours


@pytest.mark.parametrize("policy", ["expected", "best", "worst", "order"])
def test_arrays_of_subtopics_have_the_values_of_dicts(policy):
    rng = np.random.default_rng(4)
    names = [*SETTINGS, "nDCG", "alpha_nDCG(alpha=0.3)@2"]
    scores, labels = rng.integers(0, 4, (30, 6)).astype(float), rng.integers(0, 3, (30, 6, 4))
    mask = rng.random((30, 6)) < 0.8
    mask[:, 0] = True
    qrels = {
        f"q{q}": {f"d{d}": {str(s): int(labels[q, d, s]) for s in range(4)} for d in range(6) if mask[q, d]}
        for q in range(30)
    }
    run = {f"q{q}": {f"d{d}": scores[q, d] for d in range(6) if mask[q, d]} for q in range(30)}
    expected = gradely.evaluate(qrels, run, names, ties=policy).values
    for lists in (False, True):
        arrays = [x.tolist() if lists else x for x in (scores, labels)]
        values = gradely.evaluate_arrays(*arrays, names, mask, ties=policy)
        np.testing.assert_allclose(np.stack(list(values.values()), axis=1), expected, atol=1e-12)
    turned = [x[:, ::-1] for x in (scores, labels, mask)]
    again = gradely.evaluate_arrays(*turned[:2], names, turned[2], ties="expected")
    same = gradely.evaluate_arrays(scores, labels, names, mask, ties="expected")
    assert all((again[name] == same[name]).all() for name in names)


def test_arrays_of_another_library_have_the_same_values():
    strict = pytest.importorskip("array_api_strict")
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 4, (7, 6)).astype(float), rng.integers(0, 3, (7, 6, 3)).astype(float)
    for policy in ("expected", "best", "worst", "order"):
        plain = gradely.evaluate_arrays(scores, labels, [*SETTINGS], ties=policy)
        other = gradely.evaluate_arrays(strict.asarray(scores), strict.asarray(labels), [*SETTINGS], ties=policy)
        for name, values in other.items():
            assert [float(value) for value in values] == pytest.approx(plain[name], abs=1e-12), name


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"group": [2]}, "leave out group and qid"),
        ({"ties": "random"}, "ties='random' does not support labels by subtopic"),
        ({"labels": [[[1, 0]]]}, "have the shape [queries, documents, subtopics]; found (1, 2) and (1, 1, 2)"),
        ({"labels": [[[1, math.nan], [1, 0]]]}, "a label is NaN or infinite"),
    ],
)
def test_arrays_of_subtopics_that_do_not_fit_are_refused(options, says):
    labels = options.pop("labels", [[[1, 0], [0, 1]]])
    with pytest.raises(gradely.DataError) as error:
        gradely.evaluate_arrays([[2.0, 1.0]], labels, ["StRecall"], **options)
    assert says in str(error.value)
