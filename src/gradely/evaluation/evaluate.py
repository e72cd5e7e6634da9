"""evaluate and Evaluator: from qrels and one run to scores."""

from collections.abc import Iterable, Mapping
from typing import Any

from gradely.data import open_run
from gradely.data.query_selection import read_selected, split_queries
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_run, ignore
from gradely.evaluation.scores import Scores
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy


def evaluate(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    by: Any = None,
    exclude: Any = None,
) -> Scores:
    """Evaluate a run against qrels.

    `qrels` and `run` are a path, a dataframe, a dict of dicts, or Qrels and a Run. `measures` are names like "nDCG@10",
    or objects like nDCG(k=10). `ties` is expected (the default), trec, order, best, worst or random (with `seed`).
    `queries` says which queries count: those of the qrels (the default; one that the run lacks counts 0), those in
    both, those of the run, or a list of queries. `judged_only` drops unjudged documents from the run first.
    `precision="single"` rounds scores as trec_eval 9 does. `threads`, by default one per processor, change no result.
    `progress` is called with the name of the run and the share that is done. `columns` says what tables call their
    columns, and `duplicates` what to do with repeated judgments, as in read_qrels. `by`, {query: segment}, a column of
    the qrels, or a table of both, gives Scores.segments. `exclude` is a table or dict of documents to drop first.

    >>> scores = evaluate({"q1": {"d1": 2, "d3": 1}}, {"q1": {"d1": 0.7, "d2": 0.7, "d3": 0.1}}, ["RR", "P@1"])
    >>> scores.mean(), scores["RR"], scores.query("q1")
    ({'RR': 0.75, 'P@1': 0.5}, 0.75, {'RR': 0.75, 'P@1': 0.5})
    """
    policy, only = split_queries(queries)
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, by=by, exclude=exclude)
    fitted = fit_all(parse_all(measures), judgments.levels)
    evaluation = evaluate_run(judgments, open_run(run, columns=columns), fitted, settings, progress)
    scores = evaluation.scores()
    progress(evaluation.name, 1.0)
    return scores


class Evaluator:
    """Qrels and measures, prepared once, and called with one run after another: for rewards and loops over queries.

    What it takes is as in evaluate, and so is what a call returns. What depends on the qrels alone is kept between
    calls, and grows with the judgments, not with the calls. Several threads may call it at the same time.

    >>> evaluator = Evaluator({"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}, ["RR", "P@1"], queries="both")
    >>> evaluator({"q1": ["d2", "d1"]}).mean()
    {'RR': 0.5, 'P@1': 0.0}
    >>> evaluator({"q2": {"d7": 0.9, "d8": 0.9}})["RR"]
    0.75
    """

    def __init__(
        self,
        qrels: Any,
        measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
        *,
        ties: TiePolicy = "expected",
        queries: QueryPolicy | Iterable[Any] = "qrels",
        judged_only: bool = False,
        precision: Precision = "double",
        seed: int = 0,
        threads: int | None = None,
        columns: Mapping[str, str] | None = None,
        duplicates: str = "error",
        by: Any = None,
        exclude: Any = None,
    ) -> None:
        """Read the qrels and fit the measures to them."""
        policy, only = split_queries(queries)
        self.settings = Settings(ties, policy, judged_only, precision, seed, threads)
        self.columns = columns
        self.qrels = read_selected(qrels, threads, columns, duplicates, only=only, by=by, exclude=exclude)
        self.measures = fit_all(parse_all(measures), self.qrels.levels)

    def __call__(self, run: Any) -> Scores:
        """Return the scores of a run, which may be whatever evaluate takes for one."""
        ranking = open_run(run, columns=self.columns)
        return evaluate_run(self.qrels, ranking, self.measures, self.settings).scores()

    def __repr__(self) -> str:
        """Say what it evaluates by, and against what."""
        return f"Evaluator({self.qrels!r}: {', '.join(self.measures)}; ties {self.settings.ties})"
