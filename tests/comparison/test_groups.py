"""Systems with several runs: the estimator against its definition, what is said about runs, what is refused."""

import json
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.groups import Groups, estimate, spread_of
from gradely.comparison.tests import Pairs
from tests.trec_files import write_trec

QUERIES = [f"q{i}" for i in range(20)]
QRELS = {query: {"d": 1} for query in QUERIES}
ONE_PAIR = Pairs(np.array([0]), np.array([1]))


def ranked(places):
    """Return a run that has the relevant document at these places."""
    return {query: [f"x{k}" for k in range(place - 1)] + ["d"] for query, place in zip(QUERIES, places, strict=True)}


def drawn(seed, runs, highest=6):
    rng = np.random.default_rng(seed)
    return [ranked(rng.integers(1, highest, len(QUERIES)).tolist()) for _ in range(runs)]


def values_of(run):
    return [1 / len(run[query]) for query in QUERIES]


def mean(numbers):
    return sum(numbers) / len(numbers)


def variance(numbers):
    middle = mean(numbers)
    return sum((x - middle) ** 2 for x in numbers) / (len(numbers) - 1)


def leftover(runs):
    """Return the mean square of what query and run leave, by loops over [run][query]."""
    of_runs, count = [mean(run) for run in runs], len(runs[0])
    of_queries = [mean([run[q] for run in runs]) for q in range(count)]
    grand = mean(of_runs)
    total = 0.0
    for r, run in enumerate(runs):
        for q in range(count):
            total += (run[q] - of_runs[r] - of_queries[q] + grand) ** 2
    return total / ((count - 1) * (len(runs) - 1))


def by_definition(first, second):
    """Return difference, standard error, freedom and shares of two systems, [run][query] each, by plain loops."""
    n = len(first[0])
    differ = [mean([run[q] for run in first]) - mean([run[q] for run in second]) for q in range(n)]
    terms, freedoms, rest = [], [], 0.0
    for runs in (first, second):
        if len(runs) > 1:
            terms.append(variance([mean(run) for run in runs]) / len(runs))
            freedoms.append(len(runs) - 1)
            rest += leftover(runs) / (n * len(runs))
    of_queries, of_runs = variance(differ) / n, sum(terms)
    square = max(of_queries + max(0.0, of_runs - rest), rest)
    slow = [1.0] if len(terms) == 1 else [2 - 2 / (3 * freedom) for freedom in freedoms]
    inverse = (1 - max(0.0, of_runs - rest) / square) ** 2 / (n - 1)
    for term, exponent, freedom in zip(terms, slow, freedoms, strict=True):
        inverse += (term * max(0.0, of_runs - rest) / of_runs / square) ** exponent / freedom
    parts = [max(0.0, part) for part in (of_queries - rest, of_runs - rest, rest)]
    return mean(differ), sqrt(square), 1 / inverse, [part / sum(parts) for part in parts]


@pytest.mark.parametrize(
    ("seed", "counts"), [(1, (3, 3)), (2, (2, 5)), (3, (4, 1)), (4, (10, 2)), (5, (3, 3, 2)), (6, (4, 1, 3, 1))]
)
def test_pairs_are_what_the_definition_says(seed, counts):
    systems = {f"s{i}": drawn(seed * 10 + i, count, 5 + i) for i, count in enumerate(counts)}
    compared = gradely.compare(QRELS, systems, ["RR"], correction="none", alpha=0.1, rope=0.07)
    assert len(compared.pairs) == len(list(combinations(counts, 2)))
    for pair in compared.pairs:
        sides = [[values_of(run) for run in systems[name]] for name in (pair.first, pair.second)]
        difference, error, freedom, shares = by_definition(*sides)
        reach = stats.t.isf(0.05, freedom) * error
        assert pair.difference == pytest.approx(difference, abs=1e-12)
        assert pair.freedom == pytest.approx(freedom, rel=1e-9)
        assert pair.p == pytest.approx(2 * stats.t.sf(abs(difference) / error, freedom), rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx((difference - reach, difference + reach), abs=1e-10)
        if len(sides[0]) == len(sides[1]) == 1:
            assert pair.shares is None
        else:
            assert pair.shares == pytest.approx(shares, abs=1e-10) and sum(pair.shares) == pytest.approx(1)
        assert pair.tost == pytest.approx(stats.t.sf((0.07 - abs(difference)) / error, freedom), rel=1e-9)
        chances = [stats.t.sf((0.07 - difference) / error, freedom), stats.t.sf((0.07 + difference) / error, freedom)]
        assert (pair.chance_better, pair.chance_worse) == pytest.approx(chances, rel=1e-9)
        assert pair.chance_better + pair.chance_equal + pair.chance_worse == pytest.approx(1)
        count = [sum(np.sign(a - b) == sign for a, b in zip(*means_of(sides), strict=True)) for sign in (1, 0, -1)]
        assert [pair.wins, pair.ties, pair.losses] == count


def test_weights_of_queries_are_those_of_values_times_weights():
    """With whole numbers that sum to the number of queries, a weight multiplies all values of its query."""
    weights = [2, 0.5, 0.5, 1] * 5
    systems = {"a": drawn(1, 3), "b": drawn(2, 4, 8)}
    given = dict(zip(QUERIES, weights, strict=True))
    made = gradely.compare(QRELS, systems, ["RR"], weights=given, by={q: "xy"[i % 2] for i, q in enumerate(QUERIES)})
    (pair,) = made.pairs
    sides = [
        [[w * value for w, value in zip(weights, values_of(run), strict=True)] for run in systems[name]]
        for name in (pair.first, pair.second)
    ]
    difference, error, freedom, shares = by_definition(*sides)
    assert (pair.difference, pair.freedom) == pytest.approx((difference, freedom))
    assert pair.p == pytest.approx(2 * stats.t.sf(abs(difference) / error, freedom), rel=1e-9)
    assert pair.shares == pytest.approx(shares)
    assert made.mean()[pair.first]["RR"] == pytest.approx(mean([mean(run) for run in sides[0]]))
    assert "weighted means" in made.caption() and made.as_dict()["design"]["weighted"]
    alone = {q: w for q, w in given.items() if int(q[1:]) % 2}
    (odd,) = gradely.compare(QRELS, systems, ["RR"], weights=alone, queries=list(alone)).pairs
    by_segment = next(one for one in made.segments.pairs if one.segment == "y")
    assert (by_segment.difference, by_segment.low, by_segment.high) == pytest.approx(
        (odd.difference, odd.low, odd.high)
    )
    without = made.pairwise.leave_out(0)
    rest = {query: weight for query, weight in given.items() if query != "q0"}
    (left,) = gradely.compare(QRELS, systems, ["RR"], weights=rest, queries=list(rest)).pairs
    assert (without.differences[0, 0], without.p[0, 0]) == pytest.approx((left.difference, left.p))
    equal = gradely.compare(QRELS, systems, ["RR"], weights=dict.fromkeys(QUERIES, 7.0)).pairs[0]
    assert equal == gradely.compare(QRELS, systems, ["RR"]).pairs[0]


def means_of(sides):
    return [np.round(np.mean(runs, axis=0), 12) for runs in sides]


def test_a_small_case_by_hand():
    """Two queries, two runs of A, one of B: D is (.75, .25), so s²_D/n = .125/2; the runs of A have means 1 and .5."""
    first = np.array([[1.0, 0.5], [1.0, 0.5]])
    differ = np.array([[0.75], [0.25]])
    estimates, shares = estimate(differ, [first, np.array([[0.0], [0.5]])], ONE_PAIR)
    between = 0.125 / 2  # the variance of 1 and .5 over two runs; nothing is left beside queries and runs
    assert estimates.difference[0] == 0.5
    assert estimates.error[0] == pytest.approx(sqrt(0.0625 + between))
    assert estimates.freedom[0] == pytest.approx(1 / (0.5**2 + 0.5))  # half of it squared, and half as it is
    assert shares == [(0.5, 0.5, 0.0)]


def test_what_query_and_run_leave_is_taken_off_once():
    values = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert spread_of(values) == (0.0625, 0.0625)
    estimates, (shares,) = estimate(np.array([[0.5], [0.5]]), [values, np.zeros((2, 1))], ONE_PAIR)
    # 0 over queries + .0625 over runs - .0625, and not below what is left
    assert estimates.error[0] == pytest.approx(0.25) and estimates.freedom[0] == pytest.approx(1)
    assert shares == (0.0, 0.0, 1.0)


def test_one_run_of_each_is_the_plain_comparison_and_says_what_it_is_about():
    runs = {"a": drawn(1, 1)[0], "b": drawn(2, 1)[0], "c": drawn(3, 1)[0]}
    plain, grouped = (gradely.compare(QRELS, given, ["RR"]) for given in (runs, {k: [v] for k, v in runs.items()}))
    for one, other in zip(plain.pairs, grouped.pairs, strict=True):
        assert one[:3] == other[:3] and one[3:12] == pytest.approx(other[3:12], rel=1e-9)
        assert other.freedom == pytest.approx(len(QUERIES) - 1) and other.shares is None
    assert grouped.notes[0].text == (
        "every system has only one run: the verdicts are about these runs, not about the systems"
    )
    assert plain.systems is None and "shares" not in plain.fields
    assert grouped.systems.shares_table() is None


def test_corrections_are_those_of_other_comparisons():
    systems = {name: drawn(seed, 3) for seed, name in enumerate("abc")}
    raw = gradely.compare(QRELS, systems, ["RR", "P@2"], correction="none", family="all")
    for correction in ("holm", "bonferroni", "bh"):
        made = gradely.compare(QRELS, systems, ["RR", "P@2"], correction=correction, family="all")
        expected = gradely.comparison.tests.adjust([pair.p for pair in raw.pairs], correction)
        assert [pair.adjusted for pair in made.pairs] == pytest.approx(expected.tolist())
    against = gradely.compare(QRELS, systems, ["RR"], baseline="b")
    assert {pair.second for pair in against.pairs} == {"b"} and len(against.pairs) == 2


def test_the_corrected_interval_leaves_0_out_where_corrected_p_is_below_alpha():
    for seed in range(12):
        systems = {name: drawn(7 * seed + i, 3, 4 + i) for i, name in enumerate("abc")}
        pairwise = gradely.compare(QRELS, systems, ["RR"]).pairwise
        for pair in range(3):
            low, high = pairwise.corrected_interval(0, pair)
            assert (low > 0 or high < 0) == bool(pairwise.significant[0, pair])


def test_neither_the_order_of_runs_nor_that_of_systems_matters():
    systems = {name: drawn(seed, 3) for seed, name in enumerate("abc")}
    turned = {name: runs[::-1] for name, runs in reversed(systems.items())}
    one, other = (gradely.compare(QRELS, given, ["RR"]) for given in (systems, turned))
    assert one.mean() == other.mean()
    for x, y in zip(one.pairs, other.pairs, strict=True):
        assert x[:3] == y[:3] and x[3:13] == pytest.approx(y[3:13], rel=1e-9)


def test_repeats_that_agree_cannot_be_tested_as_if_they_varied():
    """All runs of both have the same difference on every query: p is that of the exact randomization test."""
    systems = {"a": [ranked([1] * 20)] * 2, "b": [ranked([5] * 20)] * 3}
    made = gradely.compare(QRELS, systems, ["RR"])
    (pair,) = made.pairs
    assert pair.p == 2 / 2**20 and (pair.low, pair.high, pair.shares, pair.freedom) == (None,) * 4
    kinds = {note.kind: note.text for note in made.notes}
    assert "the same on every query" in kinds["spreadless"]
    assert kinds["identical"].startswith("the runs of a, b have the same value on every query")
    same = gradely.compare(QRELS, {"a": [ranked([1] * 20)] * 2, "b": [ranked([1] * 20)] * 2}, ["RR"])
    assert same.pairs[0].p == 1 and "a and b have the same value on every query" in same.summary()


def test_differences_that_are_the_same_on_every_query_still_vary_with_the_runs():
    systems = {"a": [ranked([1] * 20), ranked([2] * 20)], "b": [ranked([4] * 20), ranked([5] * 20)]}
    (pair,) = gradely.compare(QRELS, systems, ["RR"]).pairs
    error = sqrt(variance([1, 1 / 2]) / 2 + variance([1 / 4, 1 / 5]) / 2)
    terms = [variance([1, 1 / 2]) / 2, variance([1 / 4, 1 / 5]) / 2]
    freedom = 1 / sum((term / error**2) ** (4 / 3) for term in terms)
    assert pair.p == pytest.approx(2 * stats.t.sf((0.75 - 0.225) / error, freedom), rel=1e-9)
    assert pair.shares == pytest.approx((0, 1, 0))


def test_what_is_said_about_the_numbers_of_runs():
    made = gradely.compare(QRELS, {"a": drawn(1, 2), "b": drawn(2, 3), "c": drawn(3, 1)[0]}, ["RR"])
    texts = {note.kind: note.text for note in made.notes}
    counts = ", ".join(f"{name} {len(made.board.members[name])}" for name in made.board.names)
    assert texts["uneven"] == f"the systems have different numbers of runs: {counts}"
    assert texts["single"] == "c has one run: verdicts on it are about that run, not about the system"
    assert texts["two"].startswith("a has two runs, which say little") and "identical" not in texts
    again = gradely.compare(QRELS, {"a": drawn(1, 1) * 2, "b": drawn(2, 3)}, ["RR"])
    assert "the runs of a have the same value on every query: they are not independent repetitions" in map(
        str, again.notes
    )
    even = gradely.compare(QRELS, {"a": drawn(1, 3), "b": drawn(2, 3)}, ["RR"])
    assert not even.notes


def test_systems_show_their_runs():
    systems = {"a": drawn(1, 3), "b": drawn(2, 2)}
    made = gradely.compare(QRELS, systems, ["RR"])
    for row in made.systems.rows:
        means = [mean(values_of(run)) for run in systems[row.system]]
        assert (row.runs, row.mean) == (len(means), pytest.approx(mean(means)))
        assert (row.deviation, row.lowest, row.highest) == pytest.approx(
            (sqrt(variance(means)), min(means), max(means))
        )
    content = json.loads(made.to_json())
    assert content["pairs"][0]["shares"] == dict(zip(("queries", "runs", "rest"), made.pairs[0].shares, strict=True))
    assert [row["system"] for row in content["systems"]] == made.board.names
    assert list(made.pairs_frame().columns[-4:]) == ["freedom", "share_queries", "share_runs", "share_rest"]
    assert made.render("csv").startswith("system,measure,mean") and "system" in str(made)
    assert set(made.flat()) == {"a/RR", "b/RR"}
    assert json.loads(made.systems.to_json())["pairs"][0]["shares"] == content["pairs"][0]["shares"]


def test_segments_and_influence_count_the_runs_too():
    systems = {"a": drawn(1, 3), "b": drawn(2, 3)}
    part = {query: "x" if i < 8 else "y" if i < 19 else "z" for i, query in enumerate(QUERIES)}
    made = gradely.compare(QRELS, systems, ["RR"], by=part)
    for pair in made.segments.pairs:
        only = [query for query in QUERIES if part[query] == pair.segment]
        alone = gradely.compare(QRELS, systems, ["RR"], queries=only)
        if len(only) == 1:
            assert (pair.low, pair.high) == (None, None)
            continue
        (expected,) = alone.pairs
        turn = 1 if expected.first == pair.first else -1
        assert sorted([pair.low, pair.high]) == pytest.approx(sorted([turn * expected.low, turn * expected.high]))
    row = next(iter(made.influence.rows()))
    without = gradely.compare(QRELS, systems, ["RR"], queries=[query for query in QUERIES if query != row.query])
    assert row.adjusted == pytest.approx(without.pairs[0].adjusted)
    assert made.render("csv").startswith("system,") and made.view().render("csv").startswith("segment,n,system,")


def test_a_list_of_records_is_one_run():
    records = [{"query": query, "document": "d", "score": 1.0} for query in QUERIES]
    assert Groups.of({"a": records, "b": ranked([1] * 20)}) is None
    made = gradely.compare(QRELS, {"a": records, "b": drawn(1, 3)}, ["RR"])
    assert made.board.members["a"] == ["a"] and made.mean()["a"]["RR"] == 1


def test_frames_paths_and_runs_make_groups(tmp_path):
    frame = gradely.evaluate(QRELS, ranked([1] * 20), ["RR"]).to_frame()[["query"]].assign(document="d", score=1.0)
    path = tmp_path / "seed1.run"
    path.write_text("".join(f"{query} Q0 d 1 1.0 x\n" for query in QUERIES))
    systems = {"a": [path, gradely.read_run(path), frame], "b": [path]}
    made = gradely.compare(QRELS, systems, ["RR"])
    assert made.board.members == {"a": ["a/1", "a/2", "a/3"], "b": ["b/seed1"]}
    assert made.pairs[0].p == 1


@pytest.mark.parametrize("test", ["wilcoxon", "randomization", "bootstrap", "tukey", "max-t"])
def test_tests_that_are_not_derived_are_refused_by_name(test):
    with pytest.raises(
        gradely.DataError, match=f"the test {test} is not available for systems with several runs: use t"
    ):
        gradely.compare(QRELS, {"a": drawn(1, 2), "b": drawn(2, 2)}, ["RR"], test=test)


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": drawn(1, 2), "b": []}, {}, "the system b has no runs: give at least one"),
        ({"a": drawn(1, 2), "b": drawn(2, 2)}, {"simultaneous": True}, "simultaneous intervals are not available"),
        ({"a": drawn(1, 2), "b": drawn(2, 2)}, {"baseline": "c"}, "no run 'c' to use as the baseline"),
        (
            {"a": [{q: ["d"] for q in QUERIES[:9]}, {q: ["d"] for q in QUERIES[9:]}], "b": drawn(2, 2)},
            {},
            "the 2 runs of a have no query in common: concatenate parts of one run, such as the folds",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(systems, options, message):
    with pytest.raises(gradely.DataError, match=message):
        gradely.compare(QRELS, systems, ["RR"], **options)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in QUERIES))
    for name, seed in (("bm25", 1), ("dense", 2)):
        write_trec(tmp_path, {}, {f"{name}.{i}": run for i, run in enumerate(drawn(seed, 3))})


def test_a_pattern_names_files_in_folders_and_one_that_is_there_names_itself(files, tmp_path, capsys):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    for name in ("a/b/c/deep.run", "odd[1].run"):
        (tmp_path / name).write_text((tmp_path / "bm25.0.run").read_text())
    groups = ["--group", "a=a/**/*.run", "--group", "odd=odd[1].run", "--group", "dense=dense.*.run"]
    assert cli(["compare", "qrels.txt", *groups, "-m", "RR", "--format", "json"]) == 0
    runs = {row["system"]: row["runs"] for row in json.loads(capsys.readouterr().out)["systems"]}
    assert runs == {"a": 1, "odd": 1, "dense": 3}


def test_the_range_of_ties_is_the_mean_of_those_of_the_runs():
    tied = {query: {"d": 1.0, "x": 1.0 if i < 9 else 0.0} for i, query in enumerate(QUERIES)}
    still, worse = ranked([2] * 20), {q: {"d": 1.0, "x": float(i < 12), "y": 1.0} for i, q in enumerate(QUERIES)}
    board = gradely.compare(QRELS, {"a": [tied, still, worse], "b": drawn(2, 2)}, ["RR"]).board
    spans = [gradely.evaluate(QRELS, run, ["RR"]).tie_ranges for run in (tied, still, worse)]
    low, high = (mean([getattr(some[0], end) if some else 0.5 for some in spans]) for end in ("low", "high"))
    found = board.tie_ranges["a"]["RR"]
    assert (found.low, found.value, found.high) == pytest.approx((low, board.means[0][board.names.index("a")], high))
    assert (found.queries, found.of) == (20, 20)


def test_systems_of_one_run_have_no_shares_beside_others_that_have():
    one = drawn(3, 1)
    made = gradely.compare(QRELS, {"a": drawn(1, 3), "b": one, "c": one}, ["RR"])
    for row, pair in zip(made.systems.shares_table().records(), made.pairs, strict=True):
        shown = [row[name] for name in ("queries", "runs", "rest", "freedom")]
        parts = [f"{100 * share:.0f} %" for share in pair.shares or ()]
        assert shown == ([*parts, f"{pair.freedom:.1f}"] if pair.shares else [None] * 4)
    assert [pair.shares is None for pair in made.pairs].count(True) == 1
    table = made.pairs_table()
    for cells, pair in zip(table.rows, made.pairs, strict=True):
        row = dict(zip(table.header, cells, strict=True))
        assert [row[f"share_{part}"] for part in ("queries", "runs", "rest")] == list(pair.shares or [None] * 3)
        assert (row["p"], row["p"].alpha, row["adjusted"].alpha) == (pair.p, 0.05, 0.05)


def test_the_command_takes_groups(files, capsys):
    assert cli(["compare", "qrels.txt", "--group", "bm25=bm25.*.run", "--group", "dense=dense.?.run", "-m", "RR"]) == 0
    printed = capsys.readouterr().out
    expected = gradely.compare(
        "qrels.txt", {name: [f"{name}.{i}.run" for i in range(3)] for name in ("bm25", "dense")}, ["RR"]
    )
    assert printed.rstrip() == str(expected)
    assert max(map(len, printed.split("\n\n")[2].splitlines())) <= 80
    arguments = ["--group", "dense=dense.*.run", "bm25.0.run", "--baseline", "bm25.0", "-m", "RR", "--format", "json"]
    assert cli(["compare", "qrels.txt", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["second"] == "bm25.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group", "bm25"], "--group 'bm25': give the name of a system and its files, like 'bm25=bm25.*.run'"),
        (["--group", "a=none.*"], "--group 'a=none.*': no file matches none.*"),
        (["--group", "a=bm25.*.run"], "there is only one system, a: name another --group, or a run, to compare with"),
        (
            ["--group", "a=bm25.*.run", "--group", "b=./bm25.1.run"],
            "./bm25.1.run: belongs to both a and b; name each run once, in RUNS or in a --group",
        ),
        (
            ["--group", "a=bm25.*.run", "bm25.1.run"],
            "bm25.1.run: belongs to both a and bm25.1; name each run once, in RUNS or in a --group",
        ),
        (
            ["--group", "a=bm25.*.run", "--group", "a=bm25.1.run"],
            "bm25.1.run: belongs to a twice; name each run once, in RUNS or in a --group",
        ),
        (
            ["--group", "dense.1=bm25.*.run", "dense.1.run"],
            "dense.1.run: there is also a group dense.1; give the group another name",
        ),
        (
            ["--group", "a=bm25.*.run", "--group", "b=dense.*.run", "--test", "tukey"],
            "the test tukey is not available for systems with several runs: use t, or compare one run of each",
        ),
        (
            ["--group", "a=bm25.*.run", "--group", "b=dense.*.run", "--feature", "1"],
            "--feature and --group cannot be combined: each feature is a run by itself",
        ),
    ],
)
def test_groups_that_make_no_sense_are_refused_in_one_line(files, arguments, message, fails):
    fails("compare", "qrels.txt", *arguments, "-m", "RR", says=f"gradely: {message}\n")


def test_the_page_shows_runs_and_shares(files, tmp_path, capsys):
    groups = ["--group", "bm25=bm25.*.run", "--group", "dense=dense.*.run", "-m", "RR", "--report", "page.html"]
    assert cli(["compare", "qrels.txt", *groups]) == 0
    capsys.readouterr()
    page = (tmp_path / "page.html").read_text()
    assert all(f'<h2 id="{part}">' in page for part in ("leaderboard", "runs", "variance", "tests", "origin"))
    assert page.count("<noscript><svg") == 2 and "Comparison of systems" in page
    assert "gradely compare qrels.txt --group &#39;bm25=bm25.*.run&#39;" in page
    texts = ["--queries-text", "qrels.txt"]
    assert cli(["compare", "qrels.txt", *groups[:-1], "other.html", *texts]) == 2
    assert (
        "shows no rankings: leave out the texts" in capsys.readouterr().err and not (tmp_path / "other.html").exists()
    )
    hostile = gradely.compare(QRELS, {"</script><b>": drawn(1, 2), "b": drawn(2, 2)}, ["RR"]).to_html()
    assert "</script><b>" not in hostile and "&lt;/<wbr>script&gt;&lt;b&gt;" in hostile


def test_the_note_on_unjudged_documents_names_systems():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    rankings = {"one": ["a", "b"], "two": ["a", "u"], "three": ["u", "v"]}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in rankings.items()}
    systems = {"x": [runs["one"], runs["two"]], "y": [runs["two"], runs["three"]], "z": [runs["two"]]}
    (note,) = [note for note in gradely.compare(qrels, systems, ["P@2"]).notes if note.kind == "holes"]
    assert str(note).startswith("25.0 % (x) to 75.0 % (y) of the documents in the top 2 are unjudged")
    assert (note.count, note.of) == (20, 40)
