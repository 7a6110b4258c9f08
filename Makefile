# The two commands of the README are `make demo` and `make test`. Everything else here is a part of them or a report.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
PYTHON ?= python3
# A Python without the GIL, for a second round of the Python tests: found here, or named (PYTHON_FT=path, PYTHON_FT=none).
PYTHON_FT ?= $(firstword $(shell command -v python3.14t) \
    $(wildcard $(HOME)/.local/share/uv/python/cpython-3.14*freethreaded*/bin/python3))
FREE_THREADED := $(filter-out none,$(PYTHON_FT))
WITHOUT_GIL := $(or $(FREE_THREADED),left out: no free-threaded Python found (name one: PYTHON_FT=path))
# Virtual environments live outside the checkout, so that a clean clone finds them again.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/aerolane
TOOLS := $(CACHE)/tools
PEERS := $(CACHE)/peers
# Other clients on a Python without the GIL: those that can be installed there.
PEERS_FT := $(CACHE)/peers-free-threaded
TESTS := $(CACHE)/tests
TESTS_FT := $(CACHE)/tests-free-threaded
DOCS := $(CACHE)/docs
WHEELS := $(TARGET)/wheels
EMBEDDED := $(WHEELS)/aerolane_embedded-*.whl
# What the wheels of `make wheel` are built with: `fast` builds quickly, `release` is what `pip install .` builds.
PROFILE ?= fast
# Python tests wait more than they compute, so several processes share them, file by file. Not on a real cluster, which they would
# share.
WORKERS ?= $(if $(AEROSPIKE_HOST),0,3)
# If everything fails, stop after a few tests instead of an hour.
PYTEST := -m pytest -q --maxfail 8 -n $(WORKERS) --dist loadfile
# Those beside other clients run where these are installed: see test-peers.
PYTEST_OWN := $(PYTEST) tests/python --ignore-glob 'tests/python/test_peers*.py'

# Which sets of features (package:feature, without the default ones) have to compile without a warning, too.
FEATURES := aerolane aerolane:dynamic-config aerolane:metrics aerolane:opentelemetry aerolane:prometheus aerolane:serialization aerolane-embedded aerolane-embedded:tls aerolane-embedded:bin aerolane-embedded:control

# make demo HOST=host:port [TASKS=256] [THREADS=32] [KEYS=100000] [DURATION=5]
HOST ?=
TASKS ?= 256
THREADS ?= 32
KEYS ?= 100000
DURATION ?= 5
WARMUP ?= 2

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## build everything, start three embedded nodes (or use HOST=host:port), benchmark aerospike-core and Aerolane
	$(CARGO) build --release --locked -p aerolane-embedded -p aerolane-bench
	$(TARGET)/release/aerolane-bench $(if $(HOST),--host $(HOST)) \
	    --client core-async,aerolane-async,aerolane-local,core-sync,aerolane-sync \
	    --tasks $(TASKS) --threads $(THREADS) --keys $(KEYS) --duration $(DURATION) --warmup $(WARMUP) --workload RU,50

.PHONY: test
test: lint docs test-rust test-python test-peers test-packages ## run everything that CI runs
	@echo "make test: all passed. Python tests: $$($(PYTHON) --version), beside other clients; without the GIL: $(WITHOUT_GIL)"

.PHONY: lint
lint: $(TOOLS)/.ready ## check formats and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings
	for of in $(FEATURES); do \
	    $(CARGO) clippy --quiet --locked --no-default-features -p $${of/:/ -F } -- -D warnings -A clippy::all -A clippy::pedantic; \
	done
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --all-features --locked --quiet
	$(TOOLS)/bin/ruff check .
	$(TOOLS)/bin/ruff format --check .

.PHONY: test-rust
test-rust: ## run the Rust tests (on embedded clusters, or on AEROSPIKE_HOST=host:port)
	$(CARGO) test --workspace --all-features --locked

.PHONY: wheel
wheel: $(TOOLS)/.ready ## build the Python wheels: client, embedded cluster, and the client for a free-threaded Python if one is found
	rm -rf $(WHEELS)
	$(TOOLS)/bin/maturin build --quiet --locked --profile $(PROFILE) --manifest-path crates/embedded/Cargo.toml --out $(WHEELS)
	$(TOOLS)/bin/maturin build --quiet --locked --profile $(PROFILE) --interpreter $(PYTHON) --out $(WHEELS)
	$(if $(FREE_THREADED),$(TOOLS)/bin/maturin build --quiet --locked --profile $(PROFILE) \
	    --interpreter $(FREE_THREADED) --out $(WHEELS))
	@ls -sh $(WHEELS)

.PHONY: test-python
test-python: test-types ## run the Python tests, with the GIL and (if such a Python is found) without it
	$(TESTS)/bin/python $(PYTEST_OWN)
ifneq ($(FREE_THREADED),)
	$(MAKE) --no-print-directory test-python-free-threaded
else
	@echo "Python tests without the GIL: $(WITHOUT_GIL)"
endif

# Not a target of its own for people: the wheel is built by what calls it.
.PHONY: test-python-free-threaded
test-python-free-threaded: $(TESTS_FT)/.ready
	$(TESTS_FT)/bin/pip install $(PIP) --no-deps --force-reinstall $(WHEELS)/aerolane-*-cp314t-*.whl $(EMBEDDED)
	$(TESTS_FT)/bin/python -Werror -c 'import sys, aerolane; sys.exit(sys._is_gil_enabled() and "aerolane switches the GIL on")'
	PYTHON_GIL=0 $(TESTS_FT)/bin/python $(PYTEST_OWN)

.PHONY: test-types
test-types: wheel $(TESTS)/.ready ## check the stubs: generated ones are up to date, mypy and pyright (both strict), stubtest
	$(TESTS)/bin/pip install $(PIP) --no-deps --force-reinstall $(WHEELS)/aerolane-*-abi3-*.whl $(EMBEDDED)
	$(TESTS)/bin/python -m mypy
	$(TESTS)/bin/python -m mypy --strict tests/python/typed_builders.py
	$(TESTS)/bin/pyright --pythonpath $(TESTS)/bin/python
	$(TESTS)/bin/python tests/python/make_stubs.py --check
	$(TESTS)/bin/python tests/python/check_stubs.py

.PHONY: test-peers
test-peers: wheel $(PEERS)/.ready ## run other Aerospike clients, unmodified, on the embedded cluster, and compare them with ours
	$(CARGO) build --locked -p aerolane-embedded
	$(PEERS)/bin/python tests/python/peers/check_peers.py --binary $(TARGET)/debug/aerolane-embedded --require
	$(PEERS)/bin/python tests/python/peers/check_transactions.py --binary $(TARGET)/debug/aerolane-embedded --require
	$(PEERS)/bin/pip install $(PIP) --no-deps --force-reinstall $(WHEELS)/aerolane-*-abi3-*.whl $(EMBEDDED)
	$(PEERS)/bin/python $(PYTEST) tests/python/test_peers*.py

.PHONY: test-packages
test-packages: wheel ## check what would be published: metadata, sizes and import time of the wheels; each crate, built from its package
	$(TOOLS)/bin/twine check --strict $(WHEELS)/*.whl
	@large=$$(find $(WHEELS) -name 'aerolane-*.whl' -size +8M); [[ -z $$large ]] || { echo "more than 8 MiB: $$large" >&2; exit 1; }
	@$(TOOLS)/bin/python tests/python/import_time.py $(WHEELS)/aerolane-*-abi3-*.whl
	$(MAKE) --no-print-directory publish-check DIRTY=--allow-dirty

.PHONY: test-languages
test-languages: ## run Go, Node and Java clients on the embedded cluster, if their tools are installed (needs the network)
	$(CARGO) build --locked --profile $(PROFILE) -p aerolane-embedded
	tests/languages/run.sh $(TARGET)/$(PROFILE)/aerolane-embedded

.PHONY: deny
deny: ## check licences, sources and advisories of all dependencies (needs cargo-deny, and the network)
	$(CARGO) deny --locked check licenses bans sources
	$(CARGO) deny --locked check advisories

# Crates that depend on each other are packed and built against each other before anything is sent.
.PHONY: publish-check publish
publish-check: ## check what `cargo publish` would send: every crate is built from its package
	$(CARGO) publish --workspace --locked --dry-run $(DIRTY)

publish:
	$(CARGO) publish --workspace --locked

# The toolchain is rustup's; what it builds lies apart, so that it does not displace what the usual one has built.
.PHONY: msrv
msrv: ## build everything with the oldest supported Rust (rust-version in Cargo.toml; needs rustup)
	$(CARGO) +$(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) check --workspace --all-targets --locked --target-dir $(TARGET)/msrv

# SECONDS_EACH=600 make fuzz
SECONDS_EACH ?= 20
.PHONY: fuzz
fuzz: ## run every fuzz target briefly (needs nightly Rust and cargo-fuzz)
	crates/fuzz.sh $(SECONDS_EACH)

.PHONY: bench
bench: ## run the criterion microbenchmarks
	$(CARGO) bench -p aerolane-bench

# make bench-report [QUICK=1] [HOST=host:port LABEL="Aerospike 8.1, SSD"] [REPORT=folder] [SECTIONS=single,rust]
# SERVICES=1: installs what services need; MODEL=1: and PyTorch (large, see pyproject.toml). Without them they are left out.
# SERVERS='Aerospike 8.1, SSD=host:port;Aerospike 8.1, three nodes=host:port': the main cells there, too.
REPORT ?= bench-report
LABEL ?=
SECTIONS ?=
SERVICES ?=
MODEL ?=
SERVERS ?=
.PHONY: bench-report
bench-report: $(PEERS)/.ready $(if $(FREE_THREADED),$(PEERS_FT)/.ready) ## compare with the other Python and Rust clients in many cases, as a web page; QUICK=1: a few of them, 4 minutes
	$(MAKE) --no-print-directory wheel PROFILE=release
	$(CARGO) build --release --locked -p aerolane-bench
	$(PEERS)/bin/pip install $(PIP) --no-deps --force-reinstall $(WHEELS)/aerolane-*-abi3-*.whl $(EMBEDDED)
	$(PEERS)/bin/pip install $(PIP) -r tests/python/requirements-report.txt \
	    $(if $(SERVICES)$(MODEL),-r tests/python/requirements-services.txt) $(if $(MODEL),-r tests/python/requirements-model.txt)
	$(if $(FREE_THREADED),$(PEERS_FT)/bin/pip install $(PIP) --no-deps --force-reinstall $(WHEELS)/aerolane-*-cp314t-*.whl $(EMBEDDED))
	AEROLANE_BENCH=$(TARGET)/release/aerolane-bench $(PEERS)/bin/python -m aerolane.bench report $(if $(QUICK),--quick) \
	    $(if $(FREE_THREADED),--other-python $(PEERS_FT)/bin/python) --output $(REPORT) \
	    $(if $(wildcard $(REPORT)/rounds.jsonl),--resume) $(if $(HOST),--hosts $(HOST) --label '$(LABEL)') \
	    $(if $(SECTIONS),--sections $(SECTIONS)) $(if $(SERVERS),--server '$(subst ;,' --server ',$(SERVERS))')

.PHONY: bench-counts
bench-counts: ## count heap allocations and instructions per operation, and compare with the accepted figures
	crates/bench/counts.sh

# test-python and test-rust run the examples of its pages. The variable silences an advertisement of the theme.
.PHONY: docs
docs: $(DOCS)/.ready ## check spelling and build the documentation site in target/site; broken links are errors
	$(DOCS)/bin/codespell docs examples python crates tests *.md mkdocs.yml Makefile
	$(DOCS)/bin/python docs/links.py --offline
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --site-dir $(abspath $(TARGET))/site
	@echo $(TARGET)/site/index.html

.PHONY: links
links: ## check links to other sites (needs the network; `make docs` checks those within the project)
	$(PYTHON) docs/links.py

PIP := --quiet --disable-pip-version-check
$(TOOLS)/.ready: tests/python/requirements-tools.txt
$(PEERS)/.ready: tests/python/peers/requirements.txt
$(PEERS_FT)/.ready: tests/python/peers/requirements-free-threaded.txt
$(DOCS)/.ready: docs/requirements.txt
$(TESTS)/.ready $(TESTS_FT)/.ready: tests/python/requirements.txt tests/python/requirements-report.txt
# These have no wheels for a Python without the GIL: their tests are skipped there.
$(TESTS)/.ready: tests/python/requirements-frames.txt
$(TESTS_FT)/.ready $(PEERS_FT)/.ready: INTERPRETER = $(FREE_THREADED)
$(TOOLS)/.ready $(PEERS)/.ready $(PEERS_FT)/.ready $(DOCS)/.ready $(TESTS)/.ready $(TESTS_FT)/.ready: INTERPRETER ?= $(PYTHON)
$(TOOLS)/.ready $(PEERS)/.ready $(PEERS_FT)/.ready $(DOCS)/.ready $(TESTS)/.ready $(TESTS_FT)/.ready:
	@mkdir -p $(CACHE)
	$(INTERPRETER) -m venv --clear $(@D)
	$(@D)/bin/pip install $(PIP) $(addprefix -r ,$(filter %.txt,$^))
	@touch $@
