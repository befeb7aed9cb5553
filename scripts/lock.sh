#!/bin/sh
# Write requirements.lock: every package that weft and its tests need, for every platform and
# Python that weft allows, with the hashes of its files. scripts/setup.sh installs from it.
# Usage: sh scripts/lock.sh   (needs uv: https://docs.astral.sh/uv)
set -eu
cd "$(dirname "$0")/.."
uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
    --generate-hashes --no-emit-index-url --no-annotate \
    --custom-compile-command "sh scripts/lock.sh" -o requirements.lock "$@"
