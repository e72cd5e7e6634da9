"""The wheel alone, without any extra and without the sources: the README's commands, compare, plan and gate."""

import os
import re
import subprocess
import sys
from importlib.metadata import distribution, metadata, version
from importlib.util import find_spec
from pathlib import Path

import pytest

import gradely

HOME = Path(gradely.__file__).parent
if "site-packages" not in HOME.parts or find_spec("scipy") is not None:
    pytest.skip("make build runs this in a clean environment", allow_module_level=True)

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (gradely .*)$", README, flags=re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def demo(tmp_path):
    """Return a folder with the demo collection."""
    from gradely.data.demo import collection

    for name, text in collection().items():
        (tmp_path / name).write_text(text)
    return tmp_path


def call(folder, command):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


def test_the_version_is_the_same_everywhere():
    assert gradely.__version__ == version("gradely")


def test_the_wheel_has_its_types_templates_and_licence():
    assert (HOME / "py.typed").exists() and (HOME / "__init__.pyi").exists()
    assert list(HOME.glob("report/templates/*.html"))
    assert any("LICENSE" in str(path) for path in distribution("gradely").files)


def test_what_an_index_shows_has_no_link_into_the_repository_s_folders():
    shown = metadata("gradely")["Description"] or metadata("gradely").get_payload()
    links = re.findall(r"\]\(([^)]+)\)", shown)
    assert links and all(link.startswith("https://") for link in links)


@pytest.mark.parametrize("command", [*COMMANDS, "gradely demo", "gradely --version"])
def test_commands_of_the_readme_run(demo, command):
    done = call(demo, command)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", PYTHON)
def test_python_of_the_readme_runs(demo, code):
    done = subprocess.run([sys.executable, "-c", code], cwd=demo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "gradely compare qrels.txt lexical.run dense.run popular.run --test tukey",
        "gradely plan qrels.txt lexical.run dense.run --difference 0.02",
        "gradely gate qrels.txt dense.run --baseline lexical.run --max-drop 0.2",
        "gradely correlate qrels.txt lexical.run dense.run popular.run -m AP -m nDCG",
        "gradely users qrels.txt lexical.run dense.run",
        "gradely-trec_eval -m map qrels.txt lexical.run",
    ],
)
def test_a_base_installation_compares_plans_and_gates(demo, command):
    done = call(demo, command)
    assert done.returncode == 0, done.stderr


def test_what_is_not_installed_is_named_in_a_line(demo):
    done = call(demo, "gradely report qrels.txt dense.run -o page.html")
    assert done.returncode == 2
    assert re.fullmatch(r"gradely: this needs \S+: pip install .*\n", done.stderr)
    for package in ("altair", "jinja2", "vl-convert-python"):
        assert package in done.stderr  # a wheel from a folder has no name that pip could find again


def test_the_experiments_are_named_where_they_are_not_installed(demo):
    done = call(demo, "gradely papers")
    assert done.returncode == 2 and done.stderr.rstrip().endswith("pip install gradely-papers")
