"""The workloads, the tools that gradely is compared with, and the bars that it must meet."""

from dataclasses import dataclass

DEFAULT, TREC = "gradely", "gradely --ties trec"
CHECK = "gradely --ties trec --precision single"
"""what trec_eval 9, and so pytrec_eval, computes: not timed, for its values alone"""
PYTREC, IR, RANX = "pytrec_eval", "ir_measures", "ranx"


@dataclass(frozen=True)
class Workload:
    """A workload, its contenders, and the bars: times as fast as another tool, seconds, megabytes."""

    name: str
    title: str
    peers: tuple[str, ...]
    faster: dict[str, float]
    seconds: float = float("inf")
    megabytes: float = float("inf")
    tolerance: float = 1e-9
    """how far values of the peers may be from gradely's, where both have a measure"""
    files: bool = True

    @property
    def contenders(self) -> tuple[str, ...]:
        """All contenders that are timed."""
        return (DEFAULT, *((TREC,) if self.files else ()), *self.peers)


FILES = (
    Workload("A", "50 queries × 1,000, cold process", (PYTREC, IR, RANX), {PYTREC: 1.1}),
    Workload("B", "6,980 queries × 1,000", (PYTREC, IR, RANX), {PYTREC: 8}, megabytes=100),
    Workload("B-ties", "B with heavy ties", (PYTREC,), {PYTREC: 8}),
    Workload("B-blanks", "B with irregular white space", (PYTREC,), {PYTREC: 4}),
    Workload("B-digits", "B with 17-digit scores", (PYTREC,), {PYTREC: 4}),
    Workload("B-gzip", "B, gzip", (PYTREC,), {PYTREC: 3}),
    Workload("B-shuffled", "B with its lines shuffled", (PYTREC,), {PYTREC: 1.5}),
    Workload("C", "70 runs × 50 queries × 1,000", (PYTREC,), {PYTREC: 4}),
    Workload("D", "1,000,000 users × 20, 10 labels each", (PYTREC,), {PYTREC: 10}, megabytes=1000),
)
MEMORY = (
    Workload("E", "dicts, 698 queries × 1,000", (PYTREC,), {PYTREC: 5}, tolerance=1e-2, files=False),
    Workload("E1", "dicts, 1 query × 10", (PYTREC,), {}, seconds=0.0002, files=False),
    Workload("E2", "E1 with judgments and measures prepared", (PYTREC,), {}, seconds=0.0001, files=False),
    Workload(
        "F",
        "dense arrays, 10,000 × 1,000; scikit-learn: nDCG alone",
        ("scikit-learn", "torchmetrics"),
        {"scikit-learn": 2, "torchmetrics": 15},
        tolerance=1e-3,
        files=False,
    ),
    Workload("F-ties", "F with heavy ties", ("scikit-learn",), {"scikit-learn": 2}, files=False),
    Workload("F2", "1,000,000 users × 20 ranked ids, 10 labelled", ("RecTools",), {"RecTools": 10}, files=False),
)
OVERHEAD = 1.25
"""H: tie-aware over tie-oblivious"""
IMPORT, VERSION = 0.1, 0.2
"""G: seconds of `import gradely` over `import numpy`, and of `gradely --version`"""
REPORT = 8
"""J: processor time of `compare --report` over that of `evaluate` with the same runs; it was 17 when runs were aligned
again for each part of the page"""
LINEAR = 0.2
"""I: by how much the time of a line may change from a tenth to all of B"""
