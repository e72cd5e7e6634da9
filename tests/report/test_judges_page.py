"""The page of judges in a browser: charts are drawn, nothing is asked of the network, and axe finds nothing."""

import pytest

import gradely
from tests.browser import violations
from tests.judgments.test_judges import collection


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    for module in ("altair", "jinja2", "vl_convert"):
        pytest.importorskip(module)
    judged, runs = collection(judges=6, noise=0.5)
    path = tmp_path_factory.mktemp("judges") / "page.html"
    path.write_text(gradely.judges(judged, runs, ["nDCG@5"]).to_html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn_and_axe_finds_nothing(page, browser, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        browser.open(page, width=390)
        assert browser.console() == [] and browser.requests() == []
        drawn = browser.ask(
            "[...document.querySelectorAll('[data-chart]')].map((e) => e.querySelectorAll('svg').length)"
        )
        assert drawn == [1, 1]
        assert violations(browser) == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
