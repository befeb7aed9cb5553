"""The uplinks of a switch carry unequal loads: flows collide on some of them.

What it checks: bytes or packets sent on the ports of a switch that lead to other switches, read
twice, while they are busy. Idle uplinks say nothing.
Why it matters: equal-cost paths are chosen by a hash of the flow; a job has few flows, so two
meet on one link at half their rate each while another link is idle.
What to do: more queue pairs a connection (NCCL_IB_QPS_PER_CONNECTION with split data), adaptive
routing or packet spraying, or routes that are pinned by rail.
References: Meta, RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024;
NCCL user guide, NCCL_IB_QPS_PER_CONNECTION.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.interfaces import Counter, Neighbour

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_FEWEST_UPLINKS = 3
_UNEVEN = 1.8
"""The busiest uplink over the mean: with fair hashing of many flows it stays below."""
_BUSY = {"tx_bytes": 1e10, "tx_packets": 3e6}
"""The rise between two samples, seconds apart, from which an uplink is busy."""
_SWITCH_PORTS = ("Ethernet", "Et", "swp", "Eth", "sw")


def _check(facts: Facts) -> Iterator[Finding]:
    up = {
        (one.host, one.interface): one for one in facts.of(Neighbour)
        if one.interface.startswith(_SWITCH_PORTS) and one.port.startswith(_SWITCH_PORTS)
    }  # fmt: skip
    rise = risen(facts.of(Counter))
    for host in dict.fromkeys(where[0] for where in up):
        for name, busy in _BUSY.items():
            sent = {
                port: rise.get((host, port, None, name), 0) for at, port in up if at == host
            }
            loads = [value for value in sent.values() if value >= 0]
            if len(loads) < _FEWEST_UPLINKS or max(loads) < busy:
                continue
            mean = sum(loads) / len(loads)
            if max(loads) >= _UNEVEN * mean:
                yield _uneven(facts, host, name, sent, max(loads) / mean)
                break


def _uneven(facts: Facts, host: str, name: str, sent: dict[str, int], ratio: float) -> Finding:
    seen: list[Fact] = [
        one for one in facts.of(Counter)
        if one.host == host and one.name == name and one.where in sent
    ]  # fmt: skip
    return finding(
        "ecmp-collision",
        seen,
        0.6,
        severity=Severity.WARNING,
        subject=host,
        message=f"the busiest of {len(sent)} uplinks carries {ratio:.1f} times the mean",
        advice="more queue pairs a connection, adaptive routing, or routes pinned by rail",
        next_command="the same counters once more while the job runs, on every leaf",
        missing=("whether it is so for the whole job, not for a burst",),
        explains=(Symptom.SLOW,),
    )


uneven_uplinks = Rule(causes=("ecmp-collision",), check=_check)
