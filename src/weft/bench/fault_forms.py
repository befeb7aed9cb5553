"""The forms of each fault: the changed cluster, or the constants of the model it multiplies.

A function has the name of its row in ``faults.toml``. Rows that are graded take an amount from
0 (slight) to 1 (heavy).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft import units
from weft.bench.expected import NET_STEP, Setting
from weft.engines.analytic.collective.path import PCIE_BYTES_PER_S
from weft.engines.analytic.collective.tuning import gpu_class
from weft.network.network import resolve
from weft.spec.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One form of a fault: how much of it, and the cluster that has it."""

    label: str
    """In words, as ``4 of 8 NICs``."""
    cluster: Cluster
    factors: Mapping[str, float] = field(default_factory=dict)
    """Fitted constants of the model that it multiplies, by name."""


def crosses(setting: Setting) -> bool:
    """Tell whether a sweep leaves the scale-up domain, so that NICs matter."""
    return setting.group.domains > 1


def with_env(cluster: Cluster, **values: str) -> Cluster:
    """Return a cluster with variables of the library set."""
    return cluster.with_(nccl=cluster.nccl.with_(env={**cluster.nccl.env, **values}))


def with_variable(
    setting: Setting, variable: str, values: Sequence[str], form: str
) -> Iterator[Variant]:
    """Yield clusters that set a variable, where the cluster itself leaves it alone."""
    if variable not in setting.cluster.nccl.env:
        for value in values:
            cluster = with_env(setting.cluster, **{variable: value})
            yield Variant(label=form.format(value), cluster=cluster)


def affinity(setting: Setting, amount: float) -> Variant:
    """A step costs 1.25 to 6 times as much on the far socket."""
    times = 1.25 * (6.0 / 1.25) ** amount
    family = NET_STEP if crosses(setting) else "local_step"
    unit = "step" if setting.sweep.what == "collective" else "message"
    label = f"each {unit} costs {times:.2g} times as much"
    return Variant(label=label, cluster=setting.cluster, factors={family: times})


def ecmp_collisions(setting: Setting) -> Iterable[Variant]:
    """The slowest of the flows on an uplink is what a collective waits for."""
    choice, kind = setting.cluster.fabric, resolve(setting.cluster).fabric
    if "ecmp" not in kind.load_balancing:
        return
    if choice.load_balancing not in (None, "ecmp") or kind.default_load_balancing != "ecmp":
        label = "plain ECMP in place of the balancing of the spec"
        yield _fabric(setting, label, load_balancing="ecmp")
    for flows in (2, 3, 4):
        yield _fabric(setting, f"{flows} flows on one uplink", load_ratio=1 - 1 / flows)


def few_sockets(setting: Setting) -> Iterable[Variant]:
    """One connection of a pair."""
    sockets = setting.cluster.fabric.sockets or 1
    if sockets > 1 and resolve(setting.cluster).fabric.socket_bytes_per_s is not None:
        yield _fabric(setting, "one connection", sockets=1, socket_threads=1)


def gpudirect_off(setting: Setting) -> Iterable[Variant]:
    """Every byte is copied through host memory."""
    if setting.cluster.host.gpudirect:
        yield _host(setting, "copies in host memory", gpudirect=False)


def low_cpu_frequency(setting: Setting, amount: float) -> Variant:
    """The clock is 1.25 to 4 times below what is usual."""
    times = 1.25 * (4.0 / 1.25) ** amount
    steps = {NET_STEP: times} if crosses(setting) else {}
    return Variant(
        label=f"clock at {1 / times:.0%} of what is usual",
        cluster=setting.cluster,
        factors={"base": times, "socket": 1 / times, "host_socket": 1 / times, **steps},
    )


def nics_lost(setting: Setting) -> Iterable[Variant]:
    """Eighths of the NICs: more forms than these tell nothing more."""
    nics, parts = setting.cluster.host.nics, 8
    for part in range(1, parts):
        left = nics * part // parts
        if 1 <= left < nics and (part == 1 or left > nics * (part - 1) // parts):
            yield _host(setting, f"{left} of {nics} NICs work", nics=left)


def no_scale_up(setting: Setting) -> Iterable[Variant]:
    """GPUs of a host reach one another over PCIe."""
    up = setting.cluster.host.scale_up
    if up.kind != "pcie" and setting.group.ranks_per_domain > 1:
        slow = up.with_(
            kind="pcie", in_network_reduction=False, bytes_per_s=_slot_bytes_per_s(setting)
        )
        yield _host(setting, "over PCIe", scale_up=slow)


def nvls_missing(setting: Setting) -> Iterable[Variant]:
    """A ring runs in place of NVLink SHARP."""
    if setting.cluster.host.scale_up.in_network_reduction:
        cluster = with_env(setting.cluster, NCCL_NVLS_ENABLE="0")
        yield Variant(label="NCCL_NVLS_ENABLE=0, or it could not be set up", cluster=cluster)


def pcie_bound(setting: Setting) -> Iterable[Variant]:
    """The slot of the NIC has half its lanes, or a lower generation."""
    host = setting.cluster.host
    for part, label in ((2, "x8, or one generation lower"), (4, "x4, or two lower")):
        rate = _slot_bytes_per_s(setting) / part
        if host.nics and rate < host.nic_bytes_per_s:
            text = f"{label}: {units.show_rate(rate)} a NIC"
            yield _host(setting, text, pcie_bytes_per_s=rate)


def shared_network(setting: Setting, amount: float) -> Variant | None:
    """Others take 15 to 85 % of the links."""
    share = 0.15 + (0.85 - 0.15) * amount
    if share <= setting.cluster.fabric.load_ratio:
        return None
    return _fabric(setting, f"{share:.0%} of the links taken", load_ratio=share)


def sharp_missing(setting: Setting) -> Iterable[Variant]:
    """SHARP in the switches was expected and does not take part."""
    if setting.cluster.fabric.in_network_reduction:
        yield _fabric(setting, "no CollNet", in_network_reduction=False)


def slow_pair(setting: Setting, amount: float) -> Variant:
    """A link has 85 to 4 % of its rate; a collective goes at the pace of its slowest link."""
    left = 0.85 * (0.04 / 0.85) ** amount
    rate = setting.cluster.host.nic_bytes_per_s * left
    return _host(setting, f"a link at {left:.0%} of its rate", nic_bytes_per_s=rate)


def small_packets(setting: Setting) -> Iterable[Variant]:
    """An MTU below what the fabric is meant to have."""
    kind = resolve(setting.cluster).fabric
    now = setting.cluster.fabric.mtu_bytes or kind.default_mtu_bytes
    for smaller in (size for size in kind.mtus_bytes if size < now):
        yield _fabric(setting, f"MTU {smaller} in place of {now}", mtu_bytes=smaller)


def tcp_fallback(setting: Setting) -> Iterable[Variant]:
    """Sockets over the same NICs, or over the one of management."""
    if not resolve(setting.cluster).fabric.rdma:
        return
    plain = _fabric(
        setting, "over the same NICs", kind="tcp", load_balancing=None, mtu_bytes=None,
        in_network_reduction=False,
    )  # fmt: skip
    yield plain
    for text in ("100Gb/s", "25Gb/s", "10Gb/s"):
        host = plain.cluster.host.with_(nics=1, nic_bytes_per_s=units.parse_rate(text))
        cluster = plain.cluster.with_(host=host)
        yield Variant(label=f"over one interface of {text}", cluster=cluster)


def untuned_fabric(setting: Setting) -> Iterable[Variant]:
    """Flow control, ECN or sockets as they come out of the box, or set wrong."""
    for name in ("default", "misconfigured"):
        if setting.cluster.fabric.tuning == "tuned" or name == "misconfigured":
            yield _fabric(setting, f"tuning: {name}", tuning=name)


def _fabric(setting: Setting, label: str, **changes: Any) -> Variant:  # noqa: ANN401 - keys of the spec
    cluster = setting.cluster
    return Variant(label=label, cluster=cluster.with_(fabric=cluster.fabric.with_(**changes)))


def _host(setting: Setting, label: str, **changes: Any) -> Variant:  # noqa: ANN401 - as above
    cluster = setting.cluster
    return Variant(label=label, cluster=cluster.with_(host=cluster.host.with_(**changes)))


def _slot_bytes_per_s(setting: Setting) -> float:
    return PCIE_BYTES_PER_S.get(gpu_class(setting.cluster.host.gpu), 48e9)
