"""gradely users."""

from dataclasses import asdict
from functools import partial

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE, MEASURE
from gradely.cli.inputs import read_inputs
from gradely.cli.options import InputOptions
from gradely.cli.output import list_notes, to_json, write_file, write_results
from gradely.cli.output_options import OutputOptions, output_options
from gradely.comparison.user_regions import UserRegions
from gradely.comparison.users import users
from gradely.settings import Settings
from gradely.tables import Table, render


@click.command("users")
@click.argument("qrels", type=FILE)
@click.argument("runs", nargs=-1, type=FILE)
@click.option(
    "-m",
    "--measure",
    default="eGAP",
    show_default=True,
    type=MEASURE,
    metavar="MEASURE",
    help="eGAP, GAP or xGAP, with a cut-off if you like.",
)
@options.settings()
@options.inputs
@partial(output_options, pictures=True)
def command(
    qrels: str, runs: tuple[str, ...], *, measure: str, settings: Settings, inputs: InputOptions, output: OutputOptions
) -> None:
    """Say for which users which of RUNS is best.

    Users differ in the level of relevance that they are content with. A population has a share of users for each level;
    eGAP, GAP and xGAP measure a run for a population. For two levels the shares at which runs change places are exact;
    for more, the populations are those of a fine grid. With -o FILE.svg or FILE.png a chart is drawn: lines for two
    levels, a triangle for three, bars for more.
    """
    data = read_inputs(qrels, runs, inputs, settings)
    with data.bar() as bar:
        regions = users(data.qrels, data.runs, measure, progress=bar, **asdict(settings))
    if output.picture:
        from gradely.comparison.charts import picture

        write_file(picture(regions.chart(), output.picture), str(output.path))
        output = output._replace(path=None)
    notes = list_notes([*regions.sentences(), regions.summary(), *regions.notes])
    write_results(show(regions, output), notes, output)


def show(regions: UserRegions, output: OutputOptions) -> str:
    """Return what was found in a format; for programs, one row per run."""
    if output.form == "json":
        return to_json(regions.as_dict())
    if output.form in ("csv", "tsv"):
        return render(Table.of(regions.records()), output.form)
    return "\n".join(render(table, output.form) for table in regions.tables(output.digits))
