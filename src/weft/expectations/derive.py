"""Attributes that follow from others: shares of time, counts."""

from collections import Counter
from functools import partial
from statistics import median_low
from typing import Final

from weft.expectations.cabling import planned_cables
from weft.expectations.unusual import ordinary_harm, unusual_fields
from weft.inventory.entity import Entity
from weft.inventory.evidence import Evidence  # noqa: TC001 - a type at run time
from weft.inventory.inventory import Inventory, Reading
from weft.inventory.values import Value, number

_UNREACHABLE: Final = ("fe80:", "127.", "::1", "169.254.")
TUNING: Final = (
    "iommu", "intel_iommu", "amd_iommu", "pci=", "pcie_", "numa_balancing", "hugepages",
    "default_hugepagesz", "mitigations", "intel_idle", "processor.max_cstate", "isolcpus",
    "nohz_full", "transparent_hugepage", "cgroup_no_v1", "systemd.unified_cgroup_hierarchy",
)  # fmt: skip
"""Parameters of the kernel that change how fast or whether RDMA and GPUs work."""
_SEGMENT_BYTES: Final = 1448
"""Of TCP with timestamps in frames of 1,500 bytes. [RFC 9293, RFC 7323]"""


def derive(inventory: Inventory) -> None:
    """Add to an inventory what follows from what it holds."""
    steps = (
        _shares_of_time,
        _ranks_of_benchmarks,
        _typical_times,
        _weakest_lanes,
        _routable_gids,
        _devices_of_hosts,
        _tcp_loss,
        _families,
        _drop_shares,
        _carriers,
        _addressed,
        _kernel_parameters,
        _active_nvlinks,
        planned_cables,
        ordinary_harm,
        unusual_fields,
    )
    for step in steps:
        inventory.contained(step.__name__.strip("_"), partial(step, inventory))


def _ranks_of_benchmarks(inventory: Inventory) -> None:
    """Count the ranks and hosts of each benchmark from the ranks that it lists."""
    ranks: dict[str, dict[str, str]] = {}
    for entity, found in inventory.of("rank"):
        host = str(found["host"][-1].value) if "host" in found else ""
        ranks.setdefault(entity.field("job"), {})[entity.field("rank")] = host
    for entity, found in list(inventory.of("collective")):
        mine = ranks.get(entity.field("job"), {})
        if mine and "ranks" not in found:
            line = next(iter(found.values()))[-1].evidence
            inventory.record(entity, "ranks", float(len(mine)), line)
            inventory.record(entity, "hosts", float(len(set(mine.values()))), line)


def _typical_times(inventory: Inventory) -> None:
    """Take the median of its steps for the time of a phase: single steps wait for data."""
    for entity, found in list(inventory.of("phase")):
        readings = found.get("time", [])
        times = [
            float(reading.value) for reading in readings if isinstance(reading.value, float)
        ]
        if times:
            typical = median_low(times)
            line = readings[times.index(typical)].evidence
            inventory.record(entity, "time", typical, line)


def _shares_of_time(inventory: Inventory) -> None:
    """Turn two readings of the time that a priority was paused into a share of time."""
    for entity, found in list(inventory.of("priority")):
        readings = found.get("rx_pause_duration", [])
        if len(readings) < 2:  # noqa: PLR2004 - first and last
            continue
        first, last = readings[0], readings[-1]
        grown = inventory.increase(entity, "rx_pause_duration")
        if grown is not None and first.time_s is not None and last.time_s is not None:
            over = last.time_s - first.time_s
            if over > 0:
                inventory.record(entity, "pause_share", min(1.0, grown / over), last.evidence)


def _weakest_lanes(inventory: Inventory) -> None:
    """Take the lane that receives the least light for the power of the port."""
    for entity, found in list(inventory.of("port")):
        for reading in found.get("rx_power_lanes", ())[-1:]:
            lanes = reading.value if isinstance(reading.value, tuple) else ()
            powers = [one for lane in lanes if (one := number(lane)) is not None]
            if powers:
                inventory.record(entity, "rx_power", min(powers), reading.evidence)


def _routable_gids(inventory: Inventory) -> None:
    """Count the entries of RoCE v2 of each port whose GID holds an IP address."""
    counts: dict[tuple[str, ...], tuple[float, Evidence]] = {}
    for entity, found in inventory.of("gid"):
        if "type" in found and "address" in found and found["type"][-1].value == "roce v2":
            address = found["address"][-1]
            count, _ = counts.get(entity.key[:3], (0.0, address.evidence))
            routable = not str(address.value).lower().startswith(_UNREACHABLE)
            counts[entity.key[:3]] = (count + routable, address.evidence)
    for key, (count, line) in counts.items():
        inventory.record(Entity("port", key), "routable_gids", count, line)


def _devices_of_hosts(inventory: Inventory) -> None:
    """Count the GPUs and adapters of each host in the output that lists the most of them."""
    for kind, name in (("gpu", "gpus"), ("adapter", "adapters")):
        listed: Counter[tuple[str, str]] = Counter()
        lines: dict[tuple[str, str], Evidence] = {}
        for entity, found in inventory.of(kind):
            if "model" in found and entity.key[0]:
                line = found["model"][-1].evidence
                listed[entity.key[0], line.file] += 1
                lines[entity.key[0], line.file] = line
        for (host, file), count in listed.most_common():
            at = Entity("host", (host,))
            if not inventory.all(at, name):
                inventory.record(at, name, float(count), lines[host, file])


def _tcp_loss(inventory: Inventory) -> None:
    """Divide the TCP segments sent again by those sent, between two readings or in a test."""
    for entity, found in list(inventory.of("host")):
        all_sent = inventory.increase(entity, "tcp_sent")
        again = inventory.increase(entity, "tcp_retransmitted")
        if all_sent and again is not None:
            line = found["tcp_retransmitted"][-1].evidence
            inventory.record(entity, "tcp_loss", again / all_sent, line)
    for entity, found in list(inventory.of("measurement")):
        if "sent" in found and "retransmitted" in found:
            segments, sent = found["retransmitted"][-1], found["sent"][-1].value
            if isinstance(sent, float) and isinstance(segments.value, float) and sent > 0:
                share = segments.value * _SEGMENT_BYTES / sent  # of jumbo frames it is larger
                inventory.record(entity, "tcp_loss", share, segments.evidence)


_DROPS: Final = (
    ("interface", "rx_packets", "rx_dropped"),
    ("interface", "tx_packets", "tx_dropped"),
    ("switch_port", "tx_packets", "tx_drops"),
)
_FEWEST_PACKETS: Final = 1e6
"""Of fewer a share says nothing: a port that starts drops a few."""


def _drop_shares(inventory: Inventory) -> None:
    """Divide the packets that an interface or a port dropped by those it was to carry.

    Of the two directions the worse one counts.
    """
    for kind, carried, lost in _DROPS:
        for entity, found in list(inventory.of(kind)):
            if carried in found and lost in found:
                passed, dropped = (
                    grown if (grown := inventory.increase(entity, name)) is not None
                    else number(inventory.value(entity, name)) or 0.0
                    for name in (carried, lost)
                )  # fmt: skip
                share = dropped / max(passed + dropped, 1.0)
                known = number(inventory.value(entity, "drop_share")) or 0.0
                if passed + dropped >= _FEWEST_PACKETS and share >= known:
                    inventory.record(entity, "drop_share", share, found[lost][-1].evidence)


def _families(inventory: Inventory) -> None:
    """Note the name without numbers of each interface: those of one family are comparable."""
    for entity, found in list(inventory.of("interface")):
        if entity.field("interface") and found:
            name = "".join(
                "#" if text.isdigit() else text for text in entity.field("interface")
            )
            inventory.record(entity, "family", name, next(iter(found.values()))[-1].evidence)


def _carriers(inventory: Inventory) -> None:
    """Note whether interfaces that are enabled have a link."""
    for entity, found in list(inventory.of("interface")):
        for reading in found.get("flags", ())[-1:]:
            flags = reading.value if isinstance(reading.value, tuple) else ()
            if "UP" in flags:
                inventory.record(entity, "carrier", "LOWER_UP" in flags, reading.evidence)


def _addressed(inventory: Inventory) -> None:
    """Note which interfaces that are up have an address that others can reach."""
    known = list(inventory.of("interface"))
    hosts = {entity.key[0] for entity, found in known if "address" in found}
    for entity, found in known:
        state = found.get("state")
        if entity.key[0] in hosts and state and state[-1].value == "up":
            listed = [str(a) for r in found.get("address", ()) for a in _listed(r.value)]
            usable = any(not text.lower().startswith(_UNREACHABLE) for text in listed)
            inventory.record(entity, "addressed", usable, state[-1].evidence)


def _listed(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _kernel_parameters(inventory: Inventory) -> None:
    """Keep of the command line of the kernel what should be equal on all hosts."""
    for entity, found in list(inventory.of("host")):
        for reading in found.get("command_line", ())[-1:]:
            kept = [text for text in _listed(reading.value) if text.startswith(TUNING)]
            line = " ".join(sorted(kept)) or "none"
            inventory.record(entity, "kernel_parameters", line, reading.evidence)


def _active_nvlinks(inventory: Inventory) -> None:
    """Count the NVLinks of each GPU that are up."""
    links: dict[tuple[str, ...], list[Reading]] = {}
    for entity, found in inventory.of("nvlink"):
        if "state" in found:
            links.setdefault(entity.key[:2], []).append(found["state"][-1])
    for key, states in links.items():
        at = Entity("gpu", key)
        if not inventory.all(at, "nvlinks_active"):
            active = sum(state.value == "active" for state in states)
            inventory.record(at, "nvlinks_active", float(active), states[-1].evidence)
