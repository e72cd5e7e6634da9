"""What must be equal: two readers, all inputs of one content, a collection told in another way, arrays of any dtype."""

import gzip
import json
import os
import random
import warnings
from collections import Counter

import numpy as np

import gradely
from gradely.data.source import Source
from gradely.errors import GradelyError
from gradely.measures import PLAIN
from tests import ways
from tests.fuzz import commands
from tests.fuzz.cases import Case
from tests.fuzz.content import content, number_text, of_lines, to_lines
from tests.fuzz.formats import FORMATS, in_memory, letor, trec
from tests.fuzz.mutations import mutate

EXACT = [measure.name for measure in PLAIN if measure.takes_expected]
BOUNDED = [name for name in EXACT if name not in ("xGAP", "Utility")]
"""those whose best and worst order go by labels"""
FEW = ["nDCG@10", "AP", "RR", "muAP", "Judged@3", "ERR", "bpref"]
ROUNDING = 1e-12


def differ(ours, theirs, what):
    """Raise where numbers are not the same, digit by digit; return how many there are."""
    assert np.shape(ours) == np.shape(theirs), f"{what}: other shape"
    same = np.asarray(ours).tobytes() == np.asarray(theirs).tobytes() or np.array_equal(ours, theirs)
    assert same, f"{what}: {np.asarray(ours).ravel()[:5]} and {np.asarray(theirs).ravel()[:5]}"
    return int(np.size(ours))


def table_of(scores):
    """Return the values of Scores in the order of names, so that they compare."""
    order = sorted(range(len(scores.queries)), key=lambda i: scores.queries[i])
    return np.asarray(scores.values)[order]


def make_readers(rng):
    qrels, run = content(rng)
    files = {"qrels": trec(qrels, "qrels"), "run": trec(run, "run")}
    for name in rng.sample([*files], rng.choice([0, 1, 1, 2])):
        files[name] = mutate(rng, files[name])
    sizes = [rng.choice([40, 100, 1000, 1 << 20]), rng.randint(1, 3)]
    return Case("readers", files, [*sizes, rng.choice(commands.POLICIES), rng.choice(["single", "double"])])


def check_readers(case):
    """Compare the fast reader, in small pieces, with the plain one: the same values, or the same complaint."""
    size, threads, ties, precision = case.arguments
    for name, text in case.files.items():
        with open(name, "wb") as file:
            file.write(text)
    options = {"ties": ties, "precision": precision, "seed": 5}
    with ways.fast(explained=True, piece=size):
        ours = _try(lambda: gradely.evaluate("qrels", "run", FEW[:5], threads=threads, **options))
    with ways.plain():
        theirs = _try(lambda: gradely.evaluate("qrels", "run", FEW[:5], **options))
    if _is_trec(case):
        assert ours[0] == theirs[0], f"one reader complains: {ours[0] or theirs[0]}"
    numbers = 0
    if ours[1] is not None and theirs[1] is not None:
        numbers = differ(table_of(ours[1]), table_of(theirs[1]), "readers")
        assert sorted(ours[1].queries) == sorted(theirs[1].queries), "readers: other queries"
    return Counter(inputs=len(case.files), pairs=1, numbers=numbers, refused=int(ours[1] is None))


def _is_trec(case):
    """Whether both files are taken for TREC text; others are read by their own readers."""
    from gradely.data.read.formats import format_of

    try:
        return all(format_of(Source(name)) == "trec" for name in case.files)
    except GradelyError:
        return False


def _try(work):
    try:
        return "", work()
    except GradelyError as error:
        return str(error), None


def make_contents(check, rng, **sizes):
    qrels, run = content(rng, **sizes)
    return Case(check, {"qrels": to_lines(qrels), "run": to_lines(run)}, [rng.randrange(1 << 30)])


def check_inputs(case):
    """Compare all formats, dataframes and dicts of one content."""
    qrels, run = (of_lines(case.files[name]) for name in ("qrels", "run"))
    want = _try(lambda: gradely.evaluate(qrels, run, FEW))
    count = Counter()
    for given in _sources(qrels, "qrels"):
        count += _equal(want, _try(lambda given=given: gradely.evaluate(given, run, FEW)))
    for given in _sources(run, "run"):
        count += _equal(want, _try(lambda given=given: gradely.evaluate(qrels, given, FEW)))
    if "#" not in case.files["run"].decode():  # it begins a comment
        with open("f.letor", "wb") as file:
            file.write(letor(run, "run"))
        reading = gradely.read_run("f.letor", format="letor", feature=1)
        count += _equal(want, _try(lambda: gradely.evaluate(qrels, reading, FEW)))
    return count


def _sources(table, kind):
    for form, write in FORMATS.items():
        text = write(table, kind)
        compressed = [] if form == "parquet" else [(f"f.{form}.gz", gzip.compress(text, 1))]
        for name, stored in [(f"f.{form}", text), *compressed]:
            with open(name, "wb") as file:
                file.write(stored)
            yield name
    yield from in_memory(table, kind)


def _equal(want, value):
    if want[1] is None:
        assert value[1] is None, f"inputs: only one is refused: {want[0]}"
        return Counter(inputs=1, pairs=1, refused=1)
    assert value[1] is not None, f"inputs: refused: {value[0]}"
    numbers = differ(table_of(value[1]), table_of(want[1]), "inputs")
    return Counter(inputs=1, pairs=1, numbers=numbers)


def check_laws(case):
    """Tell a collection in another way: no value changes, and no order of ties is better than the best."""
    rng = random.Random(case.arguments[0])
    qrels, run = (of_lines(case.files[name]) for name in ("qrels", "run"))
    if _try(lambda: gradely.evaluate(qrels, run, FEW))[1] is None:
        return Counter(inputs=1, refused=1)
    base = table_of(gradely.evaluate(qrels, run, EXACT))
    count = Counter(inputs=1, numbers=base.size)
    renamed = {doc: f"{rng.getrandbits(60):x}" for docs in (*qrels.values(), *run.values()) for doc in docs}
    for other in (
        (_shuffle(rng, qrels), _shuffle(rng, run)),
        (_rename(qrels, renamed), _rename(run, renamed)),
        (qrels, {query: {doc: value * 4 for doc, value in docs.items()} for query, docs in run.items()}),
        (qrels, {query: _ranks(docs) for query, docs in run.items()}),
        (qrels, run | {"another-query": {"a": 1.0}}),
    ):
        count["numbers"] += differ(table_of(gradely.evaluate(*other, EXACT)), base, "laws")
        count["pairs"] += 1
    tables = {ties: table_of(gradely.evaluate(qrels, run, BOUNDED, ties=ties, seed=3)) for ties in commands.POLICIES}
    for ties, values in tables.items():
        assert np.isfinite(values).all(), f"laws: {ties} is not finite"
        assert (values <= tables["best"] + ROUNDING * np.maximum(1, np.abs(tables["best"]))).all(), (
            f"laws: {ties} > best"
        )
        assert (values >= tables["worst"] - ROUNDING * np.maximum(1, np.abs(values))).all(), f"laws: {ties} < worst"
        count["numbers"] += 2 * values.size
    return count


def _shuffle(rng, table):
    return {
        query: dict(rng.sample([*docs.items()], len(docs))) for query, docs in rng.sample([*table.items()], len(table))
    }


def _rename(table, names):
    return {query: {names[doc]: value for doc, value in docs.items()} for query, docs in table.items()}


def _ranks(docs):
    """Return scores as the number of lower ones."""
    places = {value: i for i, value in enumerate(sorted(set(docs.values())))}
    return {doc: places[value] for doc, value in docs.items()}


DTYPES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool",
]


def make_arrays(rng):
    rows, columns = rng.randint(1, 40), rng.randint(1, 30)
    most = rng.choice([1, 2, 5, 100])
    lines = [
        json.dumps([[rng.randint(0, most) for _ in range(columns)], [rng.randint(0, 3) for _ in range(columns)]]) + "\n"
        for _ in range(rows)
    ]
    return Case(
        "arrays", {"rows": "".join(lines).encode()}, [rng.choice(DTYPES), rng.choice(DTYPES), rng.randint(1, 3)]
    )


def check_arrays(case):
    """Compare arrays of two dtypes with dicts of the same numbers, and with the same arrays in another order."""
    table = [json.loads(line) for line in case.files["rows"].decode().splitlines()]
    if not table:
        return Counter()
    kinds, threads = case.arguments[:2], case.arguments[2]
    scores, labels = (np.array(part).astype(kind) for part, kind in zip(zip(*table, strict=True), kinds, strict=True))
    warnings.filterwarnings("ignore", ".*the order is evaluate_arrays")  # labels of other types may look like scores
    found = gradely.evaluate_arrays(scores, labels, EXACT, threads=threads)
    qrels, run = (
        {str(i): {str(j): float(x) for j, x in enumerate(row)} for i, row in enumerate(array.tolist())}
        for array in (labels, scores)
    )
    want = gradely.evaluate(qrels, run, EXACT)
    count = Counter(inputs=2, pairs=2)
    for j, name in enumerate(want.measures):
        values = np.asarray(want.values)[[want.queries.index(str(i)) for i in range(len(table))], j]
        near = np.abs(np.asarray(found[name]) - values) <= ROUNDING * np.maximum(1, np.abs(values))
        assert near.all(), f"arrays: {name} differs from dicts"
        count["numbers"] += values.size
    fortran = gradely.evaluate_arrays(np.asfortranarray(scores), labels[:, ::1].copy(), EXACT)
    count["numbers"] += sum(differ(fortran[name], found[name], "arrays") for name in found)
    return count


def make_numbers(rng):
    numbers = number_text(rng, rng.choice([10, 1000, 5000]))
    space = rng.choice([" ", "\t", "   "])
    lines = [f"{i // 50}{space}0{space}d{i}{space}{text}\n" for i, text in enumerate(numbers)]
    return Case("numbers", {"qrels": "".join(lines).encode()}, [])


def check_numbers(case):
    """Compare each number that was read with what Python makes of its text."""
    with open("qrels", "wb") as file:
        file.write(case.files["qrels"])
    texts = [line.rsplit(maxsplit=1)[-1] for line in case.files["qrels"].decode().splitlines()]
    want = np.array([float(text) for text in texts])
    if not len(want) or not np.isfinite(want).all():
        return Counter(inputs=1)
    judgments = gradely.read_qrels("qrels", format="trec")
    os.unlink("qrels")
    return Counter(inputs=1, numbers=differ(np.asarray(judgments.grade), want, "numbers"))


MAKE = {
    "commands": commands.make,
    "readers": make_readers,
    "inputs": lambda rng: make_contents("inputs", rng),
    "laws": lambda rng: make_contents(
        "laws", rng, most_queries=rng.choice([3, 60, 300]), most_docs=rng.choice([4, 40])
    ),
    "arrays": make_arrays,
    "numbers": make_numbers,
}
CHECK = {
    "commands": commands.check,
    "readers": check_readers,
    "inputs": check_inputs,
    "laws": check_laws,
    "arrays": check_arrays,
    "numbers": check_numbers,
}
SHARE = {"commands": 0.55, "readers": 0.15, "inputs": 0.08, "laws": 0.1, "arrays": 0.05, "numbers": 0.07}
"""of the time"""
