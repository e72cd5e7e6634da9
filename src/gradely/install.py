"""Commands that install extras of gradely, for every way in which gradely may have been installed."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any


def install_extra(extra: str) -> str:
    """Return the command that installs an extra of gradely.

    The command names the extra if pip can find gradely again, in a clone or in the index it came from. Otherwise, as
    after an installation from a wheel, it names the packages of the extra.
    """
    clone = find_clone()
    if clone is not None:
        return pip_install(f"{_written(clone)}[{extra}]")
    return pip_install(*(_packages(extra) if _origin() else [f"gradely[{extra}]"]))


def install_papers() -> str:
    """Return the command that installs gradely-papers, the distribution with the experiments of the papers."""
    clone = find_clone()
    return pip_install("gradely-papers" if clone is None else os.path.join(_written(clone), "papers"))


def pip_install(*targets: str) -> str:
    """Return a pip command, quoted for the shell of this system."""
    quote = _double_quotes if sys.platform == "win32" else shlex.quote
    return f"pip install {' '.join(map(quote, targets))}"


def find_clone() -> Path | None:
    """Return the clone that gradely runs in or was installed from, or None if there is none or it was deleted."""
    origin = _origin()
    folders = [Path(__file__).parents[2]]
    if "dir_info" in origin:
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        folders.append(Path(url2pathname(urlsplit(origin["url"]).path)))
    return next((folder for folder in folders if (folder / "pyproject.toml").exists()), None)


def _origin() -> dict[str, Any]:
    """Return the origin that pip recorded for gradely (PEP 610); empty if that was an index or is unknown."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("gradely").read_text("direct_url.json")
    except PackageNotFoundError:
        return {}
    return dict(json.loads(text)) if text else {}


def _packages(extra: str) -> list[str]:
    """Return the packages of an extra with their version constraints."""
    from importlib.metadata import requires

    parts = [requirement.partition(";") for requirement in requires("gradely") or []]
    return [package.strip() for package, _, condition in parts if f"'{extra}'" in condition.replace('"', "'")]


def _written(folder: Path) -> str:
    """Return the path of a folder as a user would type it: a dot for the current folder."""
    return "." if Path.cwd() == folder else str(folder)


def _double_quotes(text: str) -> str:
    """Return a word quoted for the shells of Windows, which do not support single quotes."""
    return f'"{text}"' if any(character in text for character in " [<>;") else text
