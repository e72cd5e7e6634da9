"""Search: the smallest counterexample to each axiom, for each measure."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gradely.data.types import Floats
from gradely.evaluation.notes import SAME
from gradely.measures import GAP, Measure, eGAP, xGAP
from gradely.measures.names import parse
from gradely_papers.axioms.worlds import Setting, World, extend_ranking, raise_document, replace_document, worlds

TENTHS = [(a / 10, b / 10, (10 - a - b) / 10) for a in range(10, -1, -1) for b in range(10 - a, -1, -1)]
"""users over three levels"""
TIED = 3
"""how many documents tie where names are looked at"""
WHOLE = ("P", "R", "F1", "F(x=4)", "RelativeP", "Success", "Utility")
"""measures of a set: all that is retrieved, or what the top k hold, which are asked apart"""
CUT = tuple(f"{name}@k" for name in WHOLE)
BOTH = (
    *("Rprec", "Judged", "AP", "RR", "bpref", "binG"),
    *("DCG", "nDCG", "nDCG(gain='exp')", "NDCNG", "nDCGphi", "RBP", "RBP(relevance='identity')", "ERR", "muAP"),
)


def rows() -> dict[str, list[Measure]]:
    """Return the rows of the table: measures, each in all settings that are searched, the usual one first.

    A measure need not have a row. Those that refuse expected ties have none, since under another policy the names of
    documents matter to all, nor has Unjudged, of which more is not better.
    """
    settings = {name: [parse(name)] for name in WHOLE}
    settings |= {name: [parse(name.replace("@k", f"@{k}")) for k in (1, 2, 3)] for name in CUT}
    settings |= {name: [parse(name), *(parse(f"{name}@{k}") for k in (1, 2, 3))] for name in BOTH}
    return settings | {kind.name: [kind(), *(kind(g=g) for g in TENTHS)] for kind in (GAP, xGAP, eGAP)}


class Axiom(NamedTuple):
    """Something to ask of a measure: that a change of the world never lowers it, or that a setting does not matter."""

    name: str
    text: str
    change: Callable[[World], Iterator[World]] | None = None
    before: Setting = Setting()
    after: Setting = Setting()
    usual: bool = False
    """ask only the usual setting of a measure: others are stated in terms of labels"""


TREC = Setting(ties="trec", tied=True)
AXIOMS = (
    Axiom("up", "Moving a better document up, past a worse one, never lowers the value.", raise_document),
    Axiom("replace", "Replacing a document by a better one never lowers the value.", replace_document),
    Axiom("add", "One more document at the end never lowers the value.", extend_ranking),
    Axiom(
        "names",
        "Names of documents do not matter, with ties expected.",
        before=Setting(tied=True),
        after=Setting(tied=True, turned=True),
    ),
    Axiom(
        "names, trec",
        "Names of documents do not matter, with ties as in trec_eval.",
        before=TREC,
        after=TREC._replace(turned=True),
    ),
    Axiom(
        "scale", "Labels half as large, all of them, do not change the value.", after=Setting(stretch=0.5), usual=True
    ),
    Axiom("levels", "A higher level, used in another query only, does not matter.", after=Setting(top=4), usual=True),
)


class Change(NamedTuple):
    """A counterexample: a measure of a world, before and after."""

    measure: str
    before: World
    after: World
    values: tuple[float, float]

    def __str__(self) -> str:
        """Show both worlds with their values."""
        first, second = (f"{value:.4g}" for value in self.values)
        then = f"then {second}" if self.before == self.after else f"{self.after} has {second}"
        return f"{self.measure}: {self.before} has {first}, {then}"


class Answer(NamedTuple):
    """The smallest counterexample, or none, and among how many comparisons."""

    change: Change | None
    of: int


class Search:
    """All worlds up to a size, and how they fare by every measure."""

    def __init__(self, longest: int, lacking: int) -> None:
        """Take rankings of up to so many documents that lack up to so many judged ones."""
        self.worlds = worlds(longest, lacking)
        self._cache: dict[tuple[Setting, bool], Floats] = {}

    def answers(self, axiom: Axiom) -> dict[str, Answer]:
        """Return what is found for each row."""
        pairs, every = self._pairs(axiom), self._worlds(axiom.before)
        before, after = (
            self._values(setting, usual=axiom.usual)[pairs[:, i]]
            for i, setting in enumerate((axiom.before, axiom.after))
        )
        bad = after < before - SAME if axiom.change else np.abs(after - before) > SAME
        out, start = {}, 0
        for name, measures in measures_of(usual=axiom.usual).items():
            columns = slice(start, start + len(measures))
            start += len(measures)
            at = np.argwhere(bad[:, columns])
            change = None
            if len(at):
                i, j = at[0].tolist()
                ends = (float(before[i, columns][j]), float(after[i, columns][j]))
                change = Change(str(measures[j]), every[pairs[i, 0]], every[pairs[i, 1]], ends)
            out[name] = Answer(change, len(pairs) * len(measures))
        return out

    def _values(self, setting: Setting, *, usual: bool) -> Floats:
        """Return the values of all worlds by all measures that are asked."""
        if (setting, usual) not in self._cache:
            measures = chain.from_iterable(measures_of(usual=usual).values())
            self._cache[setting, usual] = setting.values(self._worlds(setting), measures)
        return self._cache[setting, usual]

    def _worlds(self, setting: Setting) -> list[World]:
        """Return all worlds, or those with short rankings where all documents tie."""
        return [world for world in self.worlds if len(world.ranking) <= TIED] if setting.tied else self.worlds

    def _pairs(self, axiom: Axiom) -> Any:
        """Return [pairs, 2]: the worlds to compare, the smallest first."""
        if axiom.change is None:
            return np.arange(len(self._worlds(axiom.before)))[:, None].repeat(2, axis=1)
        at = {world: i for i, world in enumerate(self.worlds)}
        changed = ((i, other) for i, world in enumerate(self.worlds) for other in axiom.change(world))
        return np.asarray([(i, at[other]) for i, other in changed if other in at])


def measures_of(*, usual: bool) -> dict[str, list[Measure]]:
    """Return the rows with the settings that are asked."""
    return {name: measures[:1] if usual else measures for name, measures in rows().items()}
