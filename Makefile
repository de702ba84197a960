# make build   virtual environment, pinned install, dbt build on the raw logs (default: the bundled demo), report, summary
# make test    everything that CI runs
# make bench   accuracy, throughput and scale; results go to docs/benchmarks.md (needs HCAT_BENCHMARK_DATA)
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
HCAT_WAREHOUSE ?= warehouse
export HCAT_WAREHOUSE
export DBT_PROFILES_DIR := $(CURDIR)
export PYTHONHASHSEED := 0

.PHONY: build test lint bench report demo clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

# a failed gate still leaves a report and a summary behind, and the exit code says that it failed
build: .venv/installed
	mkdir -p "$$HCAT_WAREHOUSE"
	status=0; $(BIN)/dbt --quiet build || status=$$?; \
	$(BIN)/hcat report && $(BIN)/hcat summary || status=$$?; \
	exit $$status

report: .venv/installed
	$(BIN)/hcat report

lint: .venv/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint models macros tests analyses --disable-progress-bar

test: lint
	$(BIN)/pytest

bench: .venv/installed
	$(BIN)/python -m benchmarks

demo: .venv/installed
	$(BIN)/python demo/make_demo.py

clean:
	rm -rf target logs "$$HCAT_WAREHOUSE"/hcat.duckdb "$$HCAT_WAREHOUSE"/published "$$HCAT_WAREHOUSE"/slices "$$HCAT_WAREHOUSE"/report.html
