"""What the exporters of an emulated host answer to scrapes, before, during and after faults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from weft.emulate.ordinary import Event, at_part, counted
from weft.emulate.state import Host, Part, State
from weft.errors import SpecError
from weft.generate.alert import key_of
from weft.metrics.source import Metric, metrics
from weft.network.network import layout

_POWER_CAP, _THERMAL, _POWER_BRAKE = 0x4, 0x40, 0x80
"""Bits of the reasons for a lower clock: NVML, nvmlClocksEventReasonSwPowerCap, which is normal
under load, HwThermalSlowdown and HwPowerBrakeSlowdown."""
_PORTS: Final = ("port.link_downed", "port.symbol_errors", "port.rcv_errors", "port.tx_bytes")
_ROCE_PORTS: Final = (
    "port.packet_seq_err", "port.out_of_sequence", "port.ack_timeout", "port.cnp_handled",
)  # fmt: skip
_ROCE_INTERFACES: Final = (
    "interface.rx_discards", "interface.crc_errors", "interface.pause_storm",
    "interface.link_down_events", "priority.rx_pause", "priority.rx_pause_duration",
    "priority.rx_discards",
)  # fmt: skip
_GPU: Final = ("gpu.temperature", "gpu.last_xid", "gpu.remap_failed", "gpu.remap_pending")
_GPU_COUNTERS: Final = ("gpu.ecc_uncorrectable", "gpu.nvlink_errors", "gpu.pcie_replays")
Labels = Mapping[str, str]
Value = str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A fabric that is healthy but for a time: both states are of the same hosts and seed."""

    healthy: State
    faulty: State
    at_s: float = 0.0
    """When the faults begin."""
    until_s: float = inf
    """When they have been removed; counters keep what they counted."""
    events: tuple[Event, ...] = ()
    """What happens on a healthy cluster as well."""

    def __post_init__(self) -> None:
        """Raise SpecError for a time that ends before it begins, or for other hosts."""
        if not 0 <= self.at_s < self.until_s:
            raise SpecError(
                f"faults from {self.at_s:g} s until {self.until_s:g} s: "
                "they begin at 0 s or later and end after they begin"
            )
        names = [[host.name for host in state.hosts] for state in (self.healthy, self.faulty)]
        if names[0] != names[1]:
            raise SpecError("both states must be of the same hosts; use the same seed")

    def metrics_text(self, number: int, now_s: float) -> str:
        """Return all series of a host at a time, in the text format of Prometheus.

        ``number`` is the place of the host in the states. One text holds the series of
        node_exporter, rdma_exporter and dcgm-exporter.
        """
        before, after = self.healthy.hosts[number], self.faulty.hosts[number]
        active = self.at_s <= now_s < self.until_s
        for_s = max(0.0, min(now_s, self.until_s) - self.at_s)
        key = key_of(self.healthy.plan)
        lines = []
        shown = self._with_events(after if active else before, now_s)
        for path, labels, value in _gauges(self.healthy, shown):
            lines.append(_line(metrics(path)[0], key, labels, value))
        for path, labels, counter, two in _counters(self.healthy, before, after):
            more = two.growth.get(path, 0.0) - counter.growth.get(path, 0.0)
            value = counted(self.events, before, counter, path, since_s=0.0, at_s=now_s) + int(
                more * for_s
            )
            lines.append(_line(metrics(path)[0], key, labels, value))
        return "\n".join(lines) + "\n"

    def _with_events(self, host: Host, now_s: float) -> Host:
        """Return a host with the states that an event sets while it lasts."""
        found = [
            event for event in self.events if event.sets and event.lasts(host.number, now_s)
        ]
        if not found:
            return host
        gpus = [
            replace(
                gpu,
                values=gpu.values
                | {
                    path: value
                    for event in at_part(
                        tuple(found), "gpu", host.number, gpu.number, len(host.gpus)
                    )
                    for path, value in event.sets.items()
                    if not gpu.values.get(path)
                },
            )
            for gpu in host.gpus
        ]
        return replace(host, gpus=gpus)


def history(timeline: Timeline, begin_s: int, for_s: float, every_s: float) -> Iterator[str]:
    """Yield lines of OpenMetrics: every series of every host, with the time of each sample.

    ``begin_s`` is the time of the first sample, in seconds since 1970; 0 on the timeline.
    """
    for step in range(int(for_s // every_s) + 1):
        for number, host in enumerate(timeline.healthy.hosts):
            place = f'{{instance="{host.name}",job="node",'
            for line in timeline.metrics_text(number, step * every_s).splitlines():
                yield f"{line.replace('{', place, 1)} {begin_s + step * every_s:.3f}\n"
    yield "# EOF\n"


def _line(metric: Metric, key: Mapping[str, str], labels: Labels, value: Value) -> str:
    words = {word: number for number, word in metric.values.items()}
    number = float(words.get(str(value), value))
    # Counters of states are in the unit of the exporter, gauges in that of the attribute.
    shown = f"{number if metric.type == 'counter' else number / metric.factor:.17g}"
    told = ",".join(f'{name}="{label}"' for name, label in labels.items())
    return f"{metric.name(key)}{{{told}}} {shown}"


def _gauges(state: State, host: Host) -> Iterator[tuple[str, Labels, Value]]:
    rate = layout(state.plan.cluster).link_bytes_per_s
    for rail in host.rails:
        labels = _port(rail)
        yield "port.state", labels, rail.values["port.state"]
        yield "port.rate", labels, rate * rail.values["port.rate_ratio"]
    for gpu in host.gpus:
        labels = {"gpu": str(gpu.number)}
        for path in _GPU:
            yield path, labels, gpu.values[path]
        hot = _THERMAL if gpu.values["gpu.throttle_thermal"] == "yes" else 0
        brake = _POWER_BRAKE if gpu.values["gpu.throttle_power_brake"] == "yes" else 0
        yield "gpu.clock_event_reasons", labels, _POWER_CAP + hot + brake


def _counters(
    state: State, before: Host, after: Host
) -> Iterator[tuple[str, Labels, Part, Part]]:
    roce = state.kind == "roce"
    ports = [*_PORTS, *(_ROCE_PORTS if roce else ())]
    interfaces = _ROCE_INTERFACES if roce else ()
    for rail, two in zip(before.rails, after.rails, strict=True):
        for path in ports:
            yield path, _port(rail), rail, two
        for path in interfaces:
            yield path, {"device": f"rail{rail.number}"}, rail, two
    for gpu, two in zip(before.gpus, after.gpus, strict=True):
        for path in _GPU_COUNTERS:
            yield path, {"gpu": str(gpu.number)}, gpu, two


def _port(rail: Part) -> dict[str, str]:
    return {"device": f"{rail.device}", "port": "1"}
