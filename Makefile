# make build   virtual environment, locked install, dbt build on the raw logs (default: the bundled demo), explorer, report, summary
# make test    everything that CI runs; with ROOM=weakness the fast tests of one room: Python tests, doctests, SQL style
# make test-set  from documents to queries.jsonl: topics, stratified sample, queries, variants (docs/test-generation.md)
# make grammar  from tables of the warehouse to queries with true answers (docs/grammar.md)
# make web     the bundles of the explorer and the rating desk, byte for byte (needs Node)
# make demo-experts  a second demo on real answers that experts judged (docs/experts.md), in warehouse/experts
# make sbom    a bill of materials of what hcat runs on, dist/sbom.json (docs/dependencies.md)
# make bench   accuracy, speed and behaviour; results go to docs/benchmarks.md (needs HCAT_BENCHMARK_DATA)
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
HCAT_WAREHOUSE ?= warehouse
# the demo is built where no logs are named; HCAT_DEMO=0 builds those that dbt_project.yml names
HCAT_DEMO ?= $(if $(HCAT_RAW_LOGS),0,1)
export HCAT_DEMO
# tests side by side; a file stays with one worker, so that its builds are shared
WORKERS ?= 2
export HCAT_WAREHOUSE
export DBT_PROFILES_DIR := $(CURDIR)
export PYTHONHASHSEED := 0

TEST_SET ?= $(HCAT_WAREHOUSE)/test_set
GRAMMAR ?= $(HCAT_WAREHOUSE)/grammar

.PHONY: build demo-experts test-set grammar test lint sbom bench report demo web clean

# what the locks name, file by file of known digest, by uv or else by pip (supply_chain/install.py): run-time packages to
# build, those of developers to test
INSTALL := @$(PYTHON) -m supply_chain.install
RUN_LOCKS := $(foreach step,uv build run cpu cuda mpnet,locks/$(step).txt)

.venv/installed: pyproject.toml supply_chain/install.py $(RUN_LOCKS)
	$(INSTALL) run
	@touch $@

.venv/installed-dev: .venv/installed locks/dev.txt
	$(INSTALL) dev
	@touch $@

.venv/sbom/installed: .venv/installed-dev locks/sbom.txt
	$(INSTALL) sbom
	@touch $@

# Spark is tested where Java is; elsewhere its tests are skipped and say so
SPARK := $(if $(shell command -v java),.venv/installed-spark)

.venv/installed-spark: .venv/installed-dev locks/spark.txt
	$(INSTALL) spark
	@touch $@

# what is made of logs is for this account alone, dbt's folders too
PRIVATE := umask 077;

# a failed gate, or logs without a score to explore, still leave a report and a summary; the exit code says that it failed.
# With exit code 2 nothing was built, and there is nothing to show. A new warehouse of the demo first gets the findings of an
# earlier evening, which the build then confirms or closes
build: .venv/installed
	@$(PRIVATE) mkdir -p "$$HCAT_WAREHOUSE"
	@$(PRIVATE) if test "$$HCAT_DEMO$$HCAT_RAW_LOGS" = 1 -a ! -e "$$HCAT_WAREHOUSE/hcat.duckdb"; then \
	echo "hcat: builds the findings of the demo as its logs stood on 5 July 2026"; \
	$(BIN)/python demo/first_build.py "$$HCAT_WAREHOUSE"; fi
	@$(PRIVATE) status=0; $(BIN)/hcat build --progress || status=$$?; test $$status -lt 2 || exit $$status; \
	echo "hcat: writes the explorer"; \
	$(BIN)/hcat explore || { status=$$?; rm -f "$$HCAT_WAREHOUSE/explorer.html"; }; \
	echo "hcat: writes the report"; \
	$(BIN)/hcat report && $(BIN)/hcat summary || status=$$?; \
	exit $$status

report: .venv/installed
	$(BIN)/hcat report

# a project of its own with hcat as its package; where HCAT_WAREHOUSE is named, its warehouse is there. The figures and tables of the
# page are written anew: `git diff` shows whether this build gives the same
EXPERTS := $(abspath $(if $(filter file,$(origin HCAT_WAREHOUSE)),warehouse/experts,$(HCAT_WAREHOUSE)))
demo-experts: export HCAT_DEMO := 0
demo-experts: export HCAT_WAREHOUSE := $(EXPERTS)
demo-experts: export DBT_PROFILES_DIR := $(CURDIR)/demo/experts
demo-experts: .venv/installed
	$(PRIVATE) mkdir -p "$$HCAT_WAREHOUSE"
	$(PRIVATE) cd demo/experts && bin="$(CURDIR)/$(BIN)" && "$$bin/dbt" --quiet deps && "$$bin/hcat" build --progress && \
	"$$bin/hcat" explore && "$$bin/hcat" report && "$$bin/hcat" summary
	$(BIN)/python demo/experts/figures.py "$$HCAT_WAREHOUSE/hcat.duckdb"

# tests of logs that are not built here are left out: a test set needs documents alone. Vars on the command line make dbt
# parse the project again, unless they have a folder of their own
test-set: .venv/installed
	$(PRIVATE) mkdir -p "$$HCAT_WAREHOUSE"
	$(PRIVATE) $(BIN)/hcat build --progress --select +tag:test_set --indirect-selection cautious --vars '{hcat_test_set: true}' \
		--target-path target/test_set
	$(BIN)/hcat test-set --warehouse "$$HCAT_WAREHOUSE" --output $(TEST_SET)/queries.jsonl

grammar: .venv/installed
	$(PRIVATE) mkdir -p "$$HCAT_WAREHOUSE"
	$(PRIVATE) HCAT_DEMO=1 $(BIN)/hcat build --progress --select +tag:grammar --indirect-selection cautious --vars '{hcat_grammar: true}' \
		--target-path target/grammar
	$(BIN)/hcat grammar --warehouse "$$HCAT_WAREHOUSE" --output $(GRAMMAR)/queries.jsonl
	$(PRIVATE) cp demo/relational/documents.jsonl demo/relational/chunks.jsonl $(GRAMMAR)/

lint: .venv/installed-dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint models macros tests analyses --disable-progress-bar
	$(BIN)/python -m supply_chain licences
	$(BIN)/python -m supply_chain advisories

sbom: .venv/sbom/installed
	$(BIN)/python -m supply_chain sbom

ifeq ($(ROOM),)
# in the order of `testpaths`, a file on one worker
test: $(SPARK) .venv/sbom/installed lint
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --doctest-modules python_udfs/hcat supply_chain
else
# a room is a folder of tests, of the package or of models, by the last part of its path
folders = $(patsubst %/.,%,$(wildcard $(addsuffix /.,$(1))))
ROOMS := $(sort $(filter-out __pycache__,$(notdir \
	$(call folders,tests/python/* python_udfs/hcat/* models/* models/*/* models/*/*/*))))
# worth the start of workers
LONG_ROOMS := calibration encoders report test_set
NO_ROOM := $(filter-out 1,$(words $(ROOM))$(filter-out $(ROOMS),$(ROOM)))
ROOM_PYTHON := $(call folders,tests/python/$(ROOM) python_udfs/hcat/$(ROOM)) $(wildcard python_udfs/hcat/$(ROOM).py)
ROOM_SQL := $(call folders,models/$(ROOM) models/*/$(ROOM) models/*/*/$(ROOM))

test: .venv/installed-dev
	$(if $(NO_ROOM),$(error no room $(ROOM); rooms: $(ROOMS)))
	$(if $(strip $(ROOM_PYTHON)),OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false \
		$(BIN)/pytest $(if $(filter $(ROOM),$(LONG_ROOMS)),-n $(WORKERS) --dist loadfile) --doctest-modules $(ROOM_PYTHON))
	$(if $(ROOM_SQL),$(BIN)/sqlfluff lint $(ROOM_SQL) --disable-progress-bar)
endif

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

demo: .venv/installed
	$(BIN)/python demo/make_demo.py

# the bundles of the explorer and the rating desk; developers need Node, users do not
web:
	cd web && npm ci --no-audit --no-fund && npm run check && npm run build

clean:
	rm -rf target logs "$$HCAT_WAREHOUSE"/hcat.duckdb "$$HCAT_WAREHOUSE"/published "$$HCAT_WAREHOUSE"/slices "$$HCAT_WAREHOUSE"/report.html "$$HCAT_WAREHOUSE"/explorer.html
