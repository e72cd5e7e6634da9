"""The command line of the mutants: make them, let the tests meet them, and say which survive."""

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import sys
import time
from multiprocessing.connection import wait

from hypothesis import settings

from gradely.cli.progress import Bar
from tests.mutants.areas import AREAS, SAME
from tests.mutants.changes import ROOT, Finder, Mutant, mutants
from tests.mutants.survivors import read_survivors, verdict

CACHE = ROOT / ".mutants" / "outcomes.json"
PATIENCE = 900
"""seconds after which a mutant that hangs counts as noticed"""


def live(mutant, area, oracle):
    """Leave with 0 where no test notices the mutant, with 1 where one does."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("gradely", "tests")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder(mutant))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1), os.dup2(quiet, 2)
    try:
        noticed = (area.values and differs(oracle)) or any(map(tests_fail, area.stages))
    except BaseException:  # noqa: BLE001 - whatever happens, it is noticed
        noticed = True
    os._exit(int(noticed))


def differs(oracle):
    """Return whether a value is not what the reference says."""
    from tests import test_together

    test_together.expected = lambda kind, policy: oracle[kind, policy]
    for kind, policy in oracle:
        test_together.test_every_measure_is_what_the_reference_says(kind, policy)
    return False


def tests_fail(tests):
    import pytest

    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", SAME]
    return pytest.main([*options, *tests]) != 0


def oracle_of():
    """Return what the reference says, which no mutant changes."""
    from tests import test_together

    pairs = [(kind, policy) for kind in test_together.LABELS for policy in test_together.POLICIES]
    return {pair: test_together.expected(*pair) for pair in pairs}


def outcomes(candidates, jobs, oracle):
    """Yield each mutant and whether it survives, as they are found out."""
    context, running, waiting = multiprocessing.get_context("fork"), {}, list(reversed(candidates))
    while waiting or running:
        while waiting and len(running) < jobs:
            area, mutant = waiting.pop()
            process = context.Process(target=live, args=(mutant, AREAS[area], oracle))
            process.start()
            running[process.sentinel] = process, mutant, time.monotonic()
        wait(list(running), timeout=10)
        for sentinel, (process, mutant, started) in list(running.items()):
            if process.exitcode is None and time.monotonic() - started > PATIENCE:
                process.kill()
            if process.exitcode is not None:
                del running[sentinel]
                yield mutant, process.exitcode == 0


def key_of(area, mutant):
    """Return what an outcome depends on: the file, the change in it, and the tests of its area."""
    tests = [ROOT / path.split("::")[0] for stage in AREAS[area].stages for path in stage]
    texts = [path.read_bytes() for path in (*tests, ROOT / "tests/reference.py", mutant.path) if path.is_file()]
    return hashlib.sha256(b"\0".join([*texts, f"{mutant.path.name} {mutant.number}".encode()])).hexdigest()


def read_results():
    return json.loads(CACHE.read_text()) if CACHE.exists() else {}


def remember(memory):
    CACHE.parent.mkdir(exist_ok=True)
    CACHE.with_suffix(".new").write_text(json.dumps(memory))
    CACHE.with_suffix(".new").replace(CACHE)


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def parse():
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help="names of files; by default all")
    parser.add_argument("--area", choices=AREAS, action="append", help="only this area; repeat for more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument("--again", action="store_true", help="forget what became of mutants before")
    return parser.parse_args()


def choose_mutants(arguments):
    """Return the mutants to look at, each with its area."""
    candidates = []
    for area in arguments.area or AREAS:
        paths = [path for path in AREAS[area].paths() if not arguments.files or path.name in arguments.files]
        candidates += [(area, mutant) for mutant in mutants(paths)]
    return candidates[:: arguments.every]


def check_unchanged(areas, oracle):
    """Raise unless the tests pass without any change."""
    for area in areas:
        still = Mutant(AREAS[area].paths()[0], None)
        if not next(outcomes([(area, still)], 1, oracle))[1]:
            sys.exit(f"the tests of {area} fail without any change: mend that first")


def main():
    arguments = parse()
    settings.register_profile("mutants", derandomize=True, database=None)
    settings.load_profile("mutants")
    candidates, memory = choose_mutants(arguments), {} if arguments.again else read_results()
    keys = {mutant: key_of(area, mutant) for area, mutant in candidates}
    fresh = [(area, mutant) for area, mutant in candidates if keys[mutant] not in memory]
    say(f"{len(candidates):,} mutants, {len(fresh):,} of which are new")
    oracle = oracle_of()
    check_unchanged(dict.fromkeys(area for area, _ in fresh), oracle)
    with Bar({"mutants": 1.0}) as bar:
        for i, (mutant, survives) in enumerate(outcomes(fresh, arguments.jobs, oracle), 1):
            bar("mutants", i / len(fresh))
            memory[keys[mutant]] = survives
            remember(memory)
    conclude([mutant for _, mutant in candidates], {mutant: memory[keys[mutant]] for _, mutant in candidates})


def conclude(candidates, survives):
    """Say what survived, and leave with 1 where it is not listed."""
    names = {mutant: str(mutant) for mutant in candidates}
    survived = {names[mutant]: mutant for mutant in candidates if survives[mutant]}
    new, stale = verdict(survived, set(names.values()), read_survivors())
    for change in new:
        say(f"{survived[change].path.name}:{survived[change].place()}  {change}")
    for change in stale:
        say(f"listed, but noticed: {change}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(
        f"{len(candidates) - len(survived):,} of {len(candidates):,} were noticed; "
        f"{len(new):,} survive and are not listed"
    )
    say(f"{used.ru_utime + used.ru_stime:,.0f} seconds of processors")
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    with contextlib.suppress(KeyboardInterrupt):
        main()
