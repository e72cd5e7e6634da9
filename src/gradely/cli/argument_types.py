"""Types of arguments, which say how a shell completes them: files, folders, names of measures."""

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

CUT_OFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
"""what is offered after nDCG@"""


class PathType(StringParamType):
    """A path, taken as it is; where it cannot be read, the reader says why."""

    name = "path"

    def __init__(self, kind: str) -> None:
        """Say whether it is a `file` or a `dir`, as shells complete them."""
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Leave it to the shell, which knows its files."""
        return [CompletionItem(incomplete, type=self.kind)]


class MeasureType(StringParamType):
    """The name of a measure, taken as it is."""

    name = "measure"

    def __init__(self, *, words: tuple[str, ...] = ()) -> None:
        """Take other words, too, like `all`."""
        self.words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """Complete the name, in any case of letters; after @, a cut-off."""
        from gradely.measures import ALL

        name, at, cut_off = incomplete.partition("@")
        if at:
            ends = [str(k) for k in CUT_OFFS if str(k).startswith(cut_off)]
            return [CompletionItem(f"{name}@{end}") for end in ends]
        names = {measure.name: (measure.__doc__ or "").partition("\n")[0] for measure in ALL} | dict.fromkeys(
            self.words
        )
        return [CompletionItem(key, help=text) for key, text in names.items() if key.lower().startswith(name.lower())]


FILE, FOLDER = PathType("file"), PathType("dir")
MEASURE, MEASURE_OR_ALL = MeasureType(), MeasureType(words=("all",))
