"""Every device and every cable of a plan, as tools that hold or draw a topology take them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft import catalogue
from weft.catalogue.devices import Server, Switch
from weft.generate.plan import Plan
from weft.generate.wiring import Port, Wired, wired
from weft.network.naming import TIER_NAMES, host
from weft.network.network import layout

HOST: Final = "host"
NO_VENDOR: Final = "unnamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One host or switch."""

    name: str
    role: str
    """``host``, ``leaf``, ``spine`` or ``core``."""
    group: int
    """Pod or rail group of a leaf or spine; -1 for cores and hosts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a cable."""

    device: str
    number: int
    """Port of a switch; port of a host, counted over its NICs and their planes. From 0."""
    nic: str
    """What the host calls the NIC there; empty on a switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """One cable; the lower end is ``below``."""

    below: End
    above: End


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a device is, as its vendor calls it."""

    vendor: str
    name: str
    rack_units: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cabling:
    """Devices from the hosts upwards, and the cables between them."""

    devices: tuple[Device, ...]
    cables: tuple[Cable, ...]
    host: Model
    switch: Model

    def model(self, device: Device) -> Model:
        """Return what a device is."""
        return self.host if device.role == HOST else self.switch


def cabling(plan: Plan) -> Cabling:
    """Return the devices and cables of a plan whose switches are the user's."""
    cluster = plan.cluster
    switches = tuple(wired(cluster))
    hosts = (
        Device(name=host(n, cluster.hosts), role=HOST, group=-1) for n in range(cluster.hosts)
    )
    found = (
        Device(name=switch.name, role=TIER_NAMES[switch.tier], group=switch.group)
        for switch in switches
    )
    return Cabling(
        devices=(*hosts, *found),
        cables=tuple(_cables(plan, switches)),
        host=_host_model(plan),
        switch=_model(layout(cluster).site.switch),
    )


def _cables(plan: Plan, switches: tuple[Wired, ...]) -> Iterator[Cable]:
    """Yield every cable once: both switches of a cable list it."""
    order = {switch.name: switch.count for switch in switches}
    for switch in switches:
        for port in switch.ports:
            here = End(device=switch.name, number=port.number, nic="")
            if port.host is not None:
                yield Cable(below=_nic(plan, port), above=here)
            elif (order[port.peer], port.peer_port) < (switch.count, port.number):
                there = End(device=port.peer, number=port.peer_port, nic="")
                yield Cable(below=there, above=here)


def _nic(plan: Plan, port: Port) -> End:
    name = plan.device(port.peer_port, port.plane)
    number = port.peer_port * plan.cluster.topology.planes + port.plane
    return End(device=port.peer, number=number, nic=name)


def _host_model(plan: Plan) -> Model:
    name = plan.cluster.host.server
    if not name:
        return Model(vendor=NO_VENDOR, name=f"{plan.cluster.host.gpu} server", rack_units=0)
    return _model(catalogue.find("servers", name))


def _model(device: Server | Switch) -> Model:
    """Return a device of the catalogue; its title begins with the vendor's name."""
    title = device.title.removeprefix(device.vendor).strip()
    vendor = device.vendor or NO_VENDOR
    return Model(vendor=vendor, name=title, rack_units=device.rack_units)
