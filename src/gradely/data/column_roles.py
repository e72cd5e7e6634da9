"""Find the columns of query, document and number in a table by commonly used names."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import isnan
from numbers import Number
from typing import NamedTuple

from gradely.errors import InputError, clip, did_you_mean


def normalize(name: object) -> str:
    """Return a column name in the form in which names are compared: corpus-id, CorpusId and corpus_id are the same.

    RecBole appends the type to the name of a column: user_id:token is user_id.
    """
    return _normalize(name) if isinstance(name, str) else ""


@lru_cache(maxsize=1024)
def _normalize(name: str) -> str:
    plain = re.sub(r":(token|float)(_seq)?$", "", name) if ":" in name else name
    return "".join(filter(str.isalnum, plain.lower()))


TIERS = {
    "query": (
        ("query_id", "qid", "topic_id", "question_id"),
        ("query", "topic", "question", "query_text"),
        ("user_id", "uid", "session_id", "request_id", "customer_id", "search_id"),
        ("user",),
    ),
    "document": (
        (
            "doc_id", "docno", "document_id", "did", "corpus_id", "passage_id", "chunk_id", "article_id", "item_id",
            "iid", "movie_id", "product_id", "pid",
        ),
        ("doc", "document", "passage", "chunk", "article", "item", "product"),
    ),
    "label": (("relevance", "label", "rel", "grade", "rating", "gain", "r_ui", "target", "weight", "score"),),
    "score": (
        (
            "score", "sim", "similarity", "relevance_score", "prediction", "pred", "predicted", "predicted_rating",
            "est",
        ),
        ("doc_position",),
        ("rating",),
        ("rank",),
        ("position", "pos", "ranking"),
    ),
    "subtopic": (
        ("subtopic", "subtopic_id", "intent", "intent_id", "nugget", "nugget_id", "aspect", "aspect_id", "facet"),
    ),
}  # fmt: skip
"""the usual names of columns, by role, in tiers: a name of an earlier tier wins over one of a later tier, and two names
of the same tier are an error"""
COMPANIONS = {
    "docno": ("doc_id",),
    **dict.fromkeys(("relevance", "label", "rel", "grade"), ("score",)),
}
"""names of the same tier that mean something else beside this one: docid is PyTerrier's internal number of a docno, and
a score beside a label belongs to a run"""
RANKS = ("rank", "docposition", "position", "pos", "ranking")
"""names of rank columns, in which 1 is best; Quepid has the position of a document beside its rating"""
SILENT = frozenset(map(normalize, (*TIERS["query"][1], *TIERS["document"][1], "user", *RANKS)))
"""names of later tiers that are ignored without a note: texts beside ids, and ranks beside scores"""
NO_LABELS = frozenset(
    {
        *("timestamp", "time", "date", "datetime", "ts", "year", "createdat", "updatedat", "place", *RANKS),
        *("day", "month", "hour", "iteration", "iter", "index", "level0", "unnamed0", "split", "fold"),
    }
)
"""names of columns of numbers that are never labels; names that end in id are ids"""
NO_IDS = frozenset({"bid", "hybrid", "invalid", "paid", "unpaid", "valid"})
"""names that end in id, but mean no id"""
NAMED_LABELS = ("label", "relevan", "rating", "grade", "judgment", "judgement")
"""parts of names of columns that hold labels, though perhaps not as numbers"""
VERDICTS = frozenset(
    {
        *("yes", "no", "y", "n", "true", "false", "positive", "negative", "correct", "incorrect", "pass", "fail"),
        *("relevant", "irrelevant", "notrelevant", "nonrelevant", "partiallyrelevant", "highlyrelevant"),
        *("good", "bad", "fair", "excellent", "perfect"),
    }
)
"""words that are labels, in the form returned by `normalize`"""
RUNS = ("run", "run_id", "run_name", "run_tag", "system", "system_id", "system_name", "model", "model_name", "tag",
    "retriever", "algorithm", "snapshot_name", "snapshot_id")  # fmt: skip
"""names of columns that may say which of several runs a row belongs to"""
JUDGES = frozenset({"judge", "rater", "annotator", "assessor", "worker"})
"""names of columns that say who judged; `judge_id` and similar names count as well"""
ROLES = {role: tuple(chain.from_iterable(tiers)) for role, tiers in TIERS.items()}
"""the usual names of each role, for error messages"""
QUERY, DOC = ROLES["query"], ROLES["document"]
QUERY_NAMES, DOC_NAMES = (frozenset(map(normalize, names)) for names in (QUERY, DOC))
LISTED = 8
"""number of columns that an error message lists"""
Names = Mapping[str, str | None]
"""{"query": …, "document": …, "label" or "score": …}: the columns that the caller names; None as the label says that
there is no label, and every row is relevant"""

SAMPLED = 100
"""number of rows that are inspected to see what a column holds"""
Cells = Mapping[str, Sequence[object]]
"""the first cells of each column"""
Sample = Callable[[], Cells]
"""returns the first cells of all columns; called only if no column is named like a label or a score"""


COLUMNS = 50
"""number of keys up to which a dict may be a row, or hold the columns of a table"""


def are_columns(names: object) -> bool:
    """True for a dict whose keys name the query and the document of a table."""
    if not isinstance(names, (dict, Mapping)) or not 1 < len(names) <= COLUMNS:  # dict first: the cheaper check
        return False
    known = set(map(normalize, names))
    return not known.isdisjoint(QUERY_NAMES) and not known.isdisjoint(DOC_NAMES)


class Roles(NamedTuple):
    """The columns of a table, by role."""

    query: str
    document: str
    value: str | None
    """None if rows have no label: all are relevant"""
    notes: tuple[str, ...] = ()
    """assumptions that were made"""
    chances: tuple[str, ...] = ()
    """the columns that hold the probability of each label, starting with label 0; the first one is also `value`"""

    @property
    def sign(self) -> int:
        """-1 if the numbers are ranks, of which 1 is best, else 1."""
        return -1 if self.value is not None and normalize(self.value) in RANKS else 1

    @property
    def names(self) -> list[str]:
        """The columns that are read, without duplicates."""
        return list(dict.fromkeys(name for name in self[:3] if name is not None))


class Pick(NamedTuple):
    """The column of a role, and notes about other columns that could have been meant."""

    column: str | None
    """None if rows have no label"""
    note: str | None = None


def pick_columns(
    names: Sequence[str], kind: str, name: str, columns: Names | None = None, sample: Sample | None = None
) -> Roles:
    """Return the columns of query, document and value: as the caller names them, else by the usual names.

    `sample` returns the first cells of the columns. If there is no label, a column that may hold labels is an error.
    """
    columns = columns or {}
    _check_columns(names, kind, name, columns)
    query = _pick(names, "query", name, columns)
    rest = [column for column in names if column != query.column]
    document = _pick(rest, "document", name, columns, sample=sample)
    rest = [column for column in names if column not in (query.column, document.column)]
    value = _pick(rest, kind, name, columns, names, sample)
    chances = _find_chances(rest, name, value) if kind == "label" and kind not in columns else ()
    if chances:
        return Roles(str(query.column), str(document.column), chances[0], chances=chances)
    if value.column is None and kind not in columns and sample is not None:
        _check_unclaimed({column: cells for column, cells in sample().items() if column in rest}, name)
    if kind == "label" and kind not in columns and _fitting(rest, ["rank", "docposition"]):
        _refuse_ranks(value.column, name)
    if kind == "score" and kind not in columns and normalize(value.column) == "rating" and is_quepid_case(names):
        given = "is a case of Quepid without positions, so it has labels, as qrels, and no ranking: give a snapshot"
        raise InputError(f"{name}: {given}; if {value.column!r} holds scores, {columns_option('score', value.column)}")
    notes = tuple(pick.note for pick in (query, document, value) if pick.note)
    return Roles(str(query.column), str(document.column), value.column, notes)


def _refuse_ranks(label: str | None, name: str) -> None:
    """Raise InputError for qrels that have ranks, but no label except perhaps a column named score."""
    if label is None or normalize(label) == "score":
        beside = "beside a score" if label else "without a label"
        otherwise = f"if {label!r} holds labels" if label else "if every row is relevant"
        problem = f"a rank {beside} looks like a run, and qrels come first"
        raise InputError(f"{name}: {problem}; {otherwise}, {columns_option('label', label)}")


def is_quepid_case(names: Iterable[object]) -> bool:
    """True for the columns of a case of Quepid: query and docid come first, or the details have these columns.

    Rows of queries without documents end with the query, and ratings may be missing.
    """
    known = [*map(normalize, names)]
    return known[:2] == ["query", "docid"] or {"querytext", "docid", "rating"} <= {*known}


def find_judge(names: Iterable[str]) -> str | None:
    """Return the column that says who judged, by its name, or None."""
    return next((name for name in names if normalize(name).removesuffix("id") in JUDGES), None)


def find_source(names: Sequence[str], kind: str) -> str | None:
    """Return the column that may name several runs, or several raters of labels, or None."""
    return find_judge(names) if kind == "label" else next(iter(_fitting(names, RUNS)), None)


def hint_source(column: str | None, kind: str) -> str:
    """Return what to do about duplicates if a column names their runs or raters; or ''."""
    if column is None:
        return ""
    if kind == "label":
        merge = "gradely judges --qrels FILE --merge mean -o merged.qrels"
        return f"; if {clip(column, 30)} names raters, merge them: {merge}"
    return f"; if {clip(column, 30)} names several runs, give one run at a time"


def note_source(column: str, cells: Cells, name: str) -> list[str]:
    """Return a note if a column that may name runs has several values in the first rows of a run."""
    values = list(dict.fromkeys(str(cell) for cell in _present(cells.get(column, ()))))
    if len(values) < 2:
        return []
    several = f"{clip(column, 30)} has several values, such as {clip(values[0], 30)} and {clip(values[1], 30)}"
    return [f"{name}: {several}, and all rows are read as one run; if it names runs, give one run at a time"]


def find_subtopic(names: Sequence[str]) -> str | None:
    """Return the column that may hold subtopics, by its name, or None."""
    return next(iter(_fitting(names, ROLES["subtopic"])), None)


def pick_subtopic(names: Sequence[str], name: str, columns: Names | None) -> str:
    """Return the column of subtopics: as the caller names it, else by the usual names."""
    _check_columns(names, "subtopic", name, columns or {})
    return str(_pick(names, "subtopic", name, columns or {}).column)


def _find_chances(names: Sequence[str], name: str, label: Pick) -> tuple[str, ...]:
    """Return the columns p0, p1, … of label probabilities; none if there is also a label column."""
    numbered = [
        (int(normalize(column)[1:]), column) for column in names if re.fullmatch(r"p\d{1,3}", normalize(column))
    ]
    found = [column for _, column in sorted(numbered)]
    numbers = sorted(number for number, _ in numbered)
    if not numbers or (numbers[0] and len(numbers) == 1):
        return ()
    if label.column is not None and numbers[0] == 0:
        raise InputError(
            f"{name}: {clip(label.column, 30)} is a label, and {_listing(found)} look like probabilities of labels: "
            f"{columns_option('label', label.column)}, or drop that column"
        )
    if label.column is not None:
        return ()
    missing = next((i for i, number in enumerate(numbers) if number != i), None)
    if missing is not None:
        problem = f"two columns for p{numbers[missing]}" if missing and numbers[missing] < missing else f"no p{missing}"
        every = "label probabilities need a column for each label from p0 on, with 0 for impossible labels"
        raise InputError(f"{name}: {problem} among {_listing(found)}: {every}")
    return tuple(found)


def check_roles(columns: Names) -> None:
    """Raise InputError for unknown roles."""
    for role in columns:
        if role not in ROLES:
            raise InputError(f"no column role {role!r}: use {', '.join(ROLES)}.{did_you_mean(str(role), ROLES)}")


def _check_columns(names: Sequence[str], kind: str, name: str, columns: Names) -> None:
    """Raise InputError for unknown roles, and for columns that the table does not have or has twice."""
    check_roles(columns)
    for role, column in columns.items():
        matters = role in ("query", "document", kind) and (role, column) != ("label", None)
        if matters and [*names].count(str(column)) != 1:
            problem = "no column" if column not in names else "more than one column"
            raise InputError(f"{name}: {problem} {column!r} among {_listing(names)}{_hint_apart(names, role, column)}")


def _hint_apart(names: Sequence[str], role: str, column: str | None) -> str:
    """Return a hint if the column of a role, which qrels and runs share, has a usual name in one of them only."""
    usual = next(iter(_fitting(names, ROLES[role])), None)
    if role not in ("query", "document") or usual is None or column in names:
        return ""
    return f"; these names apply to qrels and runs: rename {clip(usual, 30)}, or in Python use read_qrels and read_run"


def _pick(
    names: Sequence[str],
    role: str,
    name: str,
    columns: Names,
    every: Sequence[str] = (),
    sample: Sample | None = None,
) -> Pick:
    """Return the column of a role; only labels may be missing. `every` lists all columns of the table."""
    if role in columns:
        return Pick(columns[role])
    pick = _find(names, role, name)
    if pick is None and role != "label":
        usual = ROLES[role]
        which = f"name it {' or '.join(usual[:3])}, or pass columns={{{role!r}: …}} (--columns {role}=…)"
        advise = {"score": _advise_on_scores, "document": _advise_on_lists}.get(role)
        which = (advise(names, sample) if advise else "") or which
        raise InputError(f"{name}: no {role} column among {_listing(names or every)}; {which}")
    return pick or Pick(None)


def _advise_on_scores(names: Sequence[str], sample: Sample | None) -> str:
    """Return advice for a run whose columns have no usual name for the score, but hold numbers; or ''."""
    labels = _fitting(names, ROLES["label"])
    lists = _advise_on_lists(names, sample)
    distances = [column for column in names if "dist" in normalize(column)]  # low numbers are best
    numbers = find_numbers(sample()) if sample is not None else []
    if labels:
        return f"{clip(labels[0], 30)} is a label, as in qrels, which come first, before the runs"
    if lists:
        return lists
    if distances:
        return (
            f"low values of {clip(distances[0], 30)} are probably best, but high scores rank first: pass its negative "
            f"as score; if high values are best, {columns_option('score', distances[0])}"
        )
    if numbers:
        return f"if high values are best, {columns_option('score', numbers[0])}; to keep the order, add a column rank"
    return ""


def _advise_on_lists(_: Sequence[str], sample: Sample | None) -> str:
    """Return advice for records or a frame with lists in columns, such as the documents of a query; or ''."""
    cells = sample() if sample is not None else {}
    lists = [name for name in cells if any(isinstance(cell, list | tuple) for cell in cells[name])]
    if len(lists) < 2:
        query = next(iter(_fitting(list(cells), QUERY)), "query_id")
        pairs = f"dict(zip(frame[{query!r}], frame[{lists[0]!r}].to_list()))" if lists else ""
        return f"{_listing(lists)} holds lists: give {{query: [documents]}}, as in {pairs}" if lists else ""
    example = '{"query": …, "results": [{"id": …, "score": …}]}'
    return f"{_listing(lists)} hold lists: give one list of results per query, {example}"


def _find(names: Sequence[str], role: str, name: str) -> Pick | None:
    """Return the column of a role by the usual names; raise InputError for two candidates of the same tier."""
    for at, tier in enumerate(TIERS[role]):
        found = _fitting(names, tier)
        beside = [other for column in found for other in _fitting(found, COMPANIONS.get(normalize(column), ()))]
        found = [column for column in found if column not in beside]
        if len(found) > 1:
            candidates = " and ".join(clip(column, 30) for column in found[:2])
            if found[0] == found[1]:
                raise InputError(f"{name}: duplicate column {found[0]!r}; rename or drop one")
            raise InputError(
                f"{name}: {candidates} may both be the {role} column; {columns_option(role, found[0])}, or drop one"
            )
        if found:
            later = _fitting(names, chain.from_iterable(TIERS[role][at + 1 :]))
            beside += [column for column in later if normalize(column) not in SILENT]
            note = f"{name}: {clip(found[0], 30)} is read as the {role}, and not {_listing(beside)}" if beside else None
            return Pick(found[0], note)
    return None


def _fitting(names: Sequence[str], usual: Iterable[str]) -> list[str]:
    """Return the columns that have one of these names."""
    known = set(map(normalize, usual))
    return [column for column in names if normalize(column) in known]


def find_numbers(cells: Cells) -> list[str]:
    """Return the columns of numbers that may be labels or scores under an unusual name."""
    return [column for column in cells if _is_unclaimed(column) and hold_numbers(cells[column])]


def _is_unclaimed(column: str) -> bool:
    """True if the name of a column does not say that it holds ids, texts, times or places."""
    name = normalize(column)
    return (
        (not name.endswith("id") or name in NO_IDS) and name not in NO_LABELS and not _fitting([column], (*QUERY, *DOC))
    )


def hold_numbers(cells: Iterable[object]) -> bool:
    """True if every cell that is not empty is a number or the text of a number, and some cell is not empty.

    >>> hold_numbers(["3", "", 2.5]), hold_numbers(["3", "none"]), hold_numbers(["", None])
    (True, False, False)
    """
    present = _present(cells)
    return bool(present) and all(
        isinstance(cell, Number) or (isinstance(cell, str) and reads_as_number(cell)) for cell in present
    )


def _present(cells: Iterable[object]) -> list[object]:
    """Return the cells that are neither empty nor NaN."""
    return [
        cell
        for cell in cells
        if cell is not None
        and not (isinstance(cell, float) and isnan(cell))
        and not (isinstance(cell, str) and not cell.strip())
    ]


def reads_as_number(text: str) -> bool:
    """True if text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hold_verdicts(cells: Iterable[object]) -> bool:
    """True if every cell that is not empty is a word like yes or relevant, and some cell is not empty."""
    words = {normalize(cell) for cell in _present(cells)}
    return bool(words) and words <= VERDICTS


def _check_unclaimed(cells: Cells, name: str) -> None:
    """Raise InputError for a table without a label column if another column might contain labels.

    Otherwise, every row would count as relevant.
    """
    numbers = find_numbers(cells)
    others = [
        column
        for column in cells
        if column not in numbers
        and _is_unclaimed(column)
        and (any(part in normalize(column) for part in NAMED_LABELS) or _hold_verdicts(cells[column]))
    ]
    if others:
        found = list(dict.fromkeys(clip(str(cell), 20) for cell in _present(cells[others[0]])))
        instead = f" in place of {', '.join(found[:2])}" if found else ""
        how = f"{clip(others[0], 30)} may hold labels: write numbers{instead}, and {columns_option('label', others[0])}"
        raise InputError(f"{name}: no label column; {how}; if every row is relevant, --columns label=")
    if numbers:
        hold, rest = "holds", f"if every row is relevant, {columns_option('label', None)}"
        if len(numbers) > 1:
            hold, rest = (
                "hold",
                "for several raters, use gradely judges --qrels (--merge); if every row is relevant, --columns label=",
            )
        raise InputError(
            f"{name}: no label column; {_listing(numbers)} {hold} numbers: for labels, "
            f"{columns_option('label', numbers[0])}; {rest}"
        )


def columns_option(role: str, column: str | None) -> str:
    """Return what to type to name the column of a role, in Python and on the command line."""
    from shlex import quote

    typed = quote(f"{role}={column or ''}")
    return f"pass columns={{{role!r}: {column!r}}} (--columns {typed})"


def _listing(names: Sequence[str]) -> str:
    if not names:
        return "the columns whose names are text"
    return ", ".join(clip(str(name), 30) for name in names[:LISTED]) + (", …" if len(names) > LISTED else "")


def notes_on(names: Sequence[str], roles: Roles, kind: str, name: str, columns: Names | None) -> list[str]:
    """Return the assumptions that were made: which of two columns is read, or that a table has no labels."""
    if roles.value is not None or kind in (columns or {}):
        return [*roles.notes]
    known = {roles.query, roles.document, *_fitting(names, (*RANKS, *QUERY, *DOC))}
    rest = [column for column in names if column not in known]
    which = f"one of {_listing(rest)}" if len(rest) > 1 else _listing(rest)
    hint = f'; if {which} holds labels, pass columns={{"label": …}} (--columns label=…)' if rest else ""
    return [*roles.notes, f"{name} has no label column: every row counts as relevant, with label 1{hint}"]
