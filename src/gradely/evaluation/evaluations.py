"""Evaluations: the results of several runs."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gradely.data import Qrels
from gradely.errors import DataError
from gradely.evaluation.evaluation import Evaluation
from gradely.evaluation.flat_names import flatten
from gradely.evaluation.notes import Note, merge_notes, merge_ranges, note_names
from gradely.evaluation.scores import Scores
from gradely.evaluation.segments import EVERY
from gradely.frames import to_frame
from gradely.measures import Measure
from gradely.notebook import box, bullets, grid, heading
from gradely.settings import Settings
from gradely.tables import Cell, Table, count_of, to_text


class Evaluations(Mapping[str, Scores]):
    """The results of several runs, {name: Scores}, in the order in which the runs were given."""

    def __init__(
        self, qrels: Qrels, measures: Mapping[str, Measure], settings: Settings, evaluations: dict[str, Evaluation]
    ) -> None:
        """Hold the evaluation of each run, with its hits; nothing is copied."""
        self.qrels, self.measures, self.settings, self.evaluations = qrels, measures, settings, evaluations

    @cached_property
    def _scores(self) -> dict[str, Scores]:
        return {name: evaluation.scores() for name, evaluation in self.evaluations.items()}

    def __getitem__(self, name: str) -> Scores:
        """Return the scores of a run."""
        return self._scores[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs."""
        return iter(self.evaluations)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.evaluations)

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}."""
        return {name: scores.mean() for name, scores in self.items()}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases take, like bm25/nDCG_10."""
        named = (((run, *name), mean) for run, scores in self.items() for name, mean in scores.named_means())
        return flatten(named, prefix)

    def table(self) -> Table:
        """Return one row per run and one column per measure: the means."""
        rows: list[list[Cell]] = [[name, *mean.values()] for name, mean in self.mean().items()]
        return Table(["run", *self.measures], rows)

    def segments_table(self) -> Table | None:
        """Return one row per run and segment, with how many queries it has, all of them first; None without `by`."""
        rows: list[list[Cell]] = []
        for name, scores in self.items():
            if scores.segments is None:
                return None
            rows.append([name, EVERY, len(scores.queries), *scores.mean().values()])
            rows += [[name, *row] for row in scores.segments.table().rows]
        return Table(["run", "segment", "n", *self.measures], rows)

    def to_frame(self, library: str = "pandas", *, wide: bool = False) -> Any:
        """Return a dataframe of (run, query, measure, value), of pandas, polars or pyarrow.

        With `wide`, it has one row per run and query, and one column per measure.
        """
        columns: dict[str, list[Any]] = {}
        for name, scores in self.items():
            part = scores.columns(wide=wide)
            columns.setdefault("run", []).extend([name] * len(part["query"]))
            for key, values in part.items():
                columns.setdefault(key, []).extend(values)
        return to_frame(columns, library)

    @cached_property
    def notes(self) -> list[Note]:
        """What there is to note about queries, documents and ties; what holds of all runs is said once."""
        return self.notes_at(digits=4)

    def notes_at(self, digits: int) -> list[Note]:
        """Return the notes where means are printed with so many digits: of ties only what changes what is printed."""
        others = {name: [note for note in scores.notes if note.kind != "ties"] for name, scores in self.items()}
        ranges = {name: scores.tie_ranges for name, scores in self.items()}
        return merge_notes(others) + merge_ranges(ranges, min(digits, 4))  # sentences have four digits

    def on_common_queries(self) -> "Evaluations":
        """Return the results on the queries that count for every run, so that their means can be compared."""
        if self.settings.queries == "qrels":
            return self
        hits = [evaluation.hits for evaluation in self.evaluations.values()]
        answered = np.all([one.answered for one in hits], axis=0)
        everywhere = set(hits[0].unjudged).intersection(*(one.unjudged for one in hits))
        unjudged = tuple(query for query in hits[0].unjudged if query in everywhere)
        common = {name: evaluation.among(answered, unjudged) for name, evaluation in self.evaluations.items()}
        if not len(next(iter(common.values())).queries):
            raise DataError("the runs have no query in common; with queries='qrels' missing ones count 0")
        return Evaluations(self.qrels, self.measures, self.settings, common)

    def note_left_out(self, common: "Evaluations") -> list[Note]:
        """Return which queries do not count for every run."""
        every = {query: None for evaluation in self.evaluations.values() for query in evaluation.queries}
        queries = set(next(iter(common.evaluations.values())).queries)
        lost = [query for query in every if query not in queries]
        text = f"{'does' if len(lost) == 1 else 'do'} not count for every run and {{are}} left out"
        return note_names("uncommon", len(lost), len(every), "query", text, lost)

    def __repr__(self) -> str:
        """Show what `gradely evaluate` shows: one row per run, and the notes below."""
        return "\n".join([to_text(self.segments_table() or self.table()), *map(str, self.notes)])

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        queries = count_of(len(self.qrels), "query")
        means = f"means over {queries if self.settings.queries == 'qrels' else 'the queries of each run'}"
        title = heading(f"{means}, ties {self.settings.ties}")
        return box(title, grid(self.segments_table() or self.table()), bullets(self.notes))
