"""A switch port takes smaller packets than the hosts send, or than its fellows take.

What it checks: the MTU of switch ports that are up, against one another and against the MTU of
the hosts' interfaces.
Why it matters: packets that are too large are dropped without a word: pings and small messages
pass, the first large transfer hangs. It is found on one leaf of many, after a replacement.
What to do: one MTU on all switch ports, 9216 as a rule, and at most that less the headers on
hosts.
References: IEEE 802.3, RoCE deployment guides; Arista, Cisco and SONiC configuration guides.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.verbs import CompletionError

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_SWITCH_PORT = "switch port"
_JUMBO_BYTES = 4000
_LOOK = "show interfaces | include MTU   # every switch; ip link | grep mtu   # every host"


def _check(facts: Facts) -> Iterator[Finding]:
    ports = [
        one for one in facts.of(Interface)
        if one.kind == _SWITCH_PORT and one.mtu_bytes and one.up is not False
    ]  # fmt: skip
    if not ports:
        return
    hosts = [
        one for one in facts.of(Interface)
        if one.kind != _SWITCH_PORT and one.up is not False
        and (one.mtu_bytes or 0) >= _JUMBO_BYTES and one.interface != "lo"
    ]  # fmt: skip
    usual = Counter(one.mtu_bytes for one in ports).most_common(1)[0][0] or 0
    sent = max((one.mtu_bytes or 0 for one in hosts), default=0)
    small = [one for one in ports if (one.mtu_bytes or 0) < max(sent, usual)
             and (one.mtu_bytes or 0) < _JUMBO_BYTES]  # fmt: skip
    beside = sent > 0 or max((one.mtu_bytes or 0) for one in ports) >= _JUMBO_BYTES
    if small and beside:
        yield _too_small(facts, small, hosts)


def _too_small(facts: Facts, small: list[Interface], hosts: list[Interface]) -> Finding:
    failing: list[Fact] = [*facts.of(CompletionError), *facts.of(CollectiveTimeout)]
    names = dict.fromkeys(f"{one.host} {one.interface}".strip() for one in small)
    return finding(
        "mtu-mismatch",
        [*small, *hosts, *failing],
        0.75 if failing and hosts else 0.6 if failing or hosts else 0.5,
        severity=Severity.ERROR if failing else Severity.WARNING,
        subject=", ".join(list(names)[:4]),
        message="a switch port drops packets that others and the hosts may send: its MTU is "
        f"{small[0].mtu_bytes} bytes",
        advice="one MTU on all switch ports of the fabric (9216 as a rule)",
        next_command=_LOOK,
        missing=() if failing else ("whether the traffic of the job crosses this port",),
        explains=(Symptom.TRANSPORT_RETRY, Symptom.WATCHDOG, Symptom.FLUSHED),
    )


switch_packet_size = Rule(causes=("mtu-mismatch",), check=_check)
