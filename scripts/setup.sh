#!/bin/sh
# Make .venv and install weft with what its tests need. Quick when nothing has changed.
# Usage: . scripts/setup.sh   (from the repository root; leaves $VENV set)
set -eu
VENV="${VENV:-.venv}"

find_python() {
    for name in python3.11 python3.12 python3.13 python3.14 python3; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "$name"
            return
        fi
    done
    echo "weft needs Python 3.11 or newer; on Debian: apt-get install python3 python3-venv" >&2
    exit 2
}

# Debian ships venv apart from Python: fetch it where we may, otherwise say what to do.
make_venv() {
    "$1" -m venv "$VENV" >/dev/null 2>&1 && return
    rm -rf "$VENV"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        { apt-get update -qq && apt-get install -y -qq python3-venv; } >&2 &&
            "$1" -m venv "$VENV" >&2 && return
        rm -rf "$VENV"
    fi
    echo "cannot make a virtual environment; on Debian: sudo apt-get install python3-venv" >&2
    exit 2
}

[ -x "$VENV/bin/python" ] || make_venv "$(find_python)"
stamp=$(cat pyproject.toml requirements.lock | cksum | cut -d' ' -f1)
if [ "$(cat "$VENV/.weft-stamp" 2>/dev/null || true)" != "$stamp" ]; then
    echo "installing weft into $VENV (first run only) ..." >&2
    pip_install() { "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }
    # The packages of the lock file, whose hashes must be right, then weft itself.
    locked() {
        pip_install --require-hashes -r requirements.lock &&
            pip_install --no-build-isolation -e '.[dev]'
    }
    # A mirror may lack a locked version: then what pyproject.toml allows, and it is said.
    allowed() {
        echo "not all of requirements.lock can be had here: installing what pyproject.toml allows" >&2
        pip_install -e '.[dev]'
    }
    if locked || { sleep 10 && locked; } || allowed; then # what did not answer may answer now
        echo "$stamp" >"$VENV/.weft-stamp"
    elif "$VENV/bin/python" -c 'import weft, pytest' 2>/dev/null; then
        echo "could not bring $VENV up to date; going on with what it has" >&2
    else
        echo "could not install weft's packages; a network or a mirror (PIP_INDEX_URL) is needed" >&2
        exit 2
    fi
fi
