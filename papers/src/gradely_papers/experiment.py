"""An experiment: its data, its claims and its outcome."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from gradely import InputError
from gradely.tables import Table
from gradely_papers.progress import Report
from gradely_papers.verdicts import UNTESTED, Record, UntestableError, Verdict

FOLDER = "data"
"""the default folder of real data"""


class Library:
    """A folder of public data sets, one folder each."""

    def __init__(self, folder: str | Path = FOLDER) -> None:
        """Use this folder, which need not exist if no data is needed."""
        self.folder = Path(folder)
        self.skipped: dict[str, str] = {}
        """the reason for each folder that could not be read"""

    def path(self, name: str) -> Path:
        """Return the path of a file or folder, or raise an error that names it."""
        path = self.folder / name
        if not path.exists():
            raise InputError(f"{path}: not found; --data must name the folder that contains {name}")
        return path

    def find_missing(self, names: tuple[str, ...]) -> list[str]:
        """Return the names that match nothing; * and ** are wildcards."""
        return [name for name in names if not any(self.folder.glob(name))]


CLAIM, THEOREM = "claim", "theorem"
"""a statement about data; a mathematical statement: a closed form, a limit, a consequence of a construction"""


def _whole(evidence: Any) -> Iterable[tuple[str, Any]]:
    return [("", evidence)]


class Claim(NamedTuple):
    """A statement of a paper, and the test of whether it holds here."""

    key: str
    """its name within the experiment"""
    where: str
    """the figure, table or section of the paper"""
    says: str
    """what the paper says, as a sentence"""
    printed: str
    """the paper's number, or how it makes the claim: in words, by a figure"""
    criterion: str
    """when the claim holds; decide it before you look at the data"""
    judge: Callable[[Any], Verdict]
    """returns the verdict on one set of data"""
    quote: str = ""
    """the paper's own words, if it has such a sentence"""
    kind: str = CLAIM
    """a claim about data, or a theorem; a theorem that holds shows that the program is right, and nothing else"""
    split: Callable[[Any], Iterable[tuple[str, Any]]] = _whole
    """returns the name and the evidence of each set of data; an UntestableError replaces evidence that is missing"""

    def test(self, evidence: Any) -> list[Verdict]:
        """Return the verdict on each set of data."""
        return [self._judge(part)._replace(data=name) for name, part in self.split(evidence)]

    def _judge(self, part: Any) -> Verdict:
        try:
            if isinstance(part, UntestableError):
                raise part
            return self.judge(part)
        except UntestableError as error:
            return Verdict(UNTESTED, str(error))


def claim(
    where: str,
    *,
    printed: str,
    criterion: str,
    quote: str = "",
    kind: str = CLAIM,
    split: Callable[[Any], Iterable[tuple[str, Any]]] = _whole,
) -> Callable[[Callable[[Any], Verdict]], Claim]:
    """Return a decorator that makes a claim of the function that judges it.

    The name of the function is the key of the claim, and the first line of its docstring is what the paper says.
    """
    return lambda judge: Claim(
        judge.__name__, where, (judge.__doc__ or "").partition("\n")[0], printed, criterion, judge, quote, kind, split
    )


class Assessment(NamedTuple):
    """A claim with its verdict on one set of data, as text."""

    paper: str
    experiment: str
    kind: str
    where: str
    claim: str
    """what the paper says"""
    quote: str
    printed: str
    criterion: str
    data: str
    here: str
    """our numbers, or the reason for having none"""
    verdict: str
    """holds, differs, undecided or cannot be tested"""

    @property
    def words(self) -> str:
        """What the paper says, followed by its own words if it has such a sentence."""
        return f"{self.claim} (“{self.quote}”)" if self.quote else self.claim


class Observation(NamedTuple):
    """A question that the paper does not ask, and the answer."""

    question: str
    answer: str


class Sheet(NamedTuple):
    """A table with its title."""

    title: str
    table: Table

    @classmethod
    def of(cls, title: str, records: Sequence[Record], digits: int = 4) -> "Sheet":
        """Make a table of one record or more, rounded to `digits` decimals."""
        return cls(title, Table.of(records, digits))


class Figure(NamedTuple):
    """An altair chart with its title."""

    title: str
    chart: Any


class Item(NamedTuple):
    """A part of a paper without a claim, such as a definition, and its counterpart in gradely."""

    where: str
    what: str
    here: str


class Misprint(NamedTuple):
    """A misprint in a paper, and the correct text."""

    where: str
    printed: str
    correct: str


class Outcome(NamedTuple):
    """The outcome of an experiment: what was done, tables and figures by name, verdicts and observations.

    Verdicts and observations follow from the numbers of the run. No conclusion is written in advance, since other data
    may contradict it.
    """

    done: str
    evidence: Any
    """the input of the tests of the claims"""
    sheets: dict[str, Sheet]
    figures: dict[str, Figure]
    observations: Sequence[Observation] = ()
    """answers to questions that the paper does not ask"""
    claims: Sequence[Assessment] = ()
    """the claims of the paper with their verdicts"""
    skipped: Mapping[str, str] = {}
    """the reason for each folder of data that could not be read"""


Work: TypeAlias = Callable[[Library, int, Report], Outcome]
"""Takes the data, the seed and a progress callback, and returns the outcome."""


class Experiment(NamedTuple):
    """An experiment of a paper."""

    name: str
    """begins with the key of its paper in PAPERS, in lower case"""
    part: str
    """the figure or table of the paper"""
    shows: str
    """a line that says what it shows"""
    summary: str
    """what the paper claims, in a few sentences"""
    work: Work
    files: tuple[tuple[str, str], ...]
    """figures, tables or sections of the paper, each with the names of tables and figures here"""
    claims: tuple[Claim, ...] = ()
    needs: tuple[str, ...] = ()
    """files and folders of real data, relative to the data folder; * and ** are wildcards"""
    data: str = ""
    """a description of the data, if `needs` does not say enough"""
    optional: bool = False
    """true if the data is not public"""
    libraries: tuple[str, ...] = ()
    """modules of optional libraries, each in the extra of the same name"""
    timed: bool = False
    """true if it measures time; nothing else may then run"""

    @property
    def paper(self) -> str:
        """The key of PAPERS."""
        return self.name.partition("-")[0].upper()

    @property
    def required_data(self) -> str:
        """A description of the data that it needs."""
        return self.data or ", ".join(self.needs)

    @property
    def missing_libraries(self) -> list[str]:
        """The libraries that it needs and that are not installed."""
        return [name for name in self.libraries if find_spec(name) is None]

    @property
    def skip_reason(self) -> str:
        """The reason if `run all` skips it."""
        return f"it needs {' and '.join(self.missing_libraries) or self.required_data}"

    def run(self, library: Library, seed: int, progress: Report) -> Outcome:
        """Do the work, then test every claim on the evidence."""
        own = Library(library.folder)
        outcome = self.work(own, seed, progress)
        tested = [self.assess(claim, verdict) for claim in self.claims for verdict in claim.test(outcome.evidence)]
        return outcome._replace(claims=tested, skipped=own.skipped)

    def assess(self, claim: Claim, verdict: Verdict) -> Assessment:
        """Return one of its claims with a verdict."""
        about = (claim.kind, claim.where, claim.says, claim.quote, claim.printed, claim.criterion)
        return Assessment(self.paper, self.name, *about, verdict.data, verdict.here, verdict.word)

    def leave_out(self, reason: str) -> list[Assessment]:
        """Return its claims as untested, for this reason."""
        return [self.assess(claim, Verdict(UNTESTED, reason)) for claim in self.claims]
