"""Policies: documents that are their query, queries without relevant documents, weights, passages."""

import json

import numpy as np
import polars as pl
import pytest
import pytrec_eval

import gradely
from gradely import DataError, InputError, MeasureError
from gradely.cli.main import run as cli
from gradely.comparison.pairwise import pseudo_values
from gradely.comparison.tests import p_of_differences, p_values
from gradely.report.data import gather, script_data

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 0}, "q3": {"c": 2}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"c": 5.0, "y": 4.0}}


def notes(result):
    return "\n".join(map(str, result.notes))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {n}\n" for q, docs in QRELS.items() for d, n in docs.items()))
    (tmp_path / "r").write_text("".join(f"{q} Q0 {d} 1 {n} t\n" for q, docs in RUN.items() for d, n in docs.items()))
    return tmp_path


def run_json(arguments, capfd):
    assert cli([*arguments, "--format", "json"]) == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


# exclude_self


def like_arguana(seed=3, size=60):
    """Return qrels and a run like those of BEIR's ArguAna: queries are documents, and find themselves first."""
    rng = np.random.default_rng(seed)
    names = [f"arg-{i}" for i in range(size)]
    qrels = {name: {names[(i + 1) % size]: 1} for i, name in enumerate(names[:40])}
    run = {}
    for name, judged in qrels.items():
        found = dict.fromkeys(rng.permutation([x for x in names if x != name])[:20].tolist() + list(judged))
        run[name] = {name: 1.0} | {doc: float(score) for doc, score in zip(found, rng.random(len(found)), strict=True)}
    return qrels, run


def frame_of(values, number):
    rows = [(query, doc, value) for query, docs in values.items() for doc, value in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", number], orient="row")


def test_arguana_has_the_value_of_beir(tmp_path, capfd):
    qrels, run = like_arguana()
    removed = {query: {doc: score for doc, score in docs.items() if doc != query} for query, docs in run.items()}
    by_query = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recall.10"}).evaluate(removed)
    expected = {
        name: np.mean([values[key] for values in by_query.values()])
        for name, key in {"nDCG@10": "ndcg_cut_10", "AP": "map", "R@10": "recall_10"}.items()
    }
    files = [tmp_path / "q.csv", tmp_path / "r.csv"]
    frames = frame_of(qrels, "label"), frame_of(run, "score")
    for frame, path in zip(frames, files, strict=True):
        frame.write_csv(path)
    for judged, found in ((qrels, run), frames, (frames[0], frames[1].lazy()), files):
        scores = gradely.evaluate(judged, found, list(expected), exclude_self=True)
        assert scores.mean() == pytest.approx(expected, abs=1e-12)
        total = sum(map(len, run.values()))
        excluded = f"40 of {total} documents were excluded from the rankings; exclude_self drops those with the id of"
        assert excluded in notes(scores)
        assert gradely.evaluate(judged, found, list(expected)).mean() != pytest.approx(expected, abs=1e-3)
    written = run_json(["evaluate", *map(str, files), "-m", "nDCG@10,AP,R@10", "--exclude-self"], capfd)
    assert written["runs"][0]["mean"] == pytest.approx(expected, abs=1e-12)
    assert written["exclude_self"] is True


def test_exclude_self_adds_to_what_is_excluded_and_says_where_it_does_nothing():
    qrels = {"q1": {"q1": 2, "a": 1}, "q2": {"a": 1}}
    run = {"q1": ["q1", "x", "a"], "q2": ["x", "a"]}
    both = gradely.evaluate(qrels, run, ["RR"], exclude_self=True, exclude={"q1": ["x"]})
    assert both.per_query() == {"q1": {"RR": 1.0}, "q2": {"RR": 0.5}}
    assert (
        "1 of 2 queries is judged relevant to itself, but exclude_self drops such documents from the rankings: q1"
        in notes(both)
    )
    assert "exclude_self: no ranking contains a document with the id of its query" in notes(
        gradely.evaluate({"q2": {"a": 1}}, run, ["RR"], exclude_self=True)
    )
    with pytest.raises(DataError, match="exclude_self must be True or False; found 'q1'"):
        gradely.evaluate(qrels, run, ["RR"], exclude_self="q1")


# empty


@pytest.mark.parametrize(("empty", "mean"), [("zero", 0.5), ("skip", 0.75), ("one", 2.5 / 3)])
def test_queries_without_relevant_documents(folder, empty, mean, capfd):
    assert gradely.evaluate(QRELS, RUN, ["RR"], empty=empty)["RR"] == mean
    assert gradely.Evaluator(QRELS, ["RR"], empty=empty)(RUN)["RR"] == mean
    assert gradely.evaluate(QRELS, frame_of(RUN, "score").lazy(), ["RR"], empty=empty)["RR"] == mean
    written = run_json(["evaluate", "q", "r", "-m", "RR", "--empty", empty], capfd)
    assert written["runs"][0]["mean"] == {"RR": mean}
    assert written["empty"] == empty
    says = {
        "zero": "1 of 3 queries has no relevant document for RR and scores 0 in every order: q2",
        "skip": "1 of 3 judged queries has no relevant document and is left out: q2",
        "one": "1 of 3 queries has no relevant document for RR and counts as 1, whatever was retrieved: q2",
    }
    assert says[empty] in [note["text"] for note in written["runs"][0]["notes"]]


def test_a_query_is_empty_by_the_measure():
    assert gradely.evaluate(QRELS, RUN, ["AP(rel=2)"], empty="one").per_query()["q2"] == {"AP(rel=2)": 1.0}
    labels = {"q1": {"a": 1}, "q3": {"c": 2}}
    assert list(gradely.evaluate(labels, RUN, ["nDCG"], empty="skip").queries) == ["q1", "q3"]
    assert list(gradely.evaluate(labels, RUN, ["AP(rel=2)"], empty="skip").queries) == ["q3"]
    half = {"q1": {"a": 0.5}, "q3": {"c": 1}}
    assert list(gradely.evaluate(half, RUN, ["nDCG"], empty="skip").queries) == ["q1", "q3"]
    assert list(gradely.evaluate(half, RUN, ["AP"], empty="skip").queries) == ["q3"]
    negative = {"q1": {"a": -1}, "q3": {"c": 1}}
    assert list(gradely.evaluate(negative, RUN, ["nDCG", "AP", "muAP"], empty="skip").queries) == ["q3"]
    both = gradely.evaluate(labels, RUN, ["nDCG", "AP(rel=2)"], empty="one").per_query()
    assert both["q1"] == {"nDCG": pytest.approx(1 / np.log2(3)), "AP(rel=2)": 1.0}


def test_measures_that_disagree_on_empty_queries_are_not_averaged_over_different_ones():
    labels = {"q1": {"a": 1}, "q3": {"c": 2}}
    says = (
        r"empty='skip': query 'q1' has relevant documents for nDCG and none for AP\(rel=2\), so their means would "
        r"be over different queries \(1 differ\); measure them in separate calls"
    )
    for measures in (["nDCG", "AP(rel=2)"], ["AP(rel=2)", "nDCG"]):
        with pytest.raises(DataError, match=says):
            gradely.evaluate(labels, RUN, measures, empty="skip")
    scores = gradely.evaluate(QRELS, RUN, ["RR", "Judged@2"], empty="skip")
    assert (list(scores.queries), scores["Judged@2"]) == (["q1", "q3"], 0.5)


def test_bad_values_of_empty(folder, capfd):
    with pytest.raises(DataError, match=r"empty='skip': no query of qrels has a relevant document for AP\(rel=9\)"):
        gradely.evaluate(QRELS, RUN, ["AP(rel=9)"], empty="skip")
    with pytest.raises(MeasureError, match="empty='one': the best value of DCG is not 1; use 'zero' or 'skip'"):
        gradely.evaluate(QRELS, RUN, ["DCG"], empty="one")
    with pytest.raises(DataError, match="queries without relevant documents 'no': use one of zero, skip, one"):
        gradely.evaluate(QRELS, RUN, ["RR"], empty="no")
    with pytest.raises(DataError, match="empty='one' adds the same to every run"):
        gradely.users(QRELS, {"a": RUN}, empty="one")
    assert cli(["evaluate", "q", "r", "-m", "DCG", "--empty", "one"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_queries_of_the_run_without_judgments_are_empty():
    run = RUN | {"q9": {"a": 1.0}}
    means = {e: gradely.evaluate(QRELS, run, ["RR"], queries="run", empty=e)["RR"] for e in ("zero", "skip", "one")}
    assert means == {"zero": 1.5 / 4, "skip": 0.75, "one": 3.5 / 4}
    scores = gradely.evaluate(QRELS, run, ["RR"], queries="run", empty="one")
    assert "1 of 4 queries of the run has no judgments and counts as 1: q9" in notes(scores)
    assert "and is left out: q9" in notes(gradely.evaluate(QRELS, run, ["RR"], queries="run", empty="skip"))


def test_ties_move_no_query_that_counts_one():
    tied = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 1.0, "x": 1.0}}
    (span,) = gradely.evaluate({"q1": {"a": 1}, "q2": {"a": 0}}, tied, ["RR"], empty="one").tie_ranges
    assert (span.low, span.value, span.high, span.queries) == (0.75, 0.875, 1.0, 1)


# weights

WEIGHTS = {"q1": 1.0, "q2": 2.0, "q3": 5.0, "other": 7.0}


def test_means_are_weighted(folder, capfd):
    (folder / "w.csv").write_text("query,weight\nq1,1\nq2,2.0\nq3,5\n")
    (folder / "q.csv").write_text("query,document,label,visits\nq1,a,1,1\nq1,b,2,1\nq2,a,0,2\nq3,c,2,5\n")
    table = pl.DataFrame({"query": ["q1", "q2", "q3"], "weight": [1.0, 2.0, 5.0]})
    records = [{"query": query, "weight": weight} for query, weight in WEIGHTS.items()]
    for weights in (
        WEIGHTS,
        "w.csv",
        table,
        table.to_pandas(),
        records,
        table.to_pandas().set_index("query")["weight"],
    ):
        scores = gradely.evaluate(QRELS, RUN, ["RR", "nDCG"], weights=weights)
        assert scores["RR"] == 5.5 / 8
        assert scores.geometric_mean()["RR"] == pytest.approx(0.5 ** (1 / 8) * 1e-5 ** (2 / 8))
    assert gradely.evaluate("q.csv", RUN, ["RR"], weights="visits")["RR"] == 5.5 / 8
    assert gradely.evaluate(pl.read_csv("q.csv"), RUN, ["RR"], weights="visits")["RR"] == 5.5 / 8
    for arguments in (["q", "r", "--weights", "w.csv"], ["q.csv", "r", "--weights", "visits"]):
        written = run_json(["evaluate", *arguments, "-m", "RR"], capfd)
        assert written["runs"][0]["mean"]["RR"] == 5.5 / 8
        assert written["weighted"] is True
    kish = "weights are 1 to 5, and Kish's effective number of queries is 2.1 of 3"
    assert f"means are weighted: {kish}" in notes(scores)


def test_weights_count_in_segments_tie_ranges_and_the_order_of_runs():
    by = {"q1": "x", "q2": "x", "q3": "y"}
    scores = gradely.evaluate(QRELS, RUN, ["RR"], weights=WEIGHTS, by=by)
    assert dict(scores.segments) == {"x": {"RR": 0.5 / 3}, "y": {"RR": 1.0}}
    tied = RUN | {"q3": {"c": 1.0, "y": 1.0}}
    (span,) = gradely.evaluate(QRELS, tied, ["RR"], weights=WEIGHTS).tie_ranges
    assert (span.low, span.value, span.high) == pytest.approx((3 / 8, 4.25 / 8, 5.5 / 8))
    other = {"q1": ["b"], "q2": ["a"], "q3": ["y", "c"]}
    assert gradely.compare(QRELS, {"one": RUN, "two": other}, ["RR"]).board.names == ["one", "two"]
    heavy = {"q1": 9, "q2": 1, "q3": 1}
    compared = gradely.compare(QRELS, {"one": RUN, "two": other}, ["RR"], weights=heavy, by=by)
    assert compared.board.names == ["two", "one"]
    assert compared.pairs[0].difference == pytest.approx((9 * 0.5 - 0.5) / 11)
    assert "weighted means" in compared.caption()
    assert compared.segments.mean()["x"]["two"]["RR"] == pytest.approx(0.9)
    assert compared.as_dict()["design"]["weighted"] is True


def test_equal_weights_change_no_bit_and_the_order_of_queries_none_either():
    rng = np.random.default_rng(1)
    names = [f"q{i}" for i in range(50)]
    qrels = {name: {f"d{i}": int(rng.integers(0, 3)) for i in range(8)} for name in names}
    run = {name: {f"d{i}": float(x) for i, x in enumerate(rng.random(8).round(1))} for name in names}
    plain = gradely.evaluate(qrels, run, ["nDCG", "AP"])
    assert gradely.evaluate(qrels, run, ["nDCG", "AP"], weights=dict.fromkeys(names, 0.1)).mean() == plain.mean()
    weights = dict(zip(names, rng.random(50).tolist(), strict=True))
    weighted = gradely.evaluate(qrels, run, ["nDCG", "AP"], weights=weights)
    turned = gradely.evaluate(dict(reversed(qrels.items())), run, ["nDCG", "AP"], weights=weights)
    assert weighted.mean() == turned.mean() and weighted.tie_ranges == turned.tie_ranges
    assert [span.value for span in weighted.tie_ranges] == [*weighted.mean().values()]
    assert weighted["AP"] == pytest.approx(np.average(plain.values[:, 1], weights=list(weights.values())), abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"q1": 1}, "weights: 2 of 3 queries have no weight, such as 'q2'; weight 0 leaves a query out"),
        (
            {"q1": -1, "q2": 1, "q3": 1},
            "query 'q1' has the weight '-1'; a weight must be a finite number of at least 0",
        ),
        ({"q1": float("nan"), "q2": 1, "q3": 1}, "weights: query 'q1' has the weight NaN"),
        ({"q1": float("inf"), "q2": 1, "q3": 1}, "weights: query 'q1' has the weight 'inf'"),
        ({"q1": None, "q2": 1, "q3": 1}, "weights: query 'q1' has the weight 'None'"),
        ({"q1": "much", "q2": 1, "q3": 1}, "weights: query 'q1' has the weight 'much'"),
        (dict.fromkeys(QRELS, 0), "weights: every query has weight 0, so there is no mean"),
        ({"x": 1}, "weights: no query of qrels has a weight: the first are 'q1' and, in weights, 'x'"),
        ([1, 2, 3], r"weights: cannot be list; give \{query: weight\}, a column of the qrels, or a table"),
        ("visits", "weights='visits': the qrels have no columns"),
        (pl.DataFrame({"query": ["q1", "q1"], "weight": [1, 2]}), "weights: query 'q1' has two weights, '1' and '2'"),
        (pl.DataFrame({"query": ["q1"], "visits": [1]}), "weights: "),
        (pl.DataFrame({"query": ["q1", "q2", "q3"], "weight": [1.0, None, 2.0]}), "1 of 3 queries has no weight"),
    ],
)
def test_bad_weights_are_one_line(weights, says):
    with pytest.raises((DataError, InputError), match=says) as error:
        gradely.evaluate(QRELS, RUN, ["RR"], weights=weights)
    assert "\n" not in str(error.value)


def test_queries_of_weight_0_are_left_out_with_a_note():
    scores = gradely.evaluate(QRELS, RUN, ["RR"], weights={"q1": 2, "q2": 0, "q3": 1}, queries="run")
    assert (list(scores.queries), scores["RR"]) == (["q1", "q3"], pytest.approx(2 / 3))
    assert "1 of 3 judged queries has weight 0 and is left out: q2" in notes(scores)
    with pytest.raises(DataError, match="weights: query 'q9' of run has no weight"):
        gradely.evaluate(QRELS, RUN | {"q9": {"a": 1}}, ["RR"], weights=WEIGHTS, queries="run")


# passages


def test_passages_become_documents_everywhere(folder, capfd):
    passages = {
        query: {f"{d}#{i}": s - i / 4 for d, s in docs.items() for i in range(2)} for query, docs in RUN.items()
    }
    expected = gradely.evaluate(QRELS, RUN, ["RR", "nDCG"]).mean()
    frame_of(passages, "score").write_csv("p.csv")
    frame_of(passages, "score").write_parquet("p.parquet")
    for run in (passages, frame_of(passages, "score"), "p.csv", "p.parquet"):
        scores = gradely.evaluate(QRELS, run, ["RR", "nDCG"], document_pattern=r"^(.*)#")
        assert scores.mean() == expected
        made = "the document pattern '^(.*)#' turned 12 passages into 6 documents; a document has the score of its best"
        assert made in notes(scores)
    written = run_json(["evaluate", "q", "p.csv", "-m", "RR,nDCG", "--document-pattern", "^(.*)#"], capfd)
    assert written["runs"][0]["mean"] == expected
    assert written["document_pattern"] == "^(.*)#"
    some = gradely.evaluate(QRELS, passages | {"q1": RUN["q1"]}, ["RR"], document_pattern=r"^(.*)#")
    assert "3 names do not match it and keep their names" in notes(some)
    summed = gradely.evaluate(
        {"q": {"a": 1}}, {"q": {"a#0": 2, "a#1": 2, "b#0": 3}}, ["RR"], document_pattern="(.*)#", duplicates="sum"
    )
    assert summed["RR"] == 1.0
    assert "a document has the sum of its passages' scores" in notes(summed)


def test_bad_document_patterns_are_one_line(folder, capfd):
    for pattern, says in (
        ("(", "the document pattern '(' is not a regular expression"),
        (".*#", "the document pattern '.*#' has 0 groups: put the part that names the document"),
        ("(.)(.)", "the document pattern '(.)(.)' has 2 groups"),
        ("^(.*)#", "r: the document pattern '^(.*)#' matches no document, such as 'x'"),
    ):
        assert cli(["evaluate", "q", "r", "--document-pattern", pattern]) == 2
        error = capfd.readouterr().err
        assert says in error
        assert error.count("\n") == 1
    with pytest.raises(DataError, match=r"document patterns do not work on lazy frames: .*duplicates='max'"):
        gradely.evaluate(QRELS, frame_of(RUN, "score").lazy(), ["RR"], document_pattern="(.*)")


def test_merged_duplicates_are_counted(folder, capfd):
    (folder / "twice").write_text("q1 Q0 a 1 1 t\nq1 Q0 x 1 2 t\nq1 Q0 a 1 3 t\n")
    twice = pl.DataFrame({"query": ["q1"] * 3, "document": ["a", "x", "a"], "score": [1.0, 2.0, 3.0]})
    twice.write_csv("twice.csv")
    runs = ("twice", "twice.csv", twice, twice.lazy(), {"q1": [("a", 1.0), ("x", 2.0), ("a", 3.0)]})
    for run in runs:
        scores = gradely.evaluate(QRELS, run, ["RR"], duplicates="max", queries="both")
        assert scores["RR"] == 1.0
        assert "1 duplicate document was merged: the highest number counts" in notes(scores)
        assert gradely.evaluate(QRELS, run, ["RR"], duplicates="max", queries="both").notes  # and again
    judged = pl.DataFrame({"query": ["q1"] * 2, "document": ["a", "a"], "label": [0, 1]})
    assert "qrels: 1 duplicate document was merged: the highest" in notes(
        gradely.evaluate(judged, RUN, ["RR"], duplicates="max", queries="both")
    )


# comparisons and gates


def random_pair(rng, queries=30):
    names = [f"q{i}" for i in range(queries)]
    qrels = {name: {f"d{i}": int(rng.integers(0, 2)) for i in range(6)} | {"d9": 1} for name in names}
    docs = [f"d{i}" for i in range(10)]
    runs = {run: {name: rng.permutation(docs).tolist() for name in names} for run in ("one", "two")}
    return qrels, runs, dict(zip(names, np.exp(rng.standard_normal(queries)).tolist(), strict=True))


@pytest.mark.parametrize("test", ["t", "randomization", "wilcoxon", "bootstrap", "tukey", "max-t"])
def test_tests_are_those_of_weighted_differences(test):
    qrels, runs, weights = random_pair(np.random.default_rng(5))
    compared = gradely.compare(qrels, runs, ["nDCG"], weights=weights, test=test)
    values = compared.board.values[0]
    weight = np.array([weights[query] for query in compared.board.queries])
    weight /= weight.mean()
    (pair,) = compared.pairs
    assert pair.p == pytest.approx(p_values(values * weight[:, None], test)[0], abs=1e-12)
    assert pair.difference == pytest.approx(float((weight * (values[:, 0] - values[:, 1])).mean()), abs=1e-12)
    assert pair.p != gradely.compare(qrels, runs, ["nDCG"], test=test).pairs[0].p
    assert pair.wins + pair.ties + pair.losses == 30
    low, high = compared.runs_table().records()[0]["low"], compared.runs_table().records()[0]["high"]
    assert low < compared.runs_table().records()[0]["mean"] < high


def test_intervals_of_weighted_means_are_those_of_the_jackknife():
    rng = np.random.default_rng(2)
    values, weights = rng.random((12, 3)), rng.random(12) + 0.1
    weights /= weights.mean()
    without = np.stack([np.average(np.delete(values, i, 0), 0, np.delete(weights, i)) for i in range(12)])
    pseudo = pseudo_values(values, weights)
    assert pseudo.mean(axis=0) == pytest.approx(np.average(values, axis=0, weights=weights), abs=1e-14)
    jackknife = np.sqrt(11 / 12 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    assert pseudo.std(axis=0, ddof=1) / np.sqrt(12) == pytest.approx(jackknife, rel=1e-12)


def test_segments_of_weighted_queries_are_compared_as_if_there_were_no_others():
    qrels, runs, weights = random_pair(np.random.default_rng(6), 12)
    part = {query: "xy"[i % 3 == 0] for i, query in enumerate(qrels)}
    by_segment = gradely.compare(qrels, runs, ["nDCG"], weights=weights, by=part).segments
    for pair in by_segment.pairs:
        inside = [query for query in qrels if part[query] == pair.segment]
        (alone,) = gradely.compare(qrels, runs, ["nDCG"], weights=weights, queries=inside).pairs
        sign = 1 if alone.first == pair.first else -1
        assert (sign * pair.difference, sign * pair.effect) == pytest.approx((alone.difference, alone.effect))
        assert sorted([sign * pair.low, sign * pair.high]) == pytest.approx([alone.low, alone.high])
    assert by_segment.as_dict()["segments"]["x"]["n"] == 8 and len(by_segment.pairs_frame("polars")) == 2


def test_leaving_a_query_out_keeps_the_weights_of_the_others():
    qrels, runs, weights = random_pair(np.random.default_rng(6), 12)
    influence = gradely.compare(qrels, runs, ["nDCG"], weights=weights).influence
    for i in (0, 7):
        rest = {query: docs for query, docs in qrels.items() if query != influence.queries[i]}
        again = gradely.compare(rest, runs, ["nDCG"], weights=weights).pairs[0]
        assert influence.adjusted[i, 0, 0] == pytest.approx(again.p, rel=1e-9)


def test_policies_hold_for_systems_with_several_runs():
    qrels, runs, weights = random_pair(np.random.default_rng(5), 8)
    systems = {"one": [runs["one"], runs["two"]], "two": [runs["two"]]}
    for policies in ({"weights": weights}, {"empty": "skip", "exclude_self": True}):
        alone = {name: gradely.evaluate(qrels, run, ["nDCG"], **policies)["nDCG"] for name, run in runs.items()}
        means = gradely.compare(qrels, systems, ["nDCG"], **policies).mean()
        assert means["one"]["nDCG"] == pytest.approx((alone["one"] + alone["two"]) / 2, abs=1e-15)
        assert means["two"]["nDCG"] == alone["two"]


def test_a_page_shows_weighted_numbers():
    qrels, runs, weights = random_pair(np.random.default_rng(5), 8)
    compared = gradely.compare(qrels, runs, ["nDCG"], weights=weights, exclude_self=True)
    page = compared.to_html()
    assert "weighted means" in page
    assert "means are weighted: weights are" in page
    assert "exclude_self: no ranking contains a document with the id of its query" in page
    board, pairwise = compared.board, compared.pairwise
    data = script_data(board, pairwise, *gather(board))  # whose script would take plain means of the values
    assert data["pairs"]["numbers"][0][0] == [pytest.approx(compared.pairs[0].low, abs=1e-6)]
    assert data["mean"] == pytest.approx(np.round(board.means, 12))


def test_the_record_of_a_gate_has_the_policies(folder, capfd):
    (folder / "w.csv").write_text("query,weight\nq1,1\nq2,2\nq3,5\n")
    policies = ["--exclude-self", "--empty", "one", "--weights", "w.csv", "--duplicates", "max", "-m", "RR"]
    assert cli(["gate", "q", "r", *policies, "--save", "kept.json"]) == 0
    kept = json.loads((folder / "kept.json").read_text())
    assert {key: kept["settings"][key] for key in ("exclude_self", "empty", "duplicates", "document_pattern")} == {
        "exclude_self": True,
        "empty": "one",
        "duplicates": "max",
        "document_pattern": None,
    }
    assert kept["weights"] == [1.0, 2.0, 5.0]
    capfd.readouterr()
    assert cli(["gate", "q", "r", *policies, "--baseline", "kept.json"]) == 0
    out = capfd.readouterr()
    assert "exclude_self: True" in out.out + out.err
    assert "weighted means" in out.out + out.err
    for changed, says in (
        ([o for o in policies if o != "--exclude-self"], "saved with exclude_self True, not False"),
        ([*policies[:1], *policies[3:]], "saved with empty 'one', not 'zero'"),
        ([*policies[:3], *policies[5:]], "saved with different query weights"),
        (["--document-pattern", "^(.)", *policies], "saved with document_pattern None, not '^(.)'"),
    ):
        assert cli(["gate", "q", "r", *changed, "--baseline", "kept.json"]) == 2
        assert says in capfd.readouterr().err
    (folder / "w.csv").write_text("query,weight\nq1,1\nq2,2\nq3,6\n")
    assert cli(["gate", "q", "r", *policies, "--baseline", "kept.json"]) == 2
    assert "saved with different query weights" in capfd.readouterr().err


def test_a_gate_decides_by_weighted_drops():
    qrels, runs, weights = random_pair(np.random.default_rng(5))
    decided = gradely.gate(qrels, runs["one"], runs["two"], ["nDCG"], weights=weights)
    compared = gradely.compare(qrels, runs, ["nDCG"], weights=weights)
    means = compared.mean()
    (change,) = decided.changes
    assert (change.new, change.old) == (means["one"]["nDCG"], means["two"]["nDCG"])
    assert min(change.p, change.p_not_worse) == pytest.approx(compared.pairs[0].p / 2, abs=1e-12)


def test_tables_of_users_are_weighted():
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(6)} for i in range(6)}
    runs = {run: {query: rng.permutation([f"d{i}" for i in range(8)]).tolist() for query in qrels} for run in "ab"}
    weights = {query: i + 1 for i, query in enumerate(qrels)}
    regions = gradely.users(qrels, runs, weights=weights)
    g = (0.3, 0.7)
    expected = {
        run: gradely.evaluate(qrels, runs[run], ["eGAP(g=[0.3, 0.7])"], weights=weights).mean().popitem()[1]
        for run in runs
    }
    assert regions.means(g) == pytest.approx(expected, abs=1e-12)
    assert "means are weighted" in notes(regions)


@pytest.mark.parametrize(("spread", "queries"), [(0.5, 25), (1.0, 25), (1.5, 50)])
def test_the_test_of_weighted_differences_keeps_its_level(spread, queries):
    rng = np.random.default_rng(8)
    differ = rng.standard_normal((queries, 4000))
    weights = np.exp(spread * rng.standard_normal((queries, 4000)))
    p = p_of_differences(differ * weights / weights.mean(axis=0), "t", 1, 0)
    assert 0.015 < np.mean(p < 0.05) < 0.055
