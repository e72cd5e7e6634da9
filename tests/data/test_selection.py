"""Some queries, some segments, and documents that are dropped first."""

import inspect
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import DataError, InputError
from gradely.cli.main import run as command
from gradely.data.hashing import shuffle_keys_of

MEASURES = ["nDCG@3", "AP", "RR", "muAP", "Judged@3"]
IDS = st.sampled_from("abcdefgh")
TABLE = st.dictionaries(st.sampled_from("123"), st.dictionaries(IDS, st.integers(0, 3), min_size=1), min_size=1)
QRELS = {"1": {"a": 2, "b": 0}, "2": {"c": 1}, "3": {"d": 1}}
RUN = {"1": ["x", "a", "b"], "2": ["c"], "3": ["x", "y", "d"]}


@settings(max_examples=150, deadline=None)
@given(
    qrels=TABLE, run=TABLE, train=TABLE, ties=st.sampled_from(["expected", "trec", "order", "random", "best", "worst"])
)
def test_excluded_documents_are_as_if_never_retrieved(qrels, run, train, ties):
    qrels.setdefault("1", {"a": 1})
    run.setdefault("1", {"a": 1})
    left = {
        query: {doc: s for doc, s in docs.items() if doc not in train.get(query, ())} for query, docs in run.items()
    }
    found = gradely.evaluate(qrels, run, MEASURES, ties=ties, exclude=train)
    expected = gradely.evaluate(qrels, left, MEASURES, ties=ties)
    assert found.per_query() == expected.per_query()


def test_exclude_takes_tables_and_says_how_many(tmp_path):
    train = pl.DataFrame({"user_id": [1, 3, 3, 9], "item_id": ["x", "x", "y", "x"]})
    train.write_csv(tmp_path / "train.csv")
    (tmp_path / "run").write_text(
        "".join(f"{q} Q0 {d} 1 {-i} t\n" for q, docs in RUN.items() for i, d in enumerate(docs))
    )
    for exclude in (train, tmp_path / "train.csv", {"1": ["x"], "3": ["x", "y"]}):
        for run in (RUN, tmp_path / "run"):
            scores = gradely.evaluate(QRELS, run, ["RR"], exclude=exclude)
            assert scores.mean() == {"RR": 1.0}
            assert "3 of 7 documents were excluded from the rankings" in [note.text for note in scores.notes]


@pytest.mark.parametrize("exclude", [["x"], {"1": "x"}, "run"])
def test_what_cannot_be_excluded_is_refused_by_this_name(tmp_path, monkeypatch, exclude):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_text("1 Q0 x 1 0.5 t\n")
    with pytest.raises((DataError, InputError), match=r"^exclude: .*; give {query: \[documents\]} or a table") as error:
        gradely.evaluate(QRELS, RUN, ["RR"], exclude=exclude)
    assert "QRELS RUN" not in str(error.value) and "qrels:" not in str(error.value)


def test_only_some_queries_count():
    scores = gradely.evaluate(QRELS, RUN, ["RR"], queries=["3", "1"])
    assert scores.per_query() == {"1": {"RR": 0.5}, "3": {"RR": 1 / 3}}
    assert not [note for note in scores.notes if note.kind in ("unjudged", "missing")]
    assert gradely.evaluate({1: {"a": 1}, 2: {"b": 1}}, {1: ["a"]}, ["RR"], queries=[1]).mean() == {"RR": 1.0}
    with pytest.raises(DataError, match="'4' has no judgments in qrels"):
        gradely.evaluate(QRELS, RUN, ["RR"], queries=["4"])
    with pytest.raises(DataError, match="has no judgments"):
        gradely.evaluate(QRELS, RUN, ["RR"], queries=[])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("uid,thing,stars,kind\n1,a,2,x\n1,a,1,x\n2,c,1,y\n3,d,1,x\n")
    (tmp_path / "r.csv").write_text("uid,thing,points\n1,x,3\n1,a,2\n2,c,1\n3,x,3\n3,d,1\n")
    (tmp_path / "train.csv").write_text("user,item\n3,x\n")
    (tmp_path / "some").write_text("1\n3\n")
    return tmp_path


NAMED = ["--columns", "query=uid,document=thing,label=stars,score=points", "--duplicates", "max"]


def test_the_command_line_has_it_all(folder, capfd):
    assert command(["evaluate", "q.csv", "r.csv", "-m", "RR", *NAMED, "--by", "kind", "--format", "json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["runs"]
    assert found["segments"] == {"x": {"n": 2, "mean": {"RR": 0.5}}, "y": {"n": 1, "mean": {"RR": 1.0}}}
    assert command(["evaluate", "q.csv", "r.csv", "-m", "RR", *NAMED, "--by", "kind", "--format", "csv"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["run,segment,n,RR", "r,(all),3,0.6666666666666666", "r,x,2,0.5", "r,y,1,1.0"]
    assert command(["evaluate", "q.csv", "r.csv", "-m", "RR", *NAMED, "--only", "some", "--exclude", "train.csv"]) == 0
    assert "0.7500" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--columns", "query"], "expected query=NAME"),
        (["--columns", "who=uid"], "no column role 'who'"),
        (["--columns", "query=who"], "no column 'who' among"),
        (["--duplicates", "most"], "most"),
        ([*NAMED, "--only", "nowhere"], "nowhere: no such file"),
        ([*NAMED, "--by", "sort"], "no column 'sort' among"),
        ([*NAMED, "--exclude", "nowhere"], "nowhere: no such file"),
    ],
)
def test_what_the_command_line_cannot_use(folder, capfd, arguments, says):
    assert command(["evaluate", "q.csv", "r.csv", *arguments]) == 2
    assert says in capfd.readouterr().err


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Go to a folder with qrels, two runs, what users had in training, and some queries; the same as dicts."""
    monkeypatch.chdir(tmp_path)
    qrels = {"1": {"a": 2, "b": 1}, "2": {"c": 1}, "3": {"d": 1}, "4": {"e": 1}}
    runs = {
        "one": {"1": ["x", "a", "b"], "2": ["c"], "3": ["x", "y", "d"], "4": ["x", "e"]},
        "two": {"1": ["b", "x", "a"], "2": ["x", "c"], "3": ["d", "y"], "4": ["e"]},
    }
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {n}\n" for q, docs in qrels.items() for d, n in docs.items()))
    for name, run in runs.items():
        lines = (f"{q} Q0 {d} 1 {-i} t\n" for q, docs in run.items() for i, d in enumerate(docs))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "train.csv").write_text("user,item\n" + "".join(f"{q},x\n" for q in qrels))
    (tmp_path / "some").write_text("1\n3\n4\n")
    left = {name: {q: [d for d in run[q] if d != "x"] for q in "134"} for name, run in runs.items()}
    return {q: qrels[q] for q in "134"}, left, {q: ["x"] for q in qrels}


SELECT = ["--only", "some", "--exclude", "train.csv"]


def test_commands_select_as_evaluate_does(trained, capfd):
    qrels, left, _ = trained
    expected = gradely.evaluate_runs(qrels, left, ["RR", "AP"]).mean()
    for work in ("compare", "ties", "plan", "users", "gate", "correlate", "report"):
        arguments = {
            "users": ["-m", "eGAP"],
            "gate": ["-m", "RR", "--baseline", "two.run"],
            "correlate": ["-m", "RR", "-m", "AP"],
            "report": ["-m", "RR", "-o", "page.html"],
        }.get(work, ["-m", "RR"])
        runs = ["one.run"] if work == "gate" else ["one.run", "two.run"]
        form = [] if work == "report" else ["--format", "json"]
        assert command([work, "q", *runs, *arguments, *SELECT, *form]) == 0, work
        out = capfd.readouterr().out
        if work == "compare":
            assert {row["run"]: row["mean"] for row in json.loads(out)["runs"]} == {
                name: mean["RR"] for name, mean in expected.items()
            }
        if work == "ties":
            orders = {row["run"]: row["orders"]["RR"]["expected"] for row in json.loads(out)["runs"]}
            assert orders == {name: mean["RR"] for name, mean in expected.items()}
            assert [row["ties"]["documents"] for row in json.loads(out)["runs"]] == [5, 5]
        if work == "gate":
            assert json.loads(out)["measures"][0]["new"] == expected["one"]["RR"]


def test_a_page_shows_no_document_that_is_dropped(trained):
    _, _, train = trained
    page = gradely.compare("q", ["one.run", "two.run"], ["RR"], exclude={q: ["x", "b"] for q in train}).to_html()
    whole = gradely.compare("q", ["one.run", "two.run"], ["RR"]).to_html()
    assert '["b","x","a"]' in whole.replace(" ", "")
    assert '["b","x","a"]' not in page.replace(" ", "")


def test_explain_selects_as_evaluate_does(trained, capfd):
    qrels, left, train = trained
    arguments = ["explain", "q", "one.run", "1", "-m", "nDCG(relevance='max')", *SELECT, "--format", "json"]
    assert command(arguments) == 0
    explained = json.loads(capfd.readouterr().out)
    assert explained["value"] == gradely.evaluate(qrels, left["one"], "nDCG(relevance='max')").query("1").popitem()[1]
    assert [line["document"] for line in explained["lines"]] == ["a", "b"]
    assert gradely.explain("q", "one.run", "1", "RR", exclude=train).value == 1.0
    assert command(["explain", "q", "one.run", "2", "-m", "RR", "--only", "some"]) == 2
    assert "no query '2'" in capfd.readouterr().err


def test_virtual_users_select_as_others_do(trained, capfd):
    arguments = [
        "evaluate",
        "--qrels-from-run",
        "two.run",
        "--graded-by",
        "rank",
        "one.run",
        "-m",
        "RR",
        "--format",
        "json",
    ]
    assert command([*arguments, *SELECT, "-q"]) == 0
    queries = json.loads(capfd.readouterr().out)["runs"][0]["queries"]
    virtual = gradely.qrels_from_run("two.run", "rank")
    expected = gradely.evaluate(virtual, "one.run", ["RR"], queries=["1", "3", "4"], exclude="train.csv")
    assert queries == expected.per_query()
    Path("kinds.csv").write_text("query,segment\n1,x\n2,y\n")
    assert command([*arguments, "--by", "kinds.csv"]) == 0
    assert json.loads(capfd.readouterr().out)["runs"][0]["segments"]["y"]["n"] == 1


def test_check_takes_names_of_columns_and_refuses_a_selection(folder, capfd):
    assert command(["check", "q.csv", "r.csv", *NAMED]) == 0
    assert "q.csv: 3 queries, 3 judgments" in capfd.readouterr().out
    assert command(["check", "q.csv", "r.csv", *NAMED, "--only", "some"]) == 2
    assert "No such option '--only'" in capfd.readouterr().err


def test_explain_takes_names_of_columns(folder, capfd):
    assert command(["explain", "q.csv", "r.csv", "1", "-m", "RR", *NAMED]) == 0
    assert "RR 0.5000" in capfd.readouterr().out


def test_a_gate_refuses_scores_that_were_saved_with_other_documents_dropped(trained, capfd):
    assert command(["gate", "q", "one.run", "-m", "RR", "--save", "kept.json", "--exclude", "train.csv"]) == 0
    assert command(["gate", "q", "two.run", "-m", "RR", "--baseline", "kept.json"]) == 2
    assert "saved with different judgments" in capfd.readouterr().err
    assert command(["gate", "q", "two.run", "-m", "RR", "--baseline", "kept.json", "--exclude", "train.csv"]) in (0, 1)


PUBLIC = {
    "evaluate": lambda f, q, runs, **k: f(q, runs["one"], ["RR", "nDCG@3"], **k).per_query(),
    "evaluate_runs": lambda f, q, runs, **k: f(q, runs, ["RR", "nDCG@3"], **k).mean(),
    "Evaluator": lambda f, q, runs, **k: f(q, ["RR"], **k)(runs["one"]).per_query(),
    "compare": lambda f, q, runs, **k: str(f(q, runs, ["RR", "nDCG@3"], **k).table()),
    "correlate": lambda f, q, runs, **k: f(q, runs, ["RR", "nDCG@3"], **k).means.tolist(),
    "pools": lambda f, q, runs, **k: f(q, runs, ["RR", "nDCG@3"], repeat=2, **k).tau.tolist(),
    "gate": lambda f, q, runs, **k: f(q, runs["one"], runs["two"], ["RR"], **k).changes,
    "holes": lambda f, q, runs, **k: str(f(q, runs, ["nDCG@3"], **k).table()),
    "simulate_judging": lambda f, q, runs, **k: f(q, runs, ["P@3"], **k).steps,
    "keep_scores": lambda f, q, runs, **k: f(q, runs["one"], ["RR"], **k).values.tolist(),
    "plan": lambda f, q, runs, **k: f(q, runs, ["RR"], **k).rows,
    "tie_sensitivity": lambda f, q, runs, **k: [run.orders for run in f(q, runs, ["RR"], **k).runs],
    "users": lambda f, q, runs, **k: f(q, runs, **k).parts.table.tolist(),
    "judges": lambda f, q, runs, **k: f({"a": q, "b": q}, runs, ["RR", "nDCG@3"], **k).mean(),
    "estimate": lambda f, q, runs, **k: [f(HUMAN, runs, ["RR"], judge=q, **k)[run]["RR"][:3] for run in runs],
    "sample": lambda f, q, runs, **k: f(q, runs, n=5, depth=3, **k).documents,
    "overlap": lambda f, q, runs, **k: f(runs, ["RBO", "Jaccard@3"], **k).as_dict()["values"],
    **{
        f"plot {kind}": lambda f, q, runs, kind=kind, **k: f(kind, q, runs, ["RR", "nDCG@3"], **k).to_dict()
        for kind in ("queries", "ties", "tau")
    },
    "explain": lambda f, q, runs, **k: [line[1::2] for line in f(q, runs["one"], "3", "nDCG@3", **k).table().rows],
}
"""the public functions that evaluate, and values of their results that do not say how data was selected"""
POLICIES = (
    "columns duplicates document_pattern exclude exclude_self queries empty weights ties seed judged_only precision"
)
ABSENT = {
    "explain": "queries empty weights judged_only",
    "holes": "empty judged_only",
    "simulate_judging": "empty weights judged_only",
    "judges": "empty weights",
    "estimate": "empty weights",
    "sample": "empty weights ties judged_only precision",
    "overlap": "empty weights ties seed judged_only precision exclude exclude_self",
    "tie_sensitivity": "ties seed precision",
}
"""what one query or a run alone does not have, and what is not derived for estimates and ranges over labels"""
DIFFERENT = {("pools", "judged_only"), *(("plot ties", policy) for policy in ("ties", "seed", "no seed", "precision"))}
"""what smaller pools leave judged counts, and a figure of ties takes no policy for them"""
NAMES = {"query": "who", "document": "what", "label": "how", "score": "how"}


def taken(name):
    """Return the policies that a function takes."""
    return {*POLICIES.split()} & {*inspect.signature(getattr(gradely, name.split()[0])).parameters}


def random_collection(seed=5, queries=8, documents=12):
    """Return judgments, four runs and what was had before, as dicts."""
    rng = np.random.default_rng(seed)
    ids = [f"d{i}" for i in range(documents)]
    names = [str(i) for i in range(queries)]
    qrels = {query: {doc: int(rng.integers(0, 3)) for doc in rng.permutation(ids)[:6].tolist()} for query in names}
    runs = {
        run: {query: {doc: float(rng.integers(0, 9)) for doc in rng.permutation(ids)[:9].tolist()} for query in names}
        for run in ("one", "two", "three", "four")
    }
    return qrels, runs, {query: rng.permutation(ids)[:3].tolist() for query in names}


HUMAN = {query: {doc: 2 - label for doc, label in docs.items()} for query, docs in random_collection()[0].items()}
del HUMAN["0"]


def as_rows(values):
    """Return {query: {document: number}} as a frame whose columns have names of their own."""
    rows = [(query, doc, value) for query, docs in values.items() for doc, value in docs.items()]
    return pl.DataFrame(rows, schema=["who", "what", "how"], orient="row")


def of_runs(runs, change):
    """Return runs with changed rankings: change(query, ranking)."""
    return {run: {query: change(query, docs) for query, docs in by.items()} for run, by in runs.items()}


def test_every_public_function_that_evaluates_is_among_them():
    evaluating = set()
    for name in gradely.__all__:
        names = set(inspect.signature(getattr(gradely, name)).parameters) if callable(getattr(gradely, name)) else set()
        if names & {"qrels", "runs"} and names & {"ties", "run", "runs"}:
            evaluating.add(name)
    evaluating -= {name for name in evaluating if name[0].isupper() and name != "Evaluator"}  # results
    assert evaluating == {name.split()[0] for name in PUBLIC} | {"check"}  # which looks at whole files


@pytest.mark.parametrize("name", sorted({name.split()[0] for name in PUBLIC}))
def test_all_functions_that_evaluate_take_all_policies(name):
    assert {*POLICIES.split()} - taken(name) == {*ABSENT.get(name, "").split()}


@pytest.mark.parametrize("name", PUBLIC)
def test_all_functions_that_evaluate_select_alike(name):
    work, values = getattr(gradely, name.split()[0]), PUBLIC[name]
    qrels, runs, had = random_collection()
    some = ["1", "2", "3", "4", "6", "7"] if "queries" in taken(name) else []
    had = had if "exclude" in taken(name) else dict.fromkeys(had, ())
    chosen = {query: qrels[query] for query in some or qrels}
    left = of_runs(runs, lambda query, docs: {doc: score for doc, score in docs.items() if doc not in had[query]})
    left = {run: {query: by[query] for query in chosen} for run, by in left.items()}
    twice = pl.concat([as_rows(qrels), as_rows(qrels)])
    given = {"exclude": had, "columns": NAMES, "duplicates": "first", "queries": some}
    options = {key: value for key, value in given.items() if key in taken(name)}
    ours = values(work, twice, {run: as_rows(by) for run, by in runs.items()}, **options)
    assert ours == values(work, chosen, left)
    assert ours != values(work, qrels, runs)


def policy_cases(qrels, runs):
    """Return, by policy, judgments, runs and options, and the judgments and runs that give the same without them."""

    def untied(key):
        """Rank tied documents by a key."""
        order = lambda query, docs: sorted(docs, key=lambda doc: (docs[doc], key(query, doc)))
        return of_runs(runs, lambda query, docs: {doc: place for place, doc in enumerate(order(query, docs))})

    def drawn(seed):
        return untied(lambda query, doc: -int(shuffle_keys_of(seed, query.encode(), [doc.encode()])[0]))

    loops = of_runs(runs, lambda query, docs: {query: 9.5} | docs)
    parts = of_runs(runs, lambda _, docs: {f"{doc}#{i}": score - i for doc, score in docs.items() for i in range(2)})
    near = of_runs(runs, lambda _, docs: {doc: score + 1 + 1e-9 * i for i, (doc, score) in enumerate(docs.items())})
    judged = of_runs(runs, lambda query, docs: {doc: score for doc, score in docs.items() if doc in qrels[query]})
    nothing = qrels | {"none": {"d1": 0, "d2": 0}}
    heavy = {query: 0 if query in ("2", "5") else 3 for query in qrels}
    chosen = {query: docs for query, docs in qrels.items() if heavy[query]}
    return {
        "exclude_self": (qrels, loops, {"exclude_self": True}, qrels, runs),
        "document_pattern": (qrels, parts, {"document_pattern": r"^(.*)#"}, qrels, runs),
        "empty": (nothing, runs, {"empty": "skip"}, qrels, runs),
        "weights": (qrels, runs, {"weights": heavy}, chosen, runs),
        "judged_only": (qrels, runs, {"judged_only": True}, qrels, judged),
        "precision": (qrels, near, {"precision": "single"}, qrels, runs),
        "ties": (qrels, runs, {"ties": "trec"}, qrels, untied(lambda _, doc: doc)),
        "seed": (qrels, runs, {"ties": "random", "seed": 3}, qrels, drawn(3)),
        "no seed": (qrels, runs, {"ties": "random"}, qrels, drawn(0)),
    }


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        (name, policy)
        for name in PUBLIC
        for policy, (_, _, options, _, _) in policy_cases(*random_collection()[:2]).items()
        if options.keys() <= taken(name) and (name, policy) not in DIFFERENT
    ],
)
def test_all_functions_that_evaluate_follow_policies_alike(name, policy):
    work, values = getattr(gradely, name.split()[0]), PUBLIC[name]
    qrels, changed, options, other_qrels, same = policy_cases(*random_collection()[:2])[policy]
    seed = {key: value for key, value in options.items() if key == "seed"}  # by which more than ties is drawn
    expected = values(work, other_qrels, same, **seed)
    assert values(work, qrels, changed, **options) == expected
    if name not in ("pools", "plot tau"):  # in which runs have the same order all the same
        assert values(work, qrels, changed, **seed) != expected


def test_explain_where_an_excluded_document_is_judged():
    explained = gradely.explain({"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]}, "q", "nDCG@3", exclude={"q": ["b"]})
    assert [line.document for line in explained.lines] == ["x", "a"]
    assert [line.document for line in explained.ideal] == ["b", "a"]
    assert explained.value == gradely.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["x", "a"]}, ["nDCG@3"])["nDCG@3"]


def test_runs_are_ranked_by_the_same_queries():
    qrels, runs, _ = random_collection()
    for work in (gradely.correlate, gradely.pools):
        with pytest.raises(InputError, match="queries='run': runs are ranked by the same queries; use 'qrels' or a"):
            work(qrels, runs, queries="run")
    with pytest.raises(InputError, match="runs are ranked by the same queries"):
        gradely.plot("tau", qrels, runs, queries="both")
