#!/bin/sh
# Ask the advisory service of PyPI about every locked package; skipped where it is not reached.
# Usage: sh scripts/audit.sh  
set -eu
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
if [ ! -x "$VENV/bin/pip-audit" ]; then
    echo "audit skipped: pip-audit is not installed; sh scripts/setup.sh installs it" >&2
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT INT TERM
code=0
"$VENV/bin/pip-audit" --disable-pip --require-hashes -r requirements.lock \
    --progress-spinner off --timeout 15 >"$log" 2>&1 || code=$?
if [ "$code" != 0 ] && ! grep -q "Found [0-9]* known vulnerabilit" "$log"; then
    echo "audit skipped: the advisory service was not reached: $(tail -n 1 "$log")" >&2
    exit 0
fi
unknown=$(grep -c "could not be audited" "$log" || true)
if [ "$unknown" -gt 0 ]; then
    echo "audit skipped for $unknown packages: the index here has no advisories for them" >&2
fi
grep -v "could not be audited" "$log" >&2
exit "$code"
