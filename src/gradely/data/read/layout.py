"""The fields of TREC text: those of qrels and those of runs."""

from typing import NamedTuple


class Layout(NamedTuple):
    """The fields of a line."""

    kind: str
    fields: str
    width: int
    """number of fields"""
    value: int
    """position of the number"""
    extra: bool
    """True if fields after the last one are ignored"""


QRELS = Layout("label", "query iteration document label", width=4, value=3, extra=False)
RUN = Layout("score", "query Q0 document rank score tag", width=6, value=4, extra=True)
