"""What a message says to install can be installed: from the clone, by name, or package by package."""

import ast
import json
import shlex
import tomllib
from pathlib import Path

import pytest

import gradely
from gradely import install
from gradely.errors import MissingExtra

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


class Installed:
    """Stands for what pip has written down about gradely."""

    requires = tuple(f'{package}; extra == "{extra}"' for extra in EXTRAS for package in EXTRAS[extra])

    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        return None if self.origin is None else json.dumps(self.origin) if name == "direct_url.json" else ""


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that says from where gradely is installed, away from the clone of the tests."""
    monkeypatch.setattr(install, "__file__", str(tmp_path / "lib" / "python3" / "gradely" / "install.py"))

    def from_origin(origin):
        monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(origin))

    return from_origin


def test_in_the_clone_the_extra_is_that_of_the_folder(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert install.install_extra("report") == "pip install '.[report]'"
    assert install.install_papers() == "pip install ./papers"
    assert str(MissingExtra("Altair", "report")) == "this needs Altair: pip install '.[report]'"


def test_elsewhere_the_clone_is_named_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert install.install_extra("report") == f"pip install {shlex.quote(f'{ROOT}[report]')}"
    assert install.install_papers() == f"pip install {shlex.quote(str(ROOT / 'papers'))}"


def test_what_came_from_an_index_is_named(installed):
    installed(None)
    assert install.install_extra("report") == "pip install 'gradely[report]'"
    assert install.install_papers() == "pip install gradely-papers"


def test_the_folder_that_was_installed_is_named_while_it_is_there(installed, tmp_path):
    clone = tmp_path / "a clone"
    clone.mkdir()
    (clone / "pyproject.toml").write_text("")
    installed({"url": clone.as_uri(), "dir_info": {}})
    assert install.install_extra("zstd") == f"pip install '{clone}[zstd]'"
    (clone / "pyproject.toml").unlink()
    assert install.install_extra("report") == "pip install 'altair>=5.5' 'jinja2>=3.1' 'vl-convert-python>=1.7'"


def test_after_a_wheel_the_packages_are_named(installed):
    installed({"url": "file:///somewhere/gradely.whl", "archive_info": {}})
    assert install.install_extra("parquet") == "pip install 'pyarrow>=20'"


def test_windows_knows_no_single_quotes(installed, monkeypatch):
    installed(None)
    monkeypatch.setattr("sys.platform", "win32")
    assert install.install_extra("report") == 'pip install "gradely[report]"'
    assert install.install_papers() == "pip install gradely-papers"


def test_every_extra_that_the_code_names_is_one():
    named = set()
    for path in Path(gradely.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"optional", "needing", "MissingExtra"}:
                named |= {name.value for name in node.args[1:][-1:] if isinstance(name, ast.Constant)}
    assert {"parquet", "report", "zstd"} < named <= set(EXTRAS)


def test_nothing_of_gradely_imports_scipy():
    """It is three times as large as all that gradely installs, and takes longer to import than most evaluations."""
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("papers/src/**/*.py")]:
        assert "scipy" not in path.read_text(encoding="utf-8"), path
