#!/bin/sh
# Gathers what `weft diagnose` reads of this host.
#
#   sh collect.sh            writes the folder weft-bundle-HOST-TIME below this one
#   sh collect.sh FOLDER     writes FOLDER, which must not exist yet
#   sh collect.sh -          writes a compressed archive to standard output
#   sh collect.sh - held     the same; ends with all that it started when standard input ends,
#                            or brings no line for a minute: whoever asked is gone
#
# It reads and changes nothing: no configuration, no counter, no file but its own. It needs no
# network and installs nothing. <what_of_secrets>
# Each command gets <patience_s> s and may print <most_bytes> bytes;
# what has not begun after <longest_s> s is left out. Counters are read twice, <interval_s> s apart,
# so that rates exist. Without root some commands say less; nothing fails because of it. Every
# command stands below: read them first.
set -u
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/mellanox/iproute2/sbin
export LC_ALL PATH
umask 077

# keep_part CUT FILE COMMAND...: the output of a command, its beginning (head) or its end (tail)
keep_part() {
    cut=$1
    kept=$place/$(printf %s "$2" | tr -c 'A-Za-z0-9.+=@_-' '_')
    shift 2
    if ! command -v "$1" >/dev/null 2>&1; then
        grep -qs -e "^# not installed: $1\$" -e "^# not installed: $1 (" "$place/not_read" ||
            echo "# not installed: $1$(lost_with "$1")" >>"$place/not_read"
        return 0
    fi
    if [ "$(date +%s)" -ge "$until" ]; then
        printf '# no time left for: %.300s\n' "$*" >>"$place/not_read"
        return 0
    fi
    {
        printf '$ %.300s\n' "$*"
        # shellcheck disable=SC2086 # the guard is some words or none
        $guard "$@" 2>&1 </dev/null || printf '# left with %s: %.300s\n' "$?" "$*" >>"$place/not_read"
    } | shortened "$cut" "${kept##*/}" >"$kept"
}
# shortened CUT NAME: what is kept of an output, without the secrets in it
shortened() {
    case $1 in
    head) head -c <most_bytes> | without_secrets "$2" ;;
    tail) without_secrets "$2" | tail -c <most_bytes> ;;
    esac
}
# lost_with COMMAND: what `weft diagnose` cannot judge without it
lost_with() {
    case $1 in
# <lost>
    esac
}
keep() { keep_part head "$@"; }
keep_end() { keep_part tail "$@"; }

host_probes() {
    :
# <host>
}

fabric_probes() {
    :
# <fabric>
}

host_counters() {
    :
# <host counters>
}

fabric_counters() {
    :
# <fabric counters>
}

sample() {
    place=$folder/hosts/$host/sample_$1_at_$(date +%s)
    mkdir -p "$place"
    host_counters
    fabric_counters
    place=$folder/hosts/$host
}

# <secrets>
redact() {
    :
# <redact>
}

# A command that hangs is ended, in this process group, so that who ends the group ends it too.
choose_guard() {
    for guard in 'timeout --foreground -k 5 <patience_s>' 'timeout -k 5 <patience_s>' 'timeout <patience_s>'; do
        # shellcheck disable=SC2086 # some words
        if $guard true 2>/dev/null; then return 0; fi
    done
    guard=
}

# A container may hold a shell and little else.
need() {
    lacks=
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || lacks="$lacks $tool"
    done
    [ -n "$lacks" ] || return 0
    echo "weft collect: nothing was collected: there is a shell, but not$lacks" >&2
    exit 127
}

# A pod may have nothing to write on but its shared memory.
make_scratch() {
    for path in "${TMPDIR:-/tmp}" /var/tmp /dev/shm; do
        scratch=$path/weft.$$.$(date +%s)
        mkdir "$scratch" 2>/dev/null && return 0
    done
    scratch=
    echo "weft collect: $host: no folder to write in: TMPDIR, /var/tmp, /dev/shm" >&2
    return 1
}

# <held>
# shellcheck disable=SC2317 # a trap calls it
leave() {
    unwatch
    [ -z "$scratch" ] || rm -rf "$scratch"
}

main() {
    need date head mkdir rm tail tr uname <filter>
    [ "${1:-}" != - ] || need tar
    host=$(uname -n | tr -cd 'A-Za-z0-9.-')
    began=$(date -u +%Y%m%dT%H%M%SZ)
    until=$(($(date +%s) + <longest_s>))
    folder=${1:-weft-bundle<named>-$began}
    scratch=
    watchers=
    if [ "$folder" = - ]; then
        make_scratch || exit 1
        trap leave EXIT
        # Who asked may be gone: then a word to standard error ends a shell as well.
        trap 'exit 130' HUP INT PIPE TERM
        folder=$scratch/weft-bundle<named>-$began
        if [ "${2:-}" = held ]; then watch_input; fi
    fi
    if [ -e "$folder" ]; then
        echo "$folder: is there already; name another folder" >&2
        exit 2
    fi
    place=$folder/hosts/$host
    mkdir -p "$place" || exit 1
    removed=$place/removed
    choose_guard

    echo "weft collect: $host: counters, first sample" >&2
    sample 1
    first=$(date +%s)
    echo "weft collect: $host: state" >&2
    host_probes
    fabric_probes
    passed=$(($(date +%s) - first))
    if [ "$passed" -lt <interval_s> ]; then sleep $((<interval_s> - passed)); fi
    echo "weft collect: $host: counters, second sample" >&2
    sample 2
    if [ -s "$removed" ]; then
        echo "weft collect: $host: secrets were removed; $removed lists how many of which kind" >&2
    fi
    redact
    if [ -n "$scratch" ]; then
        zip=z
        command -v gzip >/dev/null 2>&1 || zip=
        tar -C "$scratch" -c"$zip"f - "${folder##*/}"
    else
        echo "weft collect: $folder is complete; now: weft diagnose $folder" >&2
    fi
}

# The last line calls what was read whole: a script that was cut on the way does nothing.
main "$@"; exit
