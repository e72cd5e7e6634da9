"""Options that several commands share. Those that belong together reach a command as one object."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from gradely.cli.argument_types import FILE, MEASURE_OR_ALL
from gradely.data.read.column_roles import DUPLICATES
from gradely.data.read.formats import FORMATS as INPUTS
from gradely.evaluation.runs import DEFAULT
from gradely.settings import PRECISIONS, QUERIES, TIES, Settings

Command = TypeVar("Command", bound=Callable[..., Any])


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


def measures(command: Command) -> Command:
    """Add the option -m, which may be repeated."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        type=MEASURE_OR_ALL,
        metavar="MEASURE",
        help="A measure, like nDCG@10 or 'AP(rel=2)'; repeat for more. 'all' stands for every measure that takes "
        f"--ties. [default: {', '.join(DEFAULT)}]",
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


def inputs(command: Command) -> Command:
    """Add the options that say how to read the files."""
    recognised = "by default it is recognised."
    return add_options(
        pack(InputOptions, "inputs", InputOptions._fields, command),
        click.option("--qrels-format", type=click.Choice(INPUTS), help=f"Format of the qrels; {recognised}"),
        click.option("--run-format", type=click.Choice(INPUTS), help=f"Format of the runs; {recognised}"),
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
        click.option(
            "--duplicates",
            type=click.Choice(list(DUPLICATES)),
            default="error",
            show_default=True,
            help="What to do with a document that the qrels have twice for a query.",
        ),
        click.option("--only", type=FILE, metavar="FILE", help="A file with the queries that count, one per line."),
        click.option(
            "--exclude",
            type=FILE,
            metavar="FILE",
            help="A table of query and document: what to drop from the rankings first, such as items that users had in "
            "training.",
        ),
    )


def _choice(flag: str, choices: Mapping[Any, str], default: str, text: str) -> Callable[[Command], Command]:
    return click.option(flag, type=click.Choice(list(choices)), default=default, show_default=True, help=text)


alpha = click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
by_segment = click.option(
    "--by",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Show means by segment. Segments are a column of the qrels, or a table of query and segment.",
)
"""adds --by, which is read with the other options of inputs: it stands above them"""
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "ties": _choice(
        "--ties",
        TIES,
        "expected",
        "What happens to tied documents. expected: the mean over all their orders; trec: ordered by id, as trec_eval "
        "does; order: as in the input; random: ordered by --seed; best, worst: in the order that is best or worst for "
        "each measure.",
    ),
    "seed": click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is drawn at random."
    ),
    "precision": _choice(
        "--precision",
        PRECISIONS,
        "double",
        "Precision of scores: single rounds them before they are compared, as trec_eval 9 and older do.",
    ),
    "queries": _choice(
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
