"""-Z: values as deviations from the mean of other runs, in standard deviations."""

from gradely.data.read.sources import Source, clip
from gradely.data.types import Floats
from gradely.errors import InputError
from gradely.trec_eval.catalogue import Column
from gradely.trec_eval.options import BAD_ZSCORES, Quit
from gradely.trec_eval.parameters import atof

MISSING = -1000000.0
"""where nothing is known of a query and measure"""
Known = dict[tuple[bytes, str], tuple[float, float]]


def read(path: str) -> Known:
    """Return mean and standard deviation by query and measure."""
    try:
        content = Source(path).read()
    except InputError as error:
        raise Quit(BAD_ZSCORES, str(error)) from None
    reference: Known = {}
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        fields = line.split()
        if len(fields) != 4:
            problem = f"{len(fields)} fields instead of 4 (query measure mean deviation)"
            raise Quit(BAD_ZSCORES, f"{path}:{number}: malformed line, {problem}: {clip(line)}")
        mean, deviation = (atof(field.decode("latin-1")) for field in fields[2:])
        reference[fields[0], fields[1].decode("latin-1")] = (mean, deviation)
    return reference


def deviations(table: Floats, queries: list[bytes], columns: list[Column], reference: Known) -> Floats:
    """Return the table with z-scores in place of values."""
    out = table.copy()
    for i, query in enumerate(queries):
        for j, column in enumerate(columns):
            out[i, j] = _zscore(float(table[i, j]), *reference.get((query, column.name), (None, 0.0)))
    return out


def _zscore(value: float, mean: float | None, deviation: float) -> float:
    if mean is None:
        return MISSING
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
