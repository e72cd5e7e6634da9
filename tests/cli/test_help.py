"""Help in groups, names of measures between commas, names of runs that have no file, and tables that fit a terminal."""

import os
import pty
import re
import subprocess
import sys

import pytest

import gradely
from gradely.cli import options
from gradely.cli.main import COMMANDS, GROUPS, run
from gradely.tables import PValue, Table, to_delimited, to_text
from tests.cli.test_cli import said  # noqa: F401 - a fixture

OURS = [name for name in COMMANDS if name not in ("papers", "trec_eval", "completion", "demo")]


def test_all_commands_fit_a_screen_in_groups(said):  # noqa: F811
    text = said("--help")
    assert [line[:-1] for line in text.splitlines() if re.fullmatch(r"\w+:", line)] == ["Options", *GROUPS]
    assert all(re.search(rf"^  {name} +\S", text, re.MULTILINE) for name in COMMANDS)
    assert len(text.splitlines()) <= 40 and max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", OURS)
def test_options_stand_in_the_same_groups_in_every_command(command, said):  # noqa: F811
    text = said(command, "--help")
    titles = re.findall(r"^([A-Z][a-z ]+):$", text, re.MULTILINE)
    assert titles == [title for title in options.GROUPS if title in titles]  # no option is without a group
    flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text.partition(f"\n{titles[0]}:")[2], re.MULTILINE)
    assert len(flags) == len(set(flags)) and flags[-1] == "--help" and max(map(len, text.splitlines())) <= 80
    known = {flag for option in _command(command).params for flag in option.opts if flag.startswith("--")}
    assert set(flags) == known | {"--help"}


def _command(name):
    import importlib

    return importlib.import_module(f"gradely.cli.{name}").command


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("nDCG@10,MAP", ["nDCG@10", "MAP"]),
        ("nDCG@10, MAP", ["nDCG@10", "MAP"]),
        ("eGAP(g=[0.2, 0.8])@5,RR", ["eGAP(g=[0.2, 0.8])@5", "RR"]),
        ("RBP(p=0.8, rel=2)", ["RBP(p=0.8, rel=2)"]),
        ("utility.1,-1,0,0", ["utility.1,-1,0,0"]),
        ("nDCG(relevance={1: 0.5, 2: 1}),AP", ["nDCG(relevance={1: 0.5, 2: 1})", "AP"]),
    ],
)
def test_measures_stand_between_commas(typed, names):
    assert options.split_names(typed) == names
    gradely.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["a"]}, names)  # and all are measures


def test_commas_are_read_as_repeated_options(demo, said):  # noqa: F811
    commas = said("evaluate", "qrels.txt", "dense.run", "-m", "nDCG@10,MAP", "--format", "csv")
    assert commas == said("evaluate", "qrels.txt", "dense.run", "-m", "nDCG@10", "-m", "MAP", "--format", "csv")


@pytest.mark.parametrize("files", [["AP", "qrels.txt", "dense.run"], ["qrels.txt", "dense.run", "ndcg_cut_10"]])
def test_a_measure_in_place_of_a_file_is_explained(demo, fails, files):
    name = files[0] if files[0] == "AP" else files[-1]
    says = (f"gradely: {name} is a measure, but a file is expected here", f"-m nDCG@10,{name}")
    fails("evaluate", "-m", "nDCG@10", *files, says=says)


def test_runs_without_a_file_have_names(demo):
    """They were called 62 and -."""
    call = f"{sys.executable} -m gradely evaluate qrels.txt"
    script = f"{call} <(cat dense.run) <(cat lexical.run) -m AP --format csv; {call} - -m AP --format csv < dense.run"
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^[\w-]+(?=,)", out, re.MULTILINE) == ["run", "pipe-1", "pipe-2", "run", "stdin"]


WIDE = Table(["run", "measure", *(f"column {i}" for i in range(9))], [["bm25", "AP", *(i / 7 for i in range(9))]] * 2)
PROSE = Table(["name", "what it says", "number"], [["AP", "Average precision: the mean of the precision " * 3, 0.5]])


@pytest.mark.parametrize("width", range(12, 140, 7))
@pytest.mark.parametrize("table", [WIDE, PROSE])
def test_a_table_fits_its_width_and_loses_nothing(table, width):
    text = to_text(table._replace(width=width))
    words = [word for row in table.cells() for cell in row for word in cell.split()]
    longest = max(map(len, words))
    assert all(text.count(word) >= words.count(word) for word in set(words) if not word.isdigit())
    if width >= 40:
        assert max(map(len, text.splitlines())) <= max(width, longest)
    assert to_text(table) == to_text(table._replace(width=1000))


RUNS = ("qrels.txt", "dense.run", "lexical.run", "popular.run")
TWO = ("--qrels", "qrels.txt", "--qrels", "judge.qrels")
SHOWN = {
    "evaluate": [*RUNS, "-q"],
    "explain": [*RUNS[:2], "q01", "-m", "AP"],
    "ties": [*RUNS],
    "measures": [],
    "compare": [*RUNS, "--pairs", "--influence", "--holes"],
    "suite": ["suite.toml"],
    "gate": [*RUNS[:2], "--baseline", "lexical.run"],
    "plan": [*RUNS, "--difference", "0.02"],
    "overlap": [*RUNS[1:]],
    "judges": [*TWO, *RUNS[1:]],
    "holes": [*RUNS],
    "estimate": [*RUNS, "--judge", "judge.qrels"],
    "sample": ["qrels.txt", "-n", "5"],
    "check": [*RUNS],
    "pools": [*RUNS],
    "correlate": [*RUNS],
    "users": [*RUNS],
    "phi": ["qrels.txt"],
    "papers": [],
    "demo": ["gradely-demo"],
}
"""commands that print tables, at their widest"""


def on_terminal(arguments, width):
    """Return what a command prints on a terminal of this width."""
    main, other = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "gradely", *arguments], stdout=other, stderr=subprocess.DEVNULL
    ) as process:
        os.close(other)
        out = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
    os.close(main)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[01]m", "", out.decode())


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", SHOWN)
def test_a_terminal_breaks_no_line(demo, command, width, capfd):
    """A real terminal: what is wider wraps inside of words."""
    if command == "papers":
        pytest.importorskip("gradely_papers")
    long = "a_run_with_a_name_that_is_long__as_those_of_evaluations_are.run"
    (demo / "lexical.run").rename(demo / long)
    (demo / "judge.qrels").write_bytes((demo / "qrels.txt").read_bytes().replace(b" 3\n", b" 2\n"))
    (demo / "suite.toml").write_text(f'[a]\nqrels = "qrels.txt"\nruns.dense = "dense.run"\nruns.other = "{long}"\n')
    arguments = [command, *(long if word == "lexical.run" else word for word in SHOWN[command])]
    text = on_terminal(arguments, width)
    assert len(text.splitlines()) > 2 and max(map(len, text.splitlines())) <= width
    assert run(arguments) == 0
    whole = set(capfd.readouterr().out.split())
    assert {word for word in text.split() if word.strip("─")} <= whole  # and no word is broken by us


def test_every_command_that_prints_tables_is_shown_on_a_terminal():
    assert set(SHOWN) == set(COMMANDS) - {"report", "plot", "trec_eval", "completion"}


def test_p_values_have_one_format():
    table = Table(["p"], [[PValue(0.00002)], [PValue(0.0496)], [PValue(0.73)], [PValue(1.0)]])
    assert [row[0] for row in table.cells()[1:]] == ["< .001", ".0496", ".73", "1.00"]
    assert to_delimited(table, ",") == "p\n2e-05\n0.0496\n0.73\n1.0\n" and table.records()[0] == {"p": 2e-05}
