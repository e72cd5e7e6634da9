"""The list of mutants that nobody could notice: some changes, and below them, indented, the reason why."""

from pathlib import Path

from tests.mutants.changes import SOURCE

LIST = Path(__file__).parents[1] / "survivors.txt"


def read_list():
    """Return {change: reason}."""
    reasons, changes = {}, []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            reasons.update({change: f"{reasons.get(change, '')} {line.strip()}".strip() for change in changes})
        elif line and not line.startswith("#"):
            changes = [*([] if changes and changes[-1] in reasons else changes), line]
    return reasons | {change: "" for change in changes if change not in reasons}


def judge(survived, looked_at, reasons):
    """Return the survivors that are not listed, and those listed that are noticed by now."""
    new = [change for change in survived if change not in reasons]
    return new, [change for change in reasons if change in looked_at and change not in survived]


def find_gone(reasons, mutants, paths):
    """Return the listed changes of some files that cannot be made any more."""
    names, files = {mutant.name for mutant in mutants}, {str(path.relative_to(SOURCE)) for path in paths}
    concerned = [change for change in reasons if file_of(change) in files or not (SOURCE / file_of(change)).exists()]
    return [change for change in concerned if change not in names]


def file_of(change):
    """Return the file of a change, which its name begins with."""
    return change.split(":")[0].split(" ")[0]
