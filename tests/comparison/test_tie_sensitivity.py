"""What the order of ties decides."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.ties import Orders, RunTies, TieSensitivity
from gradely.data import Run, open_run
from gradely.data.demo import collection
from gradely.data.locate import locate
from gradely.data.tie_counts import (
    add_ties,
    count_run,
    count_tied_part,
    count_ties,
    sample_scores,
    stored_as,
    to_half,
)
from gradely.data.tops import DetailsObserver, describe_run, top_depth
from gradely.evaluation.result import MOST
from gradely.settings import Settings
from tests.comparison.test_compare import FILES, RUNS
from tests.shared_data import DATA, needs

QRELS = {"q": {"a": 1, "b": 0, "c": 0}}


def test_orders_are_what_the_policies_give(demo):
    found = gradely.tie_sensitivity("qrels.txt", RUNS, ["nDCG@10", "AP"])
    for each in found.runs:
        for measure, orders in each.orders.items():
            for policy, value in orders._asdict().items():
                direct = gradely.evaluate("qrels.txt", RUNS[each.run], [measure], ties=policy).mean()[measure]
                assert value == pytest.approx(direct, abs=1e-12)


def test_runs_that_change_places():
    tied, sure = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    (swap,) = gradely.tie_sensitivity(QRELS, {"tied": tied, "sure": sure}, ["RR"]).swaps
    # the tied run has (1 + 1/2 + 1/3) / 3 = 11/18, the other 1/2 in every order; by name, descending, a comes last: 1/3
    assert swap == ("RR", "tied", "sure", True, True)
    assert gradely.tie_sensitivity(QRELS, {"sure": sure, "same": sure}, ["RR"]).swaps == []


def test_tied_documents_by_hand():
    run = gradely.read_run({"q": {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.25, "e": 0.25, "f": 0.25}})
    found = count_ties(run, run.scores)
    assert (found.documents, found.tied, found.groups, found.largest, found.share) == (6, 5, 2, 3, 5 / 6)


def test_ties_that_rounding_would_make():
    scores = {"a": 1.0, "b": 1.0 + 1e-9, "c": 2.0, "d": 2.0001}
    found = count_ties(gradely.read_run({"q": scores}), ["q"])
    assert (found.tied, found.single, found.half) == (0, 2, 4)


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float16, "half precision"), (np.float32, "single precision"), (float, "double precision")]
)
@pytest.mark.parametrize("scale", [0.01, 1, 300])
def test_how_scores_were_stored(dtype, name, scale):
    scores = (np.random.default_rng(1).uniform(size=500) * scale).astype(dtype).astype(float)
    assert stored_as(scores) == stored_as(-scores) == name
    if name == "half precision":
        printed = np.array([float(f"{score:.6g}") for score in scores])
        assert stored_as(printed) == stored_as(-printed) == name
        assert stored_as(np.array([float(str(np.float16(score))) for score in scores])) == name


def test_ties_that_single_precision_would_make_are_noted():
    found = gradely.tie_sensitivity({"q": {"a": 1}}, {"r": {"q": {"a": 1.0, "b": 1.0 + 1e-9}}}, ["RR"])
    assert [str(note) for note in found.notes] == [
        "r: 2 more documents would tie in single precision, as in trec_eval 9 and older"
    ]


def test_how_bfloat16_and_decimals_are_told():
    scores = np.random.default_rng(1).uniform(size=500)
    cut = (scores.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)
    assert stored_as(cut) == "bfloat16"
    assert stored_as(np.round(scores, 3)) == "3 decimals"
    assert stored_as(np.round(scores, 1)) == "1 decimal"
    assert stored_as(np.round(scores * 10)) == "whole numbers"
    assert stored_as(np.array([0.0625])) == "bfloat16"  # which takes four decimals to print


@needs("trec-dl-2019-passage")
def test_a_real_run_of_half_precision_is_nearly_all_tied():
    path = DATA / "trec-dl-2019-passage" / "runs" / "REP_LLAMA__first-stage_dl19.txt.gz"
    run = gradely.read_run(path)
    found = count_ties(run, run.scores)
    assert (round(found.share, 3), found.stored, found.half) == (0.985, "3 decimals", 0)


def test_the_command(demo, capfd):
    assert cli(["ties", *FILES, "-m", "nDCG@10"]) == 0
    text = capfd.readouterr().out
    assert "whole numbers" in text and "half precision" in text
    assert (
        "1 of 3 pairs of runs can change places, depending on the order of ties (the first in its worst order, " in text
    )
    assert (
        "dense: 75 of 1,200 documents are tied, perhaps only because of how scores were stored: all fit half precision"
        in text
    )
    assert "in half: documents that would also tie" in text and "order: whether trec_eval's order" in text
    assert "Data: means over 24 queries, queries: qrels, double precision." in text
    assert cli(["ties", *FILES, "-m", "AP", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert list(rows[0]) == ["measure", "run", "trec", "worst", "expected", "best", "best - worst"]
    assert cli(["ties", *FILES, "-m", "AP", "--format", "json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["runs"][0]["ties"]["share"] > 0.9 and found["swaps"][0]["worst_to_best"] is True
    assert list(found["runs"][0]["orders"]["AP"]) == ["trec", "worst", "expected", "best"]
    assert cli(["ties", "qrels.txt", "dense.run", "-m", "AP"]) == 0
    assert "No pair of runs can change places" in capfd.readouterr().out


def test_frames(demo):
    frame = gradely.tie_sensitivity("qrels.txt", RUNS, ["AP"]).to_frame("polars")
    assert frame.columns == ["measure", "run", "trec", "worst", "expected", "best"]


@pytest.mark.parametrize("piece", [1 << 8, 1 << 20])
def test_ties_and_tops_are_the_same_gathered_from_pieces_or_from_the_whole(tmp_path, monkeypatch, piece):
    """A file is read once, in pieces on threads; the plain reader holds it as a whole."""
    rng = np.random.default_rng(3)
    names = [f"q{i}" for i in range(40)]
    lines = [
        f"{q} Q0 d{d} 1 {score} t\n"
        for q in [*names, "unjudged"]
        for d, score in zip(rng.permutation(60)[:30], np.round(rng.random(30), 1), strict=True)
    ]
    (tmp_path / "run").write_text("".join(lines))
    qrels = gradely.read_qrels({q: {f"d{d}": 1 for d in range(5)} for q in names})
    monkeypatch.setattr("gradely.data.read.pieces.PIECE", piece)
    monkeypatch.setattr("gradely.data.read.pieces.SMALL", 0)
    monkeypatch.setattr("gradely.data.spool.NAMES_IN_MEMORY", piece)
    observer = DetailsObserver(4)
    hits = locate(qrels, open_run(tmp_path / "run"), Settings("trec"), 2, observe=observer)
    whole = {query: dict(ranking) for query, ranking in open_run(tmp_path / "run").scores.items()}
    scattered = rng.permutation(lines).tolist()
    (tmp_path / "scattered").write_text("".join(scattered))
    details = describe_run(qrels, Run(whole), 4)
    assert observer.details(hits) == details
    assert describe_run(qrels, open_run(tmp_path / "run"), 4) == details
    assert describe_run(qrels, open_run(tmp_path / "scattered"), 4) == details


def test_details_of_a_scattered_file_are_gathered_from_whole_queries(tmp_path):
    (tmp_path / "run").write_text("a Q0 d1 1 2 t\nb Q0 d1 1 2 t\na Q0 d2 1 2 t\n")
    qrels = gradely.read_qrels({"a": {"d1": 1}, "b": {"d1": 1}})
    observer = DetailsObserver(4)
    details = observer.details(locate(qrels, open_run(tmp_path / "run"), Settings(), 1, observe=observer))
    assert details.tops == {0: (["d1", "d2"], [2]), 1: (["d1"], [1])}
    ties = gradely.tie_sensitivity(qrels, {"run": tmp_path / "run"}, ["RR"])
    assert ties.runs[0].tied.tied == 2


def test_a_query_whose_ranks_contradict_its_scores_is_named_once():
    run = {"q": {"a": 1.0, "b": 2.0, "c": 3.0}, "r": {"a": 2.0, "b": 2.0}}
    assert count_run(run, {"q": [1.0, 2.0, 3.0], "r": [2.0, 1.0]}).against == ["q"]
    assert count_run(run, {"r": [1.0, 1.0]}).against == []


def test_tops_are_as_deep_as_150000_documents_allow():
    assert [top_depth(*size) for size in ((24, 3), (5000, 3), (150_000, 1), (150_001, 1))] == [20, 10, 1, 0]


def test_details_are_of_whole_queries_each_seen_once():
    part = count_tied_part(np.array([2.0, 2.0]), np.array([True]))
    for second, seen in ((1, True), (0, False)):
        observer = DetailsObserver(4)
        observer.add((part, np.array([0]), {}))
        observer.add((part, np.array([second]), {}))
        assert (observer.details(SimpleNamespace(documents=4)) is not None) == seen
        assert observer.details(SimpleNamespace(documents=5)) is None


def sensitivity(*orders):
    runs = [RunTies(name, None, {"AP": Orders(*values)}) for name, values in zip("ab", orders, strict=True)]
    return TieSensitivity(runs, ["AP"], Settings(), 1)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [  # each: trec, worst, expected, best
        ((0.5, 0.4, 0.5, 0.6), (0.4, 0.3, 0.4, 0.35), []),  # apart in every order
        ((0.5, 0.5, 0.5, 0.5), (0.4, 0.4, 0.4, 0.4), []),  # nothing ties
        ((0.5, 0.4, 0.5, 0.6), (0.45, 0.3, 0.45, 0.5), [("AP", "a", "b", False, False)]),  # above it at both ends
        ((0.5, 0.4, 0.5, 0.6), (0.45, 0.3, 0.45, 0.7), [("AP", "a", "b", True, False)]),
        ((0.5, 0.2, 0.5, 0.6), (0.45, 0.3, 0.45, 0.5), [("AP", "a", "b", True, False)]),
        ((0.4, 0.4, 0.5, 0.6), (0.45, 0.3, 0.45, 0.5), [("AP", "a", "b", False, True)]),  # trec_eval turns them
        ((None, 0.4, 0.5, 0.6), (0.45, 0.3, 0.45, 0.5), [("AP", "a", "b", False, False)]),
        ((0.5, 0.4, 0.45, 0.6), (0.5, 0.3, 0.5, 0.6), [("AP", "b", "a", False, False)]),
        ((0.5, 0.4, 0.5, 0.6), (0.5, 0.4, 0.5, 0.6), [("AP", "a", "b", False, False)]),  # of equals, the first
        (
            (0.5, 0.4, 0.5 - 1e-16, 0.6),
            (0.5, 0.3, 0.5, 0.6 + 1e-16),
            [("AP", "a", "b", False, False)],
        ),  # up to rounding
        ((0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5), []),
    ],
)
def test_which_runs_change_places(first, second, expected):
    assert sensitivity(first, second).swaps == expected


def test_of_very_many_swaps_the_first_are_shown_and_the_others_counted():
    runs = [
        RunTies(str(i), count_ties(gradely.read_run({"q": {"a": 1.0}}), "q"), {"AP": Orders(*[0.5, 0.4, 0.5, 0.6])})
        for i in range(12)
    ]
    text = str(TieSensitivity(runs, ["AP"], Settings(), 1))
    assert (
        "66 of 66 pairs of runs can change places, depending on the order of ties (the first in its worst order, "
        in text
    )
    assert f"… and {66 - MOST} more; the JSON output has them all" in text and "weighted" not in text


def test_excluded_documents_tie_with_nothing_and_weights_are_named():
    run = {"tied": {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}}
    plain = gradely.tie_sensitivity(QRELS, run, ["RR"])
    assert plain.runs[0].tied[:2] == (3, 2) and "weighted" not in plain.caption()
    without = gradely.tie_sensitivity(QRELS, run, ["RR"], exclude={"q": ["b"]}, weights={"q": 2.0})
    assert without.runs[0].tied[:2] == (2, 0) and "weighted" in without.caption()


def test_the_range_of_a_run_is_best_minus_worst():
    assert sensitivity((0.5, 0.4, 0.5, 0.75), (0.5, 0.5, 0.5, 0.5)).orders_table().rows[0][-1] == pytest.approx(0.35)


@pytest.mark.parametrize("before", [{}, {"p": {"x": 1.0, "y": 2.0}}])
@pytest.mark.parametrize(
    ("scores", "largest"),
    [([3, 2, 1], 0), ([2, 2, 1], 2), ([2, 1, 1], 2), ([1, 1, 1], 3), ([2], 0), ([3, 3, 2, 2, 2, 1], 3)],
)
def test_the_largest_group(before, scores, largest):
    run = gradely.read_run({**before, "q": dict(zip("abcdef", map(float, scores), strict=False))})
    assert count_ties(run, run.scores).largest == largest


def test_nothing_is_tied_where_there_is_nothing():
    found = count_ties(gradely.read_run({"q": {"a": 1.0}}), [])
    assert (found.documents, found.largest, found.share) == (0, 0, 0.0)
    assert add_ties([]).largest == 0
    assert count_ties(gradely.read_run({"q": {"a": 1.0, "b": 1.0}}), ["q"]).share == 1.0


def test_half_precision_has_eleven_bits():
    assert to_half(np.array([2047.0, 2048.0, 2049.0, 1 + 2**-11, 1 + 3 * 2**-11])).tolist() == [
        2047.0,
        2048.0,
        2048.0,
        1.0,
        1 + 2**-9,
    ]
    twelve = 1 + np.arange(1, 2048, 2) / 2048  # numbers of twelve bits
    assert stored_as(twelve) == "single precision"


@pytest.mark.filterwarnings("error")
def test_scores_near_the_largest_number_are_told_without_a_warning():
    assert stored_as(np.array([-1e308, 1.7e308, 0.5])) == "1 decimal"
    assert stored_as(np.array([-1e308, 1e300])) == "whole numbers"
    assert stored_as(np.array([-1.7976931348623157e308, 1 / 3])) == "double precision"
    assert to_half(np.array([-1.7976931348623157e308, 1.0])).tolist() == [-np.inf, 1.0]


def test_a_sample_of_scores_holds_0_whatever_its_sign():
    """Its hash is the smallest of all."""
    scores = np.random.default_rng(1).random(200_000)
    for zero in (0.0, -0.0):
        sample = sample_scores(np.append(scores, zero))
        assert len(sample) == 10_000 and sample[0] == 0.0 and (np.diff(sample) > 0).all()


def test_the_demo_is_the_same_each_time():
    files = collection()
    assert {name: len(text.splitlines()) for name, text in files.items()} == {
        "qrels.txt": 24 * 50,
        "lexical.run": 24 * 50,
        "dense.run": 24 * 50,
        "popular.run": 22 * 50,
    }
    assert {name: text.splitlines()[49] for name, text in files.items()} == {
        "qrels.txt": "q01 0 d119 0",
        "lexical.run": "q01 Q0 d094 50 4 lexical",
        "dense.run": "q01 Q0 d032 50 0.351807 dense",
        "popular.run": "q01 Q0 d091 50 3 popular",
    }


@pytest.mark.parametrize("options", [{"empty": "one"}, {"exclude_self": True}, {"document_pattern": "^([^#]*)"}])
def test_sensitivity_follows_the_policies_of_evaluate(options):
    qrels = {"a": {"a": 1, "b": 1}, "none": {"a": 0}}
    run = {"a": {"a": 1.0, "b#1": 1.0, "c": 1.0}, "none": {"a": 1.0}}
    plain, other = (
        gradely.tie_sensitivity(qrels, {"r": run}, ["RR"], **chosen).runs[0].orders["RR"] for chosen in ({}, options)
    )
    assert other.expected == pytest.approx(gradely.evaluate(qrels, run, ["RR"], **options)["RR"]) != plain.expected
