"""The command line."""

from gradely.cli.app import main

__all__ = ["main"]
