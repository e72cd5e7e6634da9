"""Judgments and runs as trec_eval reads them: the fast way where the text is regular, else line by line.

Text that is not UTF-8 is read as Latin-1, so that anything is taken; names compare as bytes do in both.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import isnan
from sys import float_info
from typing import NamedTuple

import numpy as np

from gradely.data import Hits, Qrels, Report, Rule, Run
from gradely.data.align import align
from gradely.data.read.files import Source, clip
from gradely.data.trec.chunks import Odd
from gradely.data.trec.fields import Dialect
from gradely.data.trec.qrels import load_qrels
from gradely.data.trec.runs import stream_run
from gradely.errors import InputError
from gradely.trec_eval.errors import UNREADABLE, Quit
from gradely.trec_eval.options import atol
from gradely.trec_eval.parameters import atof
from gradely.trec_eval.tail import run_id

ENCODING = "latin-1"
LARGE = 9
"""labels of more than one digit are rare, and read line by line"""


class Judged(NamedTuple):
    """Judgments, and the documents that are there twice, by query."""

    qrels: Qrels
    twice: dict[str, str]
    encoding: str
    """how ids become bytes again"""


class Ranked(NamedTuple):
    """Where the judged documents of a run landed, its name, and documents that are there twice."""

    hits: Hits
    run_id: str
    twice: dict[str, str]


def source_of(path: str) -> Source:
    """Return a file; a name that begins with - is standard input."""
    return Source("-" if path.startswith("-") else path)


def read_judgments(source: Source, compat: int, threads: int) -> Judged:
    """Return the judgments of a file."""
    content = _content(source)
    try:
        qrels = load_qrels(source, threads)
    except Odd:
        return _plain_judgments(source, content, compat)
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    odd = np.abs(qrels.grade).max() > LARGE or (qrels.grade % 1).any()
    if odd or lines != len(qrels.grade) or b"\n#" in content or content.startswith(b"#"):
        return _plain_judgments(source, content, compat)
    return Judged(qrels, {}, "utf-8")


def _content(source: Source) -> bytes:
    try:
        return source.read()
    except InputError as error:
        raise Quit(UNREADABLE, str(error)) from None


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(content.removesuffix(b"\n").split(b"\n"), 1)


def _plain_judgments(source: Source, content: bytes, compat: int) -> Judged:
    labels: dict[str, dict[str, float]] = {}
    twice: dict[str, str] = {}
    encoding = _encoding(content)
    for number, line in _lines(content):
        if compat == 10 and line.startswith(b"#"):
            continue
        found = [each.decode(encoding) for each in line.split()]
        if len(found) != 4:
            what = f"{len(found)} fields instead of 4 (query iteration document label)"
            raise Quit(UNREADABLE, f"{source.name}:{number}: malformed line, {what}: {clip(line)}")
        docs = labels.setdefault(found[0], {})
        if found[2] in docs:
            twice.setdefault(found[0], found[2])
        docs[found[2]] = float(atol(found[3]))
    if not labels:
        raise Quit(UNREADABLE, f"{source.name}: no judgments")
    return Judged(Qrels.of(labels, source.name), twice, encoding)


def _encoding(content: bytes) -> str:
    """Return UTF-8, which the fast reader of runs knows, or Latin-1, which takes any byte."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return ENCODING
    return "utf-8"


def read_ranking(
    judged: Judged, source: Source, compat: int, most: int | None, threads: int, report: Report
) -> tuple[Judged, Ranked]:
    """Return where the judged documents of a run landed, and the judgments, their ids read as those of the run."""
    rule = Rule("trec", single=compat == 9)
    try:
        name = run_id(source, compat)
        if judged.encoding != ENCODING:
            dialect = Dialect(comments=compat == 10, any_bytes=True, number=_ranking_score)
            return judged, Ranked(stream_run(judged.qrels, source, rule, threads, report, dialect), name, {})
    except Odd:
        judged = _as_bytes(judged)
    except InputError as error:
        raise Quit(UNREADABLE, str(error)) from None
    rows = _plain_run(judged.qrels, source, compat)
    scores = {query: {doc: score for score, doc in sorted(docs)} for query, docs in rows.items()}
    twice = {query: doc for query, docs in rows.items() if (doc := _first_twice(docs, rule, most)) is not None}
    return judged, Ranked(align(judged.qrels, Run(scores, source.name), rule), name, twice)


def _ranking_score(text: bytes) -> float:
    """Return a score that is written in an unusual way; what has no place in a ranking is explained line by line."""
    score = atof(text.decode(ENCODING))
    if isnan(score):
        raise Odd
    return score


def _as_bytes(judged: Judged) -> Judged:
    """Return judgments that were read the fast way with ids as bytes."""
    qrels = judged.qrels
    queries, docs = ([each.encode().decode(ENCODING) for each in ids] for ids in (qrels.queries, qrels.docs))
    return Judged(Qrels(queries, qrels.start, docs, qrels.grade, qrels.name), judged.twice, ENCODING)


def _plain_run(qrels: Qrels, source: Source, compat: int) -> dict[str, list[tuple[float, str]]]:
    """Return the scores and documents of the judged queries."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for number, line in _lines(_content(source)):
        found = [each.decode(ENCODING) for each in line.split()]
        if not found or (compat == 10 and found[0].startswith("#")):
            continue
        if len(found) < 6:
            what = f"{len(found)} fields instead of 6 (query Q0 document rank score tag)"
            raise Quit(UNREADABLE, f"{source.name}:{number}: malformed line, {what}: {clip(line)}")
        if found[0] in qrels.index:
            rows.setdefault(found[0], []).append((_score(source, number, found[4]), found[2]))
    return rows


def _score(source: Source, number: int, text: str) -> float:
    """Return a score; infinity as the largest number, for it ranks the same."""
    score = atof(text)
    if isnan(score):
        raise Quit(UNREADABLE, f"{source.name}:{number}: the score is {text}, which has no place in a ranking")
    return min(max(score, -float_info.max), float_info.max)


def _first_twice(docs: list[tuple[float, str]], rule: Rule, most: int | None) -> str | None:
    """Return a document that is there twice among those that are kept."""
    if len({doc for _, doc in docs}) == len(docs):
        return None
    scores = rule.rounded(np.array([score for score, _ in docs])).tolist()
    ranked = sorted(zip(scores, (doc for _, doc in docs), strict=True), reverse=True)
    kept = sorted(doc for _, doc in ranked[:most])
    return next((doc for doc, other in pairwise(kept) if doc == other), None)
