# Python 3.10+ and a C++ compiler are all that must be there; the rest is installed into .venv.
PYTHON ?= python3
PYTEST_ARGS ?= -n auto --dist loadfile
VENV := .venv
BIN := $(VENV)/bin
# Folders too: they are newer when a file is gone.
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -not -path '*/__pycache__*' -not -name '*.egg-info')

# The tests of the kernels, which run under sanitizers, too.
KERNELS := aggregation axis baselines baselines_dual_pixel bench bilateral blank candidates confidence core crew encc endings file_kernels filters match \
  methods outlines pipeline polish pool prepare priors refocus relief search subpixel uncertainty windows
KERNEL_TESTS := $(KERNELS:%=tests/test_%.py)
SANITIZERS := address undefined thread
SECONDS ?= 60

# Programs that only make wheel, audit and test-lowest use, in an environment of their own.
TOOLS := build/tools/bin
# The Pythons that make wheel tries; those that are not here are named and left out.
PYTHONS ?= 3.10 3.11 3.12 3.13 3.14

.PHONY: demo test lint docs bench fuzz sanitize sanitize-smoke $(SANITIZERS:%=sanitize-%) audit test-lowest soak wheel \
  wheel-aarch64 wheels same-map clean
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

# Strict: a broken link fails. Nothing comes from the net, neither when it is built nor when it is read.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "Open build/site/index.html."

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

wheel-aarch64: $(VENV)/.demo $(TOOLS)/.done
	tools/aarch64.sh $(TOOLS) dist

# The map of this machine, again on one with AVX2 and on one without AVX. It needs qemu-user. OpenBLAS may take the
# processor of the host for its own, so it is told.
same-map: $(VENV)/.demo
	mkdir -p build
	$(BIN)/python tools/same_map.py write build/pair.npz
	qemu-x86_64 -cpu Haswell $(BIN)/python tools/same_map.py compare build/pair.npz
	OPENBLAS_CORETYPE=Nehalem qemu-x86_64 -cpu Nehalem $(BIN)/python tools/same_map.py compare build/pair.npz

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
