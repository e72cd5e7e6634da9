"""What notebooks show: HTML of a few tags, in which hostile names stay text."""

from html.parser import HTMLParser

import numpy as np
import pytest

import gradely
from gradely.tables import MOST, NOTES, MarkedNumber, Table, bullets, grid
from tests.cases import CASES

EVIL = "<script>alert(1)</script>&amp;\"'><img src=x onerror=alert(1)>$x^2$\u202e\x1b[2J\n"
QRELS = {EVIL: {EVIL: 2, "b": 1}, "q2": {EVIL: 1, "b": 0}, "q3": {"b": 1}}
RUNS = {EVIL: {EVIL: {EVIL: 1.0, "b": 1.0}, "q2": ["b", EVIL]}, "other": {EVIL: ["b", EVIL], "q2": [EVIL], "q3": ["b"]}}
TAGS = {
    "div",
    "p",
    "strong",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "sup",
    "details",
    "summary",
    "pre",
}


class Reader(HTMLParser):
    """Reads HTML: its tags, which must be closed in order, its attributes and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), "", []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


RESULTS = {
    "Scores": lambda: gradely.evaluate_runs(QRELS, RUNS, ["nDCG@10", "AP"])[EVIL],
    "Evaluations": lambda: gradely.evaluate_runs(QRELS, RUNS, ["nDCG@10", "AP"]),
    "Comparison": lambda: gradely.compare(QRELS, RUNS, ["nDCG@10", "AP"]),
    "Explanation": lambda: gradely.explain(QRELS, RUNS[EVIL], EVIL, "nDCG@10"),
    "TieSensitivity": lambda: gradely.tie_sensitivity(QRELS, RUNS, ["AP"]),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_hostile_names_stay_text(kind):
    value = RESULTS[kind]()
    reader = Reader(value._repr_html_())
    assert reader.tags <= TAGS and reader.attributes <= {"class", "style"}
    assert "<script>alert(1)</script>" in reader.text  # as text
    assert "\x1b" not in reader.text and "\u202e" not in reader.text
    assert value._repr_html_().startswith('<div class="tex2jax_ignore mathjax_ignore">')  # $x^2$ is no formula
    assert "\x1b" not in repr(value) and "\u202e" not in repr(value)


def test_scores_show_means_segments_and_notes():
    scores = gradely.evaluate({"a": {"d": 1}, "b": {"d": 1}}, {"a": ["d"]}, ["AP"], by={"a": "short", "b": "long"})
    text = Reader(scores._repr_html_()).text
    assert "mean over 2 queries, ties expected" in text and "0.5000" in text
    assert "short" in text and "1 of 2 judged queries is not in the run" in text


@pytest.mark.parametrize("measure", list({c.measure.name: c.measure for c in CASES}.values()), ids=str)
def test_a_measure_shows_its_card(measure):
    reader = Reader(measure._repr_html_())
    assert reader.tags <= TAGS and {"pre", "table"} <= reader.tags
    assert reader.text.startswith(str(measure)) and "Ties: " in reader.text and "Reference: " in reader.text
    assert ">>>" not in reader.text and all(name in reader.text for name in measure.parameters)


def test_a_batch_shows_how_much_is_judged_and_tied():
    batch = gradely.from_arrays(np.array([[3.0, 2, 2], [1, 2, 3]]), np.array([[1.0, 2, 0], [0, 1, 0.5]]))
    assert repr(batch) == "Batch(2 queries, up to 3 judged and retrieved documents, numpy arrays, ties expected)"
    text = Reader(batch._repr_html_()).text
    assert "032232" not in text and text.endswith("0" + "3" + "3" + "2" + "3" + "2" + "1" + "3" + "3" + "0" + "3" + "1")
    many = gradely.from_arrays(np.ones((12, 3)), np.ones((12, 3)))
    assert "… and 2 more queries" in many._repr_html_()


def test_an_explanation_unfolds_its_ideal_ranking():
    explained = gradely.explain({"q": {"a": 1, "b": 2}}, {"q": ["a", "x"]}, "q", "nDCG")
    html = explained._repr_html_()
    assert html.count("<table>") == 2 and "<details><summary>the ideal ranking" in html and "1/discount" in html
    missing = gradely.explain({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"]}, "r", "nDCG")._repr_html_()
    assert "run has no results for query r, which counts as 0" in missing


def test_long_rankings_and_many_rows_are_cut_and_counted():
    ranking = [f"d{i}" for i in range(1000)]
    html = gradely.explain({"q": dict.fromkeys(ranking, 1)}, {"q": ranking}, "q", "AP")._repr_html_()
    assert html.count("<tr>") < 110 and "… and 980 more documents" in html
    table = grid(Table(["a"], [[float(i)] for i in range(MOST + 5)]))
    assert table.count("<tr>") == MOST + 1 and "… and 5 more rows" in table
    assert f"… and {1000 - NOTES} more" in bullets(range(1000))


def test_the_best_are_bold_and_marks_are_raised():
    html = grid(Table(["run", "AP"], [["a", MarkedNumber(0.5, best=True, marks="b")], ["b", MarkedNumber(0.25)]]))
    assert "<strong>0.5000</strong><sup>b</sup>" in html and 'style="text-align:right">0.2500' in html
