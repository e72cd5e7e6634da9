"""Which lines of the source each test touches, and how long it takes."""

import gc
import hashlib
import inspect
import json
import sys
import threading
import time
from functools import cache
from pathlib import Path

from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item

from tests.mutants.changes import ROOT, SOURCE
from tests.mutants.forks import in_forks, limit

CACHE = ROOT / ".mutants" / "touched.json"
LONGEST = 30
"""seconds of a processor under a tracer after which a test is left alone"""
OFTEN = 300
"""tests after which what is known is saved"""
MANY = 40
"""parameters of a test of which each is looked at; of more, every second or third"""


class Touched:
    """For each test its seconds of a processor, its outcome, and the lines that it touches by file."""

    def __init__(self, items, jobs, end):
        self.items = {item.nodeid: item for item in sample_tests(items)}
        kept = json.loads(CACHE.read_text()) if CACHE.exists() else {}
        self.tests = {name: kept[name] for name, item in self.items.items() if is_current(item, kept.get(name))}
        fresh = (name for name in self.items if name not in self.tests and time.monotonic() < end)
        for i, (name, answer) in enumerate(in_forks(fresh, self.look, jobs), 1):
            self.tests[name] = answer or record(self.items[name], LONGEST, "endless", {})
            if i % OFTEN == 0:
                save(CACHE, kept | self.tests)
        save(CACHE, kept | self.tests)

    def look(self, name):
        """Run a test under a tracer."""
        trace, started = Tracer(), time.process_time()
        limit(LONGEST)
        threading.settrace(trace)
        sys.settrace(trace)
        outcome = outcome_of(self.items[name])
        sys.settrace(None)
        seconds = time.process_time() - started
        return record(self.items[name], seconds, outcome, trace.lines() if outcome == "passed" else {})

    def is_complete(self):
        """Return whether there was time to look at all tests."""
        return len(self.tests) == len(self.items)

    def with_seconds(self, name):
        return self.items[name], self.tests[name]["seconds"]

    def failing(self):
        """Return the tests that fail although nothing is changed; no mutant meets them."""
        return [name for name in self.items if self.tests.get(name, {}).get("outcome") == "failed"]

    def by_line(self, path):
        """Return {line: tests} of a file."""
        tests = {}
        for name in self.items:
            for line in self.tests.get(name, {"lines": {}})["lines"].get(str(path.relative_to(SOURCE)), ()):
                tests.setdefault(line, []).append(name)
        return tests


def save(path, content):
    """Write a file as JSON, all of it or nothing."""
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".new").write_text(json.dumps(content))
    path.with_suffix(".new").replace(path)


def sample_tests(items):
    """Return all tests, but of those with many parameters some, from the first to the last."""
    groups = {}
    for item in items:
        groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    return [item for group in groups.values() for item in group[:: -(-len(group) // MANY)]]


def outcome_of(item):
    """Run a test; return "passed", "skipped" or "failed"."""
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item):  # it may expect some
        outcomes = {report.outcome for report in runtestprotocol(item, log=False, nextitem=None)}
    return next(outcome for outcome in ("failed", "skipped", "passed") if outcome in outcomes)


class Tracer:
    """Collects the lines of the source that run. A function all of whose lines have run is traced no more."""

    def __init__(self):
        self.untouched = {}
        self.inside = cache(lambda name: name.startswith(str(SOURCE)))

    def __call__(self, frame, event, argument):  # noqa: ARG002 - its signature
        """Begin to trace a call."""
        code = frame.f_code
        if not self.inside(code.co_filename):
            return None
        if code not in self.untouched:
            self.untouched[code] = lines_of(code)
        left = self.untouched[code]
        left.discard(frame.f_lineno)
        if not left:
            return None

        def line(frame, event, argument):
            left.discard(frame.f_lineno)
            frame.f_trace_lines = bool(left)
            return line

        return line

    def lines(self):
        """Return the lines by file."""
        found = {}
        for code, left in self.untouched.items():
            path = str(Path(code.co_filename).relative_to(SOURCE))
            found.setdefault(path, set()).update(lines_of(code) - left)
        return {path: sorted(lines) for path, lines in found.items()}


def lines_of(code):
    return {line for _, _, line in code.co_lines() if line}


@cache
def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else ""


def record(item, seconds, outcome, lines):
    """Return what is kept of a test."""
    return {"seconds": seconds, "outcome": outcome, "lines": lines, "state": state_of(item, lines)}


def state_of(item, lines):
    """Return what the lines of a test depend on: its own text and the files that it touches."""
    texts = [source_of(item), *(digest(SOURCE / path) for path in sorted(lines))]
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:12]


def is_current(item, test):
    return test is not None and test["state"] == state_of(item, test["lines"])


def source_of(item):
    """Return the text of a test."""
    return item.dtest.docstring if hasattr(item, "dtest") else text_of_function(item.obj)


@cache
def text_of_function(function):
    return inspect.getsource(function)


def functions():
    """Return {path: functions} of what is imported, the source only."""
    found = {}
    for thing in gc.get_objects():
        if isinstance(thing, type(functions)) and thing.__code__.co_filename.startswith(str(SOURCE)):
            found.setdefault(Path(thing.__code__.co_filename), []).append(thing)
    return found
