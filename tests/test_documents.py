"""The documents say what is true: pages that are made are current."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import gradely
from gradely.cli.app import run
from gradely.cli.page import page, section

ROOT = Path(__file__).parents[1]


def test_the_page_of_measures_is_current():
    assert (ROOT / "docs" / "measures.md").read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.parametrize("measure", gradely.ALL, ids=lambda measure: measure.name)
def test_a_section_shows_formula_ties_reference_parameters_and_example(measure):
    html = MarkdownIt("commonmark").enable("table").render(section(measure))
    assert f"<h2>{measure.name}</h2>" in html and html.count("<pre>") == 2
    assert html.count("<li>") == 2 and "<strong>Ties</strong>" in html and "<strong>Reference</strong>" in html
    assert all(f"<td><code>{name}</code></td>" in html for name in measure.parameters)
    assert "<em>" not in html  # a formula's _ and * are not taken for emphasis


def test_measures_in_markdown(capfd):
    assert run(["measures", "--format", "markdown"]) == 0
    assert capfd.readouterr().out == page()
    assert run(["measures", "ndcg", "--format", "markdown"]) == 0
    assert capfd.readouterr().out == section(gradely.nDCG)
