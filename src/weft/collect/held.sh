# Over ssh, in a pod and under Slurm nobody ends what was left behind, so it ends itself with all
# of its process group: when the input (3) ends, and when it brings no line for a minute.
end_all() {
    trap '' HUP INT PIPE TERM
    end_escaped TERM
    kill -TERM 0
    sleep 5
    end_escaped KILL
    kill -KILL 0
}

# What left the group (setsid, a daemon) still has the mark in its environment, if it may be read.
end_escaped() {
    # shellcheck disable=SC2013 # names without blanks
    for one in $(grep -lsxz "WEFT_HELD=$WEFT_HELD" /proc/[0-9]*/environ 2>/dev/null); do
        one=${one#/proc/}
        kill -"$1" "${one%/environ}" 2>/dev/null
    done
}

watch_input() {
    WEFT_HELD=$$.$(date +%s)
    export WEFT_HELD
    exec 3<&0
    trap '' USR1 # until who takes it is ready
    (
        trap - EXIT HUP INT PIPE TERM
        trap 'heard=yes' USR1
        while :; do
            heard=
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5; done
            if [ -z "$heard" ]; then end_all; fi
        done
    ) </dev/null 3<&- >/dev/null 2>&1 &
    watchers=$!
    (
        trap - EXIT
        trap '' HUP INT PIPE TERM
        while read -r _; do kill -USR1 "$watchers"; done
        end_all
    ) <&3 >/dev/null 2>&1 &
    watchers="$watchers $!"
    trap - USR1
}

# shellcheck disable=SC2317 # a trap calls it
unwatch() {
    # Of the watchers' end mksh speaks, and nobody may listen: that would end this half done.
    trap '' HUP INT PIPE TERM
    [ -n "$watchers" ] || return 0
    end_escaped KILL
    # shellcheck disable=SC2086 # two numbers
    kill -KILL $watchers 2>/dev/null
}
