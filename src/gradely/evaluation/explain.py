"""explain: one query, rank by rank, with everything needed to recompute a value by hand."""

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Blocks, Qrels, locate
from gradely.data.column_roles import Names
from gradely.data.qrels import values_of
from gradely.data.read.readers import trec_table
from gradely.data.selection import read_selected
from gradely.data.table import Run
from gradely.data.texts import IN_A_ROW, Texts, describe_missing, select_texts, shorten
from gradely.data.tie_breaking import break_ties
from gradely.data.uncertain import UncertainQrels
from gradely.errors import InputError, NotFinite, clip
from gradely.evaluation.evaluate import open_as
from gradely.evaluation.likely_mistakes import find_mistakes
from gradely.evaluation.notes import Note, note_inputs
from gradely.evaluation.result import Result, Section, to_html
from gradely.evaluation.sampled import has_mean, measure_drawn
from gradely.evaluation.tie_orders import TieOrders, list_orders
from gradely.evaluation.values import name_query, refuse_extremes
from gradely.kernel.batch import Array, Batch
from gradely.kernel.ties import order_ties
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures import Measure
from gradely.measures.dcg import GainBased
from gradely.measures.names import MeasureLike, fit_all, label, parse
from gradely.settings import SAMPLES, DuplicatePolicy, Precision, Settings, TiePolicy
from gradely.tables import (
    Cell,
    Table,
    box,
    bullets,
    count_of,
    fold,
    grid,
    heading,
    plain_line,
    show_number,
)

NAMED = 5
"""largest number of documents named among those that were not retrieved"""
LONG = 1000
"""number of documents in a printed table if no depth is given"""
DEPTH = 20
"""number of documents that a notebook shows"""
FEW_ORDERS, MOST_ORDERS = 6, 120
"""largest number of entries in the table of orders, by default and if requested: the orders of 3 and 5 documents"""
ABSENT = ("query_text", "texts", "uncertain", "samples", "sampling_error", "orders")
"""fields that are left out of JSON if they are None"""


class Line(NamedTuple):
    """A retrieved document: its rank, score and label, and its term in the sum."""

    first: int
    """its rank, or the first rank of its tie group"""
    last: int
    """its rank, or the last rank of its tie group"""
    document: str
    score: float
    label: float | None
    """its label; None if it is unjudged"""
    relevance: float | None
    """its relevance by the measure's relevance function"""
    adds: float
    """its term in the sum; very large terms are in units of a power of two, like the norm"""
    gain: float | None = None
    """its gain, in the same units; None if it is unjudged or the measure has no discount"""
    weight: float | None = None
    """1/discount at its rank, or the mean over the ranks of its tie group; 0 below the cut-off: adds = gain · weight"""
    subtopics: Mapping[str, float] | None = None
    """{subtopic: label}, if the measure uses subtopics and the document is judged"""
    chances: Mapping[float, float] | None = None
    """{label: probability}, if labels are probabilities; then `label`, `relevance` and `gain` are means over the
    labels, and `adds` is the mean contribution to the value"""

    @property
    def label_text(self) -> str | None:
        """The label as text, or the possible labels with their probabilities."""
        if self.chances is not None:
            return ", ".join(f"{label:g}: {chance:.4g}" for label, chance in self.chances.items())
        return None if self.label is None else f"{self.label:g}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields; `chances` only if labels are probabilities."""
        return {name: value for name, value in self._asdict().items() if name != "chances" or value is not None}

    @property
    def rank(self) -> str:
        """The rank as text, or the ranks of the tie group."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """A value of a measure on a query: a start plus the terms of documents, divided by a norm."""

    measure: str
    query: str
    ties: str
    lines: list[Line]
    missed: list[tuple[str, float]]
    """judged documents that were not retrieved, with their labels, best first"""
    start: float
    """the initial value of the sum: 0, unless the measure also counts other documents"""
    total: float
    norm: float
    value: float
    run: str
    answered: bool
    """false if the run has no results for the query, which then counts as 0"""
    ideal: tuple[Line, ...]
    """the ideal ranking: the judged documents of the query, best first"""
    ideal_total: float
    ideal_value: float
    unit: int
    """the exponent of two of the unit of gains, terms, sum and norm; 0 unless these would overflow"""
    uncertain: int | None = None
    """number of documents of the query without a certain label, if labels are probabilities"""
    samples: int | None = None
    """number of orders drawn, if ties were sampled; terms are then means over them, each over its norm"""
    sampling_error: float | None = None
    """the standard error of the value, if ties were sampled"""
    depth: int | None = None
    """number of documents to print; None for a thousand in a table, and all in other formats"""
    query_text: str | None = None
    """the text of the query, if requested"""
    texts: Mapping[str, str] | None = None
    """the texts of documents, if they have one; None if texts were not requested"""
    orders: TieOrders | None = None
    """the orders of tied documents with the value in each, if they are few; it has no entries if no order matters"""
    most_orders: int | None = None
    """largest number of entries in the table of orders, if the caller set it"""
    notes: Sequence[Note] = ()
    """what was assumed about qrels and run, and likely mistakes in them"""

    def table(self, digits: int = 4, depth: int | None = None) -> Table:
        """Return one row per retrieved document, down to `depth`."""
        depth = depth or self.depth
        header, rows = self._columns(self.lines[:depth], self.lines)
        scores = [f"{line.score:g}" for line in self.lines[:depth]]
        rows = [[*row[:2], score, *row[2:]] for row, score in zip(rows, scores, strict=True)]
        return Table([*header[:2], "score", *header[2:]], rows, digits)

    def ideal_table(self, digits: int = 4, depth: int | None = None) -> Table:
        """Return one row per document with a term in the ideal ranking, down to `depth`."""
        depth = depth or self.depth
        earning = [line for line in self.ideal if line.adds]
        hidden = earning[depth:] if depth else []
        more = _count_hidden(hidden, digits) if hidden else ""
        return Table(*self._columns(earning[:depth], earning), digits, more=more)

    def _columns(self, lines: list[Line], every: list[Line]) -> tuple[list[str], list[list[Cell]]]:
        """Return a header and rows without scores; relevance and gain have columns only if they are informative."""
        by_subtopic = any(line.subtopics is not None for line in every)
        graded = not by_subtopic and any(line.relevance is not None and line.relevance != line.label for line in every)
        discounted = any(line.weight is not None for line in every)
        precisions = self._precisions(every)
        header = ["rank", "document", "subtopics" if by_subtopic else "label", *(["relevance"] if graded else [])]
        rows: list[list[Cell]] = [
            [
                line.rank,
                line.document,
                name_subtopics(line.subtopics) if by_subtopic else line.label_text,
                *([line.relevance] if graded else []),
                *([line.gain, line.weight] if discounted else []),
                *([line.gain] if self.uncertain is not None else []),
                *precisions[i : i + 1],
                line.adds,
                *([] if self.texts is None else [shorten(self.texts.get(line.document, ""), IN_A_ROW)]),
            ]
            for i, line in enumerate(lines)
        ]
        last = [*(["precision"] if precisions else []), "adds", *([] if self.texts is None else ["text"])]
        gains = ["gain", "1/discount"] if discounted else [] if self.uncertain is None else ["expected gain"]
        return [*header, *gains, *last], rows

    def _precisions(self, lines: list[Line]) -> list[float]:
        """Return the precision at the rank of each document, or at the last rank of its tie group.

        The list is empty unless the measure is AP, which averages precision over relevant documents.
        """
        from gradely.measures.ap import AP

        measure = parse(self.measure)
        if not isinstance(measure, AP) or self.uncertain is not None:
            return []
        relevant, precisions = 0, []
        for last, group in groupby(lines, lambda line: line.last):
            relevance = [line.relevance for line in group]
            relevant += sum(value is not None and value >= measure.rel for value in relevance)
            precisions += [relevant / last] * len(relevance)
        return precisions

    def text(self, digits: int = 4, depth: int | None = LONG) -> str:
        """Return the tables, and the sum, the norm and the value below, as the command line prints them.

        Tables contain documents down to `depth`, or all if it is None.
        """
        depth = depth or max(len(self.lines), len(self.ideal))
        return replace(self, depth=depth).render("table", digits)

    def sections(self, digits: int) -> list[Section]:
        """Return the ranking, the sum and norm of its value, the orders of ties, and the ideal ranking."""
        depth = self.depth or LONG
        sections: list[Section] = [] if self.query_text is None else [f"{self.query}: {self.query_text}"]
        sections += [self.table(digits, depth)] if self.lines else []
        sections.append(self.sentences(digits, depth))
        if self.orders is not None and self.orders.entries:
            sections += [self.describe_orders(digits), self.orders_table(digits)]
        ideal = self.ideal_table(digits, depth)
        if ideal.rows:
            sections += [self.describe_ideal(digits), ideal]
        return [*sections, f"`gradely measures {parse(self.measure).name}` has the formula"]

    def as_dict(self) -> dict[str, Any]:
        """Return the whole explanation as plain data, with all documents."""
        lines = {key: [line.as_dict() for line in getattr(self, key)] for key in ("lines", "ideal")}
        if self.orders is not None:
            lines["orders"] = self.orders.as_list()
        lines["notes"] = self._list_notes()
        absent = {"depth", "most_orders", *(name for name in ABSENT if getattr(self, name) is None)}
        return {key: value for key, value in vars(self).items() if key not in absent} | lines

    def sentences(self, digits: int = 4, depth: int | None = None) -> list[str]:
        """Return the lines below the table: documents that are not shown, the sum, the norm and the value."""
        depth = depth or self.depth
        lines, hidden = [], self.lines[depth:] if depth else []
        if not self.answered:
            lines.append(f"{plain_line(self.run)} has no results for query {plain_line(self.query)}, which counts as 0")
        if hidden:
            lines.append(_count_hidden(hidden, digits))
        if self.missed:
            names = ", ".join(f"{plain_line(doc)} ({label:g})" for doc, label in self.missed[:NAMED])
            more = ", …" if len(self.missed) > NAMED else ""
            missed = f"judged but not retrieved: {count_of(len(self.missed), 'document')}"
            kind = "label" if self.uncertain is None else "expected label"
            owned = f"its {kind}" if len(self.missed) == 1 else f"their {kind}s"
            lines.append(f"{missed}, with {owned}: {names}{more}")
        if self.uncertain is not None:
            documents = count_of(self.uncertain, "document")
            lines.append(f"the labels of {documents} are probabilities, assumed to be independent: the value is a mean")
        if self.start:
            lines.append(f"the sum begins with {show_number(self.start, digits)}, before any judged document")
        if self.unit:
            lines.append(f"gains, sums and norm are in units of 2^{self.unit}, since they are too large for numbers")
        total, norm, value = (show_number(number, digits) for number in (self.total, self.norm, self.value))
        if self.samples is not None:
            drawn = f"the mean of {self.samples:,} sampled orders, with a standard error of {self.sampling_error:.2g}"
            lines.append(f"the value, and what each document adds to it, is {drawn}")
        return [*lines, f"ties: {self.ties}", f"sum {total} / norm {norm} = {self.measure} {value}"]

    def orders_table(self, digits: int = 4) -> Table:
        """Return one row per order of the tied documents, or per set of equivalent orders, with the value."""
        orders = self.orders or TieOrders((), ())
        counted = orders.total is not None
        header = [
            *(f"ranks {places}" for places in orders.ranks),
            "orders" if counted else "share of orders",
            self.measure,
        ]
        rows = [[*entry.places, entry.orders if counted else entry.share, entry.value] for entry in orders.entries]
        return Table(header, rows, digits)

    def describe_orders(self, digits: int = 4) -> str:
        """Return the line above the table of orders: their number and the mean."""
        orders = self.orders or TieOrders((), ())
        total = f" in each of the {orders.total:,} orders" if orders.total is not None else " by the order"
        rest = (
            "; …: any order of the rest"
            if any("…" in place for entry in orders.entries for place in entry.places)
            else ""
        )
        return f"{self.measure}{total} of the tied documents; the mean is {show_number(self.value, digits)}{rest}:"

    def remarks(self) -> list[str]:
        """Return lines on documents without text, and on why requested orders are not shown."""
        remarks = [] if self.texts is None else describe_missing(self.texts, self._documents(), "document")
        if self.most_orders is None or (self.orders is not None and self.orders.entries):
            return remarks
        if self.orders is None:
            return [
                *remarks,
                f"tied documents have more than {count_of(self.most_orders, 'order')} that matter to {self.measure}",
            ]
        return [*remarks, f"no order of tied documents changes {self.measure}"]

    def _documents(self) -> list[str]:
        """Return the documents that are shown: the retrieved and the judged ones."""
        return list(dict.fromkeys(line.document for line in (*self.lines, *self.ideal)))

    def with_texts(self, queries_text: Texts | None, docs_text: Texts | None) -> "Explanation":
        """Return the explanation with the texts of its query and documents."""
        query = select_texts(queries_text, [self.query]).get(self.query)
        texts = None if docs_text is None else select_texts(docs_text, self._documents())
        return replace(self, query_text=query, texts=texts)

    def describe_ideal(self, digits: int = 4) -> str:
        """Return the line above the ideal ranking: its sum and value."""
        total, value = (show_number(number, digits) for number in (self.ideal_total, self.ideal_value))
        worth = f"has sum {total} and {self.measure} {value}"
        if self.uncertain is not None:
            return f"the ranking of all judged documents of the query by expected gain {worth}:"
        return f"the ideal ranking, all judged documents of the query, best first, {worth}:"

    def _repr_html_(self) -> str:
        """Return the tables as HTML for notebooks; the ideal ranking is folded."""
        shown = replace(self, depth=self.depth or DEPTH)
        title = f"{self.measure} of query {self.query} in {self.run}: {self.value:.4f}"
        table = grid(shown.table()) if self.lines else ""
        ideal = shown.ideal_table()
        folded = fold(self.describe_ideal(), grid(ideal)) if ideal.rows else ""
        orders = ""
        if self.orders is not None and self.orders.entries:
            orders = to_html(self.describe_orders()) + grid(self.orders_table())
        return box(
            heading(title),
            table,
            bullets(shown.sentences()),
            orders,
            folded,
            bullets([*self.remarks(), *self.notes]),
        )


def name_subtopics(subtopics: Mapping[str, float] | None) -> str | None:
    """Return the subtopics for which a document has a positive label, with labels other than 1 in brackets.

    >>> name_subtopics({"price": 1, "size": 2, "colour": 0}), name_subtopics({"colour": 0}), name_subtopics(None)
    ('price, size (2)', 'none', None)
    """
    if subtopics is None:
        return None
    return (
        ", ".join(name if label == 1 else f"{name} ({label:g})" for name, label in subtopics.items() if label > 0)
        or "none"
    )


def _count_hidden(lines: list[Line], digits: int) -> str:
    """Return a line with the number of documents that are not shown, and the sum of their terms."""
    adds = show_number(sum(line.adds for line in lines), digits)
    return f"… and {count_of(len(lines), 'more document')}, which {'adds' if len(lines) == 1 else 'add'} {adds}"


def explain(
    qrels: Any,
    run: Any,
    query: str,
    measure: MeasureLike,
    *,
    ties: TiePolicy = "expected",
    precision: Precision = "double",
    seed: int = 0,
    samples: int = SAMPLES,
    depth: int | None = None,
    orders: int | None = None,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    queries_text: Texts | None = None,
    docs_text: Texts | None = None,
) -> Explanation:
    """Explain the value of a measure on one query.

    `depth` is the number of documents to print, a thousand by default. If `ties` is "expected" and tied documents have
    at most `orders` orders that matter, by default 6, each order is shown with its value. `queries_text` and
    `docs_text`, {id: text} or a file of ids and texts, are shown beside the ids. Other parameters are as in evaluate.

    >>> explained = explain({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, "q", "AP")
    >>> [(line.rank, line.document, line.adds) for line in explained.lines]
    [('1', 'x', 0.0), ('2', 'a', 0.5), ('3', 'b', 0.6666666666666666)]
    >>> (explained.total, explained.norm, explained.value) == (1 / 2 + 2 / 3, 2.0, (1 / 2 + 2 / 3) / 2)
    True
    """
    settings = Settings(
        ties,
        precision=precision,
        seed=seed,
        samples=samples,
        exclude_self=exclude_self,
        duplicates=duplicates,
        document_pattern=document_pattern,
    )
    if orders is not None:
        _check_orders(orders, settings)
    needed = parse(measure).needs_subtopics
    judgments = read_selected(qrels, settings, columns, exclude=exclude, subtopics=needed)
    ranking, query = open_as(run, columns, settings), str(query)
    judgments.check_query(query)
    if orders and isinstance(judgments, UncertainQrels):
        raise InputError("labels are probabilities: orders of tied documents are shown for plain labels only")
    most = FEW_ORDERS if orders is None else orders
    same = run is qrels and not isinstance(run, str | os.PathLike)
    explanation = _explain(judgments, ranking, query, measure, settings, most, same=same)
    explanation = replace(explanation, depth=depth, most_orders=orders)
    return explanation.with_texts(queries_text, docs_text)


def _check_orders(orders: int, settings: Settings) -> None:
    """Raise InputError for an invalid number of orders, or a tie policy other than expected."""
    if isinstance(orders, bool) or not isinstance(orders, int) or not 0 <= orders <= MOST_ORDERS:
        raise InputError(f"orders must be a whole number from 0 to {MOST_ORDERS}; found {clip(str(orders))}")
    if orders and settings.ties != "expected":
        raise InputError(
            f"orders of tied documents can be shown only with the tie policy expected, not {settings.ties}"
        )


def _explain(
    qrels: Qrels, ranking: Run, query: str, measure: MeasureLike, settings: Settings, most_orders: int, *, same: bool
) -> Explanation:
    """Return the explanation of a query that has judgments; `same` is true if qrels and run are the same object."""
    fitted = fit_all({label(measure): parse(measure)}, qrels.levels)[label(measure)]
    scores = _ranking(qrels, ranking, query, settings)
    part = _measure(qrels, scores, query, fitted, settings) if scores else _measure_nothing(qrels, query, fitted)
    ideal = _ideal(qrels, query, fitted, settings)
    missed = sorted(((-value, doc) for doc, value in _labels(qrels, query).items() if doc not in scores))
    chances = qrels.judgments(query).values() if isinstance(qrels, UncertainQrels) else None
    return Explanation(
        label(measure),
        query,
        settings.ties,
        part.lines,
        [(doc, -value) for value, doc in missed],
        part.start,
        part.total,
        part.norm,
        part.value,
        run=ranking.name,
        answered=bool(scores),
        ideal=tuple(ideal.lines),
        ideal_total=ideal.total,
        ideal_value=ideal.value,
        unit=part.unit,
        samples=None if part.error is None else settings.samples,
        sampling_error=part.error,
        uncertain=None if chances is None else sum(len(entry) > 1 for entry in chances),
        orders=_list_orders(qrels, scores, query, fitted, settings, most_orders),
        notes=_note(qrels, ranking, Run({query: dict(scores)}, ""), fitted, label(measure), same=same),
    )


def _note(qrels: Qrels, ranking: Run, part: Run, measure: Measure, name: str, *, same: bool) -> list[Note]:
    """Return the notes of evaluate that hold whatever the query; `part` is the ranking of the one that is explained."""
    mistakes = find_mistakes(qrels, ranking, locate(qrels, part, Settings()), same=same)
    return note_inputs(qrels, {name: measure}, [*ranking.notes, *mistakes])


def _list_orders(
    qrels: Qrels, scores: Mapping[str, float], query: str, measure: Measure, settings: Settings, most: int
) -> TieOrders | None:
    """Return the orders of tied documents; None if there are too many, or another tie policy than expected."""
    if not most or settings.ties != "expected" or isinstance(qrels, UncertainQrels):
        return None
    docs, view = _columns(qrels, scores, query, measure, settings)
    return list_orders(measure, view, docs, most)


def _labels(qrels: Qrels, query: str) -> dict[str, float]:
    """Return {document: label} of a query; if labels are probabilities, their means."""
    if not isinstance(qrels, UncertainQrels):
        return qrels.labels(query)
    entries = qrels.judgments(query).items()
    return {doc: fsum(label * chance for label, chance in chances.items()) for doc, chances in entries}


class _Part(NamedTuple):
    """The lines of a ranking, and the parts of its value."""

    lines: list[Line]
    start: float
    total: float
    norm: float
    unit: int
    """the exponent of two of the unit of gains, total and norm"""
    error: float | None = None
    """the standard error of the value, if orders of ties were drawn"""

    @property
    def value(self) -> float:
        """The sum divided by the norm."""
        return self.total / self.norm if self.norm > 0 else 0.0


def _measure(qrels: Qrels, scores: Mapping[str, float], query: str, measure: Measure, settings: Settings) -> _Part:
    """Return the terms of the documents in a ranking of one query."""
    if isinstance(qrels, UncertainQrels):
        return _expect(qrels, scores, query, measure, settings)
    labels = qrels.labels(query)
    by_subtopic = qrels.subtopic_labels(query) if measure.needs_subtopics else {}
    if settings.ties == "sampled":
        docs, batch = _batch_of(qrels, scores, query, settings)
        view = measure.apply_relevance(batch)
        if not has_mean(measure, view):
            return _draw(docs, view, measure, query, scores, labels, settings)
    docs, view = _columns(qrels, scores, query, measure, settings)
    try:
        measure.compute_from_relevance(view)
    except NotFinite as error:
        raise name_query(error, qrels, qrels.index[query]) from None
    above, relevance, adds = _by_document(docs, view.above[0], view.grade[0], measure.terms(view)[0])
    factors = measure.factors(view)
    gain, weight = ({}, {}) if factors is None else _by_document(docs, *(table[0] for table in factors))
    known = {"label": labels, "relevance": relevance, "gain": gain, "weight": weight, "subtopics": by_subtopic}
    lines = _lines(scores, query, settings, above, adds, known)
    first = measure.start(view)
    start = 0.0 if first is None else float(np.sum(first))
    return _Part(lines, start, fsum([start, *adds.values()]), float(measure.norm(view)[0]), _unit(measure, view))


def _draw(
    docs: list[str],
    view: Batch,
    measure: Measure,
    query: str,
    scores: Mapping[str, float],
    labels: Mapping[str, float],
    settings: Settings,
) -> _Part:
    """Return the terms of documents as means over sampled orders of ties."""
    drawn = measure_drawn(measure, view, settings, query)
    above, relevance, adds = _by_document(docs, view.above[0], view.grade[0], drawn.adds)
    lines = _lines(scores, query, settings, above, adds, {"label": labels, "relevance": relevance})
    return _Part(lines, drawn.start, fsum([drawn.start, *adds.values()]), 1.0, 0, drawn.error)


def _expect(
    qrels: UncertainQrels, scores: Mapping[str, float], query: str, measure: Measure, settings: Settings
) -> _Part:
    """Return the terms of documents as means over probabilistic labels."""
    refuse_extremes(settings.ties)
    docs, batch = _uncertain_batch(qrels, scores, query, settings)
    expected = measure.expect(batch)
    try:
        expected.checked(measure, batch)
    except NotFinite as error:
        raise name_query(error, qrels, qrels.index[query]) from None
    relevance = batch.mean(measure.apply_relevance(batch.by_label).grade[0, :])
    tables = (batch.places.above, batch.mean(batch.labels), relevance, expected.terms, expected.gain)
    above, label_of, relevance_of, adds, gain = _by_document(docs, *(table[0] for table in tables))
    known = {"label": label_of, "relevance": relevance_of, "gain": gain, "chances": qrels.judgments(query)}
    lines = _lines(scores, query, settings, above, adds, known)
    start = 0.0 if expected.start is None else float(expected.start[0])
    norm = 1.0 if expected.norm is None else float(expected.norm[0])
    return _Part(lines, start, fsum([start, *adds.values()]), norm, 0)


def _lines(
    scores: Mapping[str, float],
    query: str,
    settings: Settings,
    above: dict[str, int],
    adds: Mapping[str, float],
    known: Mapping[str, Mapping[str, Any]],
) -> list[Line]:
    """Return the lines of a ranking; `known` holds fields of judged documents, {field: {document: value}}."""
    return [
        Line(
            first,
            last,
            doc,
            float(scores[doc]),
            adds=adds.get(doc, 0.0),
            **{field: values.get(doc) for field, values in known.items()},
        )
        for start, tied in _groups(scores)
        for first, last, doc in _seats(tied, start, settings, query, above)
    ]


def _unit(measure: Measure, view: Batch) -> int:
    """Return the exponent of two of the unit in which a measure computes the gains of a query."""
    exponent = measure.exponent(view) if isinstance(measure, GainBased) else None
    return 0 if exponent is None else int(exponent[0, 0])


def _measure_nothing(qrels: Qrels, query: str, measure: Measure) -> _Part:
    """Return the parts of a query that the run does not answer: a sum of 0 over the norm of the query."""
    if isinstance(qrels, UncertainQrels):
        return _Part([], 0.0, 0.0, 1.0, 0)
    _, view = _columns(qrels, {}, query, measure, Settings("best"))
    return _Part([], 0.0, 0.0, float(measure.norm(view)[0]), _unit(measure, view))


def _ideal(qrels: Qrels, query: str, measure: Measure, settings: Settings) -> _Part:
    """Return the lines and parts of the ideal ranking; no lines if its value overflows, since the run's may be finite.

    Documents that are excluded from the run are included, since norms count them.
    """
    judged = copy.copy(qrels)
    judged.excluded = None
    try:
        return _measure(judged, _best_first(judged, query, measure, settings), query, measure, settings)
    except NotFinite:
        return _measure_nothing(judged, query, measure)


def _best_first(qrels: Qrels, query: str, measure: Measure, settings: Settings) -> dict[str, float]:
    """Return the judged documents of a query as a ranking in the ideal order of the measure."""
    labels = _labels(qrels, query)
    by_name = Settings("trec" if settings.ties == "trec" else "expected")  # the order of documents with equal terms
    tied = dict.fromkeys(labels, 0.0)
    if isinstance(qrels, UncertainQrels):
        docs, uncertain = _uncertain_batch(qrels, tied, query, by_name)
        first = measure.expect(uncertain).gain
    else:
        docs, batch = _batch_of(qrels, tied, query, by_name)
        first = measure.ideal_priority(measure.apply_relevance(batch))
    (priority,) = _by_document(docs, first[0])
    order = sorted(labels, key=lambda doc: (-priority[doc], -labels[doc], doc))
    return {doc: float(-place) for place, doc in enumerate(order)}


def _ranking(qrels: Qrels, run: Run, query: str, settings: Settings) -> Mapping[str, float]:
    """Return {document: score} of one query, empty if the run has none; from a file, only its lines are parsed."""
    table = trec_table(run)
    scores = run.scores.get(query) if table is None else table.scores_of(query)
    if not scores:
        locate(qrels, run, Settings())  # raises an error if the file cannot be read
    scores = qrels.keep_documents(query, scores or {})
    numbers = values_of([scores], lambda _, doc: f"{run.where}: query {clip(query)}, document {clip(doc)}: the score")
    return dict(zip(scores, settings.round(numbers).tolist(), strict=True))


def _by_document(docs: Sequence[str], *rows: Array) -> list[dict[str, Any]]:
    """Return the numbers of each row, which has a column per document and perhaps padding, by document."""
    return [dict(zip(docs, row.tolist(), strict=False)) for row in rows]


def _locate(qrels: Qrels, scores: Mapping[str, float], query: str, settings: Settings) -> tuple[list[str], Blocks]:
    """Return the judged documents of a ranking in the order of their columns, and their places in it."""
    blocks = Blocks(qrels, locate(qrels, Run({query: dict(scores)}, ""), settings))
    return [qrels.docs[i] for i in blocks.row.tolist()], blocks


def _batch_of(qrels: Qrels, scores: Mapping[str, float], query: str, settings: Settings) -> tuple[list[str], Batch]:
    """Return the documents of a batch's columns, and the batch of a ranking of one query."""
    docs, blocks = _locate(qrels, scores, query, settings)
    return docs, blocks.batch_of_query(qrels.index[query], settings.ties)


def _uncertain_batch(
    qrels: UncertainQrels, scores: Mapping[str, float], query: str, settings: Settings
) -> tuple[list[str], UncertainBatch]:
    """Return the same if labels are probabilities."""
    docs, blocks = _locate(qrels, scores, query, settings)
    return docs, blocks.uncertain_batch(qrels, np.array([qrels.index[query]]))


def _columns(
    qrels: Qrels, scores: Mapping[str, float], query: str, measure: Measure, settings: Settings
) -> tuple[list[str], Batch]:
    """Return the same with relevance and ordered ties."""
    docs, batch = _batch_of(qrels, scores, query, settings)
    relevance = measure.apply_relevance(batch)
    numbered = replace(relevance, grade=np.arange(relevance.grade.shape[1], dtype=np.float64)[None, :])
    order = order_ties(numbered, lambda _: measure.priority(relevance)).grade[0, : len(docs)].astype(int)
    return [docs[i] for i in order], measure.order_ties(relevance)


def _groups(scores: Mapping[str, float]) -> Iterator[tuple[int, list[str]]]:
    """Yield the tie groups of a ranking, best first, each with the number of documents above it."""
    start = 0
    for _, group in groupby(sorted(scores, key=lambda doc: -scores[doc]), key=lambda doc: scores[doc]):
        tied = list(group)
        yield start, tied
        start += len(tied)


def _seats(
    tied: list[str], start: int, settings: Settings, query: str, above: dict[str, int]
) -> Iterator[tuple[int, int, str]]:
    """Yield (first rank, last rank, document) for the documents of a tie group in the order of the policy."""
    judged = [doc for doc in tied if doc in above]
    if settings.ties in ("expected", "sampled") or len({above[doc] for doc in judged}) < len(judged):
        # if a tie group is too large to be searched, there is a bound but no order
        yield from ((start + 1, start + len(tied), doc) for doc in tied)
        return
    if settings.breaks_ties:
        seated = break_ties(settings, query, tied)
    else:
        unjudged = iter([doc for doc in tied if doc not in above])
        judged_at = {above[doc]: doc for doc in tied if doc in above}
        seated = [
            judged_at[place] if place in judged_at else next(unjudged) for place in range(start, start + len(tied))
        ]
    yield from ((start + i, start + i, doc) for i, doc in enumerate(seated, 1))
