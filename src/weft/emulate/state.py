"""The state of a fabric: every attribute of its hosts, as the plan wants it, and its faults."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from weft.emulate.ordinary import Event
from weft.errors import SpecError, UnknownName
from weft.generate.plan import Plan
from weft.inventory.table import rows
from weft.network import naming
from weft.network.network import layout
from weft.plugins import unknown
from weft.units import SECONDS

FIRMWARE: Final = "28.43.2026"
DRIVER: Final = "570.124.06"
NCCL: Final = "2.27.3"
WORDS: Final = {"infiniband": "InfiniBand", "roce": "Ethernet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of fault: what it changes, and the causes that would name it rightly."""

    name: str
    at: str
    cause: Sequence[str]
    sets: Mapping[str, Any] = field(default_factory=dict)
    grows: Mapping[str, float] = field(default_factory=dict)
    kernel: Sequence[str] = ()
    log: Sequence[str] = ()
    fabrics: Sequence[str] = ("infiniband", "roce")


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A fault at a place: the answer of a rehearsal."""

    fault: Fault
    host: str
    number: int
    """Of the rail or of the GPU."""
    device: str
    """RDMA device of the rail; empty for a GPU."""


@dataclass(slots=True)
class Part:
    """A rail or a GPU of a host: attributes by their path, counters with their growth."""

    number: int
    device: str = ""
    """Name of the RDMA device of a rail, as the plan has it."""
    values: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    growth: dict[str, float] = field(default_factory=dict)

    def count(self, path: str, at_s: float) -> int:
        """Return a counter at a time after the first sample."""
        return int(self.counters.get(path, 0) + self.growth.get(path, 0.0) * at_s)


@dataclass(slots=True)
class Host:
    """A host: its own attributes, its rails, its GPUs, and lines of its logs."""

    name: str
    number: int
    values: dict[str, Any]
    rails: list[Part]
    gpus: list[Part]
    kernel: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


@dataclass(slots=True)
class State:
    """The hosts of which somebody collects outputs, out of a fabric."""

    plan: Plan
    kind: str
    hosts: list[Host]
    injected: list[Injected] = field(default_factory=list)
    events: tuple[Event, ...] = ()
    """What happens on a healthy cluster as well."""
    since_s: float = 0.0
    """When the first sample is taken, on the clock of the events."""
    _spares: dict[int, Part] = field(default_factory=dict)

    @property
    def rails(self) -> int:
        """Return the ports of a host."""
        return len(self.plan.names.device_list())

    def host(self, number: int) -> Host | None:
        """Return a host by its number in the cluster; None where it is not collected."""
        return next((host for host in self.hosts if host.number == number), None)

    def part(self, number: int, nic: int) -> Part:
        """Return a port of a host, collected or not."""
        host = self.host(number)
        return host.rails[nic] if host else self.spare(nic)

    def spare(self, nic: int) -> Part:
        """Return a healthy port without counters."""
        if nic not in self._spares:
            device = self.plan.names.device_list()[nic]
            self._spares[nic] = Part(nic, device, _rail_values(self.plan))
        return self._spares[nic]


@cache
def faults() -> Mapping[str, Fault]:
    """Return every kind of fault by name."""
    return {row["name"]: Fault(**row) for row in rows("weft.emulate", "faults.yaml")}


def healthy(
    plan: Plan, numbers: Sequence[int], seed: int, events: Sequence[Event] = ()
) -> State:
    """Return the state of some hosts of a healthy fabric, with ordinary noise of counters.

    ``events`` have happened and go on, from a time of day that the seed chooses. Raises
    SpecError for fabrics whose outputs are not known.
    """
    kind = plan.cluster.fabric.kind
    if kind not in WORDS:
        raise SpecError(f"fabric.kind {kind}: InfiniBand and RoCE can be emulated")
    chance = random.Random(seed)  # noqa: S311 - noise, no secret
    hosts = [_host(plan, number, chance) for number in numbers]
    since_s = chance.uniform(0, SECONDS["d"])
    for host in hosts:
        _happened(host, events, since_s)
    return State(plan, kind, hosts, events=tuple(events), since_s=since_s)


def _happened(host: Host, events: Sequence[Event], now_s: float) -> None:
    """Write what events left in the logs of a host."""
    for event in events:
        if event.lasted_s(host.number, now_s):
            _log(host, host.number % len(host.rails), event)


def _host(plan: Plan, number: int, chance: random.Random) -> Host:
    cluster = plan.cluster
    values = {"host.driver": DRIVER, "host.nccl": NCCL, "host.network": "IB",
              "host.memlock": "unlimited",
              "host.gdr": "yes" if cluster.host.gpudirect else "no"}  # fmt: skip
    return Host(
        naming.host(number, cluster.hosts), number, values,
        [_rail(plan, rail, device, chance)
         for rail, device in enumerate(plan.names.device_list())],
        [_gpu(gpu, chance) for gpu in range(cluster.host.gpus)],
    )  # fmt: skip


def _rail_values(plan: Plan) -> dict[str, Any]:
    mtu = plan.link.path_mtu_bytes
    host_mtu = plan.link.host_mtu_bytes
    lossless = plan.labels.priority.whole() if plan.labels else -1
    return {
        "port.state": "active", "port.physical": "link_up",
        "port.mtu": mtu.whole() if mtu else 0,
        "port.rate_ratio": 1.0, "interface.mtu": host_mtu.whole() if host_mtu else 2044,
        "interface.state": "up", "interface.trust": "dscp", "slot.width": 16, "slot.speed": 32,
        "interface.pfc": " ".join(str(int(number == lossless)) for number in range(8)),
        "adapter.firmware": FIRMWARE,
    }  # fmt: skip


def _rail(plan: Plan, number: int, device: str, chance: random.Random) -> Part:
    noise = {"port.link_downed": chance.randrange(3), "port.rcv_errors": chance.randrange(3),
             "priority.rx_pause": chance.randrange(4000),
             "interface.rx_discards": chance.randrange(50)}  # fmt: skip
    rate = layout(plan.cluster).link_bytes_per_s
    growth = {"priority.rx_pause": chance.uniform(0, 30),
              "priority.rx_pause_duration": chance.uniform(0, 300),
              "port.cnp_handled": chance.uniform(1, 20),
              "port.tx_bytes": rate * chance.uniform(0.4, 0.5)}  # fmt: skip
    return Part(number, device, _rail_values(plan), noise, growth)


def _gpu(number: int, chance: random.Random) -> Part:
    values = {"gpu.throttle_thermal": "no", "gpu.throttle_power_brake": "no",
              "gpu.remap_failed": "no", "gpu.remap_pending": "no",
              "gpu.last_xid": 0,
              "gpu.temperature": chance.randrange(52, 74)}  # fmt: skip
    return Part(number, values=values)


def slot_of(part: Part, base: int) -> str:
    """Return a PCI address; adapters and GPUs have different buses.

    >>> slot_of(Part(2), 0x17)
    '0000:1b:00.0'
    """
    return f"0000:{base + 2 * part.number:02x}:00.0"


ADAPTER_BUS: Final = 0x18
GPU_BUS: Final = 0x81


def inject(state: State, name: str, host: Host, number: int) -> Injected:
    """Put a fault into a state, at a host and a rail or GPU of it; return what was injected.

    Raises UnknownName for a fault that does not exist, SpecError where it cannot be here.
    """
    if name not in faults():
        raise UnknownName(unknown("fault", name, sorted(faults())))
    fault = faults()[name]
    if state.kind not in fault.fabrics:
        raise SpecError(f"{name} is a fault of {' and '.join(fault.fabrics)}, not {state.kind}")
    parts = host.gpus if fault.at == "gpu" else host.rails
    if not 0 <= number < len(parts):
        raise SpecError(f"{host.name} has no {fault.at} {number}; it has 0 to {len(parts) - 1}")
    part = parts[number]
    for path, value in fault.sets.items():
        (host.values if path.startswith("host.") else part.values)[path] = value
    part.growth |= dict(fault.grows)
    _log(host, number, fault)
    done = Injected(fault=fault, host=host.name, number=number, device=part.device)
    state.injected.append(done)
    return done


def _log(host: Host, number: int, happened: Fault | Event) -> None:
    """Write what happened to a rail or GPU into the logs of its host."""
    part = Part(number)
    fields = {
        "host": host.name, "number": str(number),
        "device": host.rails[number % len(host.rails)].device,
        "interface": f"rail{number}", "slot": slot_of(part, ADAPTER_BUS),
        "gpu_slot": slot_of(part, GPU_BUS).removesuffix(".0"),
    }  # fmt: skip
    host.kernel += [_filled(line, fields) for line in happened.kernel]
    host.log += [_filled(line, fields) for line in happened.log]


def _filled(line: str, fields: Mapping[str, str]) -> str:
    for name, value in fields.items():
        line = line.replace(f"{{{name}}}", value)
    return line


def suitable(kind: str) -> Iterator[Fault]:
    """Yield the faults of a kind of fabric."""
    return (fault for fault in faults().values() if kind in fault.fabrics)
