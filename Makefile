# What can be done with a copy of this repository. `make demo` and `make test` set up what they need.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUST   := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: setup demo test rust-test python-test types lint format bench clean

setup: $(VENV)/built  ## a virtual environment with jeton in it

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group development
	touch $@

$(VENV)/built: $(VENV)/tools $(RUST)
	@command -v cargo >/dev/null || { echo "jeton's core is written in Rust: install it from https://rustup.rs"; exit 1; }
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet
	touch $@

demo: setup  ## train, encode, decode, compare, on text that comes with jeton
	$(BIN)/jeton demo

test: rust-test python-test types  ## every test

rust-test: setup
	PYO3_PYTHON=$(abspath $(BIN))/python cargo test --workspace --quiet

python-test: setup  ## tests and doc examples
	$(BIN)/python -m pytest -q

types: setup  ## the annotations, and the stub against the compiled module
	$(BIN)/python -m mypy
	$(BIN)/python -m mypy.stubtest jeton._core --mypy-config-file pyproject.toml

lint: setup  ## style, and everything that a compiler may warn of
	cargo fmt --all --check
	PYO3_PYTHON=$(abspath $(BIN))/python cargo clippy --workspace --all-targets --quiet -- -D warnings
	PYO3_PYTHON=$(abspath $(BIN))/python RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/ruff format --check
	$(BIN)/ruff check

format: setup
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: setup  ## speed, on an optimised build
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet
	for program in benchmarks/*.py; do $(BIN)/python $$program || exit 1; done

clean:
	rm -rf $(VENV) target
