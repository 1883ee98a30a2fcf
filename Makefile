# Everything that developers and CI do with Wirewright. Requires only Python 3.11 or newer (with venv) and make.

PYTHON ?= python3
UV := $(or $(shell command -v uv 2>/dev/null),.bootstrap/bin/uv)
BIN := .venv/bin
ROUNDS ?= 20
RUNS ?= 1000
# Two more than there are cores: some tests wait.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 2))')
# `part` leaves out slow tests, nine of ten rows of the largest tables and three of four examples of laws; `all` nothing.
PLAY ?= part
# How many tests that failed may be tried again, alone.
SECOND_TRY ?= 0
# What decides whether the types are right: pyproject.toml says what is checked.
TYPED := pyproject.toml uv.lock wirewright.py agent cli evals examples flows runtime server tools
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
# uv draws its bars on a terminal. Elsewhere its lines pass, except one for each of a hundred packages.
SYNC = if [ -t 2 ]; then $(UV) sync --frozen --python $(PYTHON); else \
	{ $(UV) sync --frozen --python $(PYTHON) 2>&1; echo "exit $$?"; } | while IFS= read -r line; do \
	case $$line in "exit "*) exit $${line\#exit };; " + "*|" - "*|" ~ "*) ;; *) echo "$$line";; esac; done; fi
export UV_PYTHON_DOWNLOADS := never
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install page run test test-all slow-tests test-langflow lint format bench bench-original evals soak soak-runs soak-evals kill-rate cheats false-alarms

help: ## List the targets.
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

install: .venv/.installed page ## Create .venv from the lock file, and build the page.

.bootstrap/bin/uv:
	@echo "Installing uv into .bootstrap (only the first time) ..."
	@$(PYTHON) -m venv .bootstrap || { echo "Python's venv module is missing; on Debian: apt install python3-venv"; exit 1; }
	@.bootstrap/bin/python -m pip install --disable-pip-version-check 'uv>=0.13,<1' || \
		{ echo "uv is missing: it could not be downloaded. Check the network and its proxy settings; try again."; exit 1; }

.venv/.installed: pyproject.toml uv.lock | $(UV)
	@echo "Installing the packages of uv.lock into .venv ..."
	@$(SYNC) || { echo "Packages are missing in .venv: see above. Without a network they cannot be downloaded; with one, try again."; exit 1; }
	@touch $@

# A page that cannot be built, as without a network, stops nothing else.
page: .venv/.installed
	@$(BIN)/python -m scripts.page || true

# The shell becomes the server, beside which the page is built; the build ends with it.
run: .venv/.installed ## Start the server and print its address; the page is built beside it.
	@echo "Starting the server ..."
	@$(BIN)/python -m scripts.page beside $$$$ & exec $(BIN)/wirewright serve

test: install ## Run the linters and the tests, side by side.
	@mkdir -p .cache; \
	$(MAKE) --no-print-directory lint >.cache/lint.log 2>&1 & lint=$$!; \
	$(PYTEST) --play $(PLAY) --second-try $(SECOND_TRY); tests=$$?; \
	wait $$lint; linted=$$?; \
	cat .cache/lint.log; \
	[ $$linted = 0 ] || echo "The linters failed."; \
	[ $$tests = 0 ] || echo "Tests failed."; \
	[ $$linted = 0 ] && [ $$tests = 0 ]

test-all: ## As test, with the slow tests and all rows of the largest tables, as CI does.
	@$(MAKE) --no-print-directory test PLAY=all

slow-tests: install ## Play all tests and record how long those take of which `make test` leaves some out.
	@$(PYTEST) --record-slow tests/tries/slow.txt

lint: install ## Check style, formatting and types.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/python -m scripts.unchanged types $(TYPED) -- $(BIN)/basedpyright
	@$(BIN)/python -m scripts.page check

format: install ## Format the code and apply safe fixes.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: install ## Run the benchmarks; AGAINST=COMMIT compares with another commit.
	@$(BIN)/python -m benchmarks $(if $(AGAINST),--against '$(AGAINST)')

bench-original: install .cache/langflow/.installed ## Compare with Langflow's own assistant (installs 2.4 GB).
	@$(BIN)/python -m benchmarks.original .cache/langflow/bin/langflow

test-langflow: install .cache/langflow/.installed ## Try a real Langflow (installs 2.4 GB).
	@WIREWRIGHT_TEST_LANGFLOW=$(CURDIR)/.cache/langflow/bin/langflow $(PYTEST) -m langflow tests/cli/langflow

.cache/langflow/.installed: | $(UV)
	@$(UV) venv --quiet --clear --python $(PYTHON) $(@D)
	@$(UV) pip install --quiet --python $(@D)/bin/python langflow==1.13.0
	@touch $@

evals: install ## Play the scenarios offline and print the scores.
	@$(BIN)/wirewright eval run --player oracle --gate evals/gates/oracle.yaml
	@$(BIN)/wirewright eval run --player demo --gate evals/gates/demo.yaml

soak: install ## Run the suite ROUNDS times in random order.
	@for round in $$(seq $(ROUNDS)); do \
		echo "Round $$round of $(ROUNDS)"; \
		$(PYTEST) -q -p no:cacheprovider || exit 1; \
	done

soak-runs: install ## Make RUNS runs (1000) with random kills of runs and of the engine; nothing may be left over.
	@SOAK_RUNS=$(RUNS) $(BIN)/python -m pytest -q -n0 -p no:cacheprovider tests/runtime/engine/test_soak.py

kill-rate: install ## Measure the graders on the mutants and near misses of all scenarios; goes on where it was stopped.
	@$(BIN)/python -m scripts.kill_rate

cheats: install ## Play the cheats and write what they passed into the manual.
	@$(BIN)/python -m scripts.cheats

false-alarms: install ## Judge right flows and write into the manual which of them failed.
	@$(BIN)/python -m scripts.false_alarms

soak-evals: install ## Play the scenarios ROUNDS times; the scores must not change.
	@$(BIN)/python -m scripts.soak_evals --rounds $(ROUNDS)
