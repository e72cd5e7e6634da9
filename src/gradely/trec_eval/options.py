"""The command line of trec_eval, parsed as its getopt_long does."""

import os
import re
from getopt import GetoptError, gnu_getopt
from math import inf
from typing import NamedTuple, TypeVar

from gradely.errors import GradelyError, did_you_mean

USAGE, UNREADABLE, IMPOSSIBLE, NOTHING, BAD_ZSCORES = 1, 2, 4, 7, 255
"""exit codes: options and measures; files and parameters; queries that cannot be measured; no query in common; -Z"""
SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "compat=": "--compat",
}
"""the long options of getopt, and the short ones they stand for"""
VERSION = "GRADELY_TREC_EVAL"
"""the environment variable that selects the version of trec_eval"""
ABBREVIATIONS = dict.fromkeys(("--c", "--co", "--com", "--comp"), "--complete_rel_info_wanted")
"""abbreviations that trec_eval accepts, but that the additional option --compat would make ambiguous"""
QRELS, GROUPED = "qrels", "qrels_jg"
"""formats of judgments: labels, and labels by judgment group"""
PREFERENCES = ("prefs", "qrels_prefs")
"""formats of preference judgments"""
LONGEST = 2**63 - 1
"""the largest integer"""
DIGITS = 19
"""the number of its digits"""
USAGE_LINE = "gradely trec_eval [-q] [-c] [-n] [-J] [-l LEVEL] [-M MOST] [-m MEASURE[.PARAMETERS]]... QRELS RUN"


class Quit(GradelyError, ValueError):
    """An error with the exit code of trec_eval."""

    def __init__(self, code: int, message: str) -> None:
        """Take the exit code and the message."""
        super().__init__(message)
        self.code = code


class Options(NamedTuple):
    """The options of a command line."""

    qrels: str
    run: str
    measures: list[str]
    compat: int
    help: bool
    version: bool
    per_query: bool
    complete: bool
    summary: bool
    judged_only: bool
    level: float
    most: int | None
    size: int
    zscores: str | None
    qrels_format: str
    run_format: str

    @property
    def rounding(self) -> str:
        """How this version of trec_eval rounds a share of the relevant documents."""
        return "up" if self.compat == 9 else "nearest"


def parse(arguments: list[str]) -> Options:
    """Return the options of a command line; raise Quit if it is invalid."""
    try:
        pairs, files = gnu_getopt([ABBREVIATIONS.get(argument, argument) for argument in arguments], SHORT, list(LONG))
    except GetoptError as error:
        raise Quit(USAGE, f"{error}; usage: {USAGE_LINE}") from None
    options = [(LONG.get(name[2:], LONG.get(name[2:] + "=", name)), value) for name, value in pairs]
    flags, values = {name for name, _ in options}, dict(options)
    early = flags & {"-h", "-v"}
    if len(files) != 2 and not early:
        raise Quit(USAGE, f"expected two files, the judgments and the run; usage: {USAGE_LINE}")
    if "-D" in values:
        raise Quit(
            USAGE,
            "-D shows trec_eval's internals, which gradely does not have; try `gradely explain`",
        )
    qrels, run = files if len(files) == 2 else ("", "")
    return Options(
        qrels,
        run,
        measures=[value for name, value in options if name == "-m"],
        compat=_compat(values),
        help="-h" in flags,
        version="-v" in flags,
        per_query="-q" in flags,
        complete="-c" in flags,
        summary="-n" not in flags,
        judged_only="-J" in flags,
        level=_level(values.get("-l", "1")),
        most=max(atol(values["-M"]), 0) if "-M" in values else None,
        size=atol(values.get("-N", "0")),
        zscores=values.get("-Z"),
        qrels_format=values.get("-R", QRELS),
        run_format=values.get("-T", "trec_results"),
    )


def atol(text: str) -> int:
    """Return the integer at the beginning of a text, or 0 if there is none, as atol of C does.

    >>> atol("23.4"), atol(" -7x"), atol("many")
    (23, -7, 0)
    """
    match = re.match(r"\s*([+-]?)0*(\d*)", text, re.ASCII)
    assert match is not None  # the pattern matches the empty string
    size = LONGEST if len(match[2]) > DIGITS else min(int(match[2] or "0"), LONGEST)
    return -size if match[1] == "-" else size


def _compat(values: dict[str, str]) -> int:
    """Return the version of trec_eval: from --compat, else from the environment, else the newest."""
    name, text = next(
        (pair for pair in (("--compat", values.get("--compat")), (VERSION, os.environ.get(VERSION))) if pair[1]),
        ("--compat", "10"),
    )
    if text not in ("9", "10"):
        raise Quit(USAGE, f"{name} must be a version of trec_eval, 9 or 10; found {text!r}")
    return int(text)


def _level(text: str) -> int:
    if atol(text) < 0:
        raise Quit(USAGE, f"-l {text}: unjudged documents would be relevant; use a level of 0 or more")
    return atol(text)


def check_formats(options: Options) -> None:
    """Refuse formats that are not supported."""
    form = options.qrels_format
    if form in PREFERENCES:
        raise Quit(UNREADABLE, f"-R {form}: preference judgments are not supported, only {QRELS} and {GROUPED}")
    if form not in (QRELS, GROUPED):
        hint = did_you_mean(form, (QRELS, GROUPED))
        raise Quit(UNREADABLE, f"-R {form}: no such format of judgments; use {QRELS} or {GROUPED}.{hint}")
    if options.run_format != "trec_results":
        raise Quit(UNREADABLE, f"-T {options.run_format}: no such format of runs; use trec_results")


NUMBER = re.compile(
    r"\s*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?)"
    r"|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(inf(?:inity)?)|(nan))",
    re.IGNORECASE | re.ASCII,
)
"""sign, and a hexadecimal or decimal number, infinity or nan"""
T = TypeVar("T")
Pairs = list[tuple[str, float]]


def atof(text: str) -> float:
    """Return the number at the beginning of a text, or 0 if there is none, as atof of C does.

    >>> atof("1.5e3x"), atof("0x10"), atof(".25"), atof("high")
    (1500.0, 16.0, 0.25, 0.0)
    >>> atof("0x1p1024")
    inf
    """
    match = NUMBER.match(text)
    if not match:
        return 0.0
    sign, hexadecimal, *other = match.groups()
    value = _from_hexadecimal(hexadecimal) if hexadecimal else float(next(filter(None, other)))
    return -value if sign == "-" else value


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return inf


def read_cutoffs(name: str, text: str) -> list[int]:
    """Return whole numbers above 0, ascending."""
    numbers = sorted(map(atol, text.split(",")))
    if numbers[0] <= 0:
        raise Quit(UNREADABLE, f"-m {name}.{text}: a cut-off is a whole number of at least 1, as in {name}.5,10")
    return _distinct(name, text, numbers)


def read_levels(name: str, text: str) -> list[float]:
    """Return numbers in ascending order; refuse duplicates."""
    return _distinct(name, text, sorted(read_numbers(name, text)))


def _distinct(name: str, text: str, numbers: list[T]) -> list[T]:
    if len(set(numbers)) < len(numbers):
        raise Quit(UNREADABLE, f"-m {name}.{text}: the same cut-off is given twice; keep one")
    return numbers


def read_numbers(_: str, text: str) -> list[float]:
    """Return numbers in the given order."""
    return [atof(number) for number in text.split(",")]


def read_pairs(name: str, text: str) -> Pairs:
    """Return (key, number) pairs in the given order."""
    parts = [part.split("=") for part in text.split(",")]
    if any(len(part) != 2 for part in parts):
        raise Quit(UNREADABLE, f"-m {name}.{text}: write parameters as key=number, as in {name}.1=3,2=9")
    return [(key, atof(number)) for key, number in parts]


def read_persistence(pairs: Pairs) -> float:
    """Return the parameter p of rbp; if it is given several times, the last one counts."""
    return dict(pairs).get("p", 0.9)


def read_gains(pairs: Pairs, compat: int) -> list[tuple[int, float]]:
    """Return levels and gains; version 9 accepts any key as a level, version 10 only integers."""
    levels = [(atol(key), gain) for key, gain in pairs if compat == 9 or re.fullmatch(r"[+-]?[0-9]+", key)]
    lowest = min((level for level, _ in levels), default=0)
    if lowest < 0:
        raise Quit(UNREADABLE, f"a gain for the level {lowest}: negative levels are not judged and have no gain")
    return levels
