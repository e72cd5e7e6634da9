"""Six measures on an accelerator, as multiples of one sort of the scores: eager, compiled, by JAX; time, memory, error.

    python -m benchmarks.device --json device.json

needs a GPU, PyTorch, and array_api_compat (pure Python: `pip install --target DIR array-api-compat` elsewhere, and
DIR on PYTHONPATH). JAX and CuPy are measured where they are installed. Every library has the device to itself in
turn.
"""

import argparse
import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100"]
SHAPES = [(10_000, 1_000), (1_000_000, 20), (100_000, 1_000)]
GOALS = {"compiled": (5, 2.5, 5), "eager": (12, 40, 12)}
"""in sorts, for each shape"""
MEMORY = 4
"""times the input, that the compiled function may take at its peak"""
AGAINST_TORCH = 2
"""times PyTorch compiled, that JAX may take"""
CHECKED = 500
"""rows whose values are held against double precision on NumPy"""
Record = dict[str, Any]


def time_work(work: Callable[[], Any], wait: Callable[[Any], Any], repeats: int = 7) -> float:
    """Return the shortest time in milliseconds, after two runs to warm up."""
    for _ in range(2):
        wait(work())
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        wait(work())
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def data(queries: int, width: int) -> tuple[Any, Any]:
    """Return scores, of which about half tie, and labels, a tenth of them relevant, on the device."""
    import torch

    torch.manual_seed(0)
    scores = (torch.rand(queries, width, device="cuda") * 500).round()
    graded = torch.randint(1, 4, (queries, width), device="cuda").float()
    return scores, torch.where(torch.rand(queries, width, device="cuda") < 0.9, 0.0, graded)


def in_torch(scores: Any, labels: Any, expected: dict[str, Any]) -> Record:
    """Measure eagerly and compiled; evaluate_arrays also checks its input."""
    import torch

    import gradely

    def wait(_: Any) -> None:
        torch.cuda.synchronize()

    function = gradely.as_function(MEASURES)
    compiled = torch.compile(function, fullgraph=True, dynamic=False)
    works = {
        "eager": lambda: function(scores, labels),
        "compiled": lambda: compiled(scores, labels),
        "evaluate_arrays": lambda: gradely.evaluate_arrays(scores, labels, MEASURES),
    }
    record: Record = {"sort ms": time_work(lambda: torch.sort(scores, dim=1, descending=True), wait)}
    for name, work in works.items():
        record |= attempt(name, lambda work=work: measure(work, wait, scores, labels, expected))
    record |= attempt("cuda graph", lambda: replay(compiled, scores, labels, expected, wait))
    return record


def measure(work: Callable[[], Any], wait: Callable[[Any], Any], scores: Any, labels: Any, expected: Any) -> Record:
    """Return time, peak memory over the input's, and error."""
    import torch

    record: Record = {"ms": time_work(work, wait)}
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    values = work()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    record["memory"] = peak / (scores.nbytes + labels.nbytes)
    record["error"] = error({m: values[m].double().cpu().numpy() for m in MEASURES}, expected)
    return record


def error(values: dict[str, Any], expected: dict[str, Any]) -> float:
    """Return the largest difference in the first rows; infinity if any value of any row is not finite."""
    import numpy as np

    if not all(np.isfinite(values[m]).all() for m in MEASURES):
        return float("inf")
    return max(float(abs(values[m][:CHECKED] - expected[m]).max()) for m in MEASURES)


def replay(compiled: Any, scores: Any, labels: Any, expected: Any, wait: Callable[[Any], Any]) -> Record:
    """Record the compiled function as a CUDA graph, and replay it."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        compiled(scores, labels)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        values = compiled(scores, labels)
    record: Record = {"ms": time_work(graph.replay, wait)}
    record["error"] = error({m: values[m].double().cpu().numpy() for m in MEASURES}, expected)
    return record


def in_jax(scores: Any, labels: Any, expected: dict[str, Any]) -> Record:
    """Measure the function jitted by JAX, on the same numbers."""
    import jax
    import numpy as np

    import gradely

    if jax.default_backend() != "gpu":
        raise RuntimeError(f"JAX finds no GPU, only {jax.default_backend()}")
    arrays = [jax.device_put(x.cpu().numpy()) for x in (scores, labels)]
    function = jax.jit(gradely.as_function(MEASURES))
    record: Record = {"sort ms": time_work(lambda: jax.jit(jax.numpy.sort)(arrays[0]), jax.block_until_ready)}
    record["ms"] = time_work(lambda: function(*arrays), jax.block_until_ready)
    values = function(*arrays)
    record["error"] = error({m: np.asarray(values[m]) for m in MEASURES}, expected)
    stats = function.lower(*arrays).compile().memory_analysis()
    record["memory"] = stats.temp_size_in_bytes / sum(x.nbytes for x in arrays)
    return record


def in_cupy(scores: Any, labels: Any, expected: dict[str, Any]) -> Record:
    """Measure evaluate_arrays on CuPy, which compiles nothing."""
    import cupy

    import gradely

    arrays = [cupy.asarray(x) for x in (scores, labels)]

    def wait(_: Any) -> None:
        cupy.cuda.Device().synchronize()

    function = gradely.as_function(MEASURES)
    record: Record = {"ms": time_work(lambda: function(*arrays), wait, 3)}
    values = function(*arrays)
    record["error"] = error({m: cupy.asnumpy(values[m]) for m in MEASURES}, expected)
    return record


def attempt(name: str, work: Callable[[], Record]) -> Record:
    """Return the result of a contender by its name, or the reason if it fails; the others continue."""
    try:
        return {name: work()}
    except Exception as error:  # noqa: BLE001 - whatever a library raises is the result
        return {name: {"failed": f"{type(error).__name__}: {error}"[:2000], "where": traceback.format_exc()[-2000:]}}


def contest(queries: int, width: int) -> Record:
    """Return the results of all libraries for one shape."""
    import torch

    import gradely

    scores, labels = data(queries, width)
    sample = [x[:CHECKED].double().cpu().numpy() for x in (scores, labels)]
    expected = gradely.evaluate_arrays(*sample, MEASURES)
    record: Record = {"queries": queries, "width": width} | in_torch(scores, labels, expected)
    double = gradely.as_function(MEASURES)(scores[:CHECKED].double(), labels[:CHECKED].double())
    record["error in double"] = max(float(abs(double[m].cpu().numpy() - expected[m]).max()) for m in MEASURES)
    torch._dynamo.reset()  # noqa: SLF001 - there is no public name
    torch.cuda.empty_cache()
    for name, work in (("jax", in_jax), ("cupy", in_cupy)):
        if importlib.util.find_spec(name):
            record |= attempt(name, lambda work=work: work(scores, labels, expected))
    return record


def table(records: list[Record]) -> str:
    """Return the results as a Markdown table, in sorts."""
    lines = ["| shape | sort | contender | ms | sorts | memory / input | error |", "|---|--:|---|--:|--:|--:|--:|"]
    for record in records:
        sort = record["sort ms"]
        for name in ("eager", "compiled", "cuda graph", "evaluate_arrays", "jax", "cupy"):
            entry = record.get(name)
            if entry is None:
                continue
            shape = f"| {record['queries']:,} × {record['width']:,} | {sort:.2f} ms | {name} "
            if "failed" in entry:
                lines.append(f"{shape}| failed: {entry['failed'].splitlines()[0][:80]} | | | |")
                continue
            memory = f"{entry['memory']:.1f}" if "memory" in entry else ""
            lines.append(f"{shape}| {entry['ms']:.2f} | {entry['ms'] / sort:.1f} | {memory} | {entry['error']:.0e} |")
    return "\n".join(lines)


def verdicts(records: list[Record]) -> list[str]:
    """Return which goals are reached."""
    lines = []
    for i, record in enumerate(records):
        shape = f"{record['queries']:,} × {record['width']:,}"
        times = {name: record[name]["ms"] for name in (*GOALS, "jax") if "ms" in record.get(name, {})}
        for name, goals in GOALS.items():
            if name in times:
                lines.append(_verdict(f"{shape} {name}", times[name] / record["sort ms"], goals[i], "sorts"))
        if "compiled" in times:
            memory = record["compiled"]["memory"]
            lines.append(_verdict(f"{shape} compiled, memory", memory, MEMORY, "times the input"))
        if "jax" in times and "compiled" in times:
            ratio = times["jax"] / times["compiled"]
            lines.append(_verdict(f"{shape} jax", ratio, AGAINST_TORCH, "times PyTorch compiled"))
    return lines


def _verdict(what: str, value: float, goal: float, unit: str) -> str:
    return f"{what}: {value:.2f} of {goal} {unit}, {'reached' if value <= goal else 'missed'}"


def main() -> None:
    """Measure all shapes and print the table; write everything as JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="how many of the three shapes")
    options = parser.parse_args()
    missing = [name for name in ("torch", "numpy", "array_api_compat") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"this needs {', '.join(missing)}; packages of pure Python can lie in a folder on PYTHONPATH")
    import torch

    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    records = []
    for shape in SHAPES[: options.shapes]:
        records.append(contest(*shape))
        print(json.dumps(records[-1]), flush=True)
    versions = {name: _version(name) for name in ("torch", "jax", "cupy", "numpy")}
    device = torch.cuda.get_device_name()
    print(f"\n{device}, {versions}\n\n{table(records)}\n\n" + "\n".join(verdicts(records)))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": device, "versions": versions, "measures": MEASURES, "shapes": records}, file, indent=1)


def _version(name: str) -> str | None:
    if importlib.util.find_spec(name) is None:
        return None
    return str(importlib.import_module(name).__version__)


if __name__ == "__main__":
    main()
