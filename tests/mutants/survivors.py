"""The list of mutants that nobody could notice: what changes, and below it, indented, the reason why."""

from pathlib import Path

LIST = Path(__file__).parents[1] / "survivors.txt"


def read_survivors():
    """Return {change: reason}."""
    reasons, change = {}, None
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            reasons[change] = f"{reasons[change]} {line.strip()}".strip()
        elif line and not line.startswith("#"):
            change = line
            reasons[change] = ""
    return reasons


def verdict(survived, looked_at, reasons):
    """Return the survivors that are not listed, and those listed that are noticed by now, or whose line is gone."""
    new = [change for change in survived if change not in reasons]
    return new, [change for change in reasons if change in looked_at and change not in survived]
