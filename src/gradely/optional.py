"""Optional libraries, imported where they are used."""

from importlib import import_module
from typing import Any

from gradely.errors import MissingExtra


def optional(module: str, package: str, extra: str) -> Any:
    """Return an optional module, or say what brings it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(package, extra) from None


def altair() -> Any:
    """Return Altair."""
    return optional("altair", "Altair", "report")


def converter() -> Any:
    """Return what draws charts without a browser."""
    return optional("vl_convert", "vl-convert-python", "report")


def stats() -> Any:
    """Return SciPy's statistics."""
    return optional("scipy.stats", "SciPy", "stats")
