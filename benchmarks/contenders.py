"""The work of each contender on a workload.

    python -m benchmarks.contenders CONTENDER WORKLOAD FOLDER

prints a line of JSON: the mean of each measure and, for work in memory, the seconds that it took when warm. Each
contender reads files as its documentation says, and imports nothing that it does not need. On files, gradely is its
command, and not run from here.
"""

import gzip
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100")
TREC = ("ndcg_cut_10", "ndcg", "map", "recip_rank", "P_10", "recall_100")
RANX = ("ndcg@10", "ndcg", "map", "mrr", "precision@10", "recall@100")
Values = dict[str, float]
Labels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]
WARM = 5
"""how often work in memory is done in a process; the best time counts"""


def pytrec_eval_files(qrels: Path, runs: list[Path]) -> Values:
    """Evaluate with pytrec_eval, reading with its own functions."""
    import pytrec_eval

    with qrels.open() as lines:
        judgments = pytrec_eval.parse_qrel(lines)
    names = {"ndcg_cut.10", "ndcg", "map", "recip_rank", "P.10", "recall.100"}
    for path in runs:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            run = pytrec_eval.parse_run(lines)
        results = pytrec_eval.RelevanceEvaluator(judgments, names).evaluate(run)
    return mean_of(results, len(judgments))


def mean_of(results: dict[str, Values], queries: int) -> Values:
    """Return the mean over all judged queries."""
    return {
        ours: sum(values[theirs] for values in results.values()) / queries
        for ours, theirs in zip(MEASURES, TREC, strict=True)
    }


def ir_measures_files(qrels: Path, runs: list[Path]) -> Values:
    """Evaluate with ir_measures, which computes these measures with pytrec_eval by default."""
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    judgments = list(ir_measures.read_trec_qrels(str(qrels)))
    for path in runs:
        means = ir_measures.calc_aggregate(measures, judgments, ir_measures.read_trec_run(str(path)))
    return {str(measure): float(value) for measure, value in means.items()}


def ranx_files(qrels: Path, runs: list[Path]) -> Values:
    """Evaluate with ranx; the first call compiles."""
    import ranx

    judgments = ranx.Qrels.from_file(str(qrels), kind="trec")
    for path in runs:
        run = ranx.Run.from_file(str(path), kind="trec")
        means = ranx.evaluate(judgments, run, list(RANX), make_comparable=True)
    return {ours: float(means[theirs]) for ours, theirs in zip(MEASURES, RANX, strict=True)}


def gradely_dicts(qrels: Labels, run: Scores) -> Values:
    """Evaluate dicts of dicts in memory."""
    import gradely

    return time_work(lambda: gradely.evaluate(qrels, run, MEASURES).mean())


def gradely_prepared(qrels: Labels, run: Scores) -> Values:
    """Evaluate a run with judgments and measures that were prepared before."""
    import gradely

    evaluator = gradely.Evaluator(qrels, MEASURES)
    return time_work(lambda: evaluator(run).mean())


def pytrec_eval_dicts(qrels: Labels, run: Scores) -> Values:
    """Evaluate dicts of dicts in memory."""
    import pytrec_eval

    return time_work(lambda: mean_of(pytrec_eval.RelevanceEvaluator(qrels, {*TREC}).evaluate(run), len(qrels)))


def pytrec_eval_prepared(qrels: Labels, run: Scores) -> Values:
    """Evaluate a run with judgments that were passed before."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {*TREC})
    return time_work(lambda: mean_of(evaluator.evaluate(run), len(qrels)))


def one_query() -> tuple[Labels, Scores]:
    """Return one query of ten judged documents, five of them among the ten that are retrieved."""
    judged = {f"d{i}": i % 4 for i in range(0, 20, 2)}
    return {"q1": judged}, {"q1": {f"d{i}": 1 / (i + 1) for i in range(10)}}


def dicts(folder: Path) -> tuple[Labels, Scores]:
    """Return a tenth of B as dicts."""
    qrels: Labels = {}
    run: Scores = {}
    for line in (folder / "b-tenth.qrels").read_text().splitlines():
        query, _, document, label = line.split()
        qrels.setdefault(query, {})[document] = int(label)
    for line in (folder / "b-tenth.run").read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return qrels, run


def gradely_dense(folder: Path, scores: str) -> Values:
    """Six measures of dense arrays, tie-aware, sorting included."""
    import gradely

    scores, labels = load(folder, f"f-{scores}", "f-labels")
    return time_work(lambda: means_of(gradely.evaluate_arrays(scores, labels, MEASURES)))


def means_of(values: dict[str, Any]) -> Values:
    """Return the mean of each array."""
    return {name: float(value.mean()) for name, value in values.items()}


def sklearn_dense(folder: Path, scores: str) -> Values:
    """One measure, nDCG, of dense arrays."""
    from sklearn.metrics import ndcg_score

    scores, labels = load(folder, f"f-{scores}", "f-labels")
    return time_work(lambda: {"nDCG": float(ndcg_score(labels, scores))})


def torchmetrics_dense(folder: Path, scores: str) -> Values:
    """Six measures of dense arrays, flattened with the query of each cell, as torchmetrics requires.

    Scores are shifted above 0: its average precision treats documents with lower scores as not relevant.
    """
    import torch
    from torchmetrics import retrieval

    scores, labels = (torch.from_numpy(x).flatten() for x in load(folder, f"f-{scores}", "f-labels"))
    scores = scores - scores.min() + 1
    query = torch.arange(len(scores)) // 1_000
    measures = (
        (retrieval.RetrievalNormalizedDCG(top_k=10), labels.long()),
        (retrieval.RetrievalNormalizedDCG(), labels.long()),
        (retrieval.RetrievalMAP(), labels > 0),
        (retrieval.RetrievalMRR(), labels > 0),
        (retrieval.RetrievalPrecision(top_k=10), labels > 0),
        (retrieval.RetrievalRecall(top_k=100), labels > 0),
    )
    return time_work(
        lambda: {
            name: float(measure(scores, target, indexes=query))
            for name, (measure, target) in zip(MEASURES, measures, strict=True)
        },
        times=1,
    )


def gradely_ids(folder: Path) -> Values:
    """Six measures of ranked ids and labelled ids."""
    import gradely

    arrays = load(folder, "f2-ranked", "f2-labelled", "f2-labels")
    measures = {name: gradely.parse(name) for name in MEASURES}

    def work() -> Values:
        batch = gradely.from_ids(*arrays)
        return means_of({name: measure(batch) for name, measure in measures.items()})

    return time_work(work)


def rectools_ids(folder: Path) -> Values:
    """The six most similar measures of RecTools; its nDCG ignores grades. Creating the frames is not timed."""
    import numpy as np
    import pandas as pd
    from rectools import metrics

    ranked, labelled, labels = load(folder, "f2-ranked", "f2-labelled", "f2-labels")
    users = np.arange(len(ranked))
    ranks = np.tile(np.arange(1, 21), len(ranked))
    recommended = pd.DataFrame({"user_id": users.repeat(20), "item_id": ranked.ravel(), "rank": ranks})
    interactions = pd.DataFrame({"user_id": users.repeat(10), "item_id": labelled.ravel()})[labels.ravel() > 0]
    measures = {
        "nDCG@10 (binary)": metrics.NDCG(k=10),
        "nDCG (binary)": metrics.NDCG(k=20),
        "AP (its own)": metrics.MAP(k=20),
        "RR": metrics.MRR(k=20),
        "P@10": metrics.Precision(k=10),
        "R@100": metrics.Recall(k=20),
    }
    return time_work(lambda: metrics.calc_metrics(measures, recommended, interactions), times=1)


def overhead(folder: Path) -> Values:
    """For each measure, the time with exact ties divided by that with ties in input order, for a file and arrays."""
    import gradely

    scores, labels = load(folder, "f-tied", "f-labels")
    files = str(folder / "b.qrels"), str(folder / "b-ties.run")
    out = {}
    for name in ("P@10", "R@100", "F1@10", "AP", "RR", "nDCG"):
        out[f"{name}, file"] = ratio(partial(gradely.evaluate, *files, [name]))
        out[f"{name}, arrays"] = ratio(partial(gradely.evaluate_arrays, scores, labels, [name]))
    return out


def ratio(work: Callable[..., Any]) -> float:
    """Return the best time with expected ties divided by that with input order, measured in turns."""
    best = dict.fromkeys(("expected", "order"), float("inf"))
    for ties in list(best) * WARM:
        start = perf_counter()
        work(ties=ties)
        best[ties] = min(best[ties], perf_counter() - start)
    return best["expected"] / best["order"]


def load(folder: Path, *names: str) -> list[Any]:
    """Return arrays by name."""
    import numpy as np

    return [np.load(folder / f"{name}.npy") for name in names]


def time_work(work: Callable[[], Values], times: int = WARM) -> Values:
    """Return the values, and the best time as 'seconds'; short work is repeated for half a second."""
    best, spent = float("inf"), 0.0
    while times > 0 or spent < 0.5:
        start = perf_counter()
        values = work()
        seconds = perf_counter() - start
        best, spent, times = min(best, seconds), spent + seconds, times - 1
    return {name: float(value) for name, value in values.items()} | {"seconds": best}


FILES: dict[str, Callable[..., Values]] = {
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
}
MEMORY: dict[tuple[str, str], Callable[[Path], Values]] = {
    ("gradely", "E"): lambda folder: gradely_dicts(*dicts(folder)),
    ("pytrec_eval", "E"): lambda folder: pytrec_eval_dicts(*dicts(folder)),
    ("gradely", "E1"): lambda _: gradely_dicts(*one_query()),
    ("pytrec_eval", "E1"): lambda _: pytrec_eval_dicts(*one_query()),
    ("gradely", "E2"): lambda _: gradely_prepared(*one_query()),
    ("pytrec_eval", "E2"): lambda _: pytrec_eval_prepared(*one_query()),
    ("gradely", "F"): lambda folder: gradely_dense(folder, "scores"),
    ("scikit-learn", "F"): lambda folder: sklearn_dense(folder, "scores"),
    ("torchmetrics", "F"): lambda folder: torchmetrics_dense(folder, "scores"),
    ("gradely", "F-ties"): lambda folder: gradely_dense(folder, "tied"),
    ("scikit-learn", "F-ties"): lambda folder: sklearn_dense(folder, "tied"),
    ("gradely", "F2"): gradely_ids,
    ("RecTools", "F2"): rectools_ids,
    ("gradely", "H"): overhead,
}
INPUTS = {
    "A": ("a.qrels", "a.run"),
    "B": ("b.qrels", "b.run"),
    "B-ties": ("b.qrels", "b-ties.run"),
    "B-blanks": ("b.qrels", "b-blanks.run"),
    "B-digits": ("b.qrels", "b-digits.run"),
    "B-gzip": ("b.qrels", "b-gzip.run.gz"),
    "B-shuffled": ("b.qrels", "b-shuffled.run"),
    "B-tenth": ("b-tenth.qrels", "b-tenth.run"),
    "B-third": ("b-third.qrels", "b-third.run"),
    "C": ("a.qrels", "c*.run"),
    "D": ("d.qrels", "d.run"),
}


def main(contender: str, workload: str, folder: Path) -> Values:
    """Do the work."""
    if workload not in INPUTS:
        return MEMORY[contender, workload](folder)
    qrels, runs = inputs(workload, folder)
    return FILES[contender](qrels, runs)


def inputs(workload: str, folder: Path) -> tuple[Path, list[Path]]:
    """Return the judgments and the runs of a workload."""
    qrels, runs = INPUTS[workload]
    return folder / qrels, sorted(folder.glob(runs))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
