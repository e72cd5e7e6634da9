"""HTML for notebooks: tables, sentences and what folds. Names of others stay text, and no colour is set."""

from collections.abc import Iterable

from gradely.tables import Table, plain_line

MOST = 100
"""a table in a notebook has no more rows than this, and says how many there are"""
NOTES = 20
"""nor are there more notes than this"""
UNTOUCHED = "tex2jax_ignore mathjax_ignore"
"""keeps notebooks from taking $ in a name for the beginning of a formula"""


def box(*parts: str) -> str:
    """Return parts of HTML as what a notebook shows for one object."""
    return f'<div class="{UNTOUCHED}">{"".join(parts)}</div>'


def escape_html(text: str) -> str:
    """Return text in which nothing is taken for a tag; the table of entities is loaded where it is needed."""
    from html import escape

    return escape(text)


def safe(text: str) -> str:
    """Return text that HTML shows as it is, on its line."""
    return escape_html(plain_line(text))


def sentence(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{safe(text)}</p>"


def heading(text: str) -> str:
    """Return what stands above a table, in bold."""
    return f"<p><strong>{safe(text)}</strong></p>"


def formula(text: str) -> str:
    """Return lines as they are."""
    return f"<pre>{escape_html(text)}</pre>"


def bullets(texts: Iterable[object]) -> str:
    """Return sentences as a list; of very many, the first."""
    lines = [safe(str(text)) for text in texts]
    rest = len(lines) - NOTES
    lines = [*lines[:NOTES], f"… and {rest:,} more"] if rest > 0 else lines
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if lines else ""


def fold(title: str, *parts: str) -> str:
    """Return parts that are hidden until the reader asks for them."""
    return f"<details><summary>{safe(title)}</summary>{''.join(parts)}</details>"


def grid(table: Table) -> str:
    """Return a table: numbers right, the best bold, marks raised.

    >>> grid(Table(["run", "AP"], [["<b>", 0.5]]))[-107:]
    '<tr><td style="text-align:left">&lt;b&gt;</td><td style="text-align:right">0.5000</td></tr></tbody></table>'
    """
    rest = len(table.rows) - MOST
    cells, marks = table._replace(rows=table.rows[:MOST]).cells(), table.marks()
    align = [f'style="text-align:{"right" if number else "left"}"' for number in table.numeric()]
    head = "".join(f"<th {side}>{safe(cell)}</th>" for cell, side in zip(cells[0], align, strict=True))
    rows = []
    for row, marked in zip(cells[1:], marks[1:], strict=False):
        texts = [
            (f"<strong>{safe(cell)}</strong>" if mark.best else safe(cell))
            + (f"<sup>{safe(mark.marks)}</sup>" if mark.marks else "")
            for cell, mark in zip(row, marked, strict=True)
        ]
        rows.append("".join(f"<td {side}>{text}</td>" for text, side in zip(texts, align, strict=True)))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = f"<p>… and {rest:,} more rows</p>" if rest > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
