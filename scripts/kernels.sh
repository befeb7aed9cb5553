#!/bin/sh
# Try the extension of numba (src/weft/kernel) with the oldest and the newest numba and numpy
# that pyproject.toml allows: compile it, and compare kernels with closed forms. Minutes.
# Usage: sh scripts/kernels.sh [PYTHON]
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3.11}
lowest() { sed -n "s/^ *\"$1>=\([0-9.]*\)\".*/\1/p" pyproject.toml | head -n 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
failed=0
for which in oldest newest; do
    if [ "$which" = oldest ]; then
        pins="numba==$(lowest numba).* numpy==$(lowest numpy).*"
    else
        pins="--upgrade numba numpy"
    fi
    "$python" -m venv "$scratch/$which"
    # shellcheck disable=SC2086 # the pins are words
    "$scratch/$which/bin/pip" install -q $pins pytest hypothesis || {
        echo "$which: not tried: its packages cannot be installed here" >&2
        continue
    }
    # shellcheck disable=SC2086 # as above
    "$scratch/$which/bin/pip" install -q $pins -e .
    "$scratch/$which/bin/python" -c 'import numba, numpy; print("numba", numba.__version__, "numpy", numpy.__version__)'
    XDG_CACHE_HOME=$scratch/$which/cache "$scratch/$which/bin/python" -m pytest -q \
        -p no:cacheprovider --import-mode=importlib \
        tests/unit/test_kernel.py tests/agreement/test_closed_forms_and_packets.py || failed=1
done
exit $failed
