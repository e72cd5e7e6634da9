"""What a release says about itself agrees: version, addresses, extras, workflows, recipe."""

import re
import tomllib
from pathlib import Path

import pytest
from tools import release

import gradely
import gradely_papers

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
PAPERS = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_is_in_one_place_of_each_distribution():
    assert "version" in PROJECT["dynamic"] and "version" in PAPERS["dynamic"]
    assert gradely.__version__ == gradely_papers.__version__
    assert yaml.safe_load(read("CITATION.cff"))["version"] == gradely.__version__
    released = "dev" not in gradely.__version__
    assert (f"## {gradely.__version__}" if released else "## Unreleased") in read("CHANGELOG.md")


def test_addresses_of_the_project_are_those_of_pyproject():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["repository-code"] == HOME == PAPERS["urls"]["Homepage"]
    assert citation["url"] == PROJECT["urls"]["Documentation"]
    assert HOME in read(".github/ISSUE_TEMPLATE/config.yml")


def test_links_of_the_readme_hold_where_an_index_shows_it():
    text, site = read("README.md"), PROJECT["urls"]["Documentation"]
    for each in PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 30 and all(link.startswith("https://") for link in links)
    on_site = [link.removeprefix(site).removesuffix(".html") for link in links if link.startswith(site)]
    in_repository = [link.removeprefix(f"{HOME}/blob/main/") for link in links if link.startswith(HOME)]
    raw = f"{HOME}/main/".replace("github.com", "raw.githubusercontent.com")
    pictures = [link.removeprefix(raw) for link in links if link.startswith(raw)]
    assert len(links) == len(on_site) + len(in_repository) + len(pictures)
    for path in (*(f"docs/{page}.md" for page in on_site), *in_repository, *pictures):
        assert (ROOT / path).exists(), path
    assert f"]({PAPERS['urls']['Documentation']})" in read("papers/README.md")


def test_issue_forms_are_whole():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= set(form) and all("type" in part for part in form["body"])


def test_workflows_test_every_version_that_is_promised_on_every_system():
    matrix = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"]["tests"]["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert matrix["python"] == named and f">={named[0]}" == PROJECT["requires-python"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert f"VERSIONS := {' '.join(named)}\n" in read("Makefile")


def test_workflows_call_targets_that_exist():
    makefile = read("Makefile")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for target in re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_publishing_needs_the_build_and_no_password():
    jobs = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]
    assert jobs["publish"]["needs"] == "build" and jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in read(".github/workflows/publish.yml")


def test_the_recipe_asks_for_what_pyproject_asks_for():
    text = read("tools/recipe.yaml").replace("@SHA256@", "0").replace("@VERSION@", "1")
    recipe = yaml.safe_load(re.sub(r"\$\{\{.*?\}\}", "x", text))
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert set(PROJECT["dependencies"]) <= run
    host = {line.replace(" ", "") for line in recipe["requirements"]["host"]}
    assert set(PYPROJECT["build-system"]["requires"]) <= host
    scripts = {f"{name} = {target}" for name, target in PROJECT["scripts"].items()}
    assert set(recipe["build"]["python"]["entry_points"]) == scripts


def test_sdists_are_installed_from_where_pip_has_built_no_wheel_of_them(tmp_path, monkeypatch):
    """A wheel that pip once built is installed again for the same address, whatever the file now holds."""
    monkeypatch.setattr(release, "DIST", tmp_path)
    for name in ("gradely-1.tar.gz", "gradely_papers-1.tar.gz"):
        (tmp_path / name).write_bytes(b"")
    installed, work = [], tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(release, "environment", lambda home: lambda *packages: installed.extend(packages))
    monkeypatch.setattr(release, "run_tests", lambda *arguments: None)
    release.try_all(work / "all", tmp_path)
    assert sum(" @ " in package for package in installed) == 2
    assert all((work.as_uri() in package) is (" @ " in package) for package in installed)
