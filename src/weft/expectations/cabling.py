"""Cables as planned: what a plan has at the other end of a port, in the words of LLDP.

A plan and LLDP spell the same thing differently: Ethernet1/1 and Et1/1, node1 and
Node1.example.com. Adapters have unrelated names in both (NIC1, enp3s0f0np0, a MAC address);
those are compared only where the plan has the names that LLDP shows. A neighbour that sends
no name is known by its MAC address, which a plan does not have: it is not compared.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import re2

from weft.inventory.entity import Entity
from weft.inventory.inventory import Inventory, Reading, Setting

_MAC_ADDRESS: Final = re2.compile(
    r"(?i)^(?:[0-9a-f]{2}[:.-]?){5}[0-9a-f]{2}$|^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$"
)
Plan = dict[tuple[str, str], Mapping[str, Sequence[Reading | Setting]]]
"""What is planned of each port."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz-"


def short_port(port: Entity) -> tuple[str, str]:
    """Return a port as its switch and a name that all tables share.

    >>> short_port(Entity("switch_port", ("leaf1", "Ethernet49/1")))
    ('leaf1', 'et49/1')
    """
    name = port.field("port").lower()
    return port.field("switch"), f"{name[:2]}{name.lstrip(_LETTERS)}"


def planned_cables(inventory: Inventory) -> None:
    """Record of the ports that LLDP shows what the plan has at the other end."""
    ports = list(inventory.of("switch_port"))
    plan = _described(inventory) | {
        short_port(port): found for port, found in ports if "planned_peer" in found
    }
    names = {_last(found, "planned_peer_port") for found in plan.values()}
    for port, found in ports:
        planned = plan.get(short_port(port), {})
        if "peer" in found and "planned_peer" in planned:
            seen, wanted = _last(found, "peer"), _last(planned, "planned_peer")
            same = _host(seen) == _host(wanted) or bool(_MAC_ADDRESS.search(seen))
            line = planned["planned_peer"][-1].evidence
            inventory.record(port, "expected_peer", seen if same else wanted, line)
        if _last(found, "peer_port") in names - {""}:
            reading = planned.get("planned_peer_port", [])
            if reading:
                inventory.record(
                    port, "expected_peer_port", reading[-1].value, reading[-1].evidence
                )


def _described(inventory: Inventory) -> Plan:
    """Return what descriptions in configurations have at the other ends of ports.

    A description of two words is one where the first names a machine of the input.
    """
    both = (inventory.readings, inventory.configured)
    names = {_host(entity.key[0]) for of in both for entity in of if entity.key}
    return {
        short_port(port): found
        for port, found in inventory.configured.items()
        if port.kind == "switch_port" and _host(_last(found, "planned_peer")) in names - {""}
    }


def _host(name: str) -> str:
    """Return a host without its domain; an address as it is."""
    first = name.partition(".")[0]
    return name if first.isdecimal() else first.lower()


def _last(found: Mapping[str, Sequence[Reading | Setting]], name: str) -> str:
    return str(found[name][-1].value) if name in found else ""
