#!/usr/bin/env bash
# Clients of other languages, from their registries, lose a node of an embedded cluster: those whose tools are here (Go, Node,
# Java with Maven). Usage: run.sh PROGRAM     (the path of aerolane-embedded)
set -euo pipefail
[[ $# == 1 ]] || { echo "usage: run.sh PROGRAM" >&2; exit 2; }
AEROLANE_EMBEDDED=$(realpath "$1"); export AEROLANE_EMBEDDED
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp -R "$here"/go "$here"/node "$here"/java "$work"

found() {
    command -v "$1" > /dev/null || { echo "$2: left out, no $1 here"; return 1; }
}

# `try NAME TOOL FOLDER COMMAND..`
try() {
    local name=$1 tool=$2 folder=$3
    shift 3
    found "$tool" "$name" || return 0
    cd "$work/$folder"
    "$@" > "$work/log" 2>&1 || { cat "$work/log"; echo "$name: failed"; exit 1; }
    echo "$name: passed"
}

try Go go go go test -count=1 ./...
try Node npm node bash -c 'npm install --silent && npm test --silent'
try Java mvn java mvn -q -B test
