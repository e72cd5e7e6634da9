"""The sources of the site: docs/ and the documents at the root in one folder, with links that are valid there."""

import os
import re
import shutil
import textwrap
from pathlib import Path

import gradely

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCED = re.compile(r"^(```+)([^\n`]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
WIDTH = 90
"""characters that a block of text shows on a page without scrolling"""
MOVED = {
    "DESIGN.md": "inside/design.md",
    "CHANGELOG.md": "inside/changelog.md",
    "CONTRIBUTING.md": "inside/contributing.md",
    "SECURITY.md": "inside/security.md",
    "CODE_OF_CONDUCT.md": "inside/conduct.md",
}
"""the places of documents at the root on the site"""
MEASURES = "reference/measures.md"
PAGES = {kind.name.lower() for kind in gradely.ALL}
"""measures have a section of that document, and a page of their own on the site"""


def gather(folder: Path) -> None:
    """Copy the documents that are written by hand into a folder."""
    for path in sorted((ROOT / "docs").rglob("*")):
        place = path.relative_to(ROOT).as_posix()
        if path.suffix == ".md":
            put(folder, place, path.read_text(encoding="utf-8"))
        elif path.is_file():
            target = folder / site_place(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for place in MOVED:
        if (ROOT / place).exists():
            put(folder, place, (ROOT / place).read_text(encoding="utf-8"))


def put(folder: Path, place: str, text: str) -> None:
    """Write a document to its place on the site."""
    target = folder / site_place(place)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(wrap_output(relink(text, place)), encoding="utf-8")


def wrap_output(text: str) -> str:
    r"""Return a document with the sentences of outputs wrapped, as in a terminal; tables, commands and code stay.

    >>> print(wrap_output(f"```\n$ gradely ties\nrun{95 * ' '}nDCG\n{'lexical is better ' * 6}\n```"))
    ```
    $ gradely ties
    run                                                                                               nDCG
    lexical is better lexical is better lexical is better lexical is better lexical is better
    lexical is better
    ```
    """

    def wrapped(block: re.Match[str]) -> str:
        fence, language, content = block.groups()
        lines = content.splitlines(keepends=True)
        return block[0] if language else f"{fence}\n{''.join(map(_wrap_line, lines))}{fence}"

    return FENCED.sub(wrapped, text)


def _wrap_line(line: str) -> str:
    if len(line) <= WIDTH or "  " in line or line.startswith(("$ ", "gradely ", "|", "{", " ")):
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def site_place(place: str) -> str:
    """Return the place of a repository file on the site.

    >>> site_place("docs/guides/gate.md"), site_place("DESIGN.md")
    ('guides/gate.md', 'inside/design.md')
    """
    return MOVED.get(place, place.removeprefix("docs/"))


def relink(text: str, place: str) -> str:
    """Return a document whose links to other files are valid on the site.

    >>> relink("[how](docs/inside/reliability.md#fuzz)", "DESIGN.md")
    '[how](reliability.md#fuzz)'
    >>> relink("[AP](../reference/measures.md#ap)", "docs/guides/arrays.md")
    '[AP](../reference/measures/ap.md)'
    """
    home = os.path.dirname(place)

    def moved(link: re.Match[str]) -> str:
        address = link[2]
        if "://" in address or address.startswith("#"):
            return link[0]
        file, mark, anchor = address.partition("#")
        target = site_place(os.path.normpath(os.path.join(home, file)).replace(os.sep, "/"))
        if target == MEASURES and anchor in PAGES:
            target, mark, anchor = f"reference/measures/{anchor}.md", "", ""
        there = os.path.relpath(target, os.path.dirname(site_place(place)) or ".").replace(os.sep, "/")
        return f"{link[1]}{there}{mark}{anchor}{link[3]}"

    return LINK.sub(moved, text)
