"""What tests of several rooms work with: files of their own, those of the demo, and a browser."""

import json
from pathlib import Path

import pytest

from tests.browser import browser  # noqa: F401 - a fixture


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file, of text, bytes or JSON, and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.fixture
def fails(capfd):
    """Return a function that runs a command, which must fail with one line that says something and write nothing."""
    from gradely.cli.main import run

    def contents():
        return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}

    def check(*arguments, says):
        before = contents()
        capfd.readouterr()
        assert run(list(arguments)) == 2
        out, err = capfd.readouterr()
        assert out == "" and err.startswith("gradely: ") and err.count("\n") == 1, err
        assert all(text in err for text in ([says] if isinstance(says, str) else says)), err
        assert contents() == before

    return check


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """Work in a folder with the demo collection, and return it."""
    from gradely.data.demo import collection

    monkeypatch.chdir(tmp_path)
    for name, text in collection().items():
        (tmp_path / name).write_text(text)
    return tmp_path
