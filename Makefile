# make run    start the engine on http://127.0.0.1:8000, data in ./data
# make test   create the environment, install what the tests need, run everything
# make setup  leave a ready .venv with .venv/bin/tablewright

PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000

.PHONY: run test setup check clean

run: setup
	$(BIN)/tablewright engine serve --port $(PORT) --data data

setup: .venv/ready

test: .venv/ready-for-tests check
	$(BIN)/pytest -n auto --dist loadfile

check: .venv/ready-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Debian ships venv apart from python3: install it when it is missing and we may.
.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv; }

.venv/ready: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/ready-for-tests: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
