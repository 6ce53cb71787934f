# Python 3.10+ and a C++ compiler are all that must be there; the rest is installed into .venv.
PYTHON ?= python3
PYTEST_ARGS ?= -n auto --dist loadfile
VENV := .venv
BIN := $(VENV)/bin
# Folders too: they are newer when a file is gone.
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -not -path '*/__pycache__*' -not -name '*.egg-info')

.PHONY: demo test lint bench clean

demo: $(VENV)/.demo
	$(BIN)/dualpix demo -o demo-out --force

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/dualpix bench

# .venv/.EXTRA is newer than the sources when the package is installed from them with that extra.
$(VENV)/.%: $(SOURCES) | $(BIN)/python
	@echo "Installing dualpix and what it needs, and compiling its core: this takes some minutes."
	$(BIN)/pip install --quiet --disable-pip-version-check ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build demo-out
