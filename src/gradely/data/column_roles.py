"""Which columns of a table hold the query, the document and the number, by the names people use."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradely.errors import InputError, clip, did_you_mean

QUERY = (
    "query_id", "qid", "query", "topic", "topic_id", "user_id", "user", "uid", "question_id", "question", "session_id",
    "request_id", "customer_id", "search_id",
)  # fmt: skip
DOC = (
    "doc_id", "docno", "doc", "document", "document_id", "did", "corpus_id", "passage_id", "passage", "chunk_id",
    "chunk", "article_id", "article", "item_id", "item", "iid", "movie_id", "product_id", "product", "pid",
)  # fmt: skip
VALUE = {
    "label": ("relevance", "label", "rel", "grade", "rating", "gain", "r_ui", "target", "weight", "score"),
    "score": ("score", "sim", "similarity", "prediction", "pred", "est", "rating", "rank"),
}
ROLES = {"query": QUERY, "document": DOC, "label": VALUE["label"], "score": VALUE["score"]}
"""what columns may be named for"""
LISTED = 8
"""how many columns an error names"""
Names = Mapping[str, str]
"""{"query": …, "document": …, "label" or "score": …}: what a table calls its columns, as far as it must be said"""


class Roles(NamedTuple):
    """The columns of a table."""

    query: str
    document: str
    value: str | None
    """None where rows have no label: all are relevant"""

    @property
    def sign(self) -> int:
        """-1 where the numbers are ranks, of which 1 is best."""
        return -1 if self.value is not None and normalize(self.value) == "rank" else 1

    @property
    def names(self) -> list[str]:
        """The columns that are read, each once."""
        return list(dict.fromkeys(name for name in self if name is not None))


def find_column(names: Sequence[str], usual: Sequence[str], role: str, name: str) -> str:
    """Return which of the table's columns holds something, by the names people use."""
    column = _find_usual(names, usual, role, name)
    if column is None:
        role = next(role for role, known in ROLES.items() if known is usual)
        which = f"name it {' or '.join(usual[:3])}, or say columns={{{role!r}: …}} (--columns {role}=…)"
        raise InputError(f"{name}: no {role} column among {_listing(names)}; {which}")
    return column


def _find_usual(names: Sequence[str], usual: Sequence[str], role: str, name: str) -> str | None:
    """Return the column that has the first of the known names that any has; refuse two that both have it."""
    for name_in_use in usual:
        fitting = [column for column in names if normalize(column) == normalize(name_in_use)]
        if len(fitting) > 1:
            candidates = " and ".join(clip(column, 30) for column in fitting[:2])
            raise InputError(f"{name}: {candidates} may both be the {role} column; rename or drop one")
        if fitting:
            return fitting[0]
    return None


def _listing(names: Sequence[str]) -> str:
    if not names:
        return "the columns whose names are text"
    return ", ".join(clip(str(name), 30) for name in names[:LISTED]) + (", …" if len(names) > LISTED else "")


def normalize(name: object) -> str:
    """Return a column's name as it is compared: corpus-id, CorpusId and corpus_id are the same."""
    return "".join(filter(str.isalnum, name.lower())) if isinstance(name, str) else ""


def pick_columns(names: Sequence[str], kind: str, name: str, columns: Names | None = None) -> Roles:
    """Return the columns of query, document and value: those that were said, the others by the names people use."""
    columns = columns or {}
    for role, column in columns.items():
        if role not in ROLES:
            raise InputError(f"no column {role!r} to name: use {', '.join(ROLES)}.{did_you_mean(str(role), ROLES)}")
        if role in ("query", "document", kind) and list(names).count(column) != 1:
            problem = "no column" if column not in names else "more than one column"
            raise InputError(f"{name}: {problem} {column!r} among {_listing(names)}")
    query = columns.get("query") or find_column(names, QUERY, "query", name)
    document = columns.get("document") or find_column(
        [other for other in names if other != query], DOC, "document", name
    )
    rest = [other for other in names if other not in (query, document)]
    value = columns.get(kind) or _find_usual(rest, VALUE[kind], kind, name)
    if value is None and kind == "score":
        find_column(rest or names, VALUE[kind], kind, name)
    return Roles(query, document, value)


def note_no_labels(names: Sequence[str], roles: Roles, name: str) -> str:
    """Return a note that a table has no labels, and what to do if it has."""
    rest = [column for column in names if column not in (roles.query, roles.document)]
    hint = f'; if one of {_listing(rest)} holds labels, say columns={{"label": …}}' if rest else ""
    return f"{name} has no label column: every row counts as relevant, with label 1{hint}"
