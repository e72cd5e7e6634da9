"""Sentence Transformers: `GradedRetrievalEvaluator` evaluates a model on graded judgments during training.

Rankings are not cut off, so ties are exact: for each judged document, the evaluator counts the documents with a better
score and those with the same score.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from gradely.data import Qrels, read_qrels
from gradely.data.hits import Hits
from gradely.errors import DataError
from gradely.evaluation.evaluate import DEFAULT
from gradely.evaluation.scores import Scores, plain_name
from gradely.evaluation.values import Evaluation
from gradely.lazy import needing
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.settings import Settings, check_choice

with needing("sentence-transformers", extra="sentence_transformers"):
    import torch
    from sentence_transformers.evaluation import SentenceEvaluator

TIES = ("expected", "best", "worst")
"""the tie policies that need no document ids"""


class GradedRetrievalEvaluator(SentenceEvaluator):  # type: ignore[misc,unused-ignore] # it may be absent
    """Evaluates how a model ranks a corpus, with graded judgments, any measure and exact ties.

    `queries` and `corpus` are {id: text}, and `qrels` is anything that read_qrels accepts. The first measure is the
    primary metric. Results have names like name_nDCG_10, for trackers and model cards. The whole corpus is ranked. A
    judged query that is missing from `queries` counts as 0, and a judged document that is missing from `corpus` counts
    as not retrieved.
    """

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        qrels: Any,
        measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
        *,
        ties: Literal["expected", "best", "worst"] = "expected",
        name: str = "",
        batch_size: int = 32,
        queries_at_a_time: int = 64,
        score_function: Callable[[Any, Any], Any] | None = None,
        show_progress_bar: bool = False,
        write_csv: bool = True,
    ) -> None:
        """Take the collection; the default `score_function` is the similarity of the model."""
        super().__init__()
        check_choice("tie policy without document names", ties, TIES)
        self.qrels: Qrels = read_qrels(qrels)
        self.queries = {str(query): text for query, text in queries.items() if str(query) in self.qrels.index}
        self.corpus = {str(doc): text for doc, text in corpus.items()}
        if not self.queries or not self.corpus:
            raise DataError("there is nothing to rank: the corpus is empty, or none of the queries is judged")
        self.measures, self.settings = parse_all(measures), Settings(ties)
        self.name, self.batch_size, self.queries_at_a_time = name, batch_size, queries_at_a_time
        self.score_function, self.show_progress_bar, self.write_csv = score_function, show_progress_bar, write_csv
        self.csv_file = f"graded_retrieval{'_' + plain_name(name) if name else ''}_results.csv"
        column = {doc: i for i, doc in enumerate(self.corpus)}
        self._columns = np.asarray([column.get(doc, -1) for doc in self.qrels.docs], np.int64)

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the means by name, and append them to a CSV file in `output_path` if it is given."""
        flat = self.evaluate(model).flat()
        self.primary_metric = next(iter(flat))
        metrics: dict[str, float] = self.prefix_name_to_metrics(flat, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        if output_path is not None and self.write_csv:
            self._append(os.path.join(output_path, self.csv_file), {"epoch": epoch, "steps": steps} | metrics)
        return metrics

    def evaluate(self, model: Any) -> Scores:
        """Return the scores of a model, with values by query and notes."""
        options = {
            "batch_size": self.batch_size,
            "show_progress_bar": self.show_progress_bar,
            "convert_to_tensor": True,
        }
        with torch.no_grad():
            queries = model.encode_query(list(self.queries.values()), **options)
            corpus = model.encode_document(list(self.corpus.values()), **options)
            parts = list(self._count(queries, corpus, self.score_function or model.similarity))
        query, row, above, tied = (np.concatenate(column) for column in zip(*parts, strict=True))
        answered = np.zeros(len(self.qrels), bool)
        answered[[self.qrels.index[name] for name in self.queries]] = True
        hits = Hits(query, row, above, tied, None, answered * len(self.corpus), answered)
        fitted = fit_all(self.measures, self.qrels.levels)
        return Evaluation(self.qrels, hits, fitted, self.settings, self.name or "model", "expected").scores()

    def _count(self, queries: Any, corpus: Any, similarity: Callable[[Any, Any], Any]) -> Iterator[tuple[Any, ...]]:
        """Yield query, row, and the number of documents above and tied of the judged documents of each query."""
        names, corpus = list(self.queries), corpus.double()
        for first in range(0, len(names), self.queries_at_a_time):
            # The order of additions in a matrix product depends on the shapes of the matrices. Rounded from double to
            # single precision, documents with the same embedding tie whatever their neighbours are.
            scores = similarity(queries[first : first + self.queries_at_a_time].double(), corpus).float()
            if bool(torch.isnan(scores).any()):
                raise DataError("the model returned NaN as the similarity of a query and a document")
            for name, ranking in zip(names[first:], scores, strict=False):
                query = self.qrels.index[name]
                rows = np.arange(self.qrels.start[query], self.qrels.start[query + 1])
                rows = rows[self._columns[rows] >= 0]
                own = ranking[torch.as_tensor(self._columns[rows], device=ranking.device)]
                ordered = torch.sort(ranking).values
                below, upto = (torch.searchsorted(ordered, own, right=right).cpu().numpy() for right in (False, True))
                yield np.full(len(rows), query), rows, len(ordered) - upto, upto - below

    def _append(self, path: str, record: Mapping[str, float]) -> None:
        """Append a line to a CSV file; a new file begins with a header."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        new = not os.path.isfile(path)
        with open(path, "a", encoding="utf-8") as file:
            lines = [",".join(record)] * new + [",".join(map(str, record.values()))]
            file.write("\n".join(lines) + "\n")
