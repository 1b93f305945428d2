.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.installed
ARGS   ?=

.PHONY: help setup up down test check format docs bench bench-safety bench-compartments bench-failovers bench-gateway \
	screenshots lock clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(READY) ## Make .venv with everything in it

$(READY): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Chợ Phố needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q app migrations
	@touch $(READY)

up: setup ## Bring up the whole fleet and stay with it (Ctrl-C drains); ARGS='--replicas 3'
	@$(BIN)/chopho up $(ARGS)

down: setup ## Drain and end the fleet of this directory
	@$(BIN)/chopho down $(ARGS)

check: setup ## Format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One worker for each core of a small machine; tests that share servers go to one (tests/conftest.py), and the
# long ones begin, so that the short ones fill up what is left.
test: check ## Every check and every test, on real Redis, PostgreSQL and HAProxy
	$(BIN)/pytest -n 2 --no-loadscope-reorder $(ARGS)

format: setup ## Put the code into its one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup ## Write the references of the commands and the settings from the code
	$(BIN)/python docs/reference.py

bench: setup ## Measure the session layer beside its peers, each in an environment of its own
	$(BIN)/python -m bench.sessions.run $(ARGS)

bench-safety: setup ## Ask our session layer and its peers what an attacker and a race would ask
	$(BIN)/python -m bench.sessions.safety $(ARGS)

bench-compartments: setup ## Let a dependency hang, in compartments of its own and in one shared pool
	$(BIN)/python -m bench.compartments.run $(ARGS)

bench-gateway: setup ## Cost of a hop through the gateway, beside a local route and nginx; ARGS='--nginx PATH'
	$(BIN)/python -m bench.gateway.run $(ARGS)

bench-failovers: setup ## Lose a server behind the shop under load, and count what shoppers see
	$(BIN)/python -m bench.failovers.run $(ARGS)

screenshots: setup ## Pictures of the running shop into docs/screenshots; needs Chromium and Playwright
	$(BIN)/python docs/screenshots.py $(ARGS) docs/screenshots

lock: setup ## Resolve the dependencies again and write the locks
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url \
		--upgrade --all-extras --python-version 3.11 pyproject.toml -o requirements/dev.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url \
		--python-version 3.11 --constraint requirements/dev.lock pyproject.toml -o requirements/runtime.lock

clean: ## Remove what was made here (not the state of a fleet)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
