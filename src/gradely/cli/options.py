"""Options that several commands share. Those that belong together reach a command as one object."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from gradely.cli.output import Bar, OutputOptions, check_output, format_of_path
from gradely.data import Qrels, Run, open_run, read_qrels, run_name, run_names
from gradely.data.read.formats import FORMATS as INPUTS
from gradely.data.selection import read_queries, read_segments, select
from gradely.data.source import Source
from gradely.data.table import DUPLICATES
from gradely.errors import InputError
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore
from gradely.measures import ALL, EXPECTED
from gradely.measures.names import parse_all
from gradely.settings import PRECISIONS, QUERIES, TIES, Settings
from gradely.tables import FORMATS, SAFE

CUT_OFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
"""what is offered after nDCG@"""


class PathType(StringParamType):
    """A path, taken as it is; where it cannot be read, the reader says why."""

    name = "path"

    def __init__(self, kind: str) -> None:
        """Say whether it is a `file` or a `dir`, as shells complete them."""
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Leave it to the shell, which knows its files."""
        return [CompletionItem(incomplete, type=self.kind)]


class MeasureType(StringParamType):
    """The name of a measure, taken as it is."""

    name = "measure"

    def __init__(self, *, words: tuple[str, ...] = ()) -> None:
        """Take other words, too, like `all`."""
        self.words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Complete the name, in any case of letters; after @, a cut-off."""
        from gradely.measures import ALL

        name, at, cut_off = incomplete.partition("@")
        if at:
            ends = [str(k) for k in CUT_OFFS if str(k).startswith(cut_off)]
            return [CompletionItem(f"{name}@{end}") for end in ends]
        names = {measure.name: (measure.__doc__ or "").partition("\n")[0] for measure in ALL} | dict.fromkeys(
            self.words
        )
        return [CompletionItem(key, help=text) for key, text in names.items() if key.lower().startswith(name.lower())]


FILE, FOLDER = PathType("file"), PathType("dir")
MEASURE, MEASURE_OR_ALL = MeasureType(), MeasureType(words=("all",))


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
    runs: dict[str, Callable[[], Run]]
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
) -> tuple[dict[str, Callable[[], Run]], dict[str, float]]:
    """Return how to open each run and how large it is, by name; each feature of a LETOR file is a run."""
    if not runs and not inputs.features:
        raise click.UsageError("name a run to evaluate (or, of a LETOR file, a --feature)", click.get_current_context())
    if [qrels, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once: give a file for the other")
    paths = list(runs) or [qrels]
    opened: dict[str, Callable[[], Run]] = {}
    sizes: dict[str, float] = {}
    for title, path in zip(run_names(paths), paths, strict=True):
        source = Source(path)
        for feature in inputs.features or (None,):
            name = title if feature is None else f"{title}:{feature}"
            opened[name] = partial(open_file, source, feature, inputs)
            sizes[name] = float(os.path.getsize(path)) if os.path.isfile(path) else 1.0
    return opened, sizes


def open_file(source: Source, feature: int | None, inputs: InputOptions) -> Run:
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


PICTURES = ("svg", "png")
Command = TypeVar("Command", bound=Callable[..., Any])


def pack(kind: Callable[..., Any], name: str, keys: tuple[str, ...], command: Command) -> Command:
    """Return the command with these of its keywords made into one object."""

    @wraps(command)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        together = kind(**{key: keywords.pop(key) for key in keys if key in keywords})
        return command(*args, **keywords, **{name: together})

    return wrapper  # type: ignore[return-value]  # the same but for its keywords


def add_options(command: Command, *options: Callable[[Any], Any]) -> Command:
    """Return the command with these options, in the order of its help."""
    for option in reversed(options):
        command = option(command)
    return command


def files(command: Command) -> Command:
    """Add the arguments QRELS and RUNS."""
    return add_options(command, click.argument("qrels", type=FILE), click.argument("runs", nargs=-1, type=FILE))


def measures(
    command: Command,
    kind: StringParamType = MEASURE_OR_ALL,
    more: str = " 'all' stands for every measure that takes --ties.",
) -> Command:
    """Add the option -m, which may be repeated."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        type=kind,
        metavar="MEASURE",
        help=f"A measure, like nDCG@10 or 'AP(rel=2)'; repeat for more.{more} [default: {', '.join(DEFAULT)}]",
    )(command)


def settings(*names: str) -> Callable[[Command], Command]:
    """Add --ties, --seed, --precision, --queries, --judged-only and --threads, or those that are named."""
    selected = [name for name in SETTINGS if name in names] if names else list(SETTINGS)

    def add(command: Command) -> Command:
        command = pack(Settings, "settings", tuple(SETTINGS), command)
        return add_options(command, *(SETTINGS[name] for name in selected))

    return add


def _columns(_context: click.Context, _parameter: click.Parameter, value: str | None) -> dict[str, str] | None:
    """Take query=uid,document=iid apart."""
    if value is None:
        return None
    pairs = [pair.partition("=") for pair in value.split(",")]
    if not all(role and name for role, _, name in pairs):
        raise click.BadParameter("expected query=NAME,document=NAME,label=NAME,score=NAME, or some of them")
    return {role.strip(): name.strip() for role, _, name in pairs}


def inputs(command: Command, *, whole: bool = False) -> Command:
    """Add the options that say how to read the files and, unless files are read whole, what of them counts."""
    return add_options(
        pack(InputOptions, "inputs", InputOptions._fields, command),
        qrels_format,
        click.option(
            "--run-format", type=click.Choice(INPUTS), help="Format of the runs; by default it is recognised."
        ),
        click.option(
            "--feature",
            "features",
            type=click.IntRange(min=1),
            multiple=True,
            help="The feature of a LETOR file to rank by; repeat for more.",
        ),
        click.option(
            "--ascending", is_flag=True, help="Take low values of --feature as best, where features are ranks."
        ),
        click.option(
            "--columns",
            callback=_columns,
            metavar="ROLE=NAME,…",
            help="What tables call their columns, where names are unusual: query=uid,document=iid,label=r,score=est.",
        ),
        choice(
            "--duplicates", DUPLICATES, "error", "What to do with a document that the qrels have twice for a query."
        ),
        *(() if whole else SELECTION),
    )


def request(command: Command) -> Command:
    """Add QRELS and RUNS and the options of inputs, and pack them with measures and settings into one object."""
    return files(inputs(pack(Request, "request", Request._fields, command)))


def output(command: Command, digits: int = 4, *, pictures: bool = False) -> Command:
    """Add --format, --digits and -o, which may name a picture where the command draws one."""
    endings = ".csv, .tsv, .json, .md, .tex, .html or .txt"
    picture = ", or .svg or .png for a chart, with the text on standard output" if pictures else ""
    return add_options(
        pack(partial(_settle_output, pictures=pictures), "output", OutputOptions._fields, command),
        click.option(
            "--format",
            "form",
            type=click.Choice([*FORMATS, "json"]),
            help="Format of the output.  [default: by the ending of -o, else table]",
        ),
        click.option(
            "--digits",
            type=click.IntRange(0, 17),
            default=digits,
            show_default=True,
            help="How many decimals formats for people have; csv, tsv and json have all.",
        ),
        click.option(
            "-o",
            "--output",
            "path",
            type=FILE,
            metavar="FILE",
            help=f"Write to a file; its ending gives the format: {endings}{picture}.",
        ),
        click.option(
            "--safe-csv",
            is_flag=True,
            expose_value=False,
            callback=lambda _context, _parameter, safe: SAFE.set(safe),
            help="In csv and tsv, put ' before text that a spreadsheet would take for a formula: "
            "= + - @ at its beginning.",
        ),
    )


def _settle_output(form: str | None, digits: int, path: str | None, *, pictures: bool = False) -> OutputOptions:
    """Take the format from the ending of the file where none is named; refuse an ending that says nothing."""
    check_output(path)
    ending = (path or "").rpartition(".")[2].lower()
    picture = ending if pictures and ending in PICTURES else None
    if form is None and path not in (None, "-") and not picture:
        form = format_of_path(str(path))
    return OutputOptions(form or "table", digits, path, picture)


def choice(flag: str, choices: Iterable[str], default: str, text: str) -> Callable[[Command], Command]:
    """Return an option that takes one of several words."""
    return click.option(flag, type=click.Choice(list(choices)), default=default, show_default=True, help=text)


def count(flag: str, default: int, text: str, least: int = 1) -> Callable[[Command], Command]:
    """Return an option that takes a whole number, of at least so much."""
    return click.option(flag, type=click.IntRange(min=least), default=default, show_default=True, help=text)


alpha = click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
qrels_format = click.option(
    "--qrels-format", type=click.Choice(INPUTS), help="Format of the qrels; by default it is recognised."
)
queries_text = click.option(
    "--queries-text",
    type=FILE,
    metavar="FILE",
    help="Texts of queries to show: an id, a tab and a text per line, or JSON Lines with id and text.",
)
docs_text = click.option(
    "--docs-text", type=FILE, metavar="FILE", help="Texts of documents to show, in the formats of --queries-text."
)
by_segment = click.option(
    "--by",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Show means by segment. Segments are a column of the qrels, or a table of query and segment.",
)
"""adds --by, which is read with the other options of inputs: it stands above them"""
SELECTION = (
    click.option("--only", type=FILE, metavar="FILE", help="A file with the queries that count, one per line."),
    click.option(
        "--exclude",
        type=FILE,
        metavar="FILE",
        help="A table of query and document: what to drop from the rankings first, such as items that users had in "
        "training.",
    ),
)
"""the options of inputs that say which part of the files counts"""
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "ties": choice(
        "--ties",
        TIES,
        "expected",
        "What happens to tied documents. expected: the mean over all their orders; trec: ordered by id, as trec_eval "
        "does; order: as in the input; random: ordered by --seed; best, worst: in the order that is best or worst for "
        "each measure.",
    ),
    "seed": count("--seed", 0, "Seed of what is drawn at random.", least=0),
    "precision": choice(
        "--precision",
        PRECISIONS,
        "double",
        "Precision of scores: single rounds them before they are compared, as trec_eval 9 and older do.",
    ),
    "queries": choice(
        "--queries",
        QUERIES,
        "qrels",
        "Which queries count: those of the qrels (one that the run lacks counts 0), those in both, or all of the run.",
    ),
    "judged_only": click.option(
        "--judged-only", is_flag=True, help="Drop unjudged documents from the runs before they are measured."
    ),
    "threads": click.option(
        "--threads",
        type=click.IntRange(min=1),
        help="How many threads read and measure; by default as many as there are processors. Results do not depend "
        "on it.",
    ),
}
"""the options of Settings by name, in the order of the help"""
