"""Labels that are probabilities: the value is the mean over all labels and all orders of tied documents."""

import re
from itertools import groupby, permutations, product
from math import comb, prod
from pathlib import Path

import numpy as np
import pytest

import gradely
from gradely.kernel.uncertain import gauss_legendre
from gradely.measures import ALL
from gradely.measures.names import parse

TAKEN = [
    *("P@2", "P", "P(relevance='identity')@2", "R@2", "R", "F1@2", "F1", "F(x=0.5)@3", "RelativeP@2", "RelativeP"),
    *("SetAP@1", "SetAP@2", "SetAP", "Rprec", "Rprec@2", "Rprec(rel=2)", "Judged@2", "Unjudged@3"),
    *("Utility@2", "Utility(a=2, b=-1, c=-0.5, d=0.1, size=9)@3"),
    *("RR", "RR@2", "RR(rel=2)", "Success@2", "Success", "AP", "AP@2", "AP(rel=2)"),
    *("DCG@2", "DCG(gain='exp', discount='zipf')", "DCG(gain={1: 2, 2: 1, 3: 5})@3", "DCG(relevance=shift(1))"),
    *("nDCG@1", "nDCG@2", "nDCG@3", "nDCG", "nDCG(gain='exp')@2", "nDCG(gain={1: 2, 2: 0, 3: 2})@3"),
    *("nDCG(relevance='binary')@2", "nDCG(discount='jk10')@3", "nDCG(discount='none')@2", "NDCNG(relevance=max(4))@2"),
    *(
        "SDCG@2",
        "SDCG",
        "RBP(p=0.5)",
        "RBP(relevance='identity')@3",
        "RBP(rel=2)",
        "RBPresidual@3",
        "INSQ",
        "INSQ(T=2)@2",
    ),
    *("ERR", "ERR@2", "ERR(top=4)", "ERR(gain='linear')", "iRBU(p=0.5)@3"),
    *("eGAP", "eGAP@2", "eGAP(g={1: 0.25, 2: 0.5, 4: 0.25})", "eGAP(relevance=max(4))"),
]
NAMES = {measure.name for measure in ALL}
SCALES = [[0, 1], [0, 1, 2], [-1, 0, 1, 3], [1, 2, 3], [2]]
WORST = 1e-12


def draw_case(seed):
    """Return judgments and a ranking of one query, with ties, unjudged documents, certain labels and missed ones."""
    random = np.random.default_rng(seed)
    scale = SCALES[seed % len(SCALES)]
    judged = [f"d{i}" for i in range(int(random.integers(1, 5 if len(scale) > 3 else 6)))]
    labels = {
        doc: int(random.choice(scale)) if random.integers(5) == 0 else dict(zip(scale, chance.tolist(), strict=True))
        for doc, chance in zip(judged, random.dirichlet(np.full(len(scale), 0.8), len(judged)), strict=True)
    }
    ranked = [*judged[int(random.integers(0, 3)) :], *(f"x{i}" for i in range(int(random.integers(0, 3))))] or judged
    return labels, dict(zip(ranked, random.integers(0, 3, len(ranked)).tolist(), strict=True))


def worlds(labels):
    """Yield each way to label the documents, and how probable it is."""
    options = [list(value.items()) if isinstance(value, dict) else [(value, 1.0)] for value in labels.values()]
    for choice in product(*options):
        yield dict(zip(labels, (label for label, _ in choice), strict=True)), prod(chance for _, chance in choice)


def orders(scores):
    """Return every order of the documents that the scores allow."""
    ranked = sorted(scores, key=lambda doc: -scores[doc])
    groups = [list(permutations(group)) for _, group in groupby(ranked, key=lambda doc: scores[doc])]
    return [[doc for part in parts for doc in part] for parts in product(*groups)]


def enumerate_mean(labels, rankings, measures):
    """Return the mean of each measure over all labels and rankings, each a query of its own without ties."""
    qrels, run, weights = {}, {}, []
    for i, (certain, chance) in enumerate(worlds(labels)):
        for j, ranking in enumerate(rankings):
            qrels[f"{i}-{j}"], run[f"{i}-{j}"] = certain, ranking
            weights.append(chance / len(rankings))
    return np.array(weights) @ gradely.evaluate(qrels, run, measures).values


def expect(labels, scores, measures, **policy):
    """Return the values of one query."""
    return gradely.evaluate({"q": labels}, {"q": scores}, measures, **policy).values[0]


@pytest.mark.parametrize("seed", range(30))
def test_a_value_is_the_mean_over_all_labels_and_all_orders_of_ties(seed):
    labels, scores = draw_case(seed)
    expected = enumerate_mean(labels, orders(scores), TAKEN)
    np.testing.assert_allclose(expect(labels, scores, TAKEN), expected, rtol=0, atol=WORST)


@pytest.mark.parametrize("ties", ["trec", "order", "random"])
def test_an_order_of_ties_is_the_mean_over_all_labels_in_that_order(ties):
    labels = {f"d{i}": {0: 0.5, 1: 0.1 * i, 2: 0.5 - 0.1 * i} for i in range(5)}
    scores = dict.fromkeys(["d3", "d1", "x", "d0", "d4"], 1)
    lines = gradely.explain({"q": dict.fromkeys(labels, 1)}, {"q": scores}, "q", "AP", ties=ties, seed=3).lines
    expected = enumerate_mean(labels, [[line.document for line in lines]], TAKEN)
    np.testing.assert_allclose(expect(labels, scores, TAKEN, ties=ties, seed=3), expected, rtol=0, atol=WORST)


def test_certain_labels_have_the_values_of_plain_ones():
    random = np.random.default_rng(7)
    qrels = {f"q{q}": {f"d{i}": int(random.integers(-1, 4)) for i in range(q % 13 + 1)} for q in range(60)}
    run = {q: {f"d{i}": int(random.integers(0, 8)) for i in random.permutation(15).tolist()} for q in qrels}
    sure = {q: {doc: {label: 1.0} for doc, label in docs.items()} for q, docs in qrels.items()}
    plain, same = (gradely.evaluate(labels, run, TAKEN) for labels in (qrels, sure))
    np.testing.assert_allclose(same.values, plain.values, rtol=0, atol=WORST)
    assert "the labels of 0 documents are probabilities" in str(same.notes[0])


def test_neither_other_queries_nor_the_order_of_input_change_a_digit():
    whole = {"z": dict.fromkeys(range(3), 1 / 3)}  # so that what measures take from the collection is the same
    cases = {f"q{seed}": draw_case(seed) for seed in range(1, 40, 5)}
    qrels, run = ({query: case[i] for query, case in cases.items()} for i in (0, 1))
    qrels = {query: labels | whole for query, labels in qrels.items()}
    together = gradely.evaluate(qrels, run, TAKEN)
    backwards = {query: dict(reversed(labels.items())) for query, labels in reversed(qrels.items())}
    again = gradely.evaluate(backwards, run, TAKEN)
    for query, labels in qrels.items():
        alone = gradely.evaluate({query: labels}, {query: run[query]}, TAKEN)
        assert together.query(query) == again.query(query) == alone.query(query)


def test_nothing_relevant_with_any_chance_scores_0_and_is_said():
    scores = gradely.evaluate(
        {"q": {"a": {0: 1.0, 1: 0.0}, "b": {-1: 0.5, 0: 0.5}}}, {"q": ["a", "b"]}, ["nDCG", "AP", "R"]
    )
    assert scores.values.tolist() == [[0, 0, 0]]
    assert "1 of 1 query has no relevant document for nDCG, AP, R and scores 0 in every order: q" in map(
        str, scores.notes
    )


def test_a_query_that_may_have_a_relevant_document_is_not_degenerate():
    scores = gradely.evaluate({"q": {"a": {0: 0.9, 1: 0.1}}, "r": {"a": 1}}, {"q": ["x"], "r": ["a"]}, ["AP"])
    assert scores.values.tolist() == [[0], [1]] and not any("no relevant" in str(note) for note in scores.notes)


def test_many_documents_agree_with_a_count_over_all_ways():
    """Of n documents that are relevant with chance p, all retrieved, one of them first, R@1 has a closed form."""
    n, p = 301, 0.3
    labels = {f"d{i}": {0: 1 - p, 1: p} for i in range(n)}
    exact = sum(comb(n - 1, z) * p ** (z + 1) * (1 - p) ** (n - 1 - z) / (z + 1) for z in range(n))
    values = expect(labels, list(labels), ["R@1", "AP@1", "nDCG@1", "Rprec"])
    assert values[:2] == pytest.approx([exact, exact], rel=1e-11)
    assert values[2] == pytest.approx(p, rel=1e-12)  # over 1, since some document is relevant but with chance 1e-47


def test_the_nodes_of_gauss_and_legendre():
    for count in (1, 2, 3, 10, 51, 400):
        node, weight = gauss_legendre(np, count)
        theirs, weights = np.polynomial.legendre.leggauss(count)
        np.testing.assert_allclose(np.sort(node), (theirs + 1) / 2, rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.sum(weight), 1, rtol=0, atol=1e-13)
        np.testing.assert_allclose(np.sort(weight), np.sort(weights / 2), rtol=1e-9, atol=1e-15)


REFUSED = [
    "infAP(rel=1)",
    "IPrec",
    "bpref",
    "binG",
    "G",
    "GAP",
    "xGAP",
    "muAP",
    "nDCGphi",
    "nERR",
    "Q",
    "R(relevance='identity')",
]


@pytest.mark.parametrize("name", [*REFUSED, "NDCNG", "DCG(relevance='max')", "eGAP(relevance='phi')"])
def test_other_measures_are_refused_by_name(name):
    with pytest.raises(gradely.MeasureError, match="no exact mean over them is known") as error:
        expect({"a": {0: 0.5, 1: 0.5}}, ["a"], ["P@1", name])
    assert str(error.value).startswith(str(parse(name)))


def test_each_measure_says_itself_how_its_mean_is_taken():
    """None inherits it: a measure that derives from another may differ from it, as nERR does from ERR."""
    taken = {type(parse(name)) for name in TAKEN}
    assert {measure for measure in ALL if vars(measure).get("expectation")} == taken
    assert not {type(parse(name)) for name in REFUSED if "(relevance" not in name} & taken

    class Other(gradely.AP):
        """Derives from AP."""

    with pytest.raises(gradely.MeasureError, match="no exact mean"):
        Other().check_expectation()


def test_the_guide_lists_the_measures_that_take_them():
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "probabilities.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| ")][1:]
    listed = {parse(name) for row in rows for name in re.findall(r"\b[A-Za-z]+\d?\b", row) if name in NAMES}
    assert {type(measure) for measure in listed} == {type(parse(name)) for name in TAKEN}


def test_best_and_worst_orders_are_refused():
    for ties in ("best", "worst"):
        with pytest.raises(gradely.MeasureError, match=f"ties {ties}: labels are probabilities"):
            expect({"a": {0: 0.5, 1: 0.5}}, {"a": 1, "b": 1}, ["AP"], ties=ties)


def test_a_walk_over_too_many_states_is_refused():
    labels = {f"d{i}": {0: 0.5, **dict.fromkeys(range(1, 6), 0.1)} for i in range(60)}
    with pytest.raises(
        gradely.MeasureError,
        match=r"^nDCG: .* the best 60 documents of a query can have 8,259,888 combinations .* use a smaller cut-off$",
    ):
        expect(labels, list(labels), ["nDCG"])
    assert 0 < expect(labels, list(labels), ["nDCG@5"])[0] < 1


def test_a_value_that_is_too_large_for_a_number_is_refused():
    with pytest.raises(gradely.DataError, match="query 'q' is too large to represent"):
        expect({"a": {0: 0.5, 2000: 0.5}}, ["a"], ["DCG(gain='exp')"])
    assert expect({"a": {0: 0.5, 2000: 0.5}}, ["a"], ["nDCG(gain='exp')"])[0] == 0.5
