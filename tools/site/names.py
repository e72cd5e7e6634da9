"""The public names in Python with their signatures, from docstrings and annotations."""

import ast
import inspect
import textwrap
from typing import Any

import gradely
from gradely.cli.measures import summary
from tools.derived import KINDS
from tools.site.commands import escaped

WIDEST = 88
"""columns of a signature in one line"""
TITLES = {"Functions": "functions", "What they return and take": "classes", "Errors": "errors"}


def pages() -> dict[str, str]:
    """Return a page for each kind of public name by its place on the site."""
    values = {name: getattr(gradely, name) for name in gradely.__all__ if getattr(gradely, name) not in gradely.ALL}
    return {
        f"reference/python/{TITLES[title]}.md": page(title, {n: v for n, v in values.items() if kind(v)})
        for title, kind in KINDS.items()
    }


def page(title: str, values: dict[str, Any]) -> str:
    """Return the page about names of one kind."""
    intro = "All names are in `gradely` itself; `help(gradely.NAME)` prints the same text."
    return f"# {title}\n\n{intro}\n\n" + "\n".join(entry(name, value) for name, value in sorted(values.items()))


def entry(name: str, value: Any) -> str:
    """Return the section about a name: its signature, its docstring, and its public methods."""
    parts = [f"## {name}\n", f"```python\n{signature(name, value)}\n```\n", prose(inspect.getdoc(value) or "")]
    if inspect.isclass(value) and not issubclass(value, Exception):
        rows = [f"| `{key}` | {escaped(summary(member)).replace('|', '&#124;')} |" for key, member in members(value)]
        if rows:
            parts += ["| member | what it is |\n| --- | --- |", *rows, ""]
    return "\n".join(parts)


def members(kind: type) -> list[tuple[str, Any]]:
    """Return the public methods and properties of a class that have a docstring."""
    found = []
    for key, member in inspect.getmembers(kind):
        if key.startswith("_") or not (callable(member) or inspect.isdatadescriptor(member)):
            continue
        if inspect.getdoc(member) and not inspect.isclass(member) and hasattr(member, "__doc__"):
            found.append((key, member))
    return found


def signature(name: str, value: Any) -> str:
    """Return the signature of a name as in the source; a class that users do not create has only its name.

    >>> print(signature("parse", gradely.parse))
    gradely.parse(name: MeasureLike) -> Measure
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    if isinstance(tree, ast.ClassDef):
        makers = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
        if not makers or issubclass(value, Exception):
            return f"class gradely.{name}"
        tree = makers[0]
    assert isinstance(tree, ast.FunctionDef)
    inside = [text for text in arguments(tree.args) if text != "self"]
    after = f" -> {ast.unparse(tree.returns)}" if tree.returns and tree.name != "__init__" else ""
    line = f"gradely.{name}({', '.join(inside)}){after}"
    return line if len(line) <= WIDEST else f"gradely.{name}(\n    " + ",\n    ".join(inside) + f",\n){after}"


def arguments(node: ast.arguments) -> list[str]:
    """Return the arguments of a function as in the source."""
    plain = [*node.posonlyargs, *node.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
    out = [_argument(*pair) for pair in zip(plain, defaults, strict=True)]
    if node.vararg:
        out.append(f"*{_argument(node.vararg, None)}")
    elif node.kwonlyargs:
        out.append("*")
    out += [_argument(*pair) for pair in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    return [*out, f"**{_argument(node.kwarg, None)}"] if node.kwarg else out


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    text = f"{node.arg}: {ast.unparse(node.annotation)}" if node.annotation else node.arg
    return text if default is None else f"{text} = {ast.unparse(default)}"


def prose(text: str) -> str:
    """Return a docstring as Markdown: examples in a block, formulas indented, prose unchanged."""
    parts = []
    for part in text.split("\n\n"):
        if part.lstrip().startswith(">>>"):
            parts.append(f"```python\n{inspect.cleandoc(part)}\n```")
        elif part.startswith("    "):
            parts.append(part)
        else:
            parts.append(escaped(part))
    return "\n\n".join(parts) + "\n"
