"""The life of a mutant: the changed code is put in place, and tests run until one notices.

Where the change is inside a function, the code of that function is exchanged in the imported module. A change outside
of functions, such as a constant, has its effect when the module is imported, so all modules are imported again.
"""

import ast
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType

import pytest

from tests.mutants.changes import SOURCE, text_of
from tests.mutants.forks import limit
from tests.mutants.touch import outcome_of

OPTIONS = ["-q", "-s", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler"]
OPTIONS += ["-o", "tmp_path_retention_policy=failed"]


def patience(seconds):
    """Return after how many seconds of a processor a test hangs, given its seconds under a tracer."""
    return 4 * seconds + 3


def find_killer(mutant, tests, functions):
    """Return the name of the first test that notices a mutant, or an empty text. This spoils the process."""
    if mutant.source and exchange(mutant, functions.get(mutant.path, [])):
        for name, (item, seconds) in tests.items():
            limit(patience(seconds))
            if outcome_of(item) == "failed":
                return name
        return ""
    limit(20 + patience(sum(seconds for _, seconds in tests.values())))
    return imported_again(mutant, list(tests))


def exchange(mutant, functions):
    """Put changed code into functions; return whether there was one."""
    before = compile(ast.parse(text_of(mutant.path)), str(mutant.path), "exec")
    pairs = dict(different(before, compile(mutant.tree(), str(mutant.path), "exec")))
    concerned = [function for function in functions if function.__code__ in pairs]
    for function in concerned:
        function.__code__ = pairs[function.__code__]
    return bool(concerned)


def different(before, after):
    """Yield the codes inside a code that differ, before and after; none where a change takes a whole one away."""
    inside = [[part for part in code.co_consts if isinstance(part, CodeType)] for code in (before, after)]
    for pair in zip(*inside, strict=False):
        if pair[0] != pair[1]:
            yield pair
            yield from different(*pair)


def imported_again(mutant, names):
    """Import the changed module and all others again; return the first test that notices."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("gradely", "tests")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder(mutant))
    watch = Watch()
    code = pytest.main([*OPTIONS, "-x", *names], plugins=[watch])
    return "" if code == 0 else watch.failed or "the import"


class Watch:
    """Sees which test fails."""

    failed = ""

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or (report.nodeid if report.failed else "")


class Loader(SourceFileLoader):
    """Loads a module from a syntax tree in place of its file."""

    tree: ast.Module

    def get_code(self, fullname):  # noqa: ARG002 - its signature
        return compile(self.tree, self.path, "exec")


class Finder:
    """Finds the module that is mutated; all others are found as usual."""

    def __init__(self, mutant):
        self.mutant = mutant

    def find_spec(self, name, path, target=None):  # noqa: ARG002 - its signature
        if name != module_of(self.mutant.path):
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = Loader(name, str(self.mutant.path))
        spec.loader.tree = self.mutant.tree()
        return spec


def module_of(path):
    """Return the name of the module in a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")
