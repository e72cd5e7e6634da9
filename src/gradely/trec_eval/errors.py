"""Quit: how trec_eval ends when something is wrong."""

from gradely.errors import GradelyError

USAGE, UNREADABLE, IMPOSSIBLE, NOTHING, BAD_ZSCORES = 1, 2, 4, 7, 255
"""exit codes: options and measures; files and parameters; queries that cannot be measured; no query in common; -Z"""


class Quit(GradelyError, ValueError):
    """An error with the exit code that trec_eval has for it."""

    def __init__(self, code: int, message: str) -> None:
        """Say what is wrong and how to leave."""
        super().__init__(message)
        self.code = code
