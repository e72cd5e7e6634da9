"""Judgments by subtopic are the same from every format, and whatever is wrong with them is said in one line."""

import json
from pathlib import Path

import numpy as np
import pytest

import gradely
from gradely.cli.main import run
from gradely.data import read_qrels
from gradely.data.read.formats import FORMATS, Format

JUDGED = {
    "q1": {"d1": {"a": 1.0, "b": 0.0}, "d2": {"b": 2.0}, "d3": {"a": 3.0, "c": 1.0}},
    "q2": {"d1": {"10": 1.0, "9": 1.0}, "d4": {"9": 0.0}},
}
RUN = {"q1": {"d3": 3.0, "d1": 2.0, "d2": 2.0, "x": 1.0}, "q2": {"d4": 1.0, "d1": 1.0}}
ROWS = [
    {"query": query, "subtopic": subtopic, "doc": document, "label": label}
    for query, documents in JUDGED.items()
    for document, labels in documents.items()
    for subtopic, label in labels.items()
]
MEASURES = [measure.name for measure in gradely.ALL if measure.needs_subtopics] + ["nDCG"]


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, text):
    Path(name).write_text(text)
    return name


def trec():
    lines = (f"{row['query']} {row['subtopic']} {row['doc']} {row['label']:g}\n" for row in ROWS)
    return write("div.qrels", "".join(lines))


def table(delimiter, ending):
    lines = [delimiter.join(ROWS[0]), *(delimiter.join(map(str, row.values())) for row in ROWS)]
    return write(f"div.{ending}", "\n".join(lines) + "\n")


def frame(library):
    return pytest.importorskip(library).DataFrame(ROWS)


def parquet():
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(ROWS), "div.parquet")
    return "div.parquet"


WAYS = {
    "dict": lambda: JUDGED,
    "trec": trec,
    "csv": lambda: table(",", "csv"),
    "tsv": lambda: table("\t", "tsv"),
    "json": lambda: write("div.json", json.dumps(JUDGED)),
    "records in json": lambda: write("rows.json", json.dumps(ROWS)),
    "jsonl": lambda: write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS)),
    "parquet": parquet,
    "pandas": lambda: frame("pandas"),
    "polars": lambda: frame("polars"),
    "records": lambda: ROWS,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same_judgments_and_values(way):
    qrels = WAYS[way]()
    judged = read_qrels(qrels, subtopics=True)
    assert {query: judged.subtopic_labels(query) for query in judged.queries} == JUDGED
    assert judged.labels("q1") == {"d1": 1, "d2": 2, "d3": 3}
    expected = gradely.evaluate(JUDGED, RUN, MEASURES).values
    assert np.array_equal(gradely.evaluate(qrels, RUN, MEASURES).values, expected)


def test_subtopics_are_in_the_order_of_their_numbers_then_of_their_names():
    judged = read_qrels({"q": {"a": {"10": 1, "b": 1, "9": 1, "a": 0}}})
    assert judged.subtopics.names == [["9", "10", "a", "b"]]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("blanks", [" ", "\t  "])
def test_lines_are_read_in_any_order_and_between_any_blanks(together, blanks):
    rng = np.random.default_rng(4)
    cells = rng.permutation(4 * 12 * 30)[:600].tolist()
    labels = rng.integers(-1, 4, len(cells)).tolist()
    rows = [(f"q{c % 4}", f"{c // 4 % 12:x}", f"d{c // 48}", label) for c, label in zip(cells, labels, strict=True)]
    rows = sorted(rows, key=lambda row: row[0]) if together else rows
    judged = {}
    for query, subtopic, document, label in rows:
        judged.setdefault(query, {}).setdefault(document, {})[subtopic] = label
    text = write("any.qrels", "".join(f"{blanks.join(map(str, row))}\n" for row in rows))
    found, expected = read_qrels(text, subtopics=True), read_qrels(judged)
    assert list(found.queries) == list(expected.queries) and list(found.docs) == list(expected.docs)
    assert found.grade.tolist() == expected.grade.tolist() and found.start.tolist() == expected.start.tolist()
    assert found.subtopics.names == expected.subtopics.names
    assert found.subtopics.labels.tolist() == expected.subtopics.labels.tolist()


def test_they_are_read_only_where_somebody_asks():
    """The second field of most qrels means nothing; with two values for a document, the error says what it may be."""
    write("qrels.txt", "q 0 a 1\nq 1 b 1\n")
    assert read_qrels("qrels.txt").subtopics is None
    assert read_qrels("qrels.txt", subtopics=True).subtopics.names == [["0", "1"]]
    with pytest.raises(gradely.DataError, match=r"if '1' and '2' are subtopics.*pass subtopics=True \(--subtopics\)"):
        read_qrels(write("div.qrels", "q 1 a 1\nq 2 a 1\n"))


def test_a_column_of_subtopics_that_is_not_read_is_pointed_out_where_documents_recur():
    for rows in (ROWS, table(",", "csv")):
        with pytest.raises(gradely.DataError, match=r"if 'subtopic' holds subtopics, pass subtopics=True"):
            read_qrels(rows)
    once = [ROWS[0], ROWS[2]]
    assert read_qrels(once).subtopics is None
    plain = [{"qid": 1, "doc": "a", "label": 1}] * 2
    with pytest.raises(gradely.DataError) as error:
        read_qrels(plain)
    assert "subtopic" not in str(error.value)


def test_columns_may_have_other_names_and_no_label():
    rows = [{"qid": 1, "fact": 7, "docno": "a"}, {"qid": 1, "fact": 8, "docno": "a"}]
    judged = read_qrels(rows, columns={"subtopic": "fact"})
    assert judged.subtopic_labels("1") == {"a": {"7": 1, "8": 1}}
    assert judged.notes == ["qrels has no label column: every row counts as relevant, with label 1"]
    nuggets = [{"query_id": "q", "nugget_id": "n", "doc_id": "a"}]
    assert read_qrels(nuggets, subtopics=True).subtopic_labels("q") == {"a": {"n": 1}}


@pytest.mark.parametrize(
    ("qrels", "options", "says"),
    [
        ({"q": {"a": {1: 0.5}}}, {"subtopics": True}, "query 'q', document 'a': the subtopic 1 is not text; write '1'"),
        ({"q": {"a": {"s": "x"}}}, {}, "subtopic 's': the label 'x' is not a number"),
        ({"q": {"a": {"s": 1}, "b": 1}}, {}, "document 'b': expected {subtopic: label}, found '1'"),
        ({"q": {"a": {"s": 1}}, "p": ["a"]}, {}, "query 'p': expected {document: {subtopic: label}}"),
        (
            {"q": {"a": 1}},
            {"subtopics": True},
            "expected {subtopic: label}, found '1'; measures of diversity, like alpha",
        ),
        ({"q": ["a"]}, {"subtopics": True}, "{subtopic: label}}, found \"['a']\"; measures of diversity, like alpha"),
        ([{"qid": 1, "doc": "a", "label": 1}], {"subtopics": True}, "no subtopic column among 'qid', 'doc', 'label'"),
        ([{"qid": 1, "intent": 1, "nugget": 2, "doc": "a"}], {"subtopics": True}, "may both be the subtopic column"),
        (
            [{"qid": 1, "subtopic": None, "doc": "a"}],
            {"subtopics": True},
            "record 1: column 'subtopic': an id is missing",
        ),
        (ROWS[:1] * 2, {"subtopics": True}, "record 2: duplicate document 'd1' of query 'q1' and subtopic 'a'"),
        (JUDGED, {"subtopics": {"q1": {"a": 1, "b": 0}}}, "subtopic weights: no weight for subtopic 'c' of query 'q1'"),
        (
            JUDGED,
            {"subtopics": {"q1": {"a": 2}}},
            "the weight of subtopic 'a' of query 'q1' is 2; it must be from 0 to 1",
        ),
        (
            JUDGED,
            {"subtopics": [{"query": "q", "weight": 1}]},
            "subtopic weights: no column 'subtopic' among 'query', 'weight'",
        ),
        (3, {"subtopics": True}, "qrels: cannot be read by subtopic; give a file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(qrels, options, says):
    with pytest.raises(gradely.GradelyError) as error:
        read_qrels(qrels, **options)
    assert says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "q 0 a 1\nq 0 b 0\n",
            "has no subtopics: the second field, where diversity qrels have them, is '0' in every line",
        ),
        ("q 1 a 1\nq 2 a x\n", "div.qrels:2: the label 'x' is not a number"),
        ("q 1 a 1\nq 2 a\n", "div.qrels:2: 3 fields instead of 4"),
        ("q 1 a 1\nq 1 a 2\n", "div.qrels:2: duplicate document 'a' of query 'q' and subtopic '1'"),
        (
            "query,doc,label\nq,a,1\n",
            "no subtopic column among 'query', 'doc', 'label'; name it subtopic or subtopic_id",
        ),
        ("query,subtopic,doc,label\nq,s,a\n", "div.qrels:2: 3 fields instead of 4"),
        ("1 qid:1 1:2\n", "a file of the format letor has no subtopics"),
        ("", "is empty"),
    ],
)
def test_files_that_cannot_be_read_are_one_line_and_exit_code_2(text, says, capfd):
    write("div.qrels", text)
    write("a.run", "q Q0 a 1 1 t\n")
    assert run(["evaluate", "div.qrels", "a.run", "-m", "alpha_nDCG@10"]) == 2
    said = capfd.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and not said.out


def test_a_new_format_has_no_subtopics(monkeypatch):
    monkeypatch.setitem(FORMATS, "pairs", Format((".pairs",), lambda _: False, lambda *_: {}))
    Path("div.pairs").write_text("query,subtopic,doc,label\nq,s,a,1\n")
    with pytest.raises(gradely.InputError, match=r"^div\.pairs: a file of the format pairs has no subtopics$"):
        read_qrels("div.pairs", subtopics=True)


def test_duplicates_may_be_merged():
    rows = [*ROWS[:1], {**ROWS[0], "label": 4}]
    for duplicates, label in (("max", 4), ("sum", 5), ("first", 1)):
        judged = read_qrels(rows, subtopics=True, duplicates=duplicates)
        assert judged.subtopic_labels("q1")["d1"] == {"a": label}
        assert judged.notes[0].startswith("qrels: 1 duplicate document was merged: ")


def test_weights_come_from_dicts_tables_and_lines():
    weights = {"q1": {"a": 0.5, "b": 0.3, "c": 0.2}, "q2": {"9": 0.9, "10": 0.1}}
    rows = [
        {"query": query, "subtopic": subtopic, "weight": weight}
        for query, stated in weights.items()
        for subtopic, weight in stated.items()
    ]
    lines = [" ".join(map(str, row.values())) for row in rows]
    columns = ["query,subtopic,weight", *(line.replace(" ", ",") for line in lines)]
    ways = [weights, rows, write("lines.txt", "\n".join(lines)), write("table.csv", "\n".join(columns))]
    names = ["D_nDCG@2", "D#-nDCG@2"]
    first, *rest = (gradely.evaluate(read_qrels(JUDGED, subtopics=way), RUN, names).values for way in ways)
    assert all(np.array_equal(first, other) for other in rest)
    assert not np.array_equal(first, gradely.evaluate(JUDGED, RUN, names).values)


def test_the_command_takes_subtopics_and_their_weights(capfd):
    trec()
    write("weights.txt", "q1 a 0.5\nq1 b 0.3\nq1 c 0.2\nq2 9 0.9\nq2 10 0.1\n")
    lines = [f"{query} Q0 {doc} 0 {score} t\n" for query, scores in RUN.items() for doc, score in scores.items()]
    write("a.run", "".join(lines))
    options = ["-m", "D_nDCG@2,nDCG@2", "--subtopic-weights", "weights.txt", "--format", "csv"]
    assert run(["evaluate", "div.qrels", "a.run", *options]) == 0
    weights = {"q1": {"a": 0.5, "b": 0.3, "c": 0.2}, "q2": {"9": 0.9, "10": 0.1}}
    scores = gradely.evaluate(read_qrels(JUDGED, subtopics=weights), RUN, ["D_nDCG@2", "nDCG@2"])
    said = capfd.readouterr()
    assert said.out.splitlines()[1].split(",")[1:] == [repr(value) for value in scores.mean().values()]
    assert "div.qrels judges 5 documents by subtopic: nDCG@2 takes the highest label of each" in said.err
    assert run(["evaluate", "div.qrels", "a.run", "-m", "AP"]) == 2
    assert "--subtopics" in capfd.readouterr().err
    assert run(["evaluate", "div.qrels", "a.run", "-m", "AP", "--subtopics"]) == 0


def test_check_recognises_judgments_by_subtopic():
    for qrels in (trec(), table(",", "csv"), JUDGED):
        first, second, *_ = gradely.check(qrels, [])
        assert (
            first.text
            == "documents are judged by subtopic, 2 to 3 subtopics per query; below, the highest label of each counts"
        )
        assert second.text.startswith("2 queries, 5 judgments; labels 0: 1, 1: 2, 2: 1, 3: 1")
    assert gradely.check(write("twice.qrels", "q 0 a 1\nq 0 a 1\n"), []).errors


def test_a_subset_of_queries_keeps_its_subtopics():
    both = gradely.evaluate(JUDGED, RUN, MEASURES)
    one = gradely.evaluate(JUDGED, RUN, MEASURES, queries=["q2"])
    assert one.query("q2") == both.query("q2")


def test_an_explanation_shows_subtopics_and_the_ideal():
    explained = gradely.explain(JUDGED, RUN, "q1", "alpha_nDCG@3")
    assert explained.lines[0].subtopics == {"a": 3, "c": 1}
    assert explained.table().header[3] == "subtopics"
    assert explained.table().rows[0][3] == "a (3), c" and explained.table().rows[-1][3] is None
    assert [line.document for line in explained.ideal][:2] == ["d3", "d2"]
    assert explained.ideal_total == pytest.approx(explained.norm)
    assert explained.value == gradely.evaluate(JUDGED, RUN, ["alpha_nDCG@3"], queries=["q1"])["alpha_nDCG@3"]


@pytest.mark.parametrize("measure", ["alpha_nDCG@3", "D_nDCG", "StRecall@1", "AP_IA"])
def test_commands_on_several_runs_take_them(measure):
    runs = {"one": RUN, "two": {"q1": ["d1", "d2"], "q2": ["d4"]}}
    assert gradely.compare(JUDGED, runs, [measure]).pairs[0].first == "one"
    assert gradely.gate(JUDGED, RUN, runs["two"], [measure]).passed
    ties = gradely.tie_sensitivity(JUDGED, runs, [measure]).runs[0].orders[measure]
    assert ties.worst <= ties.expected <= ties.best
    assert gradely.correlate(JUDGED, runs, [measure, "nDCG"]).tau[0, 1] == 1
    assert gradely.pools(JUDGED, runs, [measure], rates=[1.0, 0.6], repeat=2).tau is not None
    assert "<html" in gradely.compare(JUDGED, runs, [measure], details=True).to_html()


def test_commands_that_show_few_notes_say_that_plain_measures_take_the_highest_label():
    runs = {"one": RUN, "two": {"q1": ["d1", "d2"], "q2": ["d4"]}}
    says = "qrels judges 5 documents by subtopic: nDCG takes the highest label of each"
    for result in (gradely.tie_sensitivity(JUDGED, runs, ["nDCG"]), gradely.correlate(JUDGED, runs, ["nDCG", "AP_IA"])):
        assert says in [note.text for note in result.notes], type(result)
