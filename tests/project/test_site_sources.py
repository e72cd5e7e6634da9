"""What the site generates from the code: every measure has its formula, its reference and its page."""

import re

from tools.derived import DOCUMENTS
from tools.site import commands, measures, names, questions
from tools.site.sources import relink, site_place

import gradely

BY_TOOL = {"Judged", "OPA", "RelativeP", "SetAP", "Unjudged"}
"""measures that a tool defines, and no paper"""


def test_every_measure_has_a_formula_and_a_reference():
    assert {kind.name for kind in gradely.ALL} <= set(measures.FORMULAS), "add it to tools/site/formulas.toml"
    without = {kind.name for kind in gradely.ALL if not measures.references(kind)}
    assert without == BY_TOOL, "add it to docs/reference/references.bib"


def test_every_page_of_a_measure_is_whole():
    for place, text in measures.pages().items():
        assert text.count("$$") == 2, place
        for heading in (
            "## Parameters",
            "## Example",
            "## Rank by rank",
            "## Value as the best document moves down",
            "## Elsewhere",
        ):
            assert heading in text, (place, heading)


def test_what_a_page_explains_is_what_is_evaluated():
    """The last line of the example states the value; it is that of evaluate."""
    value = gradely.evaluate(measures.QRELS, measures.RUN, ["AP"])["AP"]
    assert f"= AP {value:.4f}" in measures.page(gradely.AP)


def test_every_command_and_public_name_has_its_place():
    pages = commands.pages()
    assert set(pages) == {"reference/commands.md", *(f"reference/commands/{name}.md" for name in commands.COMMANDS)}
    text = "".join(names.pages().values())
    public = {name for name in gradely.__all__ if getattr(gradely, name) not in gradely.ALL} - {"ALL"}
    assert not {name for name in public if f"## {name}\n" not in text}


def test_links_of_documents_lead_to_places_of_the_site():
    root = DOCUMENTS[0].parent
    places = {site_place(path.relative_to(root).as_posix()) for path in DOCUMENTS}
    assert "inside/design.md" in places and "guides/gate.md" in places
    assert relink("[a](docs/guides/gate.md)", "CHANGELOG.md") == "[a](../guides/gate.md)"


def test_every_question_has_a_page_and_a_line_of_the_list():
    root = DOCUMENTS[0].parent
    text = (root / "docs" / questions.PLACE).read_text(encoding="utf-8")
    pages = questions.pages(text)
    listed = pages.pop(questions.PLACE)
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [page.splitlines()[0] for page in pages.values()] == [f"# {title}" for title in titles]
    assert all(f"- [{title}](faq/" in listed for title in titles) and "](../../understand/ties.md)" in "".join(
        pages.values()
    )
