"""The fuzzer's command line: run several processes for some minutes, then say what was done and what failed."""

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter

from tests.fuzz.cases import Case, failure_of, shrink
from tests.fuzz.checks import CHECK, MAKE, SHARE
from tests.fuzz.commands import WEIGHTS

MOST = 20
"""failures of a process, after which it stops: they are the same few"""


def work(seed, process, minutes, rounds, results):
    """Run checks until the time is over; put what was done, and each failure once, in its own words."""
    random.seed(0)
    warnings.simplefilter("error")
    folder = tempfile.mkdtemp(prefix="gradely-fuzz-")
    os.chdir(folder)
    done, failures, spent = Counter(), {}, dict.fromkeys(SHARE, 1e-9)
    deadline, number = time.monotonic() + 60 * minutes, 0
    while (number < rounds if rounds else time.monotonic() < deadline) and len(failures) < MOST:
        name = (
            min(SHARE, key=lambda check: spent[check] / SHARE[check]) if not rounds else [*SHARE][number % len(SHARE)]
        )
        started = time.monotonic()
        case = MAKE[name](random.Random(f"{seed} {process} {number}"))
        try:
            done += CHECK[name](case)
            done[f"checks of {name}"] += 1
        except Exception:  # noqa: BLE001 - whatever it is, it is a failure
            _keep(case, failures)
        spent[name] += time.monotonic() - started
        number += 1
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)
    results.put((done, failures, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def _keep(case, failures):
    """Keep a failure that is new, as small as it gets."""
    message = failure_of(CHECK[case.check], case) or "fails only at times"
    if message not in failures:
        _clear()
        failures[message] = tuple(shrink(CHECK[case.check], case))
    _clear()


def _clear():
    for name in os.listdir("."):
        with contextlib.suppress(OSError):
            os.unlink(name)


def main():
    """Start the processes, wait for them, and report."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", default="0", help="the same seed makes the same cases, in each process")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=0, help="checks of each process, in place of minutes")
    parser.add_argument("--json", help="write what was done to a file")
    given = parser.parse_args()
    started, context, results = time.monotonic(), multiprocessing.get_context("fork"), multiprocessing.Queue()
    arguments = (given.minutes, given.rounds, results)
    processes = [context.Process(target=work, args=(given.seed, i, *arguments)) for i in range(given.processes)]
    for process in processes:
        process.start()
    done, failures, memory = Counter(), {}, 0
    for _ in processes:
        counts, new_failures, peak = results.get()
        done, failures, memory = done + counts, new_failures | failures, max(memory, peak)
    for process in processes:
        process.join()
    report(given, done, failures, memory, time.monotonic() - started)
    sys.exit(1 if failures else 0)


def report(given, done, failures, memory, seconds):
    """Print what was done, save what failed."""
    about = {
        "seed": given.seed,
        "processes": given.processes,
        "seconds": round(seconds),
        "python": platform.python_version(),
        "peak_megabytes": memory >> 10,
        "failures": len(failures),
        **{
            name: done[name]
            for name in ("inputs", "commands", "refused", "pairs", "numbers", *(f"checks of {name}" for name in SHARE))
        },
        "commands through": sum(done[f"{command} through"] for command in WEIGHTS),
        **{
            f"{command} through": f"{done[f'{command} through']:,} of {done[f'{command} in all']:,}"
            for command in WEIGHTS
        },
    }
    for name, value in about.items():
        sys.stdout.write(f"{name:<20} {value:>15,}\n" if isinstance(value, int) else f"{name:<20} {value:>15}\n")
    for message, case in failures.items():
        sys.stdout.write(f"{message}\n  saved as {Case(*case).save(message)}\n")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(about, file, indent=1)


if __name__ == "__main__":
    main()
