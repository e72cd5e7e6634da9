"""HTML for notebooks: tables, sentences and what folds. Names of others stay text, and no colour is set."""

from collections.abc import Iterable

from gradely.tables import Table, escape_html, to_html

MOST = 100
"""a table in a notebook has no more rows than this, and says how many there are"""
NOTES = 20
"""nor are there more notes than this"""
UNTOUCHED = "tex2jax_ignore mathjax_ignore"
"""keeps notebooks from taking $ in a name for the beginning of a formula"""


def box(*parts: str) -> str:
    """Return parts of HTML as what a notebook shows for one object."""
    return f'<div class="{UNTOUCHED}">{"".join(parts)}</div>'


def sentence(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape_html(text)}</p>"


def heading(text: str) -> str:
    """Return what stands above a table, in bold."""
    return f"<p><strong>{escape_html(text)}</strong></p>"


def formula(text: str) -> str:
    """Return lines as they are."""
    return f"<pre>{escape_html(text)}</pre>"


def bullets(texts: Iterable[object]) -> str:
    """Return sentences as a list; of very many, the first."""
    lines = [escape_html(str(text)) for text in texts]
    rest = len(lines) - NOTES
    lines = [*lines[:NOTES], f"… and {rest:,} more"] if rest > 0 else lines
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else ""


def fold(title: str, *parts: str) -> str:
    """Return parts that are hidden until the reader asks for them."""
    return f"<details><summary>{escape_html(title)}</summary>{''.join(parts)}</details>"


def grid(table: Table) -> str:
    """Return a table: numbers right, the best bold, marks raised.

    >>> grid(Table(["run", "AP"], [["<b>", 0.5]]))[-107:]
    '<tr><td style="text-align:left">&lt;b&gt;</td><td style="text-align:right">0.5000</td></tr></tbody></table>'
    """
    rest = len(table.rows) - MOST
    more = f"<p>… and {rest:,} more rows</p>" if rest > 0 else ""
    return to_html(table._replace(rows=table.rows[:MOST])) + more
