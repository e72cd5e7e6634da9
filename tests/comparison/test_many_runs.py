"""Many runs together: correlation of measures, and pools that shrink."""

import json
import random
from itertools import groupby, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import gradely
from gradely.cli.main import run
from gradely.comparison.correlate import Draw, Pools, select_few_high, stack
from gradely.comparison.kendall import correlations, kendall, meaning, tau_ap
from gradely.measures.names import parse_all

MEASURES = ["AP", "nDCG@5", "xGAP", "bpref", "Judged@3"]


DEMO = ["dense.run", "lexical.run", "popular.run"]


def plain_tau_ap(x, y):
    """τ_AP by definition, over all orders of systems that tie by x."""
    ranked = sorted(range(len(x)), key=lambda i: -x[i])
    groups = [list(group) for _, group in groupby(ranked, key=lambda i: x[i])]
    values = []
    for parts in product(*map(permutations, groups)):
        order = [i for part in parts for i in part]
        values.append(
            2 / (len(x) - 1) * sum(sum(agreement(x, y, e, d) for e in order[:i]) / i for i, d in enumerate(order) if i)
            - 1
        )
    return sum(values) / len(values)


def agreement(x, y, e, d):
    return 1 if y[e] > y[d] or (y[e] == y[d] and x[e] == x[d]) else (y[e] == y[d]) / 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=8))
def test_tau_is_scipys(values):
    x, y = zip(*values, strict=True)
    theirs = stats.kendalltau(x, y).statistic
    ours = kendall(x, y)
    assert (np.isnan(ours) and np.isnan(theirs)) or ours == pytest.approx(theirs)


def test_tau_ap_by_hand():
    """Reference a > b > c > d; the ranking a > c > b > d has 1 of 1, 1 of 2 and 3 of 3 right above each."""
    assert tau_ap([4, 2, 3, 1], [4, 3, 2, 1]) == pytest.approx(2 / 3 * (1 / 1 + 1 / 2 + 3 / 3) - 1)
    assert tau_ap([1, 2, 3], [3, 2, 1]) == -1
    assert tau_ap([5, 5, 1, 1], [5, 5, 1, 1]) == pytest.approx(1)
    assert kendall([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)


def test_tau_ap_minds_the_top_and_tau_does_not():
    reference, top, bottom = [5, 4, 3, 2, 1], [4, 5, 3, 2, 1], [5, 4, 3, 1, 2]
    assert kendall(top, reference) == kendall(bottom, reference)
    assert tau_ap(top, reference) < tau_ap(bottom, reference)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_tau_ap_is_the_mean_over_all_orders_of_tied_systems(values):
    x, y = zip(*values, strict=True)
    assert tau_ap(x, y) == pytest.approx(plain_tau_ap(x, y), abs=1e-12)


@pytest.mark.parametrize("policies", [{}, {"ties": "trec"}, {"ties": "worst"}, {"judged_only": True}])
def test_together_each_run_scores_as_it_does_alone(demo, policies):
    stacked = stack(gradely.evaluate_runs("qrels.txt", DEMO, ["AP"], **policies))
    for values, path in zip(stacked.values(parse_all(MEASURES)), DEMO, strict=True):
        assert np.array_equal(values, gradely.evaluate("qrels.txt", path, MEASURES, **policies).values)


@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_smaller_pools_score_as_if_only_they_had_been_judged(demo, ties):
    systems = stack(gradely.evaluate_runs("qrels.txt", DEMO, ["AP"], ties=ties))
    kept = Draw(systems.qrels, (1, 2)).sample(0.4)
    fitted = {name: measure.fit(systems.qrels.levels) for name, measure in parse_all(MEASURES).items()}
    rest = {q: {} for q in systems.qrels.queries}
    for i, query in enumerate(systems.qrels.queries):
        rows = range(systems.qrels.start[i], systems.qrels.start[i + 1])
        rest[query] = {systems.qrels.docs[j]: systems.qrels.grade[j] for j in rows if kept[j]}
    for values, path in zip(systems.with_judgments(kept).values(fitted), DEMO, strict=True):
        alone = gradely.evaluate(rest, path, list(fitted.values()), ties=ties)
        assert np.array_equal(values, alone.values)


QRELS = {"a": {f"d{i}": grade for i, grade in enumerate([0] * 20 + [1] * 10 + [2] * 3)}, "b": {"x": 2, "y": -2}}


def test_pools_shrink_by_grade_and_inside_each_other():
    qrels = gradely.read_qrels(QRELS)
    draw = Draw(qrels, (7,))
    before = np.ones(len(qrels.grade), bool)
    for rate, counts in {1.0: (20, 10, 3), 0.5: (10, 5, 2), 0.1: (2, 1, 1), 0.01: (1, 1, 1)}.items():
        kept = draw.sample(rate, least_nonrelevant=1)
        assert tuple(np.count_nonzero(kept[:33] & (qrels.grade[:33] == g)) for g in (0, 1, 2)) == counts
        assert kept[33:].all()  # at least one of each topic and grade
        assert not (kept & ~before).any()
        before = kept


def test_one_document_of_each_relevant_grade_and_ten_others_stay_judged():
    """As in Buckley and Voorhees (2004), by grade; all that is not relevant is one grade, of which ten may be all."""
    judged = {"a": QRELS["a"] | {f"spam{i}": -2 for i in range(20)}, "few": {"x": 0, "y": -2, "z": 3}}
    qrels = gradely.read_qrels(judged)
    for rate, counts in {1.0: (40, 10, 3), 0.5: (20, 5, 2), 0.3: (12, 3, 1), 0.1: (10, 1, 1)}.items():
        kept = Draw(qrels, (7,)).sample(rate)
        a = slice(*qrels.start[:2])
        grades = np.maximum(qrels.grade[a], 0)
        assert tuple(np.count_nonzero(kept[a] & (grades == g)) for g in (0, 1, 2)) == counts
        assert kept[qrels.start[1] :].all()


def test_draws_differ_by_seed_and_not_by_the_order_of_the_input():
    turned = {q: dict(reversed(docs.items())) for q, docs in reversed(QRELS.items())}
    first, same, other = (
        {qrels.docs[i] for i in np.flatnonzero(Draw(qrels, seed).sample(0.3))}
        for qrels, seed in [
            (gradely.read_qrels(QRELS), (7,)),
            (gradely.read_qrels(turned), (7,)),
            (gradely.read_qrels(QRELS), (8,)),
        ]
    )
    assert first == same != other


def test_few_high():
    labels = {
        "yes": [1] * 10 + [3],
        "equal": [1] * 9 + [3],
        "none": [1] * 50 + [2],
        "more": [1] * 25 + [2, 2, 3, 3],
        "last": [2] * 3,
    }
    qrels = gradely.read_qrels({q: {f"d{i}": g for i, g in enumerate(grades)} for q, grades in labels.items()})
    chosen = lambda level: [q for q, some in zip(qrels.queries, select_few_high(qrels, level), strict=True) if some]
    assert chosen(None) == ["yes", "more"]
    assert chosen(2) == ["none", "more"]
    with pytest.raises(gradely.DataError, match="the levels are 1, 2, 3"):
        select_few_high(qrels, 1)
    with pytest.raises(gradely.DataError, match="no query has R\\(1\\) >= 10·R\\(k\\), R\\(k\\) ≠ 0 for level k = 2"):
        select_few_high(gradely.read_qrels({"q": {"a": 1, "b": 2}}))


@pytest.mark.parametrize(("runs", "left"), [(95, 71), (74, 55), (27, 20)])
def test_as_many_runs_lie_above_the_first_quartile_as_the_paper_has(runs, left):
    """F14, table 1."""
    qrels, rng = {f"q{i}": {"d": 1} for i in range(5)}, np.random.default_rng(runs)
    rankings = {str(i): {q: [f"x{k}" for k in range(rng.integers(40))] + ["d"] for q in qrels} for i in range(runs)}
    found = gradely.correlate(qrels, rankings, ["AP"], min_quartile=True)
    assert len(found.runs) == left and found.notes[-1].count == runs - left


RARE = {
    **{f"few{i}": {f"d{j}": 2 if j == 0 else 1 if j < 12 else 0 for j in range(20)} for i in range(3)},
    **{f"many{i}": {f"d{j}": j % 3 for j in range(9)} for i in range(3)},
}
FOUR = {
    name: {
        query: dict(zip(docs, np.random.default_rng(k).random(len(docs)), strict=True)) for query, docs in RARE.items()
    }
    for k, name in enumerate(["one", "two", "three", "four"])
}


@pytest.mark.parametrize("function", [gradely.correlate, gradely.pools])
def test_topics_and_runs_are_chosen_alike(function):
    """Leaving the other topics and the worst run out beforehand gives the same τ."""
    few = {query: docs for query, docs in RARE.items() if query.startswith("few")}
    ap = {name: gradely.evaluate(RARE, run, ["AP"]).mean()["AP"] for name, run in FOUR.items()}
    good = {name: run for name, run in FOUR.items() if ap[name] >= np.quantile(list(ap.values()), 0.25)}
    assert 2 <= len(good) < len(FOUR)
    options = {"rates": [1.0, 0.3], "repeat": 1} if function is gradely.pools else {}
    chosen = function(RARE, FOUR, ["AP", "nDCG"], topics="few-high", level=2, min_quartile=True, **options)
    assert "3 runs, 3 queries" in chosen.summary() and any(note.kind == "quartile" for note in chosen.notes)
    if function is gradely.correlate:
        assert chosen.tau.tolist() == function(few, good, ["AP", "nDCG"]).tau.tolist()
    with pytest.raises(gradely.GradelyError, match="topics"):
        function(RARE, FOUR, ["AP"], topics="some")
    with pytest.raises(gradely.DataError, match="at least 2 runs are needed to compare rankings; fewer are left"):
        function(RARE, {"one": FOUR["one"], "two": FOUR["two"]}, ["AP"], min_quartile=True, **options)
    weights = {query: 1000.0 if query == "many1" else 1.0 for query in RARE}
    heavy = {name: gradely.evaluate(RARE, run, ["AP"]).query("many1")["AP"] for name, run in FOUR.items()}
    kept = gradely.correlate(RARE, FOUR, ["AP"], min_quartile=True, weights=weights).runs
    assert min(heavy, key=heavy.get) not in kept and min(heavy, key=heavy.get) != min(ap, key=ap.get)


@pytest.mark.parametrize(("tau", "said"), [(0.91, "equivalent"), (0.9, ""), (0.8, ""), (0.79, "noticeable change")])
def test_what_f14_says_of_a_tau(tau, said):
    assert meaning(tau) == said and meaning(float("nan")) == ""


def test_the_summary_counts_what_tau_says(demo):
    found = gradely.correlate("qrels.txt", DEMO, ["AP", "nDCG@10", "RR"])
    pairs = [found.tau[0, 1], found.tau[0, 2], found.tau[1, 2]]
    assert f"{sum(tau > 0.9 for tau in pairs)} of 3 pairs of measures, noticeably" in found.summary()
    assert "below 0.8 a noticeable change" in found.summary()
    shrunk = gradely.pools("qrels.txt", DEMO, ["AP"], rates=[1.0, 0.1], repeat=2)
    assert "; with 0.1 of the pool, rankings are equivalent for 1 of 1 measure, not" in shrunk.summary()
    shrunk = gradely.pools("qrels.txt", DEMO, ["AP", "AP@100"], rates=[1.0], repeat=2)
    assert "; with 1 of the pool, rankings are equivalent for 2 of 2 measures, not" in shrunk.summary()
    assert (
        "equivalent for 1 of 1 pair of measures, not"
        in gradely.correlate("qrels.txt", DEMO, ["AP", "AP@100"]).summary()
    )


def test_grades_may_vanish_where_no_document_must_stay():
    qrels = gradely.read_qrels(QRELS)
    kept = Draw(qrels, (7,)).sample(0.1, least=0, least_nonrelevant=0)
    assert [np.count_nonzero(kept[:33] & (qrels.grade[:33] == g)) for g in (0, 1, 2)] == [2, 1, 0]
    found = [gradely.pools(RARE, FOUR, ["GAP"], rates=[0.05], repeat=3, least=least).tau for least in (1, 0)]
    assert not np.array_equal(*found, equal_nan=True)
    for name in ("least", "least_nonrelevant"):
        with pytest.raises(gradely.DataError, match=f"{name}, the number .* must be at least 0; found -1"):
            gradely.pools(RARE, FOUR, ["GAP"], **{name: -1})


def test_correlate_gives_matrices_frames_and_a_chart(demo):
    found = gradely.correlate("qrels.txt", DEMO, ["AP", "nDCG@10", "P@5"])
    means = np.array([[gradely.evaluate("qrels.txt", path, [m]).mean()[m] for m in found.measures] for path in DEMO])
    assert found.means == pytest.approx(means)
    assert found.tau[0, 1] == found.tau[1, 0] == pytest.approx(kendall(means[:, 0], means[:, 1]))
    assert found.tau_ap[0, 1] == pytest.approx(tau_ap(means[:, 0], means[:, 1]))
    assert np.diag(found.tau) == pytest.approx(1)
    frame = found.to_frame("polars")
    assert frame.shape == (9, 5) and frame["tau"].to_list()[1] == found.tau[0, 1]
    assert frame["meaning"].to_list()[0] == "equivalent"
    assert found.chart().to_dict()["layer"][0]["mark"]["type"] == "rect"


@pytest.mark.parametrize("work", [gradely.correlate, gradely.pools])
def test_a_query_policy_that_is_not_theirs_is_refused(demo, work):
    """All runs need the same queries; `queries` once ended in an error of some inner function."""
    with pytest.raises(gradely.InputError, match="queries='both': runs are ranked by the same queries"):
        work("qrels.txt", DEMO, ["AP"], queries="both")


@pytest.mark.parametrize(("runs", "where"), [("abx", " in some draws"), ("abc", "")])
def test_runs_that_tie_in_some_draws_are_not_said_to_tie_in_all(runs, where):
    """P@1 of a and b is 1; with one judgment left, all runs tie unless it is that of a or b."""
    rankings = {doc: {"q": [doc]} for doc in runs}
    found = gradely.pools({"q": {"a": 1, "b": 1, "c": 1}}, rankings, ["P@1"], rates=[0.2], repeat=9)
    assert np.isnan(found.tau).any() and np.isnan(found.tau).all() == (not where)
    assert found.summary().endswith(f"; 1 has no τ, since all runs tie{where}")


def test_very_large_means_are_ranked_like_others():
    """Rounded to 12 decimals they overflowed, and all runs tied: τ of a measure with itself was 0."""
    ranks = [["d", "x"], ["x", "d"], ["x", "y", "d"]]
    found = gradely.correlate(
        {"q": {"d": 1e300}}, {f"r{i}": {"q": docs} for i, docs in enumerate(ranks)}, ["DCG", "RR"]
    )
    assert found.tau.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_pools_give_one_line_per_measure(demo):
    found, again = (
        gradely.pools("qrels.txt", DEMO, ["AP", "nDCG"], rates=[1.0, 0.2], repeat=4, seed=3) for _ in range(2)
    )
    assert found.tau.shape == (4, 2, 2) and (found.tau[:, 0] == 1).all()
    records = found.records()
    assert [(r["measure"], r["rate"]) for r in records] == [("AP", 1.0), ("AP", 0.2), ("nDCG", 1.0), ("nDCG", 0.2)]
    assert all(r["low"] <= r["tau"] <= r["high"] for r in records)
    assert np.array_equal(found.tau, again.tau)
    assert len(found.to_frame("pandas")) == 4 and found.table().rows[0][1] == "1.00 [1.00, 1.00]"
    assert found.chart().to_dict()["layer"][1]["mark"]["type"] == "line"


@pytest.mark.parametrize("command", ["correlate", "pools"])
def test_the_commands_say_what_was_ranked(demo, capfd, command):
    def said(*options):
        assert run([command, "qrels.txt", *DEMO, "-m", "AP", "-m", "P@5", *options]) == 0
        return capfd.readouterr()

    text = said().out
    assert "\N{REPLACEMENT CHARACTER}" not in text and "\nτ above 0.9 means equivalent rankings" in text
    assert "AP" in text and "3 runs, 24 queries" in text and "1 of 3 runs lacks some of the queries" in text
    assert "popular" in said("--format", "latex").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["correlate", "qrels.txt", "dense.run"], "needed to compare rankings; name another one"),
        (["pools", "qrels.txt", "dense.run", "lexical.run", "--repeat", "0"], "repeat"),
        (["correlate", "qrels.txt", "dense.run", "lexical.run", "--topics", "few-high", "--level", "9"], "levels are"),
        (["correlate", "qrels.txt", "dense.run", "dense.run"], "named twice"),
        (["pools", "qrels.txt", "dense.run", "lexical.run", "--topics", "few-high", "--level", "9"], "levels are"),
        (["pools", "qrels.txt", "dense.run", "lexical.run", "--rates", "1,2"], "above 0 and at most 1; found 1.0, 2.0"),
        (["pools", "qrels.txt", "dense.run", "lexical.run", "--rates", "half"], "like 1,0.5,0.1"),
    ],
)
def test_errors_are_one_line(demo, fails, arguments, said):
    fails(*arguments, says=said)


@pytest.mark.parametrize("command", ["correlate", "pools"])
def test_where_all_systems_tie_there_is_no_tau(demo, capfd, command):
    """No system of the demo lacks a relevant document for these topics."""
    qrels = {"q01": gradely.read_qrels("qrels.txt").labels("q01")}
    Path("one.json").write_text(json.dumps(qrels))
    assert run([command, "one.json", *DEMO, "-m", "Success", "-m", "AP", "--format", "json"]) == 0
    values = json.loads(capfd.readouterr().out)["values"]
    assert values[0]["tau"] is None and values[-1]["tau"] is not None
    assert run([command, "one.json", *DEMO, "-m", "Success", "-m", "AP"]) == 0
    assert "-" in capfd.readouterr().out.splitlines()[2].split()


@pytest.mark.parametrize(
    ("runs", "said"), [("dense.run", "as a list of paths"), ([{"q": {"d": 1}}] * 2, "give the runs by name")]
)
def test_runs_that_are_not_several_are_refused(demo, runs, said):
    with pytest.raises(gradely.DataError, match=said):
        gradely.correlate("qrels.txt", runs)


TIED = {f"q{i}": {f"d{j}": j % 2 for j in range(6)} for i in range(4)}
DRAW = random.Random("tied runs")
TIED_RUNS = {
    f"run{i}": {query: {doc: float(DRAW.randrange(2)) for doc in docs} for query, docs in TIED.items()}
    for i in range(6)
}


@pytest.mark.parametrize("function", [gradely.correlate, gradely.pools, gradely.plan, gradely.compare])
def test_the_usual_seed_is_0(function):
    """It decides the order of ties under ties="random", and which judgments a smaller pool keeps."""
    options = {"rates": [0.5], "repeat": 2} if function is gradely.pools else {}
    usual, same, other = (
        repr(function(TIED, TIED_RUNS, ["AP", "nDCG"], ties="random", **options, **seed))
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert usual == same != other


def test_four_digits_of_a_correlation_are_shown():
    assert [table.digits for table in gradely.correlate(TIED, TIED_RUNS, ["AP", "nDCG"]).tables()] == [4, 4]


def test_the_usual_pools():
    found = gradely.pools(TIED, TIED_RUNS, ["AP"])
    assert found.rates == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    assert found.tau.shape == (10, 11, 1)
    assert found.tables()[0].rows[0][1] == "1.00 [1.00, 1.00]"
    with pytest.raises(gradely.DataError, match="above 0 and at most 1; found 0"):
        gradely.pools(TIED, TIED_RUNS, ["AP"], rates=[0.0])


@pytest.mark.parametrize("other", [{"least": 2}, {"min_quartile": True}, {"judged_only": True}])
def test_what_pools_do_unless_asked_otherwise(other):
    draw = random.Random(5)
    runs = {
        name: {query: {**docs, **{f"x{i}": draw.random() for i in range(4)}} for query, docs in run.items()}
        for name, run in TIED_RUNS.items()
    }
    usual = {"least": 1, "least_nonrelevant": 10, "min_quartile": False, "judged_only": False}
    found = [
        repr(gradely.pools(TIED, runs, ["AP"], rates=[1.0, 0.1], repeat=2, **options))
        for options in ({}, usual, usual | other)
    ]
    assert found[0] == found[1] != found[2]


def test_the_interval_of_draws_leaves_out_five_percent():
    tau = np.linspace(0, 1, 201)[:, None, None]
    (record,) = Pools(["AP"], [0.5], tau, tau, 3, 4, "expected", []).records()
    assert (record["low"], record["high"]) == pytest.approx((0.025, 0.975))


def test_means_that_differ_by_rounding_tie():
    tau, _ = correlations(np.array([[0.5, 0.3], [0.5 + 4e-13, 0.2], [0.1, 0.1]]))
    assert tau[0, 1] == pytest.approx(kendall([2, 2, 1], [3, 2, 1]))


def test_runs_and_queries_that_lack_something_are_noted():
    qrels = {"p": {"a": 1, "b": 0}, "nothing": {"a": 0, "b": -1}, "r": {"b": 2}}
    runs = {
        "whole": {query: ["a", "b"] for query in qrels},
        "part": {"p": ["a"]},
        "other": {"p": ["b"], "nothing": ["a"]},
    }
    notes = {note.kind: note for note in gradely.correlate(qrels, runs, ["AP", "nDCG"]).notes}
    assert (notes["missing"].count, notes["missing"].of) == (2, 3) and "part" in notes["missing"].text
    assert (notes["degenerate"].count, notes["degenerate"].of) == (1, 3) and "nothing" in notes["degenerate"].text


def test_neither_tau_nor_tau_ap_is_defined_where_all_runs_tie():
    run = {"q": ["a", "b"], "r": ["c"]}
    qrels = {"q": {"a": 1, "b": 2}, "r": {"c": 1}}
    found = gradely.correlate(qrels, {"one": run, "two": run}, ["AP", "nDCG"])
    assert [(record["tau"], record["tau_ap"], record["meaning"]) for record in found.records()] == [
        (None, None, "")
    ] * 4
    assert "1 has no τ, since all runs tie" in found.summary()
    shrunk = gradely.pools(qrels, {"one": run, "two": run}, ["AP"], rates=[0.5], repeat=2)
    assert [*shrunk.records()[0].values()] == ["AP", 0.5, None, None, None, None, ""]
    with pytest.raises(gradely.DataError, match="repeat must be a whole number of at least 1; found 0"):
        gradely.pools(qrels, {"one": run, "two": run}, ["AP"], repeat=0)


@pytest.mark.parametrize("name", ["tie_sensitivity", "correlate", "pools", "users", "plan"])
def test_notes_that_change_numbers_stand_beside_every_result(name):
    qrels = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": ["a", "b"]}
    runs = {
        "one": {"q1": {"a": 0.9, "b": 0.8, "x": 0.1}, "q3": {"a": 1.2}},
        "two": {"q1": {"c": 0.8, "x": 0.4, "a": 0.1}},
    }
    measures = () if name == "users" else (["nDCG", "AP"],)
    texts = [note.text for note in getattr(gradely, name)(qrels, runs, *measures, judged_only=True).notes]
    by_run = name in ("correlate", "pools")
    missing = "2 of 2 runs lack some of the queries" if by_run else "1 of 2 judged queries is not in the run"
    for says in (missing, "1 of 3 documents is unjudged and was dropped", "no labels for 1 of 2", "q3"):
        assert sum(says in text for text in texts) == 1


def test_notes_of_users_are_on_no_part_of_a_measure():
    runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b", "a"]}}
    assert gradely.users({"q": {"a": 0.5, "b": 1, "c": 2}}, runs).notes == []


@pytest.mark.parametrize("function", [gradely.correlate, gradely.pools])
def test_measures_of_subtopics_are_correlated(function, tmp_path):
    (tmp_path / "qrels").write_text("q 1 a 1\nq 1 b 1\nq 2 c 1\nq 2 b 1\n")
    runs = {"one": {"q": ["a", "c"]}, "two": {"q": ["a", "x"]}, "three": {"q": ["b", "a"]}}
    options = {"rates": [1.0], "repeat": 1} if function is gradely.pools else {}
    found = function(tmp_path / "qrels", runs, ["alpha_nDCG@2", "alpha_nDCG@2"], **options)
    assert [record["tau"] for record in found.records()] == [1.0] * len(found.records())
