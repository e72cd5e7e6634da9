"""The page of a comparison: what it holds, and how it behaves in a real browser."""

import re
import sys

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.data.demo import collection
from gradely.install import install_extra
from gradely.report import data, page
from gradely.report.comparison import card
from gradely.tables import format_p
from tests.hostile import HOSTILE
from tests.report.test_page import Scripts

MEASURES = ["nDCG@10", "AP", "muAP"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder with the demo collection and its page."""
    folder = tmp_path_factory.mktemp("demo")
    for name, text in collection().items():
        (folder / name).write_text(text)
    runs = {name: folder / f"{name}.run" for name in ("lexical", "dense", "popular")}
    compared = gradely.compare(folder / "qrels.txt", runs, MEASURES)
    (folder / "page.html").write_text(compared.to_html("The demo"), encoding="utf-8")
    return folder, compared


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page whose run names, query ids and document ids are all hostile."""
    rng = np.random.default_rng(0)
    qrels = {query: {doc: int(rng.integers(0, 4)) for doc in HOSTILE[:-1]} for query in HOSTILE}  # one is unjudged
    runs = {name: {query: {doc: float(rng.integers(0, 5)) for doc in HOSTILE} for query in HOSTILE} for name in HOSTILE}
    path = tmp_path_factory.mktemp("hostile") / "page.html"
    path.write_text(gradely.compare(qrels, runs, ["nDCG@10"]).to_html(HOSTILE[0]), encoding="utf-8")
    return path


def test_columns_of_one_measure_name_it_and_p_is_called_corrected_where_it_is(demo):
    """Saved as CSV or LaTeX, a table has nothing but its header to say it."""
    folder, compared = demo
    span = "<span data-measure-name>nDCG@10</span>: "
    html = (folder / "page.html").read_text(encoding="utf-8")
    for words in ("95 % interval", "ties", "better than"):
        assert f'<th scope="col" class="number">{span}{words}</th>' in html
    assert ">corrected p</th>" in html and "not corrected</th>" not in html
    plain = gradely.compare(folder / "qrels.txt", compared.runs, ["AP"], correction="none").to_html()
    assert ">p, not corrected</th>" in plain and "corrected p" not in plain


def test_a_page_of_signed_ranks_says_which_run_they_favour():
    qrels = {f"q{i}": {"d": 1} for i in range(20)}
    runs = {
        "often": {q: ["d"] if i else [*"abcefgh", "d"] for i, q in enumerate(qrels)},
        "other": {q: ["x", "d"] if i else ["d"] for i, q in enumerate(qrels)},
    }
    compared = gradely.compare(qrels, runs, ["RR"], test="wilcoxon")
    sent = data.pair_data(compared.pairwise, compared.influence, complete=True)
    assert sent["favours"] == [compared.pairwise.directions[0].tolist()] == [[1.0]]
    usual = gradely.compare(qrels, runs, ["RR"])
    assert data.pair_data(usual.pairwise, usual.influence, complete=True)["favours"] is None


def text_of(browser, selector):
    return browser.ask("[...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)


def choose(browser, name, value):
    browser.driver.find_element("xpath", f"//select[@id='{name}']/option[.='{value}']").click()
    browser.settle()


def pick(browser, name, text):
    """Type into a picker of runs, as people do."""
    field = browser.driver.find_element("id", name)
    field.click()
    field.send_keys(text + "\ue007")
    browser.settle()


def test_the_page_holds_the_numbers_without_script(demo, browser):
    folder, compared = demo
    browser.open(folder / "page.html", script=False)
    cells = text_of(browser, "#leaders tbody td:not(:nth-last-child(-n+3))")
    means = [value for run in compared.mean().values() for value in run.values()]
    assert [cell.strip()[:6] for cell in cells] == [f"{mean:.4f}" for mean in means]
    assert len(text_of(browser, "#queries tbody tr")) == 24
    visible = browser.ask(
        "[...document.querySelectorAll('.needs-script')].filter((e) => getComputedStyle(e).display !== 'none').length"
    )
    assert visible == 0


def test_the_page_is_drawn_without_errors_and_without_network(demo, browser):
    browser.open(demo[0] / "page.html")
    drawn = browser.ask("[...document.querySelectorAll('[data-chart]')].map((e) => !!e.querySelector('svg path'))")
    assert drawn == [True] * 8
    assert browser.console() == [] and browser.requests() == []


def test_the_leaderboard_is_sorted_by_a_click(demo, browser):
    browser.open(demo[0] / "page.html")
    means = demo[1].mean()
    heads = browser.driver.find_elements("css selector", "#leaders thead button")
    for column, measure in enumerate(MEASURES, 1):
        heads[column].click()
        names = text_of(browser, "#leaders tbody th")
        assert names == sorted(means, key=lambda name: -means[name][measure])
    heads[3].click()
    assert text_of(browser, "#leaders tbody th") == sorted(means, key=lambda name: means[name]["muAP"])
    heads[0].click()
    assert text_of(browser, "#leaders tbody th") == ["dense", "lexical", "popular"]


def test_two_runs_are_chosen_and_turned_around(demo, browser):
    folder, compared = demo
    browser.open(folder / "page.html")
    pairs = {(pair.measure, pair.first, pair.second): pair for pair in compared.pairs}
    pick(browser, "first", "popular")
    pick(browser, "second", "lexical")
    choose(browser, "measure", "AP")
    rows = [row.split("\t") for row in browser.ask("document.querySelector('#pair tbody').innerText").split("\n")]
    for row in rows:
        pair = pairs[row[0], "lexical", "popular"]
        assert row[3] == f"−{pair.difference:.4f}"
        assert row[4] == f"−{pair.high:.4f} to −{pair.low:.4f}"
        assert row[6] == f"{pair.losses} / {pair.ties} / {pair.wins}"
        assert row[5] == f"−{pair.effect:.2f}"
        assert row[7:] == [format_p(pair.p), format_p(pair.adjusted)]
    values = gradely.evaluate(folder / "qrels.txt", folder / "popular.run", ["AP"]).per_query()
    shown = dict(
        zip(text_of(browser, "#queries tbody th"), text_of(browser, "#queries tbody td:nth-child(2)"), strict=True)
    )
    assert shown.keys() == values.keys()
    assert all(float(shown[query]) == pytest.approx(value["AP"], abs=5.1e-5) for query, value in values.items())


def test_a_query_shows_its_rankings_rank_by_rank(demo, browser):
    folder, _ = demo
    browser.open(folder / "page.html")
    button = browser.driver.find_element("xpath", "//table[@id='queries']//button[.='q05']")
    button.send_keys("\ue007")  # Enter: the keyboard is enough
    explained = gradely.explain(folder / "qrels.txt", folder / "lexical.run", "q05", "AP")
    rows = [row.split("\t") for row in browser.ask("document.getElementById('first-ranking').innerText").split("\n")]
    lines = sorted(explained.lines, key=lambda line: (line.first, line.document))[:20]
    expected = [[line.rank, line.document, "–" if line.label is None else f"{line.label:g}"] for line in lines]
    assert [row[:3] for row in rows] == expected
    assert text_of(browser, "#query-name") == ["Query q05"]
    browser.settle()
    bars = browser.driver.find_elements("css selector", "[data-chart=differences] .mark-rect path")
    bars[-1].click()
    assert text_of(browser, "#query-name") == ["Query " + text_of(browser, "#queries tbody th")[-1]]


@pytest.mark.parametrize("width", [1400, 390])
def test_it_fits_the_screen(demo, browser, width):
    emulate = lambda **how: browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", how)
    emulate(width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
    browser.open(demo[0] / "page.html")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("Math.max(...[...document.querySelectorAll('.chart svg')].map((e) => e.clientWidth))") <= width
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_names_do_no_harm(hostile, browser):
    parser = Scripts()
    parser.feed(hostile.read_text(encoding="utf-8"))
    assert sum(tag == "script" for tag, _ in parser.tags) == 5
    assert not {"img", "b", "iframe", "object"} & {tag for tag, _ in parser.tags}
    browser.open(hostile)
    for i in range(3):
        browser.driver.execute_script("document.querySelectorAll('#queries button')[arguments[0]].click()", i)
    browser.settle()
    assert len(text_of(browser, "#leaders tbody th")) == len(HOSTILE)
    assert len(text_of(browser, "#first-ranking tr")) == len(HOSTILE)
    assert browser.ask("window.pwned") is None
    assert browser.ask("document.documentElement.scrollWidth") <= 1400
    assert browser.console() == [] and browser.requests() == []


def test_fifty_queries_and_twenty_runs_are_under_5_mb():
    rng = np.random.default_rng(3)
    docs = [f"clueweb09-en{i:04d}-{i:02d}-{i:05d}" for i in range(300)]
    qrels = {f"{q}": dict(zip(docs, rng.integers(0, 4, 300).tolist(), strict=True)) for q in range(50)}
    runs = {
        f"run-{s}": {q: dict(zip(docs, rng.normal(size=300).round(2).tolist(), strict=True)) for q in qrels}
        for s in range(20)
    }
    html = gradely.compare(qrels, runs).to_html()
    assert len(html.encode()) < 5e6
    assert "Of 50 queries" not in html and "too many rankings" not in html


def test_what_the_page_has_no_room_for_is_said(monkeypatch):
    qrels = {f"q{i}": {"a": 1, "b": i % 3} for i in range(50)}
    runs = {name: {query: [name, "b"] for query in qrels} for name in ("a", "x")}
    monkeypatch.setattr(data, "VALUES", 2 * 10)
    monkeypatch.setattr("gradely.data.tops.ENTRIES", 10)
    small = gradely.compare(qrels, runs, ["AP"]).to_html()
    assert "Of 50 queries, this page shows the 10 on which runs differ most." in small
    assert "There are too many rankings to show them here" in small


def test_what_is_judged_and_missing(demo):
    folder, compared = demo
    found = " ".join(finding.text for finding in gradely.check(folder / "qrels.txt", folder / "dense.run"))
    (every,) = re.findall(r"([\d.]+ %) of the documents are unjudged", found)
    judged = gradely.evaluate(folder / "qrels.txt", folder / "dense.run", ["Judged@10"]).mean()["Judged@10"]
    top = f"{100 * (1 - judged):.1f} %"
    row = rf'>{every}</td><td class="number" data-value="[\d.]+">{top}</td><td class="number" data-value="0">0 of 24<'
    html = compared.to_html()
    assert re.search(row, html)
    alone = gradely.compare({"q": {"a": 1}, "r": {"a": 1}}, {"x": {"q": ["a", "b"]}}, ["AP"]).to_html()
    assert '>50.0 %</td><td class="number" data-value="0.5">50.0 %</td>' in alone and "1 of 2<" in alone


def test_it_shows_what_unjudged_documents_could_change_and_what_to_judge(demo):
    folder, _ = demo
    runs = {name: folder / f"{name}.run" for name in ("lexical", "dense", "popular")}
    found = gradely.holes(folder / "qrels.txt", runs, MEASURES[:1])
    html = (folder / "page.html").read_text(encoding="utf-8")
    section = html.partition('<h2 id="holes">')[2].partition("<h2")[0]
    assert found.summary() in section.replace("<wbr>", "")
    for pair in found.pairs:
        assert any(f"{sign}{abs(pair.high):.4f}" in section for sign in "+−")
    rows = section.partition('id="to-judge"')[2].replace("<wbr>", "")
    for query, document, worth in found.judge(20).documents:
        assert f"<bdi>{query}</bdi></td><td><bdi>{document}</bdi></td>" in rows and f">{worth:.4f}<" in rows
    assert 'aria-label="Mean (dot), its range over all orders of tied documents' in section


def test_it_is_the_same_each_time(demo):
    assert demo[1].to_html("The demo") == (demo[0] / "page.html").read_text(encoding="utf-8")


def test_one_run_and_one_query_have_a_page_too():
    html = gradely.compare({"q": {"a": 1}}, {"only": {"q": {"a": 1.0, "b": 0.5}}}).to_html()
    assert "1 run, 1 query, 1 judgment." in html and 'id="differences"' not in html


def test_real_valued_labels_are_counted_in_ranges():
    qrels = {"q": {f"d{i}": i / 7 for i in range(100)}, "r": {"d1": 0.3}}
    html = gradely.compare(qrels, {"a": {"q": ["d1", "d9"], "r": ["d1"]}}, ["nDCG"]).to_html()
    assert re.search(r"<th scope=\"row\">0 to 1\.18</th>", html)


def test_the_command_writes_the_page(demo, tmp_path, capfd):
    folder, _ = demo
    files = [str(folder / name) for name in ("qrels.txt", "dense.run", "lexical.run")]
    path = tmp_path / "out.html"
    assert cli(["report", *files, "-m", "AP", "-o", str(path), "--title", "<Mine>"]) == 0
    assert "&lt;Mine&gt;" in path.read_text(encoding="utf-8")
    assert "1.0 MB, 2 runs; open it in a browser" in capfd.readouterr().out
    assert cli(["compare", *files, "-m", "AP", "--report", str(tmp_path / "other.html")]) == 0
    assert "Comparison of runs" in (tmp_path / "other.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", ["altair", "jinja2", "vl_convert"])
def test_what_is_not_installed_is_named(demo, monkeypatch, module):
    page.bundle.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(gradely.MissingExtra, match=f"{re.escape(install_extra('report'))}$"):
        demo[1].to_html()


def test_a_missing_library_is_told_before_any_work(monkeypatch, capfd, tmp_path):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert cli(["report", "no-qrels", "no-run", "-o", str(tmp_path / "x.html")]) == 2
    assert f"this needs Altair: {install_extra('report')}" in capfd.readouterr().err


@pytest.mark.parametrize("measure", gradely.ALL)
def test_every_measure_has_a_card(measure):
    made = card(measure.name, measure())
    assert made.summary and made.formula and made.ties and made.reference
    assert ">>>" not in "".join(made[:5])
    assert [name for name, _, _ in made.parameters][-1] == "k"
