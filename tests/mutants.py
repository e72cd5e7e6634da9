"""Mutants: the formulas, changed by one operator, number or comparison at a time. Each change must break a test.

`make mutants` lists those that no test notices; `python -m tests.mutants gains.py` looks at one file. A mutant lives in
memory only: a process of its own compiles it from the changed syntax tree, and no file is touched. It meets the values
of tests/test_together.py first, which most do not survive, then the tests of kernels one by one.
"""

import argparse
import ast
import contextlib
import multiprocessing
import os
import sys
import time
from importlib.machinery import PathFinder, SourceFileLoader
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

from hypothesis import settings

from gradely.cli.progress import Bar

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gradely"
KERNELS = [SOURCE / "kernel" / f"{name}.py" for name in ("families", "tie_groups", "gains")]
KERNELS += sorted([*SOURCE.glob("relevance/*.py"), *SOURCE.glob("measures/*.py")])
TESTS = [f"tests/test_{name}.py" for name in ("golden", "names", "measures", "kernels", "together", "scores")]
TESTS += [
    "tests/test_documents.py::test_what_follows_from_the_code_is_current",
    "src/gradely/measures",
    "src/gradely/relevance",
]
TESTS += ["tests/test_arrays.py", "tests/test_laws.py"]
SAME = "not agrees_with_the_reference"
"""these ask what tests/test_together.py asked, and take long"""
PATIENCE = 900
"""seconds after which a mutant that hangs counts as noticed"""

SWAPS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
CALLS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}


class Change(NamedTuple):
    """A change of a syntax tree, not yet made."""

    node: ast.AST
    field: str
    value: object


def changes(node):
    """Yield the changes of one node: another operator, another number, no sign."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        yield from (Change(node, "op", other()) for other in SWAPS.get(type(node.op), []))
    elif isinstance(node, ast.Compare):
        for other in SWAPS.get(type(node.ops[0]), []):
            yield Change(node, "ops", [other(), *node.ops[1:]])
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield Change(node, "value", not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.UnaryOp):
        yield Change(node, "op", ast.UAdd())
    elif isinstance(node, ast.Attribute) and node.attr in CALLS:
        yield Change(node, "attr", CALLS[node.attr])
    elif isinstance(node, ast.Name) and node.id in CALLS:
        yield Change(node, "id", CALLS[node.id])


def formulas(node):
    """Yield the nodes that compute something: no annotations, and no messages of errors."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from formulas(child)


class Mutant(NamedTuple):
    """A file and the number of the change in it; without a number it is as it was."""

    path: Path
    number: int | None

    @property
    def module(self):
        name = ".".join(("gradely", *self.path.relative_to(SOURCE).with_suffix("").parts))
        return name.removesuffix(".__init__")

    def tree(self):
        """Return the changed syntax tree, where the change is, and what it says before and after."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        if self.number is None:
            return tree, tree, ""
        change = all_changes(tree)[self.number]
        before = ast.unparse(change.node)
        setattr(change.node, change.field, change.value)
        return tree, change.node, before

    def __str__(self):
        _, node, before = self.tree()
        after = ast.unparse(node.operand if isinstance(node, ast.UnaryOp) else node)
        line = self.path.read_text(encoding="utf-8").split("\n")[node.lineno - 1].strip()
        where = f"{self.path.relative_to(ROOT)}:{node.lineno}:{node.col_offset + 1}"
        return f"{where}: {before}  →  {after}  in  {line}"


def all_changes(tree):
    return [change for node in formulas(tree) for change in changes(node)]


def mutants(paths):
    return [Mutant(path, i) for path in paths for i in range(len(all_changes(ast.parse(path.read_text("utf-8")))))]


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
        if name != self.mutant.module:
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = Loader(name, str(self.mutant.path))
        spec.loader.tree = without_sign(self.mutant.tree()[0])
        return spec


def without_sign(tree):
    """Return the tree with +x, which stands for a sign that was taken away, as x: arrays of truths have no +."""

    class Plain(ast.NodeTransformer):
        def visit_UnaryOp(self, node):
            self.generic_visit(node)
            return node.operand if isinstance(node.op, ast.UAdd) else node

    return ast.fix_missing_locations(Plain().visit(tree))


def live(mutant, oracle):
    """Leave with 0 where no test notices the mutant, with 1 where one does."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("gradely", "tests")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder(mutant))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1), os.dup2(quiet, 2)
    try:
        noticed = differs(oracle) or tests_fail()
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


def tests_fail():
    import pytest

    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", SAME]
    return bool(TESTS) and pytest.main([*options, *TESTS]) != 0


def outcomes(found, jobs):
    """Yield each mutant and whether it survives, as they are found out."""
    from tests import test_together

    pairs = [(kind, policy) for kind in test_together.LABELS for policy in test_together.POLICIES]
    oracle = {pair: test_together.expected(*pair) for pair in pairs}
    context, running, waiting = multiprocessing.get_context("fork"), {}, list(reversed(found))
    while waiting or running:
        while waiting and len(running) < jobs:
            process = context.Process(target=live, args=(waiting[-1], oracle))
            process.start()
            running[process.sentinel] = process, waiting.pop(), time.monotonic()
        wait(list(running), timeout=10)
        for sentinel, (process, mutant, started) in list(running.items()):
            if process.exitcode is None and time.monotonic() - started > PATIENCE:
                process.kill()
            if process.exitcode is not None:
                del running[sentinel]
                yield mutant, process.exitcode == 0


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", help="names of kernel files; by default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument("--quick", action="store_true", help="compare values only, and run no other tests")
    given = parser.parse_args()
    TESTS[:] = [] if given.quick else TESTS
    paths = [path for path in KERNELS if not given.files or path.name in given.files]
    found = mutants(paths)[:: given.every]
    settings.register_profile("mutants", derandomize=True, database=None)
    settings.load_profile("mutants")
    say(f"{len(found):,} mutants of {len(paths)} files")
    if not next(outcomes([Mutant(paths[0], None)], 1))[1]:
        sys.exit("the tests fail without any change: mend that first")
    noticed = 0
    with Bar(len(found)) as bar:
        for mutant, survives in outcomes(found, given.jobs):
            bar.begin("mutants", 1)
            bar.end()
            noticed += not survives
            if survives:
                say(str(mutant))
    say(f"{noticed:,} of {len(found):,} were noticed")


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    with contextlib.suppress(KeyboardInterrupt):
        main()
