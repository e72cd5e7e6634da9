"""Systems on several collections: random effects against other computations, what is lacking, what is refused."""

import json
from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.random_effects import combine, paule_mandel, squares


def ranked(places):
    """Return a run that has the relevant document of each query at these places."""
    return {f"q{i}": [f"x{k}" for k in range(place - 1)] + ["d"] for i, place in enumerate(places)}


def collection(seed, queries, systems, highest=6):
    """Return a collection on which each system has the relevant documents at random places."""
    rng = np.random.default_rng(seed)
    runs = {name: ranked(rng.integers(1, highest + i, queries).tolist()) for i, name in enumerate(systems)}
    return {"qrels": {f"q{i}": {"d": 1} for i in range(queries)}, "runs": runs}


SUITE = {name: collection(seed, 20 + 9 * seed, ("a", "b", "c"), 4 + seed) for seed, name in enumerate("vwxyz")}


def differences(entry, first, second):
    return [1 / len(entry["runs"][first][q]) - 1 / len(entry["runs"][second][q]) for q in entry["qrels"]]


def iterate(y, v):
    """Return τ² by the iteration of DerSimonian and Kacker (2007), and mean and error, by plain loops."""
    tau2 = 0.0
    for _ in range(500):
        w = [1 / (one + tau2) for one in v]
        mean = sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)
        excess = sum(a * (b - mean) ** 2 for a, b in zip(w, y, strict=True)) - (len(y) - 1)
        if excess <= 0:
            break
        tau2 += excess / sum(a * a * (b - mean) ** 2 for a, b in zip(w, y, strict=True))
    w = [1 / (one + tau2) for one in v]
    return tau2, sum(a * b for a, b in zip(w, y, strict=True)) / sum(w), 1 / sqrt(sum(w))


def test_random_effects_are_what_another_iteration_finds():
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(200):
        size = int(rng.integers(2, 15))
        v = rng.uniform(1e-5, 2e-3, size)
        y = rng.normal(0.01, rng.choice([0, 0.02, 0.1]), size) + rng.normal(0, 1, size) * np.sqrt(v)
        found = combine(y, v)
        tau2, mean, error = iterate(y.tolist(), v.tolist())
        assert (found.tau2, found.difference, found.error) == pytest.approx((tau2, mean, error), rel=1e-7, abs=1e-10)
        # the factor of Hartung and Knapp, max(1, Q/(K - 1)), is 1 with this τ²
        assert max(1.0, squares(y, v, found.tau2) / (size - 1)) == pytest.approx(1)
        above += found.tau2 > 0
    assert 100 < above < 200


def test_the_vaccine_trials_have_their_published_values():
    """Thirteen trials of BCG (Colditz and others 1994), log risk ratios: τ² .3181, mean -.7150, error .1809 by PM."""
    trials = [
        *((4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761)),
        *((180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232)),
        *((17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)),
    ]
    y = np.array([log(a / (a + b)) - log(c / (c + d)) for a, b, c, d in trials])
    v = np.array([1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) for a, b, c, d in trials])
    found = combine(y, v)
    assert (round(found.tau2, 4), round(found.difference, 4), round(found.error, 4)) == (0.3181, -0.7150, 0.1809)
    assert round(100 * found.i2, 1) == 92.1 and sum(found.weights) == pytest.approx(1)


def test_a_case_by_hand():
    """Differences .1 and .5 with variances .02: (.2² + .2²)/(.02 + τ²) = 1, so that τ² is .06."""
    found = combine(np.array([0.1, 0.5]), np.array([0.02, 0.02]))
    assert (found.difference, found.tau2, found.error) == pytest.approx((0.3, 0.06, sqrt(0.08 / 2)))
    assert found.i2 == pytest.approx(1 - 1 / (0.08 / 0.02)) and found.prediction(0.95) is None
    three = combine(np.array([0.1, 0.3, 0.5]), np.array([0.01] * 3))  # .08/(.01 + τ²) = 2
    reach = stats.t.isf(0.025, 1) * sqrt(0.03 + 0.04 / 3)
    assert three.tau2 == pytest.approx(0.03)
    assert three.prediction(0.95) == pytest.approx((0.3 - reach, 0.3 + reach))


@pytest.mark.parametrize(
    ("y", "v", "expected"),
    [
        ([0.1, 0.1, 0.1], [0.0, 0.01, 0.01], None),  # nothing to weight by
        ([0.0, 0.0], [0.0, 0.0], None),
        ([0.1, 0.1], [0.01, 0.02], (0.0, 0.0)),
        ([0.0, 0.2], [0.0, 0.0], (0.02, 1.0)),  # differences without error: their own variance, and no chance in it
    ],
)
def test_variances_of_0(y, v, expected):
    found = combine(np.array(y), np.array(v))
    assert (None if found is None else (found.tau2, found.i2)) == pytest.approx(expected)
    assert found is None or np.isfinite(found.error)


def test_a_sure_difference_among_unsure_ones_has_weight_but_is_not_all():
    y, v = np.array([0.0, 0.3, -0.2, 0.25]), np.array([0.0, 1e-3, 1e-3, 2e-3])
    tau2 = paule_mandel(y, v)
    assert squares(y, v, tau2) == pytest.approx(3) and max(combine(y, v).weights) < 0.3


def test_pairs_are_what_the_collections_say():
    made = gradely.suite(SUITE, ["RR"], correction="bonferroni", alpha=0.1)
    assert [(pair.first, pair.second) for pair in made.pairs] == [
        (made.systems[i], made.systems[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for pair in made.pairs:
        columns = [differences(entry, pair.first, pair.second) for entry in SUITE.values()]
        y, v = [np.mean(one) for one in columns], [np.var(one, ddof=1) / len(one) for one in columns]
        tau2, mean, error = iterate(y, v)
        reach, predicted = stats.t.isf(0.05, 4) * error, stats.t.isf(0.05, 3) * sqrt(tau2 + error**2)
        assert pair.difference == pytest.approx(mean, abs=1e-9)
        assert (pair.low, pair.high) == pytest.approx((mean - reach, mean + reach), abs=1e-8)
        assert pair.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, 4), rel=1e-6)
        assert pair.adjusted == pytest.approx(min(1, 3 * pair.p))
        assert pair.tau2 == pytest.approx(tau2, abs=1e-9)
        assert pair.prediction == pytest.approx((mean - predicted, mean + predicted), abs=1e-7)
        plain = stats.ttest_1samp(y, 0)
        ends = plain.confidence_interval(0.9)
        assert (pair.macro_difference, pair.macro_p) == pytest.approx((np.mean(y), plain.pvalue))
        assert (pair.macro_low, pair.macro_high) == pytest.approx((ends.low, ends.high))
        assert (pair.collections, pair.higher) == (5, sum(one > 0 for one in y))
        for effect, column in zip(made.effects(pair.first, pair.second), columns, strict=True):
            ends = stats.ttest_1samp(column, 0).confidence_interval(0.9)
            assert (effect.low, effect.high) == pytest.approx((ends.low, ends.high))
            assert effect.queries == len(column)


def test_the_macro_mean_is_the_plain_mean_of_the_means():
    made = gradely.suite(SUITE, ["RR", "P@1"])
    for system, by_measure in made.macro_mean().items():
        for measure, value in by_measure.items():
            means = [gradely.evaluate(one["qrels"], one["runs"][system], [measure])[measure] for one in SUITE.values()]
            assert value == pytest.approx(sum(means) / len(means), abs=1e-15)
    best = max(made.macro_mean(), key=lambda name: made.macro_mean()[name]["RR"])
    assert made.systems[0] == best and [row[0] for row in made.table().rows] == [*"vwxyz", "macro mean"]
    assert [table.header[0] for table in made.tables()] == ["RR", "P@1"]


def test_the_order_of_collections_and_systems_does_not_matter():
    turned = {
        name: {"qrels": entry["qrels"], "runs": dict(reversed(entry["runs"].items()))}
        for name, entry in reversed(SUITE.items())
    }
    one, other = gradely.suite(SUITE, ["RR"]), gradely.suite(turned, ["RR"])
    for x, y in zip(one.pairs, other.pairs, strict=True):
        assert x[:5] == y[:5] and x[5:11] == pytest.approx(y[5:11])


def test_a_collection_that_lacks_a_system_is_named_and_never_filled():
    lacking = {name: entry | {"runs": dict(entry["runs"])} for name, entry in SUITE.items()}
    del lacking["w"]["runs"]["c"]
    made = gradely.suite(lacking, ["RR"])
    assert made.lacking == {"w": ["c"]} and made.shared == ["v", "x", "y", "z"]
    over = "the macro means are over the 4 of 5 collections that have every system"
    both = "two systems are compared on the collections that have both"
    assert [note.text for note in made.notes][:2] == ["w has no run of c", f"{over}; {both}"]
    assert {(pair.first, pair.second): pair.collections for pair in made.pairs} == {
        (a, b): 4 if "c" in (a, b) else 5 for a, b in ((p.first, p.second) for p in made.pairs)
    }
    assert made.summary().startswith("Over 4 to 5 collections, depending on the pair, by RR, ")
    column = made.table().header.index("c")
    assert [row[column] is None for row in made.table().rows] == [False, True, False, False, False, False]
    four = {name: entry for name, entry in SUITE.items() if name != "w"}
    assert made.macro_mean() == gradely.suite(four, ["RR"]).macro_mean()
    assert json.loads(made.to_json())["collections"][1]["lacking"] == ["c"]


def test_no_macro_mean_is_made_up_where_no_collection_has_every_system():
    parts = {
        "v": {"qrels": SUITE["v"]["qrels"], "runs": {k: SUITE["v"]["runs"][k] for k in "ab"}},
        "w": {"qrels": SUITE["w"]["qrels"], "runs": {k: SUITE["w"]["runs"][k] for k in "bc"}},
    }
    made = gradely.suite(parts, ["RR"])
    assert made.macro_mean() == {} and "macro mean" not in str(made.table())
    assert {frozenset((pair.first, pair.second)) for pair in made.pairs} == {frozenset("ab"), frozenset("bc")}
    texts = [note.text for note in made.notes]
    assert (
        "no collection has every system, so that there are no macro means; two systems are compared on the" in texts[2]
    )
    assert any(text.startswith("2 of 2 pairs of systems have one collection in common") for text in texts)
    alone = {
        name: entry | {"runs": {system: entry["runs"][system]}}
        for name, entry, system in (("v", SUITE["v"], "a"), ("w", SUITE["w"], "b"))
    }
    none = gradely.suite(alone, ["RR"])
    assert none.pairs == [] and "no two systems have a collection" in none.caption() and str(none)


def test_one_collection_is_compared_as_compare_does_and_says_so():
    made = gradely.suite({"v": SUITE["v"]}, ["RR"])
    plain = gradely.compare(SUITE["v"]["qrels"], SUITE["v"]["runs"], ["RR"])
    for pair, expected in zip(made.pairs, plain.pairs, strict=True):
        assert (pair.difference, pair.low, pair.high, pair.p, pair.adjusted) == pytest.approx(
            (expected.difference, expected.low, expected.high, expected.p, expected.adjusted)
        )
        assert (pair.tau2, pair.i2, pair.prediction, pair.macro_p) == (None,) * 4
    assert "the verdict is about its queries, and says nothing about other collections" in made.notes[0].text


def test_two_collections_have_one_degree_of_freedom_and_no_prediction():
    made = gradely.suite({name: SUITE[name] for name in "vw"}, ["RR"])
    assert all(pair.prediction is None and pair.tau2 is not None for pair in made.pairs)
    assert "two collections in common, so that t has one degree of freedom" in made.notes[0].text


def test_no_interval_reaches_beyond_what_a_difference_can_be():
    made = gradely.suite({name: SUITE[name] for name in "vwx"}, ["RR"], alpha=0.001)
    assert {pair.prediction for pair in made.pairs} == {(-1.0, 1.0)} and all(
        pair.macro_high <= 1 for pair in made.pairs
    )


def test_identical_systems_are_the_same():
    same = {name: entry | {"runs": {"a": entry["runs"]["a"], "b": entry["runs"]["a"]}} for name, entry in SUITE.items()}
    (pair,) = (made := gradely.suite(same, ["RR"])).pairs
    assert (pair.difference, pair.p, pair.low, pair.high, pair.significant) == (0, 1, None, None, False)
    assert "a and b have the same value on every query" in made.summary()
    assert made.plot().to_dict()["vconcat"]


def test_where_nothing_varies_the_macro_mean_takes_over_and_it_is_said():
    """On one collection both differ by the same on every query; on the others by the same on average."""
    first = {"qrels": {f"q{i}": {"d": 1} for i in range(6)}, "runs": {"a": ranked([1] * 6), "b": ranked([2] * 6)}}
    other = first | {"runs": {"a": ranked([1] * 6), "b": ranked([1, 1, 2, 2, 4, 4])}}
    made = gradely.suite({"x": first, "y": other, "z": other}, ["RR"])
    (pair,) = made.pairs
    plain = stats.ttest_1samp([0.5, 2.5 / 6, 2.5 / 6], 0)
    assert (pair.difference, pair.p, pair.tau2, pair.i2) == pytest.approx((4 / 9, plain.pvalue, 0, 0))
    assert pair.prediction is None and {note.kind for note in made.notes} == {"unweighted"}
    constant = gradely.suite({"x": first, "y": first}, ["RR"])
    (pair,) = constant.pairs
    assert (pair.difference, pair.p, pair.low) == (0.5, 2 / 2**2, None)
    kinds = {note.kind: note.text for note in constant.notes}
    assert "the macro mean and its t take the place of random effects" in kinds["unweighted"]
    assert "the difference is the same on every collection" in kinds["spreadless"]


def test_a_collection_of_one_query_is_left_out_of_the_tests():
    one = {"qrels": {"q0": {"d": 1}}, "runs": {"a": ranked([1]), "b": ranked([2]), "c": ranked([3])}}
    made = gradely.suite(SUITE | {"one": one}, ["RR"])
    assert {pair.collections for pair in made.pairs} == {5} and "one" in made.shared
    assert any(note.kind == "single" and note.text.endswith(": one") for note in made.notes)


def test_systems_may_have_several_runs():
    rng = np.random.default_rng(1)
    seeds = {
        name: {
            "qrels": entry["qrels"],
            "runs": {
                "a": [ranked(rng.integers(1, 5, len(entry["qrels"])).tolist()) for _ in range(3)],
                "b": entry["runs"]["b"],
            },
        }
        for name, entry in SUITE.items()
    }
    made = gradely.suite(seeds, ["RR"])
    for effect in made.effects("a", "b"):
        (pair,) = gradely.compare(seeds[effect.collection]["qrels"], seeds[effect.collection]["runs"], ["RR"]).pairs
        sign = 1 if pair.first == "a" else -1
        assert effect.difference == pytest.approx(sign * pair.difference) and effect.freedom == pytest.approx(
            pair.freedom
        )


def test_baselines_families_and_formats():
    made = gradely.suite(SUITE, ["RR", "P@1"], baseline="b", family="all")
    assert {pair.second for pair in made.pairs} == {"b"} and len(made.pairs) == 4
    expected = gradely.comparison.tests.adjust([pair.p for pair in made.pairs], "holm")
    assert [pair.adjusted for pair in made.pairs] == pytest.approx(expected.tolist())
    content = json.loads(made.to_json())
    assert content["pairs"][0]["prediction"].keys() == {"low", "high"} and len(content["pairs"][0]["effects"]) == 5
    assert len(made.to_frame()) == 5 * 3 * 2 and len(made.pairs_frame("polars")) == 4
    for form in ("csv", "markdown", "latex", "html"):
        assert made.render(form)


def write(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, entry in SUITE.items():
        (folder / f"{name}.qrels").write_text("".join(f"{query} 0 d 1\n" for query in entry["qrels"]))
        for system, run in entry["runs"].items():
            lines = [f"{q} Q0 {d} 1 {-k} x\n" for q, docs in run.items() for k, d in enumerate(docs)]
            (folder / f"{name}.{system}.run").write_text("".join(lines))
    content = {
        name: {"qrels": f"{name}.qrels", "runs": {system: f"{name}.{system}.run" for system in "abc"}} for name in SUITE
    }
    (folder / "suite.json").write_text(json.dumps({"measures": ["RR"], "baseline": "b"} | content))
    lines = ['measures = "RR"', 'baseline = ["b"]']
    for name in SUITE:
        lines += [f"[{name}]", f'qrels = "{name}.qrels"', *(f'runs.{one} = "{name}.{one}.run"' for one in "abc")]
    (folder / "suite.toml").write_text("\n".join(lines))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work beside a folder with a suite, so that its paths are not relative to where one is."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("file", ["data/suite.toml", "data/suite.json"])
def test_files_and_dicts_say_the_same(files, file, capsys):
    expected = gradely.suite(SUITE, ["RR"], baseline="b")
    assert gradely.suite(file).pairs == expected.pairs
    assert cli(["suite", file]) == 0
    assert capsys.readouterr().out.rstrip() == str(expected)
    assert cli(["suite", file, "-m", "P@1", "--baseline", "c", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {(pair["measure"], pair["second"]) for pair in content["pairs"]} == {("P@1", "c")}


def test_a_pattern_or_a_list_gives_several_runs(files, tmp_path):
    content = {"v": {"qrels": "v.qrels", "runs": {"all": "v.?.run", "two": ["v.a.run", "v.b.run"]}}}
    (tmp_path / "data" / "x.json").write_text(json.dumps(content))
    made = gradely.suite("data/x.json", ["RR"])
    assert {name: len(runs) for name, runs in made.collections["v"].board.members.items()} == {"all": 3, "two": 2}


def test_figure_and_page(files, tmp_path, capsys):
    assert cli(["suite", "data/suite.toml", "--plot", "forest.svg", "--report", "page.html"]) == 0
    capsys.readouterr()
    figure, page = (tmp_path / name for name in ("forest.svg", "page.html"))
    text = figure.read_text()
    assert text.startswith("<svg") and all(name in text for name in ("over collections", *SUITE))
    page = page.read_text()
    assert (
        all(f'<h2 id="{part}">' in page for part in ("means", "forest", "pairs", "origin")) and "<noscript><svg" in page
    )
    assert "gradely suite data/suite.toml --plot forest.svg" in page


BAD = {
    "an = [unclosed": "s.toml: cannot be read as TOML: Invalid value (at line 1, column 7)",
    "[v]\nqrels = 1 2": "s.toml: cannot be read as TOML: Expected newline or end of document after a statement "
    "(at line 2, column 11)",
    "": "s.toml: is empty",
    "measures = ['AP']": "s.toml: there is no collection: write [covid], and below it",
    "measures = 3": 's.toml: measures is 3: write it like measures = ["nDCG@10", "R@100"]',
    "measure = 'AP'": 's.toml: measure is no collection: write [covid], and below it qrels = "covid.qrels" and '
    'runs.bm25 = "covid.bm25.run". Did you mean measures?',
    "[v]\nqrels = 'q'": "s.toml: v has no runs: write",
    "[v]\nruns.a = 'q'": "s.toml: v has no qrels: write",
    "[v]\nqrels = 'q'\nruns = 'r'": "s.toml: v: runs have the names of their systems",
    "[v]\nqrels = 'q'\nruns.a = 'r'\nmeasures = ['AP']": "s.toml: v: a collection has qrels and runs, and no measures: "
    "it goes above the first collection",
    "[v]\nqrels = 'q'\nruns.a = []": "s.toml: v: a has no runs: give at least one file",
    "[v]\nqrels = 'q'\nruns.a = 5": "s.toml: v: a is the path of a file; found 5",
    "[v]\nqrels = 'q'\nruns.a = '*.none'": "s.toml: v: a: no file matches *.none",
    "[v]\nqrels = 'v.qrels'\nruns.a = 'none.run'": "v.qrels: no such file",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_a_bad_file_is_refused_in_one_line(text, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(text)
    assert cli(["suite", "s.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"gradely: {message}") and err.count("\n") == 1


def test_other_bad_inputs(files, capsys):
    for arguments, message in (
        (["none.toml"], "none.toml: no such file"),
        (["data/suite.toml", "--baseline", "d"], "no run 'd' to be the baseline"),
        (["data/suite.toml", "--plot", "x.txt"], "x.txt: a figure is an .svg, a .pdf or a .png file"),
        (["data/suite.toml", "--report", "data/v.a.run"], "data/v.a.run: cannot be written: it is one of the files"),
        (["data/suite.toml", "-o", "data/v.qrels", "--format", "csv"], "data/v.qrels: cannot be written: it is one of"),
        (["data/suite.toml", "--correction", "x"], "Invalid value for '--correction'"),
    ):
        assert cli(["suite", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"gradely: {message}") and err.count("\n") == 1, err


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ({}, "a suite is a file, or collections by name"),
        ([1], "a suite is a file, or collections by name"),
        ({"v": 3}, "v: a collection has qrels and runs"),
        ({"v": {"qrels": {}}}, "v has no runs"),
        ({"v": {"qrels": {}, "runs": {}}}, "v: runs have the names of their systems"),
        ({"v": {"qrels": {}, "runs": {"a": {}}, "run": {}}}, "and no run. Did you mean runs?"),
    ],
)
def test_what_is_no_suite_is_refused(collections, message):
    with pytest.raises(gradely.GradelyError) as refused:
        gradely.suite(collections, ["RR"])
    assert message in str(refused.value)


def test_what_is_not_about_reading_and_measuring_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'test'; it takes ties, queries"):
        gradely.suite(SUITE, ["RR"], test="wilcoxon")


def test_a_key_twice_in_json_is_refused(tmp_path):
    path = tmp_path / "s.json"
    path.write_text('{"v": {}, "v": {}}')
    with pytest.raises(gradely.InputError, match="cannot be read as JSON: the key 'v' is given twice"):
        gradely.suite(path)
    path.write_text('{"v": \n{"qrels" 3}}')
    with pytest.raises(gradely.InputError, match="line 2 column 10"):
        gradely.suite(path)
