"""Record the verdicts of the experiments that were run: `python -m tools.record FOLDER` after `gradely papers run`.

Experiments without results in the folder keep their recorded verdicts.
"""

import sys
from pathlib import Path

import gradely_papers
from gradely_papers.results import RECORD, read_entries, read_record, to_csv


def merge(folder: Path) -> str:
    """Return the record, in which the claims in a folder replace the recorded ones of the same experiments."""
    recorded, entries = read_record(), []
    for name, experiment in gradely_papers.experiments().items():
        made = folder / name / "claims.csv"
        if made.exists():
            entries += read_entries(made.read_text("utf-8"))
        elif experiment.optional:
            entries += experiment.leave_out(experiment.skip_reason)
        else:
            entries += [entry for entry in recorded if entry.experiment == name]
    return to_csv(entries)


if __name__ == "__main__":
    (Path(gradely_papers.__file__).parent / RECORD).write_text(merge(Path(sys.argv[1])), encoding="utf-8")
