"""The command line of the mutants: make them, let the tests meet them, and say which survive."""

import argparse
import os
import resource
import sys

import pytest
from hypothesis import Phase, settings

from tests.mutants.areas import AREAS, JUDGED, LEFT_OUT, UNJUDGED, paths_of
from tests.mutants.changes import ROOT, mutants, one_per_line
from tests.mutants.check import Check, say
from tests.mutants.lives import OPTIONS
from tests.mutants.survivors import find_gone, judge, read_list


def parse():
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help="names of files; by default all of the areas")
    parser.add_argument(
        "--area", choices=AREAS, action="append", help="only this area; repeat for more; by default those judged"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after so long; the next time goes on")
    parser.add_argument(
        "--seconds", type=float, default=60, help="of tests that a mutant meets at most; 6 for a first look"
    )
    parser.add_argument(
        "--tests", nargs="+", default=["tests", "src"], metavar="PATH", help="tests that mutants meet, for a first look"
    )
    parser.add_argument("--all", action="store_true", help="every change of a line, not one; some hours at first")
    parser.add_argument("--listed", action="store_true", help="also those that are listed as survivors")
    parser.add_argument("--again", action="store_true", help="forget what became of mutants before")
    return parser.parse_args()


def main():
    given = parse()
    quick = [Phase.explicit, Phase.generate]  # what fails need not be made small
    settings.register_profile("mutants", derandomize=True, database=None, phases=quick, deadline=None)
    settings.load_profile("mutants")
    areas = given.area or (AREAS if given.files else JUDGED)
    paths = [path for area in areas for path in paths_of(area)]
    made = [mutant for path in paths if not given.files or path.name in given.files for mutant in mutants(path)]
    chosen = made if given.all else one_per_line(made)
    check = Check(chosen, given.jobs, given.minutes, given.seconds, listed=given.listed, again=given.again)
    code = pytest.main([*OPTIONS, *LEFT_OUT, *given.tests], plugins=[check])
    code = int(code) or conclude(check, made)
    if areas is JUDGED:
        say(f"areas that nobody has judged yet, and that were not looked at: {', '.join(UNJUDGED)}")
    sys.stdout.flush()
    os._exit(code)  # libraries would call leaked what the forks have in common


def conclude(check, made):
    """Say what survived; return 1 where the list of survivors is not right, or not all were looked at."""
    outcomes, reasons = check.outcomes(), read_list()
    survived = {mutant.name: mutant for mutant, killer in outcomes.items() if not killer}
    new, noticed = judge(survived, {mutant.name for mutant in outcomes}, reasons)
    gone = find_gone(reasons, made, {mutant.path for mutant in made})
    failing = check.touched.failing()
    for name in new:
        touched = "" if check.tests_of(survived[name]) else "  (no test touches it)"
        say(f"{name}  at line {survived[name].line}{touched}")
    for trouble, names in {
        "listed, but noticed": noticed,
        "listed, but no longer there": gone,
        "fails without any change": failing,
    }.items():
        for name in names:
            say(f"{trouble}: {name}")
    listed = [mutant for mutant in check.mutants if mutant.name in reasons]
    absent = len(check.mutants) - len({*outcomes, *listed})
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    say(f"{sum(one.ru_utime + one.ru_stime for one in used):,.0f} seconds of processors")
    say(f"{len(check.mutants):,} mutants: {len(new):,} survive, {len(listed):,} are listed, {absent:,} are left")
    return 1 if new or noticed or gone or failing or absent else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    main()
