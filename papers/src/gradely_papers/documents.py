"""Documents about the papers: a row for each claim, and a page for each paper."""

import re
from collections.abc import Mapping, Sequence

from gradely.tables import Cell, Table, escape_markdown, to_markdown
from gradely_papers import PAPERS, misprints
from gradely_papers.experiment import CLAIM, THEOREM, Assessment, Misprint
from gradely_papers.index import Thing, find_places
from gradely_papers.results import KEY, by_claim, of_kind
from gradely_papers.verdicts import MARKS, tally


class Headings:
    """The headings of claims and theorems on the page of their paper, and links to them."""

    def __init__(self, entries: Sequence[Assessment]) -> None:
        """Number the claims of each paper, and its theorems."""
        self._titles: dict[tuple[str, str, str], str] = {}
        for paper in PAPERS:
            for kind in (CLAIM, THEOREM):
                own = [entry for entry in of_kind(entries, kind) if entry.paper == paper]
                for number, (first, *_) in enumerate(by_claim(own), 1):
                    self._titles[paper, first.where, first.claim] = f"{kind.capitalize()} {number}: {first.where}"

    def title(self, group: Sequence[Assessment]) -> str:
        """Return the heading of a claim."""
        return self._titles[group[0].paper, group[0].where, group[0].claim]

    def link(self, text: str, group: Sequence[Assessment], page: str = "") -> str:
        """Return a link to a claim on the same page or on another one."""
        anchor = re.sub(r"[^\w\- ]", "", self.title(group).lower()).replace(" ", "-")
        return f"[{text}]({page}#{anchor})"


def list_claims(entries: list[Assessment]) -> str:
    """Return a table of the claims, then one of the theorems."""
    headings = Headings(entries)
    claims, theorems = (tabulate(of_kind(entries, kind), headings) for kind in (CLAIM, THEOREM))
    return f"{claims}\n### Theorems and constructions\n\n{theorems}"


def tabulate(entries: Sequence[Assessment], headings: Headings) -> str:
    """Return a row for each claim: its place, what the paper says, the criterion and the counts of verdicts."""
    rows: list[list[Cell]] = []
    for group in by_claim(entries):
        first = group[0]
        verdicts = tally(entry.verdict for entry in group)
        rows.append(
            [
                escape_markdown(f"{first.paper} {first.where}"),
                escape_markdown(first.words),
                escape_markdown(first.criterion),
                headings.link(verdicts, group, f"papers/{first.paper.lower()}.md"),
                ", ".join(dict.fromkeys(entry.experiment for entry in group)),
            ]
        )
    return to_markdown(Table(["where", "the paper says", "criterion", "verdicts", "experiment"], rows), escape=False)


def document(paper: str, entries: list[Assessment]) -> str:
    """Return the page about one paper: an index, the misprints, and each claim with its verdict on each set of data."""
    own = [entry for entry in entries if entry.paper == paper]
    headings = Headings(own)
    parts = [
        f"# {paper}: all claims and verdicts\n",
        "<!-- Written by `make docs` from the record of verdicts. -->\n",
        f"{PAPERS[paper]}. The [summary](../papers.md) has the main claims and findings. {KEY}.\n",
        f"## Index by the paper's own numbers\n\n{INDEX}\n\n{tabulate_places(find_places(paper, own), headings)}",
    ]
    if misprints(paper):
        table = Table(list(Misprint._fields), [list(misprint) for misprint in misprints(paper)])
        parts.append(f"## Misprints\n\n{to_markdown(table)}")
    for title, kind in (("Claims", CLAIM), ("Theorems and constructions", THEOREM)):
        groups = by_claim(of_kind(own, kind))
        if groups:
            parts += [f"## {title}\n", *(_section(group, headings.title(group)) for group in groups)]
    return "\n".join(parts)


INDEX = (
    "Experiments are followed by the names of their tables (`.csv`) and figures (`.svg`, `.png`), and claims by their"
    " verdicts."
)


def tabulate_places(places: Mapping[str, list[Thing]], headings: Headings) -> str:
    """Return the index as a table, with links from claims to their sections."""
    rows: list[list[Cell]] = []
    for name, things in places.items():
        for i, thing in enumerate(things):
            text = escape_markdown(thing.text)
            linked = headings.link(text, thing.claim) if thing.claim else text
            rows.append(["" if i else name, linked, tally(entry.verdict for entry in thing.claim)])
    return to_markdown(Table(["in the paper", "in gradely", "verdicts"], rows), escape=False)


def _section(group: Sequence[Assessment], title: str) -> str:
    first = group[0]
    experiments = ", ".join(f"`{name}`" for name in dict.fromkeys(entry.experiment for entry in group))
    lines = [f"### {title}\n", f"**{escape_markdown(first.claim)}**\n"]
    lines += [f"> “{escape_markdown(first.quote)}”\n"] if first.quote else []
    lines.append(
        f"In the paper: {escape_markdown(first.printed)}. Criterion: {escape_markdown(first.criterion)}."
        f" Experiment: {experiments}.\n"
    )
    rows = [[entry.data or "-", entry.here, f"{MARKS[entry.verdict]} {entry.verdict}"] for entry in group]
    return "\n".join([*lines, to_markdown(Table(["data", "here", "verdict"], rows))])
