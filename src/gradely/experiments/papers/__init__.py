"""The experiments of the papers that the measures come from, each to be run again."""

from importlib import import_module
from pathlib import Path

from gradely.data import Report
from gradely.data.source import ignore
from gradely.errors import InputError, did_you_mean
from gradely.experiments.papers.library import FOLDER, Library
from gradely.experiments.papers.outcome import Experiment, Outcome

PAPERS = {
    "S11": "Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011)",
    "F14": "Ferrante, Ferro, Maistro: Rethinking How to Extend Average Precision to Graded Relevance (2014)",
    "M08": "McSherry, Najork: Computing Information Retrieval Performance Measures Efficiently in the Presence of"
    " Tied Scores (2008)",
    "M16": "Moniz, Torgo, Vinagre: Data-Driven Relevance Judgments for Ranking Evaluation (2016)",
}
MODULES = (
    "s11.tables",
    "s11.levels",
    "s11.ohsumed",
    "s11.ratings",
    "f14.limits",
    "f14.tables",
    "f14.incomplete",
    "f14.power",
    "f14.axioms",
    "m08.enumeration",
    "m08.overhead",
    "m08.ties",
    "m16.days",
    "m16.figure2",
    "m16.news",
    "m16.outlook",
)
"""modules of this package; each lists its experiments in EXPERIMENTS"""


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of MODULES."""
    found = (import_module(f"{__name__}.{module}").EXPERIMENTS for module in MODULES)
    return {experiment.name: experiment for some in found for experiment in some}


def experiment(name: str) -> Experiment:
    """Return an experiment by name."""
    known = experiments()
    if name not in known:
        hint = did_you_mean(name, [*known, "all"])
        raise InputError(f"no experiment {name!r}: `gradely papers` lists them.{hint}")
    return known[name]


def reproduce(name: str, data: str | Path = FOLDER, *, seed: int = 0, progress: Report = ignore) -> Outcome:
    """Run an experiment of a paper again; `gradely papers` lists them.

    `data` is the folder of public data sets. The outcome has claims, tables (`sheets`) and altair charts (`figures`).
    """
    chosen, library = experiment(name), Library(data)
    check_data([chosen], library)
    return chosen.run(library, seed, progress)


def check_data(chosen: list[Experiment], library: Library) -> None:
    """Raise where an experiment lacks its data, before long work."""
    for each in chosen:
        missing = library.missing(each.needs)
        if missing:
            raise InputError(
                f"{each.name} needs real data that is not in {library.folder}: {each.data or ', '.join(missing)};"
                " --data names the folder that holds them"
            )
