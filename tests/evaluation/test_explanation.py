"""explain: a value that can be recomputed by hand, in a terminal and in a notebook."""

import json
from math import log2

import pytest

import gradely
from gradely.cli.main import run
from tests.cases import CASES

QRELS = {"q1": {"a": 3, "b": 1, "c": 0, "z": 2}, "q2": {"a": 1}}
RUN = {"q1": {"a": 0.5, "x": 0.5, "b": 0.2, "c": 0.9}}


MEASURES = list({case.measure.name: case.measure for case in CASES}.values())
"""one of each kind"""


@pytest.mark.parametrize("ties", ["expected", "trec", "worst"])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_lines_ideal_and_value_are_those_of_evaluate(measure, ties):
    ties = ties if measure.takes_expected else "best"
    for query, labels in QRELS.items():
        explained = gradely.explain(QRELS, RUN, query, measure, ties=ties)
        value = gradely.evaluate(QRELS, RUN, [measure], ties=ties).query(query)[str(measure)]
        assert explained.value == pytest.approx(value, abs=1e-12)
        ideal = {query: {line.document: line.score for line in explained.ideal}}
        best = gradely.evaluate(QRELS, ideal, [measure], ties=ties).query(query)[str(measure)]
        assert explained.ideal_value == pytest.approx(best, abs=1e-12) and set(ideal[query]) == set(labels)
        for line in (*explained.lines, *explained.ideal):
            assert line.gain is None or line.gain * line.weight == pytest.approx(line.adds, abs=1e-12)


def test_gain_discount_and_ideal_are_those_of_the_formula():
    explained = gradely.explain(QRELS, RUN, "q1", "nDCG(gain='exp')@3")
    factors = {line.document: (line.gain, line.weight) for line in explained.lines}
    tied = (1 / log2(3) + 1 / log2(4)) / 2
    assert factors == {"c": (0, 1), "a": (7, pytest.approx(tied)), "x": (None, None), "b": (1, 0)}
    assert [(line.document, line.gain, line.adds) for line in explained.ideal[:3]] == [
        ("a", 7, 7),
        ("z", 3, pytest.approx(3 / log2(3))),
        ("b", 1, 1 / 2),
    ]
    assert explained.ideal_total == explained.norm == pytest.approx(7 + 3 / log2(3) + 1 / 2)


def test_a_table_of_gains_has_its_own_ideal():
    explained = gradely.explain({"q": {"a": 2, "b": 1}}, {"q": ["a", "b"]}, "q", "nDCG(gain={1: 5, 2: 1})")
    assert [line.document for line in explained.ideal] == ["b", "a"] and explained.ideal_value == 1


def test_a_query_that_the_run_lacks_is_said_to_count_0(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 2\n2 0 a 1\n2 0 b 1\n")
    (tmp_path / "bm25.run").write_text("1 Q0 a 1 1 t\n")
    for given in ("bm25.run", {"1": ["a"]}, {"1": ["a"], "2": []}):
        explained = gradely.explain("qrels", given, "2", "AP")
        assert not explained.answered and explained.value == 0 and explained.norm == 2 and len(explained.missed) == 2
        assert explained.start == explained.total == 0
    assert run(["explain", "qrels", "bm25.run", "2", "-m", "AP"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("bm25 has no results for query 2, which counts as 0\n") and "AP 1.0000:" in text
    assert "sum 0.0000 / norm 2.0000 = AP 0.0000" in text
    assert gradely.explain("qrels", "bm25.run", "1", "AP").answered


def test_printed_it_is_what_the_command_line_prints(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    for measure in ("nDCG@3", "AP", "NDCNG", "bpref", "RBP"):
        assert run(["explain", "qrels.json", "run.json", "q1", "-m", measure]) == 0
        assert capfd.readouterr().out == f"{gradely.explain('qrels.json', 'run.json', 'q1', measure)}\n"
    assert run(["explain", "qrels.json", "run.json", "q1", "-m", "nDCG", "--format", "json"]) == 0
    content = json.loads(capfd.readouterr().out)
    assert content["ideal"][0]["document"] == "a" and content["lines"][1]["gain"] == 3


def test_labels_below_1_that_do_not_count_are_noted_as_evaluate_does(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    judged = {"q1": {"a": 0.9, "b": 0.2}, "q2": {"a": 1, "b": 0}}
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    (tmp_path / "run.json").write_text(json.dumps({"q1": {"b": 2.5, "a": 1.25}, "q2": {"a": 1.5}}))
    assert run(["explain", "qrels.json", "run.json", "q1", "-m", "AP"]) == 0
    out = capfd.readouterr().out
    (note,) = (str(note) for note in gradely.evaluate(judged, "run.json", ["AP"]).notes if note.kind == "labels")
    assert "AP counts documents with a label of 1 or more as relevant: 2 of 3 positive" in note
    assert note in out and "= AP 0.0000" in out
    explained = gradely.explain(judged, "run.json", "q1", "AP")
    assert note in str(explained) and note in explained._repr_html_()
    assert json.loads(explained.to_json())["notes"][0]["text"] == note
    for measure in ("nDCG", "AP(rel=0.5)"):
        assert not gradely.explain(judged, "run.json", "q1", measure).notes
    assert "every document of a list counts" in str(gradely.explain({"q1": ["a"]}, "run.json", "q1", "AP"))


def test_an_ideal_that_is_too_large_for_a_number_does_not_hide_the_value():
    explained = gradely.explain({"q": {"a": 1, "b": 2000}}, {"q": ["a"]}, "q", "DCG(gain='exp')")
    assert explained.value == 1 and explained.ideal == ()
    assert explained.ideal_total == explained.ideal_value == 0 and "ideal" not in explained.text()


def test_very_large_numbers_are_short():
    explained = gradely.explain({"q": {"a": 1, "b": 2000}}, {"q": ["a", "b"]}, "q", "nDCG(gain='exp')")
    assert max(map(len, str(explained).splitlines())) < 130 and "e+" in str(explained)


def test_one_more_document_is_singular(tmp_path, monkeypatch, capfd):
    explained = gradely.explain({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "q", "AP")
    text = explained.text(depth=1)
    assert "… and 1 more document, which adds 0.0000" in text and "1 document, with its label: b (1)" in text


def test_the_norm_of_a_query_that_the_run_lacks_is_in_the_units_of_its_gains():
    qrels = {"q": {"a": 2000, "b": 1990}, "r": {"a": 1}}
    answered, lacking = (
        gradely.explain(qrels, run, "q", "nDCG(gain='exp')") for run in ({"q": ["b", "a"]}, {"r": ["a"]})
    )
    assert (lacking.norm, lacking.unit) == (answered.norm, answered.unit) and "units of 2^1488" in lacking.text()


@pytest.mark.parametrize(
    ("ties", "ranks"),
    [
        ("expected", {"c": "1", "a": "2–3", "x": "2–3", "b": "4"}),
        ("trec", {"c": "1", "x": "2", "a": "3", "b": "4"}),
        ("best", {"c": "1", "a": "2", "x": "3", "b": "4"}),
        ("worst", {"c": "1", "x": "2", "a": "3", "b": "4"}),
    ],
)
def test_ranks_are_those_of_the_policy_or_shared(ties, ranks):
    lines = gradely.explain(QRELS, RUN, "q1", "nDCG", ties=ties).lines
    assert [(line.document, line.rank) for line in lines] == list(ranks.items())


def test_of_documents_that_are_worth_the_same_the_ideal_has_higher_labels_first_then_names():
    qrels = {"q": {"a": 1, "b": 2, "d": 0, "c": 2}}
    assert [line.document for line in gradely.explain(qrels, {"q": ["a"]}, "q", "AP").ideal] == ["b", "c", "a", "d"]


@pytest.mark.parametrize(("missed", "names"), [(5, "b0 (1), b1 (1), b2 (1), b3 (1), b4 (1)"), (6, "b4 (1), …")])
def test_five_documents_that_were_missed_are_named(missed, names):
    qrels = {"q": {"a": 1} | {f"b{i}": 1 for i in range(missed)}}
    (line,) = [line for line in gradely.explain(qrels, {"q": ["a"]}, "q", "AP").sentences() if "not retrieved" in line]
    assert line.startswith(f"judged but not retrieved: {missed} documents, with their labels: b0 (1), b1 (1)")
    assert line.endswith(names)


def test_columns_are_those_that_the_measure_has():
    header = lambda measure: gradely.explain(QRELS, RUN, "q1", measure).table().header
    assert header("AP") == ["rank", "document", "score", "label", "precision", "adds"]
    assert header("RR") == ["rank", "document", "score", "label", "adds"]
    assert header("nDCG") == ["rank", "document", "score", "label", "gain", "1/discount", "adds"]
    assert header("muAP(relevance='max')") == ["rank", "document", "score", "label", "relevance", "adds"]


def test_ap_shows_precision_at_each_rank_and_in_a_tie_group_at_its_last():
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 2, "e": 2}}
    ranked = gradely.explain(qrels, {"q": ["x", "a", "b", "d"]}, "q", "AP(rel=2)")
    assert [row[-2:] for row in ranked.table().rows] == [[0, 0], [1 / 2, 1 / 2], [1 / 3, 0], [2 / 4, 2 / 4]]
    assert [row[-2] for row in ranked.ideal_table().rows] == [1, 1, 1]
    tied = gradely.explain(qrels, {"q": {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1}}, "q", "AP@4")
    assert [row[-2] for row in tied.table().rows] == [1, 3 / 4, 3 / 4, 3 / 4, 4 / 5]
    likely = gradely.explain({"q": {"a": {0: 0.5, 1: 0.5}}}, {"q": ["a"]}, "q", "AP")
    assert "precision" not in likely.table().header


def test_four_digits_are_usual():
    explained = gradely.explain(QRELS, RUN, "q1", "nDCG")
    assert explained.table().digits == explained.ideal_table().digits == 4
    assert explained.sentences() == explained.sentences(digits=4) != explained.sentences(digits=5)
    assert explained.describe_ideal() == explained.describe_ideal(4) != explained.describe_ideal(5)
    assert explained.text() == explained.text(4) != explained.text(5)


@pytest.mark.parametrize(
    ("depth", "rest"),
    [(1, "… and 2 more documents, which add 2.0000\n"), (2, "… and 1 more document, which adds 1.0000\n")],
)
def test_what_the_rest_of_the_ideal_adds_is_said(depth, rest):
    explained = gradely.explain({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a"]}, "q", "AP")
    assert rest in explained.text(depth=depth) and "more document" not in explained.text(depth=3)


def test_a_printed_table_shows_a_thousand_documents_and_counts_the_rest(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q 0 d0000 1\nq 0 d1004 1\n")
    (tmp_path / "run").write_text("".join(f"q Q0 d{i:04d} 1 1.0 t\n" for i in range(1005)))
    explained = gradely.explain("qrels", "run", "q", "P")
    rest = "… and 5 more documents, which add 1.0000"
    for options, shown in (([], 1000), (["--depth", "1004"], 1004), (["--depth", "2000"], 1005)):
        assert run(["explain", "qrels", "run", "q", "-m", "P", *options]) == 0
        out = capfd.readouterr().out
        assert out.count("1–1005") == shown and (rest in out) == (not options)
    assert repr(explained) in explained.text() and rest in repr(explained)
    assert explained.text(depth=None).count("1–1005") == 1005
    assert run(["explain", "qrels", "run", "q", "-m", "P", "--format", "csv"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 1006


@pytest.mark.parametrize("documents", [20, 21])
def test_a_notebook_shows_twenty_documents(documents):
    names = [f"d{i:02}" for i in range(documents)]
    html = gradely.explain({"q": dict.fromkeys(names, 1)}, {"q": names}, "q", "AP")._repr_html_()
    assert html.count("… and 1 more document, which adds 1.0000") == (2 if documents > 20 else 0)


def test_sentences_say_where_a_sum_begins_and_in_which_unit_it_is():
    begins = "the sum begins with -2.5000, before any judged document"
    assert begins in gradely.explain(QRELS, RUN, "q1", "Utility(d=0.5, size=10)").sentences()
    assert not [line for line in gradely.explain(QRELS, RUN, "q1", "AP").sentences() if "begins" in line]
    large = gradely.explain({"q": {"a": 2000, "b": 1999}}, {"q": {"b": 2, "a": 1}}, "q", "nDCG(gain='exp')")
    units = f"gains, sums and norm are in units of 2^{large.unit}, since they are too large for numbers"
    assert large.unit and units in large.sentences()
