# Every target sets up what it needs; only Python 3.11 or newer and make are expected.
SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
# Two more than the cores of a small machine: tests wait for processes, too.
WORKERS ?= 4

SECONDS ?= 60
EXTRAS := --extra anthropic --extra apprise --extra demo --extra gym --extra http --extra otel --extra textproto --extra video --extra web

# In a fresh clone one process compiles first what each worker would compile for itself at once.
COMPILE = test -d tests/__pycache__ || $(BIN)/python -m pytest --collect-only -q $(ARGS) > /dev/null 2>&1

.PHONY: help setup demo test test-all fuzz lint types bench bench-compare exam golden release screenshots lock site docs clean

help: ## Say what each target does
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv with the switchboard command

$(READY): pyproject.toml virtual_phone/pyproject.toml requirements.lock requirements-tools.lock scripts/bootstrap.sh
	@sh scripts/bootstrap.sh $(VENV)
	@touch $(READY)

demo: $(READY) ## Open the console on virtual phones with the offline pilot
	@$(BIN)/switchboard demo $(ARGS)

test: lint ## Lint, types, and every test that is not slow (ARGS for pytest)
	@$(BIN)/mypy > $(VENV)/types.txt 2>&1 & types=$$!; \
	$(COMPILE); \
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS); tests=$$?; \
	wait $$types; typed=$$?; cat $(VENV)/types.txt; exit $$((tests ? tests : typed))

test-all: override ARGS += -m "slow or not slow"
test-all: test ## As test, with the slow ones: kills, mounts, browsers, random bursts

fuzz: $(READY) ## Throw random packets at a virtual phone and bytes at the console, live random sessions, for SECONDS (SEED=N repeats)
	@PYTHONPATH=virtual_phone/tests $(BIN)/python -m support.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) & \
	packets=$$!; \
	$(BIN)/python -m tests.console.terminal_input.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) & \
	bytes=$$!; \
	$(BIN)/python -m tests.sessions.lifecycle --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)); lives=$$?; \
	wait $$packets && wait $$bytes && exit $$lives

lint: $(READY) ## ruff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict, on the four packages, the benchmarks and the scripts
	@$(BIN)/mypy

bench: $(READY) ## Measure; prints the tables that the documents quote
	@$(BIN)/python -m bench $(ARGS)

bench-compare: $(READY) ## Run a benchmark of BASE=REV and of this build in turn: BASE=HEAD~20 ARGS=language
	@$(BIN)/python scripts/bench_compare.py $(BASE) $(ARGS)

exam: $(READY) ## Examine the virtual phone by programs that others wrote
	@$(BIN)/python scripts/exam.py $(ARGS)

screenshots: $(READY) ## Draw the pictures in screenshots/ from a running demo
	@$(BIN)/python scripts/screenshots.py $(ARGS)

golden: $(READY) ## Compare schemas, sentences, screens and sessions with those that are stored (ARGS=--keep stores them)
	@$(BIN)/python -m tests.golden $(ARGS)

release: $(READY) ## Build both distributions, check them, and stop before uploading
	@sh scripts/release.sh

lock: $(READY) ## Resolve both pyproject.toml again into their locks
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --group dev $(EXTRAS) --no-emit-package switchboard-phone \
		pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra ocr $(EXTRAS) \
		--no-emit-package switchboard-phone -c requirements.lock pyproject.toml \
		-o requirements-ocr.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra fleet $(EXTRAS) \
		--no-emit-package switchboard-phone -c requirements.lock pyproject.toml \
		-o requirements-fleet.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra datasets $(EXTRAS) \
		--no-emit-package switchboard-phone -c requirements.lock pyproject.toml \
		-o requirements-datasets.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra eval $(EXTRAS) \
		--no-emit-package switchboard-phone -c requirements.lock pyproject.toml \
		-o requirements-eval.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra openenv --extra demo --extra http --extra textproto \
		--no-emit-package switchboard-phone pyproject.toml -o requirements-openenv.lock
	@printf 'uv>=0.5\nhatchling>=1.27\neditables\n' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header -c requirements.lock - -o requirements-tools.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --all-extras --group virtual_phone/pyproject.toml:dev \
		-c requirements.lock virtual_phone/pyproject.toml -o virtual_phone/requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --group site -o requirements-site.lock

site: $(READY) ## Build the documentation site into build/site
	@sh scripts/site.sh $(BIN)/uv

docs: $(READY) ## Draw the pictures of the rooms from the imports
	@$(BIN)/python scripts/rooms.py

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
