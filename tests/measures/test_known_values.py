"""Values of graded measures that were computed elsewhere: as equal fractions over all orders, and by NTCIREVAL."""

import numpy as np
import pytest
from scipy.special import polygamma

import gradely
from gradely.kernel.series import inverse_sums, trigamma
from tests.shared_data import DATA, needs

NTCIR = (
    {"q": dict(zip("abcdefghijk", [0, 3, 2, 3, 3, 2, 2, 1, 1, 1, 1], strict=True))},
    {"q": ["a", "b", "unjudged", "c"]},
)
"""NTCIREVAL's sample: the labels 0, 3, none and 2, in this order"""
TIED = (
    {"q": {"a": 3, "b": 0, "c": 1, "d": 2, "missed": 3}},
    {"q": {"a": 2, "b": 2, "c": 1, "d": 1, "unjudged": 1}},
)
"""the labels 3 and 0 tied, then 1, 2 and none tied"""
RANKED = {
    "Q": 29 / 300,
    "Q@2": 1 / 4,
    "nERR": 0.480657997765,
    "iRBU": 0.902615437969,
    "SDCG@4": 0.358387412921,
    "SetAP": 1 / 10,
    "Pplus": 1 / 2,
    "AUC": 1 / 4,
    "OPA": 2 / 5,
    "Compat": 0.304829646018,
    "INSQ": 0.213630795550,
    "INSQ(depth=1000)": 0.213962056662,
    "INST": 0.250085794903,
    "INST(depth=1000)": 0.250234820142,
    "BPM@10": 1 / 2,
    "BPM(T=2)@4": 5 / 12,
    "NERR8@4": 1 / 2,
    "NERR9@4": 1 / 3,
    "NERR10": 9 / 19,
    "NERR11": 4 / 13,
}
EXPECTED = {
    "Q": 23663 / 48048,
    "Q@3": 151 / 396,
    "Q(beta=inf)": 47 / 96,
    "AWP": 47 / 96,
    "nERR": 494936 / 687105,
    "nERR@3": 3056 / 4293,
    "iRBU": 0.916367053117,
    "nCG@3": 1 / 2,
    "gP@3": 4 / 9,
    "gR@3": 4 / 9,
    "SDCG@3": 0.460893439498,
    "RBPresidual": 4048 / 9375,
    "SetAP": 9 / 20,
    "Pplus": 3 / 4,
    "P+@3": 3 / 4,
    "AUC": 5 / 12,
    "AUC@3": 5 / 12,
    "OPA": 5 / 9,
    "OPA@3": 7 / 12,
    "Compat": 8513821 / 15701328,
    "Compat(p=0.5)": 1399 / 2772,
    "infAP": 0.502778222211,
    "G": 0.372510373863,
    "IPrec(recall=0.5)": 121 / 180,
    "IPrec": 109 / 180,
    "INSQ": 0.347293611851,
    "INSQ(depth=1000)": 0.347832133781,
    "BPM@4": 3 / 4,
    "BPM(T=2)@4": 5 / 12,
}


@pytest.mark.parametrize(("data", "values"), [(NTCIR, RANKED), (TIED, EXPECTED)], ids=["NTCIREVAL", "tied"])
def test_known_values(data, values):
    for name, value in values.items():
        assert gradely.evaluate(*data, [name]).values.item() == pytest.approx(value, abs=1e-12), name


PRINTED = {
    "RR": "RR",
    "P-plus": "Pplus",
    "AP": "AP",
    "Q-measure": "Q",
    "ERR": "ERR(gain='linear')",
    "nDCG@1000": "nDCG(discount='letor')@1000",
    "MSnDCG@1000": "nDCG@1000",
    "P@1000": "P@1000",
    "nERR@1000": "nERR(gain='linear')@1000",
    "Hit@1000": "Success@1000",
}
"""what NTCIREVAL calls measures, and their names here"""


@needs("ntcireval-sample")
def test_all_that_ntcireval_prints_of_its_sample():
    folder = DATA / "ntcireval-sample"
    labels = dict(line.split() for line in (folder / "sample.rel").read_text().splitlines())
    qrels = {"q": {doc: int(level[1:]) for doc, level in labels.items()}}
    lines = [line.split("=") for line in (folder / "res_test_compute.txt").read_text().splitlines()]
    printed = {line[0].strip(): float(line[1]) for line in lines if line[0].strip() in PRINTED}
    scores = gradely.evaluate(qrels, {"q": (folder / "sample.res").read_text().split()}, [*PRINTED.values()])
    assert printed.keys() == PRINTED.keys()
    for name, ours in PRINTED.items():
        assert scores[ours] == pytest.approx(printed[name], abs=5.1e-5), name


def test_nerr_of_ntcireval_has_linear_gain():
    assert gradely.evaluate(*NTCIR, ["nERR(gain='linear')"]).values.item() == pytest.approx(0.4710, abs=5e-5)


def test_q_of_a_group_far_behind_the_ideal_ranking():
    """Of a group of 300 after 500 documents, three relevant: the sums over its places, added one by one."""
    n, t, gains, ideal = 300, 500, [1, 2, 3], 3 + 2 + 1
    run = {"q": {f"x{i}": 2.0 for i in range(t)} | {f"y{i}": 1.0 for i in range(n - 3)} | dict.fromkeys("abc", 1.0)}
    weight = [1 / (i + ideal) for i in range(t + 1, t + n + 1)]
    h, o = sum(weight), sum(j * w for j, w in enumerate(weight))
    value = sum((1 + g) * h + (3 + ideal - 1 - g) / (n - 1) * o for g in gains) / n / 3
    found = gradely.evaluate({"q": dict(zip("abc", gains, strict=True))}, run, ["Q"]).values.item()
    assert found == pytest.approx(value, rel=1e-13, abs=0)


@pytest.mark.parametrize("x", [1.0, 2.5, 17.3, 1e3, 1e9])
@pytest.mark.parametrize("n", [0, 1, 16, 17, 40, 5000])
def test_sums_of_inverses_to_the_last_digits(x, n):
    inverse, offset = inverse_sums(np, np.array([x, 1.0]), np.array([float(n), 100.0]))
    assert inverse[0] == pytest.approx(sum(1 / (x + j) for j in range(n)), rel=1e-13, abs=0)
    assert offset[0] == pytest.approx(sum(j / (x + j) for j in range(n)), rel=1e-13, abs=0)


def test_trigamma_is_scipys():
    x = np.array([0.5, 1, 2, 7.3, 100, 1e6])
    np.testing.assert_allclose(trigamma(np, x), polygamma(1, x), rtol=1e-14)
