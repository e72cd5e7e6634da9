"""Every page of the site, at the width of a desk and of a phone: nothing fetched, nothing broken, nobody shut out."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser import browser, violations  # noqa: F401 - browser is a fixture

SITE = Path(os.environ.get("GRADELY_SITE", ".")).resolve()
PAGES = sorted(SITE.rglob("*.html")) if "GRADELY_SITE" in os.environ else []
if not PAGES:
    pytest.skip("make test-site builds the site and tests it", allow_module_level=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SITE).as_posix())
def test_a_page_is_whole(browser, page):  # noqa: F811 - the fixture
    for width in (1280, 390):
        browser.open(page, width=width)
        assert browser.console() == []
        assert browser.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), width
        assert all(address.startswith(("file:", "data:")) for address in browser.requests())
        assert violations(browser) == [], width


OURS = [page for page in PAGES if page.name != "sample-report.html"]
"""the sample report makes its links itself, and has tests of its own"""


@pytest.mark.parametrize("page", OURS, ids=lambda page: page.relative_to(SITE).as_posix())
def test_links_lead_to_pages_and_places_in_them(page):
    for link in re.findall(r'<(?:a|link|img|script)[^>]* (?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
        address = urlsplit(link)
        if address.scheme in ("http", "https", "data", "mailto"):
            continue
        target = (page.parent / unquote(address.path)).resolve() if address.path else page
        assert target.exists(), link
        if address.fragment and target.suffix == ".html":
            assert f'id="{unquote(address.fragment)}"' in target.read_text(encoding="utf-8"), link


def test_a_page_loads_nothing_from_elsewhere():
    for page in PAGES:
        for tag in re.findall(r"<(?:script|link|img|iframe)[^>]*>", page.read_text(encoding="utf-8")):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), (page, tag)


def test_search_finds_what_people_look_for(browser):  # noqa: F811 - the fixture
    for words, place in SEARCHES.items():
        browser.driver.get(f"{(SITE / 'search.html').resolve().as_uri()}?q={words.replace(' ', '+')}")
        browser.wait(
            "new Promise((done) => { let before = 0; const look = () => {"
            " const now = document.querySelectorAll('#search-results li').length;"
            " now && now === before ? done() : ((before = now), setTimeout(look, 200)); }; look(); })"
        )
        found = browser.ask("[...document.querySelectorAll('#search-results a')].map((a) => a.getAttribute('href'))")
        assert any(place in link for link in found[:10]), (words, found[:10])


def test_llms_txt_lists_every_page_that_has_a_source():
    text = (SITE / "llms.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)]*\.html)\)", text))
    pages = {page.relative_to(SITE).as_posix() for page in PAGES}
    assert listed == pages - {"index.html", "genindex.html", "search.html", "sample-report.html"}
    assert (SITE / "SKILL.md").exists() and (SITE / "schema.json").exists()


SEARCHES = {
    "ndcg ties": "reference/faq",
    "trec_eval float relevance": "reference/faq",
    "ranx qrels run do not match": "reference/faq",
    "constant scorer MRR": "reference/faq",
    "pytrec_eval install fails": "reference/faq",
    "coming from another library": "coming-from/index",
    "incomplete judgments": "understand/incomplete",
    "graded relevance": "understand/graded",
    "which test": "understand/tests",
    "evaluate a recommender": "guides/recommenders",
    "LLM judges": "guides/rag",
}
"""what people type, and the page that answers it"""
