"""The action for GitHub, the example for pytest and the hook for pre-commit do what they say."""

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
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


def run_action(folder, place, **inputs):
    """Run the shell steps of action.yml as a runner does; return the exit codes."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(inputs) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(inputs)
    given = {name: inputs.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
    environment = command(folder) | {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    pip = folder / "bin" / "python"  # which installs nothing, but keeps what it was asked for
    pip.write_text(f'#!/bin/sh\necho "$@" > {shlex.quote(str(folder))}/installed\n')
    pip.chmod(0o755)
    codes = []
    for step in action["runs"]["steps"]:
        used = step.get("env", {}).items()
        variables = {name: given[value.strip("${} ").removeprefix("inputs.")] for name, value in used}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        codes.append(subprocess.run(shell, cwd=place, env=environment | variables, check=False).returncode)
    return codes


@pytest.mark.parametrize(
    ("new", "baseline", "code"), [("dense.run", "popular.run", 0), ("popular.run", "dense.run", 1)]
)
def test_the_action_gates(demo, tmp_path, new, baseline, code):
    given = {"qrels": "qrels.txt", "new": new, "baseline": baseline, "arguments": "-m nDCG@10 --max-drop 0.01"}
    assert run_action(tmp_path, demo, **given, junit=str(tmp_path / "gate.xml")) == [0, code]
    assert ("✅" if code == 0 else "❌") in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == str(code)
    assert (tmp_path / "installed").read_text() == f"-m pip install --quiet {ROOT}\n"


def test_the_action_knows_floors_and_suites(demo, tmp_path):
    assert run_action(tmp_path, demo, qrels="qrels.txt", new="dense.run", arguments="--min R@10=0.9") == [0, 1]
    entry = {"qrels": f"{demo}/qrels.txt", "runs": {name: f"{demo}/{name}.run" for name in ("dense", "popular")}}
    (tmp_path / "suite.json").write_text(json.dumps({"measures": "AP", "x": entry, "y": entry, "z": entry}))
    for new, old, code in (("dense", "popular", 0), ("popular", "dense", 1)):
        assert run_action(tmp_path, demo, suite=str(tmp_path / "suite.json"), new=new, baseline=old) == [0, code]


def test_the_pytest_example_fails_a_bad_build(demo, tmp_path):
    text = (ROOT / "docs" / "guides" / "gate.md").read_text(encoding="utf-8")
    example = next(block for block in text.split("```python\n")[1:] if block.startswith("# test_ranking.py"))
    (tmp_path / "test_ranking.py").write_text(example.partition("```")[0])
    for name in ("qrels.txt", "lexical.run"):
        (tmp_path / name).write_bytes((Path(demo) / name).read_bytes())
    pytest_command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
    ]
    for name, code in (("lexical", 0), ("popular", 1)):
        (tmp_path / "new.run").write_bytes((Path(demo) / f"{name}.run").read_bytes())
        done = subprocess.run(
            [*pytest_command, "test_ranking.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "is worse than" in done.stdout) == (code, bool(code)), done.stdout


def test_the_hook_checks(demo, tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "gradely-check" and not hook["pass_filenames"]
    (tmp_path / "broken.run").write_text("q01 Q0 d1\n")
    for run, code in (("dense.run", 0), (str(tmp_path / "broken.run"), 1)):
        arguments = [*shlex.split(hook["entry"]), "qrels.txt", run]
        assert subprocess.run(arguments, cwd=demo, env=command(tmp_path), check=False).returncode == code
