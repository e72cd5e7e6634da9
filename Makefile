# make demo: install and run the demo.  make test: all checks.  make help: the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .bench
TOOLS := .tools
SPARK := .spark
LOWEST := .lowest
PYTHONS := .pythons
VERSIONS := 3.11 3.12 3.13 3.14
FOUND = $(strip $(foreach version,$(VERSIONS),$(shell python$(version) -c 'print($(version))' 2> /dev/null)))
BUILD := .build
MINUTES ?= 1
# What meets other libraries: frames, engines, files, arrays, tables, figures, statistics.
SMOKE := $(addprefix tests/,data/test_tables.py data/test_engines.py data/test_readers.py evaluation/test_scores.py \
	kernel/test_ids.py comparison/test_compare.py report/test_figures.py \
	cli/test_cli.py)
SEED ?= 0
# Where Python is told to keep no bytecode, each of the processes that the checks start would compile all files again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo build test style types test-arrays test-lowest test-pythons test-tools test-spark test-site site fuzz mutants docs papers learning bench bench-tables bench-spark clean

help:
	@echo "make demo         create the environment, install gradely, run the demo"
	@echo "make test         install the tools, then check style, types and imports, and run the tests"
	@echo "make style types  check style, imports and security; check types"
	@echo "make test-arrays  test the kernels on PyTorch and JAX (large packages)"
	@echo "make test-lowest  run a selection of tests with the lowest versions of dependencies that pyproject.toml allows"
	@echo "make test-pythons run this selection on each of Python $(VERSIONS) that is on the path"
	@echo "make test-tools   test the adapters with the real tools (large packages)"
	@echo "make test-spark   test lazy frames and executors on Spark"
	@echo "make build        build and check the distributions, install them, and test them as installed"
	@echo "make site         build the site into site/; it works offline"
	@echo "make test-site    build the site, and open every page in a browser"
	@echo "make fuzz         run every command on unusual and corrupted files; MINUTES=60 SEED=7 for a longer run"
	@echo "make mutants      change the code in small ways; fail if no test notices a change in the reviewed areas"
	@echo "make docs         write the generated pages and tables of the documents, and the stub of public names"
	@echo "make papers       run all experiments on DATA=folder of data sets, and record the verdicts"
	@echo "make learning     run the experiment f14-learning on DATA=folder, and draw its figure; a few minutes"
	@echo "make bench        compare the speed of gradely with other tools; a quarter of an hour on an idle machine"
	@echo "make bench-tables compare frames, Parquet, CSV and flat arrays with TREC text; a quarter of an hour"
	@echo "make bench-spark  measure time and shuffled bytes of 10, 30 and 100 million rows on Spark"
	@echo "make clean        remove everything that make has created"

demo: $(VENV)/installed
	$(BIN)/gradely demo
	@echo "gradely is in $(BIN): 'source $(BIN)/activate' puts it on the path"

test: $(VENV)/test-ready
	.ci/browser
	.ci/axe
	$(MAKE) --jobs=2 types style
	$(BIN)/pytest -n auto --dist worksteal

style: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src papers/src

types: $(VENV)/test-ready
	$(BIN)/mypy

test-arrays: $(VENV)/arrays-ready
	$(BIN)/pytest -n auto tests/kernel/test_arrays.py tests/kernel/test_ids.py tests/kernel/test_devices.py tests/kernel/test_fixed.py

test-lowest: $(LOWEST)/ready
	$(LOWEST)/bin/python -m pytest -n auto -W default $(SMOKE)

test-pythons:
	@for version in $(FOUND); do $(MAKE) --no-print-directory $(PYTHONS)/$$version/tested || exit 1; done
	@echo "tested on Python $(FOUND), of $(VERSIONS)"

test-tools: $(TOOLS)/ready
	$(TOOLS)/bin/python -m pytest -W default tests/tools
	$(TOOLS)/recommenders/bin/python -m pytest -W default $(foreach tool,ibis lenskit replay surprise,tests/tools/test_$(tool).py)

test-spark: $(SPARK)/ready
	.ci/java
	$(SPARK)/bin/python -m pytest -W default tests/spark

build: $(BUILD)/ready
	$(BUILD)/bin/python -m tools.release

site: $(VENV)/site-ready
	$(BIN)/python -m tools.site site

test-site: $(VENV)/test-ready site
	.ci/browser
	.ci/axe
	GRADELY_SITE=site $(BIN)/python -m pytest -n auto tests/site

fuzz: $(VENV)/test-ready
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

mutants: $(VENV)/test-ready
	$(BIN)/python -m tests.mutants

docs: $(VENV)/papers-ready
	$(BIN)/python -m tools.derived

papers: $(VENV)/test-ready
	$(BIN)/pip install --quiet --editable . --editable "./papers[learning]"
	$(BIN)/gradely papers run all --data "$(DATA)" --out gradely-papers
	$(BIN)/python -m tools.record gradely-papers
	$(BIN)/python -m tools.derived

learning: $(VENV)/test-ready
	$(BIN)/pip install --quiet --editable . --editable "./papers[learning]"
	$(BIN)/gradely papers run f14-learning --data "$(DATA)" --out gradely-papers
	cp gradely-papers/f14-learning/matrix.svg docs/inside/f14-learning.svg

bench: $(BENCH)/ready
	$(BENCH)/gradely/bin/pip install --quiet --force-reinstall --no-deps .
	$(BENCH)/peers/bin/python -m benchmarks.workloads $(BENCH)/data
	$(BENCH)/peers/bin/python -m benchmarks.run $(BENCH) $(BENCH)/data --json benchmarks/results.json --markdown docs/inside/benchmarks.md
	$(BENCH)/learning/bin/pip install --quiet --force-reinstall --no-deps .
	$(BENCH)/learning/bin/python -m benchmarks.learning docs/inside/benchmarks.md

bench-tables: $(BENCH)/tables-ready
	$(BENCH)/tables/bin/pip install --quiet --force-reinstall --no-deps .
	$(BENCH)/tables/bin/python -m benchmarks.tables $(BENCH)/data --out benchmarks/tables.txt
	for home in ranx RecTools; do $(BENCH)/$$home/bin/python -m benchmarks.table_peers $(BENCH)/data --out benchmarks/tables.txt; done

bench-spark: $(SPARK)/ready
	.ci/java
	$(SPARK)/bin/python -m benchmarks.spark $(BENCH)/spark

clean:
	rm -rf site dist $(BUILD) $(VENV) $(BENCH) $(LOWEST) $(PYTHONS) $(TOOLS) $(SPARK) .axe gradely-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .mutants

$(VENV)/made:
	$(PYTHON) -c 'import sys; sys.exit("gradely needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml
	$(BIN)/pip install --quiet --editable .
	touch $@

# Each of these installs in one go what those before it do, since pip takes seconds to build each distribution.
$(VENV)/papers-ready: $(VENV)/made pyproject.toml papers/pyproject.toml
	$(BIN)/pip install --quiet --editable . --editable ./papers
	touch $(VENV)/installed $@

$(VENV)/test-ready: $(VENV)/made pyproject.toml papers/pyproject.toml
	$(BIN)/pip install --quiet --editable . --editable ./papers --group test
	touch $(VENV)/installed $(VENV)/papers-ready $@

$(VENV)/site-ready: $(VENV)/papers-ready
	$(BIN)/pip install --quiet --editable '.[report]' --group site
	touch $@

$(VENV)/arrays-ready: $(VENV)/test-ready
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet jax
	touch $@

$(BUILD)/ready: pyproject.toml
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/pip install --quiet --upgrade "pip>=25.1"
	$(BUILD)/bin/pip install --quiet --group build --editable .
	touch $@

$(LOWEST)/ready: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) -m tools.lowest > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/pip install --quiet --requirement $(LOWEST)/requirements.txt
	$(LOWEST)/bin/pip install --quiet --no-deps --editable . --editable ./papers
	touch $@

.PRECIOUS: $(PYTHONS)/%/ready
$(PYTHONS)/%/tested: $(PYTHONS)/%/ready
	$(PYTHONS)/$*/bin/python -m pytest -n auto -W default $(SMOKE)

$(PYTHONS)/%/ready: pyproject.toml papers/pyproject.toml
	python$* -m venv $(PYTHONS)/$*
	$(PYTHONS)/$*/bin/pip install --quiet --upgrade "pip>=25.1"
	$(PYTHONS)/$*/bin/pip install --quiet --editable . --editable ./papers --group test
	touch $@

$(TOOLS)/ready: pyproject.toml papers/pyproject.toml tests/tools/requirements.txt tests/tools/recommenders.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --upgrade "pip>=25.1"
	$(TOOLS)/bin/pip install --quiet --editable . --editable ./papers
	$(TOOLS)/bin/pip install --quiet --requirement tests/tools/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/RecTools
	$(TOOLS)/RecTools/bin/pip install --quiet rectools  # wants an older NumPy than the others
	$(PYTHON) -m venv $(TOOLS)/recommenders
	$(TOOLS)/recommenders/bin/pip install --quiet --editable .
	$(TOOLS)/recommenders/bin/pip install --quiet --requirement tests/tools/recommenders.txt
	touch $@

$(SPARK)/ready: pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/pip install --quiet --upgrade "pip>=25.1"
	$(SPARK)/bin/pip install --quiet --editable '.[spark]' hypothesis 'pyspark[connect]' pytest
	touch $@

$(BENCH)/ready: pyproject.toml
	for home in gradely peers RecTools learning; do $(PYTHON) -m venv $(BENCH)/$$home; done
	$(BENCH)/gradely/bin/pip install --quiet '.[report]'  # a page is one of the workloads
	$(BENCH)/peers/bin/pip install --quiet torch==2.13.0
	$(BENCH)/peers/bin/pip install --quiet ir-measures polars pytrec-eval-terrier ranx scikit-learn torchmetrics
	$(BENCH)/RecTools/bin/pip install --quiet rectools  # wants an older NumPy than the others
	$(BENCH)/learning/bin/pip install --quiet ".[lightgbm]"
	touch $@

$(BENCH)/tables-ready: pyproject.toml
	for home in tables ranx RecTools; do $(PYTHON) -m venv $(BENCH)/$$home; done
	$(BENCH)/tables/bin/pip install --quiet . pandas polars pyarrow
	$(BENCH)/ranx/bin/pip install --quiet pandas ranx
	$(BENCH)/RecTools/bin/pip install --quiet rectools  # wants an older NumPy than the others
	touch $@
