"""The command line."""

from gradely.cli.main import main

__all__ = ["main"]
