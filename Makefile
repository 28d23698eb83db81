# Every target sets up what it needs; only Python 3.11 or newer and make are expected.
SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

SECONDS ?= 60

.PHONY: help setup demo test fuzz lint types bench exam screenshots lock docs clean

help: ## Say what each target does
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv with the switchboard command

$(READY): pyproject.toml requirements.lock scripts/bootstrap.sh
	@sh scripts/bootstrap.sh $(VENV)
	@touch $(READY)

demo: $(READY) ## Open the console on virtual phones with the offline pilot
	@$(BIN)/switchboard demo $(ARGS)

test: lint types ## Lint, types, tests, import doors and documentation checks
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

fuzz: $(READY) ## Throw random packets and shell lines at a virtual phone for SECONDS (SEED=N repeats)
	@$(BIN)/python -m tests.phone.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

lint: $(READY) ## ruff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict, on the three packages
	@$(BIN)/mypy

bench: $(READY) ## Measure; prints the tables that the documents quote
	@$(BIN)/python -m bench $(ARGS)

exam: $(READY) ## Examine the virtual phone by programs that others wrote
	@$(BIN)/python scripts/exam.py $(ARGS)

screenshots: $(READY) ## Draw the pictures in screenshots/ from a running demo
	@$(BIN)/python scripts/screenshots.py $(ARGS)

lock: $(READY) ## Resolve pyproject.toml again into requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --group dev pyproject.toml -o requirements.lock

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
