"""Notes: sentences about events that matter to a result, each with its count."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradely.data import Qrels
from gradely.data.alike import OF_SOME_QUERIES, compare_ids, find_alike
from gradely.data.hits import EXAMPLES
from gradely.data.ids import Bools, Ints
from gradely.data.uncertain import UncertainQrels
from gradely.errors import clip
from gradely.evaluation.likely_mistakes import describe_all_relevant, describe_threshold
from gradely.measures import Measure
from gradely.tables import count_of, plain_line

if TYPE_CHECKING:
    from gradely.evaluation.values import Evaluation
    from gradely.measures import Measure

DIGITS = 4
"""number of decimals of means in notes"""
NAMED = 5
"""largest number of queries that a note names"""
FEW_RUNS = 2
"""largest number of runs for which all ranges are shown; for more runs, only the widest"""
VERBS = (
    *(("{are}", "is", "are"), ("{have}", "has", "have"), ("{do}", "does", "do"), ("{s}", "s", "")),
    ("{itself}", "itself", "themselves"),
)
"""placeholders of verbs in the text of a note, with their singular and plural"""
SAME = 1e-12
"""values of a query that differ by at most this are considered equal"""


class Note:
    """An event that matters to a result: missing queries, ties that change the mean, degenerate queries."""

    def __init__(self, kind: str, count: int, of: int, text: str) -> None:
        """Store the kind of note, the number of cases, the number of possible cases, and the sentence."""
        self.kind, self.count, self.of, self.text = kind, count, of, text

    def __str__(self) -> str:
        """Return the note as a sentence on one line; control characters in ids are replaced."""
        return plain_line(self.text)

    def __repr__(self) -> str:
        """Return the note as a sentence."""
        return f"Note({self.text!r})"

    def as_dict(self) -> dict[str, Any]:
        """Return the note as plain data."""
        return vars(self).copy()


DEPTH = 100
"""depth to which unjudged documents are counted if a measure has no cut-off; most TREC pools have this depth"""


class TieRange(NamedTuple):
    """The range of the mean of a measure over all orders of tied documents."""

    measure: str
    value: float
    low: float
    high: float
    queries: int
    """number of queries in which the order of ties matters"""
    of: int
    """number of queries that count"""
    bounded: int = 0
    """number of queries with too many orders to search, for which low and high are bounds that contain every order"""

    def __str__(self) -> str:
        """Return the range as a sentence."""
        bounds = f"; in {self.bounded:,} of them these are bounds that contain every order" if self.bounded else ""
        return (
            f"{self.measure} {self.value:.4f}, between {self.low:.4f} and {self.high:.4f}"
            f" depending on the order of ties in {self.queries:,} of {count_of(self.of, 'query')}{bounds}"
        )

    def note(self) -> Note:
        """Return the range as a note."""
        return Note("ties", self.queries, self.of, str(self))


class LabelRange(NamedTuple):
    """The range of the mean of a measure over all labels of unjudged documents."""

    measure: str
    value: float
    low: float
    high: float
    documents: int
    """number of unjudged documents that can be in the top of a run"""
    depth: int
    """the depth of this top"""

    def __str__(self) -> str:
        """Return the range as a sentence."""
        return (
            f"{self.measure} {self.value:.4f}, between {self.low:.4f} and {self.high:.4f} whatever the labels of the "
            f"{count_of(self.documents, 'unjudged document')} in the top {self.depth:,}"
        )

    def note(self) -> Note:
        """Return the range as a note."""
        return Note("holes", self.documents, self.documents, str(self))


class UnjudgedShare(NamedTuple):
    """The share of unjudged documents in the tops of rankings."""

    depth: int
    unjudged: float
    """number of unjudged documents, a mean over all orders of ties"""
    documents: int
    """number of documents"""

    @property
    def share(self) -> float:
        """The share of unjudged documents."""
        return self.unjudged / max(1, self.documents)

    @property
    def percent(self) -> str:
        """The share in percent, in words if it is small."""
        return "less than 0.1" if 0 < self.share < 0.0005 else f"{100 * self.share:.1f}"

    def __str__(self) -> str:
        """Return the share as a sentence."""
        return f"{self.percent} % of the documents in the top {self.depth:,} are unjudged and count as not relevant"

    def note(self, more: str = "") -> Note:
        """Return the share as a note that names the command for details."""
        text = f"{self}{more}; `gradely holes` shows what they could change"
        return Note("holes", round(self.unjudged), self.documents, text)


def note_names(kind: str, count: int, of: int, noun: str, text: str, names: Sequence[str]) -> list[Note]:
    """Return a list of one note about `count` things, with the names of the first; an empty list if there are none.

    In the text, {are}, {have}, {do}, {s} and {itself} are replaced by the singular or plural; other braces are kept.

    >>> note_names("missing", 1, 2, "judged query", "{are} not in the run and count{s} as 0", ["q1"])
    [Note('1 of 2 judged queries is not in the run and counts as 0: q1')]
    """
    if not count:
        return []
    listing = ", ".join(names[:NAMED]) + (", …" if count > NAMED else "")
    for word, singular, plural in VERBS:
        text = text.replace(word, singular if count == 1 else plural)
    return [Note(kind, count, of, f"{count:,} of {count_of(of, noun)} {text}: {listing}")]


def merge_notes(notes: Mapping[str, Iterable[Note]]) -> list[Note]:
    """Return the notes of several runs, {name: notes}; notes that apply to all runs once, others with names of runs.

    >>> same, other = Note("missing", 1, 2, "1 of 2 queries is missing"), Note("ties", 1, 2, "a tie matters")
    >>> merge_notes({"a": [same, other], "b": [same, Note("run", 1, 1, "b: ranks are odd")]})
    [Note('1 of 2 queries is missing'), Note('a: a tie matters'), Note('b: ranks are odd')]
    """
    owners: dict[str, list[str]] = {}
    first: dict[str, Note] = {}
    for name, of_run in notes.items():
        for note in of_run:
            first.setdefault(note.text, note)
            owners.setdefault(note.text, []).append(name)
    order = sorted(first, key=lambda text: len(owners[text]) < len(notes))
    prefixes = {text: _prefix(owners[text], len(notes)) for text in order}
    return [
        Note(first[text].kind, first[text].count, first[text].of, text if text.startswith(prefix) else prefix + text)
        for text, prefix in prefixes.items()
    ]


def merge_ranges(ranges: Mapping[str, Iterable[TieRange | LabelRange]], digits: int) -> list[Note]:
    """Return notes on ranges of means over ties or labels; for many runs, only the widest range of each measure.

    Ranges whose ends are equal when printed with this number of decimals are left out.

    >>> narrow, wide = TieRange("AP", 0.5, 0.4, 0.6, 1, 2), TieRange("AP", 0.5, 0.3, 0.6, 2, 2)
    >>> str(merge_ranges({"a": [narrow], "b": [wide], "c": [narrow]}, 4)[0]).split(" depending ")
    ['b: AP 0.5000, between 0.3000 and 0.6000', 'on the order of ties in 2 of 2 queries; the widest range of 3 runs']
    """
    visible = {
        name: [span for span in of_run if f"{span.low:.{digits}f}" != f"{span.high:.{digits}f}"]
        for name, of_run in ranges.items()
    }
    if len(ranges) <= FEW_RUNS:
        return merge_notes({name: [span.note() for span in spans] for name, spans in visible.items()})
    by_measure: dict[str, list[tuple[str, TieRange | LabelRange]]] = {}
    for name, spans in visible.items():
        for span in spans:
            by_measure.setdefault(span.measure, []).append((name, span))
    out = []
    for pairs in by_measure.values():
        name, widest = max(pairs, key=lambda pair: pair[1].high - pair[1].low)
        suffix = f"; the widest range of {len(pairs):,} runs" if len(pairs) > 1 else ""
        note = widest.note()
        out.append(Note(note.kind, note.count, note.of, f"{name}: {widest}{suffix}"))
    moved = sum(map(bool, visible.values()))
    if moved > 1:  # each kind has the name of the command for it
        out.append(Note(out[0].kind, moved, len(ranges), f"`gradely {out[0].kind}` shows the range of every run"))
    return out


def merge_shares(shares: Mapping[str, UnjudgedShare | None]) -> list[Note]:
    """Return notes on the unjudged share in the tops of runs; for many runs, only the largest share.

    >>> shares = {name: UnjudgedShare(10, count, 20) for name, count in (("a", 5), ("b", 10), ("c", 0))}
    >>> str(merge_shares(shares)[0]).split(" and ")[0]
    'b: 50.0 % of the documents in the top 10 are unjudged'
    """
    found = {name: share for name, share in shares.items() if share is not None and share.unjudged > SAME}
    if len(shares) <= FEW_RUNS or not found:
        return merge_notes({name: [found[name].note()] if name in found else [] for name in shares})
    name, most = max(found.items(), key=lambda item: item[1].share)
    note = most.note(f", the largest share of {len(shares):,} runs")
    return [Note(note.kind, note.count, note.of, f"{name}: {note}")]


def span_shares(shares: Mapping[str, UnjudgedShare | None]) -> list[Note]:
    """Return a note on the lowest and the highest unjudged share in the tops of runs; none if all are judged.

    >>> shares = {name: UnjudgedShare(10, count, 20) for name, count in (("a", 5), ("b", 10), ("c", 0))}
    >>> str(span_shares(shares)[0]).split(" and ")[0]
    '0.0 % (c) to 50.0 % (b) of the documents in the top 10 are unjudged'
    """
    known = {name: share for name, share in shares.items() if share is not None}
    unjudged, documents = (sum(share[i] for share in known.values()) for i in (1, 2))
    if unjudged <= SAME:
        return []
    low, high = (choose(known, key=lambda name: known[name].share) for choose in (min, max))
    least, most = known[low].percent, known[high].percent
    top = f"of the documents in the top {known[high].depth:,}"
    extremes = f"{least} % ({low}) to {most} % ({high}) {top}" if least != most else f"{most} % {top} of each run"
    text = f"{extremes} are unjudged and count as not relevant; `gradely holes` shows what they could change"
    return [Note("holes", round(unjudged), int(documents), text)]


def _prefix(names: list[str], runs: int) -> str:
    """Return the names of the runs that a note is about, or their number; '' if it is about all."""
    if len(names) == runs:
        return ""
    return f"{', '.join(names)}: " if len(names) <= 3 else f"{len(names):,} of {runs:,} runs: "


def notes_of(evaluation: "Evaluation") -> list[Note]:
    """Return the notes on the queries and documents of a run."""
    return [
        *_note_data(evaluation),
        *_note_self(evaluation),
        *_note_weights(evaluation),
        *_note_left_out(evaluation),
        *_note_segmentless(evaluation),
        *_note_missing(evaluation),
        *_note_unjudged(evaluation),
        *_note_dropped(evaluation),
        *_note_degenerate(evaluation),
        *_note_lacking(evaluation),
        *_note_unreachable(evaluation),
        *_note_bounds(evaluation),
        *_note_uncertain_ties(evaluation),
        *_note_sampled(evaluation),
    ]


def _note_data(evaluation: "Evaluation") -> list[Note]:
    """Return notes on assumptions, likely mistakes and excluded documents."""
    qrels = evaluation.qrels
    notes = note_inputs(qrels, evaluation.measures, evaluation.about_run, evaluation.id_mismatch)
    return [*notes, *_note_uncertain(qrels), *_note_excluded(evaluation)]


def note_inputs(
    qrels: Qrels, measures: Mapping[str, Measure], about_run: Sequence[str] = (), id_mismatch: str | None = None
) -> list[Note]:
    """Return notes on assumptions about inputs, on likely mistakes, and on what measures do with the labels."""
    plain = [name for name, measure in measures.items() if not measure.needs_subtopics]
    counted = [name for name in measures if name.partition("@")[0].lower() == "hits"]
    texts = [
        *(
            ("hits", f"{name} counts the relevant documents; {_success(name)} is the share of queries with one")
            for name in counted
        ),
        *(("labels", text) for text in qrels.notes),
        *(("run", text) for text in about_run),
        ("apart", id_mismatch),
        ("labels", _describe_thresholds(qrels, measures)),
        ("subtopics", describe_highest(qrels, plain)),
    ]
    return [Note(kind, len(qrels), len(qrels), text) for kind, text in texts if text]


def _describe_thresholds(qrels: Qrels, measures: Mapping[str, Measure]) -> str | None:
    """Return a sentence about measures for which labels from 1 are relevant, if some labels are below, or none is."""
    by_one = [name for name, measure in measures.items() if getattr(measure, "rel", None) == 1]
    certain = qrels.possible if isinstance(qrels, UncertainQrels) else qrels
    if not by_one:
        return None
    given = certain.grade, qrels.levels(), by_one
    return describe_threshold(*given) or describe_all_relevant(*given)


def _note_excluded(evaluation: "Evaluation") -> list[Note]:
    """Return a note with the number of documents that were excluded from the rankings."""
    excluded, given = evaluation.hits.excluded, evaluation.qrels.excluded
    if not excluded:
        nothing = "" if given is None or evaluation.settings.exclude_self else _describe_idle(given, evaluation.qrels)
        return [Note("excluded", 0, evaluation.hits.documents, nothing)] if nothing else []
    before = evaluation.hits.documents + excluded
    were = "was" if excluded == 1 else "were"
    why = "; exclude_self drops those with the id of their query" if evaluation.settings.exclude_self else ""
    text = f"{excluded:,} of {count_of(before, 'document')} {were} excluded from the rankings{why}"
    return [Note("excluded", excluded, before, text)]


def _describe_idle(excluded: Qrels, qrels: Qrels) -> str:
    """Return a sentence about documents to exclude of which no ranking has one, and about queries without a match."""
    nothing = f"no document of {excluded.name} is in the rankings, so nothing was excluded"
    if not excluded.queries or any(query in qrels.index for query in excluded.queries):
        return nothing
    theirs, ours, reason = compare_ids(excluded.queries, qrels.queries)
    return (
        f"{nothing}: its queries, such as {clip(theirs)}, are not among the judged ones, such as {clip(ours)}{reason}"
    )


def _note_uncertain(qrels: Qrels) -> list[Note]:
    """Return a note if labels are probabilities."""
    if not isinstance(qrels, UncertainQrels):
        return []
    documents = count_of(qrels.uncertain, "document")
    text = (
        f"the labels of {documents} are probabilities, assumed to be independent; values are means over all possible "
        "labels"
    )
    return [Note("labels", qrels.uncertain, len(qrels.docs), text)]


def _success(name: str) -> str:
    """Return the name of Success at the cut-off of this name of a Hits measure."""
    return f"Success{name[len('hits') :]}"


def _worth(evaluation: "Evaluation") -> int:
    """Return the value of a query without relevant documents."""
    return 1 if evaluation.settings.empty == "one" else 0


def _note_self(evaluation: "Evaluation") -> list[Note]:
    """Return notes if documents with the id of their query are dropped."""
    if not evaluation.settings.exclude_self:
        return []
    qrels, count = evaluation.qrels, len(evaluation.qrels)
    if not evaluation.hits.excluded:
        return [Note("excluded", 0, count, "exclude_self: no ranking contains a document with the id of its query")]
    owner = np.repeat(np.arange(count), qrels.sizes)
    judged = ((qrels.queries[owner[row]], qrels.docs[row]) for row in np.flatnonzero(qrels.grade > 0).tolist())
    relevant = [query for query, document in judged if query == document]
    text = "{are} judged relevant to {itself}, but exclude_self drops such documents from the rankings"
    return note_names("excluded", len(relevant), count, "query", text, relevant)


def _note_weights(evaluation: "Evaluation") -> list[Note]:
    """Return a note if queries have weights, with Kish's effective number of queries."""
    weights, queries = evaluation.weights, evaluation.queries
    if evaluation.qrels.weights is None:
        return []
    if weights is None:
        text = f"weights: all of {count_of(len(queries), 'query')} have the same weight, so means do not change"
        return [Note("weights", len(queries), len(queries), text)]
    least, greatest = (end(evaluation.qrels.weights[query] for query in queries) for end in (min, max))
    effective = len(weights) ** 2 / float(weights @ weights)
    text = (
        f"means are weighted: weights are {least:g} to {greatest:g}, and Kish's effective number of queries is "
        f"{effective:.1f} of {len(queries):,}"
    )
    return [Note("weights", len(queries), len(queries), text)]


POLICIES = (
    *("run", "labels", "apart", "subtopics", "excluded", "weights", "weight", "empty"),
    *("missing", "unjudged", "dropped"),
)
"""kinds of notes on how queries and documents were treated, or how qrels and runs were read"""
LEFT_OUT = {
    "weight": "{have} weight 0 and {are} left out",
    "empty": "{have} no relevant document and {are} left out",
}
"""why judged queries do not count"""


def _note_left_out(evaluation: "Evaluation") -> list[Note]:
    left_out = evaluation.qrels.left_out
    if not left_out:
        return []
    total = len(evaluation.qrels) + sum(map(len, left_out.values()))
    return [
        note
        for reason, queries in left_out.items()
        for note in note_names(reason, len(queries), total, "judged query", LEFT_OUT[reason], queries)
    ]


def describe_highest(qrels: Qrels, measures: Iterable[str]) -> str | None:
    """Return a sentence that measures without subtopics use the highest label; None if there are no such measures."""
    names = list(measures)
    if qrels.subtopics is None or not names:
        return None
    takes = "takes" if len(names) == 1 else "take"
    return (
        f"{qrels.name} judges {count_of(len(qrels.grade), 'document')} by subtopic: {', '.join(names)} {takes} the "
        "highest label of each"
    )


def _note_segmentless(evaluation: "Evaluation") -> list[Note]:
    segments, queries = evaluation.qrels.segments, evaluation.queries
    if segments is None:
        return []
    lacking = [query for query in queries if query not in segments]
    return note_names("segments", len(lacking), len(queries), "query", "{have} no segment", lacking)


def _note_missing(evaluation: "Evaluation") -> list[Note]:
    queries = np.flatnonzero(~evaluation.hits.answered)
    if not len(queries):
        return []
    fate = "count{s} as 0" if evaluation.settings.queries == "qrels" else "{are} left out"
    text = f"{{are}} not in the run and {fate}"
    notes = _note_judged(evaluation, "missing", queries, len(evaluation.qrels), "judged query", text)
    names = (evaluation.qrels.queries[i] for i in queries[:EXAMPLES].tolist())
    alike = (
        find_alike(evaluation.hits.unjudged.names[:EXAMPLES], names, OF_SOME_QUERIES)
        if evaluation.hits.unjudged.size
        else None
    )
    if alike is None:
        return notes
    ours, theirs, reason = alike
    text = f"query {clip(ours)} of the run and {clip(theirs)} of the qrels look alike; possible reason: {reason}"
    return [*notes, Note("apart", len(queries), len(evaluation.qrels), text)]


def _note_unjudged(evaluation: "Evaluation") -> list[Note]:
    count, names = evaluation.hits.unjudged
    if not count:
        return []
    fate = f"count{{s}} as {_worth(evaluation)}" if evaluation.settings.counts_unjudged else "{are} left out"
    total = int(evaluation.hits.answered.sum()) + count
    text = f"of the run {{have}} no judgments and {fate}"
    return note_names("unjudged", count, total, "query", text, names)


def _note_dropped(evaluation: "Evaluation") -> list[Note]:
    if not evaluation.settings.judged_only:
        return []
    before = evaluation.hits.documents
    dropped = before - evaluation.measured_hits.documents
    fate = "is unjudged and was dropped" if dropped == 1 else "are unjudged and were dropped"
    text = f"{dropped:,} of {count_of(before, 'document')} {fate}"
    return [Note("dropped", dropped, before, text)] if dropped else []


def _note_degenerate(evaluation: "Evaluation") -> list[Note]:
    """Return notes on degenerate queries; measures with the same degenerate queries share a note."""
    degenerate = evaluation.degenerate
    together: dict[bytes, list[str]] = {}
    for name, flags in degenerate.items():
        together.setdefault(flags[evaluation.judged_queries].tobytes(), []).append(name)
    return [note for names in together.values() for note in _note_no_relevant(evaluation, degenerate[names[0]], names)]


def _note_no_relevant(evaluation: "Evaluation", degenerate: Bools, measures: list[str]) -> list[Note]:
    queries = evaluation.judged_queries[degenerate[evaluation.judged_queries]]
    if not len(queries):
        return []
    fate = (
        "score{s} 0 in every order" if evaluation.settings.empty == "zero" else "count{s} as 1, whatever was retrieved"
    )
    text = f"{{have}} no relevant document for {', '.join(measures)} and {fate}"
    return _note_judged(evaluation, "degenerate", queries, len(evaluation.queries), "query", text)


def _note_lacking(evaluation: "Evaluation") -> list[Note]:
    """Return notes on queries with relevant documents that score 0 because they lack others that a measure needs."""
    notes = []
    for name, measure in evaluation.measures.items():
        if measure.may_lack and not isinstance(evaluation.qrels, UncertainQrels):
            queries = evaluation.judged_queries[evaluation.find_lacking(measure)[evaluation.judged_queries]]
            text = f"{{have}} no {measure.may_lack} for {name} and score{{s}} 0, although they have relevant documents"
            notes += _note_judged(evaluation, "degenerate", queries, len(evaluation.queries), "query", text)
    return notes


def _note_unreachable(evaluation: "Evaluation") -> list[Note]:
    """Return notes on queries that cannot reach 1, since their pool lacks a level of relevance that users ask for."""
    notes = []
    for name, measure in evaluation.measures.items():
        if not measure.has_ceiling or isinstance(evaluation.qrels, UncertainQrels):  # hardly any query can reach 1
            continue
        highest = evaluation.find_ceiling(measure)[evaluation.judged_queries]
        queries = evaluation.judged_queries[(highest < 1 - SAME) & (highest > 0)]
        mean = float(highest.sum()) / max(1, len(evaluation.queries))
        text = f"cannot reach 1 in {name} (the mean is at most {mean:.4f}), since the pool lacks a level"
        notes += _note_judged(evaluation, "unreachable", queries, len(evaluation.queries), "query", text)
    return notes


def _note_sampled(evaluation: "Evaluation") -> list[Note]:
    """Return notes on means that come from sampled orders of tied documents, with their standard errors."""
    errors = evaluation.sampling_errors
    if errors is None:
        return []
    scores, size, samples = evaluation.scores(), len(evaluation.queries), evaluation.settings.samples
    counts = dict(zip(evaluation.measures, np.count_nonzero(errors, axis=0).tolist(), strict=True))
    return [
        Note(
            "sampled",
            counts[measure],
            size,
            f"{measure} {scores[measure]:.4f} has a standard error of {error:.2g}, since in {counts[measure]:,} of"
            f" {count_of(size, 'query')} it is the mean of {samples:,} sampled orders of tied documents",
        )
        for measure, error in scores.sampling_error().items()
    ]


def _note_bounds(evaluation: "Evaluation") -> list[Note]:
    """Return notes on queries whose best or worst value is a bound, since tie groups have too many orders to search."""
    if evaluation.settings.ties not in ("best", "worst"):
        return []
    answered = np.flatnonzero(evaluation.hits.answered)
    bounds = evaluation.find_bounds(evaluation.blocks, evaluation.settings.ties, answered)
    notes = []
    for j, name in enumerate(evaluation.measures):
        text = (
            f"{{have}} tie groups too large to search, so {name} is only a bound there, which perhaps no order reaches"
        )
        notes += _note_judged(evaluation, "bounds", answered[bounds[:, j]], len(evaluation.queries), "query", text)
    return notes


def _note_uncertain_ties(evaluation: "Evaluation") -> list[Note]:
    """Return a note on ties if labels are probabilities, for which the range over orders is not known."""
    if not isinstance(evaluation.qrels, UncertainQrels):
        return []
    hits = evaluation.measured_hits
    queries = np.intersect1d(hits.query[hits.tied > 1], evaluation.judged_queries)
    text = "{have} tied documents; how much their order changes values is not known if labels are probabilities"
    return _note_judged(evaluation, "ties", queries, len(evaluation.queries), "query", text)


def _note_judged(evaluation: "Evaluation", kind: str, queries: Ints, of: int, noun: str, text: str) -> list[Note]:
    """Return a note about judged queries, given by index."""
    names = [evaluation.qrels.queries[i] for i in queries[:NAMED].tolist()]
    return note_names(kind, len(queries), of, noun, text, names)
