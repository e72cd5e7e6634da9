"""Collections: folders with judgments and runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gradely import InputError, Qrels, Settings, read_qrels
from gradely.comparison.correlate import stack
from gradely.errors import GradelyError
from gradely.evaluation.evaluate import evaluate_all, name_runs
from gradely.evaluation.stacked import StackedRuns
from gradely.tables import count_of
from gradely_papers.experiment import Library
from gradely_papers.progress import Report, over_runs, part

T = TypeVar("T")

LEAST, FEWEST = 8, 4
"""the fewest runs on which a claim is tested, since τ says little on fewer; the fewest that are shown"""
MOST = 4
"""the most levels, since the grid of g grows with them"""
NEEDS = ("**/runs*",)
DATA = (
    f"collections (qrels* with 2 to {MOST} levels of relevance, and at least {LEAST} runs in runs*/), such as"
    " trec-covid-round1 and clef-ehealth-2015"
)


class Collection(NamedTuple):
    """Judgments and runs."""

    name: str
    qrels: Qrels
    runs: list[Path]
    folder: str
    """the folder of these runs; a collection may have several"""

    def __str__(self) -> str:
        """Return its name and number of runs."""
        return f"{self.name} ({len(self.runs)} runs of {self.folder})"

    @property
    def levels(self) -> int:
        """The number of levels of relevance."""
        return len(self.qrels.levels())

    def systems(self, progress: Report) -> StackedRuns:
        """Read the runs."""
        return stack_runs(self.qrels, self.runs, Settings(), progress)


def stack_runs(
    qrels: Qrels, runs: Mapping[str, Any] | Sequence[Any], settings: Settings, progress: Report
) -> StackedRuns:
    """Read runs, given as {name: run} or as paths, to be measured together."""
    return stack(evaluate_all(qrels, name_runs(runs), {}, settings, over_runs(progress, len(runs))))


def collections(library: Library) -> list[Collection]:
    """Return the collections in the library: the folder itself and the folders in it, if they have judgments and runs.

    If a collection has several folders of runs, the one with the longest runs is used, since truncated runs rank
    systems differently.
    """
    folders = [library.folder, *sorted(path for path in library.folder.iterdir() if path.is_dir())]
    out = []
    for folder in folders:
        with skipping(library, folder.resolve().name):
            out += _collection(folder)
    if not any(has_enough(collection) for collection in out):
        found = [
            f"{each.name} has {count_of(len(each.runs), 'run')} and {count_of(each.levels, 'level')}" for each in out
        ]
        reasons = "".join(f"; {reason}" for reason in (*found, *library.skipped.values()))
        raise InputError(f"{library.folder}: no collection here; --data must name a folder with {DATA}{reasons}")
    return out


@contextmanager
def skipping(library: Library, name: str) -> Iterator[None]:
    """Skip a folder that cannot be read, and record its name and the reason."""
    try:
        yield
    except (GradelyError, OSError, UnicodeError) as error:
        library.skipped[name] = str(error)


def on_each(
    library: Library, selection: Sequence[Collection], work: Callable[[Collection, Report], T], progress: Report
) -> dict[str, T]:
    """Return the result of the work on each collection by name, without collections that cannot be read."""
    out = {}
    for i, collection in enumerate(selection):
        with skipping(library, collection.name):
            out[collection.name] = work(collection, part(progress, i, len(selection)))
    if not out:
        raise InputError(f"{library.folder}: no collection could be read: {'; '.join(library.skipped.values())}")
    return out


def has_enough(collection: Collection, least: int = LEAST) -> bool:
    """Return whether a collection has enough runs, and neither too few nor too many levels."""
    return len(collection.runs) >= least and 2 <= collection.levels <= MOST


def _collection(folder: Path) -> list[Collection]:
    """Return the collection in a folder, or an empty list."""
    named = sorted([*folder.glob("*qrels*"), *folder.glob("qrels/*qrels*")])
    judged = [read_qrels(path) for path in named if path.is_file()]
    runs = {path.name: _files(path) for path in sorted(folder.glob("runs*")) if _files(path)}
    if not judged or not runs:
        return []
    # the mean file size tells full runs from truncated ones without reading them
    size = {name: sum(path.stat().st_size for path in paths) / len(paths) for name, paths in runs.items()}
    name = max(size, key=size.__getitem__)
    qrels = max(judged, key=lambda qrels: len(qrels.levels()))
    return [Collection(folder.resolve().name, qrels, runs[name], name)]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))
