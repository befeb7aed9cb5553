"""A switch drops at its ingress because an egress queue is at its limit.

What it checks: drops of a port or priority group on the way in together with a queue whose
watermark or drops show it full elsewhere.
Why it matters: the port that drops is not the port to repair: the full queue's is.
What to do: look at the egress port (speed, pauses from its neighbour), then at buffer profiles:
RoCE in a lossy class drops by design.
References: SONiC, show priority-group and show queue watermark; buffer profiles.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import (
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.programs import Message
from weft.observe.facts.service_quality import PauseSetting

_IN = re.compile(
    r"(rx_drp|rx_drop\w*|in_?discards?|in_drops|ingress\w*drop\w*|pg\d?\w*_?drop\w*)",
    re.IGNORECASE,
)
_QUEUE_DROP = re.compile(
    r"(queue|uc|mc)\w*(?:drop|discard)|^out_(?:drops|discards)|^tx_(?:dropped|drp)",
    re.IGNORECASE,
)
_WATERMARK = re.compile(r"(watermark|max_?depth|occupancy|buffer)", re.IGNORECASE)
_BEYOND = re.compile(
    r"buffer.{0,60}(?:threshold|exceed|exhaust|full|alarm)|queue.{0,40}(?:over (?:the )?"
    r"(?:threshold|limit)|is full)|dropped \d+ packets|tail.?drop|congestion.{0,30}discard",
    re.IGNORECASE,
)
_FULL_BYTES = 100_000
_FEW = 100


def _check(facts: Facts) -> Iterator[Finding]:
    still = {key for key, by in risen(facts.of(Counter)).items() if by == 0}
    counters = [
        one for one in facts.of(Counter)
        if one.on_switch and (one.host, one.where, one.port, one.name) not in still
    ]  # fmt: skip
    dropped = [one for one in counters if _IN.search(one.name) and one.value >= _FEW]
    queues = [one for one in counters if _QUEUE_DROP.search(one.name) and one.value >= _FEW]
    full = [one for one in counters if _WATERMARK.search(one.name) and one.value >= _FULL_BYTES]
    if not dropped and not queues:
        yield from _said(facts)
        yield from _not_applied(facts)
        return
    seen: list[Fact] = [*dropped, *queues, *full]
    unheld = [] if dropped or full else _without_pause(facts, queues)
    if unheld:
        yield _lossy([*queues, *unheld])
        return
    sure = bool(dropped and (full or queues))
    yield finding(
        "switch-buffer-exhausted",
        seen,
        0.8 if sure else 0.55,
        severity=Severity.ERROR if sure else Severity.WARNING,
        subject=", ".join(dict.fromkeys(one.where for one in [*full, *queues][:4])),
        message="a switch drops packets: a queue on the way out is at its limit",
        advice="look at the egress port of the full queue, then at its buffer profile "
        "and class",
        next_command="show queue watermark unicast; show priority-group drop counters; "
        "show pfc counters",
        missing=() if full else ("watermarks of the queues on the same switch",),
        explains=("roce-packet-loss", Symptom.TRANSPORT_RETRY),
        fault=Fault.MISTUNED,
    )


def _without_pause(facts: Facts, queues: list[Counter]) -> list[Fact]:
    """Return ports that drop on their way out and on which no priority is paused."""
    ports = {one.where for one in queues}
    return [
        one for one in facts.of(PauseSetting)
        if one.on_switch and one.interface in ports and not one.priorities
    ]  # fmt: skip


def _lossy(seen: list[Fact]) -> Finding:
    return finding(
        "roce-packet-loss",
        seen,
        0.65,
        severity=Severity.WARNING,
        message="a port drops packets of a queue, and PFC is off on it",
        advice="switch PFC on for the priority of RoCE, or set adapters up for loss",
        next_command="show interface priority-flow-control; show pfc counters",
        missing=("whether the queue that drops is RoCE's",),
        explains=(Symptom.TRANSPORT_RETRY, Symptom.FLUSHED),
        fault=Fault.MISTUNED,
    )


def _said(facts: Facts) -> Iterator[Finding]:
    """Find switches whose log says that buffers or queues are beyond their threshold."""
    said = [
        one for one in facts.of(Message)
        if one.software == "switch" and _BEYOND.search(one.text)
    ]  # fmt: skip
    if said:
        drops = any("drop" in one.text.lower() for one in said)
        yield finding(
            "switch-buffer-exhausted",
            said,
            0.7 if drops else 0.55,
            severity=Severity.WARNING,
            message="a switch reports that its buffers are almost used up",
            advice="look which egress port fills: its discards, its speed, pauses it receives",
            next_command="show interface counters errors; show queuing interface",
            missing=("discards of the ports of this switch",),
            explains=("roce-packet-loss", Symptom.TRANSPORT_RETRY),
            fault=Fault.MISTUNED,
        )


def _not_applied(facts: Facts) -> Iterator[Finding]:
    """Find ports to which a switch could not apply what keeps a class from loss."""
    buffers = job.said(facts, r"failed to set .{0,70}buffer (?:profile|pool)")
    pauses = job.said(facts, r"no lossless tc found on port|failed to set pfc 0x")
    if buffers or pauses:
        yield suspected(
            (
                suspect("roce-packet-loss", 0.45),
                suspect("switch-buffer-exhausted", 0.3)
                if buffers
                else suspect("qos-dscp-mismatch", 0.4),
            ),
            [*buffers, *pauses],
            severity=Severity.WARNING,
            message="a switch did not apply the lossless class to a port: RoCE may be dropped",
            advice="compare the port's maps and buffer profiles with those of its fellows",
        )


switch_buffer = Rule(causes=("switch-buffer-exhausted", "roce-packet-loss"), check=_check)
