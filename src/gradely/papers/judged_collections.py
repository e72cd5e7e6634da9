"""Collections: folders of judgments and runs, and what the paper prints about its own three."""

import csv
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.correlate import few_high
from gradely.comparison.stacked import StackedRuns, stack_runs
from gradely.data import Qrels, Report, read_qrels
from gradely.data.types import Bools
from gradely.errors import DataError, InputError
from gradely.papers.library import Library
from gradely.papers.parts import runs_part

LEAST = 8
"""with fewer runs, τ says little"""
MOST = 4
"""with more levels, the grid of g grows too large"""
SETS = {"few highly relevant": 2, "few key": 3}
"""which level is rare in a set of topics"""
NEEDS = ("**/runs*",)
DATA = f"collections (qrels*, and {LEAST} runs or more in runs*/), such as trec-covid-round1 and clef-ehealth-2015"


def printed(table: str) -> list[dict[str, str]]:
    """Return a table of the paper: collections, or tau."""
    text = (resources.files("gradely.papers.ferrante2014") / "tables" / f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


class Collection(NamedTuple):
    """Judgments and runs, and the collection of the paper that the judgments are those of."""

    name: str
    qrels: Qrels
    runs: list[Path]
    printed: dict[str, str] | None

    @property
    def levels(self) -> int:
        """How many levels of relevance there are."""
        return len(self.qrels.levels())

    def systems(self, progress: Report) -> StackedRuns:
        """Read the runs."""
        return stack_runs(self.qrels, self.runs, progress=runs_part(progress, len(self.runs)))

    def topics(self) -> dict[str, Bools]:
        """Return the sets of topics that the paper looks at, as flags; sets without a topic are left out."""
        sets = {"all": np.ones(len(self.qrels), bool)}
        for name, level in SETS.items():
            if level <= self.levels:
                try:
                    sets[name] = few_high(self.qrels, self.qrels.levels()[level - 1])
                except DataError:
                    continue
        return sets

    def record(self) -> dict[str, Any]:
        """Return what table 1 of the paper has."""
        found, relevant = self.topics(), _relevant(self.qrels)
        few = {name: int(found[name].sum()) if name in found else 0 for name in SETS if SETS[name] <= self.levels}
        return {
            "collection": self.name,
            "the paper's": self.printed["collection"] if self.printed else None,
            "topics": len(self.qrels),
            **{name: few.get(name) for name in SETS},
            "runs": len(self.runs),
            "levels": self.levels,
            "mean relevant": float(relevant.mean()),
        }


def collections(library: Library) -> list[Collection]:
    """Return the collections in the library: the folder itself, or the folders in it, that have judgments and runs."""
    folders = [library.folder, *sorted(path for path in library.folder.iterdir() if path.is_dir())]
    found = [collection for folder in folders for collection in _collection(folder)]
    if not any(enough(each) for each in found):
        raise InputError(f"{library.folder}: no collection here; --data names a folder of {DATA}")
    return found


def enough(collection: Collection) -> bool:
    """True where there are enough runs, and neither too few nor too many levels."""
    return len(collection.runs) >= LEAST and 2 <= collection.levels <= MOST


def _collection(folder: Path) -> list[Collection]:
    """Return the collection in a folder; none where there is none."""
    named = sorted([*folder.glob("*qrels*"), *folder.glob("qrels/*qrels*")])
    judged = [read_qrels(path) for path in named if path.is_file()]
    runs = max((_files(path) for path in sorted(folder.glob("runs*"))), key=len, default=[])
    if not judged or not runs:
        return []
    qrels = max(judged, key=lambda each: len(each.levels()))
    theirs = _recognised(qrels)
    return [Collection(folder.resolve().name, _merged(qrels, theirs), runs, theirs)]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))


def _relevant(qrels: Qrels) -> Any:
    """Return how many relevant documents each topic has."""
    return np.diff(np.concatenate([[0], np.cumsum(qrels.grade > 0)])[qrels.start])


def _recognised(qrels: Qrels) -> dict[str, str] | None:
    """Return the paper's collection that has as many topics and relevant documents; None where none has."""
    relevant = _relevant(qrels)
    ours = (len(relevant), relevant.min(), round(float(relevant.mean()), 2), relevant.max())
    columns = ("topics", "min relevant", "mean relevant", "max relevant")
    return next((row for row in printed("collections") if tuple(float(row[x]) for x in columns) == ours), None)


def _merged(qrels: Qrels, theirs: dict[str, str] | None) -> Qrels:
    """Return judgments with the levels that the paper has: its highest one stands for higher ones, too."""
    top = float(theirs["levels"]) if theirs else np.inf
    return Qrels(qrels.queries, qrels.start, qrels.docs, np.minimum(qrels.grade, top), qrels.name)
