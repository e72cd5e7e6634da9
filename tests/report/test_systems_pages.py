"""The pages of systems with several runs, and of suites, in a real browser: charts drawn, nothing asked, no barrier."""

import numpy as np
import pytest

import gradely
from tests.browser import violations
from tests.comparison.test_suite import SUITE, ranked


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write both pages; one system is missing on one collection, and a name is long and hostile."""
    folder, rng = tmp_path_factory.mktemp("pages"), np.random.default_rng(1)
    qrels = SUITE["v"]["qrels"]
    seeds = [ranked(rng.integers(1, 5, len(qrels)).tolist()) for _ in range(6)]
    long = "dense_retriever/with-a-very-long-name.and<b>markup</b>"
    compared = gradely.compare(qrels, {long: seeds[:3], "bm25": seeds[3:5], "one": seeds[5]}, ["RR", "P@1"])
    (folder / "groups.html").write_text(compared.to_html(command="gradely compare …"), encoding="utf-8")
    lacking = SUITE | {"w": SUITE["w"] | {"runs": {name: SUITE["w"]["runs"][name] for name in "ab"}}}
    (folder / "suite.html").write_text(gradely.suite(lacking, ["RR", "P@1"]).to_html(), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("page", "charts", "width"), [("groups", 2, 1400), ("suite", 2, 390)])
def test_pages_are_whole_and_open_to_everybody(pages, browser, page, charts, width):
    browser.open(pages / f"{page}.html", width=width)
    assert browser.console() == [] and browser.requests() == []
    assert browser.ask("document.querySelectorAll('[data-chart] svg').length") == charts
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert violations(browser) == []
