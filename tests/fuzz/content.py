"""Random judgments and runs: few or many queries, ties, missing documents, ids of all kinds."""

import json

import numpy as np

KINDS = {
    "numbers": "{}",
    "padded": "doc-{:09d}",
    "chunks": "doc_{:04d}_chunk_{:02d}",
    "uuid": "{:08x}-0000-4000-8000-{:012x}",
    "url": "https://example.org/a/{}?page={}#x",
    "unicode": "文書-{}-naïve-🙂{}",
    "long": "very-long-name-" * 20 + "{}",
    "case": "",
}
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LABELS = ([0, 1], [0, 0, 1, 2, 3], [0, 0.25, 1.5, 2.75], [-2, -1, 0, 1, 4], [1], [0], [0, 1e-300, 100])


def names(rng, kind, count):
    """Return ids that differ, of a kind."""
    numbers = rng.sample(range(count * 4 + 8), count)
    if kind == "case":
        return [BASE62[n % 62] + BASE62[n // 62 % 62] + BASE62[n // 3844 % 62] for n in numbers]
    return [KINDS[kind].format(n, n % 97) for n in numbers]


def content(rng, most_queries=6, most_docs=12, *, fewest_queries=1, scales=LABELS, whole=False):
    """Return judgments and a run, {query: {document: number}} each; at times they have nothing in common.

    Labels are of one of the `scales`; with `whole`, they are whole numbers, as trec_eval has them.
    """
    sizes = [fewest_queries, rng.randint(fewest_queries, most_queries), most_queries]
    queries = names(rng, rng.choice([*KINDS]), rng.choice(sizes))
    kind, labels = rng.choice([*KINDS]), rng.choice(scales)
    labels = [int(label) for label in labels] if whole else labels
    qrels, run = {}, {}
    for query in queries:
        docs = names(rng, kind, rng.randint(1, most_docs))
        levels = rng.choice([1, 2, 5, 1000])
        judged = rng.sample(docs, rng.randint(1, len(docs)))
        qrels[query] = {doc: rng.choice(labels) for doc in judged}
        if rng.random() < 0.9:
            found = rng.sample(docs, rng.randint(1, len(docs)))
            run[query] = {doc: score(rng, levels) for doc in found}
    run = run or {queries[0]: {"x": 1.0}}
    if rng.random() < 0.2:
        run["not-judged"] = {"a": 1.0}
    if rng.random() < 0.03:
        run = {f"other-{query}": docs for query, docs in run.items()}
    return qrels, run


def score(rng, levels):
    return rng.choice(
        [
            lambda: float(rng.randrange(levels)),
            lambda: rng.randrange(levels) / 7,
            lambda: rng.gauss(0, 1) * 10.0 ** rng.randint(-20, 20) if levels > 5 else float(rng.randrange(levels)),
        ]
    )()


def number_text(rng, count):
    """Return numbers as people write them, of all sizes and lengths."""
    draw = np.random.default_rng(rng.getrandbits(64))
    numbers = draw.standard_normal(count) * 10.0 ** draw.integers(-3, 4, count)
    bits = draw.integers(0, 1 << 64, count, np.uint64).view(np.float64)
    styles = [
        lambda: [repr(x) for x in numbers.tolist()],
        lambda: [f"{x:.6f}" for x in numbers.tolist()],
        lambda: [f"{x:.17g}" for x in numbers.tolist()],
        lambda: [f"{x:.{n}e}" for x, n in zip(numbers.tolist(), draw.integers(0, 20, count).tolist(), strict=True)],
        lambda: [str(x) for x in draw.integers(-(1 << 62), 1 << 62, count).tolist()],
        lambda: [repr(x) if np.isfinite(x) else "0" for x in bits.tolist()],
        lambda: [f"{x / 1000:.3f}" for x in draw.integers(0, 10**6, count).tolist()],
        lambda: [repr(float(np.float32(x))) for x in numbers.tolist()],
        lambda: [f"{a}.{b}{c}" for a, b, c in draw.integers(0, 10**9, (count, 3)).tolist()],
        lambda: [f"{'+-'[s]}{a}e{e}" for s, a, e in draw.integers(0, [2, 10**15, 300], (count, 3)).tolist()],
    ]
    return rng.choice(styles)()


def to_lines(table):
    """Return {query: {document: number}} as lines, any of which can be taken away."""
    rows = [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def of_lines(text):
    """Return the table that lines hold."""
    table = {}
    for line in text.decode().splitlines():
        query, doc, value = json.loads(line)
        table.setdefault(query, {})[doc] = value
    return table
