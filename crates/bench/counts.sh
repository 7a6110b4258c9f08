#!/usr/bin/env bash
# Heap allocations and instructions per operation, compared with crates/bench/accepted/counts.toml.
#   crates/bench/counts.sh                    print the table, fail where a figure got worse
#   crates/bench/counts.sh --accept           take the new figures (say why in the commit)
#   crates/bench/counts.sh --only lane/       some paths only
#   crates/bench/counts.sh --no-instructions  without valgrind
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --locked --quiet -p aerolane-embedded -p aerolane-bench
target="${CARGO_TARGET_DIR:-target}/release"
cpu="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -1)"
exec "$target/aerolane-bench-counts" --taken-with "$(rustc --version), $(uname -sm), ${cpu:-unknown CPU}" "$@"
