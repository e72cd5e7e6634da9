"""φ to look at: points, curve and documents are those of the measure, and of SciPy's curve through the points."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

import gradely
from gradely.cli.main import run as gradely_command
from tests import reference

QRELS = {"q": {"a": 100, "b": 20, "c": 90, "d": 15, "e": 10}, "flat": {"a": 3, "b": 3}}


@pytest.mark.parametrize(("control", "oracle"), [("paper", reference.phi), ("code", reference.phi_code)])
@settings(max_examples=60, deadline=None)
@given(scores=st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_curves_are_those_of_the_measure(control, oracle, scores):
    labels = {f"d{i}": float(score) for i, score in enumerate(scores)}
    (curve,) = gradely.phi({"q": labels}, "q", control).curves
    at = np.linspace(min(scores), max(scores), 23)
    np.testing.assert_allclose(curve(at), [oracle(scores)(y) for y in at], rtol=0, atol=1e-12)
    assert curve.documents() == pytest.approx({doc: oracle(scores)(y) for doc, y in labels.items()}, abs=1e-12)
    if curve.is_step:
        (low, _), *rise = curve.points
        assert rise == [(max(scores), 0.0), (max(scores), 1.0)] and low <= min(s for s in scores if s > 0 or low < 0)
        assert curve(at).tolist() == [float(y == max(scores)) for y in at]
    elif len(curve.points) > 2:
        x, y = zip(*curve.points, strict=True)
        start = x[y.index(0.0) if y.count(0.0) == 1 else 1]
        through = PchipInterpolator(x, y)(at)
        np.testing.assert_allclose(curve(at), np.where(at <= start, 0.0, through), rtol=0, atol=1e-12)
    if not curve.points:
        assert not curve(at).any()


def test_points_of_the_paper_and_of_one_s_own():
    (curve,) = gradely.phi(QRELS, "q").curves
    assert curve.points == ((10, 0), (20, 0), (100, 1))
    (own,) = gradely.phi(QRELS, "q", [(0, 0), (50, 0.5), (100, 1)]).curves
    assert own.points == ((0, 0), (50, 0.5), (100, 1))
    assert own([0, 50, 100]).tolist() == [0, 0.5, 1]
    found = gradely.phi(QRELS)
    assert [curve.query for curve in found.curves] == ["q", "flat"]
    assert [note.count for note in found.notes] == [1]


def test_where_the_median_is_the_maximum_there_is_a_step_and_a_note():
    found = gradely.phi({"step": {"a": 5, "b": 5, "c": 5, "d": 1}} | QRELS)
    assert [(note.kind, note.count, note.of) for note in found.notes] == [("flat", 1, 3), ("step", 1, 3)]
    assert "in 1 of 3 queries the median is the maximum" in found.notes[1].text
    assert found.curves[0].points == ((1, 0), (5, 0), (5, 1)) and found.chart().to_dict()["concat"]


def test_what_is_no_query_or_curve_is_refused():
    with pytest.raises(gradely.DataError, match="no query 'p'"):
        gradely.phi(QRELS, "p")
    with pytest.raises(gradely.MeasureError, match="control points"):
        gradely.phi(QRELS, "q", "nothing")
    with pytest.raises(gradely.DataError, match="no curve to draw"):
        gradely.phi(QRELS, "flat").chart()


def test_the_command(tmp_path, capfdbinary):
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps(QRELS))
    assert gradely_command(["phi", str(path), "q", "--format", "json"]) == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert data["queries"][0]["points"][-1] == {"score": 100.0, "phi": 1.0}
    for form in ("svg", "png"):
        picture = tmp_path / f"phi.{form}"
        assert gradely_command(["phi", str(path), "-o", str(picture), "--control", "code"]) == 0
        assert picture.read_bytes()[:5] in (b"<svg ", b"\x89PNG\r")
    assert gradely_command(["phi", str(path), "q", "--control", "[(0, 0), (100, 1)]"]) == 0
    assert "φ of 1 query, control points as given" in capfdbinary.readouterr().out.decode()
    assert gradely_command(["phi", str(path), "q", "--control", "[(0, "]) == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("control", ["paper", "code"])
def test_labels_near_the_largest_number_have_a_curve(control):
    scores = {"a": 1.7e308, "b": -1.7e308, "c": 1e307, "d": 9e306, "e": 8e306, "f": 7e306}
    (curve,) = gradely.phi({"q": scores}, "q", control).curves
    small = gradely.phi({"q": {doc: score / 2**1000 for doc, score in scores.items()}}, "q", control).curves[0]
    assert [y for _, y in curve.points] == pytest.approx([y for _, y in small.points])
    assert [x / 2**1000 for x, _ in curve.points] == pytest.approx([x for x, _ in small.points])
    assert all(np.isfinite(point).all() for point in curve.points) and not curve.fits and small.fits
    with pytest.raises(gradely.DataError, match="no curve to draw"):
        gradely.phi({"q": scores}, "q", control).chart()


@pytest.mark.filterwarnings("error")
def test_a_whisker_beyond_the_largest_number_is_ignored():
    (curve,) = gradely.phi({"q": {"a": 1e308, "b": -1e308}}).curves
    assert curve.points == ((-1e308, 0.0), (0.0, 0.0), (1e308, 1.0))


def test_a_curve_shows_its_points_and_is_pickled():
    curves = gradely.phi(QRELS, "q")
    (curve,) = curves.curves
    shown = repr(curve)
    assert shown.startswith("PhiCurve('q': ") and shown.endswith(", 1))") and "object at" not in shown
    assert repr(pickle.loads(pickle.dumps(curves)).curves) == f"[{shown}]"


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_queries_without_control_points_are_rows_without_numbers(tmp_path, capfdbinary, form):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n2 0 a 2\n2 0 b 2\n")
    assert gradely_command(["phi", str(tmp_path / "qrels"), "--format", form]) == 0
    out = capfdbinary.readouterr().out.decode().replace("\t", ",")
    assert out == "query,score,phi\n1,,\n2,,\n"
    curves = gradely.phi({"1": {"a": 1, "b": 1}, "2": {"a": 0, "b": 0, "c": 9}})
    assert curves.to_frame()["query"].tolist()[0] == "1" and curves.to_frame()["phi"].isna().sum() == 1


def test_the_note_counts_queries_without_a_score_that_stands_out():
    (note,) = gradely.phi({"q": {"a": 3, "b": 3}}).notes
    assert note.text == "1 of 1 query has no score that stands out: φ is 0 there"
    (note,) = gradely.phi({"q": {"a": -3, "b": -1}, "r": {"a": 1}}, control="code").notes
    assert note.text == "2 of 2 queries have no score that stands out: φ is 0 there"


@pytest.mark.parametrize(("points", "ends"), [([(0, 0), (50, 1)], (0, 100)), ([(20, 0), (150, 1)], (10, 150))])
def test_a_curve_is_drawn_in_200_points_over_all_scores_and_control_points(points, ends):
    chart = gradely.phi(QRELS, "q", points).chart().to_dict()
    line, dots, ticks = (layer["data"]["values"] for layer in chart["concat"][0]["layer"])
    assert (line[0]["score"], line[-1]["score"], len(line)) == (*ends, 200)
    (curve,) = gradely.phi(QRELS, "q", points).curves
    assert [point["phi"] for point in line] == curve([point["score"] for point in line]).tolist()
    assert [tuple(dot.values()) for dot in dots] == points and len(ticks) == len(QRELS["q"])


def test_the_curves_of_twelve_queries_are_drawn():
    chart = gradely.phi({f"q{i:02}": QRELS["q"] for i in range(13)}).chart()
    assert len(chart.concat) == 12
