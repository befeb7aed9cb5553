"""Joins of links, ports and switches, each by name; it yields the clue where it holds."""

from collections.abc import Iterator
from typing import Final

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue
from weft.inventory.entity import Entity
from weft.inventory.inventory import Reading  # noqa: TC001 - a type at run time
from weft.inventory.values import whole

_FEW: Final = 4
"""Ports of a switch that somebody picked out of an output."""
_UNASSIGNED_LID: Final = 65535
_SMALL_MTU: Final = 1024
_FULL_BYTES: Final = 1e6
"""A queue that has held so much has been at its limit."""


def link_up_without_address(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports that are down on a link that is up: no subnet manager knows them."""
    for entity, found in case.inventory.of("port"):
        state, physical = found.get("state"), found.get("physical")
        lid = case.inventory.value(entity, "lid")
        if state and physical and state[-1].value == "down" and (
            physical[-1].value == "link_up" and lid == _UNASSIGNED_LID
        ):  # fmt: skip
            yield Hit(clue, entity, (state[-1].evidence, physical[-1].evidence))


def no_port_is_active(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield the ports of hosts none of whose ports is active: they reach no network."""
    ports: dict[str, list[tuple[Entity, Reading]]] = {}
    for entity, found in case.inventory.of("port"):
        for state in found.get("state", ())[-1:]:
            ports.setdefault(entity.fields["host"], []).append((entity, state))
    for states in ports.values():
        if all(state.value == "down" for _, state in states):
            yield from (Hit(clue, port, (state.evidence,)) for port, state in states)


def link_down_beside_links_up(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports of a switch that poll between ports that are up, or beside one that is.

    Ports above the highest that is up are unused, unless somebody picked a few ports.
    """
    ports: dict[str, dict[int, dict[str, list[Reading]]]] = {}
    for entity, found in case.inventory.of("switch_port"):
        number = whole(entity.key[-1])
        if number is not None:
            ports.setdefault(entity.key[0], {})[number] = found
    for switch, mine in ports.items():
        up = [number for number, found in mine.items() if last(found, "state") == "active"]
        picked = len(mine) <= _FEW and set(mine) != set(range(1, len(mine) + 1))
        for number, found in mine.items():
            polls = str(last(found, "physical")).lower() == "polling"
            used = bool(up) and (min(up) < number < max(up) or picked)
            if polls and used and last(found, "state") == "down":
                port = Entity("switch_port", (switch, str(number)))
                yield Hit(clue, port, (found["state"][-1].evidence,))


def ethernet_without_interface(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield Ethernet ports without a network interface, beside ports that have one."""
    ports = list(case.inventory.of("port"))
    if not any("interface" in found for _, found in ports):
        return
    for entity, found in ports:
        if "interfaceless" in found and "interface" not in found:
            yield Hit(clue, entity, (found["interfaceless"][-1].evidence,))


def ports_wait_for_manager(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield InfiniBand ports whose link is up and that no subnet manager has configured."""
    for entity, found in case.inventory.of("port"):
        waits = last(found, "state") == "initializing" and not last(found, "sm_lid")
        if waits and last(found, "link_layer") != "ethernet":
            yield Hit(clue, entity, (found["state"][-1].evidence,))


def link_local_on_roce(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield pairs of link-local GIDs, which on InfiniBand are usual."""
    layers = {found["link_layer"][-1].value for _, found in case.inventory.of("port")
              if "link_layer" in found}  # fmt: skip
    if layers == {"infiniband"}:
        return
    used = [last(found, "adapters") for _, found in case.inventory.of("process")]
    roce = any("/RoCE" in name for names in used if isinstance(names, tuple) for name in names)
    for event in case.events.get("nccl.link_local_gids", ()):
        if roce or "ethernet" in layers or "roce" in event.evidence[0].text.lower():
            yield Hit(clue, event.entity, tuple(event.evidence))


def roce_mtu_1024(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield Ethernet ports whose RDMA MTU is 1024 because the interface has 1500."""
    for entity, found in case.inventory.of("port"):
        if last(found, "link_layer") == "ethernet" and last(found, "mtu") == _SMALL_MTU:
            yield Hit(clue, entity, (found["mtu"][-1].evidence,))


def ingress_drops_beside_full_queue(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports that drop at ingress while a queue of another port stands full."""
    marks = [found["watermark"][-1] for _, found in case.inventory.of("queue")
             if "watermark" in found]  # fmt: skip
    full = [
        mark for mark in marks if isinstance(mark.value, float) and mark.value >= _FULL_BYTES
    ]
    for entity, found in case.inventory.of("switch_port"):
        drops = last(found, "rx_drops")
        if isinstance(drops, float) and drops > 0 and full:
            yield Hit(clue, entity, (found["rx_drops"][-1].evidence, full[0].evidence))
