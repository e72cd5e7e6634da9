"""gradely demo."""

from pathlib import Path

import click

from gradely.cli.evaluate import shown
from gradely.cli.output import say, write_file
from gradely.demo import QUERIES, SYSTEMS, collection
from gradely.errors import InputError
from gradely.evaluation import evaluate


@click.command("demo")
@click.argument("folder", default="gradely-demo")
def command(folder: str) -> None:
    """Write a small collection made by the program to FOLDER, and evaluate it."""
    target = Path(folder)
    _write(target)
    results = {name: evaluate(target / "qrels.txt", target / f"{name}.run") for name in SYSTEMS}
    systems = "".join(f"  {name}.run: {what}\n" for name, what in SYSTEMS.items())
    say(
        f"{folder}: judgments of {QUERIES} queries with labels 0 to 3, and three runs:\n{systems}\n"
        f"$ gradely evaluate {folder}/qrels.txt {folder}/*.run\n\n"
        f"{shown(results, 'table', 4, per_query=False)}\n"
        f"Next: gradely explain {folder}/qrels.txt {folder}/popular.run q01 -m nDCG@10\n"
    )


def _write(target: Path) -> None:
    """Write the files; refuse to replace files that are not the demo's own."""
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be made: {error.strerror}") from None
    for name, text in collection().items():
        path = target / name
        if path.exists() and path.read_bytes() != text.encode():
            raise InputError(f"{path}: is there already and not from the demo; name another folder")
        write_file(text.encode(), str(path))
