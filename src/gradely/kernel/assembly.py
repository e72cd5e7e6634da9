"""Arrays of NumPy, made a block of rows at a time on all processors."""

from collections.abc import Callable

import numpy as np

from gradely.kernel.batch import Array
from gradely.threads import cores, on_threads


def assemble(rows: int, at_a_time: int, make: Callable[[slice], dict[str, Array]]) -> dict[str, Array]:
    """Return arrays with so many rows, by name; blocks of rows stay in the processor's cache and write their part."""
    one = make(slice(0, 1))
    whole = {name: np.empty((rows, *part.shape[1:]), part.dtype) for name, part in one.items()}

    def work(start: int) -> None:
        block = slice(start, min(start + at_a_time, rows))
        for name, part in make(block).items():
            whole[name][block] = part

    for _ in on_threads(work, range(0, rows, at_a_time), cores()):
        pass
    return whole
