"""Repeat the experiments of the papers that introduced gradely's measures."""

from importlib import import_module
from pathlib import Path

from gradely import InputError
from gradely.errors import did_you_mean
from gradely.settings import check_seed
from gradely_papers.experiment import (
    FOLDER,
    Assessment,
    Claim,
    Experiment,
    Figure,
    Item,
    Library,
    Misprint,
    Observation,
    Outcome,
    Sheet,
)
from gradely_papers.progress import Report, ignore

__version__ = "1.0.0.dev0"

__all__ = [
    "Assessment",
    "Claim",
    "Experiment",
    "Figure",
    "Item",
    "Misprint",
    "Observation",
    "Outcome",
    "Sheet",
    "experiments",
    "items",
    "misprints",
    "reproduce",
]

PAPERS = {
    "S11": "Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011)",
    "F14": "Ferrante, Ferro, Maistro: Rethinking How to Extend Average Precision to Graded Relevance (2014)",
    "M08": "McSherry, Najork: Computing Information Retrieval Performance Measures Efficiently in the Presence of"
    " Tied Scores (2008)",
    "M16": "Moniz, Torgo, Vinagre: Data-Driven Relevance Judgments for Ranking Evaluation (2016)",
}
FOLDERS = {"S11": "scheel2011", "F14": "ferrante2014", "M08": "mcsherry2008", "M16": "moniz2016"}
"""subpackages by paper, each with ITEMS and MISPRINTS"""
MODULES = (
    "scheel2011.tables",
    "scheel2011.levels",
    "scheel2011.ohsumed",
    "scheel2011.ratings",
    "ferrante2014.limits",
    "ferrante2014.tau",
    "ferrante2014.pools",
    "ferrante2014.power",
    "ferrante2014.axioms",
    "ferrante2014.learning",
    "mcsherry2008.enumeration",
    "mcsherry2008.overhead",
    "mcsherry2008.real_runs",
    "moniz2016.days",
    "moniz2016.figure1",
    "moniz2016.figure2",
    "moniz2016.news",
    "moniz2016.google",
    "moniz2016.outlook",
    "moniz2016.difference",
)
"""modules of this package, each with an EXPERIMENT; a new one needs only a line here"""


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of MODULES."""
    every = (import_module(f"{__name__}.{module}").EXPERIMENT for module in MODULES)
    return {experiment.name: experiment for experiment in every}


def items(paper: str) -> tuple[Item, ...]:
    """Return the definitions of a paper, and its other parts without a claim."""
    out: tuple[Item, ...] = import_module(f"{__name__}.{FOLDERS[paper]}").ITEMS
    return out


def misprints(paper: str) -> tuple[Misprint, ...]:
    """Return the misprints of a paper."""
    out: tuple[Misprint, ...] = import_module(f"{__name__}.{FOLDERS[paper]}").MISPRINTS
    return out


def experiment(name: str) -> Experiment:
    """Return an experiment by name."""
    by_name = experiments()
    if name not in by_name:
        hint = did_you_mean(name, [*by_name, "all"])
        raise InputError(f"no experiment {name!r}: `gradely papers` lists them.{hint}")
    return by_name[name]


def reproduce(name: str, data: str | Path = FOLDER, *, seed: int = 0, progress: Report = ignore) -> Outcome:
    """Repeat an experiment of a paper; `gradely papers` lists them.

    `data` is the folder of public data sets. The outcome has claims, tables (`sheets`) and altair charts (`figures`).
    """
    entry, library = experiment(name), Library(data)
    check_seed(seed)
    check_data([entry], library)
    return entry.run(library, seed, progress)


def check_data(selection: list[Experiment], library: Library) -> None:
    """Raise an error if an experiment lacks its data."""
    for entry in selection:
        missing = library.find_missing(entry.needs)
        if missing:
            raise InputError(
                f"{entry.name} needs real data that is not in {library.folder}: {entry.data or ', '.join(missing)};"
                " --data must name the folder that contains them"
            )
