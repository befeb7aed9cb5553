#!/bin/sh
# Set everything up and compare fabrics for Llama 3 405B on 16,384 H100, as published.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
exec "$VENV/bin/weft" compare -f examples/llama3-405b-16k-h100-roce.yaml "$@"
