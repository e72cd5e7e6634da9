"""gradely.adapters.ir_measures in ir_measures' own pipeline, and in PyTerrier's experiments."""

import gzip

import pytest

import gradely
from gradely import MeasureError
from tests.cases import CASES
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

theirs = tool("ir_measures")
from gradely.adapters import ir_measures as ours  # noqa: E402 - after the check that it is there

pandas = tool("pandas")

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {"x": 2, "y": 1}}
RUN = {"q1": {"a": 0.5, "b": 0.5, "c": 0.1, "z": 0.1}, "q3": {"y": 1.0, "w": 1.0, "x": 0.5}, "q9": {"a": 1.0}}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_measure_of_ours_has_its_value_in_their_pipeline(case):
    ties = "expected" if case.measure.takes_expected else "trec"
    measure = ours.measure(case.measure, ties=ties)
    values = {metric.query_id: metric.value for metric in theirs.iter_calc([measure], QRELS, RUN)}
    scores = gradely.evaluate(QRELS, RUN, [case.measure], ties=ties)
    assert values == {query: row[str(case.measure)] for query, row in scores.per_query().items()}
    assert theirs.calc_aggregate([measure], QRELS, RUN)[measure] == pytest.approx(scores.mean()[str(case.measure)])


@pytest.mark.parametrize(
    "name", ["nDCG@10", "AP", "AP(rel=2)", "P@2", "R@2", "RR", "Success@1", "Rprec", "Bpref", "SetP"]
)
def test_with_ties_of_trec_eval_the_values_are_theirs(name):
    here, there = ours.measure(name, ties="trec"), theirs.parse_measure(name)
    both = theirs.calc_aggregate([here, there], QRELS, RUN)
    assert both[here] == pytest.approx(both[there], abs=1e-9) and here != there


TIED_QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {f"d{i:02}": int(i == 3) for i in range(8)}}
TIED = {"q1": {"a": 0.5, "b": 0.5, "c": 0.1, "z": 0.1}, "q2": {f"d{i:02}": 0.5 for i in range(14)}}


@pytest.mark.parametrize("name", ["RR@10", "RR@1", "RR@2", "Judged@10", "Judged@2", "Judged@1"])
def test_their_rr_and_judged_with_a_cut_off_break_ties_by_ascending_name(name):
    measure = theirs.parse_measure(name)
    values = {metric.query_id: metric.value for metric in theirs.iter_calc([measure], TIED_QRELS, TIED)}
    by_name = {query: dict(sorted(docs.items())) for query, docs in TIED.items()}
    ascending = gradely.evaluate(TIED_QRELS, by_name, [name], ties="order").per_query()
    assert values == {query: pytest.approx(row[name]) for query, row in ascending.items()}
    here = {
        metric.query_id: metric.value
        for metric in theirs.iter_calc([ours.measure(name, ties="trec")], TIED_QRELS, TIED)
    }
    descending = gradely.evaluate(TIED_QRELS, TIED, [name], ties="trec").per_query()
    assert here == {query: row[name] for query, row in descending.items()} != values


def test_their_rr_without_a_cut_off_breaks_ties_as_trec_eval():
    values = theirs.calc_aggregate([theirs.RR, ours.RR(ties="trec")], TIED_QRELS, TIED)
    assert values[theirs.RR] == pytest.approx(values[ours.RR(ties="trec")], abs=1e-9)
    untied = {"q1": {"a": 3, "z": 2, "c": 1}, "q2": {f"d{i:02}": -i for i in range(14)}}
    for name in ("RR@10", "Judged@10"):
        both = theirs.calc_aggregate([theirs.parse_measure(name), ours.measure(name)], TIED_QRELS, untied)
        assert both[theirs.parse_measure(name)] == pytest.approx(both[ours.measure(name)])


def test_cut_offs_and_parameters_are_written_as_there():
    assert str(ours.nDCG @ 10) == "nDCG(ties='expected')@10"
    assert str(ours.nDCG(gain="exp", ties="trec") @ 10) == "nDCG(gain='exp', ties='trec')@10"
    assert ours.nDCG(dcg="exp-log2", cutoff=10) == ours.nDCG(gain="exp") @ 10
    assert ours.nDCG @ 10 @ 5 == ours.nDCG @ 5
    assert ours.IPrec(ties="trec") @ 0.1 == ours.measure("IPrec@0.1", ties="trec")
    assert ours.measure("eGAP(g=[0.2, 0.8])@100") == ours.eGAP(g=[0.2, 0.8]) @ 100
    assert ours.nDCG != theirs.nDCG and hash(ours.nDCG @ 10) == hash(ours.nDCG @ 10)
    with pytest.raises(MeasureError, match="no parameter 'gian'"):
        ours.nDCG(gian="exp")


def test_names_that_they_lack_are_read_by_them():
    assert theirs.parse_measure("muAP@10") == ours.muAP @ 10
    assert theirs.parse_measure("nDCG@10") == theirs.nDCG @ 10
    values = theirs.calc_aggregate([theirs.parse_measure("muAP@10"), theirs.AP], QRELS, RUN)
    assert len(values) == 2


def test_everything_public_can_be_imported():
    assert {"measure", "nDCG", "muAP"} <= set(dir(ours))
    assert all(getattr(ours, kind.__name__).ours == kind() for kind in gradely.ALL)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ours.nothing


@pytest.mark.parametrize("run", [{}, {"q9": {"a": 1.0}}, []])
def test_a_run_without_judged_queries_counts_0(run):
    assert theirs.calc_aggregate([ours.nDCG @ 10], QRELS, run) == {ours.nDCG @ 10: 0.0}


def test_frames_and_namedtuples_are_taken():
    qrels = [theirs.Qrel(query, doc, label) for query, docs in QRELS.items() for doc, label in docs.items()]
    run = [theirs.ScoredDoc(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    measure = ours.nDCG @ 10
    expected = theirs.calc_aggregate([measure], QRELS, RUN)
    assert theirs.calc_aggregate([measure], iter(qrels), iter(run)) == expected
    assert theirs.calc_aggregate([measure], pandas.DataFrame(qrels), pandas.DataFrame(run)) == expected


@needs("trec-dl-2019-passage")
def test_real_runs_have_the_values_of_evaluate():
    folder = DATA / "trec-dl-2019-passage"
    path = min((folder / "runs").glob("*.gz"))
    with gzip.open(folder / "qrels.dl19-passage.txt.gz", "rt") as qrels, gzip.open(path, "rt") as run:
        judged, ranked = list(theirs.read_trec_qrels(qrels.read())), list(theirs.read_trec_run(run.read()))
    names = ["nDCG@10", "AP(rel=2)", "muAP", "ERR@20"]
    values = theirs.calc_aggregate([ours.measure(name) for name in names], judged, ranked)
    scores = gradely.evaluate(folder / "qrels.dl19-passage.txt.gz", path, names).mean()
    assert {name: values[ours.measure(name)] for name in names} == pytest.approx(scores, abs=1e-12)


def frame(columns, rows):
    return pandas.DataFrame(rows, columns=columns)


def experiment(**options):
    """Run a PyTerrier experiment of two rankings."""
    pt = tool("pyterrier")
    topics = frame(["qid", "query"], [("q1", "x"), ("q2", "y"), ("q3", "z")])
    qrels = frame(["qid", "docno", "label"], [(q, d, v) for q, docs in QRELS.items() for d, v in docs.items()])
    columns = ["qid", "docno", "score", "rank"]
    first = [(q, d, s, i) for q, docs in RUN.items() for i, (d, s) in enumerate(docs.items())]
    second = [(q, d, -s, i) for q, d, s, i in first]
    systems = [pt.Transformer.from_df(frame(columns, rows)) for rows in (first, second)]
    metrics = [ours.nDCG @ 10, ours.muAP, "map"]
    return pt.Experiment(systems, topics, qrels, metrics, names=["first", "second"], **options)


def test_an_experiment_has_our_means():
    table = experiment().set_index("name")
    scores = gradely.evaluate(QRELS, RUN, ["nDCG@10", "muAP"]).mean()
    assert table.loc["first", "nDCG(ties='expected')@10"] == pytest.approx(scores["nDCG@10"])
    assert table.loc["first", "muAP(ties='expected')"] == pytest.approx(scores["muAP"])


def test_an_experiment_has_values_by_query():
    table = experiment(perquery=True)
    values = table[(table["name"] == "first") & (table["measure"] == "muAP(ties='expected')")]
    scores = gradely.evaluate(QRELS, RUN, ["muAP"]).per_query()
    assert dict(zip(values["qid"], values["value"], strict=True)) == {q: row["muAP"] for q, row in scores.items()}


def test_an_experiment_has_a_baseline():
    table = experiment(baseline=0)
    assert "nDCG(ties='expected')@10 p-value" in table.columns


def test_an_experiment_in_batches_has_the_same_values():
    """At the end it evaluates an empty run, for the query that no batch answered."""
    whole, parts = experiment(), experiment(batch_size=2)
    column = "nDCG(ties='expected')@10"
    assert parts[column].tolist() == pytest.approx(whole[column].tolist())


def test_subtopics_are_in_the_iteration():
    qrels = [theirs.Qrel("q", doc, 1, subtopic) for doc, subtopic in (("A", "a"), ("B", "b"), ("C", "c"), ("D", "b"))]
    run = [theirs.ScoredDoc("q", doc, float(-place)) for place, doc in enumerate("ADEB")]
    measures = [ours.alpha_nDCG @ 5, ours.StRecall @ 5, ours.RR]
    values = theirs.calc_aggregate(measures, qrels, run)
    assert [values[measure] for measure in measures] == pytest.approx([0.786895617614, 2 / 3, 1])
    plain = [entry._replace(iteration="0") for entry in qrels]
    with pytest.raises(MeasureError, match="needs judgments by subtopic"):
        theirs.calc_aggregate([ours.alpha_nDCG @ 5], plain, run)
