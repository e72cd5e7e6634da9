# make demo: install and run the demo.  make test: all checks.  make help: the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-arrays clean

help:
	@echo "make demo         make the environment, install, run the demo"
	@echo "make test         everything the checks need, then style, types, imports and tests"
	@echo "make test-arrays  the kernels on PyTorch and JAX, which are heavy"
	@echo "make clean        remove what make has made"

demo: $(VENV)/installed
	$(BIN)/gradely demo

test: $(VENV)/test-ready
	.ci/browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto

test-arrays: $(VENV)/arrays-ready
	$(BIN)/pytest tests/test_arrays.py

clean:
	rm -rf $(VENV) gradely-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/made:
	$(PYTHON) -c 'import sys; sys.exit("gradely needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/test-ready: $(VENV)/installed
	$(BIN)/pip install --quiet --group test
	touch $@

$(VENV)/arrays-ready: $(VENV)/test-ready
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet jax
	touch $@
