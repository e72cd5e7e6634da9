"""Properties of measures, found by trying them on small rankings, so users can choose a measure by its behaviour."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

from gradely.errors import MeasureError, did_you_mean
from gradely.evaluation.evaluate import evaluate
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section
from gradely.measures import ALL, Measure
from gradely.tables import Cell, Table

FAMILIES = {
    "sets": ("The documents in the top k, in any order", "P R F1 F SetAP RelativeP Rprec Utility Judged Unjudged"),
    "first": ("The rank of the first relevant document", "RR Success"),
    "precision": (
        "Precision, averaged over relevant documents",
        "AP infAP IPrec GAP xGAP eGAP muAP Q Pplus",
    ),
    "gain": ("Gain, discounted by rank", "DCG nDCG NDCNG nDCGphi SDCG G binG"),
    "users": (
        "A user who continues with some probability, or stops when satisfied",
        "RBP RBPresidual ERR nERR iRBU INSQ INST BPM NERR8 NERR9 NERR10 NERR11",
    ),
    "pairs": ("Pairs of documents in the right order", "bpref AUC OPA"),
    "agreement": ("Agreement with an ideal ranking, rank by rank", "Compat"),
    "diversity": (
        "Coverage of the subtopics of a query",
        "alpha_DCG alpha_nDCG ERR_IA nERR_IA NRBP nNRBP AP_IA P_IA StRecall D_nDCG Dsharp_nDCG",
    ),
}
"""for each family, its title and the names of its measures"""
POOLS = ((2, 2, 1, 1, 0, 0), (3, 3, 2, 1, 0))
"""the labels of the queries on which measures are tried"""
LENGTH, DEEP = 4, 10
"""the length of the rankings, and the lowest rank to which a single relevant document is moved"""
SAME = 1e-9
"""values that differ by at most this are considered equal"""


class Property(NamedTuple):
    """The properties of a measure."""

    measure: type[Measure]
    family: str
    grades: bool
    """true if the order of documents with different positive labels matters"""
    ties: str
    """how the mean over the orders of tied documents is computed"""
    top_heavy: bool
    """true if the first ranks have a larger weight than later ones"""
    normalised: bool
    """true if the ideal ranking of every query has the value 1"""
    non_relevant: bool
    """true if it matters whether a document is judged not relevant or is unjudged"""
    subtopics: bool
    """true if it needs judgments by subtopic"""
    swap: bool
    """true if moving the better of two documents up lowered the value of no ranking that was tried"""
    replace: bool
    """true if replacing a document with a better one lowered the value of no ranking that was tried"""
    compiled: str
    """whether jax.jit and torch.compile support it: "yes", "without ties", or empty"""


def find_family(name: str) -> str:
    """Return the name of a family in lower case; raise MeasureError if there is no such family."""
    if name.lower() not in FAMILIES:
        raise MeasureError(f"no family {name!r}: use one of {', '.join(FAMILIES)}.{did_you_mean(name, FAMILIES)}")
    return name.lower()


def measures_of(family: str | None) -> list[type[Measure]]:
    """Return the measures of a family, or all, in the order of ALL."""
    if family is None:
        return list(ALL)
    names = FAMILIES[family][1].split()
    return [measure for measure in ALL if measure.name in names]


class Properties(Result):
    """The properties of measures, with one row per measure, as `gradely measures --compare` prints them."""

    notes: Sequence[Note] = ()

    def __init__(self, family: str | None = None) -> None:
        """Find the properties of all measures, or of a family."""
        self.properties = try_measures(measures_of(family))

    def table(self) -> Table:
        """Return one row per measure."""
        rows: list[list[Cell]] = []
        for entry in self.properties:
            flags = map(_yes, entry[4:-1])
            rows.append([entry.measure.name, entry.family, _yes(entry.grades), entry.ties, *flags, entry.compiled])
        header = ["measure", "family", "grades", "ties", "top-heavy", "normalised", "judged 0"]
        return Table([*header, "subtopics", "swap", "replace", "compiled"], rows)

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the table and its legend."""
        return [self.table(), LEGEND]


LEGEND = [
    "grades: the order of documents with different labels above 0 matters",
    "ties: the mean over all orders is exact; exact unless a tie group has too many states; or sampled",
    "top-heavy: the first ranks weigh more than later ones",
    "normalised: the ideal ranking of every query has the value 1",
    "judged 0: it matters whether a document is judged not relevant or is unjudged",
    "subtopics: it needs judgments by subtopic",
    "swap: moving the better of two documents up did not lower the value of any ranking that was tried",
    "replace: replacing a document with a better one did not lower the value of any ranking that was tried",
    "compiled: as_function supports it, for jax.jit and torch.compile; or only with ties='order'",
    f"Columns except ties, subtopics and compiled come from trying all rankings of {LENGTH} documents of two pools.",
]


def _yes(flag: bool) -> str:
    return "yes" if flag else ""


class World(NamedTuple):
    """The labels of a ranking and of the judged documents that it lacks."""

    ranking: tuple[int | None, ...]
    """the labels by rank; None for an unjudged document"""
    missed: tuple[int, ...] = ()
    """the labels of judged documents that were not retrieved"""


def try_measures(measures: Iterable[type[Measure]]) -> list[Property]:
    """Return the properties of measures."""
    measures = list(measures)
    family = {name: key for key, (_, names) in FAMILIES.items() for name in names.split()}
    values = _values(measures)
    return [
        Property(
            measure,
            family[measure.name],
            _sees_grades(values[measure.name]),
            "sampled" if not measure.takes_expected else "exact or sampled" if measure.may_refuse else "exact",
            _is_top_heavy(values[measure.name]),
            _is_normalised(values[measure.name]),
            _sees_judgments(values[measure.name]),
            measure.needs_subtopics,
            _never_falls(values[measure.name], _swaps()),
            _never_falls(values[measure.name], _replacements()),
            "yes" if measure().is_fixed() else "without ties" if measure().is_fixed("order") else "",
        )
        for measure in measures
    ]


@cache
def worlds() -> list[World]:
    """Return all rankings of LENGTH documents of a pool, of which up to two are unjudged."""
    made = []
    for pool in POOLS:
        for ranking in product([*sorted({*pool}), None], repeat=LENGTH):
            left = Counter(pool)
            left.subtract(label for label in ranking if label is not None)
            if min(left.values()) >= 0 and ranking.count(None) <= 2:
                made.append(World(ranking, tuple(sorted(left.elements()))))
    return made


@cache
def _swaps() -> list[tuple[World, World]]:
    """Return pairs of worlds; in the second, a better document has swapped places with a worse one above it."""
    pairs = []
    for world in worlds():
        for i, j in combinations(range(LENGTH), 2):
            if (world.ranking[i] or 0) < (world.ranking[j] or 0):
                swapped = list(world.ranking)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                pairs.append((world, World(tuple(swapped), world.missed)))
    return pairs


@cache
def _replacements() -> list[tuple[World, World]]:
    """Return pairs of worlds; in the second, a better document that was missed replaces a retrieved one."""
    pairs = []
    for world in worlds():
        for i, label in product(range(LENGTH), {*world.missed}):
            old = world.ranking[i]
            if label > (old or 0):
                missed = list(world.missed)
                missed.remove(label)
                missed += [] if old is None else [old]
                better = World((*world.ranking[:i], label, *world.ranking[i + 1 :]), tuple(sorted(missed)))
                pairs.append((world, better))
    return pairs


def _alone(rank: int) -> World:
    """Return a ranking of unjudged documents and one relevant document."""
    return World((*(None,) * (rank - 1), 3, *(None,) * (DEEP - rank)))


IDEALS = (*(World(pool) for pool in POOLS), World((2, 1, 0)), World((1, 1, 0)))
UNJUDGED = (World((0, 2, 0, 1), (1, 2)), World((None, 2, None, 1), (1, 2)))
"""a ranking with documents judged not relevant, and one with unjudged documents instead"""


def _values(measures: Sequence[type[Measure]]) -> dict[str, dict[World, float]]:
    """Return {measure: {world: value}} for all rankings that are tried."""
    tried = list(dict.fromkeys([*worlds(), *map(_alone, range(1, DEEP + 1)), *UNJUDGED, *IDEALS]))
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    runs: dict[str, list[str]] = {}
    for q, world in enumerate(tried):
        runs[str(q)] = [f"d{i}" for i in range(len(world.ranking))]
        labels = {doc: label for doc, label in zip(runs[str(q)], world.ranking, strict=True) if label is not None}
        labels |= {f"m{i}": label for i, label in enumerate(world.missed)}
        qrels[str(q)] = {doc: {"a": label} for doc, label in labels.items()}
    scores = evaluate(qrels, runs, [measure() for measure in measures])
    return {
        measure.name: dict(zip(tried, scores.values[:, j].tolist(), strict=True)) for j, measure in enumerate(measures)
    }


def _sees_grades(value: dict[World, float]) -> bool:
    """True if the order of relevant documents with different labels matters."""
    return any(
        abs(value[a] - value[b]) > SAME
        for a, b in _swaps()
        if [(label or 0) > 0 for label in a.ranking] == [(label or 0) > 0 for label in b.ranking]
    )


def _is_top_heavy(value: dict[World, float]) -> bool:
    first, last = value[_alone(1)] - value[_alone(2)], value[_alone(DEEP - 1)] - value[_alone(DEEP)]
    return first > last + SAME


def _is_normalised(value: dict[World, float]) -> bool:
    return all(abs(value[ideal] - 1) <= SAME for ideal in IDEALS)


def _sees_judgments(value: dict[World, float]) -> bool:
    judged, unjudged = UNJUDGED
    return abs(value[judged] - value[unjudged]) > SAME


def _never_falls(value: dict[World, float], pairs: Iterable[tuple[World, World]]) -> bool:
    return all(value[better] >= value[worse] - SAME for worse, better in pairs)
