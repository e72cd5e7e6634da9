"""Changes of a file, one operator, number, comparison or call at a time, and a way to import the changed file."""

import ast
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gradely"

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

    def place(self):
        """Return the line and column of the change."""
        _, node, _ = self.tree()
        return f"{node.lineno}:{node.col_offset + 1}"

    def __str__(self):
        """Say what changes, without numbers of lines, so that it stays the same when other lines change."""
        _, node, before = self.tree()
        after = ast.unparse(node.operand if isinstance(node, ast.UnaryOp) else node)
        line = self.path.read_text(encoding="utf-8").split("\n")[node.lineno - 1].strip()
        return f"{self.path.relative_to(SOURCE)}: {before}  →  {after}  in  {line}"


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
