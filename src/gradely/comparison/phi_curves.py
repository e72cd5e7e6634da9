"""phi: the control points and the curve of φ, and its value for each judged document."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from gradely.comparison.charts import altair, draw, style
from gradely.data import read_qrels
from gradely.data.ids import Floats
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Records
from gradely.kernel.arrays import from_arrays
from gradely.kernel.batch import Batch
from gradely.lazy import Chart
from gradely.relevance import Phi
from gradely.relevance.phi import Points, control_points
from gradely.tables import Cell, Table, count_of


@dataclass(frozen=True, eq=False, repr=False)
class PhiCurve:
    """φ of one query, which maps the score of a document to its relevance."""

    query: str
    scores: dict[str, float]
    """the scores of the judged documents"""
    function: Phi

    @cached_property
    def _batch(self) -> Batch:
        return from_arrays(np.zeros(len(self.scores)), np.asarray(list(self.scores.values()), np.float64))

    @property
    def points(self) -> Points:
        """The control points (score, φ); empty if no score stands out, and then φ is 0 everywhere."""
        return control_points(self._batch, self.function.control)[0]

    @property
    def is_step(self) -> bool:
        """Whether φ is a step: if the median is the maximum, two control points have the same score."""
        return any(before[0] == after[0] for before, after in pairwise(self.points))

    @property
    def fits(self) -> bool:
        """Whether the scores can be drawn: their range is finite."""
        low, high = (f([*self.scores.values(), *(x for x, _ in self.points)]) for f in (min, max))
        return isfinite(high - low)

    def __repr__(self) -> str:
        """Return the query and the control points."""
        points = ", ".join(f"({x:g}, {y:g})" for x, y in self.points) or "none"
        return f"PhiCurve({self.query!r}: {count_of(len(self.scores), 'document')}, control points {points})"

    def __call__(self, scores: Any) -> Floats:
        """Return φ of scores."""
        at = np.atleast_1d(np.asarray(scores, np.float64))
        batch = self._batch.relabel(at[None, :], self._batch.pool, self._batch.pooled)
        return np.asarray(self.function(batch).grade[0])

    def documents(self) -> dict[str, float]:
        """Return φ of the judged documents, best first."""
        values = dict(zip(self.scores, self(list(self.scores.values())).tolist(), strict=True))
        return dict(sorted(values.items(), key=lambda item: (-item[1], -self.scores[item[0]], item[0])))


@dataclass(frozen=True, eq=False, repr=False)
class PhiCurves(Records):
    """The curves of φ for the queries of a collection."""

    curves: list[PhiCurve]
    function: Phi
    name: str
    about_labels: Sequence[str] = ()
    """what was assumed about the qrels"""

    @property
    def notes(self) -> list[Note]:
        """Notes on the qrels, on queries in which no score stands out, and on those in which φ is a step."""
        flat = [curve.query for curve in self.curves if not curve.points]
        of, verb = count_of(len(self.curves), "query"), "has" if len(flat) == 1 else "have"
        text = f"{len(flat):,} of {of} {verb} no score that stands out: φ is 0 there"
        notes = [Note("labels", len(self.curves), len(self.curves), about) for about in self.about_labels]
        notes += [Note("flat", len(flat), len(self.curves), text)] if flat else []
        steps = sum(curve.is_step for curve in self.curves)
        text = f"in {steps:,} of {of} the median is the maximum: φ is a step there, 1 at the maximum and 0 below"
        return [*notes, Note("step", steps, len(self.curves), text)] if steps else notes

    def summary(self) -> str:
        """Return the number of queries and the control points."""
        control = self.function.control
        names = {"paper": "by the paper's text", "code": "by the authors' code"}
        source = names[control] if isinstance(control, str) else "as given"
        return f"{self.name}: φ of {count_of(len(self.curves), 'query')}, control points {source}"

    def tables(self) -> list[Table]:
        """Return the control points, and for a single query the documents."""
        rows: list[list[Cell]] = [[curve.query, x, y] for curve in self.curves for x, y in curve.points]
        tables = [Table(["query", "score", "φ"], rows)]
        if len(self.curves) == 1:
            (curve,) = self.curves
            documents: list[list[Cell]] = [[doc, curve.scores[doc], value] for doc, value in curve.documents().items()]
            tables.append(Table(["document", "score", "φ"], documents))
        return tables

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per query and control point; a query without control points has one record with None."""
        return [
            {"query": curve.query, "score": x, "phi": y}
            for curve in self.curves
            for x, y in curve.points or [(None, None)]
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        queries = [
            {
                "query": curve.query,
                "points": [{"score": x, "phi": y} for x, y in curve.points],
                "documents": curve.documents(),
            }
            for curve in self.curves
        ]
        return {"about": self.summary(), "queries": queries, "notes": self._list_notes()}

    def chart(self) -> Chart:
        """Return an Altair chart of up to twelve curves with their control points, and below the documents' scores."""
        alt = altair()
        curves = [curve for curve in self.curves if curve.points and curve.fits][:12]
        if not curves:
            problem = "no score stands out in any query, or scores are too large"
            raise DataError(f"{self.name}: no curve to draw, since {problem}")
        x = alt.X("score:Q", title="score", scale=alt.Scale(nice=False, padding=12))
        y = alt.Y("phi:Q", title="φ", scale=alt.Scale(domain=[-0.06, 1.06], nice=False))
        panels = []
        for curve in curves:
            points = [{"score": score, "phi": value} for score, value in curve.points]
            below = [{"score": score, "phi": -0.03} for score in curve.scores.values()]
            layers = (
                draw(_line(curve)).mark_line(strokeWidth=2, color="#0072b2").encode(x=x, y=y)
                + draw(points).mark_point(filled=True, size=70, opacity=1, color="#d55e00").encode(x=x, y=y)
                + draw(below).mark_tick(thickness=1, color="#333333", size=8).encode(x=x, y=y)
            )
            title = f"{curve.query}, {count_of(len(curve.scores), 'document')}"
            panels.append(layers.properties(title=title, width=300, height=200))
        return style(alt.concat(*panels, columns=min(3, len(panels))))


def _line(curve: PhiCurve) -> list[dict[str, float]]:
    low, high = min(curve.scores.values()), max(curve.scores.values())
    if curve.is_step:
        return [{"score": score, "phi": value} for score, value in ((low, 0.0), *curve.points)]
    at = np.linspace(min(low, curve.points[0][0]), max(high, curve.points[-1][0]), 200)
    return [{"score": float(x), "phi": float(y)} for x, y in zip(at, curve(at), strict=True)]


def phi(qrels: Any, query: str | None = None, control: Any = "paper") -> PhiCurves:
    """Return φ of one query or of all: the control points, the curve, and φ of each judged document.

    `control` is 'paper' (as in the paper of Moniz, Torgo and Vinagre), 'code' (as in their code), or a list of (score,
    relevance).

    >>> (curve,) = phi({"q": {"a": 100, "b": 20, "c": 90, "d": 15, "e": 10}}, "q").curves
    >>> curve.points
    ((10.0, 0.0), (20.0, 0.0), (100.0, 1.0))
    >>> {document: round(value, 4) for document, value in curve.documents().items()}
    {'a': 1.0, 'c': 0.7763, 'b': 0.0, 'd': 0.0, 'e': 0.0}
    """
    function, judgments = Phi(control), read_qrels(qrels)
    judgments.check_certain("phi")
    names = list(judgments.queries) if query is None else [str(query)]
    if query is not None:
        judgments.check_query(str(query))
    curves = [PhiCurve(name, judgments.labels(name), function) for name in names]
    return PhiCurves(curves, function, judgments.name, judgments.notes)
