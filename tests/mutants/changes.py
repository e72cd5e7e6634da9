"""Changes of a file, one operator, number, comparison or call at a time."""

import ast
import hashlib
from collections import Counter
from functools import cache
from itertools import dropwhile
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

SHORT, WIDE = 30, 100
"""characters: a change of a shorter expression is told with what is around it, up to so much"""
NO_VALUES = (ast.Raise, ast.JoinedStr, ast.Assert)
"""messages say nothing that is computed; an assertion marks what cannot happen, and a weaker one marks it as well"""
NO_CALLS = ("progress",)
"""how far the work has come is for the eye"""
NO_FUNCTIONS = ("chart", "_repr_html_")
"""sizes, angles and colours of drawings are judged by eye"""
NO_FIELDS = ("annotation", "returns", "decorator_list")
NO_KEYWORDS = ("strict", "maxsize", "copy", "repr")
"""`zip(strict=)` asserts, too; a cache of another size, one copy more, and what is left out of a repr are no values"""

SPEED = {
    "backend": "FEW_CELLS NARROW BITS",
    "batch": "CELLS BLOCK FEW",
    "lambdas": "CELLS",
    "text": "PIECE",
    "csv_files": "LONGEST",
    "dicts": "LOOKUP",
    "runs": "RANGE LARGE FEW BLOCK SMALL",
    "arrays": "MANY",
    "function": "BLOCK MANY",
    "measures": "CELLS",
    "hashing": "LONG TOGETHER",
    "hits": "SHORT",
    "locate": "DOCUMENTS FEW SEVERAL",
    "places": "FEW",
    "match": "MANY FEW",
    "options": "DIGITS",
    "sources": "BLOCK MOST SMALL",
    "gap": "FEW MANY",
    "populations": "CELLS",
    "qrels": "RANGE SMALL",
    "read": "EXACT TAIL",
    "scattered": "CHANCE IN_MEMORY",
    "tests": "CELLS",
    "tie_counts": "SAMPLE",
    "scores": "ROWS",
    "table": "ROWS LONGEST",
    "ties": "SHORT",
}
"""constants by file that decide how much is done in one go, or which of two ways is taken to the same values"""


class Change(NamedTuple):
    """A change of a syntax tree, not yet made, and the nodes that it stands in, the outermost first."""

    node: ast.AST
    field: str
    value: object
    around: tuple[ast.AST, ...]

    def make(self):
        setattr(self.node, self.field, self.value)

    @property
    def functions(self):
        """The functions in whose bodies the change is, the outermost first."""
        pairs = zip(self.around, (*self.around[1:], self.node), strict=True)
        return [node for node, child in pairs if is_function(node) and child in node.body]

    @property
    def scope(self):
        """The names of the classes and functions around the change."""
        return ".".join(node.name for node in self.around if is_function(node) or isinstance(node, ast.ClassDef))

    @property
    def statement(self):
        return next(node for node in reversed((*self.around, self.node)) if isinstance(node, ast.stmt))


class Mutant(NamedTuple):
    """A file with one change."""

    path: Path
    number: int
    name: str
    """the file, what is around the change, the change, and its statement: no number of a line, which others move"""
    line: int
    touched: frozenset[int]
    """the lines of which a test must touch one to notice"""
    source: str
    """the function that is changed; empty where the change is outside of all functions"""
    constants: frozenset[str]
    """the names of what is changed outside of all functions and classes, which other files may use"""

    def tree(self):
        """Return the changed syntax tree."""
        tree = ast.parse(text_of(self.path))
        list(all_changes(tree))[self.number].make()
        return without_plus(tree)


def is_function(node):
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


def changes(node):
    """Yield the changes of one node: another operator, another number, no sign."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        yield from (("op", other()) for other in SWAPS.get(type(node.op), []))
    elif isinstance(node, ast.Compare):
        yield from (("ops", [other(), *node.ops[1:]]) for other in SWAPS.get(type(node.ops[0]), []))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield from [("value", other)] if other != node.value else []  # 1e300 + 1 is 1e300
    elif isinstance(node, ast.UnaryOp):
        yield "op", ast.UAdd()
    elif isinstance(node, ast.Attribute) and node.attr in CALLS:
        yield "attr", CALLS[node.attr]
    elif isinstance(node, ast.Name) and node.id in CALLS:
        yield "id", CALLS[node.id]


def computes_nothing(node):
    """Return whether nothing inside a node can change a value."""
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.annotation) == "TypeAlias"
    if is_function(node):
        return node.name in NO_FUNCTIONS
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in NO_CALLS
    return isinstance(node, NO_VALUES) or (isinstance(node, ast.keyword) and node.arg in NO_KEYWORDS)


def is_stand_in(node, around):
    """Return whether a number only has to be there: 1.0 in x / where(y > 0, y, 1.0), or the 1 of -1 in a reshape."""
    if not isinstance(node, ast.Constant) or len(around) < 2:
        return False
    outer, inner = around[-2:]
    divisor = isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div) and outer.right is inner
    if divisor and isinstance(inner, ast.Call) and len(inner.args) == 3:
        return inner.args[2] is node and ast.unparse(inner.func).endswith("where")
    shapes = [part for part in around if isinstance(part, ast.Call) and ast.unparse(part.func).endswith("reshape")]
    return isinstance(inner, ast.UnaryOp) and bool(shapes)


def all_changes(node, around=()):
    """Yield the changes of everything that computes something."""
    if computes_nothing(node) or is_stand_in(node, around):
        return
    yield from (Change(node, field, value, around) for field, value in changes(node))
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in NO_FIELDS:
                yield from all_changes(child, (*around, node))


def mutants(path):
    """Return the mutants of a file."""
    tree, seen, found = ast.parse(text_of(path)), Counter(), []
    source_of = cache(ast.unparse)
    for number, change in enumerate(all_changes(tree)):
        if not change.scope and names_set_by(change.statement) & {*SPEED.get(path.stem, "").split()}:
            continue
        name = name_of(path, change)
        seen[name] += 1
        again = f"  ({seen[name]})" if seen[name] > 1 else ""
        source = source_of(change.functions[0]) if change.functions else ""
        constants = frozenset() if change.scope else frozenset(names_set_by(change.statement))
        touched = touched_by(change, tree)
        found.append(Mutant(path, number, name + again, change.node.lineno, touched, source, constants))
    return found


def one_per_line(mutants):
    """Return one mutant of each line, always the same one: those of a line are mostly noticed by the same tests."""
    lines = {}
    for mutant in sorted(mutants, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest()):
        lines.setdefault((mutant.path, mutant.line), mutant)
    return [mutant for mutant in mutants if lines[mutant.path, mutant.line] is mutant]


def touched_by(change, tree):
    """Return the lines of which a test must touch one to notice a change."""
    if change.functions:
        return lines_of(change.node)
    inside = [node for node in change.around if is_function(node) or isinstance(node, ast.ClassDef)]
    if inside:
        return lines_of(inside[-1])
    names = names_set_by(change.statement)
    uses = [lines_of(node) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    return frozenset().union(*uses)


def names_set_by(statement):
    """Return the names that a statement gives values to; where there are none, all that it names."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return stored or {node.id for node in names}


def lines_of(node):
    return frozenset(range(node.lineno, node.end_lineno + 1))


def name_of(path, change):
    """Say what changes, in one line, and in the largest expression around it that is short enough to read."""
    before = around = ast.unparse(change.node)
    inside = dropwhile(lambda node: node is not change.statement, change.around)
    for node in reversed(list(inside)):
        text = ast.unparse(node).split("\n")[0]
        around = text if len(text) <= WIDE else around
    old = getattr(change.node, change.field)
    change.make()
    after = ast.unparse(change.node.operand if isinstance(change.value, ast.UAdd) else change.node)
    setattr(change.node, change.field, old)
    place = f"{path.relative_to(SOURCE)} {change.scope}".strip()
    return f"{place}: {before}  →  {after}" + (f"  in  {around}" if len(before) < SHORT else "")


def without_plus(tree):
    """Return the tree with +x, which stands for a sign that was taken away, as x: arrays of truths have no +."""

    class Plain(ast.NodeTransformer):
        def visit_UnaryOp(self, node):
            self.generic_visit(node)
            return node.operand if isinstance(node.op, ast.UAdd) else node

    return ast.fix_missing_locations(Plain().visit(tree))
