"""Gradely inside other tools, each as it is on PyPI: `make test-tools` installs and runs them all."""
