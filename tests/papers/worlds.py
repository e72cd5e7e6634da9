"""Collections made up for a purpose: judgments and runs that could exist, in which a claim of F14 does not hold."""

import numpy as np

import gradely
from gradely_papers.ferrante2014.study import Study, read_printed, read_study
from gradely_papers.judged_collections import Collection
from gradely_papers.progress import ignore


def make_study(pools, signal, *, noise=1.0, systems=10, others=30, seed=0, copies=1):
    """Return a collection whose runs score documents by grade and by chance.

    `pools` has for each topic how many documents of grade 1, 2, … there are. `signal` has for each grade by how much a
    run scores its documents higher, from the first run to the last. Each topic is there `copies` times.
    """
    rng = np.random.default_rng(seed)
    judged, runs = {}, {f"run{s}": {} for s in range(systems)}
    for t, pool in enumerate(pools):
        grades = [*np.repeat(range(1, len(pool) + 1), pool).tolist(), *[0] * others]
        docs = [f"d{i}" for i in range(len(grades))]
        names = [f"t{t}-{copy}" for copy in range(copies)]
        judged |= {name: dict(zip(docs, grades, strict=True)) for name in names}
        for s, run in enumerate(runs.values()):
            gain = [0.0, *signal[t % len(signal)]]
            scores = [gain[grade] * s / (systems - 1) + noise * rng.normal() for grade in grades]
            run |= {name: dict(zip(docs, scores, strict=True)) for name in names}
    return read(judged, runs)


def read(judged, runs):
    """Return the collection as F14 looks at it."""
    collection = Collection("mine", gradely.read_qrels(judged), runs, "runs")
    study = read_study(collection, ignore)
    assert isinstance(study, Study)
    return study


def pools_like(name, high):
    """Return pools with as many topics and relevant documents as a collection of the paper has.

    `high` gives the numbers of documents of the grades above 1 from the number of relevant ones.
    """
    (row,) = (row for row in read_printed("collections") if row["collection"] == name)
    topics, low, most = (int(row[x]) for x in ("topics", "min relevant", "max relevant"))
    rest = round(float(row["mean relevant"]) * topics) - low - most
    sizes = [low, most, *(rest // (topics - 2) + (i < rest % (topics - 2)) for i in range(topics - 2))]
    return [(size - sum(high(size)), *high(size)) for size in sizes]
