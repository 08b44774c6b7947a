# Two commands matter: `make demo` sets up and shows the main job, `make test` sets up and tests.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
REPLAY_TOOLS := .venv-replay
REPLAY_TOOLS_READY := $(REPLAY_TOOLS)/.ready
# One more than there are cores, because many tests wait.
TEST_WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: help setup replay-tools demo test check format lint types layers bench experiments crash hostile dist clean

help:
	@echo "make setup   install into .venv with pinned versions"
	@echo "make demo    install, then crawl a simulated web on this machine (minutes the first time)"
	@echo "make test    install, then run everything that CI runs (= make check)"
	@echo "make format  format and fix the code with ruff"
	@echo "make bench   print the ratio of every benchmark"
	@echo "make experiments  run every experiment on generated pages (long)"
	@echo "make crash   kill every command and the crawl at their writes; nothing may be lost (long)"
	@echo "make dist    build the wheel and the source distribution into dist/"
	@echo "make hostile crawl misbehaving servers and print the cost (long)"

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "freshet needs Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is older than 3.11; say make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[charts,learning,parquet,serve]'
	$(BIN)/freshet compile
	@touch $(READY)

setup: $(READY)

# pywb, cdxj-indexer and py-wacz, which tests run as programs of their own.
$(REPLAY_TOOLS_READY): constraints-replay.txt $(READY)
	$(PYTHON) -m venv --without-pip $(REPLAY_TOOLS)
	$(BIN)/python -m pip --python $(REPLAY_TOOLS) install --quiet --constraint constraints-replay.txt --group replay-tools
	@touch $(REPLAY_TOOLS_READY)

replay-tools: $(REPLAY_TOOLS_READY)

demo: setup
	$(BIN)/freshet demo

test: check

check: setup replay-tools lint types layers
	$(BIN)/pytest -n $(TEST_WORKERS) --dist worksteal

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	@for file in $$(grep -l __main__ benchmarks/*.py); do \
	  $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

experiments: setup
	@for file in experiments/*/__main__.py; do \
	  $(BIN)/python -m experiments.$$(basename $$(dirname $$file)) || exit 1; done

crash: setup
	@for verb in take prune purge repair; do \
	  folder=$$(mktemp -d); \
	  echo "$$verb, killed at each of its writes and gone on with: failures, then how many writes"; \
	  PYTHONPATH=. $(BIN)/python tests/record/crash_driver.py $$folder $$verb 1; status=$$?; \
	  rm -rf $$folder; [ $$status = 0 ] || exit 1; done
	@echo "the crawl, killed at its writes and at any moment, compared with its servers' logs"
	@$(BIN)/python -m tests.fetch.crash --kills 200
	@for trouble in full-disk ending failing-disk clock; do \
	  echo "the crawl in trouble: $$trouble"; \
	  $(BIN)/python -m tests.fetch.crash.trouble $$trouble 4 || exit 1; done

hostile: setup
	$(BIN)/python -m tests.fetch.hostile

dist: setup
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	@ls -l dist

clean:
	rm -rf dist $(VENV) $(REPLAY_TOOLS) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
