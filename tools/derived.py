"""Files that are generated from the code, so nobody has to maintain them by hand.

`make docs` writes them, and a test compares them: the stub of the public names for editors and type checkers, the page
about every measure, the page of public names, the tables of the papers' claims, and the commands in documents that
install an extra.
"""

import inspect
import re
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import gradely
import gradely_papers
from gradely.cli.measures import page, summary
from gradely.tables import Table, to_markdown
from gradely_papers.documents import document, list_claims
from gradely_papers.results import count, read_record

ROOT = Path(__file__).parents[1]
END = "<!-- end of the table -->"
COUNTS, CLAIMS = "<!-- make docs writes the counts -->\n", "<!-- make docs writes what follows -->\n"
STUB = '''\
"""The public names of gradely; `make docs` writes them from __init__.py and the list of measures: change those."""

'''
PYTHON = """\
# The Python API

<!-- Written by `make docs` from the docstrings: change those. -->

Everything public is in `gradely` itself, and `help(gradely.evaluate)` explains a name. The measures have
[a page of their own](measures.md), and `gradely.ALL` is the tuple of all measures.
"""
PAPERS = """
## The papers' experiments

`pip install ./papers` in a clone installs `gradely_papers`, which [repeats them](../inside/papers.md).

"""
HOME = "." if "dev" in gradely.__version__ else "gradely"
"""how pip finds gradely: in the clone before a release, by name after it"""
KINDS = {
    "Functions": inspect.isfunction,
    "What they return and take": lambda value: inspect.isclass(value) and not issubclass(value, Exception),
    "Errors": lambda value: inspect.isclass(value) and issubclass(value, Exception),
}


def stub() -> str:
    """Return the stub of the package."""
    homes = sorted((f"gradely.{module}", name) for name, module in gradely._homes().items())  # noqa: SLF001 - its own list
    imports = [
        f"from {module} import {', '.join(name for _, name in pairs)}\n"
        for module, pairs in groupby(homes, key=lambda pair: pair[0])
    ]
    names = "".join(f'    "{name}",\n' for name in sorted(gradely.__all__))
    return f"{STUB}{''.join(imports)}\n__version__: str\n__all__ = [\n{names}]\n"


def names() -> str:
    """Return the page about the public names, except the measures."""
    values = {name: getattr(gradely, name) for name in gradely.__all__ if getattr(gradely, name) not in gradely.ALL}
    sections = [
        f"\n## {title}\n\n"
        + to_markdown(
            Table(["name", "what it is"], [row(*item) for item in values.items() if kind(item[1])]), escape=False
        )
        for title, kind in KINDS.items()
    ]
    experiments = {name: getattr(gradely_papers, name) for name in gradely_papers.__all__}
    rows = Table(["name", "what it is"], [row(*item) for item in experiments.items()])
    return install_lines(f"{PYTHON}{''.join(sections)}{PAPERS}{to_markdown(rows, escape=False)}")


def row(name: str, value: Any) -> list[str]:
    """Return a table row with a name and the first line of its docstring."""
    return [f"`{name}`", summary(value)]


def papers() -> str:
    """Return the page about the papers, with the counts of all verdicts and, at its end, a row for each claim."""
    text = installable(ROOT / "docs" / "inside" / "papers.md")
    entries = read_record()
    before, rest = text.split(COUNTS)
    prose = rest.split(END, 1)[1].partition(CLAIMS)[0]
    return f"{before}{COUNTS}\n{to_markdown(count(entries))}\n{END}{prose}{CLAIMS}\n{list_claims(entries)}"


def install_lines(text: str) -> str:
    """Return a document whose commands to install extras, or the papers' experiments, work for this version.

    >>> install_lines("`pip install 'x[report]'`").replace(HOME, "HOME")
    "`pip install 'x[report]'`"
    >>> install_lines("`pip install '.[report]'`").replace(HOME, "HOME")
    "`pip install 'HOME[report]'`"
    """
    text = re.sub(r"(?<=pip install ')(?:\.|gradely)(?=\[)", HOME, text)
    return re.sub(
        r"(?<=pip install )(?:\./papers|gradely-papers)\b", "./papers" if HOME == "." else "gradely-papers", text
    )


def installable(path: Path) -> str:
    """Return a document that is maintained by hand, with correct install commands."""
    return install_lines(path.read_text(encoding="utf-8"))


WRITTEN: dict[str, Callable[[], str]] = {
    "src/gradely/__init__.pyi": stub,
    "docs/reference/measures.md": page,
    "docs/inside/papers.md": papers,
    **{
        f"docs/inside/papers/{paper.lower()}.md": partial(document, paper, read_record())
        for paper in gradely_papers.PAPERS
    },
    "docs/reference/python.md": names,
}
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("papers/*.md"), *ROOT.glob("docs/**/*.md")]
KEPT = {path.relative_to(ROOT).as_posix(): partial(installable, path) for path in sorted(DOCUMENTS)}
FILES = KEPT | WRITTEN

if __name__ == "__main__":
    for path, text in FILES.items():
        (ROOT / path).write_text(text(), encoding="utf-8")
