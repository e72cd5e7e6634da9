"""The errors gradely raises: each says what is wrong, where, and what to do.

GradelyError
  InputError(ValueError)     cannot be read: file, line, what was found, what was expected
  DataError(ValueError)      read, but invalid: a duplicate, NaN, no query in common
    NotFinite                a value that is too large to represent
  MeasureError(ValueError)   no such measure or parameter
    TooManyOrders            too many orders of tied documents for an exact mean
  MissingExtra(ImportError)  needs an optional package
"""

import copyreg
from collections.abc import Iterable
from typing import Any

LONGEST, TAIL = 300, 100
"""The most characters of a message, which may quote input of any length, and how many of them are its end, which says
what to do."""


class GradelyError(Exception):
    """Base of every error that gradely raises on purpose."""

    def __init__(self, message: str) -> None:
        """Take the message, and shorten it if it is very long."""
        super().__init__(shorten(message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message: an error that is made from other arguments could not be sent by another process."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class InputError(GradelyError, ValueError):
    """Input that cannot be read in the expected format."""


class DataError(GradelyError, ValueError):
    """Input that can be read but is invalid."""


class NotFinite(DataError):
    """A value of a measure that is too large to represent."""

    def __init__(self, measure: str, row: int, label: float, query: str | None = None) -> None:
        """Name the measure, the query (or its row, if queries have no names) and its highest label."""
        place = f"row {row}" if query is None else f"query {query}"
        super().__init__(
            f"{measure} of {place} is too large to represent: the highest label there is {label:g};"
            " divide the labels, or use a normalised measure, like nDCG"
        )
        self.measure, self.row, self.label = measure, row, label


class MeasureError(GradelyError, ValueError):
    """A measure or a parameter that does not exist or does not fit."""


class TooManyOrders(MeasureError):
    """A tie group with too many orders for an exact mean; ties="sampled" estimates it."""


class MissingExtra(GradelyError, ImportError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str | None = None) -> None:
        """Name the missing package and the command that installs it, or the extra of gradely that contains it."""
        from gradely.install import install_extra  # slow to import, and rarely needed

        super().__init__(f"this needs {package}: {install_extra(extra) if extra else f'pip install {package}'}")


def shorten(message: str) -> str:
    """Return a message without its middle if it is very long.

    >>> len(shorten("x" * 1000)), shorten("short")
    (300, 'short')
    """
    return message if len(message) <= LONGEST else f"{message[: LONGEST - TAIL - 1]}…{message[-TAIL:]}"


def read_error(name: str, error: OSError) -> InputError:
    """Return the error about a file that the system cannot read."""
    return InputError(f"{name}: cannot be read: {error.strerror or error}")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ' Did you mean X?' for the most similar known word, or an empty string if none is similar.

    >>> did_you_mean("nDGC", ["nDCG", "AP"])
    ' Did you mean nDCG?'
    """
    import difflib

    by_lower = {name.lower(): name for name in words}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return f" Did you mean {by_lower[near[0]]}?" if near else ""


def clip(content: bytes | str, limit: int = 60) -> str:
    """Return an excerpt of the input for an error message: printable, quoted and short."""
    text = content[: 4 * limit + 4].decode(errors="replace") if isinstance(content, bytes) else content
    text = text.strip("\r\n")
    return repr(text if len(text) <= limit else text[:limit] + "…")


def hint_number(value: object) -> str:
    """Return what to write in place of a value that is not a number, or "".

    >>> hint_number("0,9"), hint_number("relevant"), hint_number("1_0")
    ('; decimals have a point, not a comma', '; write numbers in place of words', '')
    >>> {hint_number("85%"), hint_number("3/5"), hint_number("4.5 stars")}
    {'; write a number alone, like 0.85'}
    >>> hint_number([{"id": "d1"}])
    '; give {query: {document: number}}, which you may take from the response of a search engine'
    """
    import re

    if isinstance(value, dict | list):
        return "; give {query: {document: number}}, which you may take from the response of a search engine"
    if not isinstance(value, str):
        return ""
    if not value.strip():
        return "; drop rows without one"
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", value):
        return "; decimals have a point, not a comma"
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*(%|/\s*\d+|[^\W\d_]{2,})\s*", value):
        return "; write a number alone, like 0.85"
    return "; write numbers in place of words" if re.fullmatch(r"[^\W\d_]{2,}", value.strip()) else ""
