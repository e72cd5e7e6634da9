"""What tests of several rooms work with: files of their own, those of the demo, and a browser."""

import json

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
def demo(tmp_path, monkeypatch):
    """Work in a folder with the demo collection, and return it."""
    from gradely.data.demo import collection

    monkeypatch.chdir(tmp_path)
    for name, text in collection().items():
        (tmp_path / name).write_text(text)
    return tmp_path
