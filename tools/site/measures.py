"""A page per measure: formula, parameters, ties, an example, a plot, references, and names in other libraries."""

import inspect
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from tests.other_libraries import LIBRARIES

import gradely
from gradely.cli.measures import section
from gradely.measures.names import parse
from gradely.tables import Table, to_markdown
from tools.site.plot import draw
from tools.site.sources import ROOT

FORMULAS: dict[str, str] = tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))
"""the formula of each measure in LaTeX"""
QRELS = {"q": {"d1": 3, "d2": 0, "d3": 1, "d4": 2, "d5": 0}}
RUN = {"q": {"d1": 0.9, "d2": 0.7, "d3": 0.5, "d4": 0.5, "d9": 0.2}}
"""a ranking in which a document of grade 1 and one of grade 2 tie, and one document is not judged"""
SUBTOPICS = {"q": {"d1": {"a": 1}, "d2": {"a": 0}, "d3": {"a": 1}, "d4": {"b": 1}, "d5": {"c": 1}}}
"""the same ranking, judged by subtopic"""
LABELS = [3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
"""the plotted ranking: an ideal one, whose best document moves down"""
SERVED = [{"a": 1, "b": 1, "c": 1}, {"a": 1}, {"b": 1}, {"c": 1}, {"a": 1}, *([{"a": 0}] * 5)]
"""the same ranking for measures of diversity: the subtopics that each document is relevant to"""
OPTIONAL = {"Utility": {}, "P": {"k": 5}, "SDCG": {"k": 5}, "BPM": {"k": 5}}
"""parameters of the examples for measures whose defaults are missing or uninformative"""


def pages() -> dict[str, str]:
    """Return the page of every measure by its place on the site, and the list of all."""
    return {f"reference/measures/{kind.name.lower()}.md": page(kind) for kind in gradely.ALL}


def page(kind: type[gradely.Measure]) -> str:
    """Return the page about a measure."""
    text = set_symbols(set_formula(section(kind), kind.name)).replace(f"## {kind.name}\n", f"# {kind.name}\n", 1)
    text = text.replace("\n| parameter |", "\n## Parameters\n\n| parameter |", 1)
    head, fence, example = text.partition("\n```python\n>>>")
    parts = [f"{head}\n## Example\n{fence}{example}", explained(kind), plotted(kind), elsewhere(kind), references(kind)]
    return "\n".join(part for part in parts if part)


def set_formula(text: str, name: str) -> str:
    r"""Return a text in which the plain formula of a measure is replaced with a typeset one.

    >>> print(set_formula("Mean.\n\n    AP = x\n    y = z\n\nRest", "eGAP"))
    Mean.
    <BLANKLINE>
    $$
    eGAP = \sum_k g_k \frac{N_k}{RB(k)}
    $$
    <BLANKLINE>
    Rest
    """
    if name not in FORMULAS:
        return text
    return re.sub(r"(?:^    .*\n)+", lambda _: f"$$\n{FORMULAS[name]}\n$$\n", text, count=1, flags=re.MULTILINE)


def set_symbols(text: str) -> str:
    r"""Return a text with indexed letters typeset as mathematics, except in code and formulas.

    >>> set_symbols("C_i and cg*_i of `x_i`, w_i = c_s(i), as in trec_eval")
    '$C_i$ and $cg^{*}_i$ of `x_i`, $w_i$ = $c_s$(i), as in trec_eval'
    """

    def symbol(found: re.Match[str]) -> str:
        return found[0] if found["code"] else f"${found['letter']}{'^{*}' if found['star'] else ''}_{found['index']}$"

    return re.sub(
        r"(?P<code>```.*?```|`[^`]*`|\$\$.*?\$\$)|(?<![\w'])(?P<letter>cg|[A-Za-z])(?P<star>\*?)_(?P<index>[a-z0-9])(?!\w)",
        symbol,
        text,
        flags=re.DOTALL,
    )


def example_of(kind: type[gradely.Measure]) -> gradely.Measure:
    """Return the measure with the parameters of the examples."""
    return kind(**OPTIONAL.get(kind.name, {}))


def explained(kind: type[gradely.Measure]) -> str:
    """Return the example ranking explained rank by rank; nothing if the measure needs other judgments."""
    ties = "expected" if kind.takes_expected else "trec"
    try:
        found = gradely.explain(SUBTOPICS if kind.needs_subtopics else QRELS, RUN, "q", example_of(kind), ties=ties)
    except gradely.GradelyError:
        return ""
    return (
        "## Rank by rank\n\nFive documents were retrieved; `d3` and `d4` have the same score, and `d9` is not judged. "
        f"`gradely explain` shows what each adds:\n\n```text\n{found}\n```\n"
    )


def plotted(kind: type[gradely.Measure]) -> str:
    """Return a plot of the value as the best document of an ideal ranking moves down."""
    best, *rest = SERVED if kind.needs_subtopics else LABELS
    rankings = [[*rest[:place], best, *rest[place:]] for place in range(len(LABELS))]
    qrels = {f"q{place}": {f"d{i}": label for i, label in enumerate(labels)} for place, labels in enumerate(rankings)}
    run = {query: list(labels) for query, labels in qrels.items()}
    try:
        scores = gradely.evaluate(qrels, run, [example_of(kind)], ties="order")
    except gradely.GradelyError:
        return ""
    (name,) = scores.mean()
    documents = (
        "of which the best covers three subtopics, four cover one each, and five cover none"
        if kind.needs_subtopics
        else "with the grades 3, 2, 2, 1, 1 and five times 0"
    )
    caption = (
        f"{name} of ten documents {documents}. The best document is at the rank on the horizontal axis, and the others"
        " stay in their best order."
    )
    curve = draw([row[name] for row in scores.per_query().values()], name)
    figure = f'<figure class="plot">\n{curve}\n<figcaption>{caption}</figcaption>\n</figure>\n'
    return f"## Value as the best document moves down\n\n{figure}"


def elsewhere(kind: type[gradely.Measure]) -> str:
    """Return the libraries that have the measure, with the names that they use."""
    rows = [
        [library, ", ".join(f"`{name}`" for name in names)]
        for library, table in LIBRARIES.items()
        if library != "people" and (names := names_of(kind, table.items()))
    ]
    if not rows:
        return "## Elsewhere\n\nNone of the libraries whose names gradely accepts has this measure.\n"
    table = to_markdown(Table(["library", "names"], rows), escape=False)
    return f"## Elsewhere\n\nOther libraries use these names for the measure, and gradely accepts them.\n\n{table}"


def names_of(kind: type[gradely.Measure], pairs: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return the plainest names of a measure in a library."""
    names = [theirs for theirs, ours in pairs if ours is not None and type(parse(ours)) is kind]
    return sorted(dict.fromkeys(names), key=lambda name: (len(name), name))[:4]


def references(kind: type[gradely.Measure]) -> str:
    """Return the papers that the docstring cites, with DOI and BibTeX."""
    text = re.search(r"^Reference: (.*?)(?:\n\n|\Z)", inspect.getdoc(kind) or "", re.MULTILINE | re.DOTALL)
    cited = " ".join(text[1].split()) if text else ""
    entries = [entry for entry in BIBLIOGRAPHY if entry.is_in(cited)]
    if not entries:
        return ""
    blocks = [
        (f"[doi:{entry.doi}](https://doi.org/{entry.doi})\n\n" if entry.doi else "") + f"```bibtex\n{entry.text}\n```\n"
        for entry in entries
    ]
    return "## References\n\n" + "\n".join(blocks)


class Entry:
    """An entry of the bibliography."""

    def __init__(self, text: str) -> None:
        """Take it as BibTeX."""
        self.text = text
        self.year = self._field("year")
        self.doi = self._field("doi")
        author = self._field("author").partition(",")[0]
        self.surname = re.sub(r"\{\\.(.)\}", r"\1", author).removeprefix("van ")

    def _field(self, name: str) -> str:
        found = re.search(rf"^  {name} = {{(.*)}},?$", self.text, re.MULTILINE)
        return found[1] if found else ""

    def is_in(self, text: str) -> bool:
        """Return whether a text cites it: the surname of its first author, and its year."""
        plain = text.translate(str.maketrans("äöüåéíãč", "aouaeiac"))
        return re.search(rf"\b{self.surname}\b.*?\b{self.year}\b", plain) is not None


BIBLIOGRAPHY = [
    Entry(text)
    for text in re.findall(
        r"^@.*?^}",
        (ROOT / "docs" / "reference" / "references.bib").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
]


def overview(text: str) -> str:
    """Return the page of all measures with its sections moved to pages of their own."""
    before, _, _ = text.partition(f"\n## {gradely.ALL[0].name}\n")
    linked = re.sub(r"\]\(#([a-z0-9_]+)\)", r"](measures/\1.md)", before)
    names = "\n".join(f"measures/{kind.name.lower()}" for kind in gradely.ALL)
    return f"{linked}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
