"""The page of a comparison under the hands of people: what they choose, save, copy, print and send as a link."""

import csv
import io
import json
import time

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.data.demo import collection
from gradely.data.texts import select_texts
from gradely.report import data
from gradely.report.page import effect_text, format_signed
from gradely.tables import format_p
from tests.browser import violations
from tests.hostile import HOSTILE
from tests.report.test_report import MEASURES, choose, demo, pick, text_of  # noqa: F401 - demo is a fixture
from tests.shared_data import DATA, needs


@pytest.fixture
def opened(demo, browser):  # noqa: F811
    """The demo's page, open."""
    browser.open(demo[0] / "page.html")
    return browser


def save_page(folder, qrels, runs, measures, title="Page", **design):
    compared = gradely.compare(qrels, runs, measures, **design)
    path = folder / "page.html"
    path.write_text(compared.to_html(title), encoding="utf-8")
    return path, compared


def many_runs(count, queries=8, seed=5):
    """Runs of which later ones are worse, on the same queries."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{i}": int(i < 3) for i in range(12)} for q in range(queries)}
    runs = {
        f"run-{s:02d}": {
            q: {f"d{i}": float(rng.normal() + (i < 3) * (count - s) / 8) for i in range(12)} for q in qrels
        }
        for s in range(count)
    }
    return qrels, runs


def pair_rows(browser):
    return [row.split("\t") for row in browser.ask("document.querySelector('#pair tbody').innerText").split("\n")]


def expected_row(pair, mean):
    interval = "–" if pair.low is None else f"{format_signed(pair.low)} to {format_signed(pair.high)}"
    counts = f"{pair.wins} / {pair.ties} / {pair.losses}"
    numbers = [format_signed(pair.difference), interval, effect_text(pair.effect), counts]
    return [pair.measure, f"{mean[pair.first][pair.measure]:.4f}", f"{mean[pair.second][pair.measure]:.4f}", *numbers]


@pytest.mark.parametrize(
    "design",
    [
        {},
        {"simultaneous": True},
        {"simultaneous": True, "family": "all"},
        {"baseline": "popular"},
        {"test": "wilcoxon"},
    ],
    ids=str,
)
def test_the_page_computes_what_python_does(demo, browser, tmp_path, design):  # noqa: F811
    folder, _ = demo
    runs = {name: folder / f"{name}.run" for name in ("lexical", "dense", "popular")}
    path, compared = save_page(tmp_path, folder / "qrels.txt", runs, MEASURES, **design)
    browser.open(path)
    for first, second in {(pair.first, pair.second) for pair in compared.pairs}:
        pick(browser, "first", first)
        pick(browser, "second", second)
        pairs = [pair for pair in compared.pairs if (pair.first, pair.second) == (first, second)]
        expected = [[*expected_row(pair, compared.mean()), format_p(pair.p), format_p(pair.adjusted)] for pair in pairs]
        assert pair_rows(browser) == expected


@pytest.mark.parametrize("alpha", [0.05, 0.001, 0.0005])
def test_p_values_on_the_page_are_those_in_print(browser, tmp_path, alpha):
    """A page with α = .001 showed .000 for .0002."""
    qrels, runs = many_runs(5, queries=18)
    path, compared = save_page(tmp_path, qrels, runs, ["AP"], alpha=alpha)
    browser.open(path)
    assert any(0.0001 < pair.p < 0.001 for pair in compared.pairs)
    for pair in compared.pairs:
        pick(browser, "first", pair.first)
        pick(browser, "second", pair.second)
        assert pair_rows(browser)[0][7:9] == [format_p(pair.p, alpha), format_p(pair.adjusted, alpha)]


def test_equivalence_is_shown_where_a_region_is_given(demo, browser, tmp_path):  # noqa: F811
    folder, _ = demo
    runs = {name: folder / f"{name}.run" for name in ("lexical", "dense")}
    path, compared = save_page(tmp_path, folder / "qrels.txt", runs, ["AP"], rope=0.05)
    browser.open(path)
    (pair,) = compared.pairs
    chances = [f"{100 * chance:.0f} %" for chance in (pair.chance_better, pair.chance_equal, pair.chance_worse)]
    verdict = f"{'yes' if pair.equivalent else 'no'}, p {format_p(pair.tost_adjusted)}"
    assert pair_rows(browser)[0][9:] == [verdict, " / ".join(chances)]


def test_an_infinite_effect_keeps_its_sign(browser, tmp_path):
    qrels = {f"q{i}": {"a": 1} for i in range(5)}
    runs = {"bad": {q: ["x", "a"] for q in qrels}, "good": {q: ["a", "x"] for q in qrels}}
    path, _ = save_page(tmp_path, qrels, runs, ["RR"], baseline="good")
    browser.open(path)
    pick(browser, "first", "bad")
    pick(browser, "second", "good")
    assert pair_rows(browser)[0][3:7] == ["−0.5000", "–", "−∞", "0 / 0 / 5"]
    assert "−∞" in text_of(browser, "#pairs tbody td")


def test_what_was_tested_is_never_called_untested(browser, tmp_path, monkeypatch):
    qrels, runs = many_runs(4)
    monkeypatch.setattr(data, "VALUES", 4 * 2 * 4)  # 4 of 8 queries
    path, compared = save_page(tmp_path, qrels, runs, ["AP", "RR"])
    browser.open(path)
    rows = pair_rows(browser)
    first = {pair.measure: pair for pair in compared.pairs[::6]}
    assert rows[0][3:] == [
        *expected_row(first["AP"], compared.mean())[3:], format_p(first["AP"].p), format_p(first["AP"].adjusted),
    ]  # fmt: skip
    assert "Of 8 queries, this page shows the 4 on which" in path.read_text(encoding="utf-8")
    monkeypatch.setattr(data, "NUMBERS", 6 * 7)  # one measure
    path.write_text(compared.to_html(), encoding="utf-8")
    browser.open(path)
    assert pair_rows(browser)[1][7:] == ["not in this page", "not in this page"]
    assert "This page has the p-values of 1 of 2 measures" in path.read_text(encoding="utf-8")


def test_a_cell_of_the_matrix_chooses_the_pair(demo, opened):  # noqa: F811
    compared = demo[1]
    matrix = compared.matrix("nDCG@10")
    rows = opened.ask(
        "[...document.querySelectorAll('#matrix-table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    for i, row in enumerate(rows):
        for j in set(range(3)) - {i}:
            star = "*" if matrix.significant[i, j] else ""
            assert row[j + 1] == format_signed(matrix.difference[i, j]) + star
    opened.driver.find_elements("css selector", "#matrix-table tbody tr:nth-child(3) button")[1].click()
    chosen = [opened.ask(f"document.getElementById('{name}').value") for name in ("first", "second")]
    assert chosen == [matrix.names[2], matrix.names[1]]
    assert opened.ask("document.querySelector('#matrix-table [aria-pressed=true]').textContent") == rows[2][2]


def test_many_runs_have_a_picture_of_the_matrix(browser, tmp_path):
    path, compared = save_page(tmp_path, *many_runs(30), ["AP", "RR"])
    browser.open(path)
    box = browser.ask("document.getElementById('matrix-picture').getBoundingClientRect().width")
    browser.driver.execute_script("document.getElementById('matrix-picture').scrollIntoView()")
    from selenium.webdriver import ActionChains

    picture = browser.driver.find_element("id", "matrix-picture")
    cell, centre = box / 30, box / 2
    names = compared.board.names
    ActionChains(browser.driver).move_to_element_with_offset(
        picture, int(27.5 * cell - centre), int(2.5 * cell - centre)
    ).click().perform()
    browser.settle()
    assert [browser.ask(f"document.getElementById('{key}').value") for key in ("first", "second")] == [
        names[2],
        names[27],
    ]
    pair = next(pair for pair in compared.pairs if (pair.first, pair.second) == (names[2], names[27]))
    assert format_signed(pair.difference) in text_of(browser, "#matrix-answer")[0]
    picture = browser.driver.find_element("id", "matrix-picture")
    browser.driver.execute_script("arguments[0].focus()", picture)
    picture.send_keys("\ue015\ue007")  # down, Enter
    assert browser.ask("document.getElementById('first').value") == names[3]


def test_one_run_has_its_worst_queries_first(demo, opened):  # noqa: F811
    folder, _ = demo
    pick(opened, "one-run", "dense")
    choose(opened, "measure-one", "AP")
    values = gradely.evaluate(folder / "qrels.txt", folder / "dense.run", ["AP"]).per_query()
    order = sorted(values, key=lambda query: (values[query]["AP"], query))
    assert text_of(opened, "#worst tbody th") == order
    assert text_of(opened, "#run-query-name") == [f"Query {order[0]}"]
    opened.driver.find_element("css selector", "#worst tbody tr:nth-child(2) button").send_keys("\ue007")
    assert text_of(opened, "#run-query-name") == [f"Query {order[1]}"]
    explained = gradely.explain(folder / "qrels.txt", folder / "dense.run", order[1], "AP")
    lines = sorted(explained.lines, key=lambda line: (line.first, line.document))[:20]
    assert text_of(opened, "#one-ranking td:nth-child(2)") == [line.document for line in lines]
    focused = opened.ask("document.activeElement.textContent")
    assert focused == order[1]  # the keyboard goes on from where it was


def test_a_document_is_marked_in_both_rankings_with_its_change_of_rank(browser, tmp_path):
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    runs = {"one": {"q": ["a", "b", "c", "e"], "r": ["a"]}, "two": {"q": {"b": 9, "c": 5, "a": 5}, "r": ["a"]}}
    path, _ = save_page(tmp_path, qrels, runs, ["AP"])
    browser.open(path)
    rows = lambda name: [
        row.split("\t") for row in browser.ask(f"document.getElementById('{name}').innerText").split("\n")
    ]
    assert rows("first-ranking") == [
        ["1", "a", "1", "2–3 ▲ 1.5"], ["2", "b", "0", "1 ▼ 1"], ["3", "c", "–", "2–3 ▼ 0.5"],
        ["4", "e", "–", "not retrieved"],
    ]  # fmt: skip
    assert rows("second-ranking")[0] == ["1", "b", "0", "2 ▲ 1"]
    browser.driver.find_element("xpath", "//*[@id='second-ranking']//button[.='c']").send_keys("\ue007")
    marked = browser.ask("[...document.querySelectorAll('tr.same')].map((e) => e.cells[1].textContent)")
    assert marked == ["c", "c"]
    browser.driver.find_element("xpath", "//*[@id='first-ranking']//button[.='c']").send_keys("\ue007")
    assert browser.ask("document.querySelectorAll('tr.same').length") == 0


def test_the_picker_searches(opened):
    pick(opened, "second", "POPU")
    assert opened.ask("document.getElementById('second').value") == "popular"
    pick(opened, "second", "e")  # lexical and dense
    assert opened.ask("document.getElementById('second').getAttribute('aria-invalid')") == "true"
    opened.driver.execute_script("document.getElementById('second').blur()")
    assert opened.ask("document.getElementById('second').value") == "popular"
    names = opened.ask("[...document.getElementById('run-names').options].map((o) => o.value)")
    assert sorted(names) == ["dense", "lexical", "popular"]


def test_a_link_opens_the_same_view(demo, opened):  # noqa: F811
    choose(opened, "measure", "AP")
    pick(opened, "first", "popular")
    pick(opened, "one-run", "dense")
    opened.driver.find_element("xpath", "//table[@id='queries']//button[.='q05']").send_keys("\ue007")
    opened.driver.find_element("css selector", "nav a[href='#ties']").send_keys("\ue007")
    address, rows = opened.driver.current_url, pair_rows(opened)
    opened.driver.get("about:blank")
    opened.driver.get(address)
    opened.settle()
    assert pair_rows(opened) == rows and text_of(opened, "#query-name") == ["Query q05"]
    values = [opened.ask(f"document.getElementById('{name}').value") for name in ("first", "one-run", "measure")]
    assert values == ["popular", "dense", "1"]
    assert abs(opened.ask("document.getElementById('ties').getBoundingClientRect().top")) < 120
    opened.driver.execute_script("location.hash = 'measure=muAP&first=nobody'")
    time.sleep(0.2)
    values = [opened.ask(f"document.getElementById('{name}').value") for name in ("first", "measure")]
    assert values == [demo[1].board.names[0], "2"]


def test_names_follow_the_choice(opened):
    pick(opened, "first", "popular")
    pick(opened, "second", "dense")
    heads = opened.ask("[...document.querySelectorAll('#pair thead th')].slice(1, 3).map((e) => e.textContent)")
    assert heads == ["popular", "dense"]
    assert "first" not in text_of(opened, "#queries thead")[0]


def test_the_chart_of_differences_is_sorted_for_every_pair(opened):
    labels = "[...document.querySelectorAll('[data-chart=differences] .role-axis-label text')]"
    places = f"{labels}.map((e) => [e.getBoundingClientRect().x, e.textContent])"
    order = lambda: [name for _, name in sorted(opened.ask(places)) if name.startswith("q")]
    first = order()
    assert first == text_of(opened, "#queries tbody th")
    pick(opened, "second", "popular")
    assert order() == text_of(opened, "#queries tbody th") != first


def test_a_copied_mean_is_the_mean(opened):
    opened.driver.execute_script("getSelection().selectAllChildren(document.querySelector('#leaders tbody tr'))")
    words = opened.ask("getSelection().toString()").split()
    assert all(word.count(".") <= 1 and len(word.partition(".")[2]) in (0, 4) for word in words[1:])


def test_there_is_one_kind_of_minus(opened):
    pick(opened, "first", "popular")
    text = opened.ask("document.querySelector('main').innerText")
    assert "−0." in text
    assert not [word for word in text.split() if word.startswith("-") and word[1:2].isdigit()]


def test_pairs_that_change_places_are_counted_once(demo):  # noqa: F811
    folder, compared = demo
    runs = {name: folder / f"{name}.run" for name in ("lexical", "dense", "popular")}
    sentence = gradely.tie_sensitivity(folder / "qrels.txt", runs, MEASURES).count_swaps()
    assert f"{sentence}." in compared.to_html()


def test_significance_levels_are_steps_from_0(demo):  # noqa: F811
    page = demo[1].to_html()
    specs = json.loads(page.split('id="specs">')[1].split("</script>")[0])["charts"]["levels"]
    assert specs["layer"][0]["mark"]["interpolate"] == "step-before"
    rows = [row for row in specs["layer"][0]["data"]["values"] if row["measure"] == "AP"]
    levels = demo[1].levels()["AP"]
    assert [row["share"] for row in rows] == [0, *(round((i + 1) / 3, 5) for i in range(3))]
    assert [row["p"] for row in rows] == [float(f"{p:.4g}") for p in (levels[0], *levels)]


def download(browser, folder, press):
    """Return the text of the file that pressing a button saves."""
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    before = set(folder.iterdir())
    press()
    for _ in range(100):
        files = [path for path in set(folder.iterdir()) - before if path.suffix != ".crdownload"]
        if files and files[0].stat().st_size:
            return files[0].name, files[0].read_text(encoding="utf-8")
        time.sleep(0.1)
    raise AssertionError("nothing was saved")


def press(browser, label):
    found = browser.driver.find_element("css selector", f"button[aria-label='{label}']")
    return lambda: found.send_keys("\ue007")


def test_tables_and_charts_are_saved(demo, opened, tmp_path):  # noqa: F811
    name, text = download(opened, tmp_path, press(opened, "Save Leaderboard as CSV"))
    rows = list(csv.DictReader(io.StringIO(text)))
    means = demo[1].mean()
    assert name == "leaderboard.csv"
    assert [row["run"] for row in rows] == list(means)
    assert all(float(row[m]) == pytest.approx(means[row["run"]][m], abs=1e-8) for row in rows for m in MEASURES)
    name, text = download(opened, tmp_path, press(opened, "Save The two runs by every measure as LaTeX"))
    assert text.startswith("\\begin{tabular}{lrrrrrrrr}\n\\toprule\nmeasure & lexical & dense &")
    assert text.count("\\\\\n") == 4 and "95 \\% interval" in text and "−" not in text and "$-$0" in text
    name, text = download(opened, tmp_path, press(opened, "Save the chart leaderboard as SVG"))
    assert name == "leaderboard.svg" and text.startswith("<svg") and ">lexical</text>" in text


def test_saved_files_hold_hostile_names_as_text(browser, tmp_path):
    names = ["=cmd|' /C calc'!A0", 'a,"b"', "50% & $x_1$ \\input{x}"]
    qrels = {f"q{i}": {"a": 1} for i in range(3)}
    runs = {name: {q: ["a", "x"][:: 1 - 2 * (i % 2)] for q in qrels} for i, name in enumerate(names)}
    path, _ = save_page(tmp_path, qrels, runs, ["RR"])
    browser.open(path)
    folder = tmp_path / "saved"
    folder.mkdir()
    _, text = download(browser, folder, press(browser, "Save Leaderboard as CSV"))
    assert {row["run"] for row in csv.DictReader(io.StringIO(text))} == {"'" + names[0], *names[1:]}
    _, text = download(browser, folder, press(browser, "Save Leaderboard as LaTeX"))
    assert "50\\% \\& \\$x\\_1\\$ \\textbackslash{}input\\{x\\}" in text


def test_navigation_stays_in_sight(opened):
    opened.driver.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    assert opened.ask("document.querySelector('nav').getBoundingClientRect().top") == 0


def test_printing_keeps_charts_and_columns(opened):
    width = 700  # an A4 page less its margins
    driver = opened.driver
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        hidden = (
            "[...document.querySelectorAll('[data-chart] svg')].filter((e) => !e.getBoundingClientRect().width).length"
        )
        assert opened.ask(hidden) == 0
        wide = "[...document.querySelectorAll('.scroll table, .chart svg')].filter((e) => e.getBoundingClientRect().right > arguments[0] + 1).length"  # noqa: E501
        assert opened.ask(wide, width) == 0
        assert (
            opened.ask(
                "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollHeight > e.clientHeight + 1).length"
            )
            == 0
        )
        assert driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing(demo, browser, scheme, width):  # noqa: F811
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        browser.open(demo[0] / "page.html", width=width)
        assert violations(browser) == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@needs("trec-covid-round1")
def test_143_runs_by_6_measures_are_under_3_mb(browser, tmp_path, capfd):
    folder = DATA / "trec-covid-round1"
    measures = [word for name in ("nDCG@10", "AP", "P@5", "RR", "bpref", "muAP") for word in ("-m", name)]
    runs = [str(path) for path in sorted((folder / "runs-top100").iterdir())]
    path = tmp_path / "page.html"
    assert cli(["report", str(folder / "qrels.covid-round1.txt.gz"), *runs, *measures, "-o", str(path)]) == 0
    assert len(runs) == 143 and path.stat().st_size < 3e6
    browser.open(path)
    assert browser.console() == [] and browser.requests() == []
    assert not {"not tested", "not in this page"} & {cell for row in pair_rows(browser) for cell in row}
    assert violations(browser) == []


def test_texts_of_what_is_shown_are_shown(browser, tmp_path, capfd):
    for name, text in collection().items():
        (tmp_path / name).write_text(text)
    (tmp_path / "queries.tsv").write_text("".join(f"q{i:02d}\twhat is <b>{i}</b>?\n" for i in range(1, 25)))
    documents = [{"_id": f"d{i:03d}", "title": f"Title {i}", "text": "word " * 200} for i in range(2000)]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    files = [str(tmp_path / name) for name in ("qrels.txt", "dense.run", "lexical.run")]
    texts = ["--queries-text", str(tmp_path / "queries.tsv"), "--docs-text", str(tmp_path / "docs.jsonl")]
    path = tmp_path / "page.html"
    assert cli(["report", *files, "-m", "AP", *texts, "-o", str(path)]) == 0
    assert "Title 1999" not in path.read_text(encoding="utf-8")
    browser.open(path)
    name = text_of(browser, "#query-name")[0]
    number = int(name.split(":")[0].removeprefix("Query q"))
    assert name == f"Query q{number:02d}: what is <b>{number}</b>?"
    document, text = text_of(browser, "#first-ranking tr:first-child td:nth-child(2) > *")
    assert text.startswith(f"Title {int(document[1:])}. word word") and len(text) <= 301
    assert f"gradely report {files[0]}" in text_of(browser, ".command")[0]
    assert "gradely " + gradely.__version__ in browser.ask("document.querySelector('main').innerText")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "no tab here",
            ":2: expected an id, a tab and a text, a JSON object, or CSV with a header like id,text; found",
        ),
        ('{"id": 3}', ":2: expected an id (_id, id, qid, query_id, …) and a text (title, text, query, question, …)"),
        ('{"id": ', ":2: this is not valid JSON"),
    ],
)
def test_bad_texts_are_refused_in_one_line(demo, tmp_path, fails, line, message):  # noqa: F811
    folder, _ = demo
    (tmp_path / "texts").write_text(f"q01\tfine\n{line}\n")
    files = [str(folder / name) for name in ("qrels.txt", "dense.run")]
    page = tmp_path / "page.html"
    fails("report", *files, "-o", str(page), "--queries-text", str(tmp_path / "texts"), says=message)
    assert not page.exists()


def test_hostile_texts_stay_text(browser, tmp_path):
    texts = {f"t{i:02d}": text for i, text in enumerate(HOSTILE)}
    qrels = {name: {name: 1} for name in texts}
    runs = {"x": {name: [name, "b"] for name in texts}, "y": {name: ["b", name] for name in texts}}
    path = tmp_path / "page.html"
    page = gradely.compare(qrels, runs, ["AP"]).to_html(queries_text=texts, docs_text=texts)
    path.write_text(page, encoding="utf-8")
    browser.open(path)
    assert all(name in browser.ask('document.documentElement.innerHTML.replace(/[^ -~]/g, "")') for name in texts)
    assert browser.ask("window.pwned") is None
    assert browser.console() == []
    assert select_texts({"a": "x" * 500}, ["a"])["a"] == "x" * 300 + "…"


def test_the_answer_on_top_follows_the_measure(demo, opened):  # noqa: F811
    _, compared = demo
    assert text_of(opened, "#answer") == [compared.summary()]
    for measure in MEASURES[1:]:
        choose(opened, "measure", measure)
        assert text_of(opened, "#answer") == [compared.answers()[measure]]


def test_back_undoes_a_choice_and_stays_on_the_page(opened):
    address = opened.ask("location.pathname")
    choose(opened, "measure", MEASURES[1])
    pick(opened, "second", "popular")
    opened.ask("history.back()")
    opened.settle()
    assert opened.ask("document.getElementById('second').value") == "dense"
    assert opened.ask("document.getElementById('measure').selectedIndex") == 1
    opened.ask("history.back()")
    opened.settle()
    assert opened.ask("document.getElementById('measure').selectedIndex") == 0
    assert opened.ask("location.pathname") == address and opened.ask("location.hash") == ""


def test_ranks_below_the_top_are_told_from_documents_that_are_not_retrieved(browser, tmp_path):
    top = [f"x{i}" for i in range(40)]
    qrels = {"q": {"deep": 1, "gone": 2}}
    runs = {"one": {"q": ["deep", "gone", "unjudged", *top]}, "two": {"q": [*top, "deep"]}}
    path, _ = save_page(tmp_path, qrels, runs, ["AP"])
    browser.open(path)
    rows = browser.ask("[...document.querySelectorAll('#first-ranking tr')].map((e) => e.lastChild.textContent)")
    depth = browser.ask("gradely.data.rankings.depth")
    assert rows[:3] == ["41", "not retrieved", f"not in the top {depth}"]


@pytest.mark.parametrize("width", [1280, 1920])
def test_no_table_is_cut(browser, tmp_path, width):
    qrels, runs = many_runs(9)
    runs = {f"BM25_RM3__output_v2_4096_{name}_2023-09-13T115844": run for name, run in runs.items()}
    path, _ = save_page(tmp_path, qrels, runs, ["nDCG@10", "AP", "RR", "muAP", "P@5", "bpref"])
    browser.open(path, width=width)
    cut = browser.ask(
        "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1)"
        ".map((e) => e.getAttribute('aria-label'))"
    )
    assert cut == []


CONTRAST = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const cell = document.querySelector('#matrix-table tbody').insertRow().insertCell();
  const found = ['sure-better', 'unsure-better', 'sure-worse', 'unsure-worse'].map((kind) => {
    cell.className = kind;
    const [low, high] = [light(getComputedStyle(cell).backgroundColor), ground].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
  cell.parentElement.remove();
  return found;
})()
"""


@pytest.fixture(params=["light", "dark"])
def scheme(browser, request):
    """Show pages in light or in dark mode."""
    features = [{"name": "prefers-color-scheme", "value": request.param}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    yield
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_significant_cells_stand_out_more_than_others(demo, browser, scheme):  # noqa: F811
    """In dark mode the others glowed, and these receded."""
    browser.open(demo[0] / "page.html")
    better, maybe_better, worse, maybe_worse = browser.ask(CONTRAST)
    assert better > 2 * maybe_better and worse > 2 * maybe_worse


def test_short_names_do_not_break_on_a_phone(demo, browser):  # noqa: F811
    browser.open(demo[0] / "page.html", width=390)
    heights = browser.ask(
        "[...document.querySelectorAll('tbody th')].filter((e) => e.offsetParent && e.textContent.length < 12)"
        ".map((e) => { const r = document.createRange(); r.selectNodeContents(e);"
        " return r.getBoundingClientRect().height / parseFloat(getComputedStyle(e).fontSize); })"
    )
    assert len(heights) > 5 and max(heights) < 2  # in lines of 1.5 times the size of the font, one


@pytest.mark.parametrize("width", [1280, 390])
def test_the_colour_of_a_run_stands_beside_the_field_that_chooses_it(demo, browser, width):  # noqa: F811
    browser.open(demo[0] / "page.html", width=width)
    apart = browser.ask(
        "[...document.querySelectorAll('#first, #second')].map((e) => { const box = e.getBoundingClientRect();"
        " const dot = e.parentElement.querySelector('.swatch').getBoundingClientRect();"
        " return Math.abs(dot.top + dot.bottom - box.top - box.bottom) / 2; })"
    )
    assert len(apart) == 2 and max(apart) < 10


ROW_LINES = """\
(() => {
  const found = [];
  for (const table of document.querySelectorAll('table')) {
    if (!table.offsetParent || getComputedStyle(table).borderCollapse !== 'separate') continue;
    table.parentElement.scrollLeft = 60;
    for (const {cells: [head, next]} of table.querySelectorAll('tbody tr + tr')) {
      if (!next || head.tagName !== 'TH') continue;
      const [a, b] = [head, next].map((cell) => {
        const {borderTopWidth: width, borderTopStyle: style, borderTopColor: color} = getComputedStyle(cell);
        return [width, style, color, cell.getBoundingClientRect().top].join(' ');
      });
      const style = getComputedStyle(head);
      found.push([table.id, a, b, style.position, style.backgroundColor, style.borderTopColor]);
    }
  }
  return found;
})()
"""


def test_row_lines_go_on_in_the_column_that_stays(demo, browser, scheme):  # noqa: F811
    """They skipped in the sticky column of a table that is scrolled sideways.

    A cell paints over the end of the cell above it where rows do not end on whole pixels, so lines begin a row.
    """
    browser.open(demo[0] / "page.html", width=700)
    rows = browser.ask(ROW_LINES)
    assert {"leaders", "matrix-table", "pair"} <= {table for table, *_ in rows}
    assert [row for row in rows if row[1] != row[2]] == []
    for _, line, _, position, ground, colour in rows:
        assert line.startswith("1px solid ") and position == "sticky"
        assert ground.startswith("rgb(") and ground != colour  # opaque, and the line can be seen on it
