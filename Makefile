# One word a command. Each installs what it needs into .venv.

PYTHON ?= python3
BIN := .venv/bin
PURE := games match contest wire bots catalogue analysis
PURE_TESTS := games match contest wire bots analysis contract golden test_catalogue.py
PIP := .venv/.pip
PACKAGES := .venv/.packages
CLIENTS := .venv/.clients
READY := $(PACKAGES) $(CLIENTS)

PYTEST := $(BIN)/python -m pytest
PARALLEL := -n auto --dist worksteal
CORES := $(shell getconf _NPROCESSORS_ONLN)
# More stages than cores, since many tests wait. Each has a worker for every two cores: every further worker of a stage
# collects all of its tests again.
JOBS := $(shell expr $(CORES) + 2)
WORKERS := $(shell expr $(CORES) / 2)
STAGE := $(PYTEST) -p no:cacheprovider --durations=5 --durations-min=1 $(if $(filter-out 0 1,$(WORKERS)),-n $(WORKERS) --dist worksteal)
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# Compiling all modules anew takes a process of the tests 1 s.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup web types demo demo-cluster quick test templates check lint format fuzz faults chaos bench against attacks lock picture docs clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

# Neither the pages nor the docs need the packages, so all are made beside each other.
setup: ## make the virtual environment at .venv, and build the pages and the docs
	$(MAKE) --no-print-directory --jobs=3 $(READY) web docs

# The locks name every package, so pip need not look for what they require: it would take the newest release of one that
# is asked for with an extra, and then refuse it because it is not the locked one.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps

# An older pip takes three times as long to choose among the files of each package.
$(PIP): tools/pip.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) --require-hashes -r $<
	touch $@

# Compiling all modules takes as long as installing them, and most are never imported: Python compiles the others.
$(PACKAGES): $(PIP) requirements.lock pyproject.toml
	$(INSTALL) --no-compile --require-hashes -r requirements.lock
	$(INSTALL) --no-build-isolation -e .
	touch $@

$(CLIENTS): $(PIP) tools/graphiql.py tools/socketio.py tests/api/socketio_clients/package-lock.json
	$(BIN)/python tools/graphiql.py
	$(BIN)/python -m tools.socketio
	touch $@

web: $(PIP) ## build the pages into the package, if their sources changed
	$(BIN)/python -m tools.web

types: $(READY) ## write the pages' types of REST answers anew
	$(BIN)/python -m tools.web_types

demo: $(READY) web ## show a game of each kind in the terminal, then a small tournament
	$(BIN)/botdrome demo

demo-cluster: export PYTHONPATH := $(CURDIR)/src
demo-cluster: $(READY) web ## show three nodes on this machine, kill one of them, and see the games go on
	$(BIN)/python -m tools.demo_cluster

quick: lint ## ruff, mypy, layers and the tests of the pure layers, in a minute
	$(PYTEST) $(PARALLEL) $(PURE_TESTS:%=tests/%)

# The stages of `make test`, beside each other. Each prints its output when it ends; a failure does not stop the others.
# Those that wait most begin first: the others fill the cores beside them.
FOLDERS := server cli api
STAGES := stage-nodes stage-server stage-others stage-browser lint stage-cli stage-pure stage-api stage-simulations stage-pages

test: setup ## run the checks and all tests, with full branch coverage of the pure layers
	$(BIN)/python -m tools.bubblewrap
	$(BIN)/python -m tools.browser
	$(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) $(SYNC) $(STAGES)

.PHONY: $(STAGES)

stage-server:
	$(STAGE) tests/server --ignore=tests/server/nodes

stage-nodes:
	$(STAGE) tests/server/nodes

stage-cli stage-api:
	$(STAGE) $(@:stage-%=tests/%)

stage-others:
	$(STAGE) -m "not toolchain" $(PURE_TESTS:%=--ignore=tests/%) $(FOLDERS:%=--ignore=tests/%) --ignore=tests/test_layers.py

# Tests marked no_cover simulate much: measuring their coverage would take several times as long. They run apart, since they
# fill caches without being measured. Only their files are collected.
stage-pure:
	$(STAGE) -m "not no_cover" --cov-branch $(PURE:%=--cov=botdrome.%) --cov-report=term --cov-fail-under=100 $(PURE_TESTS:%=tests/%)

stage-simulations:
	$(STAGE) -m no_cover $(shell grep -rl --include=test_*.py no_cover $(PURE_TESTS:%=tests/%))

stage-pages:
	$(BIN)/python -m tools.web check
	$(BIN)/python -m tools.web test

stage-browser:
	$(STAGE) tests/browser

templates: $(READY) web ## build, test and play the templates and examples of the languages that `make test` leaves out
	$(BIN)/python -m tools.toolchains
	$(BIN)/python -m tools.bubblewrap
	$(PYTEST) $(PARALLEL) -m toolchain tests/templates tests/docs

check: lint ## ruff, mypy --strict (tests too), layers, the pages' types
	$(BIN)/python -m tools.web check

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(PYTEST) tests/test_layers.py

format: $(READY) ## let ruff put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

fuzz: export PYTHONPATH := $(CURDIR)/src
fuzz: $(READY) ## a million bad messages to a real server; takes some minutes
	$(BIN)/python -m tests.server.fuzzing 1000000

faults: export PYTHONPATH := $(CURDIR)/src
faults: $(READY) ## fail each call to the store, under load, and compare what was told with what is stored; takes 15 to 35 minutes
	$(BIN)/python -m tests.faults

chaos: export PYTHONPATH := $(CURDIR)/src
chaos: $(READY) ## fail nodes, NATS, PostgreSQL and runners under load, and compare what was told with what is stored; takes minutes
	$(BIN)/python -m tests.chaos
	$(BIN)/python -m tests.chaos.hosting_kills

bench: export PYTHONPATH := $(CURDIR)/src
bench: $(READY) ## measure, in CPU time; takes some minutes
	$(BIN)/python -m bench.machine
	$(BIN)/python -m bench.games
	$(BIN)/python -m bench.training
	$(BIN)/python -m bench.capacity
	$(BIN)/python -m bench.store
	$(BIN)/python -m bench.films
	$(BIN)/python -m bench.pages
	$(BIN)/python -m bench.nodes
	$(BIN)/python -m bench.inputs
	$(BIN)/python -m bench.scaling
	$(BIN)/python -m bench.hosting

against: export PYTHONPATH := $(CURDIR)/src
against: $(READY) ## compare the speed with an earlier version, `make against COMMIT=...`; takes a quarter of an hour
	$(BIN)/python -m bench.against $(COMMIT)

attacks: export PYTHONPATH := $(CURDIR)/src
attacks: $(READY) ## measure how much hostile clients of one address slow down the players of another; takes some minutes
	$(BIN)/python -m bench.attacks

picture: export PYTHONPATH := $(CURDIR)/src
picture: $(READY) web ## make the pictures of the docs anew; needs Chromium
	$(BIN)/python -m tools.terminal_picture
	$(BIN)/python -m tools.page_picture

docs: $(PIP) ## build the docs site into the package, if its sources changed; a broken link fails
	$(BIN)/python -m tools.docs

lock: $(READY) ## update requirements.lock, tools/docs.lock, tools/pip.lock and deploy/requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --generate-hashes --extra dev --upgrade --no-header --quiet -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --universal --generate-hashes --group docs --constraint requirements.lock --upgrade --no-header --quiet -o tools/docs.lock
	echo pip | $(BIN)/uv pip compile --universal --generate-hashes --upgrade --no-header --no-annotate --quiet -o tools/pip.lock -
	$(BIN)/uv pip compile --universal --generate-hashes --constraint requirements.lock --upgrade --no-header --quiet -o deploy/requirements.lock pyproject.toml

clean: ## remove the environment and what the tools left behind
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist site .cache
