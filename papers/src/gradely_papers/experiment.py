"""What an experiment is: the data it works on, the claims it tests, and what comes out of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from gradely import InputError
from gradely.tables import Table
from gradely_papers.progress import Report
from gradely_papers.verdicts import UNTESTED, Record, UntestableError, Verdict

FOLDER = "data"
"""where real data is looked for by default"""


class Library:
    """A folder of public data sets, each in a folder of its own."""

    def __init__(self, folder: str | Path = FOLDER) -> None:
        """Look in this folder; it need not be there for experiments that need no data."""
        self.folder = Path(folder)
        self.skipped: dict[str, str] = {}
        """folders that could not be read, and why"""

    def path(self, name: str) -> Path:
        """Return the path of something in the library; say what is needed where it is not there."""
        path = self.folder / name
        if not path.exists():
            raise InputError(f"{path}: not found; --data names the folder that holds {name}")
        return path

    def find_missing(self, names: tuple[str, ...]) -> list[str]:
        """Return those that are not there; * and ** stand for any names."""
        return [name for name in names if not any(self.folder.glob(name))]


CLAIM, THEOREM = "claim", "theorem"
"""a statement about data; or one of mathematics: a closed form, a limit, or a consequence of a construction"""


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
    """when the claim holds; decide this before you look at the data"""
    judge: Callable[[Any], Verdict]
    """returns the verdict on one set of data"""
    quote: str = ""
    """the paper's own words, if it has such a sentence"""
    kind: str = CLAIM
    """a claim about data, or a theorem; a theorem that holds shows that the program is right, and nothing else"""
    split: Callable[[Any], Iterable[tuple[str, Any]]] = _whole
    """returns the name and the evidence of each set of data, or an UntestableError in place of the evidence"""

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
    """A claim beside what came out on one set of data, all in words."""

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
    """our numbers, or why there are none"""
    verdict: str
    """holds, differs, undecided or cannot be tested"""

    @property
    def words(self) -> str:
        """What the paper says, with its own words where it has such a sentence."""
        return f"{self.claim} (“{self.quote}”)" if self.quote else self.claim


class Observation(NamedTuple):
    """Something that we asked beyond the paper, and the answer."""

    question: str
    answer: str


class Sheet(NamedTuple):
    """A table with what it shows."""

    title: str
    table: Table

    @classmethod
    def of(cls, title: str, records: Sequence[Record], digits: int = 4) -> "Sheet":
        """Make it from at least one record; `digits` is the number of decimals."""
        return cls(title, Table.of(records, digits))


class Figure(NamedTuple):
    """An altair chart with what it shows."""

    title: str
    chart: Any


class Item(NamedTuple):
    """Something of a paper that makes no claim, such as a definition, and where it is here."""

    where: str
    what: str
    here: str


class Misprint(NamedTuple):
    """Something that a paper prints and does not mean."""

    where: str
    printed: str
    right: str


class Outcome(NamedTuple):
    """The outcome of an experiment: what was done, tables and figures by name, and what came out.

    What came out are verdicts on claims and answers to questions, both from the numbers of that run: a conclusion that
    was written beforehand has no place here, since anyone's data may contradict it.
    """

    done: str
    evidence: Any
    """what the claims of the experiment are tested on"""
    sheets: dict[str, Sheet]
    figures: dict[str, Figure]
    observations: Sequence[Observation] = ()
    """what came out that the paper does not speak of"""
    claims: Sequence[Assessment] = ()
    """the claims of the paper, each with its verdict"""
    skipped: Mapping[str, str] = {}
    """folders of data that could not be read, and why"""


Work: TypeAlias = Callable[[Library, int, Report], Outcome]
"""From data, seed and what takes the progress to the outcome."""


class Experiment(NamedTuple):
    """An experiment of a paper."""

    name: str
    """begins with the paper, a key of PAPERS in small letters"""
    part: str
    """the figure or table of the paper"""
    shows: str
    """what it shows, in a line"""
    summary: str
    """what the paper claims, in a few sentences"""
    work: Work
    files: tuple[tuple[str, str], ...]
    """figures, tables or sections of the paper, each with the names of tables and figures here"""
    claims: tuple[Claim, ...] = ()
    needs: tuple[str, ...] = ()
    """files and folders of real data, relative to the data folder; * and ** stand for any names"""
    data: str = ""
    """the data in words, where `needs` does not say enough"""
    optional: bool = False
    """true where the data is not public, so that `run all` skips the experiment where it is absent"""
    libraries: tuple[str, ...] = ()
    """modules of heavy libraries, each in the extra of its name; `run all` skips the experiment where one is absent"""
    timed: bool = False
    """true where it measures time, so that nothing may run beside it"""

    @property
    def paper(self) -> str:
        """The key of PAPERS."""
        return self.name.partition("-")[0].upper()

    @property
    def required_data(self) -> str:
        """What data it needs, in words."""
        return self.data or ", ".join(self.needs)

    @property
    def missing_libraries(self) -> list[str]:
        """Which of its libraries are not installed."""
        return [name for name in self.libraries if find_spec(name) is None]

    @property
    def skip_reason(self) -> str:
        """Why `run all` skips it, where it does."""
        return f"it needs {' and '.join(self.missing_libraries) or self.required_data}"

    def run(self, library: Library, seed: int, progress: Report) -> Outcome:
        """Do the work, then test every claim on what came out."""
        own = Library(library.folder)
        outcome = self.work(own, seed, progress)
        tested = [self.assess(claim, verdict) for claim in self.claims for verdict in claim.test(outcome.evidence)]
        return outcome._replace(claims=tested, skipped=own.skipped)

    def assess(self, claim: Claim, verdict: Verdict) -> Assessment:
        """Return one of its claims beside a verdict."""
        about = (claim.kind, claim.where, claim.says, claim.quote, claim.printed, claim.criterion)
        return Assessment(self.paper, self.name, *about, verdict.data, verdict.here, verdict.word)

    def leave_out(self, reason: str) -> list[Assessment]:
        """Return its claims where it was not run, and why."""
        return [self.assess(claim, Verdict(UNTESTED, reason)) for claim in self.claims]
