"""How often an estimate from a few human-labelled queries and a machine judge covers the mean over all human labels.

    python -m benchmarks.judge_subsets FOLDER [SUBSETS]

FOLDER has nist.qrels.gz and judges/, as LLMJudge (2024) published them: human labels of 25 queries, and those of 19
machine judges for the same passages. The labels of each machine serve as a run, with all their ties; in turn, one
machine is the judge, and the others are the runs. People are taken to have judged n queries at random; the truth is the
mean by all human labels, so that the target is these queries. Seeds are fixed.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from gradely.comparison.judged import stack_values
from gradely.comparison.regression import JudgedMeans, Sample, regress
from gradely.comparison.tests import all_pairs
from gradely.data import Qrels, read_qrels
from gradely.evaluation.several_qrels import SeveralQrels
from gradely.measures.names import parse_all
from gradely.settings import Settings
from gradely.tables import Table, to_markdown

SUBSETS, SIZES = 300, (10, 15)
MEASURES = ("nDCG@10", "AP(rel=2)")


def read_folder(folder: Path) -> dict[str, Qrels]:
    """Return the human labels, called nist, and those of each machine."""
    machines = {path.name.removesuffix(".qrels.gz"): path for path in sorted((folder / "judges").glob("*.qrels.gz"))}
    return {name: read_qrels(path) for name, path in {"nist": folder / "nist.qrels.gz", **machines}.items()}


def values_by_judge(qrels: dict[str, Qrels]) -> tuple[dict[str, Any], list[str]]:
    """Return [measures, queries, runs] by each judge, with every machine as a run, and the names of the runs."""
    runs = {name: {query: one.labels(query) for query in one.queries} for name, one in qrels.items() if name != "nist"}
    results = SeveralQrels(qrels).evaluate(runs, parse_all(MEASURES), Settings())
    return {name: stack_values(found) for name, found in results.items()}, list(runs)


def coverage(folder: Path, subsets: int) -> Table:
    """Return one row per measure, number of human-labelled queries, and means or differences, over all judges."""
    values, runs = values_by_judge(read_folder(folder))
    rows: list[list[Any]] = []
    first, second = all_pairs(len(runs) - 1)
    for m, measure in enumerate(MEASURES):
        for kind in ("means", "differences"):
            for size in SIZES:
                rng, found = np.random.default_rng(size), []
                for judge, name in enumerate(runs):
                    human, judged = (np.delete(values[of][m], judge, axis=1) for of in ("nist", name))
                    if kind == "differences":
                        human, judged = (table[:, first] - table[:, second] for table in (human, judged))
                    for _ in range(subsets):
                        at = rng.permutation(len(human))[:size]
                        found.append(_look(Sample(human[at], judged, at), human.mean(axis=0)))
                rows.append([measure, kind, size, *np.nanmean(found, axis=0).tolist()])
    header = ["r", "human alone", "auto", "slope 1", "worth, auto", "worth, slope 1"]
    return Table(["measure", "of", "human-labelled queries", *header], rows, 3)


def _look(sample: Sample, truth: Any) -> list[float]:
    """Return the mean correlation, the shares of intervals that contain the truth, and what the judge was worth."""
    auto, one = (regress(sample, "these", slope) for slope in ("auto", 1))
    ends = (auto.alone.intervals(0.95), auto.together.intervals(0.95), one.together.intervals(0.95))
    covered = [float(np.mean(~((low > truth) | (high < truth)))) for low, high in ends]
    return [float(np.nanmean(auto.correlation)), *covered, _worth(auto), _worth(one)]


def _worth(found: JudgedMeans) -> float:
    return float(np.nanmedian(found.worth()))


if __name__ == "__main__":
    print(to_markdown(coverage(Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else SUBSETS)))
