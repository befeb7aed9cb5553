"""A collective was given up: a rank did not come, and the list says which ranks did.

What it checks: watchdog timeouts. Which rank is missing from them is the rank to look at.
Why it matters: a timeout is an echo; its cause is elsewhere and earlier.
What to do: take the log of the rank that is not in the list; look for what it did before.
References: PyTorch ProcessGroupNCCL, flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE).
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Suspect, Symptom, suspect, suspected
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import CommunicatorRank, CommunicatorShape
from weft.observe.facts.programs import Message
from weft.observe.facts.transports import PluginSeen

_FEW = 8
_INTERPRETER_HELD = r"could not acquire GIL|GIL induced hang"
"""A thread keeps Python's lock: it reads, writes or computes elsewhere, in no collective."""
_DUMP = "the dump of the flight recorder of every rank, and py-spy dump of the missing rank"


def _check(facts: Facts) -> Iterator[Finding]:
    timeouts = facts.of(CollectiveTimeout)
    if not timeouts:
        return
    waiting = sorted({one.process.rank for one in timeouts if one.process.rank is not None})
    absent = _absent(facts, waiting)
    where = "rank " + ", ".join(map(str, absent)) if absent else "the missing rank"
    tiny = all((one.elements_in or 0) <= 1 for one in timeouts)
    plugless = _without_plugin(facts)
    saving = _saving(facts, timeouts)
    held = job.said(facts, _INTERPRETER_HELD)
    yield suspected(
        (
            *((_NO_PLUGIN,) if plugless else ()),
            Suspect(
                cause="app-collective-mismatch",
                confidence_ratio=0.25 if absent or held else 0.45 if tiny else 0.35,
                question="do all ranks wait in the same collective, with the same size?",
                next_command=_DUMP,
            ),
            Suspect(
                cause="peer-process-died",
                confidence_ratio=0.4 if absent else 0.3,
                question=f"was {where} alive then (it waits in no list)?",
                next_command=f"the log and host of {where}",
            ),
            suspect("app-storage-stall", 0.55 if saving else 0.45 if held else 0.2),
            Suspect(
                cause="fabric-path-unreachable",
                confidence_ratio=0.15,
                question="do the library's logs show errors before the timeout?",
                next_command="NCCL_DEBUG=INFO, and the adapter's counters of every host",
            ),
        ),
        [*timeouts, *saving, *plugless, *held],
        symptom=Symptom.WATCHDOG,
        subject="ranks " + ", ".join(map(str, waiting[:8])) if waiting else "",
        message="a collective was given up: some rank never came",
        advice=f"look at {where}, before the time of the timeout",
    )


def _saving(facts: Facts, timeouts: list[CollectiveTimeout]) -> list[Message]:
    """Return what shows that a checkpoint was in the making when the others began to wait."""
    first: dict[str, int] = {}
    for one in timeouts:
        file, place = one.evidence.file, one.evidence.place
        first[file] = min(place, first.get(file, place))
    before = [
        one for one in facts.of(Message)
        if one.software == "checkpoint"
        and one.evidence.place < first.get(one.evidence.file, 0)
    ]  # fmt: skip
    return [] if job.worked_after(facts, before) else before[-2:]


_NO_PLUGIN = Suspect(
    cause="efa-plugin-not-loaded",
    confidence_ratio=0.4,
    question="are these instances with EFA? without its plug-in they meet over Ethernet",
    next_command="ls /dev/infiniband; find / -name 'libnccl-net*.so' 2>/dev/null",
)
_OF_EC2 = re.compile(r"ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.|$)")
"""How EC2 names its hosts."""


def _without_plugin(facts: Facts) -> list[PluginSeen]:
    """Return hosts of EC2 on which no plug-in for the network was found."""
    return [
        one for one in facts.of(PluginSeen)
        if one.role == "net" and not one.loaded and _OF_EC2.match(one.process.host)
    ]  # fmt: skip


def _absent(facts: Facts, waiting: list[int]) -> list[int]:
    """Return the ranks of the job that wait in no list, where its size is known."""
    sizes = [one.ranks or 0 for one in facts.of(CommunicatorShape)]
    sizes += [one.ranks for one in facts.of(CommunicatorRank)]
    absent = sorted(set(range(max(sizes, default=0))) - set(waiting))
    return absent if waiting and len(absent) <= _FEW else []


collective_timeout = Rule(
    causes=("app-collective-mismatch", "peer-process-died", "app-storage-stall"), check=_check
)
