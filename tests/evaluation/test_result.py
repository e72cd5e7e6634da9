"""What every public function returns: text as the command prints it, tables, frames, JSON, notebooks."""

import csv
import inspect
import json
from functools import cache

import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.data.demo import collection
from tests.evaluation.test_notebook import TAGS, Reader

QRELS, RUNS = "qrels.txt", ["dense.run", "lexical.run", "popular.run"]
PAIR = ["nDCG@10", "AP"]
MEASURES = ["-m", "nDCG@10,AP"]
RESULTS = {
    "evaluate": (lambda: gradely.evaluate(QRELS, RUNS[0], PAIR), ["evaluate", QRELS, RUNS[0], *MEASURES]),
    "evaluate_runs": (lambda: gradely.evaluate_runs(QRELS, RUNS, PAIR), ["evaluate", QRELS, *RUNS, *MEASURES]),
    "by_query": (
        lambda: gradely.evaluate_runs(QRELS, RUNS, PAIR).by_query(sort="AP", worst=3, baseline="dense"),
        ["evaluate", QRELS, *RUNS, *MEASURES, "--sort", "AP", "--worst", "3", "--baseline", "dense"],
    ),
    "explain": (
        lambda: gradely.explain(QRELS, RUNS[1], "q01", "nDCG@10", depth=4),
        ["explain", QRELS, RUNS[1], "q01", "-m", "nDCG@10", "--depth", "4"],
    ),
    "check": (lambda: gradely.check(QRELS, RUNS), ["check", QRELS, *RUNS]),
    "compare": (lambda: gradely.compare(QRELS, RUNS, PAIR), ["compare", QRELS, *RUNS, *MEASURES]),
    "pairs": (
        lambda: gradely.compare(QRELS, RUNS, PAIR).view(pairs=True, influence=True),
        ["compare", QRELS, *RUNS, *MEASURES, "--pairs", "--influence"],
    ),
    "matrix": (lambda: gradely.compare(QRELS, RUNS, PAIR).matrix(), None),
    "influence": (lambda: gradely.compare(QRELS, RUNS, PAIR).influence, None),
    "plan": (lambda: gradely.plan(QRELS, RUNS, PAIR), ["plan", QRELS, *RUNS, *MEASURES]),
    "gate": (
        lambda: gradely.gate(QRELS, RUNS[0], RUNS[1], PAIR),
        ["gate", QRELS, RUNS[0], "--baseline", RUNS[1], *MEASURES],
    ),
    "floors": (
        lambda: gradely.gate(QRELS, RUNS[0], floors={"AP": 0.4, "R@10": 0.9}),
        ["gate", QRELS, RUNS[0], "--min", "AP=0.4", "--min", "R@10=0.9"],
    ),
    "groups": (
        lambda: gradely.compare(QRELS, {"two": RUNS[:2], "popular": RUNS[2]}, PAIR),
        ["compare", QRELS, RUNS[2], "--group", "two=[dl]e*.run", *MEASURES],
    ),
    "systems": (lambda: gradely.compare(QRELS, {"two": RUNS[:2], "one": RUNS[2:]}, PAIR).systems, None),
    "suite": (lambda: gradely.suite("suite.json"), ["suite", "suite.json"]),
    "suite_gate": (
        lambda: gradely.suite("suite.json").gate("dense", "lexical", floors={"R@10": 0.9}),
        ["gate", "--suite", "suite.json", "dense", "--baseline", "lexical", "--min", "R@10=0.9"],
    ),
    "keep_scores": (lambda: gradely.keep_scores(QRELS, RUNS[0], PAIR), None),
    "tie_sensitivity": (lambda: gradely.tie_sensitivity(QRELS, RUNS, PAIR), ["ties", QRELS, *RUNS, *MEASURES]),
    "correlate": (lambda: gradely.correlate(QRELS, RUNS, PAIR), ["correlate", QRELS, *RUNS, *MEASURES]),
    "pools": (
        lambda: gradely.pools(QRELS, RUNS, PAIR, rates=[1.0, 0.5], repeat=2),
        ["pools", QRELS, *RUNS, *MEASURES, "--rates", "1.0,0.5", "--repeat", "2"],
    ),
    "overlap": (lambda: gradely.overlap(RUNS), ["overlap", *RUNS]),
    "overlap_by_query": (lambda: gradely.overlap(RUNS).by_query(), ["overlap", *RUNS, "--by-query"]),
    "users": (lambda: gradely.users(QRELS, RUNS), ["users", QRELS, *RUNS]),
    "holes": (lambda: gradely.holes(QRELS, RUNS, PAIR), ["holes", QRELS, *RUNS, *MEASURES]),
    "judge": (
        lambda: gradely.holes(QRELS, RUNS, ["nDCG@10"]).judge(9),
        ["holes", QRELS, *RUNS, "-m", "nDCG@10", "--judge", "9"],
    ),
    "simulate_judging": (
        lambda: gradely.simulate_judging(QRELS, RUNS, "P@3"),
        ["holes", QRELS, *RUNS, "-m", "P@3", "--simulate"],
    ),
    "estimate": (
        lambda: gradely.estimate("human.txt", RUNS, PAIR, judge=QRELS),
        ["estimate", "human.txt", *RUNS, "--judge", QRELS, *MEASURES],
    ),
    "sample": (lambda: gradely.sample(QRELS, RUNS, n=6), None),  # the command prints the queries alone, for other tools
    "judges": (
        lambda: gradely.judges({"qrels": QRELS, "human": "human.txt"}, RUNS, PAIR),
        ["judges", "--qrels", QRELS, "--qrels", "human.txt", *RUNS, *MEASURES],
    ),
    "phi": (lambda: gradely.phi(QRELS), ["phi", QRELS]),
}
"""what to call, and the command that prints the same, by name"""
DRAWN = {"suite", "correlate", "pools", "overlap", "users", "judges", "phi"}
"""those that can draw themselves"""
COMMANDS = {name: command for name, (_, command) in RESULTS.items() if command}


@cache
def result_of(name):
    return RESULTS[name][0]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo")
    for name, text in collection().items():
        (path / name).write_text(text)
    few = [line for line in collection()[QRELS].splitlines(keepends=True) if line < "q11"]
    (path / "human.txt").write_text("".join(line.replace(" 3\n", " 2\n") for line in few))
    entry = {"qrels": QRELS, "runs": {name.removesuffix(".run"): name for name in RUNS}}
    less = entry | {"runs": {"dense": "popular.run", "lexical": "lexical.run"}}
    (path / "suite.json").write_text(json.dumps({"measures": PAIR, "one": entry, "two": less, "three": entry}))
    return path


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def said(capfd, *arguments):
    assert cli([*arguments]) in (0, 1)
    return capfd.readouterr().out


def numbers(value):
    """Yield all numbers in plain data."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, float | int) and not isinstance(value, bool):
        yield float(value)
    elif not isinstance(value, str | bool | None):
        for item in value:
            yield from numbers(item)


def test_no_public_function_is_forgotten():
    """All that return a Result are tested here."""
    functions = {name: getattr(gradely, name) for name in gradely.__all__}
    returned = {
        name: inspect.signature(value).return_annotation
        for name, value in functions.items()
        if inspect.isfunction(value)
    }
    ours = {name for name, kind in returned.items() if inspect.isclass(kind) and issubclass(kind, gradely.Result)}
    assert ours <= set(RESULTS) and len(ours) == 20


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_the_whole_interface(name):
    result = result_of(name)
    assert isinstance(result, gradely.Result)
    assert result.table().header and all(isinstance(note, gradely.Note) for note in result.notes)
    assert repr(result) == str(result) and all(str(note) in str(result) for note in result.notes_at(4)[:5])
    assert json.loads(result.to_json()) == {"schema": 1} | json.loads(json.dumps(result.as_dict(), default=list))
    reader = Reader(result._repr_html_())
    assert reader.tags <= TAGS and " object at 0x" not in reader.text and "array(" not in reader.text
    for form in ("table", "markdown", "latex", "html", "csv", "tsv", "json"):
        assert result.render(form).endswith("\n")


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "overlap_by_query"])
def test_a_notebook_shows_the_chart_of_a_result_without_the_network(name):
    """Altair's own view loads a script."""
    result = result_of(name)
    draw = getattr(result, "chart", getattr(result, "plot", None))
    if draw is None:
        assert name not in DRAWN
        return
    bundle = draw()._repr_mimebundle_()
    assert name in DRAWN and set(bundle) == {"image/svg+xml", "text/plain"}
    assert bundle["image/svg+xml"].startswith("<svg") and "http" not in bundle["text/plain"]


@pytest.mark.parametrize("name", RESULTS)
def test_json_has_every_number_of_the_frame(name):
    result = result_of(name)
    result = result.by_query() if name in ("evaluate", "evaluate_runs") else result
    frame = result.to_frame("polars")
    known = set(numbers(json.loads(result.to_json())))
    assert len(frame) and set(numbers([row for row in frame.rows() if row])) <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_a_result_prints_as_its_command_does(name, capfd):
    assert said(capfd, *COMMANDS[name]) == f"{result_of(name)}\n"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("form", ["csv", "json", "markdown", "latex", "html"])
def test_a_result_renders_as_its_command_writes(name, form, capfd):
    digits = ["--digits", "3"] if form not in ("csv", "json") else []
    assert said(capfd, *COMMANDS[name], "--format", form, *digits) == result_of(name).render(form, 3)


@pytest.mark.parametrize(("short", "name"), [("md", "markdown"), ("tex", "latex")])
def test_formats_have_the_names_of_their_files(short, name, capfd):
    command = COMMANDS["evaluate_runs"]
    assert said(capfd, *command, "--format", short) == said(capfd, *command, "--format", name)


def test_a_gate_is_whether_it_passed():
    passed, failed = (gradely.gate(QRELS, *pair, ["AP"], strict=True) for pair in (RUNS[1::-1], RUNS[:2]))
    assert passed.passed and passed and not failed.passed and not failed


def test_notes_are_printed_with_the_number():
    """A mean of 0 because of upper and lower case said nothing of it."""
    text = str(gradely.evaluate({"q1": {"d1": 3}}, {"q1": {"D1": 1}}, ["RR"]))
    assert "0.0000" in text and "possible reason: upper and lower case" in text


def test_findings_are_a_list_and_json(capfd):
    findings = gradely.check({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5}})
    assert isinstance(findings, list) and findings == [*findings] and findings[0].kind == "fact"
    assert cli(["check", QRELS, "absent.run", "--format", "json"]) == 1
    data = json.loads(capfd.readouterr().out)
    assert data["wrong"] and data["findings"][-1]["kind"] == "error" and data["findings"][-1]["about"] == "absent.run"
    assert cli(["check", QRELS, RUNS[0], "-o", "findings.csv"]) == 0
    with open("findings.csv") as file:
        assert next(csv.reader(file)) == ["about", "kind", "text"]
