"""Run: the retrieved documents, {query: {document: score}}, in memory, in a table, or in an engine."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gradely.tables import count_of

if TYPE_CHECKING:
    from gradely.data.hits import Hits
    from gradely.data.ids import Floats
    from gradely.data.qrels import Qrels
    from gradely.data.source import Report
    from gradely.settings import Settings

Scores: TypeAlias = Mapping[str, Mapping[str, float]]


class Run:
    """A run: scores by query and document, with ids as text, and its name.

    The scores are a dict of dicts, TableScores (a Table that is read later), or LazyScores (a frame in an engine).
    """

    def __init__(self, scores: Scores, name: str = "run", where: str = "") -> None:
        """Store the scores, the name of the run, and its name in error messages, which is that of its file."""
        self.scores, self.name, self.where = scores, name, where or name

    @property
    def notes(self) -> Sequence[str]:
        """The assumptions made when it was read."""
        return getattr(self.scores, "notes", ())

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Return a summary."""
        return f"Run({self.name}: {count_of(len(self), 'query')})"


class LazyScores(Mapping[str, Mapping[str, float]]):
    """Scores that stay in an engine, which finds the judged documents itself."""

    @abstractmethod
    def find_hits(self, qrels: "Qrels", settings: "Settings", report: "Report") -> "Hits":
        """Return the hits of the run."""

    @abstractmethod
    def first_scores(self, query: str, most: int) -> "Floats":
        """Return at most `most` scores of a query."""

    @abstractmethod
    def find_tops(self, depth: int, settings: "Settings") -> Iterable[tuple[str, str]]:
        """Return query and document of all rows that have fewer than `depth` documents of their query above them."""
