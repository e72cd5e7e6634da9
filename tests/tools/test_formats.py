"""Objects of other tools as qrels and runs, where the tools are installed; tests/data/test_formats.py has stand-ins."""

import pytest

import gradely
from tests.tools.tool import tool

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "x": 0.5, "d3": 0.1}, "q2": {"d4": 0.7, "d1": 0.2}}
MEASURES = ["nDCG@10", "RR", "AP"]


def values(qrels, run):
    return gradely.evaluate(qrels, run, MEASURES).per_query()


def rows(table):
    return [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]


@pytest.mark.filterwarnings("ignore")
def test_qrels_and_runs_of_ranx():
    ranx = tool("ranx")
    assert values(ranx.Qrels(QRELS), ranx.Run(RUN)) == values(QRELS, RUN)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("documents", "agrees"), [(15, True), (16, False)])
def test_ranx_keeps_the_order_of_ties_up_to_15_documents(documents, agrees):
    ranx = tool("ranx")
    tied = {f"d{i:02}": 0.5 for i in range(documents)}
    theirs = [ranx.evaluate(ranx.Qrels({"q": {doc: 1}}), ranx.Run({"q": tied}), "mrr") for doc in tied]
    ours = [gradely.evaluate({"q": {doc: 1}}, {"q": tied}, ["RR"], ties="order")["RR"] for doc in tied]
    assert (theirs == pytest.approx(ours)) == agrees


def test_generators_and_named_tuples_of_ir_measures():
    theirs = tool("ir_measures")
    qrels = "".join(f"{query} 0 {doc} {label}\n" for query, doc, label in rows(QRELS))
    run = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows(RUN))
    assert values(theirs.read_trec_qrels(qrels), theirs.read_trec_run(run)) == values(QRELS, RUN)
    assert values([theirs.Qrel(*row) for row in rows(QRELS)], [theirs.ScoredDoc(*row) for row in rows(RUN)]) == values(
        QRELS, RUN
    )


@pytest.mark.filterwarnings("ignore")
def test_data_sets_of_hugging_face():
    datasets = tool("datasets")
    names = ("query-id", "corpus-id", "score")
    qrels, run = (
        datasets.Dataset.from_list([dict(zip(names, row, strict=True)) for row in rows(table)])
        for table in (QRELS, RUN)
    )
    assert values(qrels, run) == values(QRELS, RUN)
    assert values(qrels.to_iterable_dataset(), run.to_iterable_dataset()) == values(QRELS, RUN)
    with pytest.raises(gradely.InputError, match="one of its splits"):
        values(datasets.DatasetDict({"test": qrels}), RUN)
