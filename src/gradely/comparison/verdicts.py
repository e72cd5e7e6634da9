"""The verdicts of a gate: drops and their limits, means and their floors."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, ClassVar, NamedTuple

from gradely.comparison.pairwise import in_points, largest_differences
from gradely.comparison.sentences import format_signed, list_names
from gradely.data.texts import Texts
from gradely.errors import DataError
from gradely.evaluation.notes import SAME, Note
from gradely.evaluation.result import Result, Section
from gradely.measures.names import MeasureLike, parse
from gradely.settings import Undecided, check_choice
from gradely.tables import (
    Cell,
    PValue,
    Table,
    count_of,
    escape_markdown,
    format_p,
    plain_line,
    render,
    show_beside,
    typed_frame,
)

UNDECIDED = ("pass", "fail")
"""the possible results for an undecided run"""


class Change(NamedTuple):
    """The change of one measure from the old run to the new one, and its limit."""

    measure: str
    old: float
    new: float
    drop: float
    """old minus new: negative if the new run is better"""
    limit: float
    low: float | None
    """the interval of the drop at the level 1 - 2·alpha; None if there is none"""
    high: float | None
    p: float | None
    """the p-value of a drop above the limit; None if nothing can be tested"""
    adjusted: float | None
    """this p-value, corrected over the measures"""
    p_not_worse: float | None
    """the p-value of a drop below the limit"""
    losses: int
    """the number of queries, or collections, on which the new run is worse"""
    verdict: str = "undecided"
    """worse (than allowed), not worse (shown to be within the limit), same (on every query), or undecided"""
    failed: bool = False
    detectable: float | None = None
    """the smallest drop that would be shown to exceed the limit with a power of 0.8; None if nothing varies, if no
    drop could be shown to exceed the limit, or if it would exceed the range of the measure"""
    queries_needed: int | None = None
    """the number of queries that would decide with a power of 0.8 if the true drop is as observed; None if none"""
    holes_low: float | None = None
    """the range of the drop over the labels of unjudged documents, if requested; None if there is none"""
    holes_high: float | None = None
    open: bool = False
    """whether these labels decide if the drop exceeds its limit, in which case the gate fails"""


class Floor(NamedTuple):
    """The mean of the new run by one measure, and its floor; nothing is tested."""

    measure: str
    value: float
    floor: float
    failed: bool


class Case(NamedTuple):
    """One condition of a gate, as a test case for continuous integration."""

    name: str
    verdict: str
    told: str
    """the result in words"""
    failed: bool


class Verdicts(Result):
    """Whether a new run or system may replace an old one; true if it may."""

    changes: Sequence[Change]
    floors: Sequence[Floor]
    strict: bool
    """whether a drop above its limit fails even if it is not significant"""
    undecided: str
    """pass or fail: the result for an undecided measure"""
    holes: bool = False
    """whether changes have the range of the drop over the labels of unjudged documents"""
    over: ClassVar[str] = ""
    """the words that follow the names in sentences"""
    unit: ClassVar[str] = "losses"
    """the header of the column of losses"""

    @property
    def names(self) -> Sequence[str]:
        """The new run or system, and the old one if there is one."""
        raise NotImplementedError

    @property
    def alpha(self) -> float:
        """The significance level of the tests."""
        raise NotImplementedError

    @property
    def is_corrected(self) -> bool:
        """Whether the p-values of ‘worse’ are corrected over several measures."""
        raise NotImplementedError

    def _say_what_it_takes(self, change: Change) -> str:
        """Return what is needed to decide an undecided measure."""
        raise NotImplementedError

    @property
    def passed(self) -> bool:
        """Whether no measure failed."""
        return not any(case.failed for case in self.cases())

    def __bool__(self) -> bool:
        """Return whether the gate passed, for `assert gate(…)`."""
        return self.passed

    @property
    def verdict(self) -> str:
        """The verdict over all measures: worse if any is worse, else undecided if any is undecided, else not worse.

        It is `same` if both runs are equal on every query, and `untested` without a baseline.
        """
        if not self.changes:
            return "untested"
        verdicts = {change.verdict for change in self.changes}
        return next((kind for kind in ("worse", "undecided", "not worse") if kind in verdicts), "same")

    def summary(self) -> str:
        """Return the verdicts on changes and floors as a sentence."""
        said = [*([self._say_changes()] if self.changes else []), *([self._say_floors()] if self.floors else [])]
        return f"{'Passed' if self.passed else 'Failed'}: {'; '.join(said)}."

    def _say_changes(self) -> str:
        new, old = self.names
        than = f"{old}{self.over} by more than allowed"
        says = {
            "worse": f"{new} is worse than {than}",
            "undecided": f"it is undecided whether {new} is worse than {than}",
            "not worse": f"{new} is shown not to be worse than {than}",
            "same": f"{new} and {old} have the same value on every query",
        }
        told = [self._tell(change) for change in self.changes if change.verdict == self.verdict != "same"]
        undecided = [change.measure for change in self.changes if change.failed and change.verdict == "undecided"]
        also = undecided if self.verdict == "worse" else []  # where this is the verdict, it is told above
        fails = f"; {list_names(also)} {'is' if len(also) == 1 else 'are'} undecided, which fails, too" if also else ""
        return says[self.verdict] + (f": {'; '.join(told)}" if told else "") + fails

    def _tell(self, change: Change) -> str:
        """Return the change of one measure, and the reason for its verdict."""
        size = show_beside(change.drop, change.limit, 0.0).removeprefix("-")
        how = "shows no drop" if abs(change.drop) <= SAME else f"{'fell' if change.drop > 0 else 'rose'} by {size}"
        moved = f"{change.measure} {how}"
        if change.verdict == "undecided":
            return f"{moved} (limit {change.limit:g}; {self._say_what_it_takes(change)})"
        if change.verdict == "worse":
            return f"{moved}, more than {change.limit:g} ({self._say_p(change, worse=True)})"
        return f"{moved} (limit {change.limit:g}; {self._say_p(change, worse=False)})"

    def _say_p(self, change: Change, *, worse: bool) -> str:
        """Return the p-value of a drop above its limit, corrected, or below it."""
        p = change.adjusted if worse else change.p_not_worse
        kind = "corrected p" if worse and self.is_corrected else "p"
        return f"{kind} {format_p(1.0 if p is None else p, self.alpha)}"

    def _say_floors(self) -> str:
        below = [floor for floor in self.floors if floor.failed]
        if not below:
            return f"{self.names[0]} is not below {'its floor' if len(self.floors) == 1 else 'any of its floors'}"
        told = ", ".join(map(show_against, below))
        return f"{self.names[0]} is below {'its floor' if len(below) == 1 else 'its floors'}: {told}"

    def _say_conditions(self) -> str:
        """Return when the gate fails because of a drop."""
        shown = "exceeds its limit, significantly or not" if self.strict else "is shown to exceed its limit"
        undecided = ", or is not shown to be within it" if self.undecided == "fail" else ""
        holes = ", or if that depends on the labels of unjudged documents" if self.holes else ""
        return f"The gate fails if a drop {shown}{undecided}{holes}."

    @property
    def level(self) -> str:
        """The level of the intervals as text."""
        return f"{100 * (1 - 2 * self.alpha):g} %"

    def say_interval(self, change: Change) -> str:
        """Return the interval of a drop as text; empty if there is none.

        The interval of an undecided drop may leave its limit out, since it is by t and uncorrected; the p-value that
        decides then follows.
        """
        if change.low is None or change.high is None:
            return ""
        ends = f"{self.level} interval of the drop {format_signed(change.low)} … {format_signed(change.high)}"
        if change.verdict == "undecided" and not change.low <= change.limit <= change.high:
            return f"{ends}, but {self._say_p(change, worse=change.drop - change.limit > SAME)}"
        return ends

    def table(self) -> Table:
        """Return one row per measure, or per floor if nothing is compared."""
        return self.changes_table() if self.changes else self.floors_table()

    def changes_table(self) -> Table:
        """Return one row per measure: old, new, drop, limit, interval, tests and verdict."""
        tests = ["p worse", "p not worse"]
        holes = ["holes low", "holes high"] if self.holes else []
        header = ["measure", "old", "new", "drop", "limit", "low", "high", *tests, self.unit, *holes, "verdict"]
        rows: list[list[Cell]] = [
            [
                *change[:7],
                self._show_p(change.adjusted),
                self._show_p(change.p_not_worse),
                change.losses,
                *([change.holes_low, change.holes_high] if self.holes else []),
                _show_verdict(change),
            ]
            for change in self.changes
        ]
        return Table(header, rows)

    def floors_table(self) -> Table:
        """Return one row per floor: the mean, the floor and the verdict."""
        rows: list[list[Cell]] = [
            [floor.measure, floor.value, floor.floor, "below, fails" if floor.failed else "not below"]
            for floor in self.floors
        ]
        return Table(["measure", "new", "floor", "verdict"], rows)

    def _show_p(self, p: float | None) -> PValue | None:
        return None if p is None else PValue(p, self.alpha)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the verdict and the tables."""
        return [
            self.summary(),
            *([self.changes_table()] if self.changes else []),
            *([self.floors_table()] if self.floors else []),
        ]

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe with one row per measure, or per floor if nothing is compared."""
        kind, rows = (Change, self.changes) if self.changes else (Floor, self.floors)
        return Table(kind._fields, [list(row) for row in rows]).to_frame(library)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "summary": self.summary(),
            "caption": self.caption(),
            "measures": [change._asdict() for change in self.changes],
            "floors": [floor._asdict() for floor in self.floors],
            "notes": self._list_notes(),
        }

    def cases(self) -> list[Case]:
        """Return one test case per measure and per floor."""
        return [
            *(
                Case(
                    f"{change.measure} falls by at most {change.limit:g}",
                    change.verdict,
                    "the same value on every query" if change.verdict == "same" else self._tell(change),
                    change.failed,
                )
                for change in self.changes
            ),
            *(
                Case(
                    f"{floor.measure} is at least {floor.floor:g}",
                    "below" if floor.failed else "not below",
                    show_against(floor),
                    floor.failed,
                )
                for floor in self.floors
            ),
        ]

    def markdown(self, queries_text: Texts | None = None) -> str:
        """Return a summary in Markdown: the verdict, the tables, and the notes.

        The summary of two runs also has the queries with the largest losses by each measure, with their texts, given as
        {id: text} or as a file.
        """
        verdict, *sections = self.sections(self.digits)
        parts = [
            f"## {'✅' if self.passed else '❌'} {escape_markdown(str(verdict))}",
            *(render(section, "markdown") for section in sections if isinstance(section, Table)),
            *self._fold_details(queries_text),
            "\n".join(f"- {escape_markdown(str(line))}" for line in (self.caption(), *self.notes)),
        ]
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    def _fold_details(self, queries_text: Texts | None) -> list[str]:  # noqa: ARG002 - used by a subclass
        """Return sections in Markdown that readers unfold."""
        return []

    def junit(self) -> str:
        """Return JUnit XML for continuous integration, with one test case per measure and per floor.

        A measure that passes undecided says so in its output.
        """
        import xml.etree.ElementTree as ET  # nosec B405 - it writes, and reads nothing

        cases = self.cases()
        counts = {"tests": str(len(cases)), "failures": str(sum(case.failed for case in cases)), "errors": "0"}
        root = ET.Element("testsuites", counts)
        suite = ET.SubElement(root, "testsuite", {"name": "gradely gate", **counts, "skipped": "0", "time": "0"})
        for case in cases:
            attributes = {"classname": "gradely.gate", "name": plain_line(case.name), "time": "0"}
            place, told = ET.SubElement(suite, "testcase", attributes), plain_line(case.told)
            if case.failed:
                ET.SubElement(place, "failure", {"type": plain_line(case.verdict), "message": told}).text = told
            else:
                ET.SubElement(place, "system-out").text = f"{plain_line(case.verdict)}: {told}"
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def show_against(floor: Floor) -> str:
    """Return a mean and its floor, with enough digits to tell them apart."""
    return f"{floor.measure} {show_beside(floor.value, floor.floor)}, the floor is {floor.floor:g}"


def _show_verdict(change: Change) -> str:
    """Return the verdict on a measure, and that it fails unless that is obvious."""
    if change.verdict == "worse" or not change.failed:
        return change.verdict
    return f"{change.verdict}, fails"


def judge_change(change: Change, alpha: float, *, differs: bool, strict: bool, undecided: str) -> Change:
    """Return the change with its verdict and whether it fails.

    The drop and its test must agree: a test that contradicts the mean, as Wilcoxon's may, leaves the verdict undecided.
    """
    exceeds = change.drop - change.limit > SAME
    p = change.adjusted if exceeds else change.p_not_worse
    verdict = "undecided"
    if not differs:
        verdict = "same"
    elif p is not None and p < alpha:
        verdict = "worse" if exceeds else "not worse"
    failed = verdict == "worse" or (verdict == "undecided" and (undecided == "fail" or (strict and exceeds)))
    return change._replace(verdict=verdict, failed=failed)


def note_constant(changes: Sequence[Change]) -> list[Note]:
    """Note measures by which nothing varies, so that there is no t."""
    count = sum(change.low is None and change.verdict != "same" for change in changes)
    text = (
        f"by {count:,} of {count_of(len(changes), 'measure')} the drop is the same on every query, and t is undefined: "
        "p comes from the exact randomization test"
    )
    return [Note("spreadless", count, len(changes), text)] if count else []


def check_limits(
    max_drop: float | Mapping[str, float], measures: MeasureLike | Iterable[MeasureLike]
) -> dict[str, float]:
    """Return {measure: limit}; raise DataError for an invalid limit, or for a measure that is not measured."""
    spans = largest_differences(measures)
    names = list(spans)
    single = {str(parse(name)): limit for name, limit in max_drop.items()} if isinstance(max_drop, Mapping) else {}
    unknown = next((name for name in single if name not in names), None)
    if unknown is not None:
        raise DataError(f"a limit is given for {unknown}, which is not measured: add it to {', '.join(names)}")
    usual = 0.0 if isinstance(max_drop, Mapping) else max_drop
    limits = {name: single.get(name, usual) for name in names}
    for name, limit in limits.items():
        if not (isinstance(limit, int | float) and limit >= 0 and isfinite(limit)):
            raise DataError(f"the allowed drop of {name} must be a number of at least 0, like 0.01; found {limit!r}")
        if limit >= spans[name]:
            fall = f"{name} cannot fall by more than {spans[name]:g}"
            raise DataError(f"{fall}, so a gate that allows a drop of {limit:g} never fails; give {in_points(limit)}")
    return limits


def settle_limits(
    max_drop: float | Mapping[str, float], non_inferior: float | Mapping[str, float] | None, undecided: Undecided
) -> tuple[float | Mapping[str, float], Undecided]:
    """Return the limits, and the result for undecided measures, which is fail with `non_inferior`."""
    if non_inferior is None:
        return max_drop, undecided
    if max_drop != 0.0:
        raise DataError("give max_drop or non_inferior: both say how much a mean may fall")
    return non_inferior, "fail"


def check_one_sided(undecided: str, alpha: float) -> None:
    """Raise DataError for an unknown result of undecided measures, or for an alpha that one-sided tests cannot have."""
    check_choice("undecided", undecided, UNDECIDED)
    if alpha >= 0.5:
        raise DataError(f"alpha of a gate must be below 0.5, since its tests are one-sided; found {alpha!r}")


def check_floors(floors: Mapping[str, float] | None) -> dict[str, float]:
    """Return {measure: floor}; raise DataError for a floor that every run or no run reaches."""
    found = {}
    for name, floor in (floors or {}).items():
        measure = parse(name)
        low, high = measure.bounds
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not isfinite(floor):
            raise DataError(f"the floor of {measure} must be a number, like 0.85; found {floor!r}")
        if floor > high:
            raise DataError(
                f"{measure} is at most {high:g}, so a floor of {floor:g} always fails; give {in_points(floor)}"
            )
        if floor <= low:
            raise DataError(f"{measure} is at least {low:g}, so a floor of {floor:g} never fails; give a higher one")
        found[str(measure)] = float(floor)
    return found


def hold_against_floors(values: Mapping[str, float], floors: Mapping[str, float]) -> list[Floor]:
    """Compare values with their floors, up to rounding."""
    return [Floor(name, values[name], floor, bool(values[name] < floor - SAME)) for name, floor in floors.items()]
