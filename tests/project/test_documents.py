"""The documents say what is true: examples run and print what is shown, links lead somewhere, pages are current."""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from markdown_it import MarkdownIt
from tools.derived import FILES

import gradely
from gradely.cli.main import gradely as commands_of_gradely
from gradely.cli.main import run
from gradely.cli.measures import page, section
from gradely.data.demo import collection
from gradely_papers import PAPERS
from gradely_papers.results import read_record
from tests.kernel.test_fixed import WITHOUT_SHAPE

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MARKDOWN = MarkdownIt("commonmark").enable("table")


class Block(NamedTuple):
    """A fenced block, and the output that the block right after it shows, if there is one."""

    where: str
    language: str
    text: str
    shown: str | None


def blocks(path):
    tokens = MARKDOWN.parse(path.read_text(encoding="utf-8"))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "fence":
            output = after.content if after is not None and after.type == "fence" and not after.info else None
            yield Block(f"{path.name}:{token.map[0] + 1}", token.info, token.content, output)


BLOCKS = [block for path in DOCUMENTS for block in blocks(path)]


def commands(block):
    """Yield each command of a console block with the output shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield pytest.param(command, shown, id=f"{block.where} {command}")


TOOLS = (
    "beir",
    "ir_measures",
    "lightgbm",
    "mlflow",
    "pyspark",
    "pytrec_eval",
    "ranx",
    "rectools",
    "sentence_transformers",
    "sklearn",
    "torchmetrics",
    "xgboost",
)
"""examples that import these are run by make test-tools, where they are installed"""


def tools_of(block):
    """Return the tools that an example imports."""
    return [name for name in TOOLS if re.search(rf"^(?:import|from) {name}\b", block.text, flags=re.MULTILINE)]


def marks(block):
    absent = [name for name in tools_of(block) if find_spec(name) is None]
    target = "test-spark" if "pyspark" in absent else "test-tools"
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed: make {target}")


PYTHON = [pytest.param(block, id=block.where, marks=marks(block)) for block in BLOCKS if block.language == "python"]
CONSOLE = [each for block in BLOCKS if block.text.startswith("$ ") for each in commands(block)]


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """Work in a folder with the demo collection, there and where the demo puts it."""
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "gradely-demo"):
        folder.mkdir(exist_ok=True)
        for name, text in collection().items():
            (folder / name).write_text(text)
    theirs = sys.modules.pop("pytrec_eval", None)
    yield
    sys.modules.pop("pytrec_eval", None)  # an example puts ours in its place
    if theirs:
        sys.modules["pytrec_eval"] = theirs


def printed_by(code, where):
    """Return what Python code prints; one with prompts is compared as a doctest."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, {}, where, where, 0)
            doctest.DocTestRunner().run(test)
        else:
            exec(compile(code, where, "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.parametrize("block", PYTHON)
def test_python_runs_and_prints_what_is_shown(demo, block):
    printed = printed_by(block.text, block.where)
    assert printed == (block.shown or "") or (block.shown and matches(block.shown, printed)), printed


def matches(shown, found):
    """Return whether the output is as shown.

    A line that is only … stands for any lines. A long sentence may be shown on several lines, as in a terminal.
    """
    lines = shown.rstrip().split("\n")
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + "[ \n]" for line in lines)
    return re.fullmatch(pattern, found.rstrip() + "\n") is not None


@pytest.mark.parametrize(("command", "shown"), CONSOLE)
def test_commands_print_what_is_shown(demo, command, shown):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | {"PATH": path},
    )
    assert done.returncode == 0, done.stdout
    assert not shown.strip() or matches(shown, done.stdout), done.stdout


def test_there_are_examples_to_check():
    assert len(PYTHON) > len(gradely.ALL) and len(CONSOLE) > 2


def duel(ties):
    values = (
        gradely.evaluate("qrels.txt", f"{name}.run", ["nDCG@10"], ties=ties).mean().values()
        for name in ("dense", "lexical")
    )
    return " to ".join(f"{value:.4f}" for (value,) in values)


def test_the_readme_tells_who_wins_where_names_break_ties(demo):
    assert f"`dense` would win that comparison, {duel('trec')}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    inline = [child for token in MARKDOWN.parse(path.read_text(encoding="utf-8")) for child in token.children or []]
    links = [str(token.attrs["href"]) for token in inline if token.type == "link_open"]
    links += [str(token.attrs["src"]) for token in inline if token.type == "image"]
    for link in (link for link in links if "://" not in link):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(path):
    """Return what the headings of a document are called in links."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", FILES)
def test_what_follows_from_the_code_is_current(path):
    assert (ROOT / path).read_text(encoding="utf-8") == FILES[path](), "run make docs"


def test_the_page_about_the_papers_is_short_and_has_a_row_for_every_claim():
    """Its prose has at most 1,500 words; the row of a claim leads to the page of its paper."""
    text = (ROOT / "docs" / "inside" / "papers.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(" ".join(line for line in lines if not line.startswith("|")).split()) <= 1500
    claims = {(entry.paper, entry.where, entry.claim) for entry in read_record()}
    assert sum(line.startswith(tuple(f"| {paper} " for paper in PAPERS)) for line in lines) == len(claims) + 2 * 4


@pytest.mark.parametrize("measure", gradely.ALL, ids=lambda measure: measure.name)
def test_a_section_shows_formula_ties_reference_parameters_and_example(measure):
    html = MARKDOWN.render(section(measure))
    assert f"<h2>{measure.name}</h2>" in html
    assert html.count("<pre>") == 2, "the formula is indented by four blanks, and an example follows"
    for word in ("Ties", "Reference"):
        assert f"<strong>{word}</strong>" in html, f"no line of the docstring begins with '{word}:'"
    assert html.count("<li>") == 2, "no line of a paragraph may begin with + - or *"
    assert all(f"<td><code>{name}</code></td>" in html for name in measure.parameters)
    assert "<em>" not in html, "a formula's _ and * are taken for emphasis"


@pytest.mark.parametrize(
    ("path", "words", "measures"),
    [
        ("docs/understand/ties.md", "refuse `expected`", [m.name for m in gradely.ALL if not m.takes_expected]),
        ("CHANGELOG.md", "take every policy but `expected`", [m.name for m in gradely.ALL if not m.takes_expected]),
        ("docs/guides/arrays.md", "have no formula of fixed shape", WITHOUT_SHAPE),
    ],
)
def test_the_measures_that_refuse_something_are_all_named_where_one_is(path, words, measures):
    text = " ".join((ROOT / path).read_text(encoding="utf-8").split())
    sentence = text[: text.index(words)].rpartition(". ")[2]
    assert not [name for name in measures if not re.search(rf"\b{name}\b", sentence)], sentence


def test_measures_in_markdown(capfd):
    assert run(["measures", "--format", "markdown"]) == 0
    assert capfd.readouterr().out == page()
    assert run(["measures", "ndcg", "--format", "markdown"]) == 0
    assert capfd.readouterr().out == section(gradely.nDCG)


def inline_commands(path):
    """Return the commands of gradely that a document names in a line of text, as words."""
    inline = [child for token in MARKDOWN.parse(path.read_text(encoding="utf-8")) for child in token.children or []]
    codes = [token.content for token in inline if token.type == "code_inline"]
    return [shlex.split(code) for code in codes if re.match(r"gradely (?!papers|trec_eval)[a-z_]+ ", code)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_a_line_of_text_exist_with_their_options(path):
    with click.Context(commands_of_gradely) as context:
        for _, name, *words in inline_commands(path):
            command = commands_of_gradely.get_command(context, name)
            known = {option for parameter in command.get_params(context) for option in parameter.opts}
            options = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
            assert not options - known, (name, options - known)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_derivations_name_every_measure_and_tests_that_exist():
    text = (ROOT / "docs" / "inside" / "derivations.md").read_text(encoding="utf-8")
    derived, _, checked = text.partition("## Who checks this")
    assert {kind.name for kind in gradely.ALL} <= set(re.findall(r"\w+", derived))
    for tests in re.findall(r"\| (`tests/[^|]*) \|", checked):
        file, *names = re.findall(r"tests/[\w/]+\.py|test_\w+(?=`)", tests)
        source = (ROOT / file).read_text(encoding="utf-8")
        assert all(f"def {name}(" in source for name in names), tests
