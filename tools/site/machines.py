"""Files for programs: llms.txt, which has a line about each page, and the skill and the schema beside it."""

import re
import shutil
from pathlib import Path

from tools.site.sources import ROOT

PARTS = {
    "start": "Start",
    "guides": "Guides",
    "understand": "Understand",
    "coming-from": "Coming from other tools",
    "reference": "Reference",
    "inside": "Inside",
}
ABOUT = """\
# gradely

> Measures of ranking quality (nDCG, AP, MRR and many more) in Python and on the command line, with graded and
> real-valued relevance and the exact mean over all orders of tied documents; statistical comparison of runs; a gate for
> continuous integration.

SKILL.md says which command or function to use for each task. Pages are HTML; their sources are Markdown in docs/ of
the repository.

- [SKILL.md](SKILL.md): the command and the function for each task, and rules
- [schema.json](schema.json): the JSON Schema of the output of commands
"""


def write(text: Path, site: Path) -> None:
    """Write llms.txt for the Markdown sources of a site, and put the skill and the schema beside it."""
    parts = [ABOUT]
    for folder, title in PARTS.items():
        pages = sorted(path for path in (text / folder).rglob("*.md"))
        lines = [
            f"- [{title_of(path)}]({path.relative_to(text).with_suffix('.html').as_posix()}){first_line(path)}"
            for path in pages
        ]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    (site / "llms.txt").write_text("\n".join(parts), encoding="utf-8")
    shutil.copyfile(ROOT / "SKILL.md", site / "SKILL.md")
    shutil.copyfile(ROOT / "docs" / "reference" / "schema.json", site / "schema.json")


def title_of(path: Path) -> str:
    """Return the title of a page."""
    return re.search(r"^# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)[1]  # type: ignore[index] - pages have one


def first_line(path: Path) -> str:
    """Return the sentence with which a page begins, after a colon; nothing if it begins with something else."""
    for paragraph in path.read_text(encoding="utf-8").split("\n\n")[1:]:
        if paragraph[:1].isalpha() or paragraph.startswith("`gradely"):
            sentence = re.match(r".*?[.:](?=\s[A-Z\[`]|$)", " ".join(paragraph.split()))
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence[0] if sentence else "")
            return f": {plain.rstrip(':')}" if plain else ""
    return ""
