"""Ids and names of files that try to steer a terminal, a spreadsheet or a reader of Markdown."""

import json
import re

import pytest

from gradely import evaluate
from gradely.cli.main import expand, run
from gradely.parallel import MOST, cores, workers
from gradely.tables import Table, to_delimited, to_markdown

STEERING = ["\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\nb", "a\r\nb", "\u202egpj.exe", "\u2028line", "\x7f", "\ud800"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Judgments and a run whose queries and documents have all these names."""
    monkeypatch.chdir(tmp_path)
    names = {f"{name}{i}": i for i, name in enumerate(STEERING)}
    qrels = {query: {doc: i % 3 for doc, i in names.items()} for query in [*names, "missing\x1b[2J\n"]}
    ranking = {query: {doc: i // 2 for doc, i in names.items() if i != 4} for query in names}
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    (tmp_path / "run\x1b[2J.json").write_text(json.dumps(ranking | {"other\x9bquery\n": {"a": 1}}))
    (tmp_path / "plain.json").write_text(json.dumps(ranking))
    return tmp_path


def harmless(text):
    """Whether nothing in it steers a terminal; gradely's own bold is let through."""
    return re.sub(r"\x1b\[[01]m", "", text).replace("\n", "").isprintable()


ODD = "run\x1b[2J.json"
QUERY = "a\nb2"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "qrels.json", ODD],
        ["evaluate", "qrels.json", ODD, "plain.json", "-q"],
        ["explain", "qrels.json", ODD, QUERY, "-m", "AP"],
        ["compare", "qrels.json", ODD, "plain.json"],
        ["ties", "qrels.json", ODD, "plain.json"],
        ["correlate", "qrels.json", ODD, "plain.json"],
        ["pools", "qrels.json", ODD, "plain.json"],
    ],
    ids=lambda command: " ".join(command[:1] + command[4:]),
)
def test_nothing_steers_the_terminal(folder, capfd, command, form):
    assert run([*command, "--format", form]) == 0
    out, err = capfd.readouterr()
    assert harmless(out) and harmless(err)


def test_nothing_steers_the_terminal_in_check_and_in_errors(folder, capfd):
    assert run(["check", "qrels.json", ODD]) in (0, 1)
    out, err = capfd.readouterr()
    assert harmless(out) and harmless(err)
    assert run(["explain", "qrels.json", ODD, "no\x1b[2Jsuch\nquery", "-m", "AP"]) == 2
    assert harmless(capfd.readouterr().err)
    (folder / "bad").write_bytes(b"1 0 \x1b[2Jd\xc2\x9b 1 5 6\n")
    assert run(["evaluate", "bad", ODD]) == 2
    assert harmless(capfd.readouterr().err)


def test_notes_are_lines_of_their_own(folder):
    scores = evaluate("qrels.json", ODD)
    assert scores.notes and all(str(note).isprintable() for note in scores.notes)


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(1)", "\t=1", "\r=1"]


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_formulas_of_spreadsheets_are_quoted_where_asked_for(tmp_path, monkeypatch, capfd, form, delimiter):
    monkeypatch.chdir(tmp_path)
    for name in ("qrels.json", "run.json"):
        (tmp_path / name).write_text(json.dumps({query: {"d": 1} for query in FORMULAS}))
    options = ["evaluate", "qrels.json", "run.json", "-q", "-m", "P@1", "--format", form]
    assert run(options) == 0
    plain = capfd.readouterr().out
    assert run([*options, "--safe-csv"]) == 0
    safe = capfd.readouterr().out
    assert f"run{delimiter}=cmd|' /C calc'!A0{delimiter}1.0\n" in plain
    assert f"run{delimiter}'=cmd|' /C calc'!A0{delimiter}1.0\n" in safe
    assert safe.count("'") == plain.count("'") + len(FORMULAS)
    assert run(options) == 0 and capfd.readouterr().out == plain  # the option holds for one command


def test_numbers_below_0_are_no_formulas():
    assert to_delimited(Table(["=a"], [[-1.5]]), ",") == "=a\n-1.5\n"


def test_markdown_has_no_images_and_no_links():
    from markdown_it import MarkdownIt

    names = [
        "![x](http://evil.example/x.png)",
        "[x](javascript:alert(1))",
        "[x]",
        "<http://evil.example>",
        "http://evil.example",
        "www.evil.example",
        "<img src=x>",
        "a|b",
        "\\![x](y)",
        "[x]: http://evil.example",
    ]
    html = MarkdownIt("gfm-like", {"linkify": False}).render(to_markdown(Table(["name"], [[name] for name in names])))
    assert not re.search(r"<(a|img)\b", html)
    assert html.count("<tr>") == len(names) + 1
    text = to_markdown(Table(["name"], [["http://evil.example"], ["www.evil.example"]]))
    assert "://" not in text and "www." not in text


def test_threads_are_not_more_than_are_of_use(folder, capfd):
    assert workers(5000) == min(5000, MOST * cores()) and workers(1) == 1 and workers(None) == cores()
    assert run(["evaluate", "qrels.json", "plain.json", "--threads", "5000"]) == 0
    assert run(["evaluate", "qrels.json", "plain.json", "--threads", "0"]) == 2


def test_patterns_are_expanded_where_the_shell_leaves_them_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.run", "a.run", "qrels.txt"):
        (tmp_path / name).write_text("")
    words = ["evaluate", "qrels.txt", "*.run", "no*.run", "-m", "nDCG@10"]
    assert expand(words) == words
    monkeypatch.setattr("sys.platform", "win32")
    assert expand(words) == ["evaluate", "qrels.txt", "a.run", "b.run", "no*.run", "-m", "nDCG@10"]


def test_a_cell_that_is_too_long_has_a_line_of_its_own_and_others_share_it_with_their_column():
    names = ["a" * 50, "b" * 50]
    text = str(Table(["RBO", *names], [[names[0], 1.0, 0.5], [names[1], 0.5, 1.0]], width=80))
    assert text.splitlines()[:5] == ["RBO", f"  {names[0]}", f"{names[0]}  1.0000", f"{names[1]}  0.5000", ""]
    narrow = str(Table(["RBO", *names], [[names[0], 1.0, 0.5], [names[1], 0.5, 1.0]], width=52))
    assert narrow.splitlines()[:7] == ["RBO", f"  {names[0]}", names[0], "  1.0000", names[1], "  0.5000", ""]
    long = str(Table(["run", "nDCG@10"], [["x" * 90, 0.5], ["bm25", 0.25]], width=80))
    assert long.splitlines() == ["run", f"  {'x' * 90}", "nDCG@10  0.5000", "", "run      bm25", "nDCG@10  0.2500"]


@pytest.mark.parametrize("width", [None, 40])
def test_wide_letters_take_two_columns_and_marks_none(width):
    names = ["検索モデル 日本語 評価 結果", "re\u0301sume\u0301 one", "bm25"]
    lines = str(Table(["run", "query", "AP"], [[name, "q", 0.5] for name in names], width=width)).split("\n")
    columns = [sum(0 if x == "\u0301" else 2 if x > "\u3000" else 1 for x in line) for line in lines]
    assert all(columns[i] == columns[1] for i, line in enumerate(lines) if line.endswith("0.5000"))
    assert max(columns) <= (width or 80) and all(word in " ".join(lines) for name in names for word in name.split())
