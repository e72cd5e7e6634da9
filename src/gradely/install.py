"""What to type to install something more of gradely, however gradely itself was installed."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra of gradely needs.

    The extra is named together with gradely where pip can find gradely again: in a clone, or in the index that it came
    from. Elsewhere, as after an installation from a wheel, the packages of the extra are named.
    """
    clone = find_clone()
    if clone is not None:
        return pip_install(f"{_written(clone)}[{extra}]")
    return pip_install(*(_packages(extra) if _origin() else [f"gradely[{extra}]"]))


def install_papers() -> str:
    """Return the command that installs the papers' experiments, which are a distribution of their own."""
    clone = find_clone()
    return pip_install("gradely-papers" if clone is None else os.path.join(_written(clone), "papers"))


def pip_install(*targets: str) -> str:
    """Return a command of pip, quoted as the shell of the system wants it."""
    quote = _double_quotes if sys.platform == "win32" else shlex.quote
    return f"pip install {' '.join(map(quote, targets))}"


def find_clone() -> Path | None:
    """Return the clone that gradely runs in or was installed from; None where there is none, or it is gone."""
    origin = _origin()
    folders = [Path(__file__).parents[2]]
    if "dir_info" in origin:
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        folders.append(Path(url2pathname(urlsplit(origin["url"]).path)))
    return next((folder for folder in folders if (folder / "pyproject.toml").exists()), None)


def _origin() -> dict[str, Any]:
    """Return where pip took gradely from (PEP 610); nothing where that was an index, or where pip does not know it."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("gradely").read_text("direct_url.json")
    except PackageNotFoundError:
        return {}
    return dict(json.loads(text)) if text else {}


def _packages(extra: str) -> list[str]:
    """Return the packages of an extra, with the versions that it asks for."""
    from importlib.metadata import requires

    parts = [requirement.partition(";") for requirement in requires("gradely") or []]
    return [package.strip() for package, _, condition in parts if f"'{extra}'" in condition.replace('"', "'")]


def _written(folder: Path) -> str:
    """Return a folder as it is typed: a dot where it is the current one."""
    return "." if Path.cwd() == folder else str(folder)


def _double_quotes(text: str) -> str:
    """Quote a word for the shells of Windows, which do not know single quotes."""
    return f'"{text}"' if any(character in text for character in " [<>;") else text
