#!/bin/sh
# Set everything up and pass every check: style, types, layers, spelling, tests.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
sh scripts/tools.sh
run() {
    echo "== $*" >&2
    tool=$1
    shift
    "$VENV/bin/$tool" "$@"
}
run ruff check .
run ruff format --check .
run mypy
run lint-imports --no-cache
run codespell src docs papers tests README.md CONTRIBUTING.md CHANGELOG.md
sh scripts/audit.sh
run python benchmarks/hostile.py --mutations 500
run pytest -q -n 2 "$@"
