"""The library's own watch over the ranks (RAS) misses some of them.

What it checks: processes that RAS calls dead or has no data of, and ranks whose counts of
collectives differ. A watch that says OK clears nobody: it sees processes, not progress.
Why it matters: it names the host, process and GPU to look at, which a hang does not.
What to do: look at the process named; where none is missing, ask again: counts that differ and
grow are a job at work, counts that differ and stand are ranks that took different ways.
References: NCCL user guide, RAS; ncclras.
"""

from collections.abc import Iterator

from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspected,
)
from weft.observe.facts.communicators import CommunicatorHealth

_AGAIN = "ncclras -v   # twice, a minute apart: which counts stand still"
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG, Symptom.CONNECT,
)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    told = facts.of(CommunicatorHealth)
    dead = [one for one in told if "DEAD" in one.errors.upper()]
    missing = [one for one in told if one.missing_ranks or one.errors == "INCOMPLETE"]
    apart = [one for one in told if "MISMATCH" in {one.status, one.errors}]
    if dead or missing:
        named = [one for one in (*dead, *missing) if one.process.host]
        yield finding(
            "peer-process-died",
            [*dead, *named, *missing],
            0.85 if dead else 0.65,
            subject=", ".join(dict.fromkeys(one.process.host for one in named)),
            message="processes of the job do not answer the library's watch"
            + (": it calls them dead" if dead else ""),
            advice="look at the process named: killed, stopped, or its host cut off",
            next_command="dmesg -T | grep -i -e oom -e segfault -e Xid   # on the host named",
            missing=() if dead else ("whether it is still missing a minute later (ncclras)",),
            explains=_FOLLOW,
        )
    elif apart:
        yield suspected(
            _SUSPECTS,
            apart,
            severity=Severity.WARNING,
            message="ranks have launched different numbers of collectives",
            advice="ask again: if the counts do not move, look at the ranks that are behind",
        )


_SUSPECTS = (
    Suspect(
        cause="app-collective-mismatch",
        confidence_ratio=0.35,
        question="do the counts stand still, and do ranks call different collectives?",
        next_command=_AGAIN,
    ),
    Suspect(
        cause="app-storage-stall",
        confidence_ratio=0.2,
        question="does a rank that is behind wait for a file system?",
        next_command="py-spy dump --pid <pid of the rank that is behind>",
    ),
)

watched_ranks = Rule(causes=("peer-process-died",), check=_check)
