"""Gradely's measures for ir_measures and PyTerrier: `from gradely.adapters.ir_measures import nDCG, muAP`.

They take cut-offs and parameters as measures of ir_measures do, as in `nDCG(gain="exp")@10`, and one more parameter,
`ties`, which is expected by default. Importing this module adds gradely to the default pipeline of ir_measures.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from gradely.data import read_qrels
from gradely.evaluation.evaluate import evaluate
from gradely.lazy import needing
from gradely.measures import ALL, Measure
from gradely.measures.names import MeasureLike, parse, translate
from gradely.settings import TiePolicy, check_ties

with needing("ir-measures", extra="ir_measures"):
    import ir_measures
    from ir_measures import providers
    from ir_measures.util import QrelsConverter, RunConverter


def measure(name: MeasureLike, *, ties: TiePolicy = "expected") -> "GradelyMeasure":
    """Return a measure of gradely, given by name or as an object, as a measure of ir_measures."""
    return GradelyMeasure(parse(name), ties)


def __getattr__(name: str) -> Any:
    """Return the measure with this name."""
    if name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return measure(name)


def __dir__() -> list[str]:
    """List the measures and `measure`, which takes any name."""
    return ["measure", *(kind.__name__ for kind in ALL)]


class GradelyMeasure(ir_measures.Measure):  # type: ignore[misc] # ir_measures has no types
    """A measure of gradely with a tie policy."""

    def __init__(self, ours: Measure, ties: TiePolicy) -> None:
        """Take a measure of gradely and a tie policy."""
        super().__init__()
        check_ties(ties)
        self.ours, self.ties = ours, ties
        # with a NAME of ir_measures, its other providers would claim the measure
        self.NAME, self.__name__ = f"gradely.{ours.name}", ours.name

    def __call__(self, *, ties: TiePolicy | None = None, **parameters: Any) -> "GradelyMeasure":
        """Return the measure with parameters."""
        return GradelyMeasure(self.ours.replace(**translate(self.ours, str(self), parameters)), ties or self.ties)

    def __matmul__(self, at: Any) -> "GradelyMeasure":
        """Return the measure with another cut-off, or IPrec at another level of recall."""
        return GradelyMeasure(self.ours.replace(k=None) @ at, self.ties)

    def validate_params(self) -> None:
        """Do nothing, since parameters were checked when the measure was created."""

    def __repr__(self) -> str:
        """Return the name with the tie policy as a parameter; ir_measures compares measures by this text."""
        base, _, k = str(self.ours).partition("@")
        name, bracket, rest = base.partition("(")
        stated = f"{rest[:-1]}, " if bracket else ""
        return f"{name}({stated}ties={self.ties!r})" + (f"@{k}" if k else "")


class GradelyEvaluator(providers.Evaluator):  # type: ignore[misc] # ir_measures has no types
    """Evaluates any number of runs with the same judgments and measures."""

    def __init__(self, measures: Iterable[GradelyMeasure], labels: dict[str, dict[str, Any]]) -> None:
        """Read the judgments."""
        super().__init__(list(measures), list(labels))
        judged = {query: docs for query, docs in labels.items() if docs}
        self.qrels = read_qrels(judged) if judged else None

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the values of the judged queries of a run."""
        run = RunConverter(run).as_dict_of_dict()
        judged = {query: docs for query, docs in run.items() if self.qrels and query in self.qrels.index}
        by_ties: dict[TiePolicy, dict[str, GradelyMeasure]] = defaultdict(dict)
        for measure in self.measures if judged else ():
            by_ties[measure.ties][str(measure.ours)] = measure
        for ties, measures in by_ties.items():
            scores = evaluate(self.qrels, judged, list(measures), ties=ties, queries="both")
            for query, values in scores.per_query().items():
                yield from (ir_measures.Metric(query, measures[name], value) for name, value in values.items())


class GradelyProvider(providers.Provider):  # type: ignore[misc] # ir_measures has no types
    """The provider of gradely's measures in ir_measures."""

    NAME = "gradely"

    def supports(self, measure: Any) -> bool:
        """Return whether this is a measure of gradely."""
        return isinstance(measure, GradelyMeasure)

    def _evaluator(self, measures: Iterable[GradelyMeasure], qrels: Any) -> GradelyEvaluator:
        measures, judged = list(measures), QrelsConverter(qrels)
        by_subtopic = any(measure.ours.needs_subtopics for measure in measures)
        return GradelyEvaluator(measures, labels_by_subtopic(judged) if by_subtopic else judged.as_dict_of_dict())


def labels_by_subtopic(qrels: Any) -> dict[str, dict[str, Any]]:
    """Return {query: {document: {subtopic: label}}}, or plain labels if all judgments have the same subtopic."""
    labels: dict[str, dict[str, Any]] = {}  # ir_measures calls the second field of qrels, the subtopic, iteration
    for entry in qrels.as_namedtuple_iter():
        labels.setdefault(entry.query_id, {}).setdefault(entry.doc_id, {})[str(entry.iteration)] = entry.relevance
    subtopics = {name for documents in labels.values() for document in documents.values() for name in document}
    if len(subtopics) > 1:
        return labels
    return {query: {doc: max(by.values()) for doc, by in documents.items()} for query, documents in labels.items()}


ir_measures.DefaultPipeline.providers.append(GradelyProvider())
for kind in ALL:  # ir_measures can then parse names that it does not know
    ir_measures.measures.registry.setdefault(kind.name, GradelyMeasure(kind(), "expected"))
