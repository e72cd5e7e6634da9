"""How a test of an adapter gets its tool."""

import warnings
from importlib import import_module

import pytest


def tool(name):
    """Return a tool's module; where it is absent, skip the whole file of tests. Its own warnings are its business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(name)
        except ModuleNotFoundError:
            return pytest.skip(f"{name} is not installed: make test-tools", allow_module_level=True)
