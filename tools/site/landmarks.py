"""Accessibility that the theme lacks: levels of headings, and names for the parts of a page."""

from pathlib import Path

REPLACED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<aside class="toc-drawer no-toc">': '<aside class="toc-drawer no-toc" aria-label="On this page">',
    '<th class="head"><p></p></th>': "<td></td>",  # no heading
    '<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
}


def add(folder: Path) -> None:
    """Add both to every page in a folder."""
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for theirs, ours in REPLACED.items():
            text = text.replace(theirs, ours)
        page.write_text(text, encoding="utf-8")
