"""Formulas as MathML, written when the site is built: browsers show them without scripts or downloaded fonts."""

from typing import Any

from latex2mathml.converter import convert


def to_mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, in a line of text or in a block of its own."""
    return str(convert(latex.strip(), display=display))


def visit_inline(translator: Any, node: Any) -> None:
    """Write a formula in a line of text."""
    from docutils.nodes import SkipNode

    translator.body.append(to_mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Write a formula in a block, which scrolls on narrow screens."""
    from docutils.nodes import SkipNode

    formula = to_mathml(node.astext(), "block")
    translator.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formula}</div>\n')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
