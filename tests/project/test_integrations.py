"""The action for GitHub and the hook for pre-commit do what they say."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gradely.cli.main import run as cli

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return a folder with the demo collection."""
    folder = tmp_path_factory.mktemp("demo")
    assert cli(["demo", str(folder)]) == 0
    return folder


def command(folder):
    """Return an environment in which `gradely` is a command."""
    script = folder / "bin" / "gradely"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gradely "$@"\n')
    script.chmod(0o755)
    return os.environ | {"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("new", "baseline", "code"), [("dense.run", "popular.run", 0), ("popular.run", "dense.run", 1)]
)
def test_the_action_gates(demo, tmp_path, new, baseline, code):
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    *_, step = action["runs"]["steps"]
    given = {"qrels": "qrels.txt", "new": new, "baseline": baseline, "arguments": "-m nDCG@10 --max-drop 0.01"}
    assert {*action["inputs"]} == {*given}
    variables = {name: given[value.strip("${} ").removeprefix("inputs.")] for name, value in step["env"].items()}
    environment = command(tmp_path) | variables | {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=demo, env=environment, check=False)
    assert done.returncode == code
    assert ("✅" if code == 0 else "❌") in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_hook_checks(demo, tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "gradely-check" and not hook["pass_filenames"]
    (tmp_path / "broken.run").write_text("q01 Q0 d1\n")
    for run, code in (("dense.run", 0), (str(tmp_path / "broken.run"), 1)):
        arguments = [*shlex.split(hook["entry"]), "qrels.txt", run]
        assert subprocess.run(arguments, cwd=demo, env=command(tmp_path), check=False).returncode == code
