# What can be done with a copy of this repository. Each command sets up what it needs.
#
# `make check` before a commit; `make test` after cloning: whole tokenizers in the core, and small tests of
# Python; `make test-all` tests everything, and installs torch and others for that, some 6 GB.

PYTHON    ?= python3
CORES     := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
PROCESSES ?= $(shell echo $$(($(CORES) < 8 ? $(CORES) : 8)))  # of the Python tests
MINUTES   ?= 4  # of fuzzing, shared by its targets
REST      ?=    # --rest: make test-all leaves out what passed in make test
VENV      := .venv
BIN       := $(VENV)/bin
RUST      := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
CARGO      = PYO3_PYTHON=$(abspath $(BIN))/python cargo
RUST_HOME := $(abspath $(VENV))/rust
PYTEST     = $(BIN)/python -m pytest -q -n $(PROCESSES) --dist worksteal

.PHONY: setup optimised wheel dist demo check test quick-core-tests core-tests test-all stub types bare judges docs docs-serve newcomer fuzz lint format peers bench clean

# On a machine without Rust, make puts a toolchain into the environment.
ifeq ($(shell command -v cargo),)
export RUSTUP_HOME := $(RUST_HOME)/rustup
export CARGO_HOME := $(RUST_HOME)/cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)
endif

setup: $(VENV)/tools $(VENV)/built  ## jeton in a virtual environment, built quickly, and the tools

optimised: $(VENV)/optimised  ## jeton in a virtual environment, as users should have it

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "jeton needs Python 3.10 or newer: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/builder: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group builder
	touch $@

$(VENV)/tools: $(VENV)/builder tests/judges.txt
	$(BIN)/python -m pip install --quiet --group development --constraint tests/judges.txt
	touch $@

$(VENV)/fuzzing: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group fuzzing
	touch $@

$(VENV)/frameworks: $(VENV)/tools
	@echo "Installing what jeton is tested with: torch and others, some 6 GB at first."
	$(BIN)/python -m pip install --quiet --group frameworks --constraint tests/judges.txt
	touch $@

$(VENV)/site: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# The newest sentencepiece lacks calls that the one before had, and that jeton has.
$(VENV)/sentencepiece-0.2.1: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --no-deps --target $@ sentencepiece==0.2.1
	touch $@

# The newest tokenizers, beside the one that judges.
$(VENV)/next-tokenizers: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --upgrade --pre --no-deps --target $@ tokenizers
	touch $@

$(VENV)/peers: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group benchmarks --constraint tests/judges.txt
	touch $@

# Which build is in the environment: an optimised one serves the tests too, until a file changes.
$(VENV)/built: $(VENV)/builder $(RUST) | $(VENV)/tools
	@$(CARGO_IS_THERE)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet
	rm -f $(VENV)/optimised
	touch $@

$(VENV)/optimised: $(VENV)/builder $(RUST)
	@$(CARGO_IS_THERE)
	@echo "Building jeton, optimised: some three minutes, once."
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet
	touch $(VENV)/built $@

CARGO_IS_THERE = command -v cargo >/dev/null || { \
	echo "There is no Rust here: installing it into $(VENV)."; \
	$(BIN)/python -m pip install --quiet puccinialin && \
	$(BIN)/python -m puccinialin --location $(RUST_HOME) >$(VENV)/rust.log 2>&1 && \
	cargo --version; } || { \
	printf '%s\n' "Rust could not be installed, as $(VENV)/rust.log says. Install it, then run make again:" \
		"    curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y" \
		'    . "$$HOME/.cargo/env"'; exit 1; }

# A wheel in dist/ that is newer than the sources, and that pip can install here, saves the build.
wheel: | $(BIN)/python
	@for wheel in $$(ls -t dist/jeton-*.whl 2>/dev/null); do \
		[ -z "$$(find $(RUST) pyproject.toml python \( -name '*.py*' -o -path 'crates/*' -o -name 'Cargo.*' \) \
			-not -path '*/__pycache__*' -newer $$wheel -print -quit)" ] && \
		$(BIN)/python -m pip install --quiet --force-reinstall $$wheel 2>/dev/null && \
		echo "Installed $$wheel." && exit 0; done; $(MAKE) --no-print-directory optimised

demo: wheel  ## train, encode, decode, compare, on text that comes with jeton
	$(BIN)/jeton demo --force
	@echo "jeton is in $(VENV), optimised: $(BIN)/jeton, or  . $(BIN)/activate"

check: setup  ## what a change needs before a commit, in three minutes
	tests/check $(BIN)/python -n $(PROCESSES)

test:  ## whole tokenizers and small tests of Python, in ten minutes from a fresh clone
	$(MAKE) --jobs=2 $(VENV)/tools core-tests
	$(MAKE) setup
	$(MAKE) --jobs=2 quick-core-tests stub
	$(PYTEST) --size small
	@$(WITHOUT_SHARED)
	@echo "NOT run: what the lines above name; unit tests of the crates, and examples in their documentation;" \
		"annotations, which need torch. \`make test-all\` runs everything, \`make lint\` style," \
		"\`make docs\` the site."

quick-core-tests:  # whole tokenizers, random tests with fewer rounds
	JETON_ROUNDS=0.1 PROPTEST_CASES=64 $(CARGO) test --workspace --test '*' --quiet

core-tests:  # compiled while tools are downloaded, and the module from the same builds
	@$(CARGO_IS_THERE)
	$(CARGO) test --workspace --test '*' --no-run --quiet

test-all: setup $(VENV)/frameworks $(VENV)/sentencepiece-0.2.1  ## every test
	$(CARGO) test --workspace --quiet
	$(PYTEST) $(REST)
	PYTHONPATH=$(VENV)/sentencepiece-0.2.1 $(BIN)/python -m pytest -q tests/parity/test_sentencepiece_calls.py
	$(MAKE) types
	@$(WITHOUT_SHARED)

WITHOUT_SHARED = test -d ../shared/data || echo "NOT run:" \
	"$$(cat $$(find crates -name '*.rs') | grep -c 'not(shared_data), ignore')" \
	"tests of the core for want of ../shared, which is not part of jeton"

stub: setup  # of the compiled module
	$(BIN)/python -m mypy.stubtest jeton._core --mypy-config-file pyproject.toml

types: setup stub $(VENV)/frameworks  ## the annotations, and the stub against the compiled module
	$(BIN)/python -m mypy

bare: setup  ## a wheel where only its core dependencies are installed, or those and one extra
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin build --quiet --compatibility linux \
		--interpreter $(abspath $(BIN))/python --out "$$folder" && \
	JETON_WHEEL=$$(echo "$$folder"/jeton-*.whl) \
		$(BIN)/python -m pytest -q tests/project/test_bare_install.py

judges: $(VENV)/builder  ## moves the libraries that jeton is tested against to their newest versions
	$(BIN)/python tests/judges.py

docs: setup $(VENV)/site  ## the site of docs/, into target/site; a broken link is an error
	$(BIN)/zensical build --strict --clean
	$(BIN)/python site/search_order.py
	$(BIN)/python site/lessons.py
	$(BIN)/python site/live.py

docs-serve: docs  ## the same, to look at in a browser
	@echo "http://127.0.0.1:8000 (Ctrl-C ends it)"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory target/site 8000

newcomer:  ## types the course as printed, in a fresh environment: minutes, and PyTorch
	$(PYTHON) tests/newcomer.py

fuzz: setup $(VENV)/fuzzing  ## hostile files and texts at random, for MINUTES
	$(BIN)/python fuzz/run.py --minutes $(MINUTES)

lint: setup  ## style, and everything that a compiler may warn of
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/core/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	cd fuzz/core && cargo clippy --release --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python site/notice.py --check
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms \
		$(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/zizmor --offline --quiet .github

format: setup
	cargo fmt --all
	cargo fmt --manifest-path fuzz/core/Cargo.toml
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

peers: $(VENV)/peers $(VENV)/next-tokenizers  ## the libraries that `make bench` compares with

bench: peers optimised  ## measures anew: the pages of docs/benchmarks, but for prepare.md, and the README's picture
	for page in encode spans answers play; do \
		$(BIN)/python benchmarks/$$page.py --out docs/benchmarks || exit 1; done
	$(BIN)/python benchmarks/train.py
	$(BIN)/python site/illustrations.py

dist: $(VENV)/builder  ## a wheel for this machine and the source distribution, in dist/
	@$(CARGO_IS_THERE)
	$(BIN)/maturin build --release --sdist --out dist

clean:
	rm -rf $(VENV) target
