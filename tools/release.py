"""Build the distributions, and test them as users install them: python -m tools.release, which `make build` runs.

Both distributions become an sdist and a wheel in dist/, which are checked. Then they are installed into clean
environments, one with nothing but the wheel of gradely, one with everything from the sdists, and tested there, away
from the sources.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

import gradely

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
SMOKE = (
    "data/test_readers.py",
    "evaluation/test_scores.py",
    "comparison/test_compare.py",
    "report/test_figures.py",
    "cli/test_cli.py",
    "papers/test_m08.py",
)
"""tests that use files of the package, other libraries and the command line"""
LEFT_OUT = ("bandit", "import-linter", "mypy", "ruff", "selenium")
"""packages that only the checks of the sources need"""


def main() -> None:
    """Build, check, install and test."""
    shutil.rmtree(DIST, ignore_errors=True)
    for folder in (ROOT, ROOT / "papers"):
        python("-m", "build", "--outdir", str(DIST), str(folder))
    files = sorted(str(path) for path in DIST.iterdir())
    python("-m", "twine", "check", "--strict", *files)
    python("-m", "check_wheel_contents", *(name for name in files if name.endswith(".whl")))
    write_recipe()
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "elsewhere"
        copy_tests(copy)
        try_base(Path(work) / "base", copy)
        try_all(Path(work) / "all", copy)
    print(f"{len(files)} files in {DIST.relative_to(ROOT)}/ were built, installed and tested")


def copy_tests(folder: Path) -> None:
    """Copy the tests and the documents that they read, but no sources."""
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("*.md"):
        shutil.copy(path, folder)


def try_base(home: Path, tests: Path) -> None:
    """Install only the wheel of gradely, and test what a base installation promises."""
    install = environment(home)
    install(str(next(DIST.glob("gradely-*.whl"))))
    install("pytest", "markdown-it-py")
    run_tests(home, tests, "tests/installed")


def try_all(home: Path, tests: Path) -> None:
    """Install both distributions from their sdists with all extras, and run a selection of the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [package for package in project["dependency-groups"]["test"] if not package.startswith(LEFT_OUT)]
    install = environment(home)
    sdist, papers = (fresh_copy(name, home.parent) for name in ("gradely", "gradely_papers"))
    install(f"gradely[all] @ {sdist.as_uri()}", f"gradely-papers @ {papers.as_uri()}", *needed)
    run_tests(home, tests, "-n", "auto", *(f"tests/{name}" for name in SMOKE))


def fresh_copy(name: str, folder: Path) -> Path:
    """Copy an sdist to a new path: pip would otherwise install the wheel that it once built from the same path."""
    return Path(shutil.copy(next(DIST.glob(f"{name}-*.tar.gz")), folder))


class environment:  # noqa: N801 - used as a function that installs
    """A clean environment; called with packages, it installs them."""

    def __init__(self, home: Path) -> None:
        """Make it."""
        venv.create(home, with_pip=True)
        self.python = python_of(home)

    def __call__(self, *packages: str) -> None:
        """Install packages."""
        run(str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)


def python_of(home: Path) -> Path:
    """Return the interpreter of an environment."""
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run_tests(home: Path, folder: Path, *arguments: str) -> None:
    """Run tests in a folder that has no sources of gradely."""
    options = ("-q", "-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider", "-W", "ignore")
    run(str(python_of(home)), "-m", "pytest", *options, *arguments, folder=folder)


def run(*command: str, folder: Path = ROOT) -> None:
    """Run a command without the sources on its path; stop if it fails."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=folder, env=clean, check=True)  # noqa: S603 - commands of this file


def python(*arguments: str) -> None:
    """Run a module with the interpreter that runs this program."""
    run(sys.executable, *arguments)


def write_recipe() -> None:
    """Write the recipe for conda-forge beside the sdist, with its version and digest."""
    sdist = next(DIST.glob("gradely-*.tar.gz"))
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    text = (ROOT / "tools" / "recipe.yaml").read_text(encoding="utf-8")
    text = text.replace("@VERSION@", gradely.__version__).replace("@SHA256@", digest)
    folder = DIST / "conda"
    folder.mkdir(exist_ok=True)
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
