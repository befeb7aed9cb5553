#!/bin/sh
# Build the wheel twice, compare the bytes, and write its bill of materials (CycloneDX) beside it.
# Usage: sh scripts/release.sh [FOLDER]   (default: dist; needs the packages of `.[release]`)
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
out=${1:-dist}
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[release]' >&2
# Files in a wheel carry the time of the last commit, not that of the build.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
for build in one two; do
    "$VENV/bin/python" -m build --wheel --outdir "$scratch/$build" . >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        exit 1
    }
done
cmp "$scratch"/one/*.whl "$scratch"/two/*.whl || {
    echo "the wheel is not reproducible: two builds of one commit differ" >&2
    exit 1
}
mkdir -p "$out"
cp "$scratch"/one/*.whl "$out"
"$VENV/bin/cyclonedx-py" requirements --output-reproducible --of JSON \
    -o "$out/weft.cdx.json" requirements.lock
(cd "$out" && sha256sum -- *.whl weft.cdx.json)
