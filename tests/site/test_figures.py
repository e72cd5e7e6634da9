"""The figures one can play with show gradely's own numbers."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import gradely

SITE = Path(os.environ.get("GRADELY_SITE", ".")).resolve()
if "GRADELY_SITE" not in os.environ:
    pytest.skip("make test-site builds the site and tests it", allow_module_level=True)
MEASURES = ["nDCG", "AP", "muAP", "RR", "P@3", "RBP"]


def draw_groups(rng):
    """Return the labels of a ranking, in tie groups."""
    sizes = rng.integers(1, 5, rng.integers(1, 6))
    return [rng.integers(0, 4, size).tolist() for size in sizes]


def by_gradely(groups):
    labels = [label for group in groups for label in group]
    scores = [-float(i) for i, group in enumerate(groups) for _ in group]
    batch = gradely.from_arrays(np.array([scores]), np.array([labels]))
    return {name: float(gradely.parse(name)(batch)[0]) for name in MEASURES}


def test_measures_in_the_browser_are_those_of_gradely(browser):
    browser.open(SITE / "understand" / "ties.html")
    rng = np.random.default_rng(0)
    cases = [draw_groups(rng) for _ in range(500)] + [[[0, 0]], [[0]], [[3]]]
    found = browser.ask("arguments[0].map((groups) => gradely.evaluate(groups))", cases)
    for groups, values in zip(cases, found, strict=True):
        assert values == pytest.approx(by_gradely(groups), abs=1e-12), groups


def shown(opened):
    return opened.ask(
        "Object.fromEntries([...document.querySelectorAll('[data-measure]')]"
        ".map((cell) => [cell.dataset.measure, cell.textContent]))"
    )


def test_a_ranking_can_be_dragged_tied_and_relabelled(browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.open(SITE / "understand" / "ties.html")
    driver = browser.driver

    def agree():
        expected = by_gradely(browser.ask("gradely.ranking.groups()"))
        assert shown(browser) == {name: f"{value:.4f}" for name, value in expected.items()}

    browser.ask("gradely.ranking.set([3, 0, 1, 2].map((label) => ({label, tied: false})))")
    agree()
    driver.execute_script("arguments[0].click()", driver.find_element(By.CSS_SELECTOR, "[data-key='tie C']"))
    assert browser.ask("gradely.ranking.groups()") == [[3], [0, 1], [2]]
    agree()
    Select(driver.find_element(By.CSS_SELECTOR, "[data-key='label B']")).select_by_visible_text("2")
    assert browser.ask("gradely.ranking.groups()") == [[3], [2, 1], [2]]
    agree()
    driver.execute_script("arguments[0].click()", driver.find_element(By.CSS_SELECTOR, "[data-key='up D']"))
    assert browser.ask("gradely.ranking.documents()") == ["A", "B", "D", "C"]
    agree()
    driver.execute_script(
        "const items = document.querySelectorAll('.ranking li'), data = new DataTransfer();"
        "const fire = (node, kind) => node.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true}));"
        "fire(items[3], 'dragstart'); fire(items[0], 'dragover'); fire(items[0], 'drop');"
    )
    assert browser.ask("gradely.ranking.documents()") == ["C", "A", "B", "D"]
    agree()


def test_the_triangle_of_users_shows_what_gradely_users_says(browser, tmp_path):
    from gradely.data.demo import RUNS, collection

    for name, text in collection().items():
        (tmp_path / name).write_text(text)
    browser.open(SITE / "understand" / "graded.html")
    runs = {name: str(tmp_path / f"{name}.run") for name in RUNS}
    for shares in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7]):
        found = gradely.evaluate_runs(str(tmp_path / "qrels.txt"), runs, [gradely.eGAP(g=shares)])
        means = {name: next(iter(found[name].mean().values())) for name in runs}
        values = browser.ask(
            "arguments[0].map((name) => gradely.usersFigure.value(name, arguments[1]))", list(runs), shares
        )
        assert values == pytest.approx(list(means.values()), abs=1e-12)
        assert browser.ask("gradely.usersFigure.best(arguments[0])", shares) == max(means, key=means.get)
    text = browser.ask("document.querySelector('[data-figure=users] .said').textContent")
    assert "40 % content with level 1, 30 % content with level 2, 30 % content with level 3" in text
    browser.ask(
        "(() => { const s = document.querySelector('[data-figure=users] input'); s.value = 100;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    assert "100 % content with level 1, 0 % content with level 2" in browser.ask(
        "document.querySelector('[data-figure=users] .said').textContent"
    )


def test_the_sample_report_opens(browser):
    browser.open(SITE / "sample-report.html")
    assert browser.console() == [] and browser.requests() == []
    assert json.dumps(browser.ask("document.title")) != '""'
