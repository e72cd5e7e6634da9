"""Graded measures against the tools that have them: ir_measures, cwl_eval behind it, and pyNTCIREVAL."""

import gzip

import numpy as np
import pytest

import gradely
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

ir_measures = tool("ir_measures")
PEERS = {
    "Compat": "Compat",
    "Compat(p=0.8, normalize=False)": "Compat(p=0.8, normalize=False)",
    "Accuracy": "AUC",
    "Accuracy(rel=2)@5": "AUC(rel=2)@5",
    "SetAP(rel=2)": "SetAP(rel=2)",
    "SDCG(max_rel=3)@4": "SDCG(top=3)@4",
    "INSQ(max_rel=3)": "INSQ(top=3, depth=1000)",
    "INSQ(T=2.0, max_rel=3)": "INSQ(T=2, top=3, depth=1000)",
    "INST(max_rel=3)": "INST(top=3, depth=1000)",
    "INST(T=3.0, max_rel=3)": "INST(T=3, top=3, depth=1000)",
    "BPM(max_rel=3)@6": "BPM(top=3, depth=1000)@6",
    "NERR8(max_rel=3)@6": "NERR8(top=3, depth=1000)@6",
    "NERR9(max_rel=3)@6": "NERR9(top=3, depth=1000)@6",
    "NERR10(max_rel=3)": "NERR10(top=3, depth=1000)",
    "NERR11(max_rel=3)": "NERR11(top=3, depth=1000)",
}
CWL = ("SDCG", "INSQ", "INST", "BPM", "NERR")


def collection():
    """Return judgments and rankings without ties, each with a document that is relevant and one that is not."""
    rng = np.random.default_rng(3)
    qrels, run = {}, {}
    for q in range(40):
        docs = [f"d{i}" for i in rng.permutation(30)]
        qrels[f"q{q}"] = {doc: int(label) for doc, label in zip(docs, rng.integers(0, 4, 12), strict=False)}
        shown = [*docs[:4], *docs[8:20]]
        run[f"q{q}"] = {doc: float(len(shown) - i) for i, doc in enumerate(rng.permutation(shown).tolist())}
        qrels[f"q{q}"] |= {shown[0]: 3, shown[1]: 0}
    return qrels, run


@pytest.mark.parametrize(("theirs", "ours"), PEERS.items())
def test_values_are_those_of_ir_measures(theirs, ours):
    if theirs.startswith(CWL):
        tool("cwl")
    qrels, run = collection()
    values = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], qrels, run)}
    expected = gradely.evaluate(qrels, run, [ours]).per_query()
    assert values, theirs
    for query, value in values.items():
        assert value == pytest.approx(expected[query][ours], abs=1e-9)


@needs("compat-sample")
def test_compatibility_of_a_real_run():
    qrels, run = (
        gzip.decompress((DATA / "compat-sample" / name).read_bytes()).decode()
        for name in ("compat.qrels.gz", "compat.run.gz")
    )
    judgments, rankings = list(ir_measures.read_trec_qrels(qrels)), list(ir_measures.read_trec_run(run))
    values = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.Compat], judgments, rankings)}
    found = gradely.evaluate(
        DATA / "compat-sample" / "compat.qrels.gz", DATA / "compat-sample" / "compat.run.gz", ["Compat"], ties="trec"
    ).per_query()
    shared = [query for query in values if query in found]
    assert len(shared) > 1
    assert [found[query]["Compat"] for query in shared] == pytest.approx([values[query] for query in shared], abs=1e-9)


def test_values_are_those_of_pyntcireval():
    tool("pyNTCIREVAL")
    from pyNTCIREVAL.metrics import PPlusMeasure, QMeasure, nERR

    qrels, run = collection()
    for query, labels in qrels.items():
        ranking = [(doc, labels.get(doc)) for doc in sorted(run[query], key=lambda doc: -run[query][doc])]
        counts = [sum(label == level for label in labels.values()) for level in range(4)]
        theirs = [
            QMeasure(counts, [1, 2, 3], 1.0).compute(ranking),
            QMeasure(counts, [1, 2, 3], 1.0, cutoff=5).compute(ranking),
            PPlusMeasure(counts, [1, 2, 3], 1.0).compute(ranking),
            nERR(counts, [1, 2, 3], 10).compute(ranking),
        ]
        ours = ["Q", "Q@5", "Pplus", "nERR(gain='linear', top=3)@10"]
        values = gradely.evaluate({query: labels}, {query: run[query]}, ours).values[0]
        assert values.tolist() == pytest.approx(theirs, abs=1e-12)
