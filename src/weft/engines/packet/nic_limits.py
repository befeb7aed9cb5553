"""The limits of a scenario's NICs beside their ports; what is not set, the catalogue states."""

from typing import Any, Final

from weft.catalogue.devices import Nic
from weft.engines.packet.simulation import PS_PER_S
from weft.network.network import resolve
from weft.sources import Kind, Source, sourced
from weft.spec.scenario import Scenario

_SOURCES: Final = {
    "scalarnic": Source(
        key="scalarnic",
        kind=Kind.PAPER,
        title=(
            "A Scalable RDMA Network Interface Card with Efficient Cache Management, ISCAS"
            " 2023: a commercial NIC loses 47 % of its rate at a few thousand connections"
        ),
    ),
    "estimate": Source(
        key="estimate",
        kind=Kind.ESTIMATE,
        title="Judgement: no vendor states the cache of a NIC; 0.9 / 40 million reads a second",
    ),
}
CONNECTIONS: Final = sourced(2000, "scalarnic", "estimate", low=500, high=10_000, confidence=1)
"""Connections whose state a NIC holds: some thousands."""
CONNECTION_MISS_S: Final = sourced(
    25e-9, "scalarnic", "estimate", low=5e-9, high=100e-9, confidence=1
)
"""What a miss takes of the NIC's time. Losing 47 % of a rate R is 0.9 / R a message; R is that
of small reads on the NICs of that study's kind."""


def limits_of(scenario: Scenario) -> dict[str, Any]:
    """Return the options of the kernel that NICs set; TCP has no queue pairs or messages."""
    nic = scenario.network.nic
    network = resolve(scenario.cluster)
    if not network.fabric.rdma:
        return {"messages_per_s": nic.messages_per_s, "message_bytes": nic.message_bytes}
    rate = nic.messages_per_s or _messages_per_s(network.nic)
    miss_s = nic.connection_miss_s
    miss_s = CONNECTION_MISS_S.value if miss_s is None else miss_s
    return {
        "messages_per_s": None if rate is None else rate / scenario.cluster.topology.planes,
        "message_bytes": nic.message_bytes,
        "connections": nic.connections or round(CONNECTIONS.value),
        "connection_miss_ps": round(miss_s * PS_PER_S),
    }


def _messages_per_s(nic: Nic | None) -> float | None:
    if nic is None or nic.messages_per_s is None:
        return None
    return nic.messages_per_s.value
