#!/bin/sh
# Runs the words that it is given, and ends them when whoever asked is gone.
set -u

# <held>

main() {
    watchers=
    # shellcheck disable=SC2154 # set below
    trap 'status=$?; unwatch; exit "$status"' EXIT
    trap 'exit 130' HUP INT PIPE TERM
    watch_input
    "$@" </dev/null 3<&-
}

# The last line calls what was read whole: a script that was cut on the way does nothing.
main "$@"; exit
