"""Options that several commands share; related options are passed to a command as one object."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.types import StringParamType

from gradely.cli.output import Bar, OutputOptions, check_output, format_of_path, note_beside
from gradely.data import Qrels, Run, open_run, read_qrels, run_name, run_names
from gradely.data.read.formats import FORMATS as INPUTS
from gradely.data.selection import read_queries, read_segments, read_weights, select
from gradely.data.source import Source
from gradely.data.table import DUPLICATES
from gradely.errors import InputError, MeasureError
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore
from gradely.measures import Measure
from gradely.measures.names import need_subtopics, parse, parse_all
from gradely.settings import EMPTY, PRECISIONS, QUERIES, SAMPLES, TIES, DuplicatePolicy
from gradely.tables import FORMATS, SAFE

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

CUT_OFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
"""the cut-offs that shells complete after nDCG@"""


class PathType(StringParamType):
    """A path, which is not checked here: its reader reports errors."""

    name = "path"

    def __init__(self, kind: str) -> None:
        """Take `file` or `dir`, the kind of path that shells complete."""
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002 - click's signature
        """Leave completion to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self.kind)]


class MeasureType(StringParamType):
    """The name of a measure, which is not checked here."""

    name = "measure"

    def __init__(self, *, words: tuple[str, ...] = ()) -> None:
        """Take additional words to complete, like `all`."""
        self.words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002 - click's signature
        """Complete the name, ignoring case, or the cut-off after @."""
        from click.shell_completion import CompletionItem

        name, at, cut_off = incomplete.partition("@")
        if at:
            ends = [str(k) for k in CUT_OFFS if str(k).startswith(cut_off)]
            return [CompletionItem(f"{name}@{end}") for end in ends]
        names = self.names().items()
        return [CompletionItem(key, help=text) for key, text in names if key.lower().startswith(name.lower())]

    def names(self) -> dict[str, str | None]:
        """Return the words to complete, each with a line of help."""
        from gradely.measures import ALL

        return {measure.name: (measure.__doc__ or "").partition("\n")[0] for measure in ALL} | dict.fromkeys(self.words)


class FormatType(click.Choice[str]):
    """An output format, by its name or its file extension."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the format."""
        return str(super().convert({"md": "markdown", "tex": "latex"}.get(value, value), param, ctx))


FILE, FOLDER = PathType("file"), PathType("dir")
MEASURE, MEASURE_OR_ALL = MeasureType(), MeasureType(words=("all",))


class InputOptions(NamedTuple):
    """How to read the files, and which queries and documents count."""

    qrels_format: str | None = None
    run_format: str | None = None
    features: tuple[int, ...] = ()
    ascending: bool = False
    columns: dict[str, str | None] | None = None
    """the names of columns in tables, by role"""
    duplicates: DuplicatePolicy = "error"
    split: str | None = None
    """the split to read from MTEB predictions"""
    document_pattern: str | None = None
    """the pattern of the document in the name of a passage"""
    only: str | None = None
    """a file of the queries that count"""
    exclude: str | None = None
    """a file of documents to drop from the rankings"""
    by: str | None = None
    """a column of the qrels, or a file, with the segment of each query"""
    weights: str | None = None
    """a column of the qrels, or a file, with the weight of each query"""
    subtopics: bool = False
    """whether judgments are by subtopic"""
    subtopic_weights: str | None = None
    """a file of the weights of subtopics"""

    @property
    def keywords(self) -> dict[str, Any]:
        """The options that public functions take as keywords, since their notes say what these did."""
        return {"duplicates": self.duplicates, "document_pattern": self.document_pattern}

    def opener(self, source: Source, feature: int | None) -> Callable[[], Run]:
        """Return a function that opens a run; it keeps the source of a pipe, which can be read again, alive."""
        return partial(
            open_run,
            source,
            format=self.run_format,
            columns=self.columns,
            duplicates=self.duplicates,
            feature=feature,
            ascending=self.ascending,
            split=self.split,
        )

    def for_measures(self, measures: Mapping[str, Measure]) -> "InputOptions":
        """Return the options, with subtopics if one of the measures needs them."""
        return self._replace(subtopics=self.subtopics or need_subtopics(measures))


class Inputs(NamedTuple):
    """The qrels, the runs to read, and the measures."""

    qrels: Qrels
    runs: dict[str, Callable[[], Run]]
    """a function that opens each run, by name"""
    sizes: dict[str, float]
    """the size of each run's file, for the progress bar"""
    measures: dict[str, Measure]

    def bar(self, later: Mapping[str, float] | None = None) -> AbstractContextManager[Progress]:
        """Return a progress bar over the runs and later work, whose size is a multiple of theirs."""
        total = sum(self.sizes.values())
        return show_progress(self.sizes | {name: share * total for name, share in (later or {}).items()})

    def name_baselines(self, baselines: tuple[str, ...], purpose: str) -> list[str]:
        """Return the names of the baselines, which may be given by name or file; refuse a single run."""
        if len(self.runs) < 2:
            raise click.UsageError(f"name at least two runs to {purpose}", click.get_current_context())
        return [name if name in self.runs else run_name(name) for name in baselines]


def show_progress(sizes: Mapping[str, float]) -> AbstractContextManager[Progress]:
    """Return a progress bar over pieces of work with these sizes; it does nothing without a terminal."""
    return Bar(sizes) if sys.stderr.isatty() else nullcontext(ignore)


class Request(NamedTuple):
    """The arguments and options about input data, as the user typed them."""

    qrels: str
    runs: tuple[str, ...]
    policies: dict[str, Any]
    """the options of Settings that the command has"""
    inputs: InputOptions
    measures: tuple[str, ...] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        """The policies and the options of inputs that the command's function takes as keywords."""
        return self.policies | self.inputs.keywords

    def read(self, judgments: Qrels | None = None) -> Inputs:
        """Read the qrels, unless they are given, and list the runs, which are opened later, one at a time."""
        ties, subtopics = self.policies.get("ties", "expected"), self.inputs.subtopics
        measures = choose_measures(self.measures, ties, subtopics=subtopics)
        runs, sizes = list_runs(self.qrels, self.runs, self.inputs)
        inputs = self.inputs.for_measures(measures)
        qrels = read_judgments(self.qrels, inputs, self.policies.get("threads"), judgments)
        return Inputs(qrels, runs, sizes, measures)

    def read_both(self, judge: str) -> tuple[Qrels, Inputs]:
        """Read human labels, and the inputs with the labels of a judge, whose queries are those that count."""
        human = self._replace(inputs=self.inputs._replace(only=None, by=None))
        labels = read_judgments(judge, self.inputs, self.policies.get("threads"))
        data = human.read()
        return data.qrels, data._replace(qrels=labels)


def read_judgments(
    path: str, inputs: InputOptions, threads: int | None = None, judgments: Qrels | None = None
) -> Qrels:
    """Return the qrels of the queries that count, with segments, weights and exclusions, as the options say."""
    refuse_measure(path)
    source = Source(path)  # kept alive, since segments may come from the same pipe
    if judgments is None:
        judgments = read_qrels(
            source,
            format=inputs.qrels_format,
            columns=inputs.columns,
            duplicates=inputs.duplicates,
            threads=threads,
            subtopics=inputs.subtopic_weights or inputs.subtopics,
        )
    only = None if inputs.only is None else read_queries(inputs.only)
    segments = None if inputs.by is None else read_segments(inputs.by, path, inputs.columns)
    weights = None if inputs.weights is None else read_weights(inputs.weights, path, inputs.columns)
    return select(judgments, only=only, segments=segments, exclude=inputs.exclude, weights=weights)


def list_runs(
    qrels: str, runs: tuple[str, ...], inputs: InputOptions
) -> tuple[dict[str, Callable[[], Run]], dict[str, float]]:
    """Return functions that open the runs, and their sizes, by name; each feature of a LETOR file is a run."""
    if not runs and not inputs.features:
        problem = "name a run to evaluate, or a --feature of a LETOR file; a file of ragas rows has both: name it twice"
        raise click.UsageError(problem, click.get_current_context())
    if [qrels, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once: give a file for the other")
    paths = list(runs) or [qrels]
    opened: dict[str, Callable[[], Run]] = {}
    sizes: dict[str, float] = {}
    for title, path in zip(run_names(paths), paths, strict=True):
        refuse_measure(path)
        source = Source(path)
        for feature in inputs.features or (None,):
            name = title if feature is None else f"{title}:{feature}"
            opened[name] = inputs.opener(source, feature)
            sizes[name] = float(os.path.getsize(path)) if os.path.isfile(path) else 1.0
    return opened, sizes


def refuse_measure(path: str) -> None:
    """Raise UsageError if a measure was given instead of a file, as in `-m nDCG@10 MAP`."""
    if os.path.exists(path):
        return
    with suppress(MeasureError):
        parse(path)
        raise click.UsageError(
            f"{path} is a measure, but a file is expected here: put a comma between measures, as in -m nDCG@10,{path}, "
            "or repeat -m",
            click.get_current_context(),
        )


def choose_measures(measures: tuple[str, ...], ties: str, *, subtopics: bool = False) -> dict[str, Measure]:
    """Return the selected measures, or the default ones; `all` selects every measure that supports the tie policy."""
    if "all" in measures:
        from gradely.measures import ALL, PLAIN

        every = ALL if subtopics else PLAIN
        return parse_all([measure.name for measure in every if measure.takes_expected or ties != "expected"])
    named = parse_all(measures or DEFAULT)
    first: dict[object, str] = {}
    for name, measure in named.items():
        if first.setdefault(measure.key, name) != name:
            note_beside(f"{name} is {first[measure.key]}, and is shown once")
    return {name: named[name] for name in first.values()}


def split_names(text: str) -> list[str]:
    """Return the names of measures separated by commas, except for commas in brackets and in names of measures.

    So do commas before whole numbers, which are further cut-offs and refused by `parse`.

    >>> split_names("nDCG@10,eGAP(g=[0.2, 0.8]), MAP"), split_names("utility.1,-1,0,0"), split_names("P.5,10,map")
    (['nDCG@10', 'eGAP(g=[0.2, 0.8])', 'MAP'], ['utility.1,-1,0,0'], ['P.5,10', 'map'])
    """
    if "," not in text:
        return [text.strip()]
    names = [name.strip() for name in re.split(r",(?![^(]*\))(?![^\[]*\])(?!\s*\d+\s*(?:,|$))", text)]
    if len(names) > 1:
        with suppress(MeasureError):
            parse(text)
            return [text]
    return names


def one_measure(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the only measure; refuse several."""
    names = [name for value in values for name in split_names(value)]
    if len(names) > 1:
        found = f"found {len(names)}: {', '.join(names)}"
        raise click.UsageError(f"{context.info_name} takes one measure; {found}", context)
    return names[0]


GROUPS = {
    title: tuple(names.split())
    for title, names in {
        "Measures": "measures measure control relatives differences",
        "Judges": "judge target slope paths raters how fill",
        "Unjudged documents": "listed simulate labels top deepest",
        "Tests": "groups baseline baselines collections drops margins minimum strict undecided difference power test"
        " correction family alpha rope simultaneous resamples",
        "Ties and queries": "n ties queries only by judged_only exclude exclude_self empty weights topics level"
        " min_quartile rates repeat least least_nonrelevant seed samples precision",
        "Input": "columns duplicates subtopics subtopic_weights queries_text docs_text qrels_format run_format features"
        " ascending document_pattern split virtual graded_by levels qrels_feature threads",
        "Output": "path form per_query worst best sort against depth orders pairs influence holes by_query figure page"
        " pool title summary junit save digits safe_csv help",
    }.items()
}
"""the groups of options in the help of every command, most used first"""


LEFT = 28
"""the width of the column of flags in help texts; longer flags have a line of their own"""


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group; options without a group come first, since they belong to this command alone."""
        every = (option for option in self.get_params(ctx) if isinstance(option, click.Option))
        records = {name_option(option): record for option in every if (record := option.get_help_record(ctx))}
        grouped = {name for names in GROUPS.values() for name in names}
        own = tuple(name for name in records if name not in grouped)
        left = max(len(flag) for flag, _ in records.values() if len(flag) <= LEFT)
        for title, names in {"Options": own, **GROUPS}.items():
            rows = [(records[name][0].ljust(left), records[name][1]) for name in names if name in records]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=left)


def name_option(option: click.Option) -> str:
    """Return the name of an option in GROUPS, which is its keyword or `help`."""
    return "help" if "--help" in option.opts else str(option.name)


command = partial(click.command, cls=GroupedCommand)
"""click.command with grouped options"""
PICTURES = ("svg", "png")
Command = TypeVar("Command", bound=Callable[..., Any])


def pack(kind: Callable[..., Any], name: str, keys: tuple[str, ...], command: Command) -> Command:
    """Return the command with some of its keywords combined into one object."""

    @wraps(command)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        together = kind(**{key: keywords.pop(key) for key in keys if key in keywords})
        return command(*args, **keywords, **{name: together})

    return wrapper  # type: ignore[return-value]  # only its keywords differ


def add_options(command: Command, *options: Callable[[Any], Any]) -> Command:
    """Return the command with these options, in the order of its help."""
    for option in reversed(options):
        command = option(command)
    return command


def _split_measures(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return all names; a value may have several, separated by commas."""
    return tuple(name for value in values for name in split_names(value))


def files(command: Command) -> Command:
    """Add the arguments QRELS and RUNS."""
    return add_options(command, click.argument("qrels", type=FILE), click.argument("runs", nargs=-1, type=FILE))


def measures(
    command: Command,
    kind: StringParamType = MEASURE_OR_ALL,
    more: str = " 'all' stands for every measure that supports the tie policy.",
    default: Iterable[str] = DEFAULT,
) -> Command:
    """Add the option -m, which may be repeated."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        type=kind,
        metavar="MEASURE",
        callback=_split_measures,
        help=f"A measure, like nDCG@10 or 'AP(rel=2)', or several separated by commas; repeatable.{more} "
        f"[default: {', '.join(default)}]",
    )(command)


samples = click.option(
    "--samples",
    type=click.IntRange(min=4),
    default=SAMPLES,
    show_default=True,
    metavar="N",
    help="Number of random orders that --ties sampled draws per query; must be even.",
)
"""adds --samples, which must be applied after `settings`, since it is packed with them"""


def settings(*names: str) -> Callable[[Command], Command]:
    """Add the named options of SETTINGS, or all of them."""
    selected = [name for name in SETTINGS if name in names] if names else list(SETTINGS)

    def add(command: Command) -> Command:
        command = pack(dict, "policies", (*SETTINGS, "samples"), command)
        return add_options(command, *(SETTINGS[name] for name in selected))

    return add


def _columns(_context: click.Context, _parameter: click.Parameter, value: str | None) -> dict[str, str | None] | None:
    """Parse query=uid,document=iid into a dict; `label=` means that there are no labels."""
    if value is None:
        return None
    pairs = [pair.partition("=") for pair in value.split(",")]
    if not all(equals and role and (name or role.strip() == "label") for role, equals, name in pairs):
        raise click.BadParameter("expected query=NAME,document=NAME,label=NAME,score=NAME, or some of them")
    columns = {role.strip(): name.strip() or None for role, _, name in pairs}
    from gradely.data.column_roles import check_roles

    check_roles(columns)  # files whose columns have no names would not ask
    return columns


def inputs(command: Command, *, whole: bool = False) -> Command:
    """Add the options that say how to read the files and, unless `whole`, which queries and documents count."""
    return add_options(
        pack(InputOptions, "inputs", InputOptions._fields, command),
        qrels_format,
        *(() if whole else SUBTOPICS),
        *RUN_INPUTS,
        *(() if whole else SELECTION),
    )


def suite_inputs(command: Command) -> Command:
    """Add the options that say how to read the files of a suite, and --exclude."""
    return add_options(inputs(command, whole=True), SELECTION[1])


def runs_alone(command: Command) -> Command:
    """Add RUNS without QRELS, the options that say how to read them, and --only."""
    return add_options(
        pack(InputOptions, "inputs", InputOptions._fields, command),
        click.argument("runs", nargs=-1, type=FILE),
        *RUN_INPUTS,
        SELECTION[0],
    )


def request(command: Command) -> Command:
    """Add QRELS, RUNS and the options of inputs, combined with measures and settings into one object."""
    return files(inputs(pack(Request, "request", Request._fields, command)))


def output(command: Command, digits: int = 4, *, pictures: bool = False, others: tuple[str, ...] = ()) -> Command:
    """Add --format, --digits, --safe-csv and -o, which may name a picture if the command draws one.

    `others` are extensions of files that the command itself writes.
    """
    endings = ".csv, .tsv, .json, .md, .tex, .html or .txt"
    picture = ", or .svg or .png for a chart, with the text on standard output" if pictures else ""
    return add_options(
        pack(partial(_settle_output, pictures=pictures, others=others), "output", OutputOptions._fields, command),
        click.option(
            "--format",
            "form",
            type=FormatType([*FORMATS, "json"]),
            help="Output format; md and tex also work.  [default: by the extension of -o, else table]",
        ),
        click.option(
            "--digits",
            type=click.IntRange(0, 17),
            metavar="N",
            default=digits,
            show_default=True,
            help="Decimals in tables, Markdown, LaTeX and HTML; CSV, TSV and JSON have all digits.",
        ),
        click.option(
            "-o",
            "--output",
            "path",
            type=FILE,
            metavar="FILE",
            help=f"Write to a file; its extension sets the format: {endings}{picture}.",
        ),
        click.option(
            "--safe-csv",
            is_flag=True,
            expose_value=False,
            callback=lambda _context, _parameter, safe: SAFE.set(safe),
            help="In CSV and TSV, put ' before text that a spreadsheet would read as a formula: "
            "text that begins with = + - @.",
        ),
    )


def _settle_output(
    form: str | None, digits: int, path: str | None, *, pictures: bool, others: tuple[str, ...]
) -> OutputOptions:
    """Return the output options; the default format follows from the extension of the file, which must be known."""
    check_output(path)
    ending = (path or "").rpartition(".")[2].lower()
    picture = ending if pictures and ending in PICTURES else None
    if form is None and path not in (None, "-") and not picture and ending not in others:
        form = format_of_path(str(path))
    return OutputOptions(form or "table", digits, path, picture)


def choice(flag: str, choices: Iterable[str], default: str, text: str) -> Callable[[Command], Command]:
    """Return an option with a fixed set of choices."""
    return click.option(flag, type=click.Choice(list(choices)), default=default, show_default=True, help=text)


def count(flag: str, default: int, text: str, least: int = 1) -> Callable[[Command], Command]:
    """Return an option that takes an integer of at least `least`."""
    return click.option(
        flag, type=click.IntRange(min=least), default=default, show_default=True, metavar="N", help=text
    )


def read_numbers(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[float] | None:
    """Parse a list of numbers like 1,0.5,0.1."""
    try:
        return None if value is None else [float(number) for number in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected numbers separated by commas, like 1,0.5,0.1; found {value}") from None


def read_slope(_context: click.Context, _parameter: click.Parameter, value: str) -> str | int:
    """Return the slope as public functions take it."""
    return 1 if value == "1" else value


slope = click.option(
    "--slope",
    type=click.Choice(["auto", "least-squares", "1"]),
    default="auto",
    show_default=True,
    callback=read_slope,
    help="How closely the means follow the judge. auto: as estimated from the human labels, with intervals calibrated "
    "on the judge's values; least-squares: the textbook estimate; 1: fully.",
)
judge = click.option(
    "--judge",
    type=FILE,
    metavar="QRELS",
    help="Labels of a judge, such as a language model, for more queries than people judged; both are combined as in "
    "`gradely estimate`.",
)
alpha = click.option(
    "--alpha", type=float, metavar="LEVEL", default=0.05, show_default=True, help="Significance level."
)
holes = click.option(
    "--holes",
    is_flag=True,
    help="Show what the labels of unjudged documents could change; this reads the runs again.",
)
QRELS_FORMATS = [name for name in INPUTS if name != "msmarco"]  # which has only runs
qrels_format = click.option(
    "--qrels-format",
    type=click.Choice(QRELS_FORMATS),
    metavar="FORMAT",
    help=f"Format of the qrels: {', '.join(QRELS_FORMATS)}.",
)
queries_text = click.option(
    "--queries-text",
    type=FILE,
    metavar="FILE",
    help="Query texts to show: lines of an id, a tab and a text, or JSON Lines or CSV with id and text.",
)
docs_text = click.option(
    "--docs-text", type=FILE, metavar="FILE", help="Document texts to show, in the formats of --queries-text."
)
by_segment = click.option(
    "--by",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Show means by segment: a column of the qrels, or a table with columns query and segment.",
)
"""adds --by, which must be applied after `inputs`, since it is packed with them"""
RUN_INPUTS = (
    click.option(
        "--run-format", type=click.Choice(INPUTS), metavar="FORMAT", help=f"Format of the runs: {', '.join(INPUTS)}."
    ),
    click.option(
        "--feature",
        "features",
        type=click.IntRange(min=1),
        metavar="N",
        multiple=True,
        help="Feature of a LETOR file to rank by; repeatable.",
    ),
    click.option("--ascending", is_flag=True, help="Rank low values of --feature first, as for ranks or distances."),
    click.option(
        "--columns",
        callback=_columns,
        metavar="ROLE=NAME,…",
        help="Column names of tables, if they are unusual: query=uid,document=iid,label=r,score=est. label= means "
        "that there are no labels and every row is relevant.",
    ),
    click.option("--split", metavar="NAME", help="The split to read from MTEB predictions, like test or default/test."),
    click.option(
        "--document-pattern",
        metavar="REGEX",
        help="Merge passages in runs into documents: the group of this pattern matches the document id, as in "
        "'^(.*)#'. The best passage counts, unless --duplicates says otherwise.",
    ),
    choice("--duplicates", DUPLICATES, "error", "What to do with duplicate documents of a query in qrels and runs."),
)
"""the options of inputs that say how to read runs"""
SUBTOPICS = (
    click.option(
        "--subtopics",
        is_flag=True,
        help="The qrels judge documents by subtopic: in the second field of TREC files, or in a column subtopic. "
        "Measures that need subtopics, like alpha_nDCG, read them anyway; others take the highest label.",
    ),
    click.option(
        "--subtopic-weights",
        type=FILE,
        metavar="FILE",
        help="Probability that a user means each subtopic: lines or a table of query, subtopic and weight.",
    ),
)
"""the options of inputs for judgments by subtopic"""
SELECTION = (
    click.option("--only", type=FILE, metavar="FILE", help="Evaluate only the queries in this file, one per line."),
    click.option(
        "--exclude",
        type=FILE,
        metavar="FILE",
        help="Before evaluation, drop these documents from the rankings: a table with columns query and document, such "
        "as the items of each user in the training data.",
    ),
)
weights = click.option(
    "--weights",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Query weights for the means: a column of the qrels, or a table with columns query and weight.",
)
"""adds --weights, which must be applied after `inputs`, since it is packed with them"""
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "ties": choice(
        "--ties",
        TIES,
        "expected",
        "Tie policy. expected: the exact mean over all orders of tied documents; trec: by document id, as trec_eval "
        "does; order: as in the input; random: shuffled with --seed; best, worst: the order that is best or worst for "
        "each measure; sampled: the exact mean if it is known, else the mean of random orders drawn with --seed.",
    ),
    "seed": count("--seed", 0, "Random seed.", least=0),
    "precision": choice(
        "--precision",
        PRECISIONS,
        "double",
        "Precision of scores; single rounds them before they are compared, as trec_eval 9 and older do.",
    ),
    "queries": choice(
        "--queries",
        QUERIES,
        "qrels",
        "Queries to average over: those of the qrels (a query missing from the run counts as 0), those in both, or "
        "those of the run.",
    ),
    "judged_only": click.option("--judged-only", is_flag=True, help="Before evaluation, drop unjudged documents."),
    "empty": choice(
        "--empty",
        EMPTY,
        "zero",
        "Queries without relevant documents: zero counts them as 0, skip leaves them out, one counts them as 1.",
    ),
    "exclude_self": click.option(
        "--exclude-self",
        is_flag=True,
        help="Before evaluation, drop documents whose id is that of their query.",
    ),
    "threads": click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of threads, which does not affect results.  [default: one per processor]",
    ),
}
"""the options of Settings by name, in the order of the help"""
