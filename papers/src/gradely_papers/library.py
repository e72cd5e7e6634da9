"""Library: the folder of real data that experiments work on."""

from pathlib import Path

from gradely.errors import InputError

FOLDER = "data"
"""where real data is looked for by default"""


class Library:
    """A folder of public data sets, each in a folder of its own."""

    def __init__(self, folder: str | Path = FOLDER) -> None:
        """Look in this folder; it need not be there for experiments that need no data."""
        self.folder = Path(folder)

    def path(self, name: str) -> Path:
        """Return the path of something in the library; say what is needed where it is not there."""
        path = self.folder / name
        if not path.exists():
            raise InputError(f"{path}: not found; --data names the folder that holds {name}")
        return path

    def find_missing(self, names: tuple[str, ...]) -> list[str]:
        """Return those that are not there; * and ** stand for any names."""
        return [name for name in names if not any(self.folder.glob(name))]
