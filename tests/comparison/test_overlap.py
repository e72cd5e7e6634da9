"""How alike runs rank: RBO, τ, τ_AP and Jaccard's index, by definition and over all orders of ties."""

import json
import math
import random
from itertools import groupby, permutations, product

import numpy as np
import pytest

import gradely
from gradely.cli.main import run
from gradely.comparison.kendall import kendall, tau_ap
from gradely.comparison.similarities import RBO, Jaccard, parse


def ranking(text):
    """Return {document: score} of a ranking like 'a (b c) d'."""
    groups = text.replace("(", " ( ").replace(")", " ) ").split()
    scores, place, inside = {}, 0, False
    for word in groups:
        if word in "()":
            inside = word == "("
            place -= 1
        else:
            scores[word] = place
            place -= not inside
    return scores


def orders(scores):
    """Return all rankings that a run with ties may stand for, as lists of documents."""
    ranked = sorted(scores, key=lambda doc: -scores[doc])
    groups = [list(group) for _, group in groupby(ranked, key=lambda doc: scores[doc])]
    return [[doc for part in parts for doc in part] for parts in product(*map(permutations, groups))]


def plain_rbo(x, y, p, score):
    """RBO of two untied lists: equation 32 of Webber and others, and the lower bound."""
    short, long = sorted((x, y), key=len)
    s, last = len(short), len(long)
    common = [0] + [len({*short[:d]} & {*long[:d]}) for d in range(1, last + 1)]
    if score == "min":
        seen = sum((common[d] - common[last]) * p**d / d for d in range(1, last + 1))
        return (1 - p) / p * (seen - common[last] * math.log(1 - p))
    seen = sum(common[d] / d * p**d for d in range(1, last + 1))
    unseen = sum(common[s] * (d - s) / (s * d) * p**d for d in range(s + 1, last + 1))
    return (1 - p) / p * (seen + unseen) + ((common[last] - common[s]) / last + common[s] / s) * p**last


def plain_jaccard(x, y, k):
    one, other = {*x[:k]}, {*y[:k]}
    return len(one & other) / len(one | other)


def mean_over_orders(value, x, y):
    return np.mean([value(one, other) for one in orders(x) for other in orders(y)])


def random_ranking(rng):
    return {doc: rng.choice((1, 2, 2, 3, 4)) for doc in rng.sample("abcdefgh", rng.randint(1, 5))}


def of_two(x, y, *measures, **options):
    """Return the values of two rankings of a single query."""
    result = gradely.overlap({"x": {"q": x}, "y": {"q": y}}, measures, **options)
    return [float(means[0, 1]) for means in result.mean().values()]


@pytest.mark.parametrize("seed", range(60))
def test_ties_are_the_mean_over_all_orders(seed):
    rng = random.Random(seed)
    x, y, p, k = random_ranking(rng), random_ranking(rng), rng.choice((0.3, 0.9)), rng.randint(1, 5)
    names = [f"RBO(p={p}, score={score})" for score in ("ext", "min")]
    values = of_two(x, y, *names, *(f"{name}@{k}" for name in names), f"Jaccard@{k}")
    plain = [
        *(mean_over_orders(lambda a, b, s=score: plain_rbo(a, b, p, s), x, y) for score in ("ext", "min")),
        *(mean_over_orders(lambda a, b, s=score: plain_rbo(a[:k], b[:k], p, s), x, y) for score in ("ext", "min")),
        mean_over_orders(lambda a, b: plain_jaccard(a, b, k), x, y),
    ]
    assert values == pytest.approx(plain, abs=1e-12)
    assert values == pytest.approx(of_two(y, x, *names, *(f"{name}@{k}" for name in names), f"Jaccard@{k}"), abs=1e-14)


def test_a_depth_ends_every_ranking_and_cuts_tie_groups():
    x, y = ranking("a (b c d) e"), ranking("(b e) a c d")
    assert of_two(x, y, "RBO", "Jaccard", depth=2) == of_two(x, y, "RBO@2", "Jaccard@2")
    assert of_two(x, y, "RBO@4", "RBO@9", depth=2)[0] == of_two(x, y, "RBO", depth=2)[0]


def test_published_values():
    """Of the program that Corsi and Urbano publish: RBO^a where lengths are equal, and RBO^b."""
    x, y = ranking("red (blue green) yellow pink"), ranking("(blue red) white (yellow black purple) green")
    forms = [f"RBO(p=0.95, score={score}, ties={ties})" for ties in "ab" for score in ("ext", "min")]
    assert of_two(x, y, *forms) == pytest.approx([0.692285331969, 0.331051908330, 0.7207131, 0.3509163], abs=5e-8)
    assert of_two(x, y, *forms[:2]) == pytest.approx([0.692285331969, 0.331051908330], abs=1e-12)
    for first, second, p, extrapolated, least in (
        ("i3 i10 (i2 i4 i5)", "(i3 i5 i7 i10) (i2 i4 i6 i11)", 0.968045007945821, 0.873201713979253, 0.316525120229608),
        ("(i3 i6) (i2 i7) i10", "(i3 i6 i7 i10) (i1 i2)", 0.965413635276732, 0.956844651806714, 0.348953051936765),
        ("i2 i5 i3 (i1 i4)", "i5 i8 i2 (i3 i9)", 0.968922741966306, 0.583518284931614, 0.199935659153723),
    ):
        both = [f"RBO(p={p}, ties=b, score={score})" for score in ("ext", "min")]
        assert of_two(ranking(first), ranking(second), *both) == pytest.approx([extrapolated, least], abs=1e-12)


def test_a_ranking_with_ties_agrees_fully_with_itself_once_ties_are_corrected_for():
    x = ranking("a (b c d) (e f)")
    mean, corrected = of_two(x, x, "RBO", "RBO(ties=b)")
    assert mean < 1 - 0.01
    assert corrected == pytest.approx(1, abs=1e-12)
    assert of_two(ranking("a b c"), ranking("a b c"), "RBO", "tau", "tau_AP", "Jaccard@2") == pytest.approx([1] * 4)
    assert of_two(ranking("a b c"), ranking("x y"), "RBO", "Jaccard") == [0, 0]


def test_tau_is_that_of_the_documents_in_common():
    x, y = ranking("a (b x) c d"), ranking("b y (a d) c")
    scores = [[table[doc] for doc in "abcd"] for table in (x, y)]
    result = gradely.overlap({"x": {"q": x}, "y": {"q": y}}, ["tau", "tau_AP"])
    assert result.mean()["tau"][0, 1] == pytest.approx(kendall(*scores))
    assert result.mean()["tau_AP"][0, 1] == pytest.approx(tau_ap(*scores))
    assert result.mean()["tau_AP"][1, 0] == pytest.approx(tau_ap(*scores[::-1]))


def test_no_name_and_no_order_of_input_changes_a_digit():
    rng = random.Random(5)
    tables = [{doc: rng.choice((1, 2, 3)) for doc in map(str, range(40))} for _ in range(3)]
    renamed = {doc: f"z{97 - int(doc)}" for doc in tables[0]}
    forms = ["RBO(p=0.99)", "RBO(ties=b)", "tau", "tau_AP", "Jaccard@7"]
    plain = gradely.overlap({str(i): {"q": table} for i, table in enumerate(tables)}, forms)
    turned = [{renamed[doc]: table[doc] for doc in rng.sample(list(table), len(table))} for table in tables]
    again = gradely.overlap({str(i): {"q": table} for i, table in enumerate(turned)}, forms)
    assert np.array_equal(plain.values, again.values, equal_nan=True)


def test_means_are_over_the_queries_that_all_runs_have():
    runs = {
        "one": {"q1": ["a", "b"], "q2": ["a"], "q3": ["a", "b"], "q4": {}},
        "two": {"q1": ["a", "b"], "q3": ["b", "a"], "q4": ["a"]},
    }
    result = gradely.overlap(runs, ["Jaccard@1"])
    assert (result.queries, result.mean()["Jaccard@1"][0, 1]) == (["q1", "q3"], 0.5)
    assert [note.text for note in result.notes] == ["2 of 4 queries are not in every run and are left out: q2, q4"]
    assert [record["Jaccard@1"] for record in result.by_query().records()] == [1, 0]
    assert gradely.overlap(runs, ["Jaccard@1"], queries=["q3"]).mean()["Jaccard@1"][0, 1] == 0
    some = gradely.overlap(runs, ["Jaccard@1"], queries=["q3", "q2"])
    assert some.queries == ["q3"] and "1 of 2 queries is not in every run and is left out: q2" in map(str, some.notes)
    passages = {
        name: {query: [f"{doc}#1" for doc in docs] for query, docs in run.items()} for name, run in runs.items()
    }
    joined = gradely.overlap(passages, ["Jaccard@1"], document_pattern="^(.*)#")
    assert joined.records() == result.records() and any("document pattern" in str(note) for note in joined.notes)


def test_what_is_undefined_is_left_out_and_said():
    runs = {"one": {"q1": ["a", "b"], "q2": ["a", "b"]}, "two": {"q1": ["b", "a"], "q2": ["a", "x"]}}
    result = gradely.overlap(runs, ["tau"])
    assert result.mean()["tau"][0, 1] == -1
    (note,) = result.notes
    assert note.text == (
        "tau is undefined for 1 of 2 pairs of rankings with fewer than two shared documents, or all of them tied; "
        "its means leave them out"
    )
    nothing = gradely.overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}, ["tau", "tau_AP"])
    assert [record["mean"] for record in nothing.records()] == [None, None, None]
    assert "NaN" not in nothing.to_json()
    assert [record["tau"] for record in result.by_query().records()] == [-1, None]
    assert nothing.table().header[0] == "measure" and [*result.by_query().remarks()] == result.kinds()


def test_a_sentence_names_the_most_and_the_least_alike():
    same, near, far = {"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, {"q": ["x", "y", "z"]}
    answer = gradely.overlap({"one": same, "two": near, "three": far}, ["Jaccard@1", "RBO"]).answer()
    assert answer == ""  # all three pairs have 0
    answer = gradely.overlap({"one": same, "two": near, "three": far}, ["Jaccard@3"]).answer(2)
    assert (
        answer == "By Jaccard@3, the most similar are one and two (1.00); the least similar are 2 pairs of runs (0.00)."
    )
    assert gradely.overlap({"one": same, "two": near}, ["Jaccard@3"]).answer() == ""


def test_the_matrix_and_the_picture_have_all_runs():
    pytest.importorskip("altair")
    runs = {name: {"q": list(order)} for name, order in (("one", "abcde"), ("two", "bacde"), ("three", "eabcd"))}
    result = gradely.overlap(runs, ["RBO", "tau_AP"])
    first, second = result.tables()
    assert first.header == ["RBO", "one", "two", "three"]
    assert [first.rows[i][j + 1] for i, j in ((0, 1), (1, 2))] == [first.rows[i][j + 1] for i, j in ((1, 0), (2, 1))]
    assert second.rows[1][3] != second.rows[2][2]  # which of both is the reference matters
    assert [first.rows[i][i + 1] for i in range(3)] == [None] * 3
    chart = result.chart().to_dict()
    assert [panel["title"] for panel in chart["concat"]] == ["RBO", "tau_AP"]
    assert chart["concat"][0]["layer"][0]["encoding"]["color"]["scale"]["scheme"] == "blues"  # light to dark in grey


@pytest.mark.parametrize(
    "name", ["RBO", "RBO(p=0.8)", "RBO(score='min', ties='b')@20", "tau@5", "tau_AP", "Jaccard@10"]
)
def test_names_read_back(name):
    assert str(parse(name)) == name
    assert parse(parse(name)) == parse(name)
    assert parse(RBO) == RBO()
    assert parse("τ_AP") == parse("tau_AP")


@pytest.mark.parametrize(
    ("measures", "says"),
    [
        ("nDCG@10", "no measure of overlap 'nDCG': use RBO, tau, tau_AP, Jaccard"),
        ("Jacard", "Did you mean Jaccard?"),
        ("RBO(p=1)", "p, the probability of continuing, must be a number between 0 and 1; found 1"),
        ("RBO(score=max)", "no score 'max': use one of ext, min"),
        ("RBO(ties=w)", "no ties 'w': use one of a, b"),
        ("RBO@0", "as in RBO@10; found 0"),
        ("RBO(k=2)@3", "has two cut-offs"),
        ("tau(p=2)", "tau has no parameter 'p', only k"),
        ("RBO(", "cannot read the measure"),
        ([], "no measure of overlap given"),
        (3, "a measure of overlap is a name"),
    ],
)
def test_measures_that_are_none_are_refused(measures, says):
    with pytest.raises(gradely.MeasureError) as error:
        gradely.overlap({"x": {"q": ["a"]}, "y": {"q": ["a"]}}, measures)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("runs", "options", "says"),
    [
        ({"x": {"q": ["a"]}}, {}, "at least 2 runs are needed"),
        ({"x": {"q": ["a"]}, "y": {"p": ["a"]}}, {}, "no query in common: they are called 'q' in x, 'p' in y"),
        ({"x": {"q": {}}, "y": {"q": {}}}, {}, "no query in common"),
        ({"x": {"q": ["a"]}, "y": {"q": {"a": math.nan}}}, {}, "document 'a': the score is nan"),
        ({"x": {"q": ["a"]}, "y": {"q": ["a"]}}, {"depth": 0}, "depth must be a whole number of at least 1; found 0"),
        ({"x": {"q": ["a"]}, "y": {"q": ["a"]}}, {"queries": ["p"]}, "queries: no run has 'p'"),
    ],
)
def test_input_without_an_answer_is_refused(runs, options, says):
    with pytest.raises(gradely.DataError) as error:
        gradely.overlap(runs, **options)
    assert says in str(error.value)


def test_two_runs_as_arguments_are_asked_for_names():
    with pytest.raises(gradely.DataError, match="this looks like one run, with the rankings of its queries: give the"):
        gradely.overlap({"q": {"a": 0.5}}, {"q": {"a": 0.25}})


def test_the_command_prints_the_result(tmp_path, capsys):
    for name, order in (("one", "abc"), ("two", "bac"), ("three", "cba")):
        lines = (f"q Q0 {doc} {rank} {-rank} {name}\n" for rank, doc in enumerate(order, 1))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    paths = [str(tmp_path / f"{name}.run") for name in ("one", "two", "three")]
    assert run(["overlap", *paths, "-m", "RBO,Jaccard@2", "--depth", "2"]) == 0
    expected = gradely.overlap(paths, ["RBO", "Jaccard@2"], depth=2)
    assert capsys.readouterr().out.rstrip("\n") == str(expected)
    assert run(["overlap", *paths, "-m", "RBO", "--by-query", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 3
    assert run(["overlap", paths[0]]) == 2
    assert capsys.readouterr().err == "gradely: name at least two runs to compare (see gradely overlap --help)\n"
    picture = tmp_path / "matrix.svg"
    assert run(["overlap", *paths, "-o", str(picture)]) == 0
    assert picture.read_text().startswith("<svg")


def test_jaccard_of_large_tie_groups_is_quick_and_between_its_bounds():
    rng = random.Random(1)
    x, y = ({str(i): 0.0 for i in rng.sample(range(3000), 2000)} for _ in range(2))
    (value,) = of_two(x, y, Jaccard(k=10))
    assert 0 < value < 0.02
