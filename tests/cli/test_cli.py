"""The command line as people use it."""

import csv
import io
import json
import os
import re
import stat
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import gradely
from gradely.cli.main import COMMANDS, run
from gradely.measures import PLAIN, parameters


@pytest.fixture
def said(capfdbinary):
    """Return a function that runs a command and returns what it printed."""

    def call(*arguments, code=0):
        assert run(list(arguments)) == code
        return capfdbinary.readouterr().out.decode()

    return call


MEANS = lambda name: gradely.evaluate("qrels.txt", f"{name}.run").mean()


def test_a_single_run_is_a_table_that_stands_upright(demo, said):
    lines = said("evaluate", "qrels.txt", "dense.run").splitlines()
    assert lines[0].split() == ["measure", "dense"]
    shown = dict(line.split() for line in lines[2:8])
    assert shown == {name: f"{value:.4f}" for name, value in MEANS("dense").items()}


def test_several_runs_are_rows(demo, said):
    lines = said(
        "evaluate", "qrels.txt", "dense.run", "lexical.run", "-m", "AP", "-m", "nDCG(gain='exp')@10"
    ).splitlines()
    assert lines[0].split() == ["run", "AP", "nDCG(gain='exp')@10"]
    assert [line.split()[0] for line in lines[2:4]] == ["dense", "lexical"]


def test_below_the_table_it_says_how_far_ties_matter(demo, said):
    text = said("evaluate", "qrels.txt", "popular.run", "-m", "AP")
    (tied,) = gradely.evaluate("qrels.txt", "popular.run", ["AP"]).tie_ranges
    low, high = (
        gradely.evaluate("qrels.txt", "popular.run", ["AP"], ties=policy).mean()["AP"] for policy in ("worst", "best")
    )
    assert (tied.low, tied.high) == (pytest.approx(low, abs=1e-14), pytest.approx(high, abs=1e-14))
    where = f"depending on the order of ties in {tied.queries} of 24 queries"
    assert f"AP {tied.value:.4f}, between {low:.4f} and {high:.4f} {where}" in text
    assert "2 of 24 judged queries are not in the run and count as 0: q23, q24" in text


@pytest.mark.parametrize(("digits", "shown"), [(4, True), (2, True), (1, False)])
def test_ranges_whose_ends_are_printed_alike_are_not_shown(tmp_path, monkeypatch, said, digits, shown):
    """Of 30 queries one has a tie: RR is between 29.5/30 and 1, which one digit does not tell apart."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{i}" for i in range(30)]
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    scores = {query: 1 if query == "q7" else 2 for query in queries}
    lines = [f"{query} Q0 a 1 {score} x\n{query} Q0 b 2 1 x\n" for query, score in scores.items()]
    (tmp_path / "some.run").write_text("".join(lines))
    arguments = ("evaluate", "qrels.txt", "some.run", "-m", "RR", "--digits", str(digits))
    assert (
        "RR 0.9917, between 0.9833 and 1.0000 depending on the order of ties in 1 of 30 queries" in said(*arguments)
    ) == shown
    (note,) = json.loads(said(*arguments, "--format", "json"))["runs"][0]["notes"]
    assert note["kind"] == "ties", "programs are told whatever the digits"


@pytest.mark.parametrize("ties", ["expected", "trec", "order", "best", "worst", "random"])
@pytest.mark.parametrize("queries", ["qrels", "both", "run"])
def test_json_has_everything_in_full(demo, said, ties, queries):
    options = ["--ties", ties, "--queries", queries, "--judged-only", "--seed", "3"]
    found = json.loads(
        said(
            "evaluate",
            "qrels.txt",
            "popular.run",
            "dense.run",
            "-m",
            "AP",
            "-m",
            "P_5",
            "-q",
            "--format",
            "json",
            *options,
        )
    )
    scores = gradely.evaluate(
        "qrels.txt", "popular.run", ["AP", "P_5"], ties=ties, queries=queries, judged_only=True, seed=3
    )
    assert (found["ties"], found["queries"]) == (ties, queries)
    assert [each["run"] for each in found["runs"]] == ["popular", "dense"]
    first = found["runs"][0]
    assert first["mean"] == scores.mean()
    assert first["queries"] == scores.per_query()
    assert first["notes"] == [note.as_dict() for note in scores.notes]
    assert "queries" not in json.loads(said("evaluate", "qrels.txt", "popular.run", "--format", "json"))["runs"][0]


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_text_reads_back_in_full(demo, said, form, delimiter):
    rows = list(
        csv.DictReader(
            io.StringIO(said("evaluate", "qrels.txt", "dense.run", "-q", "--format", form)), delimiter=delimiter
        )
    )
    expected = gradely.evaluate("qrels.txt", "dense.run").per_query()
    assert [row["query"] for row in rows] == list(expected)
    assert all(float(row["AP"]) == expected[row["query"]]["AP"] for row in rows)


def test_markdown_and_latex(demo, said):
    markdown = said("evaluate", "qrels.txt", "dense.run", "-m", "AP", "--format", "markdown", "--digits", "2")
    assert markdown == f"| run | AP |\n| --- | ---: |\n| dense | {MEANS('dense')['AP']:.2f} |\n"
    latex = said("evaluate", "qrels.txt", "dense.run", "-m", "P_5", "--format", "latex")
    assert r"run & P\_5 \\" in latex and r"\begin{tabular}{lr}" in latex


def test_per_query_tables_end_with_the_mean(demo, said):
    lines = said("evaluate", "qrels.txt", "dense.run", "-m", "RR", "-q").splitlines()
    assert lines[2].split()[:2] == ["dense", "q01"]
    assert lines[26].split()[:2] == ["dense", "mean"]


def test_output_goes_to_a_file_and_notes_to_standard_error(demo, capfd):
    assert run(["evaluate", "qrels.txt", "popular.run", "--format", "csv", "-o", "out.csv"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "are not in the run" in err
    assert (demo / "out.csv").read_text().startswith("run,nDCG@10")


def test_pipes_and_links_stay_what_they_are(demo):
    os.mkfifo("pipe")
    os.symlink("real.csv", "link.csv")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert run(["evaluate", "qrels.txt", "dense.run", "--format", "csv", "-o", "pipe"]) == 0
        assert reader.stdout.read().startswith(b"run,nDCG@10")
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert run(["evaluate", "qrels.txt", "dense.run", "--format", "csv", "-o", "link.csv"]) == 0
    assert os.path.islink("link.csv") and (demo / "real.csv").read_text().startswith("run,nDCG@10")


NAMES = {
    "itself": "{}",
    "another spelling": "./nowhere/../{}",
    "a link": "link",
    "a hard link": "hard",
}
WRITES = {
    "evaluate": "evaluate {qrels} {run} --format csv -o {out}",
    "evaluate with a file of queries": "evaluate qrels.txt dense.run --only {only} --format csv -o {out}",
    "compare": "compare {qrels} popular.run {run} --format csv -o {out}",
    "compare with a page": "compare {qrels} popular.run {run} --report {out}",
    "ties": "ties {qrels} {run} --format csv -o {out}",
    "explain": "explain {qrels} {run} q01 -m AP --format csv -o {out}",
    "correlate": "correlate {qrels} popular.run {run} --format csv -o {out}",
    "pools": "pools {qrels} popular.run {run} --format csv -o {out}",
    "users": "users {qrels} {run} --format csv -o {out}",
    "plan": "plan {qrels} popular.run {run} --format csv -o {out}",
    "phi": "phi {qrels} --format csv -o {out}",
    "holes": "holes {qrels} {run} --format csv -o {out}",
    "overlap": "overlap popular.run {run} --format csv -o {out}",
    "check": "check {qrels} {run} --format csv -o {out}",
    "judges": "judges --qrels {qrels} --qrels {only} popular.run {run} --format csv -o {out}",
    "judges with a page": "judges --qrels {qrels} --qrels {only} --report {out}",
    "judges that merge": "judges --qrels {qrels} --qrels {only} --merge mean -o {out}",
    "estimate": "estimate {qrels} --judge {only} popular.run {run} --format csv -o {out}",
    "a comparison with a judge": "compare {qrels} --judge {only} popular.run {run} --format csv -o {out}",
    "sample": "sample {qrels} {run} -n 2 --format csv -o {out}",
    "sample of documents": "sample {qrels} {run} -n 2 --pool {out}",
    "a run as labels": "evaluate --qrels-from-run {only} {run} --format csv -o {out}",
    "weights": "evaluate qrels.txt dense.run --weights {only} --format csv -o {out}",
    "segments": "evaluate qrels.txt dense.run --by {only} --format csv -o {out}",
    "excluded documents": "evaluate qrels.txt dense.run --exclude {only} --format csv -o {out}",
    "weights of subtopics": "evaluate qrels.txt dense.run --subtopic-weights {only} --format csv -o {out}",
    "texts": "explain qrels.txt dense.run q01 -m AP --docs-text {only} --format csv -o {out}",
    "report": "report {qrels} {run} -o {out}",
    "report with texts": "report qrels.txt dense.run --queries-text {only} -o {out}",
    "gate with a summary": "gate {qrels} {run} --baseline popular.run --summary {out}",
    "gate with test cases": "gate {qrels} {run} --baseline popular.run --junit {out}",
    "gate that saves": "gate {qrels} {run} --baseline popular.run --save {out}",
    "gate and a table": "gate {qrels} popular.run --baseline {run} --format csv -o {out}",
    "gate that saves over a run": "gate {qrels} popular.run --baseline {run} --save {out}",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", WRITES)
def test_an_output_that_is_an_input_is_refused_and_the_input_stays(demo, fails, command, name):
    (demo / "nowhere").mkdir()
    (demo / "only").write_text("q01\n")
    inputs = {"qrels": "qrels.txt", "run": "dense.run", "only": "only"}
    for file in [inputs[role] for role in inputs if f"{{{role}}}" in WRITES[command]]:
        for link, make in (("link", os.symlink), ("hard", os.link)):
            (demo / link).unlink(missing_ok=True)
            make(demo / file, demo / link)
        says = (": cannot be written: ", " are the same file; name another one\n")
        fails(*WRITES[command].format(**inputs, out=NAMES[name].format(file)).split(), says=says)


@pytest.mark.parametrize("option", ["--format csv -o", "--report"])
def test_an_output_that_a_pattern_or_a_suite_names_is_refused(demo, fails, option):
    """Such files stand in no argument: --group 'b=lex*.run' -o lexical.run once replaced the run."""
    (demo / "parts").mkdir()
    table = pa.table({"query": ["q01"], "document": ["d001"], "score": [1.0]})
    parquet.write_table(table, demo / "parts" / "part-0.parquet")
    (demo / "suite.toml").write_text('[a]\nqrels = "qrels.txt"\nruns.a = "lexical.run"\nruns.b = "parts"\n')
    (demo / "link").symlink_to("lexical.run")
    part = (demo / "parts" / "part-0.parquet").read_bytes()
    for command in ("compare qrels.txt --group a=dense.run --group b=lex*.run", "suite suite.toml"):
        for out in ("lexical.run", "link", *(["parts/part-0.parquet"] if command.startswith("suite") else [])):
            says = f"gradely: {out}: cannot be written: it is one of the input files; name another one\n"
            fails(*command.split(), *option.split(), out, says=says)
    assert (demo / "parts" / "part-0.parquet").read_bytes() == part


def test_an_output_that_is_read_from_standard_input_is_refused(demo):
    before = (demo / "dense.run").read_bytes()
    line = f"{sys.executable} -m gradely evaluate qrels.txt - --format csv -o dense.run < dense.run"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gradely: dense.run: cannot be written: RUNS and -o are the same file; name another one\n"
    assert (demo / "dense.run").read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        "gate qrels.txt dense.run --baseline popular.run --save new --summary new",
        "gate qrels.txt dense.run --baseline popular.run --save new --format csv -o new",
        "gate qrels.txt dense.run --baseline popular.run --summary old --format csv -o old",
        "compare qrels.txt dense.run popular.run --report new --format csv -o ./new",
    ],
)
def test_two_outputs_that_are_one_file_are_refused(demo, fails, options):
    (demo / "old").write_text("precious")
    fails(*options.split(), says="are the same file; name another one")


@pytest.mark.parametrize(
    "options",
    [
        "gate qrels.txt dense.run --baseline popular.run --summary -",
        "gate qrels.txt dense.run --save -",
        "compare qrels.txt dense.run popular.run --report -",
    ],
)
def test_standard_output_takes_one_thing(demo, fails, options):
    fails(*options.split(), says="gradely: -: the result is written to standard output; name a file for this output\n")


def test_a_file_that_is_read_without_being_named_is_no_output(demo, capfd):
    (demo / "train").write_text("2 1:0.5 2:1\n0 1:0.7 2:0\n")
    (demo / "train.query").write_text("2\n")
    (demo / "runs").mkdir()
    table = pa.table({"query": ["q01"], "document": ["d001"], "score": [1.0]})
    parquet.write_table(table, demo / "runs" / "part-0.parquet")
    before = (demo / "runs" / "part-0.parquet").read_bytes()
    for files, out in (("train --feature 1", "train.query"), ("qrels.txt runs", "runs/part-0.parquet")):
        assert run(["evaluate", *files.split(), "--format", "csv", "-o", out]) == 2
        assert "are the same file; name another one" in capfd.readouterr().err
    assert (demo / "train.query").read_text() == "2\n" and (demo / "runs" / "part-0.parquet").read_bytes() == before
    assert run(["evaluate", "qrels.txt", "runs", "--format", "csv", "-o", "runs/out.csv"]) == 0


def test_any_number_of_outputs_may_go_to_no_file(demo):
    assert run(["gate", "qrels.txt", "dense.run", "--save", "/dev/null", "--summary", "/dev/null"]) == 0


def test_standard_input_and_gzip(demo):
    for redirect in (
        "evaluate qrels.txt - < dense.run",
        "evaluate - dense.run < qrels.txt",
        "evaluate qrels.txt packed.gz",
    ):
        subprocess.run("gzip -c dense.run > packed.gz", shell=True, check=True)
        done = subprocess.run(
            f"{sys.executable} -m gradely {redirect}", shell=True, capture_output=True, text=True, check=True
        )
        assert f"{MEANS('dense')['AP']:.4f}" in done.stdout


def test_features_of_a_letor_file_are_runs(tmp_path, said):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:1 1:0.5 2:1\n0 qid:1 1:0.5 2:3\n")
    rows = list(
        csv.DictReader(
            io.StringIO(said("evaluate", str(path), "--feature", "1", "--feature", "2", "-m", "RR", "--format", "csv"))
        )
    )
    assert rows == [{"run": "train:1", "RR": "0.75"}, {"run": "train:2", "RR": "0.5"}]
    assert "1.0" in said("evaluate", str(path), "--feature", "2", "--ascending", "-m", "RR", "--format", "csv")


def test_many_notes_are_summed_up(demo, said):
    text = said("evaluate", "qrels.txt", "lexical.run", "popular.run", "-m", "all")
    assert "more notes; the JSON output has them all" in text


def test_all_measures(demo, said):
    """All that take the mean over orders by default, and all there are under another policy."""
    for ties, measures in (("expected", [m for m in PLAIN if m.takes_expected]), ("trec", PLAIN)):
        table = said("evaluate", "qrels.txt", "dense.run", "-m", "all", "--format", "csv", "--ties", ties)
        assert table.splitlines()[0].split(",")[1:] == [measure.name for measure in measures]


def test_names_cannot_steer_the_terminal(demo, said):
    (demo / "qrels.txt").write_text("q\x1b[31m 0 d 1\n".replace("\x1b", "\u202e"))
    (demo / "a.run").write_text("q\u202e[31m Q0 d 1 1 t\n")
    assert "\u202e" not in said("evaluate", "qrels.txt", "a.run", "-q")


def test_measures(said):
    listed = said("measures")
    assert all(f"\n{measure.name} " in listed for measure in gradely.ALL)
    for measure in gradely.ALL:
        card = said("measures", measure.name)
        for part in ("Ties:", "Reference:", ">>>", "parameter"):
            assert part in card, measure
        assert all(f"\n{name} " in card for name in parameters(measure))
    assert said("measures", "µAP") == said("measures", "muap")


def test_explain(demo, said):
    text = said("explain", "qrels.txt", "lexical.run", "q01", "-m", "nDCG@10")
    value = gradely.evaluate("qrels.txt", "lexical.run", ["nDCG@10"]).per_query()["q01"]["nDCG@10"]
    assert f"= nDCG@10 {value:.4f}" in text
    assert "\n2–3 " in text
    assert "… and 46 more documents" in said("explain", "qrels.txt", "lexical.run", "q01", "-m", "AP", "--depth", "4")
    found = json.loads(said("explain", "qrels.txt", "lexical.run", "q01", "-m", "AP", "--format", "json"))
    assert found["value"] == gradely.evaluate("qrels.txt", "lexical.run", ["AP"]).per_query()["q01"]["AP"]
    assert "relevance" in said("explain", "qrels.txt", "lexical.run", "q01", "-m", "NDCNG")


def test_check(demo, said):
    text = said("check", "qrels.txt", "popular.run", "dense.run")
    assert "labels 0: " in text
    assert "warning: no results for 2 queries (q23, q24)" in text
    assert "share their score" in text


def test_check_reads_files_whole_and_offers_no_choice_of_queries(said):
    assert "--only" not in said("check", "--help") and "--exclude" not in said("check", "--help")
    assert "--only" in said("ties", "--help")


def test_check_finds_everything_that_is_wrong(demo, said):
    (demo / "bad.run").write_text(
        "q01 Q0 d1 1 x t\nq01 Q0 d2 1\nq01 Q0 d3 2 0.5 t\nq01 Q0 d3 1 nan t\nq01 Q0 d3 1 0.7 t\nq01 Q0 d4 1 0.9 t\n"
    )
    text = said("check", "qrels.txt", "bad.run", code=1)
    for part in (":1: error: ", ":2: error: ", ":4: error: ", ":5: error: "):
        assert f"bad.run{part}" in text
    (demo / "other.run").write_text("z Q0 d1 1 16777217 t\n")
    assert "error: no query in common" in said("check", "qrels.txt", "other.run", code=1)
    (demo / "close.run").write_text("q01 Q0 d084 1 16777216 t\nq01 Q0 d030 2 16777217 t\n")
    text = said("check", "qrels.txt", "close.run")
    assert "2 more documents would tie in single precision" in text
    assert "the rank column contradicts the scores in 1 query (q01)" in text


def test_demo(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    text = said("demo")
    assert "lexical" in text and "depending on the order of ties in" in text
    assert said("demo", "gradely-demo") == text
    shell = next(line[2:] for line in text.splitlines() if line.startswith("$ ")).replace("gradely ", "-m gradely ", 1)
    done = subprocess.run(f"{sys.executable} {shell}", shell=True, capture_output=True, text=True, check=True)
    assert done.stdout in text


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(said, command):
    assert "Usage: gradely" in said(*([command] if command else []), "--help")


def test_version(said):
    assert said("--version") == f"gradely {gradely.__version__}\n"


def test_check_goes_on_after_a_file_that_cannot_be_read(demo, capfd):
    assert run(["check", "nowhere", "dense.run", "none.run"]) == 1
    text = capfd.readouterr().out
    assert "nowhere: error: no such file" in text and "none.run: error: no such file" in text
    assert "dense.run: 1,200 documents" in text


def test_without_arguments_the_help_is_printed_as_with_help(said):
    text = said()
    assert text == said("--help") and "  compare " in text and max(map(len, text.splitlines())) < 100


def test_one_query_is_not_one_queries(demo, said):
    (demo / "one.txt").write_text("q1 0 a 1\n")
    (demo / "a.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    (demo / "b.run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    (demo / "gone.txt").write_text("query,document\nq1,b\n")
    runs = ("one.txt", "a.run", "b.run", "-m", "RR")
    texts = [said(command, *runs) for command in ("evaluate", "compare", "plan", "ties")]
    texts += [said("evaluate", *runs, "--judged-only"), said("evaluate", *runs, "--exclude", "gone.txt")]
    texts += [said("explain", "one.txt", "a.run", "q1", "-m", "RR"), said("check", "one.txt", "a.run")]
    texts += [str(gradely.read_qrels("one.txt")), str(gradely.read_run("a.run"))]
    for text in texts:
        assert not re.search(r"\b1 (queries|topics|tests|documents|judgments|pairs|runs|levels|measures)\b", text), text
    assert str(gradely.read_qrels("one.txt")) == "Qrels(one.txt: 1 query, 1 judgment)"


def test_one_missing_query_of_one_is_named_in_the_singular(demo, capfd):
    (demo / "one.txt").write_text("q1 0 a 1\n")
    (demo / "a.run").write_text("q2 Q0 a 1 2 t\n")
    assert run(["trec_eval", "one.txt", "a.run"]) != 0
    assert "1 of 1 judged query is not in the run" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("ending", "start"),
    {
        "csv": "run,",
        "tsv": "run\t",
        "json": "{",
        "md": "| run",
        "tex": "\\begin",
        "html": "<table>",
        "txt": "measure",
    }.items(),
)
def test_the_ending_of_a_file_gives_the_format(demo, ending, start):
    assert run(["evaluate", "qrels.txt", "dense.run", "-m", "AP", "-o", f"out.{ending}"]) == 0
    assert (demo / f"out.{ending}").read_text().startswith(start)


def test_an_ending_that_stands_for_no_format_is_refused(demo, fails):
    says = ".csv, .tsv, .json, .md, .tex, .html, .txt"
    fails("evaluate", "qrels.txt", "dense.run", "-o", "out.xyz", says=says)
