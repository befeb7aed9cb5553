"""The switches of an emulated fabric: each port is as the other end of its cable."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from weft.emulate.fields import PACKET_BYTES, Fields, counters, lid_of, mac, of_rail, speed
from weft.emulate.state import State
from weft.generate.lossless import system
from weft.generate.platform import platforms
from weft.generate.router import cages
from weft.generate.wiring import Port, Wired, wired
from weft.network.network import layout
from weft.spec.cluster import Cluster

PORT_NAMES: Final = {
    "sonic": "Ethernet{lane}",
    "nvue": "swp{cage}{split}",
    "eos": "Et{cage}/{first}",
}
_PRIORITIES: Final = 8
_CAGE_LANES: Final = 8
"""Of OSFP and QSFP-DD, where the platform of a switch is not known."""
_SWITCHES: Final = 0xB8CEF60400000000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cables:
    """The switches of a cluster, and the port of each NIC; of several planes the first."""

    switches: tuple[Wired, ...]
    number_of: Mapping[str, int]
    leaf_of: Mapping[tuple[int, int], tuple[Wired, Port]]


@lru_cache(maxsize=16)
def _cables(cluster: Cluster) -> _Cables:
    switches = tuple(wired(cluster))
    leaf_of: dict[tuple[int, int], tuple[Wired, Port]] = {}
    for switch in switches:
        for port in switch.ports:
            if port.host is not None:
                leaf_of.setdefault((port.host, port.peer_port), (switch, port))
    number_of = {switch.name: number for number, switch in enumerate(switches)}
    return _Cables(switches=switches, number_of=number_of, leaf_of=leaf_of)


def all_switches(state: State) -> tuple[Wired, ...]:
    """Return every switch of the cluster."""
    return _cables(state.plan.cluster).switches


def leaves(state: State) -> tuple[Wired, ...]:
    """Return the switches that the collected hosts are on."""
    leaf_of = _cables(state.plan.cluster).leaf_of
    found = [
        leaf_of[host.number, rail.number][0] for host in state.hosts for rail in host.rails
    ]
    return tuple({item.name: item for item in found}.values())


def of_switch(state: State, one: Wired) -> Fields:
    """Return the fields of a switch."""
    return Fields({"switch": one.name, "radix": layout(state.plan.cluster).radix,
                   **_identity(state, one.name)})  # fmt: skip


def plugged(state: State, number: int, nic: int, dialect: str) -> Mapping[str, Any]:
    """Return what is at the other end of the cable of a port of a host."""
    leaf, port = _cables(state.plan.cluster).leaf_of[number, nic]
    return _far(state, leaf.name, port.number, dialect)


def of_port(state: State, port: Port, dialect: str, at_s: float) -> Fields:
    """Return the fields of a port of a switch: state, rate and counters of the other end.

    What a host counts as pauses received, its switch counts as sent.
    """
    if port.host is None:
        part, host = state.spare(0), None
        far = _far(state, port.peer, port.peer_port, dialect)
    else:
        part, host = state.part(port.host, port.peer_port), state.host(port.host)
        own = of_rail(state, port.host, part, at_s)
        far = {"far": f'"H-{own["guid"]}"[1]({own["guid"]}) ', "far_guid": own["guid"],
               "far_lid": own["lid"], "far_name": f"{port.peer} {part.device}", "far_number": 1,
               "peer": port.peer, "peer_port": own["interface"]}  # fmt: skip
    counter = counters(state, host, part, at_s)
    labels = state.plan.labels
    lossless = labels.priority.whole() if labels else -1
    sent = [
        counter("priority.rx_pause") * (number == lossless) for number in range(_PRIORITIES)
    ]
    lanes, mtu = _lanes(state), state.plan.link.switch_mtu_bytes
    up = part.values["port.state"] == "active"
    named = {
        **far, **speed(state, part), "port": port.number + 1, "up": up,
        "name": _name(state, port.number, dialect), "alias": f"etp{port.number + 1}",
        "lanes": ",".join(str(port.number * lanes + number) for number in range(lanes)),
        "seen": far["peer"] if up else "", "seen_port": far["peer_port"] if up else "",
        "sent": "  ".join(f"{number:>6}" for number in sent),
        "mtu": mtu.whole() if mtu else 0, "none": "  ".join(f"{0:>6}" for _ in sent), "zero": 0,
        "packets": counter("port.tx_bytes") // PACKET_BYTES,
    }  # fmt: skip
    return Fields(named, part, counter)


def _far(state: State, name: str, port: int, dialect: str) -> Mapping[str, Any]:
    """Return one end of a cable that is a port of a switch."""
    own = _identity(state, name)
    return {"far": f'"S-{own["guid"]}"[{port + 1}]', "far_guid": own["guid"],
            "far_lid": own["lid"], "far_name": name, "far_number": port + 1,
            "far_mac": mac(own["guid"]), "peer": name,
            "peer_port": _name(state, port, dialect)}  # fmt: skip


def _identity(state: State, name: str) -> Mapping[str, Any]:
    number = _cables(state.plan.cluster).number_of[name]
    return {"guid": f"{_SWITCHES + (number << 8):016x}",
            "lid": lid_of(state, state.plan.cluster.hosts, number)}  # fmt: skip


def dialect_of(state: State) -> str:
    """Return the operating system of the switches, as far as their tables are known."""
    name = system(layout(state.plan.cluster)).name
    return name if name in PORT_NAMES else "sonic"


def _lanes(state: State) -> int:
    known = platforms().get(layout(state.plan.cluster).switch)
    return (known.lanes if known else _CAGE_LANES) // cages(state.plan).split


def _name(state: State, number: int, dialect: str) -> str:
    held = cages(state.plan)
    cage, place = held.place(number)
    return PORT_NAMES[dialect].format(
        lane=number * _lanes(state), cage=cage + 1, first=place * _lanes(state) + 1,
        split=f"s{place}" if held.split > 1 else "",
    )  # fmt: skip
