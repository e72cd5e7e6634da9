"""gradely demo."""

from pathlib import Path

import click

from gradely.cli.options import FOLDER
from gradely.cli.output import make_folder, say, terminal_width, write_file
from gradely.data.demo import QUERIES, RUNS, collection
from gradely.errors import InputError
from gradely.evaluation.evaluate import evaluate_runs
from gradely.settings import TiePolicy
from gradely.tables import fill

PAIR = ("lexical", "dense")


@click.command("demo")
@click.argument("folder", type=FOLDER, default="gradely-demo")
def command(folder: str) -> None:
    """Write a small synthetic collection to FOLDER, and evaluate it."""
    target = Path(folder)
    _write(target)
    results = evaluate_runs(target / "qrels.txt", [target / f"{name}.run" for name in sorted(RUNS)])
    width = terminal_width()
    listing = "".join(f"  {name}.run: {text}\n" for name, text in RUNS.items())
    head = fill(f"{folder}: qrels of {QUERIES} queries with labels 0 to 3, and three runs, whose scores are", width)
    moral = "\n".join(fill(sentence, width) for sentence in _moral(target))
    say(
        f"{head}\n{listing}\n"
        f"$ gradely evaluate {folder}/qrels.txt {folder}/*.run\n\n"
        f"{results.render(width=width)}\n{moral}\n\nNext:\n"
        f"  gradely explain {folder}/qrels.txt {folder}/lexical.run q01 -m nDCG@10\n"
        f"  gradely report {folder}/qrels.txt {folder}/*.run -o report.html\n"
    )


def _moral(target: Path) -> list[str]:
    """Return sentences about the effect of the order of tied documents on two runs."""

    def duel(ties: TiePolicy) -> str:
        runs = [target / f"{name}.run" for name in PAIR]
        first, second = evaluate_runs(target / "qrels.txt", runs, ["nDCG@10"], ties=ties).values()
        return f"{first['nDCG@10']:.4f} and {second['nDCG@10']:.4f}"

    return [
        f"The nDCG@10 of {PAIR[0]} and {PAIR[1]} is {duel('expected')}, averaged over all orders of tied documents.",
        f"With ties broken by document id (--ties trec), it is {duel('trec')}: the ids pick the winner.",
    ]


def _write(target: Path) -> None:
    """Write the files of the demo; refuse to replace other files."""
    make_folder(target)
    for name, text in collection().items():
        path = target / name
        if path.exists() and path.read_bytes() != text.encode():
            raise InputError(f"{path}: already exists and is not from the demo; name another folder")
        write_file(text.encode(), str(path))
