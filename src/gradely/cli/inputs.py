"""What commands read: the qrels, the runs under names that differ, the measures."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

import click

from gradely.cli.progress import Bar
from gradely.data import Qrels, Run, open_run, read_qrels, run_name, run_names
from gradely.data.query_selection import read_queries, read_segments, select
from gradely.data.read.sources import Source
from gradely.errors import InputError
from gradely.evaluation.runs import DEFAULT, Progress, ignore
from gradely.measures import ALL, EXPECTED
from gradely.measures.names import parse_all
from gradely.settings import Settings


class InputOptions(NamedTuple):
    """How the files are to be read."""

    qrels_format: str | None
    run_format: str | None
    features: tuple[int, ...]
    ascending: bool
    columns: dict[str, str] | None = None
    """what tables call their columns"""
    duplicates: str = "error"
    only: str | None = None
    """a file of the queries that count"""
    exclude: str | None = None
    """a file of documents that are dropped first"""
    by: str | None = None
    """a column of the qrels, or a file: the segment of each query"""


class Inputs(NamedTuple):
    """The qrels, the runs that are to be read, and how they are to be measured."""

    qrels: Qrels
    runs: dict[str, Callable[[], Run | Source]]
    """how to open each one, by name"""
    sizes: dict[str, float]
    """how large the file of each one is, for the progress bar"""
    measures: list[str]
    settings: Settings

    def bar(self, later: Mapping[str, float] | None = None) -> AbstractContextManager[Progress]:
        """Return a progress bar over the runs, and over later work that is so many times as much as all of them.

        Nobody sees it but on a terminal.
        """
        if not sys.stderr.isatty():
            return nullcontext(ignore)
        total = sum(self.sizes.values())
        return Bar(self.sizes | {name: share * total for name, share in (later or {}).items()})

    def name_baselines(self, baselines: tuple[str, ...], purpose: str) -> list[str]:
        """Return which runs are the baselines, named as they are or by their files; refuse a single run."""
        if len(self.runs) < 2:
            raise click.UsageError(f"name at least two runs to {purpose}", click.get_current_context())
        return [name if name in self.runs else run_name(name) for name in baselines]


class Request(NamedTuple):
    """What a command is to work on, as it was typed."""

    qrels: str
    runs: tuple[str, ...]
    settings: Settings
    inputs: InputOptions
    measures: tuple[str, ...] = ()

    def read(self, judgments: Qrels | None = None) -> Inputs:
        """Read the qrels, unless they are there, and see which runs there are; each is opened when its turn comes."""
        measures = choose_measures(self.measures, self.settings.ties)
        runs, sizes = list_runs(self.qrels, self.runs, self.inputs)
        qrels = read_judgments(self.qrels, self.inputs, self.settings.threads, judgments)
        return Inputs(qrels, runs, sizes, measures, self.settings)


def read_judgments(
    path: str, inputs: InputOptions, threads: int | None = None, judgments: Qrels | None = None
) -> Qrels:
    """Read the qrels, unless they are there; return those of the queries that count, as the options say.

    They have their segments, and what is excluded.
    """
    source = Source(path)  # held, since segments may come from the same pipe
    if judgments is None:
        judgments = read_qrels(
            source, format=inputs.qrels_format, columns=inputs.columns, duplicates=inputs.duplicates, threads=threads
        )
    if inputs.only is None and inputs.by is None and inputs.exclude is None:
        return judgments
    only = None if inputs.only is None else read_queries(inputs.only)
    segments = None if inputs.by is None else read_segments(inputs.by, path, inputs.columns)
    return select(judgments, only=only, segments=segments, exclude=inputs.exclude)


def list_runs(
    qrels: str, runs: tuple[str, ...], inputs: InputOptions
) -> tuple[dict[str, Callable[[], Run | Source]], dict[str, float]]:
    """Return how to open each run and how large it is, by name; each feature of a LETOR file is a run."""
    if not runs and not inputs.features:
        raise click.UsageError("name a run to evaluate (or, of a LETOR file, a --feature)", click.get_current_context())
    if [qrels, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once: give a file for the other")
    paths = list(runs) or [qrels]
    opened: dict[str, Callable[[], Run | Source]] = {}
    sizes: dict[str, float] = {}
    for title, path in zip(run_names(paths), paths, strict=True):
        source = Source(path)
        for feature in inputs.features or (None,):
            name = title if feature is None else f"{title}:{feature}"
            opened[name] = partial(open_file, source, feature, inputs)
            sizes[name] = float(os.path.getsize(path)) if os.path.isfile(path) else 1.0
    return opened, sizes


def open_file(source: Source, feature: int | None, inputs: InputOptions) -> Run | Source:
    """Open a run; a pipe is kept as long as its source is held, so that it can be read again."""
    return open_run(
        source.path, format=inputs.run_format, columns=inputs.columns, feature=feature, ascending=inputs.ascending
    )


def choose_measures(measures: tuple[str, ...], ties: str) -> list[str]:
    """Return the measures asked for: the usual ones where none is named, all that the tie policy allows for `all`."""
    if "all" in measures:
        return [measure.name for measure in (EXPECTED if ties == "expected" else ALL)]
    names = list(measures or DEFAULT)
    parse_all(names)  # a wrong name is refused before anything is read
    return names
