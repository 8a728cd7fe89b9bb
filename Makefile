# Six verbs, each sets up what it needs:
# make demo · make test · make lint · make mutants [MODULE=odometer.py] · make bench [NAME=noise] · make paper
PYTHON ?= python3
BIN := .venv/bin
NAME ?= all

.PHONY: help demo test lint mutants bench paper paper-quick clean

help:
	@echo "make demo    set up, then make a synthetic Adult table in ./expost-demo, on a ledger of its own"
	@echo "make test    set up, then run every test; ARGS='tests/unit -k ladder' for some"
	@echo "make lint    ruff, mypy --strict, import-linter"
	@echo "make mutants small faults put into the trusted base, which tests must notice; MODULE=odometer.py for one module"
	@echo "make bench   side-by-side benchmarks; NAME=noise for one of them, NAME=heads FEATURES=FILE for heads"
	@echo "make paper   the paper's figures and tables, recomputed into docs/paper.md"
	@echo "make paper-quick   a miniature of the same, in a temporary folder"
	@echo "make clean   remove the virtual environment and caches"

demo: .venv/.core
	@rm -f expost-demo.db expost-demo.db-wal expost-demo.db-shm
	@$(BIN)/expost ledger init expost-demo.db --dataset adult --cap "epsilon=3, delta=1e-6"
	@$(BIN)/expost demo --overwrite --ledger expost-demo.db --dataset adult || [ $$? -eq 3 ]  # 3: the ladder ended first, which is a result too

test: .venv/.dev .venv/.postgresql .venv/.java
	@$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: .venv/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

mutants: .venv/.dev
	@$(BIN)/python -m mutants $(MODULE)

bench: .venv/.dev
	@$(BIN)/python -m benchmarks.harness $(NAME)

paper: .venv/.dev
	@$(BIN)/python -m paper $(if $(FEATURES),--features '$(FEATURES)' --named '$(NAMED)')

paper-quick: .venv/.dev
	@$(BIN)/python -m paper --quick

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .mutants

.venv/bin/python:
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing expost (the first time takes about half a minute)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing expost and its test tools (PyTorch and JAX are large: the first time takes some minutes)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch .venv/.core $@

# Tests of ledgers on a server start one of their own, from Debian's package; where it cannot be had, they are skipped.
.venv/.postgresql: | .venv/bin/python
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
		(apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql) \
		>/dev/null 2>&1 || echo "PostgreSQL is not installed, so tests of ledgers on a server are skipped"
	@touch $@

# Tests of tables in Spark run on Debian's Java, all in one process; where it cannot be had, they are skipped.
.venv/.java: | .venv/bin/python
	@command -v java >/dev/null || \
		(apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends default-jre-headless) \
		>/dev/null 2>&1 || echo "Java is not installed, so tests of tables in Spark are skipped"
	@touch $@
