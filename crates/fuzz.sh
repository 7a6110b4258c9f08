#!/usr/bin/env bash
# Runs every fuzz target for some seconds (20, or the first argument), beginning with the golden exchanges as seeds.
# Needs nightly Rust and cargo-fuzz (cargo install cargo-fuzz). A crash ends it; its input lies in fuzz/artifacts.
#   crates/fuzz.sh 600 wire/msgpack     one target, ten minutes
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-20}"
only="${2:-}"
command -v cargo-fuzz > /dev/null || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 1; }

for directory in crates/*/fuzz; do
    crate="$(basename "$(dirname "$directory")")"
    for file in "$directory"/fuzz_targets/*.rs; do
        target="$(basename "$file" .rs)"
        if [[ -n "$only" && "$only" != "$crate/$target" ]]; then continue; fi
        corpus="$directory/corpus/$target"
        [[ -d "$corpus" ]] || python3 crates/fuzz_seeds.py "$crate/$target" "$corpus"
        echo "== $crate/$target, $seconds s"
        (cd "$directory/.." && cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=4096)
    done
done
