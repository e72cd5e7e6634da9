"""Where a page comes from: the command, the files, the versions of what computed it."""

import platform
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gradely import __version__
from gradely.optional import optional
from gradely.report.texts import Texts


class Origin(NamedTuple):
    """What a page is told about itself by whoever makes it."""

    command: str = ""
    """the command line that made it; empty where it was made from Python"""
    files: Mapping[str, str] = {}
    """the file of each run, by name, where there is one"""
    queries_text: Texts | None = None
    docs_text: Texts | None = None


def versions() -> dict[str, str]:
    """Return what computed the page, with versions."""
    modules: dict[str, Any] = {"NumPy": np, "SciPy": optional("scipy", "SciPy", "report")}
    libraries = {name: module.__version__ for name, module in modules.items()}
    return {"gradely": __version__, "Python": platform.python_version()} | libraries
