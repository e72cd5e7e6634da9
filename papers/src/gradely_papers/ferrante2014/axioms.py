"""Beyond F14: a table of axioms for measures, with a proof sketch or the smallest counterexample in each cell."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations_with_replacement, pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely import GAP, Measure, eGAP, evaluate, parse, xGAP
from gradely.data.ids import Floats
from gradely.evaluation.notes import SAME
from gradely.settings import TiePolicy
from gradely_papers.charts import altair, draw, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.progress import Report
from gradely_papers.verdicts import Record, group_by

UNJUDGED = None
Label: TypeAlias = int | None
LABELS: tuple[Label, ...] = (UNJUDGED, 0, 1, 2, 3)


class World(NamedTuple):
    """A ranking, best first, and the labels of judged documents that it lacks."""

    ranking: tuple[Label, ...]
    missed: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return the ranking, with - for unjudged documents, and the labels that it lacks."""
        labels = " ".join("-" if label is None else str(label) for label in self.ranking)
        return f"{labels} (not retrieved: {' '.join(map(str, self.missed))})" if self.missed else labels

    @property
    def size(self) -> tuple[int, int, int]:
        """The numbers that order counterexamples: documents, sum of labels, length of the ranking."""
        labels = (*self.ranking, *self.missed)
        return len(labels), sum(label or 0 for label in labels), len(self.ranking)


def worlds(longest: int, lacking: int) -> list[World]:
    """Return every ranking of up to `longest` documents that lacks up to `lacking` judged ones, smallest first.

    Each has at least one judged document.
    """
    rankings = chain.from_iterable(product(LABELS, repeat=n) for n in range(1, longest + 1))
    missed = list(chain.from_iterable(combinations_with_replacement(range(4), n) for n in range(lacking + 1)))
    candidates = (World(ranking, lacks) for ranking in rankings for lacks in missed)
    judged = (world for world in candidates if world.missed or any(label is not None for label in world.ranking))
    return sorted(judged, key=lambda world: world.size)


def better(label: Label, than: Label) -> bool:
    """Return whether a document is better than another; unjudged documents count as not relevant."""
    return label is not None and label > (than or 0)


def raise_document(world: World) -> Iterator[World]:
    """Yield the worlds with a better document moved up past a worse one."""
    ranking = world.ranking
    for i, (upper, lower) in enumerate(pairwise(ranking)):
        if better(lower, upper):
            yield World((*ranking[:i], lower, upper, *ranking[i + 2 :]), world.missed)


def replace_document(world: World) -> Iterator[World]:
    """Yield the worlds with a document replaced by a better one that the ranking lacks."""
    for (i, label), (j, other) in product(enumerate(world.ranking), enumerate(world.missed)):
        if better(other, label):
            replaced = [] if label is None else [label]
            rest = sorted([*world.missed[:j], *replaced, *world.missed[j + 1 :]])
            yield World((*world.ranking[:i], other, *world.ranking[i + 1 :]), tuple(rest))


def extend_ranking(world: World) -> Iterator[World]:
    """Yield the worlds with one more document at the end: an unjudged one, or one that the ranking lacks."""
    yield World((*world.ranking, UNJUDGED), world.missed)
    for j, label in enumerate(world.missed):
        yield World((*world.ranking, label), (*world.missed[:j], *world.missed[j + 1 :]))


class Setting(NamedTuple):
    """A way to measure worlds as queries of one collection."""

    stretch: float = 1
    """the factor of all labels"""
    top: int | None = None
    """a label in another query, which is not counted"""
    ties: TiePolicy = "expected"
    tied: bool = False
    """whether all documents of a ranking tie, or none"""
    turned: bool = False
    """whether the names of the documents are reversed"""

    def values(self, every: Sequence[World], measures: Iterable[Measure]) -> Floats:
        """Return [worlds, measures]."""
        qrels: dict[str, dict[str, float]] = {str(i): self._labels(world) for i, world in enumerate(every)}
        run = {str(i): self._scores(world) for i, world in enumerate(every)}
        other = {} if self.top is None else {"other": {"d0": self.top}}
        return evaluate(qrels | other, run, measures, ties=self.ties).values[: len(every)]

    def _labels(self, world: World) -> dict[str, float]:
        names = self._names(world)
        judged = {name: label for name, label in zip(names, world.ranking, strict=True) if label is not None}
        missed = {f"m{i}": label for i, label in enumerate(world.missed)}
        return {name: label * self.stretch for name, label in (judged | missed).items()}

    def _scores(self, world: World) -> dict[str, float]:
        return {name: 1.0 if self.tied else -float(i) for i, name in enumerate(self._names(world))}

    def _names(self, world: World) -> list[str]:
        names = [f"d{i}" for i in range(len(world.ranking))]
        return names[::-1] if self.turned else names


TENTHS = [(a / 10, b / 10, (10 - a - b) / 10) for a in range(10, -1, -1) for b in range(10 - a, -1, -1)]
"""shares of users over three levels"""
TIED = 3
"""the most tied documents in the search for effects of names"""
WHOLE = ("P", "R", "F1", "F(x=4)", "RelativeP", "Success", "Utility")
"""set-based measures; their variants at k have rows of their own"""
CUT = tuple(f"{name}@k" for name in WHOLE)
BOTH = (
    *("Rprec", "Judged", "AP", "RR", "bpref", "binG"),
    *("DCG", "nDCG", "nDCG(gain='exp')", "NDCNG", "nDCGphi", "RBP", "RBP(relevance='identity')", "ERR", "muAP"),
)


def rows() -> dict[str, list[Measure]]:
    """Return the rows of the table: measures with all settings that are searched, the default first.

    A measure need not have a row. Measures that refuse expected ties have none, since names matter under any other
    policy, and Unjudged has none, since higher values are not better.
    """
    settings = {name: [parse(name)] for name in WHOLE}
    settings |= {name: [parse(name.replace("@k", f"@{k}")) for k in (1, 2, 3)] for name in CUT}
    settings |= {name: [parse(name), *(parse(f"{name}@{k}") for k in (1, 2, 3))] for name in BOTH}
    return settings | {kind.name: [kind(), *(kind(g=g) for g in TENTHS)] for kind in (GAP, xGAP, eGAP)}


class Axiom(NamedTuple):
    """An axiom: a change of the world never lowers a measure, or a setting does not change it."""

    name: str
    text: str
    change: Callable[[World], Iterator[World]] | None = None
    before: Setting = Setting()
    after: Setting = Setting()
    usual: bool = False
    """whether to test only the default setting of a measure, since the others refer to labels"""


TREC = Setting(ties="trec", tied=True)
AXIOMS = (
    Axiom("up", "Moving a better document up past a worse one never lowers the value.", raise_document),
    Axiom("replace", "Replacing a document by a better one never lowers the value.", replace_document),
    Axiom("add", "Adding a document at the end never lowers the value.", extend_ranking),
    Axiom(
        "names",
        "With expected ties, names of documents do not change the value.",
        before=Setting(tied=True),
        after=Setting(tied=True, turned=True),
    ),
    Axiom(
        "names, trec",
        "With ties broken as in trec_eval, names of documents do not change the value.",
        before=TREC,
        after=TREC._replace(turned=True),
    ),
    Axiom("scale", "Halving all labels does not change the value.", after=Setting(stretch=0.5), usual=True),
    Axiom(
        "levels",
        "A higher level in another query does not change the value.",
        after=Setting(top=4),
        usual=True,
    ),
)


class Change(NamedTuple):
    """A counterexample: a measure, a world before and after, and its values."""

    measure: str
    before: World
    after: World
    values: tuple[float, float]

    def __str__(self) -> str:
        """Return both worlds with their values, as text."""
        first, second = (f"{value:.4g}" for value in self.values)
        then = f"then {second}" if self.before == self.after else f"{self.after} has {second}"
        return f"{self.measure}: {self.before} has {first}, {then}"


class Answer(NamedTuple):
    """The smallest counterexample, if any, and the number of comparisons."""

    change: Change | None
    of: int


class Search:
    """A search for counterexamples in all worlds up to a size."""

    def __init__(self, longest: int, lacking: int) -> None:
        """Take rankings of up to `longest` documents that lack up to `lacking` judged ones."""
        self.worlds = worlds(longest, lacking)
        self._cache: dict[tuple[Setting, bool], Floats] = {}

    def answers(self, axiom: Axiom) -> dict[str, Answer]:
        """Return the answer for each row."""
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
        """Return the values of all worlds by all tested measures."""
        if (setting, usual) not in self._cache:
            measures = chain.from_iterable(measures_of(usual=usual).values())
            self._cache[setting, usual] = setting.values(self._worlds(setting), measures)
        return self._cache[setting, usual]

    def _worlds(self, setting: Setting) -> list[World]:
        """Return all worlds, or those with short rankings if all documents tie."""
        return [world for world in self.worlds if len(world.ranking) <= TIED] if setting.tied else self.worlds

    def _pairs(self, axiom: Axiom) -> Any:
        """Return the worlds to compare [pairs, 2], smallest first."""
        if axiom.change is None:
            return np.arange(len(self._worlds(axiom.before)))[:, None].repeat(2, axis=1)
        at = {world: i for i, world in enumerate(self.worlds)}
        changed = ((i, other) for i, world in enumerate(self.worlds) for other in axiom.change(world))
        return np.asarray([(i, at[other]) for i, other in changed if other in at])


def measures_of(*, usual: bool) -> dict[str, list[Measure]]:
    """Return the rows with the settings that are tested."""
    return {name: measures[:1] if usual else measures for name, measures in rows().items()}


GAINS = "DCG nDCG nDCG(gain='exp') NDCNG nDCGphi RBP RBP(relevance='identity')"
SETS = " ".join(WHOLE)
DIVIDED = "P@k F1@k F(x=4)@k RelativeP@k"
COUNTS = f"{DIVIDED} Utility@k R@k Success@k Rprec"
MIXTURES = "GAP eGAP muAP"
ALL = f"{SETS} {COUNTS} Judged AP RR bpref binG {GAINS} ERR {MIXTURES} xGAP"

_PROOFS: dict[str, list[tuple[str, str]]] = {
    "up": [
        (SETS, "The same documents are retrieved."),
        (COUNTS, "Only membership of the top k counts, and a swap can only bring the better document in."),
        ("Judged", "Moving past a judged document changes nothing; moving past an unjudged one may enter the top k."),
        ("AP", "With c relevant documents above, its precision (c+1)/(n+1) becomes (c+1)/n; others do not change."),
        ("RR", "The first relevant document never moves down."),
        ("bpref", "It has at most one judged non-relevant document fewer above it, and no document has more."),
        ("binG", "Past a non-relevant document, it has one of them fewer above it, and others have as many."),
        (GAINS, "The larger gain is discounted less than before; the norm depends on the pool only."),
        (
            "ERR",
            "With probability P of reaching rank n, and p < q of stopping, it grows by P·(q-p)·(1/n - 1/(n+1)) > 0.",
        ),
        (MIXTURES, "A mixture of AP at each level, with weights that depend on the pool only; no AP falls."),
    ],
    "replace": [
        (f"{SETS} {COUNTS}", "The top k has as many documents, and no fewer relevant ones."),
        ("Judged", "The top k has as many documents, and no fewer judged ones."),
        ("AP", "If the document was not relevant, it adds a precision and raises those below."),
        ("RR", "The first relevant document never moves down."),
        ("binG", "It adds a term > 0; documents below have no more non-relevant documents above them."),
        ("bpref", "It adds a term >= 0; documents below have no more judged non-relevant documents above them."),
        (GAINS, "A larger gain at the same rank; the norm depends on the pool only."),
        ("ERR", "Reached with probability P, it grows with slope P·(1/n - V), and V <= 1/(n+1) is the gain below."),
        (MIXTURES, "A mixture of AP at each level, with weights that depend on the pool only; no AP falls."),
        ("xGAP", "w(r), a mean of 1/RB(k) over k <= r, does not fall with r; nor do w(r)·Σ_{k<=r} g_k and any Δ."),
    ],
    "add": [
        (DIVIDED, "The divisor depends on k and the pool only, and no document above moves."),
        (
            f"R R@k Rprec Success Success@k AP RR bpref binG {GAINS} ERR {MIXTURES} xGAP",
            "No document above moves, the norm depends on the pool only, and no document subtracts from the value.",
        ),
    ],
    "names": [(ALL, "The value is the mean over all orders of tied documents and does not use names.")],
    "names, trec": [(SETS, "All retrieved documents count, in any order.")],
    "scale": [
        ("Judged", "Labels are not used."),
        ("nDCG", "Gains and ideal gains are both halved."),
        ("NDCNG", "Labels are divided by the highest one of the query, which is also halved."),
        ("nDCGphi", "Median, quartiles and maximum are also halved, so φ does not change."),
        ("RBP(relevance='identity')", "Labels are divided by the top of the scale, which is also halved."),
        ("GAP eGAP xGAP", "The thresholds are the levels that occur, and their shares of the users do not change."),
        ("muAP", "Distances between levels and their sum are both halved."),
    ],
    "levels": [
        (
            f"{SETS} {COUNTS} Judged AP RR bpref binG DCG nDCG nDCG(gain='exp') RBP",
            "Other queries are not used.",
        ),
        ("NDCNG nDCGphi muAP", "The scale is that of the query's own pool."),
        ("GAP", "The new level has RB = 0 and N = 0, and the equal shares of the others cancel."),
    ],
}

PROOFS = {
    (row, axiom): proof for axiom, pairs in _PROOFS.items() for measures, proof in pairs for row in measures.split()
}
"""by row and axiom"""


LONGEST, LACKING = 5, 1


def search_axioms(progress: Report) -> dict[tuple[str, str], Answer]:
    """Return the answers by row and axiom."""
    search = Search(LONGEST, LACKING)
    answers: dict[tuple[str, str], Answer] = {}
    for i, axiom in enumerate(AXIOMS):
        answers |= {(row, axiom.name): cell for row, cell in search.answers(axiom).items()}
        progress((i + 1) / len(AXIOMS))
    return answers


def cells(answers: dict[tuple[str, str], Answer]) -> list[Record]:
    """Return whether each axiom holds for each row, with a counterexample or proof and the number of comparisons."""
    out: list[Record] = []
    for row, axiom in product(rows(), AXIOMS):
        change, comparisons = answers[row, axiom.name]
        found = {"holds": "✗", "why": str(change)} if change else {"holds": "✓", "why": PROOFS[row, axiom.name]}
        out.append({"measure": row, "axiom": axiom.name} | found | {"comparisons": comparisons})
    return out


def observations(answers: dict[tuple[str, str], Answer]) -> list[Observation]:
    """Return the number of failures, the measures that can fall, and the refuted proofs."""
    falling = [f"{row}: {answers[row, 'up'].change}" for row in rows() if answers[row, "up"].change]
    failing = sum(answer.change is not None for answer in answers.values())
    refuted = [f"{row}: {axiom}" for (row, axiom) in PROOFS if answers[row, axiom].change]
    return [
        Observation(
            "How many axioms fail?",
            f"{failing} of {len(answers)} pairs of a measure and an axiom have a counterexample; the smallest is shown."
            " The others have a proof.",
        ),
        Observation("Which measures can fall if a better document moves up?", "; ".join(falling) or "none"),
        Observation("Which proofs does the search refute?", ", ".join(refuted) or "none"),
    ]


def summary(records: list[Record]) -> list[Record]:
    """Return a record for each measure, with a column for each axiom."""
    return [
        {"measure": measure} | {record["axiom"]: record["holds"] for record in own}
        for measure, own in group_by("measure", records).items()
    ]


def chart(records: list[Record]) -> Any:
    """Return the table as a chart, with a square for each measure and axiom."""
    alt = altair()
    base = draw([{name: record[name] for name in ("measure", "axiom", "holds")} for record in records]).encode(
        x=alt.X("axiom:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("measure:N", title=None, sort=None),
    )
    colour = alt.Color("holds:N", scale=alt.Scale(domain=["✓", "✗"], range=["#cfe8d5", "#f6c9a8"]), legend=None)
    marks = base.mark_text(fontSize=13, color="#1c2430").encode(text="holds:N")
    return style((base.mark_rect(stroke="white").encode(color=colour) + marks).properties(width=560, height=480))


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data, nothing at random
    """Search for counterexamples to every axiom, for every measure."""
    answers = search_axioms(progress)
    records = cells(answers)
    return Outcome(
        f"We measured every ranking of up to {LONGEST} documents, unjudged (-) or of grade 0 to 3, that lacks up to"
        f" {LACKING} judged document, by several settings of each measure, including all g in steps of 0.1 for GAP,"
        f" xGAP and eGAP. For each of {len(AXIOMS)} axioms, we searched for the smallest counterexample.",
        answers,
        {
            "asked": Sheet.of("The axioms", [{"axiom": axiom.name, "statement": axiom.text} for axiom in AXIOMS]),
            "axioms": Sheet.of("Which axioms hold", summary(records)),
            "reasons": Sheet.of("Reasons: a proof or the smallest counterexample", records),
        },
        {"axioms": Figure("✓: proved; ✗: refuted by a counterexample.", chart(records))},
        observations(answers),
    )


EXPERIMENT = Experiment(
    "f14-axioms",
    "beyond",
    "How each measure changes when one thing changes",
    "The paper does not say whether its measures are monotone. xGAP is not: with only two relevant documents,"
    " of grade 1 at rank n and of grade 2 at rank n+1, swapping them lowers xGAP if g_1/(g_1+g_2) > 2/n.",
    run,
    (),
)
