"""Looking into files: check counts the same however a file is read, and explain reads only its query."""

import gzip
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely.cli.main import run
from gradely.data import source as sources
from gradely.data.read import pieces
from gradely.data.read import pieces as runs
from gradely.data.read.lines import RUN, read, read_query, scan
from gradely.data.source import Source, ignore
from gradely.data.survey import survey
from gradely.data.table import DUPLICATES_HINT
from gradely.data.tie_counts import RunCounts, count_run
from gradely.evaluation.check import check, check_qrels, check_run

CLOSE = (0.5, 1.0, 2.0, 16777216.0, 16777217.0)
"""the last two tie in single precision"""
line = st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(1, 5), st.sampled_from(CLOSE))
table = st.lists(line, min_size=1, max_size=25, unique_by=lambda each: each[:2])


def written(path, rows, rank=str):
    path.write_text("".join(f"{query} Q0 d{doc} {rank(at)} {score!r} t\n" for query, doc, at, score in rows))
    return Source(str(path))


def by_hand(rows):
    """Count again, pair by pair."""
    alike = lambda a, b, of: a is not b and a[0] == b[0] and of(a[3]) == of(b[3])
    tied = [a for a in rows if any(alike(a, b, float) for b in rows)]
    rounded = [a for a in rows if any(alike(a, b, lambda score: min(score, 16777216.0)) for b in rows)]
    against = {a[0] for a in rows for b in rows if a[0] == b[0] and a[2] < b[2] and a[3] < b[3]}
    return len(rows), len(tied), len({(a[0], a[3]) for a in tied}), len(rounded) - len(tied), against


def as_counts(found: RunCounts):
    return *found[:4], set(found.against)


@settings(max_examples=150, deadline=None)
@given(rows=table, together=st.booleans(), size=st.sampled_from([40, 120, 1 << 20]))
def test_a_run_is_counted_the_same_in_pieces_as_by_hand(tmp_path_factory, rows, together, size):
    rows = sorted(rows, key=lambda each: each[0]) if together else rows
    source = written(tmp_path_factory.mktemp("run") / "run", rows)
    before, runs.PIECE = runs.PIECE, size
    try:
        assert as_counts(survey(source, 2, ignore)) == by_hand(rows)
    finally:
        runs.PIECE = before
    scanned = scan(source, RUN, ignore)
    assert as_counts(count_run(scanned.values, scanned.ranks)) == by_hand(rows)


def test_ranks_that_are_no_numbers_contradict_nothing(tmp_path):
    source = written(tmp_path / "run", [("a", 1, 1, 1.0), ("a", 2, 2, 2.0)], rank=lambda _: "-")
    assert survey(source, 1, ignore).against == []
    scanned = scan(source, RUN, ignore)
    assert count_run(scanned.values, scanned.ranks).against == []


@pytest.fixture
def collection(tmp_path):
    """Return judgments and a run as dicts, and the run's lines."""
    draw = random.Random(3)
    qrels = {f"q{q}": {f"d{d}": draw.randrange(3) for d in draw.sample(range(40), 12)} for q in range(12)}
    run = {f"q{q}": {f"d{d}": float(draw.randrange(9)) for d in draw.sample(range(40), 30)} for q in range(1, 14)}
    lines = [f"{q} Q0 {d} 1 {score!r} t\n" for q, docs in run.items() for d, score in docs.items()]
    return qrels, run, lines


def texts(findings):
    return [(finding.kind, finding.text) for finding in findings]


def test_a_file_has_the_findings_of_a_dict_whatever_its_order(collection, tmp_path, monkeypatch):
    qrels, ranked, lines = collection
    expected = texts(check(qrels, ranked))
    assert ("warning", "no results for 1 query (q0) of the qrels") in expected
    assert ("warning", "no judgments for 2 queries (q12, q13) of the run") in expected
    path = tmp_path / "run"
    for order in (lines, sorted(lines, key=lambda each: each.split()[2])):
        path.write_text("".join(order))
        assert sorted(texts(check(qrels, path))) == sorted(expected)
    monkeypatch.setattr(runs, "PIECE", 1000)
    monkeypatch.setattr(pieces, "LONGEST", 2000)
    assert sorted(texts(check(qrels, path))) == sorted(expected)


def test_the_unjudged_share_of_the_top_10_is_the_mean_over_orders():
    qrels, tied = {"q": {"d1": 1, "d2": 0}}, {"q": {f"d{i}": 1.0 for i in range(20)}}
    assert "90.0 % of the documents are unjudged, 90.0 % of the top 10" in str(check(qrels, tied))
    judged = gradely.evaluate(qrels, tied, ["Judged@10"]).mean()["Judged@10"]
    assert judged == pytest.approx(0.1)


def test_features_of_a_letor_file_are_checked_by_name(tmp_path, capfd):
    (tmp_path / "train.txt").write_text("2 qid:1 1:0.5 2:1\n0 qid:1 1:0.5 2:3\n")
    assert run(["check", str(tmp_path / "train.txt"), "--feature", "1", "--feature", "2"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert "train:1: 100.0 % of the documents share their score with another one, in 1 tie group" in lines
    assert lines[-1] == "train:2: 0.0 % of the documents are unjudged, 0.0 % of the top 10"


def test_lines_that_cannot_be_used_are_named_and_the_others_counted(collection, tmp_path):
    qrels, ranked, lines = collection
    path = tmp_path / "run"
    path.write_text("".join(lines) + "q1 Q0 d99 1 nan t\n" + lines[0] + "q1 Q0\n" * 9)
    findings = check(qrels, path)
    wrong = [str(finding) for finding in findings if finding.kind == "error"]
    assert wrong[0].startswith(f"{path}:{len(lines) + 1}: error: the score is nan")
    assert wrong[1].startswith(f"{path}:{len(lines) + 2}: error: duplicate document ")
    assert wrong[1].endswith(f"in line 1; {DUPLICATES_HINT}")
    assert wrong[-1] == f"{path}: error: 11 lines in all cannot be used"
    rest = [each for each in texts(findings) if each[0] != "error"]
    assert rest == texts(check(qrels, ranked))


def test_checking_a_run_reports_progress(collection, tmp_path, monkeypatch):
    qrels, _, lines = collection
    monkeypatch.setattr(runs, "PIECE", 1000)
    path, told = tmp_path / "run", []
    path.write_text("".join(lines))
    check_run(check_qrels(qrels)[0], path, told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) > 4


@pytest.mark.parametrize("block", [1, 7, 100, 1 << 22])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_one_query_is_read_as_the_plain_reader_does(collection, tmp_path, monkeypatch, block, ending, pack):
    _, _, lines = collection
    odd = ["", "  q1.  Q0\td1 1 2.5 t", "q1+ Q0 d1 1 1 t", "\tq(1 Q0 d1 1 7e1 t", "q1é Q0 d1 1 1 t"]
    content = "\ufeff" + "".join(lines).replace("\n", ending) + ending.join(odd)
    (tmp_path / "run").write_bytes(pack(content.encode()))
    monkeypatch.setattr(sources, "BLOCK", block)
    source = Source(str(tmp_path / "run"))
    everything = read(source, RUN)
    names = [*everything, "q", "Q0", "d1", ".*", "q999"] if block > 7 else ["q1", "q13", "q1.", "q(1", "q1é", "q"]
    for name in names:
        assert read_query(source, name) == everything.get(name, {})


def explained(tmp_path, content, query="b"):
    (tmp_path / "run").write_bytes(content)
    return gradely.explain({"a": {"d": 1}, "b": {"d": 1, "e": 0}}, str(tmp_path / "run"), query, "RR")


GOOD = b"a Q0 d 1 1 t\nb Q0 d 1 1 t\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 20, "is not UTF-8 text"),
        (b"x Q0 d 1 1 t\n", "no query in common"),
        (b"a Q0 d 1 x t\n", "run:1: the score 'x' is not a number"),
        (b"\n" + GOOD + b"b Q0 e 1 x t\n", "run:4: the score 'x' is not a number"),
        (GOOD + b"\nb Q0 e 1 x t\n", "run:4: the score 'x' is not a number"),
        (GOOD + b"b Q0 d 1 2 t\n", "run:3: duplicate document 'd' of query 'b', first in line 2"),
        (GOOD + b"b Q0 \xe9 1 2 t\n", "run:3: is not UTF-8 text"),
        (GOOD + b"b Q0 \x01 1 2 t\n", "run:3: is not UTF-8 text"),
    ],
)
def test_what_is_wrong_with_the_query_is_explained(tmp_path, content, says):
    with pytest.raises(gradely.GradelyError, match=says):
        explained(tmp_path, content)


def test_what_is_wrong_with_other_queries_does_not_matter(tmp_path):
    assert explained(tmp_path, GOOD + b"c Q0 d 1 x t\na Q0 d 1 1 t\nc\n").value == 1


@pytest.mark.parametrize(("wrong", "counted"), [(5, 0), (6, 1)])
def test_five_lines_that_cannot_be_used_are_named(tmp_path, wrong, counted):
    (tmp_path / "qrels").write_text("1 0 a 1\n" + "1 0\n" * wrong)
    found = [finding for finding in check(tmp_path / "qrels") if finding.kind == "error"]
    assert len(found) == 5 + counted and found[4].about == f"{tmp_path / 'qrels'}:6"
    assert (found[-1].text == f"{wrong} lines in all cannot be used") == bool(counted)


@pytest.mark.parametrize(("missing", "names"), [(5, "q1, q2, q3, q4, q5"), (6, "q1, q2, q3, q4, q5, …")])
def test_five_queries_are_named(missing, names):
    qrels = {f"q{i}": {"a": 1} for i in range(missing + 1)}
    assert f"no results for {missing} queries ({names}) of the qrels" in str(check(qrels, {"q0": ["a"]}))


def test_what_cannot_be_read_at_all_is_a_finding_that_says_what_other_functions_say(tmp_path):
    path = tmp_path / "qrels.json"
    path.write_text('{"1": {"a"')
    for broken in (path, {"1": {"a": "much"}}):
        wrong, *rest = check(broken, {"q": {"d": 1.0}})
        with pytest.raises(gradely.GradelyError) as theirs:
            gradely.read_qrels(broken)
        assert wrong.kind == "error" and f"{wrong.about}: {wrong.text}" == str(theirs.value)
        assert [str(finding) for finding in rest] == ["run: 1 document"]  # which is checked all the same


def test_runs_may_be_a_list_of_paths(tmp_path):
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("q Q0 d 1 1.0 t\n")
    paths = [tmp_path / "a.run", str(tmp_path / "b.run")]
    assert check({"q": {"d": 1}}, paths) == check({"q": {"d": 1}}, *paths)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (range(12), "labels 0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1"),
        (range(13), "13 distinct labels, 0 to 12"),
    ],
)
def test_twelve_labels_are_counted_one_by_one(labels, says):
    (finding,) = check({"q": {f"d{label}": label for label in labels}})
    assert finding.text.endswith(says)


@pytest.mark.parametrize(("labels", "said"), [([0, 1], False), ([1, 1], False), ([1, 2], True), ([2, 3], True)])
def test_labels_that_begin_above_0_are_said_to(labels, said):
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    assert (f"the lowest label is {labels[0]}" in str(check(qrels))) == said


def test_queries_of_the_run_are_counted_with_and_without_judgments():
    findings = check({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["a"], "q3": ["a"]})
    assert "3 queries, 3 documents" in texts_alone(findings)


def test_a_judged_document_below_the_top_10_is_not_in_it():
    run = {"q": [f"d{i}" for i in range(1, 13)]}
    findings = check({"q": {"d1": 1, "d12": 1}}, run)
    assert "83.3 % of the documents are unjudged, 90.0 % of the top 10" in texts_alone(findings)


def texts_alone(findings):
    return [finding.text for finding in findings]


def test_negative_labels_are_counted():
    (odd,) = [finding for finding in check({"q": {"a": 1, "b": -1, "c": 0}}) if finding.kind == "warning"]
    assert odd.text.startswith("a negative label in 1 judgment: judged, but not relevant, and without gain; if -1 is ")


def test_runs_by_name_are_checked_one_by_one():
    frame = pd.DataFrame({"qid": ["q", "q"], "docid": [1, 2], "docno": ["a", "b"], "score": [2.0, 1.0]})
    found = gradely.check({"q": {"a": 1, "b": 0}}, {"bm25": frame, "dense": frame})
    assert [finding.about for finding in found if finding.kind == "warning"] == ["bm25", "dense"]
    assert all(finding.text.startswith("'docno' is read") for finding in found if finding.kind == "warning")
