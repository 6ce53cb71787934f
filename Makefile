# Python 3.10+ and a C++ compiler are all that must be there; the rest is installed into .venv.
PYTHON ?= python3
PYTEST_ARGS ?= -n auto --dist loadfile
VENV := .venv
BIN := $(VENV)/bin
# Folders too: they are newer when a file is gone.
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -not -path '*/__pycache__*' -not -name '*.egg-info')

# The tests of the kernels, which run under sanitizers, too.
KERNELS := aggregation axis baselines baselines_dual_pixel bench bilateral candidates confidence core encc filters match \
  methods pipeline polish prepare priors refocus relief search subpixel uncertainty
KERNEL_TESTS := $(KERNELS:%=tests/test_%.py)
SANITIZERS := address undefined thread
SECONDS ?= 60

.PHONY: demo test lint bench fuzz sanitize sanitize-smoke $(SANITIZERS:%=sanitize-%) clean
.SECONDARY:

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

# SECONDS=60, or INPUTS=1000000.
fuzz: $(VENV)/.dev
	PYTHONPATH=benchmarks $(BIN)/python -m fuzz $(if $(INPUTS),--inputs $(INPUTS),--seconds $(SECONDS))

# The core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.
sanitize: $(SANITIZERS:%=sanitize-%)

$(SANITIZERS:%=sanitize-%): sanitize-%: build/sanitize-%/.built
	benchmarks/sanitized $* $(BIN)/python -m pytest -p no:cacheprovider $(PYTEST_ARGS) $(KERNEL_TESTS)
	benchmarks/sanitized $* $(BIN)/python -m fuzz --only kernels --inputs 5000

sanitize-smoke: build/sanitize-undefined/.built
	benchmarks/sanitized undefined $(BIN)/python -m pytest -p no:cacheprovider $(PYTEST_ARGS) tests/test_core.py
	benchmarks/sanitized undefined $(BIN)/python -m fuzz --only kernels --seconds 10

build/sanitize-%/.built: $(SOURCES) | $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target build/sanitize-$*/site \
	  -C build-dir=build/sanitize-$*/cmake -C cmake.build-type=Debug -C cmake.define.DUALPIX_SANITIZE=$* .
	touch $@

# .venv/.EXTRA is newer than the sources when the package is installed from them with that extra.
$(VENV)/.%: $(SOURCES) | $(BIN)/python
	@echo "Installing dualpix and what it needs, and compiling its core: this takes some minutes."
	$(BIN)/pip install --quiet --disable-pip-version-check ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build demo-out
