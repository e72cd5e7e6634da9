"""Run gradely and its peers on all workloads, check that they agree, and write the table.

    python -m benchmarks.run ENVIRONMENTS DATA [--times 3] [--only A --only B] [--json FILE] [--markdown FILE]

Each contender runs in a process of its own, in turn with the others, so that a busy moment of the machine hits all.
With --only, the other workloads keep what the JSON file says.
"""

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import report
from benchmarks.bars import CHECK, DEFAULT, FILES, MEMORY, RANX, TREC, Workload
from benchmarks.process import Outcome, command_of, measure_command, processor_time, values_of

Extra = dict[str, dict[str, float]]


def main() -> None:
    """Run the benchmarks that the command line selects."""
    arguments = options()
    places = arguments.data, arguments.environments
    earlier = json.loads(arguments.json.read_text()) if arguments.only else {}
    rows = []
    for workload in (*FILES, *MEMORY):
        if arguments.only and workload.name not in arguments.only:
            rows += [(workload, outcomes) for outcomes in read_earlier(earlier, workload.name)]
            continue
        outcomes = race(workload, arguments.times, *places)
        check(workload, outcomes, *places)
        rows.append((workload, outcomes))
        print(report.line(workload, outcomes), flush=True)
    more = {
        "G": lambda: start(arguments),
        "H": lambda: overhead(*places),
        "I": lambda: scaling(arguments),
        "J": lambda: page(arguments),
    }
    extra = {
        name: earlier.get(name, {}) if arguments.only and name not in arguments.only else more[name]() for name in more
    }
    write(arguments.json, arguments.markdown, rows, extra)


def read_earlier(earlier: dict[str, Any], name: str) -> list[list[Outcome]]:
    """Return the earlier results, if there are any."""
    found = (each["outcomes"] for each in earlier["workloads"] if each["name"] == name)
    return [[Outcome(**each) for each in outcomes] for outcomes in found]


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--json", type=Path, default=Path("benchmarks.json"))
    parser.add_argument("--markdown", type=Path, default=Path("benchmarks.md"))
    return parser.parse_args()


def race(workload: Workload, times: int, data: Path, environments: Path) -> list[Outcome]:
    """Return the outcome of each contender; they run in turns."""
    outcomes = [Outcome(contender) for contender in workload.contenders]
    for _ in range(times):
        for outcome in outcomes:
            seconds, megabytes, text = measure_command(command_of(outcome.contender, workload.name, data, environments))
            outcome.add(seconds, megabytes, values_of(text))
    return outcomes


def check(workload: Workload, outcomes: list[Outcome], data: Path, environments: Path) -> None:
    """Stop unless the values of other tools equal gradely's, on files those of trec_eval 9 to the last digits."""
    ours = outcomes[0].values
    if workload.files:
        ours = values_of(measure_command(command_of(CHECK, workload.name, data, environments))[2])
    for outcome in outcomes[1:]:
        exact = outcome.contender not in (DEFAULT, TREC, RANX)
        tolerance = workload.tolerance if exact else 0.05
        for name in ours.keys() & outcome.values.keys():
            if abs(ours[name] - outcome.values[name]) > tolerance:
                sys.exit(f"{workload.name}: {name} is {ours[name]}, with {outcome.contender} {outcome.values[name]}")


def start(arguments: argparse.Namespace) -> dict[str, float]:
    """G: the time of an import, and of the shortest command."""
    home = arguments.environments / "gradely" / "bin"
    commands = {
        "import numpy": [str(home / "python"), "-c", "import numpy"],
        "import gradely": [str(home / "python"), "-c", "import gradely"],
        "import gradely, evaluate": [str(home / "python"), "-c", "from gradely import evaluate"],
        "gradely --version": [str(home / "gradely"), "--version"],
    }
    return {name: min(measure_command(command)[0] for _ in range(10)) for name, command in commands.items()}


def overhead(data: Path, environments: Path) -> dict[str, float]:
    """H: for each measure, the time with exact ties divided by that with ties in input order."""
    return values_of(measure_command(command_of(DEFAULT, "H", data, environments))[2])


def scaling(arguments: argparse.Namespace) -> dict[str, float]:
    """I: seconds on a tenth, a third and all of B."""
    parts = ("B-tenth", "B-third", "B")
    commands = {part: command_of(DEFAULT, part, arguments.data, arguments.environments) for part in parts}
    best = dict.fromkeys(parts, float("inf"))
    for _ in range(2 * arguments.times):
        best |= {part: min(best[part], measure_command(command)[0]) for part, command in commands.items()}
    return best


def page(arguments: argparse.Namespace) -> dict[str, float]:
    """J: the processor time of a page that compares all runs of C, and of evaluating them, in turns."""
    _, *rest = command_of(DEFAULT, "C", arguments.data, arguments.environments)
    program = str(arguments.environments / "gradely" / "bin" / "gradely")
    with TemporaryDirectory() as folder:
        report_on = [program, "compare", *rest[1:], "--report", f"{folder}/page.html"]
        commands = {"evaluate": [program, *rest], "compare --report": report_on}
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(arguments.times):
            best |= {name: min(best[name], processor_time(command)) for name, command in commands.items()}
    return best


def write(data: Path, page: Path, rows: list[tuple[Workload, list[Outcome]]], extra: Extra) -> None:
    """Write the results as JSON and Markdown, and print them."""
    machine = f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()}"
    entries = [
        asdict(workload) | {"outcomes": [asdict(outcome) for outcome in outcomes]} for workload, outcomes in rows
    ]
    text = json.dumps({"machine": machine, "workloads": entries, **extra}, indent=1)
    data.write_text(text.replace("Infinity", "null") + "\n")
    _, title, learning = (page.read_text() if page.exists() else "").partition("\n## Learning to rank")
    page.write_text(report.markdown(rows, extra, machine) + title + learning)  # which benchmarks.learning writes
    print(page.read_text())


if __name__ == "__main__":
    main()
