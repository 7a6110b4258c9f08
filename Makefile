# The two commands of the README are `make demo` and `make test`. Everything else here is a part of them or a report.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
PYTHON ?= python3
# Tools of the Python side live in a virtual environment outside the checkout, so that a clean clone finds them again.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/aerolane
TOOLS := $(CACHE)/tools
PEERS := $(CACHE)/peers

# make demo HOST=host:port [TASKS=256] [THREADS=32] [KEYS=100000] [DURATION=5]
HOST ?=
TASKS ?= 256
THREADS ?= 32
KEYS ?= 100000
DURATION ?= 5
WARMUP ?= 2

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## build everything, start a 3-node embedded cluster (or use HOST=host:port), benchmark aerospike-core and Aerolane
	$(CARGO) build --release --locked -p aerolane-embedded -p aerolane-bench
	$(TARGET)/release/aerolane-bench $(if $(HOST),--host $(HOST)) \
	    --client core-async,aerolane-async,aerolane-local,core-sync,aerolane-sync \
	    --tasks $(TASKS) --threads $(THREADS) --keys $(KEYS) --duration $(DURATION) --warmup $(WARMUP) --workload RU,50

.PHONY: test
test: lint test-rust test-python ## everything that CI runs

.PHONY: lint
lint: $(TOOLS)/.ready ## formats and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --locked --quiet
	$(TOOLS)/bin/ruff check .
	$(TOOLS)/bin/ruff format --check .

.PHONY: test-rust
test-rust: ## unit, integration, golden and fuzz-smoke tests (on the embedded cluster, or on AEROSPIKE_HOST=host:port)
	$(CARGO) test --workspace --locked

.PHONY: test-python
test-python: $(PEERS)/.ready ## other Aerospike clients, unmodified, on the embedded cluster
	$(CARGO) build --locked -p aerolane-embedded
	$(PEERS)/bin/python tests/python/peers/check_peers.py --binary $(TARGET)/debug/aerolane-embedded --require

.PHONY: deny
deny: ## licences and advisories of all dependencies (needs cargo-deny)
	$(CARGO) deny check

.PHONY: bench
bench: ## criterion microbenchmarks
	$(CARGO) bench -p aerolane-bench

.PHONY: bench-counts
bench-counts: ## heap allocations and instructions per operation, against the accepted figures
	crates/bench/counts.sh

$(TOOLS)/.ready: tests/python/requirements-tools.txt
$(PEERS)/.ready: tests/python/peers/requirements.txt
$(TOOLS)/.ready $(PEERS)/.ready:
	@mkdir -p $(CACHE)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@
