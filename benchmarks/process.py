"""Run a command, and measure its time, its peak memory and its output."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter
from typing import Any

from benchmarks.contenders import INPUTS, MEASURES, inputs


@dataclass
class Outcome:
    """The time and memory of a contender's processes, and the values that they computed."""

    contender: str
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The shortest time."""
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """The longest time divided by the shortest."""
        return max(self.seconds) / self.best

    @property
    def memory(self) -> float:
        """The median of the peaks."""
        return median(self.megabytes)

    def add(self, seconds: float, megabytes: float, values: dict[str, float]) -> None:
        """Add a process; work in memory reports its own time."""
        self.seconds.append(values.pop("seconds", seconds))
        self.megabytes.append(megabytes)
        self.values = values


def environment() -> dict[str, str]:
    """Return the environment of a process: the usual one, compiled modules kept."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def processor_time(command: list[str]) -> float:
    """Return the processor time of a command in seconds; stop if it fails."""
    before = os.times()
    measure_command(command)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def measure_command(command: list[str]) -> tuple[float, float, str]:
    """Return wall time, peak memory in megabytes and output of a command; stop if it fails."""
    with TemporaryFile() as out:
        start = perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=environment())
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - start
        out.seek(0)
        text = out.read().decode()
    if status:
        sys.exit(f"failed: {' '.join(command)[:300]}")
    return seconds, usage.ru_maxrss * 1024 / 1e6, text


def command_of(contender: str, workload: str, folder: Path, environments: Path) -> list[str]:
    """Return the command of a contender on a workload: gradely's own for files, a script otherwise."""
    name, *options = contender.split()
    if name == "gradely" and workload in INPUTS:
        qrels, runs = inputs(workload, folder)
        measures = [option for measure in MEASURES for option in ("-m", measure)]
        program = environments / "gradely" / "bin" / "gradely"
        return [str(program), "evaluate", str(qrels), *map(str, runs), *measures, *options, "--format", "json"]
    home = name if name in ("gradely", "RecTools") else "peers"
    python = environments / home / "bin" / "python"
    return [str(python), "-m", "benchmarks.contenders", contender, workload, str(folder)]


def values_of(text: str) -> dict[str, float]:
    """Return the means that a process printed, those of the last run if there are several."""
    printed: dict[str, Any] = json.loads(text.splitlines()[-1] if not text.startswith("{\n") else text)
    values: dict[str, float] = printed["runs"][-1]["mean"] if "runs" in printed else printed
    return values
