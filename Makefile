# Python 3.10+ and a C++ compiler are all that must be there; the rest is installed into .venv.
PYTHON ?= python3
PYTEST_ARGS ?= -n auto --dist loadfile
VENV := .venv
BIN := $(VENV)/bin
# Folders too: they are newer when a file is gone.
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -not -path '*/__pycache__*' -not -name '*.egg-info')

# Programs that only make wheel, audit and test-lowest use, in an environment of their own.
TOOLS := build/tools/bin
# The Pythons that make wheel tries; those that are not here are named and left out.
PYTHONS ?= 3.10 3.11 3.12 3.13 3.14

.PHONY: demo test lint bench audit test-lowest soak wheel wheel-aarch64 wheels clean

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

audit: $(VENV)/.dev $(TOOLS)/.done
	$(TOOLS)/bandit --quiet --recursive src --configfile pyproject.toml
	$(TOOLS)/python tools/audit.py $(BIN)/python

# The lowest versions that pyproject.toml allows: of a plain installation, then of all extras.
test-lowest: $(TOOLS)/.done
	tools/lowest.sh $(TOOLS)/uv $(PYTHON)

soak: $(VENV)/.dev
	$(BIN)/python benchmarks/soak.py

# dist/ gets what this machine can build. Each wheel is tried where there is no compiler.
wheel: $(TOOLS)/.done
	$(TOOLS)/python tools/wheels.py dist $(PYTHONS)

wheel-aarch64: $(TOOLS)/.done
	tools/aarch64.sh $(TOOLS) dist

# All wheels of this system, as they are released: cibuildwheel in clean images.
wheels:
	$(PYTHON) -m pip install --quiet "cibuildwheel>=3.0"
	$(PYTHON) -m cibuildwheel --output-dir dist

$(TOOLS)/.done: tools/requirements.txt
	$(PYTHON) -m venv build/tools
	$(TOOLS)/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	touch $@

# .venv/.EXTRA is newer than the sources when the package is installed from them with that extra.
$(VENV)/.%: $(SOURCES) | $(BIN)/python
	@echo "Installing dualpix and what it needs, and compiling its core: this takes some minutes."
	$(BIN)/pip install --quiet --disable-pip-version-check ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist demo-out
