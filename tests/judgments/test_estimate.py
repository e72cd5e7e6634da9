"""estimate and sample: numbers from the values by both qrels, what is refused, what is said."""

import json

import numpy as np
import pytest

import gradely
from gradely.cli.main import run
from gradely.comparison.regression import Sample, combine, regress
from gradely.comparison.sentences import format_signed
from tests.trec_files import write_trec

QUERIES = [f"q{i:02d}" for i in range(40)]
MEASURES = ["nDCG@5", "AP"]


def labels(seed, queries=QUERIES):
    rng = np.random.default_rng(seed)
    return {query: {f"d{k}": int(rng.integers(0, 4)) for k in range(12)} for query in queries}


LLM = labels(1)
TRUE = {
    query: {doc: label if hash_of(query, doc) else 3 - label for doc, label in of.items()}
    for query, of in LLM.items()
    for hash_of in [lambda query, doc: (int(query[1:]) * 7 + int(doc[1:]) * 3) % 4 > 0]
}
HUMAN = {query: TRUE[query] for query in QUERIES[::3]}
RUNS = {
    name: {query: {f"d{k}": float(rng.integers(0, 9)) for k in range(12)} for query in QUERIES}
    for name, rng in (("a", np.random.default_rng(5)), ("b", np.random.default_rng(6)))
}


def values(qrels, name, measure, queries):
    scores = gradely.evaluate(qrels, RUNS[name], [measure])
    return np.array([[scores.query(query)[measure]] for query in queries])


def sample_of(measure, *names):
    """Return the values by both, or the differences of two runs, from evaluations of their own."""
    human, judged = (
        sum(sign * values(qrels, name, measure, list(qrels)) for name, sign in zip(names, (1, -1), strict=False))
        for qrels in (HUMAN, LLM)
    )
    return Sample(human, judged, np.array([QUERIES.index(query) for query in HUMAN]))


@pytest.mark.parametrize("target", ["like", "these"])
@pytest.mark.parametrize("slope", ["auto", "least-squares", 1])
def test_means_and_differences_come_from_the_values_by_both(target, slope):
    found = gradely.estimate(HUMAN, RUNS, MEASURES, judge=LLM, target=target, slope=slope)
    for measure in MEASURES:
        for name in RUNS:
            expected = regress(sample_of(measure, name), target, slope)
            low, high = expected.together.intervals(0.95)
            row = found[name][measure]
            numbers = [row.mean, row.low, row.high, row.human_only, row.worth, row.correlation, row.slope]
            other = [
                expected.mean,
                low,
                high,
                expected.alone.difference,
                expected.worth(),
                expected.correlation,
                expected.slope,
            ]
            assert np.allclose(numbers, np.concatenate(other))
    names = {pair.measure: (pair.first, pair.second) for pair in found.pairs}
    assert list(names) == MEASURES and len(found.pairs) == 2
    for pair in found.pairs:
        expected = regress(sample_of(pair.measure, pair.first, pair.second), target, slope)
        ends = expected.together.intervals(0.95)
        assert np.allclose([pair.difference, pair.low, pair.high], [expected.mean[0], ends.low[0], ends.high[0]])


@pytest.mark.parametrize("slope", ["auto", "least-squares", 1])
def test_a_difference_that_is_not_that_of_the_means_is_explained(slope):
    """A reader who subtracts the means would otherwise doubt the table."""
    found = gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM, slope=slope)
    (pair,) = found.pairs
    apart = found[pair.first]["AP"].mean - found[pair.second]["AP"].mean - pair.difference
    assert (abs(apart) > 1e-4) == (slope != 1)
    assert ("each difference has a slope of its own, so it may not equal the difference of" in str(found)) == (
        slope != 1
    )
    assert "slope of its own" not in str(gradely.estimate(HUMAN, {"a": RUNS["a"]}, ["AP"], judge=LLM, slope=slope))


def test_no_order_of_the_input_changes_a_digit():
    def turn(table):
        return dict(reversed(table.items()))

    one = gradely.estimate(HUMAN, RUNS, MEASURES, judge=LLM)
    turned = gradely.estimate(turn(HUMAN), turn(RUNS), MEASURES, judge={q: turn(of) for q, of in turn(LLM).items()})
    assert list(one) == list(turned)
    for name, by in one.items():
        for measure, row in by.items():
            assert np.allclose(row, turned[name][measure], rtol=1e-12)


def test_segments_are_estimated_by_themselves_and_weighted():
    kinds = {query: "new" if i < 24 else "old" for i, query in enumerate(QUERIES)}
    found = gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM, by=kinds)
    whole = sample_of("AP", "a")
    parts = []
    for kind in ("new", "old"):
        inside = [query for query in QUERIES if kinds[query] == kind]
        rows = [i for i, query in enumerate(HUMAN) if kinds[query] == kind]
        judged = whole.judged[[QUERIES.index(query) for query in inside]]
        at = np.array([inside.index(list(HUMAN)[i]) for i in rows])
        parts.append(Sample(whole.human[rows], judged, at))
        alone = regress(parts[-1])
        assert np.isclose(found.segments[kind]["a"]["AP"].mean, alone.mean[0])
    together = combine(parts, "like", "auto")
    assert np.allclose(found["a"]["AP"][:3], [together.mean[0], *(end[0] for end in together.together.intervals(0.95))])
    assert found["a"]["AP"].slope is None and "segment" in str(found)
    assert found.data_table().records()[0]["segment"] == "(all)"


def refusal(*args, **keywords):
    with pytest.raises(gradely.DataError) as error:
        gradely.estimate(*args, **keywords)
    return str(error.value)


def test_what_cannot_be_estimated_is_refused_in_one_line():
    few = {query: HUMAN[query] for query in list(HUMAN)[:4]}
    assert "people judged 4 queries that the judge also labelled, but an estimate needs at least 5" in refusal(
        few, RUNS, ["AP"], judge=LLM
    )
    other = {f"x{query}": of for query, of in HUMAN.items()}
    assert "have no query in common; the first are 'xq00' and 'q00'" in refusal(other, RUNS, ["AP"], judge=LLM)
    assert "no target 'all'" in refusal(HUMAN, RUNS, ["AP"], judge=LLM, target="all")
    assert "the slope must be 'auto'" in refusal(HUMAN, RUNS, ["AP"], judge=LLM, slope=2)
    assert "the slope must be 'auto'" in refusal(HUMAN, RUNS, ["AP"], judge=LLM, slope=True)
    assert "alpha must be a number" in refusal(HUMAN, RUNS, ["AP"], judge=LLM, alpha=1)
    kinds = {query: "rare" if i < 6 else "usual" for i, query in enumerate(QUERIES)}
    assert "people judged 2 queries of the segment 'rare', but each segment needs at least 5" in refusal(
        HUMAN, RUNS, ["AP"], judge=LLM, by=kinds
    )
    del kinds["q39"]
    assert "1 of 40 queries of qrels have no segment, such as 'q39'" in refusal(
        HUMAN, RUNS, ["AP"], judge=LLM, by=kinds
    )


def test_a_judge_who_never_differs_from_people_is_named():
    copied = {query: HUMAN.get(query, of) for query, of in LLM.items()}
    found = gradely.estimate(HUMAN, RUNS, ["AP"], judge=copied)
    says = "the same label as people to all 168 documents that both judged"
    assert any(says in str(note) for note in found.notes)
    other = {**copied, "q00": {**copied["q00"], "d0": 3 - copied["q00"]["d0"]}}
    assert not any("copies" in str(note) for note in gradely.estimate(HUMAN, RUNS, ["AP"], judge=other).notes)
    ones = {query: dict.fromkeys(of, 1) for query, of in LLM.items()}
    found = gradely.estimate({query: ones[query] for query in HUMAN}, RUNS, ["AP"], judge=ones)
    assert not any("copies" in str(note) for note in found.notes)


def test_notes_say_what_was_left_out_and_what_does_not_fit():
    more = HUMAN | {"zz": {"d1": 1}}
    notes = [str(note) for note in gradely.estimate(more, RUNS, ["AP"], judge=LLM).notes]
    assert "1 of 15 queries has human labels and none of the judge, and is left out: zz" in notes
    smaller = {query: dict(list(of.items())[:6]) for query, of in HUMAN.items()}
    notes = [str(note) for note in gradely.estimate(smaller, RUNS, ["AP"], judge=LLM).notes]
    assert any(
        note.startswith("14 of 14 human-labelled queries have different documents judged by people") for note in notes
    )
    deep = LLM | {query: of for query, of in LLM.items() if query in HUMAN}
    deep = {query: of if query in HUMAN else dict(list(of.items())[:3]) for query, of in deep.items()}
    notes = [str(note) for note in gradely.estimate(HUMAN, RUNS, ["AP"], judge=deep).notes]
    assert any("labelled 12 documents per human-labelled query and 3 per other query" in note for note in notes)
    same = [str(note) for note in gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM).notes]
    assert not any("documents" in note for note in same)


def test_swapped_labels_are_pointed_out():
    found = gradely.estimate(LLM, RUNS, ["AP"], judge=HUMAN)
    assert any("are the two swapped?" in str(note) for note in found.notes)
    assert found.remarks()[0].startswith("People judged all 14 queries of the judge. Intervals: 95 % t intervals")
    assert any(str(note).startswith("3 of 3 means and differences rest on human labels alone") for note in found.notes)


def test_selected_queries_are_those_of_the_judge():
    some = QUERIES[:30]
    found = gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM, queries=some)
    assert len(found.runs.every) == 30 and len(found.runs.queries) == 10
    assert not any("left out" in str(note) for note in found.notes)


@pytest.mark.parametrize(
    ("judge", "slope", "says"),
    [
        ({query: {"d0": 1} for query in QUERIES}, "auto", "values do not vary over the human-labelled queries"),
        (TRUE, 1, "agrees with people on every human-labelled query"),
        (HUMAN, "auto", "people judged every query"),
    ],
)
def test_the_sentence_says_why_a_judge_adds_nothing(judge, slope, says):
    runs = {name: {query: ["d0", *(f"d{k}" for k in range(1, 12))] for query in QUERIES} for name in "a"}
    found = gradely.estimate(HUMAN, runs, ["nDCG@5"], judge=judge, slope=slope)
    row = found["a"]["nDCG@5"]
    assert f"The judge's labels add nothing: {'the judge ' if 'agrees' in says else ''}" in found.summary()
    assert says in found.summary() and (row.mean, row.low) == (row.human_only, row.human_low)
    assert any(says in str(note) for note in found.notes)


def test_documents_that_tie_across_the_depth_are_all_to_be_judged():
    llm = {f"q{i}": {"a": 1, "far": 1, "nowhere": 1} for i in range(5)}
    one = {query: {"a": 4, "b": 3, "c": 2, "d": 2, "e": 2, "far": 1} for query in llm}
    two = {query: {"z": 2, "a": 1} for query in list(llm)[1:]}
    drawn = gradely.sample(llm, {"one": one, "two": two}, n=5, depth=3)
    tied = ["a", "b", "c", "d", "e"]
    assert drawn.documents == {"q0": tied} | {query: [*tied, "z"] for query in list(llm)[1:]}


def test_intervals_of_people_alone_are_not_said_to_be_of_the_judge():
    copied = {query: {**labels, **HUMAN.get(query, {})} for query, labels in LLM.items()}
    found = gradely.estimate(HUMAN, {"a": RUNS["a"]}, ["AP"], judge=copied, slope=1)
    (remark,) = found.remarks()
    assert "95 % t intervals from human labels alone" in remark and "slope" not in remark


def test_the_sentence_says_what_the_judge_is_worth_and_fits_one_run():
    found = gradely.estimate(HUMAN, {"a": RUNS["a"]}, ["AP"], judge=LLM)
    row, text = found["a"]["AP"], found.summary()
    assert text.startswith(f"For queries like these, AP of a is {row.mean:.4f} (95 % interval {row.low:.4f} …")
    assert f"14 human-labelled queries alone give a {row.human_only:.4f}" in text and found.pairs == []
    worth = round(row.worth)
    assert (f"worth {worth} more human-labelled quer" in text) == (worth > 0)
    both = gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM)
    first, second = both
    assert f"AP of {first} is" in both.summary() and f"its difference from {second} is" in both.summary()
    assert both[first]["AP"].mean >= both[second]["AP"].mean


def test_intervals_end_where_the_measure_does():
    runs = {"a": {query: sorted(of, key=of.get, reverse=True) for query, of in TRUE.items()}}
    for row in gradely.estimate(HUMAN, runs, ["nDCG@5", "AP", "P@3"], judge=LLM)["a"].values():
        assert row.high is None or row.high <= 1


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_trec(tmp_path, {"human": HUMAN, "llm": LLM}, RUNS)
    return tmp_path


def test_the_command_has_the_options_of_the_function(files, capfd):
    arguments = ["estimate", "human.qrels", "a.run", "b.run", "--judge", "llm.qrels", "-m", "nDCG@5,AP"]
    assert run([*arguments, "--for", "these", "--slope", "1", "--format", "json"]) == 0
    expected = gradely.estimate(HUMAN, RUNS, MEASURES, judge=LLM, target="these", slope=1)
    assert json.loads(capfd.readouterr().out) == json.loads(expected.to_json())
    (files / "some.txt").write_text("".join(f"{query}\n" for query in QUERIES[:30]))
    assert run([*arguments, "--only", "some.txt"]) == 0
    assert "People judged 10 of the 30 queries" in capfd.readouterr().out


def test_the_command_refuses_in_one_line(files, fails):
    fails("estimate", "human.qrels", "a.run", "--judge", "nothing.qrels", says="gradely: nothing.qrels: no such file\n")
    fails("estimate", "human.qrels", "a.run", says="--judge")
    few = "gradely: a sample must have at least 5 queries, which an estimate needs; found 4\n"
    fails("sample", "llm.qrels", "-n", "4", says=few)
    fails("sample", "llm.qrels", "-n", "50", says="cannot draw 50 of 40 queries")
    fails("sample", "llm.qrels", "-n", "5", "--pool", "pool.csv", says="--pool needs runs")


def test_a_sample_is_drawn_by_its_seed_alone(files, capfd):
    assert run(["sample", "llm.qrels", "-n", "8", "--seed", "1", "-o", "queries.txt"]) == 0
    said = capfd.readouterr()
    drawn = (files / "queries.txt").read_text().split()
    assert said.err == "8 of 40 queries, drawn at random with seed 1\n" and said.out == ""
    assert drawn == sorted(set(drawn)) and len(drawn) == 8 and set(drawn) <= set(QUERIES)
    turned = dict(reversed(LLM.items()))
    assert gradely.sample(turned, n=8, seed=1).queries == drawn != gradely.sample(LLM, n=8, seed=2).queries
    assert run(["estimate", "llm.qrels", "a.run", "--judge", "llm.qrels", "--only", "queries.txt", "-m", "AP"]) == 0
    assert "People judged all 8 queries of the judge" in capfd.readouterr().out


def test_every_query_is_drawn_as_often_as_any_other():
    counts = dict.fromkeys(QUERIES, 0)
    for seed in range(400):
        for query in gradely.sample(LLM, n=10, seed=seed).queries:
            counts[query] += 1
    assert abs(np.mean(list(counts.values())) - 100) < 1e-9
    assert np.abs(np.array(list(counts.values())) - 100).max() < 4.5 * np.sqrt(400 * 0.25 * 0.75)


def test_segments_get_their_shares_and_at_least_five():
    kinds = {query: "rare" if i < 8 else "usual" for i, query in enumerate(QUERIES)}
    drawn = gradely.sample(LLM, n=20, by=kinds)
    counts = [list(map(kinds.get, drawn.queries)).count(kind) for kind in ("rare", "usual")]
    assert counts == [5, 15] and drawn.table().header == ["query", "segment"]
    with pytest.raises(gradely.DataError, match="9 queries are too few for 2 segments, which need at least 5 each"):
        gradely.sample(LLM, n=9, by=kinds)
    with pytest.raises(gradely.DataError, match="the segment 'rare' has 2 queries"):
        gradely.sample(LLM, n=20, by={query: "rare" if i < 2 else "usual" for i, query in enumerate(QUERIES)})


def test_segments_are_drawn_in_proportion_whatever_the_order_of_the_input():
    kinds = {query: "abc"[0 if i < 20 else 1 if i < 31 else 2] for i, query in enumerate(QUERIES)}
    drawn = gradely.sample(LLM, n=25, by=kinds)
    counts = [list(map(kinds.get, drawn.queries)).count(kind) for kind in "abc"]
    assert counts == [12, 7, 6]  # 12.5, 6.9 and 5.6 by their shares; the last one goes where most is lacking
    turned = gradely.sample(dict(reversed(LLM.items())), n=25, by=dict(reversed(kinds.items())))
    assert turned.queries == drawn.queries
    least = gradely.sample(LLM, n=15, by=kinds)
    assert [list(map(kinds.get, least.queries)).count(kind) for kind in "abc"] == [5, 5, 5]
    del kinds["q03"]
    with pytest.raises(gradely.DataError, match="by: query 'q03' of qrels has no segment; every query needs one"):
        gradely.sample(LLM, n=25, by=kinds)


def test_what_a_sample_does_unless_asked_otherwise():
    runs = {"a": {query: [f"x{k:02d}" for k in range(20)] for query in QUERIES}}
    usual = gradely.sample(LLM, runs, n=5)
    assert usual.queries == gradely.sample(LLM, n=5, seed=0).queries != gradely.sample(LLM, n=5, seed=1).queries
    assert {len(documents) for documents in usual.documents.values()} == {10}
    with pytest.raises(gradely.DataError, match="seed"):
        gradely.sample(LLM, n=5, seed=-1)


def test_tables_show_what_is_estimated():
    many = {
        f"r{i}": {
            query: dict(zip(of, np.roll([*of.values()], i).tolist(), strict=True)) for query, of in RUNS["a"].items()
        }
        for i in range(9)
    }
    found = gradely.estimate(HUMAN, many, ["AP"], judge=LLM)
    parts = ("low", "high", "human_only", "correlation", "worth")
    shown = lambda row: [*(getattr(row, part) for part in parts[:-1]), round(row.worth)]
    assert [row[3:] for row in found.table().rows] == [shown(by["AP"]) for by in found.values()]
    table = found.pairs_table()
    assert len(found.pairs) == 36 and table.more == "… and 6 more pairs; --format json shows all"
    assert [row[:4] for row in table.rows] == [list(pair[:4]) for pair in found.pairs[:30]]
    assert [row[4:] for row in table.rows] == [shown(pair) for pair in found.pairs[:30]]
    assert found.pairs_frame("polars").rows() == [tuple(pair) for pair in found.pairs]
    assert found.as_dict()["runs"] == found.data_table().records()
    two = gradely.estimate(HUMAN, RUNS, ["AP"], judge=LLM, by=dict.fromkeys(QUERIES, "x"))
    assert two.pairs_table().more == "" and len(two.sections(4)) == 4
    assert two.segments_table().rows == [["x", 14, *row] for row in two.segments["x"].table().rows]
    assert f"its difference from {two.pairs[0].second} is {format_signed(two.pairs[0].difference)} (" in two.summary()
    alone = gradely.estimate(HUMAN, {"a": RUNS["a"]}, ["AP"], judge=LLM)
    assert len(alone.sections(4)) == 2


def test_the_documents_to_judge_are_those_in_the_top_of_any_run(files, capfd):
    runs = {"a": {q: ["d1", "d2", "d3"] for q in QUERIES}, "b": {q: ["d3", "d4", "d1"] for q in QUERIES}}
    drawn = gradely.sample(LLM, runs, n=5, depth=2)
    assert drawn.documents == {query: ["d1", "d2", "d3", "d4"] for query in drawn.queries}
    assert "20 documents to judge in the top 2 of the runs" in drawn.summary()
    assert run(["sample", "llm.qrels", "a.run", "-n", "5", "--depth", "3", "--pool", "pool.csv", "-o", "q.csv"]) == 0
    rows = (files / "pool.csv").read_text().splitlines()
    queries = [line.split(",")[0] for line in (files / "q.csv").read_text().splitlines()[1:]]
    top = [
        f"{query},{doc}"
        for query in queries
        for doc, score in sorted(RUNS["a"][query].items())
        if sum(other > score for other in RUNS["a"][query].values()) < 3
    ]
    assert rows == ["query,document", *top] and len(rows) > 16  # some documents tie across the depth
    assert (files / "q.csv").read_text().splitlines()[0] == "query,documents"


def test_intervals_of_differences_end_where_differences_do():
    judge = {query: {"d": 1} for query in QUERIES[:12]}
    first, last = ["d"], ["x", "y", "z", "u", "d"]
    runs = {
        name: {query: last if i % 2 == odd else first for i, query in enumerate(judge)}
        for odd, name in enumerate(("odd", "even"))
    }
    found = gradely.estimate({query: judge[query] for query in QUERIES[:5]}, runs, ["RR"], judge=judge, slope=1)
    (pair,) = found.pairs
    assert -1 < pair.low < pair.high == pair.human_high == 1


def test_where_people_give_all_queries_the_same_value_the_sentence_says_so():
    human = {query: {"d0": 1} for query in QUERIES[:8]}
    runs = {"a": {query: [f"d{k}" for k in range(12)] for query in QUERIES}}
    found = gradely.estimate(human, runs, ["RR"], judge={query: {f"d{i % 3}": 1} for i, query in enumerate(QUERIES)})
    row = found["a"]["RR"]
    assert row.human_low is None and row.worth is None and row.low < row.mean < row.high
    assert found.summary().endswith("alone give no interval, since they give every query the same value.")


def test_a_sample_follows_the_policies_of_evaluate():
    """The documents to judge are those that count: after passages are joined, and without what is excluded."""
    llm = {f"q{i}": {"d": 1, f"q{i}": 1, "x": 0} for i in range(6)}
    ranking = {"p#1": 6.0, "p#2": 5.0, "x": 4.0, "d": 3.0}
    run = {query: {query: 7.0, **ranking} for query in llm}
    how = {"document_pattern": "^(.*)#", "duplicates": "max", "exclude_self": True, "exclude": {q: ["x"] for q in llm}}
    drawn = gradely.sample(llm, {"r": run}, n=5, depth=2, **how)
    assert all(documents == ["d", "p"] for documents in drawn.documents.values()) and len(drawn.documents) == 5
    assert gradely.sample(llm, {"r": run}, n=5, depth=1, exclude_self=True).documents[drawn.queries[0]] == ["p#1"]
    assert gradely.sample(llm, n=5, seed=0).queries != gradely.sample(llm, n=5, seed=4).queries
    with pytest.raises(gradely.DataError, match="depth must be at least 1; found 0"):
        gradely.sample(llm, n=5, depth=0)
