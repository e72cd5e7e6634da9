"""The base of all pages: self-contained, safe, drawn by a real browser."""

import re
from html.parser import HTMLParser

import pytest

from gradely.report.page import altair, as_json, chart, labels, render
from tests.hostile import HOSTILE

STORY = """{% extends "page.html" %}{% block main %}
<table class="sortable">
<thead><tr><th>name</th><th class="number">n</th></tr></thead>
<tbody>
{% for name in names %}
<tr><td><bdi>{{ name | clipped }}</bdi></td><td class="number">{{ loop.index }}</td></tr>
{% endfor %}
</tbody>
</table>
{% if bars %}{{ chart("bars") }}{% endif %}
{% endblock %}"""


@pytest.fixture
def templates(monkeypatch, tmp_path):
    """A package of templates of its own, as pages elsewhere have it."""
    folder = tmp_path / "elsewhere"
    (folder / "templates").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "templates" / "story.html").write_text(STORY)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "elsewhere"


def bars(names, **options):
    alt = altair()
    values = [{"name": name, "n": i} for i, name in enumerate(labels(names), 1)]
    made = alt.Chart(alt.InlineData(values=values), width="container", height=300).mark_bar()
    made = made.encode(x="n:Q", y=alt.Y("name:N", sort=None), tooltip=["name:N", "n:Q"])
    return chart(made, "A bar for each name.", **options)


def page(templates, names=HOSTILE, **options):
    return render(
        "story.html",
        title="<b>" + names[0],
        package=templates,
        names=names,
        bars=True,
        charts={"bars": bars(names, **options)},
    )


class Scripts(HTMLParser):
    """Collects what a browser would take for elements."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_hostile_names_stay_text(templates):
    html = page(templates)
    parser = Scripts()
    parser.feed(html)
    assert [attrs.get("type") for tag, attrs in parser.tags if tag == "script"] == ["application/json"] * 2 + [None] * 2
    assert not {"img", "svg", "b"} & {tag for tag, _ in parser.tags}
    assert html.encode().decode() == html


def test_the_policy_allows_nothing_but_the_pages_own_script_and_style(templates):
    html = page(templates)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert page(templates) == html


def test_a_browser_enforces_the_policy(templates, tmp_path, browser):
    """Script, style, picture, frame, form and address that are not the page's own are refused, were they in it."""
    injected = (
        "<script>window.pwned = 1</script><img src=x.png><iframe src=x.html></iframe><base href=//evil.example/>"
        "<link rel=stylesheet href=x.css><script src=x.js></script><svg onload='window.pwned = 1'></svg>"
        "<a id=trap href='javascript:window.pwned = 1'>x</a><form action=x.html><button id=send>x</button></form>"
    )
    (tmp_path / "page.html").write_text(page(templates).replace("</main>", f"{injected}</main>"), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    for name in ("trap", "send"):
        browser.driver.execute_script(f"document.getElementById('{name}').click()")
    browser.driver.execute_script(
        "fetch('x.json').catch(() => 0);"
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.pwned = 1' }))"
    )
    browser.settle()
    assert browser.ask("window.pwned") is None
    assert browser.ask("document.baseURI") == browser.ask("location.href")
    refused = "\n".join(browser.console())
    for what in ("x.png", "x.css", "x.js", "x.html", "x.json", "form-action", "base-uri", "inline"):
        assert what in refused, what


def test_a_page_without_charts_has_no_script(templates):
    html = render("story.html", title="t", package=templates, names=["a"], bars=False)
    assert "<script" not in html and "script-src &#39;none&#39;" in html


def test_json_cannot_leave_its_element():
    text = as_json({"x": [*HOSTILE, float("nan"), 1.5, None, True]})
    assert text.isascii() and not set("<>&") & set(text)
    assert "null,1.5,null,true" in text


def test_long_names_are_cut_and_stay_apart():
    assert [len(each) for each in labels(["x" * 10_000, "y"])] == [121, 1]
    assert len(set(labels(["x" * 10_000, "x" * 9_999, "y", "y"]))) == 4


def test_a_browser_draws_it_and_asks_the_network_for_nothing(templates, tmp_path, browser):
    (tmp_path / "page.html").write_text(page(templates), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    assert browser.ask("document.querySelectorAll('.chart svg .mark-rect path').length") == len(HOSTILE)
    assert browser.ask("window.pwned") is None
    browser.driver.find_element("css selector", "th.number button").click()
    assert browser.ask("document.querySelector('tbody td.number').textContent") == str(len(HOSTILE))
    assert browser.ask("document.querySelector('th.number').getAttribute('aria-sort')") == "descending"
    assert browser.console() == []
    assert browser.requests() == []


def test_without_script_charts_are_still_pictures(templates, tmp_path, browser):
    (tmp_path / "page.html").write_text(page(templates, still=True), encoding="utf-8")
    browser.open(tmp_path / "page.html", script=False)
    assert browser.ask("document.querySelectorAll('noscript svg .mark-rect path').length") == len(HOSTILE)


def test_requests_would_be_noticed(tmp_path, browser):
    (tmp_path / "page.html").write_text(
        "<script>gradely = { view: () => ({ runAsync: () => 1 }) }</script><img src=x.png>"
    )
    browser.open(tmp_path / "page.html")
    assert [url.rpartition("/")[2] for url in browser.requests()] == ["x.png"]
    assert any("x.png" in line for line in browser.console())
