#!/bin/sh
# Gathers what `weft diagnose` reads of this host.
#
#   sh collect.sh            writes the folder weft-bundle-HOST-TIME below this one
#   sh collect.sh FOLDER     writes FOLDER, which must not exist yet
#   sh collect.sh -          writes a compressed archive to standard output
#
# It reads and changes nothing: no configuration, no counter, no file but its own. It needs no
# network and installs nothing. Each command gets <patience_s> s and may print <most_bytes> bytes.
# Counters are read twice, <interval_s> s apart, so that rates exist. Without root some commands
# say less; nothing fails because of it. Every command stands below: read them first.
set -u
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/mellanox/iproute2/sbin
export LC_ALL PATH
umask 077

host=$(uname -n | tr -cd 'A-Za-z0-9.-')
began=$(date -u +%Y%m%dT%H%M%SZ)
folder=${1:-weft-bundle-$host-$began}
archive=no
if [ "$folder" = - ]; then
    archive=yes
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    folder=$scratch/weft-bundle-$host-$began
fi
if [ -e "$folder" ]; then
    echo "$folder: is there already; name another folder" >&2
    exit 2
fi
place=$folder/hosts/$host
mkdir -p "$place" || exit 1
guard=
if command -v timeout >/dev/null 2>&1; then guard='timeout <patience_s>'; fi

# keep_part CUT FILE COMMAND...: the output of a command, its beginning (head) or its end (tail)
keep_part() {
    cut=$1
    kept=$place/$(printf %s "$2" | tr -c 'A-Za-z0-9.+=@_-' '_')
    shift 2
    if ! command -v "$1" >/dev/null 2>&1; then
        grep -qsx "# not installed: $1" "$place/not_read" ||
            echo "# not installed: $1" >>"$place/not_read"
        return 0
    fi
    {
        printf '$ %.300s\n' "$*"
        # shellcheck disable=SC2086 # the guard is two words or none
        $guard "$@" 2>&1 </dev/null || printf '# left with %s: %.300s\n' "$?" "$*" >>"$place/not_read"
    } | "$cut" -c <most_bytes> >"$kept"
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
# <also fabric_counters>
    place=$folder/hosts/$host
}

echo "weft collect: $host: counters, first sample" >&2
sample 1
first=$(date +%s)
echo "weft collect: $host: state" >&2
host_probes
# <also fabric_probes>
passed=$(($(date +%s) - first))
if [ "$passed" -lt <interval_s> ]; then sleep $((<interval_s> - passed)); fi
echo "weft collect: $host: counters, second sample" >&2
sample 2
# <redact>
if [ "$archive" = yes ]; then
    tar -C "$scratch" -czf - "weft-bundle-$host-$began"
else
    echo "weft collect: $folder is complete; now: weft diagnose $folder" >&2
fi
