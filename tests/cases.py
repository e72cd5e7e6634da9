"""What the tests measure: small queries made by hypothesis, and every measure in several settings."""

from dataclasses import dataclass
from itertools import groupby, permutations, product

from hypothesis import strategies as st

import gradely
from tests import reference

LABELS = {
    "grades": [0, 0, 1, 2, 3],
    "real": [0, 0.25, 0.5, 1, 1.5, 2.75],
    "negative": [-2, -1, 0, 1, 2, 4],
}


@dataclass(frozen=True)
class Query:
    """Retrieved documents as (score, label or None), and the labels of judged documents that were not retrieved."""

    retrieved: tuple[tuple[float, float | None], ...]
    missed: tuple[float, ...] = ()

    @property
    def pool(self):
        return [label for _, label in self.retrieved if label is not None] + list(self.missed)

    def qrels(self, rename=lambda name: name):
        labels = {rename(f"d{i}"): label for i, (_, label) in enumerate(self.retrieved) if label is not None}
        return {"q": labels | {rename(f"m{i}"): label for i, label in enumerate(self.missed)}}

    def run(self, rename=lambda name: name):
        return {"q": {rename(f"d{i}"): score for i, (score, _) in enumerate(self.retrieved)}}

    def orderings(self):
        """Return every distinct ranking consistent with the scores; each stands for equally many orders."""
        ranked = sorted(self.retrieved, key=lambda doc: -doc[0])
        groups = [[label for _, label in group] for _, group in groupby(ranked, key=lambda doc: doc[0])]
        return [
            [label for part in parts for label in part]
            for parts in product(*(dict.fromkeys(permutations(group)) for group in groups))
        ]


def queries(kind="grades", scores=3, most=6):
    """Queries with few distinct scores, so that they tie, with unjudged and unretrieved documents."""
    label = st.sampled_from(LABELS[kind])
    retrieved = st.lists(st.tuples(st.integers(0, scores - 1), st.one_of(st.none(), label)), min_size=1, max_size=most)
    return st.builds(
        lambda docs, missed: Query(tuple(docs), tuple(missed)), retrieved, st.lists(label, max_size=3)
    ).filter(lambda q: q.pool)


def levels(query):
    return sorted({label for label in query.pool if label > 0})


def uniform(query):
    found = levels(query)
    return {level: 1 / len(found) for level in found}


def highest(query):
    return max(levels(query), default=1)


G = {0.5: 0.2, 1: 0.3, 2: 0.5}
TABLE = {0: 0, 0.25: 0.1, 0.5: 3, 1: 2, 1.5: 0.5, 2: 7, 2.75: 1, 3: 4, 4: 0}

MAX4 = {label: label / 4 for label in TABLE}
BINARY2 = {label: float(label >= 2) for label in TABLE}


def tabled(table):
    """Return the reference's parameters for relevance by a table, users alike over the levels that it gives."""

    def parameters(query):
        found = {table[level] for level in levels(query) if table[level] > 0}
        return {"relevance": table, "g": {level: 1 / len(found) for level in found}}

    return parameters


SPREAD = ({"relevance": "phi"}, {"relevance": "phi", "g": reference.spread(1)})

SETTINGS = {
    "P": [
        ({}, lambda q: {}),
        ({"rel": 2}, lambda q: {"rel": 2}),
        ({"rel": 0}, lambda q: {"rel": 0}),
        ({"relevance": "identity"}, lambda q: {"relevance": "identity", "top": highest(q)}),
    ],
    "R": [({}, lambda q: {}), ({"rel": 0.5}, lambda q: {"rel": 0.5}), ({"relevance": "identity"},) * 2],
    "SetAP": [({}, lambda q: {}), ({"rel": 2},) * 2],
    "F1": [({}, lambda q: {}), ({"rel": 2}, lambda q: {"rel": 2})],
    "Success": [({}, lambda q: {}), ({"rel": 2}, lambda q: {"rel": 2})],
    "Judged": [({}, lambda q: {})],
    "AP": [({}, lambda q: {}), ({"rel": 2}, lambda q: {"rel": 2}), ({"rel": 0}, lambda q: {"rel": 0})],
    "RR": [({}, lambda q: {}), ({"rel": 2}, lambda q: {"rel": 2})],
    "F": [({"x": 4, "rel": 2},) * 2],
    "RelativeP": [({}, lambda q: {})],
    "Rprec": [({}, lambda q: {}), ({"rel": 0},) * 2],
    "Unjudged": [({}, lambda q: {})],
    "Utility": [({"a": 2, "b": -0.5, "c": -1, "d": 0.25, "size": 20},) * 2, ({"a": -2},) * 2],
    "infAP": [({"rel": 2},) * 2],
    "IPrec": [({}, lambda q: {}), ({"recall": (0.9, 0.2), "rel": 2, "rounding": "up"},) * 2],
    "AUC": [({}, lambda q: {}), ({"rel": 2},) * 2],
    "OPA": [({}, lambda q: {}), ({"relevance": TABLE},) * 2],
    "binG": [({}, lambda q: {})],
    "G": [({"gain": TABLE},) * 2],
    "bpref": [({}, lambda q: {}), ({"rel": 2}, lambda q: {"rel": 2})],
    "DCG": [({}, lambda q: {}), ({"gain": "exp", "discount": "zipf"},) * 2],
    "nDCG": [
        ({}, lambda q: {}),
        ({"gain": "exp", "discount": "letor"},) * 2,
        ({"discount": "jk10"},) * 2,
        ({"discount": "jk(3)"},) * 2,
        ({"discount": "none"},) * 2,
        ({"relevance": "phi"},) * 2,
        ({"relevance": gradely.Phi("code")}, {"relevance": "phi_code"}),
        ({"relevance": "max", "gain": "exp"},) * 2,
        ({"gain": TABLE},) * 2,
        ({"relevance": TABLE},) * 2,
    ],
    "NDCNG": [({}, lambda q: {})],
    "nDCGphi": [({}, lambda q: {})],
    "RBP": [
        ({}, lambda q: {}),
        ({"p": 0.5, "rel": 2},) * 2,
        ({"relevance": "identity"}, lambda q: {"relevance": "identity", "top": highest(q)}),
        ({"relevance": TABLE}, {"relevance": TABLE, "top": 7}),
    ],
    "ERR": [
        ({}, lambda q: {"top": highest(q)}),
        ({"relevance": "max"}, lambda q: {"relevance": "max", "top": 1}),
        ({"top": 5},) * 2,
        ({"relevance": TABLE}, {"relevance": TABLE, "top": 7}),
        ({"gain": "linear"}, lambda q: {"gain": "linear", "top": highest(q)}),
        ({"gain": TABLE},) * 2,
    ],
    "nERR": [({}, lambda q: {"top": highest(q)}), ({"gain": "linear", "top": 5},) * 2, ({"gain": TABLE},) * 2],
    "iRBU": [({}, lambda q: {"top": highest(q)}), ({"gain": "linear", "top": 5, "p": 0.5},) * 2],
    "Compat": [({}, lambda q: {}), ({"p": 0.5, "normalize": False},) * 2],
    "INSQ": [({}, lambda q: {"top": highest(q)}), ({"T": 2, "top": 5, "depth": 3},) * 2],
    "INST": [({}, lambda q: {"top": highest(q)}), ({"T": 0.5, "top": 5, "depth": 20},) * 2],
    "BPM": [({}, lambda q: {"top": highest(q)}), ({"T": 0.5, "top": 4},) * 2, ({"T": 2, "top": 4, "depth": 3},) * 2],
    "NERR8": [({}, lambda q: {"top": highest(q)}), ({"top": 5, "depth": 3},) * 2],
    "NERR9": [({}, lambda q: {"top": highest(q)})],
    "NERR10": [({}, lambda q: {"top": highest(q)}), ({"top": 5, "p": 0.5},) * 2],
    "NERR11": [({}, lambda q: {"top": highest(q)}), ({"top": 5, "T": 2},) * 2],
    "RBPresidual": [({}, lambda q: {}), ({"p": 0.5},) * 2],
    "SDCG": [({}, lambda q: {"top": highest(q)}), ({"top": 5},) * 2],
    "Q": [
        ({}, lambda q: {}),
        ({"beta": float("inf")},) * 2,
        ({"beta": 0},) * 2,
        ({"beta": 10, "gain": "exp"},) * 2,
        ({"gain": TABLE},) * 2,
    ],
    "Pplus": [({}, lambda q: {}), ({"beta": float("inf")},) * 2, ({"gain": TABLE, "beta": 10},) * 2],
    "GAP": [({}, lambda q: {"g": uniform(q)}), ({"g": G},) * 2, SPREAD],
    "xGAP": [({}, lambda q: {"g": uniform(q)}), ({"g": G},) * 2, SPREAD],
    "eGAP": [
        ({}, lambda q: {"g": uniform(q)}),
        ({"g": G},) * 2,
        SPREAD,
        ({"relevance": TABLE}, tabled(TABLE)),
        ({"relevance": gradely.Max(4)}, tabled(MAX4)),
        ({"relevance": gradely.AtLeast(2)}, tabled(BINARY2)),
    ],
    "muAP": [({}, lambda q: {}), ({"relevance": "phi"},) * 2, ({"relevance": TABLE},) * 2],
}
"""by measure, pairs of parameters: those of the measure, and those of its reference, which may depend on the query;
`({…},) * 2` where both are the same"""


def measured(measures, query, **options):
    """Return the values of measures on a query, {name: value}, in one call, which is faster than one for each."""
    return gradely.evaluate(query.qrels(), query.run(), measures, **options).mean()


@dataclass(frozen=True)
class Case:
    """A measure in one setting, with the reference for it."""

    measure: gradely.Measure
    parameters: object

    def reference(self, ranking, query):
        given = self.parameters(query) if callable(self.parameters) else self.parameters
        return self.by_reference(ranking, query.pool, given)

    def by_reference(self, ranking, pool, given):
        return getattr(reference, self.measure.name)(ranking, pool, **given, k=self.measure.k)

    def over_orderings(self, query):
        return [self.reference(ranking, query) for ranking in query.orderings()]

    def value(self, query, **options):
        return measured([self.measure], query, **options)[str(self.measure)]

    def __str__(self):
        return str(self.measure)


CASES = [
    Case(getattr(gradely, name)(**given, k=k), expected)
    for name, settings in SETTINGS.items()
    for given, expected in settings
    for k in (None, 1, 2, 4)
]
