"""All mutants and all tests: who meets whom, and what is remembered of it."""

import gc
import hashlib
import importlib
import json
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from importlib.util import find_spec

from tests.mutants.areas import ACCELERATED
from tests.mutants.changes import ROOT, SOURCE, text_of
from tests.mutants.forks import in_forks
from tests.mutants.lives import find_killer, module_of
from tests.mutants.survivors import read_list
from tests.mutants.touch import Touched, digest, functions, save, source_of

CACHE = ROOT / ".mutants" / "outcomes.json"
FEW = 400
"""tests that a mutant meets at most for which everything is imported again"""
LIBRARIES = ("altair", "jinja2", "pandas", "polars", "pyarrow.parquet", "rich.console", "rich.table")
OFTEN = 100
"""mutants after which the outcomes are saved"""


class Check:
    """A plugin of pytest, which collects the tests once; then each mutant lives in a fork and meets them."""

    def __init__(self, mutants, jobs, minutes, seconds, *, listed=False, again=False):
        self.mutants, self.jobs = mutants, jobs
        self.seconds = seconds  # of tests, as long as they take under a tracer, that a mutant meets at most
        self.end = time.monotonic() + 60 * minutes
        self.reasons = {} if listed else read_list()
        self.memory = json.loads(CACHE.read_text()) if CACHE.exists() and not again else {}
        self.kills = Counter()

    def pytest_runtestloop(self, session):
        """Run no tests but those that meet mutants."""
        import_everything()
        self.touched = Touched(session.items, self.jobs, self.end)
        self.prepare()
        beyond = {mutant for mutant in self.mutants if self.is_beyond_reach(mutant)}
        self.mutants = [mutant for mutant in self.mutants if mutant not in beyond]
        if beyond:
            say(f"{len(beyond):,} mutants of lines for PyTorch and JAX, which are not installed, are left out")
        waiting = [mutant for mutant in self.mutants if not (mutant.name in self.reasons or self.remembers(mutant))]
        if not self.touched.is_complete():
            waiting = []
        say(f"{len(self.mutants):,} mutants, {len(waiting):,} of which are new")
        tasks = ((mutant, self.tests_of(mutant)) for mutant in waiting if time.monotonic() < self.end)
        for i, ((mutant, tests), killer) in enumerate(in_forks(tasks, self.live, self.jobs), 1):
            self.remember(mutant, tests, "time" if killer is None else killer)
            if i % OFTEN == 0:
                save(CACHE, self.memory)
                say(f"{i:,} of {len(waiting):,}")
        save(CACHE, self.memory)
        return True

    def prepare(self):
        """Do once what each fork would do again."""
        from tests.kernel import test_together

        for kind in test_together.LABELS:  # what the reference says takes long, and no mutant changes it
            for policy in test_together.POLICIES:
                test_together.expected(kind, policy)
        self.functions = functions()
        self.lines = cache(self.touched.by_line)
        gc.freeze()

    def is_beyond_reach(self, mutant):
        """Return whether a mutant is one of a line for a library that is not installed."""
        accelerated = str(mutant.path.relative_to(SOURCE)) in ACCELERATED
        installed = all(find_spec(name) for name in ("torch", "jax"))
        return accelerated and not installed and not self.tests_of(mutant)

    def live(self, task):
        mutant, names = task
        return find_killer(mutant, {name: self.touched.with_seconds(name) for name in names}, self.functions)

    def tests_of(self, mutant):
        """Return the tests that touch a mutant, as many as there is time for, in the order in which they meet it."""
        lines = self.lines(mutant.path)
        names = {name for line in mutant.touched for name in lines.get(line, ())}
        for path, line in uses_of(mutant.constants, mutant.path):
            names.update(self.lines(path).get(line, ()))
        seconds = {name: self.touched.tests[name]["seconds"] for name in names}
        kills = {name: self.kills[mutant.source, name] for name in names}
        total, few = 0.0, []
        for name in sort_tests(seconds, kills)[: None if mutant.source else FEW]:
            total += seconds[name]
            if total < self.seconds or not few:
                few.append(name)
        return few

    def remembers(self, mutant):
        """Return whether the outcome is known, and its function and the tests that it depends on are the same."""
        killer, state = self.memory.get(key_of(mutant), ("", ""))
        return bool(state) and state == self.state_of([killer] if killer else self.tests_of(mutant))

    def remember(self, mutant, tests, killer):
        self.kills[mutant.source, killer] += 1
        self.memory[key_of(mutant)] = killer, self.state_of([killer] if killer else tests)

    def state_of(self, names):
        """Return what an outcome depends on besides the mutant: the texts of tests."""
        items = self.touched.items
        texts = [name + (source_of(items[name]) if name in items else "") for name in sorted(names)]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]

    def outcomes(self):
        """Return {mutant: the test that notices it, or an empty text}, as far as it is known."""
        return {mutant: self.memory[key_of(mutant)][0] for mutant in self.mutants if key_of(mutant) in self.memory}


def sort_tests(seconds, kills):
    """Return tests: those that noticed others nearby, then the quickest, the parameters of one test far apart."""
    costs, before = {}, Counter()
    for name in sorted(seconds, key=lambda name: (seconds[name], name)):
        function = name.split("[")[0]
        before[function] += 1
        costs[name] = seconds[name] * before[function]
    return sorted(costs, key=lambda name: (-kills[name], costs[name], name))


def import_everything():
    """Import what tests and the source import where they need it."""
    modules = [module_of(path) for path in SOURCE.rglob("*.py") if "adapters" not in path.parts]
    for name in [*modules, *LIBRARIES]:
        if not name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(name)


@cache
def uses_of(constants, home):
    """Return the places (path, line) where constants of a file are named: there, and in files that name the file."""
    pattern, module = re.compile(rf"\b({'|'.join(constants)})\b"), module_of(home).split(".")[-1]
    paths = [path for path in SOURCE.rglob("*.py") if path == home or module in text_of(path)] if constants else []
    lines = [(path, number, line) for path in paths for number, line in enumerate(text_of(path).split("\n"), 1)]
    return [(path, number) for path, number, line in lines if pattern.search(line)]


def key_of(mutant):
    """Return what names an outcome: the change, and the function or file as it is."""
    return hashlib.sha256((mutant.name + (mutant.source or digest(mutant.path))).encode()).hexdigest()[:20]


def say(line):
    sys.__stdout__.write(line + "\n")
    sys.__stdout__.flush()
