"""An index of each paper by its own sections, equations, tables and figures."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gradely_papers import experiments, items, misprints
from gradely_papers.experiment import Assessment
from gradely_papers.results import by_claim

ORDER = ("abstract", "§", "eq.", "table", "figure", "outlook")
"""the order of the places"""
PATTERN = re.compile(
    r"(?P<word>abstract|outlook)|§(?P<first>\d+)-(?P<last>\d+)|(?P<section>§[\d.]*\d)"
    r"|(?P<kind>table|figure)s? (?P<one>\d+)(?: and (?P<two>\d+))?|(?P<equation>\(\d+\))"
)


def places_of(where: str) -> list[str]:
    """Return the places of a paper that a text names, one by one.

    >>> places_of("§6, tables 2 and 3"), places_of("abstract, §3-5, eq. (7)")
    (['§6', 'table 2', 'table 3'], ['abstract', '§3', '§4', '§5', 'eq. (7)'])
    """
    out = []
    for match in PATTERN.finditer(where):
        if match["first"]:
            out += [f"§{number}" for number in range(int(match["first"]), int(match["last"]) + 1)]
        elif match["kind"]:
            out += [f"{match['kind']} {number}" for number in (match["one"], match["two"]) if number]
        else:
            out.append(f"eq. {match['equation']}" if match["equation"] else match["word"] or match["section"])
    return out


SPELLINGS = (
    (r"^(?=[\d.]+$)", "§"),
    (r"§\s*|\bsec[a-z]*\.?\s*", "§"),
    (r"\bfig[a-z]*\.?\s*", "figure "),
    (r"\btab[a-z]*\.?\s*", "table "),
    (r"\beq[a-z]*\.?\s*\(?(\d+)\)?", r"(\1)"),
)
"""spellings of places, and their standard form"""


def read_place(typed: str) -> str:
    """Return the place that was typed, or the unchanged text if it is not a place.

    >>> [read_place(typed) for typed in ("Fig. 4", "section 2.1", "2.1", "eq 4", "chapter 1")]
    ['figure 4', '§2.1', '§2.1', 'eq. (4)', 'chapter 1']
    """
    text = typed.lower()
    for pattern, form in SPELLINGS:
        text = re.sub(pattern, form, text)
    return next(iter(places_of(text)), typed)


class Thing(NamedTuple):
    """An entry of the index: a definition, tables and figures, a misprint, or a claim."""

    text: str
    claim: list[Assessment]
    """the verdicts of a claim; empty for other entries"""


def find_places(paper: str, entries: Iterable[Assessment]) -> dict[str, list[Thing]]:
    """Return the entries of each place of a paper, in the order of the paper."""
    own = [experiment for experiment in experiments().values() if experiment.paper == paper]
    found = [
        *((item.where, Thing(f"{item.what}: {item.here}", [])) for item in items(paper)),
        *((where, Thing(f"`{each.name}`: {names}", [])) for each in own for where, names in each.files),
        *((where, Thing(f"misprint: {printed}; correct: {right}", [])) for where, printed, right in misprints(paper)),
        *(
            (group[0].where, Thing(group[0].claim, group))
            for group in by_claim(entry for entry in entries if entry.paper == paper)
        ),
    ]
    out: defaultdict[str, list[Thing]] = defaultdict(list)
    for where, thing in found:
        for name in places_of(where):
            out[name].append(thing)
    return {name: out[name] for name in sorted(out, key=_rank)}


def select_place(places: Mapping[str, list[Thing]], name: str) -> dict[str, list[Thing]]:
    """Return one place; a section includes its subsections.

    >>> list(select_place({"§2": [], "§2.1": [], "§3": []}, "§2"))
    ['§2', '§2.1']
    """
    return {place: things for place, things in places.items() if place == name or place.startswith(f"{name}.")}


def _rank(name: str) -> tuple[int, list[int]]:
    kind = next(i for i, kind in enumerate(ORDER) if name.startswith(kind))
    return kind, [int(number) for number in re.findall(r"\d+", name)]
