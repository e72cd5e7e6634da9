"""Changes of a file: another operator, number or comparison, or a statement, keyword or call that is left out."""

import ast
import hashlib
from collections import Counter
from functools import cache
from itertools import dropwhile, pairwise
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

CONVERSIONS = {"bool", "cast", "dict", "float", "frozenset", "int", "iter", "list", "set", "str", "tuple"}
CONVERSIONS |= {"array", "asarray", "astype", "item", "to_lists", "to_numpy", "to_python", "to_real", "tolist"}
CONVERSIONS |= {"flatnonzero", "float64", "int64", "uint64"}  # a mask takes the same elements as their places
"""calls that give the same value in another type, mostly for those who read on"""
OTHERS = {"all", "any", "enumerate", "len", "max", "min", "range", "sum", "super", "type"}
OTHERS |= {"arange", "concat", "concatenate", "device_of", "empty", "items", "namespace", "next", "ones", "values"}
OTHERS |= {"vars", "zeros"}
"""calls whose argument can never stand for what they return: any test would meet an error"""
NO_WORK = ("close", "copy", "debug", "flush", "freeze", "keep_freed", "report", "progress", "say")
"""calls that tell, tidy up or save work"""

SHORT, WIDE = 30, 100
"""characters: a change of a shorter expression is shown with what is around it, up to this length"""
NO_VALUES = (ast.Raise, ast.JoinedStr, ast.Assert)
"""messages say nothing that is computed; an assertion marks what cannot happen, and a weaker one marks it as well"""
NO_CALLS = ("progress",)
"""how far the work has come is for the eye"""
NO_FUNCTIONS = ("chart", "_repr_html_")
"""sizes, angles and colours of drawings are judged by eye"""
NO_FIELDS = ("annotation", "returns", "decorator_list")
NO_KEYWORDS = ("strict", "maxsize", "copy", "repr", "device", "doc", "threads", "progress")
"""`zip(strict=)` asserts, too; a cache of another size, one copy more, and what is left out of a repr are no values;
where there is one device, arrays are on it whether or not it is named; what a parameter means is text; on how many
threads the work is done changes no value, and how far it has come is for the eye"""

SPEED = {
    "backend": "FEW_CELLS NARROW BITS",
    "batch": "CELLS BLOCK FEW",
    "lambdas": "CELLS",
    "pieces": "PIECE SMALL ALONE",
    "csv_files": "LONGEST",
    "ids": "LOOKUP",
    "trec_pieces": "RANGE READ_AT_ONCE LARGE FEW BLOCK",
    "arrays": "MANY",
    "function": "BLOCK MANY",
    "measures": "CELLS",
    "hashing": "LONG TOGETHER",
    "hits": "SHORT",
    "__init__": "DOCUMENTS FEW SEVERAL",
    "places": "FEW",
    "parts": "MANY",
    "tie_breaking": "FEW",
    "options": "DIGITS",
    "source": "BLOCK SMALL",
    "gap": "FEW MANY",
    "populations": "CELLS",
    "qrels": "SMALL",
    "read": "TAIL",
    "scattered": "CHANCE",
    "spool": "IN_MEMORY NAMES_IN_MEMORY",
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
    left_out: ast.AST | None = None
    """the statement, keyword or call that is no longer there"""

    @property
    def place(self):
        """The node by whose lines and text the change is known."""
        return self.left_out or self.node

    def make(self):
        setattr(self.node, self.field, self.value)

    @property
    def functions(self):
        """The functions in whose bodies the change is, the outermost first."""
        nodes = (*self.around, self.node, self.place)
        return [node for node, child in pairwise(nodes) if is_function(node) and child in node.body]

    @property
    def scope(self):
        """The names of the classes and functions around the change."""
        nodes = (*self.around, *([self.node] if isinstance(self.left_out, ast.stmt) else []))
        return ".".join(node.name for node in nodes if is_function(node) or isinstance(node, ast.ClassDef))

    @property
    def statement(self):
        return next(node for node in reversed((*self.around, self.node, self.place)) if isinstance(node, ast.stmt))


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
    leaves_out: bool = False
    """whether something is left out, and not only another value"""

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


def deletions(node):
    """Yield what can be left out of a node: statements of its body, keywords of its call, or the call itself."""
    is_module = isinstance(node, ast.Module)  # without a statement of it nothing could be imported
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(node, field, None)
        for i, statement in enumerate(statements if isinstance(statements, list) and not is_module else ()):
            if is_deletable(node, statement):
                yield (
                    field,
                    [*statements[:i], ast.copy_location(ast.Pass(), statement), *statements[i + 1 :]],
                    statement,
                )
    for name, value in ast.iter_fields(node) if not isinstance(node, ast.Expr) else ():
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.Call) and (kept := without_call(child)) is not None:
                yield name, [*value[:i], kept, *value[i + 1 :]] if isinstance(value, list) else kept, child
    if isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            if keyword.arg not in (None, *NO_KEYWORDS):
                yield "keywords", [*node.keywords[:i], *node.keywords[i + 1 :]], keyword


def is_deletable(parent, statement):
    """Return whether a statement can be left out so that the code still runs: what it sets is set before, or by others.

    Where a name is set for the first time, any test would meet an error.
    """
    if isinstance(statement, ast.Raise):  # where subclasses say what, nobody comes
        return ast.unparse(statement) != "raise NotImplementedError"
    if isinstance(statement, ast.Continue | ast.Break | ast.AugAssign):
        return True
    if isinstance(statement, ast.Return):
        return isinstance(parent, ast.If)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and name_of_call(statement.value) not in NO_WORK
    if isinstance(statement, ast.Assign):
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        return read.issuperset(node.id for node in names if isinstance(node.ctx, ast.Store))
    return False


def without_call(call):
    """Return what is left where f(x) is x, or x.f() is x; None where the call has other arguments or only converts."""
    name = name_of_call(call)
    if call.keywords or name in {*CONVERSIONS, *OTHERS, *NO_WORK} or name[:1].isupper():
        return None
    if len(call.args) == 1:
        return None if isinstance(call.args[0], ast.Starred | ast.GeneratorExp) else call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None


def name_of_call(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


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
    for field, value, left_out in deletions(node):
        if field not in NO_FIELDS and not (isinstance(left_out, ast.Call) and computes_nothing(left_out)):
            yield Change(node, field, value, around, left_out)
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
        leaves_out = change.left_out is not None
        found.append(Mutant(path, number, name + again, change.place.lineno, touched, source, constants, leaves_out))
    return found


def one_per_line(mutants):
    """Return one mutant of each line that changes a value, and one that leaves something out, always the same ones.

    Those of a line are mostly noticed by the same tests.
    """
    lines = {}
    for mutant in sorted(mutants, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest()):
        lines.setdefault((mutant.path, mutant.line, mutant.leaves_out), mutant)
    return [mutant for mutant in mutants if lines[mutant.path, mutant.line, mutant.leaves_out] is mutant]


def touched_by(change, tree):
    """Return the lines of which a test must touch one to notice a change."""
    if change.functions:
        return lines_of(change.place)
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
    before = around = ast.unparse(change.place)
    inside = dropwhile(lambda node: node is not change.statement, change.around)
    for node in reversed(list(inside)):
        text = ast.unparse(node).split("\n")[0]
        around = text if len(text) <= WIDE else around
    old = getattr(change.node, change.field)
    change.make()
    after = ast.unparse(change.node.operand if isinstance(change.value, ast.UAdd) else change.node)
    setattr(change.node, change.field, old)
    if change.left_out is not None:
        before, after = (
            before.split("\n")[0],
            "nothing" if not isinstance(change.left_out, ast.Call) else "its argument",
        )
    place = f"{path.relative_to(SOURCE)} {change.scope}".strip()
    return f"{place}: {before}  →  {after}" + (f"  in  {around}" if len(before) < SHORT else "")


def without_plus(tree):
    """Return the tree with +x, which stands for a sign that was taken away, as x: arrays of truths have no +."""

    class Plain(ast.NodeTransformer):
        def visit_UnaryOp(self, node):
            self.generic_visit(node)
            return node.operand if isinstance(node.op, ast.UAdd) else node

    return ast.fix_missing_locations(Plain().visit(tree))
