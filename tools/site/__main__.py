"""Build the site: python -m tools.site [FOLDER], by default site/."""

import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from tools.site import commands, demo, landmarks, machines, measures, names, questions, sources

HERE = Path(__file__).parent


def main(folder: str = "site") -> int:
    """Gather and generate the sources, and let Sphinx build the pages; a warning is an error."""
    target = Path(folder).resolve()
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        text, cache = Path(work) / "text", Path(work) / "cache"
        sources.gather(text)
        generate(text)
        code = build_main(["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(cache), str(text), str(target)])
        machines.write(text, target)
    landmarks.add(target)
    demo.write_report(target / "sample-report.html")
    for name in (".buildinfo", "objects.inv"):
        (target / name).unlink(missing_ok=True)
    return code


def generate(folder: Path) -> None:
    """Write the pages that are generated from the code."""
    overview = folder / "reference" / "measures.md"
    overview.write_text(measures.overview(overview.read_text(encoding="utf-8")), encoding="utf-8")
    graded = folder / "understand" / "graded.md"
    graded.write_text(demo.put_figure(graded.read_text(encoding="utf-8")), encoding="utf-8")
    asked = questions.pages((folder / questions.PLACE).read_text(encoding="utf-8"))
    for place, text in {**measures.pages(), **commands.pages(), **names.pages(), **asked}.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
