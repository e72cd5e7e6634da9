"""Every page of the site, at the width of a desk and of a phone: nothing fetched, nothing broken, nobody shut out."""

import os
import re
from pathlib import Path
from urllib.parse import quote_plus, unquote, urlsplit

import pytest

from tests.browser import violations

DOCS = Path(__file__).parents[2] / "docs"
SITE = Path(os.environ.get("GRADELY_SITE", ".")).resolve()
PAGES = sorted(SITE.rglob("*.html")) if "GRADELY_SITE" in os.environ else []
if not PAGES:
    pytest.skip("make test-site builds the site and tests it", allow_module_level=True)


SEARCHES = {
    "ndcg ties": "reference/faq/how-does-gradely-treat-ties-in-ndcg",
    "trec_eval float relevance": "reference/faq/can-i-use-float-relevance-which-trec_eval-refuses",
    "ranx qrels run do not match": "reference/faq/why-does-ranx-say-that-qrels-and-run-do-not-match",
    "mean reciprocal rank all scores equal": "reference/faq/why-does-my-constant-scorer-have-mrr-1-0",
    "ndcg greater than 1": "reference/faq/why-is-ndcg-greater-than-1",
    "sklearn ndcg_score ties": "reference/faq/how-does-sklearn-s-ndcg_score-treat-ties",
    "evaluate rag retrieval python": "guides/rag",
    "unjudged documents": "guides/holes",
    "paired t-test two rankers": "guides/compare",
    "ms marco mrr@10": "reference/faq/how-do-i-compute-mrr-10-for-ms-marco",
    "pytrec_eval windows install error": "reference/faq/what-if-pytrec_eval-fails-to-install",
    "how many topics do I need": "reference/faq/how-many-queries-do-i-need",
    "multiple comparison correction many systems": "guides/compare",
    "hit rate recommender": "guides/recommenders",
    "expected reciprocal rank formula": "reference/measures/err",
    "kendall tau between rankings": "guides/overlap",
    "lambdamart custom objective": "guides/learning",
    "kaggle mapk": "reference/faq/is-map-the-same-as-mean-average-precision-at-k",
    "duplicate documents in run": "reference/faq/what-happens-to-duplicate-documents-in-a-run",
    "elasticsearch evaluate search quality": "coming-from/index",
    "coming from another library": "coming-from/index",
    "incomplete judgments": "understand/incomplete",
    "graded relevance": "understand/graded",
    "which test": "understand/tests",
    "LLM judges": "guides/rag",
}
"""what people type, and the page that answers it"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SITE).as_posix())
def test_a_page_is_whole(browser, page):
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


@pytest.mark.parametrize("words", SEARCHES)
def test_the_first_page_that_the_search_finds_answers(browser, words):
    browser.driver.get(f"{(SITE / 'search.html').resolve().as_uri()}?q={quote_plus(words)}")
    browser.wait(
        "new Promise((done) => { const look = () => document.querySelector('#search-results a') ? done()"
        " : setTimeout(look, 50); look(); })"
    )
    first = browser.ask("document.querySelector('#search-results a').getAttribute('href')")
    assert first.startswith(SEARCHES[words]), (words, first)


def test_the_front_page_leads_to_every_guide_and_two_clicks_to_every_page_that_is_written():
    """A visitor who does not open the list of all pages clicks on what the text of a page offers."""

    def offered(page):
        text = re.search(r"<article.*?</article>", page.read_text(encoding="utf-8"), re.DOTALL)[0]
        links = (urlsplit(link) for link in re.findall(r'<a [^>]*href="([^"]*)"', text))
        return {(page.parent / unquote(link.path)).resolve() for link in links if link.path and not link.scheme}

    first = offered(SITE / "index.html")
    assert set(SITE.glob("guides/*.html")) | set(SITE.glob("understand/*.html")) <= first
    second = {page for link in first if link.suffix == ".html" for page in offered(link)}
    written = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")} - {Path("index.html")}
    assert written - {page.relative_to(SITE) for page in first | second} == set()


def test_llms_txt_lists_every_page_that_has_a_source():
    text = (SITE / "llms.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)]*\.html)\)", text))
    pages = {page.relative_to(SITE).as_posix() for page in PAGES}
    assert listed == pages - {"index.html", "genindex.html", "search.html", "sample-report.html"}
    assert (SITE / "SKILL.md").exists() and (SITE / "schema.json").exists()
