"""Reads judgments and runs as trec_eval does: by the fast reader if the text is regular, else line by line.

The fast reader takes a Dialect: a run of a million lines takes 0.1 s of processor time this way, and 2.5 s line by
line. Only a loop is left to share with the plain reader, data/read/lines.py: trec_eval differs in comments, blank
lines, bytes that are no text, numbers with anything after them, duplicates and exit codes. The 60 lines here are fewer
than a dialect of the plain reader would take.

Names are bytes: text need not be UTF-8, and `decode` turns other bytes into lone surrogates.
"""

from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from itertools import pairwise
from math import isnan
from typing import NamedTuple

import numpy as np

from gradely.data import Hits, Qrels, Report, Run
from gradely.data.hashing import find_repeated, is_among
from gradely.data.ids import Floats, Ids, Ints, decode, encode
from gradely.data.locate import find_in_dicts, find_in_table
from gradely.data.locate.parts import UNKNOWN, HashedQrels, PartLines
from gradely.data.read.trec import TrecTable
from gradely.data.read.trec_pieces import Dialect, load_qrels
from gradely.data.source import Source
from gradely.data.table import IrregularText
from gradely.errors import InputError, clip
from gradely.kernel.parameters import EXACT
from gradely.settings import Settings
from gradely.tables import count_of
from gradely.trec_eval.options import GROUPED, UNREADABLE, Options, Quit, atof, atol


class JudgmentGroups(NamedTuple):
    """Every judgment group of every query as a query of its own, sorted by query and name of the group."""

    qrels: Qrels
    query: Ints
    """the query of each group, [groups]"""
    row: Ints
    """the row of each judgment's document among the documents of all groups together, [judgments]"""

    @classmethod
    def of(cls, labels: dict[str, dict[bytes, dict[str, float]]], name: str) -> tuple[Qrels, "JudgmentGroups"]:
        """Return the judgments of all groups together, and the groups, from {query: {group: {document: label}}}."""
        together: dict[str, dict[str, float]] = {}
        apart: dict[str, dict[str, float]] = {}
        query: list[int] = []
        row: list[int] = []
        start = 0
        for i, (qid, groups) in enumerate(labels.items()):
            docs = together.setdefault(qid, {})
            for group in sorted(groups):
                for doc in groups[group]:
                    docs.setdefault(doc, 0.0)
            at = {doc: start + j for j, doc in enumerate(docs)}
            start += len(docs)
            for group in sorted(groups):
                apart[str(len(apart))] = groups[group]
                query.append(i)
                row += [at[doc] for doc in groups[group]]
        return Qrels.of(together, name), cls(Qrels.of(apart, name), np.asarray(query), np.asarray(row))

    def hits(self, together: Hits) -> Hits:
        """Return the hits of each group, from those of all groups together."""
        assert together.place is not None
        entry = np.full(int(self.row.max()) + 1, -1)
        entry[together.row] = np.arange(len(together.row))
        judged = np.flatnonzero(entry[self.row] >= 0)
        at = entry[self.row[judged]]
        group = np.repeat(np.arange(len(self.query)), np.diff(self.qrels.start))
        return Hits(
            group[judged],
            judged,
            together.above[at],
            together.tied[at],
            together.place[at],
            together.retrieved[self.query],
            together.answered[self.query],
            together.unjudged,
        )

    def within(self, queries: Ints) -> Ints:
        """Return the groups of some queries."""
        return np.flatnonzero(np.isin(self.query, queries))

    def means(self, values: Floats, groups: Ints, queries: Ints) -> Floats:
        """Return the mean of each query over its groups, summed in the order of the groups."""
        table = np.zeros((len(self.query), values.shape[1]))
        table[groups] = values
        count = np.bincount(self.query)[queries]
        first = np.searchsorted(self.query, queries)
        added = np.zeros((len(queries), values.shape[1]))
        for i in range(int(count.max(initial=0))):
            has = count > i
            added[has] += table[first[has] + i]
        return added / count[:, None]


TAIL = 1 << 16
"""bytes at the end of a file that are certain to contain a whole line"""


class JudgmentFile(NamedTuple):
    """The judgments of a file."""

    qrels: Qrels
    twice: dict[str, str]
    """a duplicate document by query"""
    relevant: int | None = None
    """the number of judgments above 0, including duplicates; None for judgment groups"""
    groups: JudgmentGroups | None = None
    """the judgments by group, if the file has judgment groups"""


class RankingFile(NamedTuple):
    """The hits of a run, and its tag."""

    hits: Hits
    run_id: str
    twice: dict[str, str]
    """a duplicate document by query"""


def source_of(path: str) -> Source:
    """Return the source of a path; paths that begin with - are standard input."""
    return Source("-" if path.startswith("-") else path)


def read_judgments(source: Source, options: Options, threads: int) -> JudgmentFile:
    """Return the judgments of a file."""
    if options.qrels_format == GROUPED:
        return _read_groups(source, options.compat)
    lines = _count_lines(source, options.compat)
    dialect = Dialect(comments=options.compat == 10, any_bytes=True, number=_label)
    for duplicates in (False, True):
        with suppress(IrregularText):
            qrels = load_qrels(source, threads, dialect._replace(duplicates=duplicates))
            if lines == len(qrels.grade) and np.abs(qrels.grade).max() < EXACT:  # others are read line by line
                np.trunc(qrels.grade, out=qrels.grade)
                twice = _judged_twice(qrels) if duplicates else {}
                return JudgmentFile(qrels, twice, int((qrels.grade > 0).sum()))
    return _plain_judgments(source, options.compat)


def _count_lines(source: Source, compat: int) -> int:
    """Return the number of lines of a file, without comments."""
    lines = 0
    for _, block in _blocks(source):
        lines += block.count(b"\n") + (not block.endswith(b"\n"))
        lines -= block.count(b"\n#") + block.startswith(b"#") if compat == 10 else 0
    return lines


def _blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line."""
    empty = True
    try:
        for first, block in source.blocks():
            empty = False
            yield first, block
    except InputError as error:
        raise Quit(UNREADABLE, str(error)) from None
    if empty:
        raise Quit(UNREADABLE, f"{source.name}: the file is empty")


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    for first, block in _blocks(source):
        yield from enumerate(block.removesuffix(b"\n").split(b"\n"), first)


def _label(text: bytes) -> float:
    """Return a label that the fast reader cannot parse."""
    return float(atol(decode(text)))


def _judged_twice(qrels: Qrels) -> dict[str, str]:
    """Return a document that is judged more than once, for each query that has one."""
    key = HashedQrels.of(qrels).key
    rows = np.flatnonzero(is_among(key, find_repeated(key)))
    seen: set[tuple[str, str]] = set()
    twice: dict[str, str] = {}
    for row, query in zip(rows.tolist(), np.searchsorted(qrels.start, rows, side="right").tolist(), strict=True):
        judgment = qrels.queries[query - 1], qrels.docs[row]
        if judgment in seen:
            twice.setdefault(*judgment)
        seen.add(judgment)
    return twice


def _plain_judgments(source: Source, compat: int) -> JudgmentFile:
    labels: dict[str, dict[str, float]] = {}
    twice: dict[str, str] = {}
    relevant = 0
    for _, query, _, doc, label in _judgments(source, compat):
        docs = labels.setdefault(query, {})
        if doc in docs:
            twice.setdefault(query, doc)
        docs[doc] = label
        relevant += label > 0
    if not labels:
        raise Quit(UNREADABLE, f"{source.name}: no judgments")
    return JudgmentFile(Qrels.of(labels, source.name), twice, relevant)


def _read_groups(source: Source, compat: int) -> JudgmentFile:
    labels: dict[str, dict[bytes, dict[str, float]]] = {}
    for number, query, group, doc, label in _judgments(source, compat):
        docs = labels.setdefault(query, {}).setdefault(group, {})
        if doc in docs:
            problem = f"duplicate document {clip(doc)} of query {clip(query)} in the group {clip(group)}; keep one"
            raise Quit(UNREADABLE, f"{source.name}:{number}: {problem}")
        docs[doc] = label
    if not labels:
        raise Quit(UNREADABLE, f"{source.name}: no judgments")
    qrels, groups = JudgmentGroups.of(labels, source.name)
    return JudgmentFile(qrels, {}, groups=groups)


def _judgments(source: Source, compat: int) -> Iterator[tuple[int, str, bytes, str, float]]:
    """Yield line number, query, iteration or group, document and label; version 10 supports comments."""
    for number, line in _lines(source):
        if compat == 10 and line.startswith(b"#"):
            continue
        fields = line.split()
        if len(fields) != 4:
            problem = f"{count_of(len(fields), 'field')} instead of 4 (query iteration document label)"
            raise Quit(UNREADABLE, f"{source.name}:{number}: malformed line, {problem}: {clip(line)}")
        query, group, doc, label = fields
        yield number, decode(query), group, decode(doc), _label(label)


def read_ranking(
    judged: JudgmentFile, source: Source, compat: int, most: int | None, threads: int, report: Report
) -> RankingFile:
    """Return the hits of a run."""
    settings = Settings("trec", precision="single" if compat == 9 else "double")
    dialect = Dialect(comments=compat == 10, any_bytes=True, number=_ranking_score)
    try:
        for duplicates, observer in (("error", None), ("keep", DuplicateObserver(most))):
            with suppress(IrregularText):
                table = TrecTable(source, "score", duplicates, dialect)
                hits = find_in_table(judged.qrels, table, settings, threads, report, observer)
                return RankingFile(hits, run_id(source, compat), observer.twice if observer else {})
    except InputError as error:
        raise Quit(UNREADABLE, str(error)) from None
    rows = _plain_run(judged.qrels, source, compat)
    rows = {query: _number_levels(docs, settings) for query, docs in rows.items()}
    scores = {query: {doc: score for score, doc in sorted(docs)} for query, docs in rows.items()}
    twice = {query: doc for query, docs in rows.items() if (doc := _first_twice(docs, most)) is not None}
    hits = find_in_dicts(judged.qrels, Run(scores, source.name), Settings("trec"))
    return RankingFile(hits, run_id(source, compat), twice)


class DuplicateObserver:
    """Collects a duplicate document of each judged query, among the documents that are kept."""

    def __init__(self, most: int | None) -> None:
        """Take the number of documents to keep per query."""
        self.most = most
        self.twice: dict[str, str] = {}

    def look(self, lines: PartLines) -> dict[str, str]:
        """Return a duplicate of each query in some lines."""
        twice = {}
        docs = Ids(lines.text, lines.start, lines.stop)
        repeated = np.flatnonzero(is_among(lines.key, find_repeated(lines.key)))
        for query in np.unique(lines.owner(repeated)).tolist():
            if lines.query[query] == UNKNOWN:
                continue
            of_query = range(lines.first[query], lines.first[query] + lines.size[query])
            names = [docs.name(i) for i in of_query]
            if len(set(names)) == len(names):  # only their hashes are equal
                continue
            doc = _first_twice(list(zip(lines.score[of_query].tolist(), names, strict=True)), self.most)
            if doc is None:  # duplicates below the kept documents count once, which only the plain reader supports
                raise IrregularText
            twice[lines.name.name(query)] = doc
        return twice

    def add(self, seen: dict[str, str]) -> None:
        """Add the duplicates of some lines."""
        self.twice |= seen


def run_id(source: Source, compat: int) -> str:
    """Return the tag in the last line of a run, or an empty string if there is none."""
    for line in reversed(_tail(source).split(b"\n")):
        fields = line.split()
        if len(fields) >= 6 and not (compat == 10 and fields[0].startswith(b"#")):
            return fields[5].decode("latin-1")
    return ""


def _tail(source: Source) -> bytes:
    """Return the end of a file, without reading the rest if possible."""
    with source.stream() as stream:
        if isinstance(stream, FileIO):
            stream.seek(max(0, source.size - TAIL))
            return stream.readall()
        tail, buffer = b"", bytearray(1 << 20)
        while got := stream.readinto(buffer):
            tail = (tail + buffer[:got])[-TAIL:]
        return bytes(tail)


def _ranking_score(text: bytes) -> float:
    """Return a score that the fast reader cannot parse."""
    score = atof(decode(text))
    if isnan(score):  # the plain reader reports its line
        raise IrregularText
    return score


def _plain_run(qrels: Qrels, source: Source, compat: int) -> dict[str, list[tuple[float, str]]]:
    """Return the scores and documents of the judged queries, read line by line."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for number, line in _lines(source):
        fields = [decode(field) for field in line.split()]
        if not fields or (compat == 10 and fields[0].startswith("#")):
            continue
        if len(fields) < 6:
            problem = f"{count_of(len(fields), 'field')} instead of 6 (query Q0 document rank score tag)"
            raise Quit(UNREADABLE, f"{source.name}:{number}: malformed line, {problem}: {clip(line)}")
        if fields[0] in qrels.index:
            score = atof(fields[4])
            if isnan(score):
                raise Quit(UNREADABLE, f"{source.name}:{number}: the score is {fields[4]}, which cannot be ranked")
            rows.setdefault(fields[0], []).append((score, fields[2]))
    return rows


def _number_levels(docs: list[tuple[float, str]], settings: Settings) -> list[tuple[float, str]]:
    """Return documents with integers for scores, with the same order and ties, so that infinities can be ranked."""
    with np.errstate(over="ignore"):
        scores = settings.round(np.array([score for score, _ in docs]))
    levels = np.unique(scores, return_inverse=True)[1].tolist()
    return list(zip(map(float, levels), (doc for _, doc in docs), strict=True))


def _first_twice(docs: list[tuple[float, str]], most: int | None) -> str | None:
    """Return a duplicate among the documents that are kept, or None if there is none."""
    if len({doc for _, doc in docs}) == len(docs):
        return None
    ranking = sorted(((score, encode(doc), doc) for score, doc in docs), reverse=True)
    names = sorted(doc for *_, doc in ranking[:most])
    return next((doc for doc, other in pairwise(names) if doc == other), None)
