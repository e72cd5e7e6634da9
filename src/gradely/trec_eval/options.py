"""The command line of trec_eval, read as its getopt_long does."""

import os
import re
from getopt import GetoptError, gnu_getopt
from typing import NamedTuple

from gradely.errors import did_you_mean
from gradely.trec_eval.errors import UNREADABLE, USAGE, Quit

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
"""getopt's long options, and the short ones they stand for"""
VERSION = "GRADELY_TREC_EVAL"
"""the variable of the environment that says which version to be like"""
PREFERENCES = ("prefs", "qrels_prefs", "qrels_jg")
"""formats of judgments that are not graded labels"""
LONGEST = 2**63 - 1
"""whole numbers are not larger"""
USAGE_LINE = "gradely trec_eval [-q] [-c] [-n] [-J] [-l LEVEL] [-M MOST] [-m MEASURE[.PARAMETERS]]... QRELS RUN"


class Options(NamedTuple):
    """What was asked for."""

    qrels: str
    run: str
    measures: list[str]
    compat: int = 10
    help: bool = False
    version: bool = False
    per_query: bool = False
    complete: bool = False
    summary: bool = True
    judged_only: bool = False
    level: int = 1
    most: int | None = None
    size: int = 0
    zscores: str | None = None


def parse(arguments: list[str]) -> Options:
    """Return the options of a command line; raise Quit where it is not one."""
    try:
        found, files = gnu_getopt(arguments, SHORT, list(LONG))
    except GetoptError as error:
        raise Quit(USAGE, f"{error}; usage: {USAGE_LINE}") from None
    given = [(LONG.get(name[2:], LONG.get(name[2:] + "=", name)), value) for name, value in found]
    flags, values = {name for name, _ in given}, dict(given)
    early = flags & {"-h", "-v"}
    if len(files) != 2 and not early:
        raise Quit(USAGE, f"give two files, the judgments and the run; usage: {USAGE_LINE}")
    _refuse(values)
    qrels, run = files if len(files) == 2 else ("", "")
    return Options(
        qrels,
        run,
        measures=[value for name, value in given if name == "-m"],
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
    )


def atol(text: str) -> int:
    """Return the whole number that a text begins with, 0 where it begins with none.

    >>> atol("23.4"), atol(" -7x"), atol("many")
    (23, -7, 0)
    """
    found = re.match(r"\s*([+-]?\d+)", text)
    return max(-LONGEST, min(int(found[1]), LONGEST)) if found else 0


def _compat(values: dict[str, str]) -> int:
    """Return the version to be like: that of --compat, else of the environment, else the newest."""
    name, text = next(
        (pair for pair in (("--compat", values.get("--compat")), (VERSION, os.environ.get(VERSION))) if pair[1]),
        ("--compat", "10"),
    )
    if text not in ("9", "10"):
        raise Quit(USAGE, f"{name} is the version to be like, 9 or 10; found {text!r}")
    return int(text)


def _level(text: str) -> int:
    if atol(text) < 0:
        raise Quit(USAGE, f"-l {text}: documents without a judgment would be relevant; use a level of 0 or more")
    return atol(text)


def _refuse(values: dict[str, str]) -> None:
    """Refuse what gradely does not do, and say so."""
    if "-D" in values:
        raise Quit(USAGE, "-D shows the inside of trec_eval, which is not here; try `gradely explain` for one query")
    form = values.get("-R", "qrels")
    if form in PREFERENCES:
        raise Quit(UNREADABLE, f"-R {form}: preference judgments are not read here, only qrels")
    if form != "qrels":
        raise Quit(UNREADABLE, f"-R {form}: no such format of judgments; use qrels.{did_you_mean(form, PREFERENCES)}")
    if values.get("-T", "trec_results") != "trec_results":
        raise Quit(UNREADABLE, f"-T {values['-T']}: no such format of runs; use trec_results")
