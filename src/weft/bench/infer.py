"""A cluster from a log alone: what the output says of ranks, GPUs and NICs, and what it leaves.

What a log does not say is taken from the usual server of its GPU, and each such guess is named.
A guess that the verdict hangs on (the number and rate of the NICs, where hosts are crossed)
makes the verdict inconclusive: missing evidence is never a pass.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import re2

from weft import catalogue, units
from weft.bench.sweep import Sweep
from weft.catalogue.devices import Server
from weft.catalogue.named import gpu_of
from weft.engines.analytic.collective.tuning import number
from weft.inventory.inventory import Inventory
from weft.readers.benchmarks import measured
from weft.spec.cluster import Cluster, FabricChoice, Host, Nccl, ScaleUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What was understood of the cluster behind a log."""

    cluster: Cluster | None
    """None where not even the GPU is known."""
    known: tuple[str, ...] = ()
    """What the log says."""
    assumed: tuple[str, ...] = ()
    """What it leaves open, and what is taken."""
    unknown: tuple[str, ...] = ()
    """What the verdict hangs on and nothing says."""
    guessed: tuple[str, ...] = ()
    """What no file describes: ``host``, ``network``; nothing where a cluster file is there."""


def infer(sweep: Sweep, seen: Inventory) -> Inferred:
    """Work out the cluster that a log comes from, as far as it says."""
    if sweep.what != "collective":
        return _infer_link(seen)
    gpu = gpu_of(sweep.gpu_name)
    missing = [
        word for word, there in (
            ("the GPU (the '# Rank' lines of nccl-tests name it)", gpu),
            ("the number of ranks", sweep.ranks), ("the number of hosts", sweep.host_count),
        ) if not there
    ]  # fmt: skip
    if missing or gpu is None or sweep.ranks is None or sweep.host_count is None:
        missing[-1] += "; a cluster file says it all: weft bench judge RUN cluster.yaml"
        return Inferred(cluster=None, unknown=tuple(missing))
    hosts, per_host = domains(gpu, sweep.ranks, sweep.host_count)
    server = _server(gpu, per_host)
    seen_on = f"{sweep.host_count} host{'s' * (sweep.host_count > 1)}"
    known = [f"{sweep.gpu_name}: {sweep.ranks} on {seen_on}"]
    assumed = [f"server: {server.title}" if server else "server: one that is not in the list"]
    nics = _with_racks(_nics(seen, server), sweep, seen, racks=hosts)
    version = next(iter(_said(seen, "nccl")), "")
    known += [f"NCCL {version}"] if version else []
    assumed += [] if version else [f"NCCL {Nccl().version}"]
    cluster = Cluster(
        name=(server.title if server else sweep.gpu_name), hosts=hosts,
        host=_host(gpu, per_host, server, nics),
        fabric=FabricChoice.model_construct(kind=nics.fabric),
        nccl=Nccl(version=version) if version else Nccl(),
    )  # fmt: skip
    if hosts == sweep.host_count == 1:
        return Inferred(
            cluster=cluster, known=tuple(known), assumed=tuple(assumed), guessed=("host",)
        )
    return Inferred(
        cluster=cluster, known=(*known, *nics.known), assumed=(*assumed, *nics.assumed),
        unknown=nics.unknown, guessed=("host", *(["network"] if nics.unknown else [])),
    )  # fmt: skip


def _infer_link(seen: Inventory) -> Inferred:
    """Work out the link of messages: its layer, and its rate where a port says it."""
    rows = measured(seen)
    used = {row.adapter for row in rows if row.adapter}
    ports = [port for port in up_ports(seen) if not used or port.adapter in used]
    if not ports:
        what = f" of {', '.join(sorted(used))}" if used else ""
        ask = (
            f"the rate of the link{what}: give ibstat or ibv_devinfo of the host beside the "
            "run, or describe the cluster: cluster.yaml"
        )
        return Inferred(cluster=None, unknown=(ask,))
    port = min(ports, key=lambda port: port.rate_bytes_per_s)
    said = [row.link_layer for row in rows] + [port.link_layer]
    layers = [text for text in said if text in _KINDS]
    rate = port.rate_bytes_per_s
    known = (
        f"{port.adapter} runs at {units.show_rate(rate)} now: that is taken, whether or not it "
        "is what the link should have"
    )
    kind = _KINDS[layers[0]] if layers else "infiniband"
    assumed = () if layers else (f"fabric: {kind}",)
    return Inferred(
        cluster=link_between(kind, rate), known=(known,), assumed=assumed, guessed=("host",)
    )


_ACTIVE: Final = "active"
_MOST_OF_ONE_HOST: Final = 16
"""GPUs that one operating system has at most; a larger NVLink domain joins several."""
_KINDS: Final = {"infiniband": "infiniband", "ethernet": "roce"}
"""Fabrics by the link layer of a port."""
_LISTED: Final = re2.compile(r"^\[\d+\]([^\s:]+):(\d+)/(\w+)")
_LAYERS: Final = {"IB": "infiniband", "RoCE": "ethernet"}


def link_between(kind: str, rate_bytes_per_s: float) -> Cluster:
    """Return two hosts with one NIC each: all that a message between two hosts asks."""
    up = ScaleUp.model_construct(kind="pcie", gpus=1, bytes_per_s=rate_bytes_per_s)
    host = Host.model_construct(
        gpu="h100_sxm", gpus=1, nic="connectx7", nics=1, nic_bytes_per_s=rate_bytes_per_s,
        scale_up=up,
    )  # fmt: skip
    return Cluster(
        name="two hosts", hosts=2, host=host, fabric=FabricChoice.model_construct(kind=kind)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePort:
    """An RDMA port that is up and whose rate is told."""

    host: str
    adapter: str
    port: str
    rate_bytes_per_s: float
    link_layer: str


def up_ports(seen: Inventory) -> list[ActivePort]:
    """Return the RDMA ports that are up and whose rate is told."""
    return [
        ActivePort(
            host=port.field("host") or found["rate"][-1].evidence.file,
            adapter=port.field("adapter"), port=port.field("port"), rate_bytes_per_s=rate,
            link_layer=str(seen.value(port, "link_layer") or ""),
        )
        for port, found in seen.of("port")
        if isinstance(rate := seen.value(port, "rate"), float)
        and rate
        and seen.value(port, "state") in (_ACTIVE, None)
    ]  # fmt: skip


def networks(seen: Inventory) -> list[str]:
    """Return the networks that the processes of a job say they use."""
    return _said(seen, "network")


def _said(seen: Inventory, name: str) -> list[str]:
    """Return what the processes of a job say of one attribute, those that say anything."""
    values = (seen.value(process, name) for process, _ in seen.of("process"))
    return [str(value) for value in values if value]


def variables(seen: Inventory) -> dict[str, str]:
    """Return the variables of NCCL and its like that the files show, by name."""
    said = {
        entity.field("setting"): seen.value(entity, "value") for entity, _ in seen.of("setting")
    }
    return {name: str(value) for name, value in said.items() if value is not None}


def as_logged(cluster: Cluster, sweep: Sweep, seen: Inventory) -> Inferred:
    """Lay what a log says over the cluster of the user: its NCCL, and whether it is its GPU."""
    gpu = gpu_of(sweep.gpu_name)
    unknown = []
    if gpu is not None and gpu.split("_")[0] != cluster.host.gpu.split("_")[0]:
        unknown.append(
            f"which cluster this is: the output has {sweep.gpu_name}, the cluster file "
            f"{cluster.host.gpu}"
        )
    version = next(iter(_said(seen, "nccl")), "")
    if not version or number(version)[:2] == number(cluster.nccl.version)[:2]:
        return Inferred(cluster=cluster, unknown=tuple(unknown))
    said = f"the output has NCCL {version}, not {cluster.nccl.version}: what ran counts"
    newer = cluster.with_(nccl=cluster.nccl.with_(version=version))
    return Inferred(cluster=newer, known=(said,), unknown=tuple(unknown))


def domains(gpu: str, ranks: int, hosts: int) -> tuple[int, int]:
    """Return servers and the ranks on each: a rack of many hosts is one server here."""
    per_host = -(-ranks // hosts)
    server = _server(gpu, per_host)
    if server is not None and server.scale_up_gpus > _MOST_OF_ONE_HOST:
        racks = -(-ranks // server.scale_up_gpus)
        return racks, -(-ranks // racks)
    return hosts, per_host


def _server(gpu: str, per_host: int) -> Server | None:
    found = [catalogue.find("servers", name) for name in catalogue.names("servers")]
    fitting = [server for server in found if server.gpu == gpu and server.gpus >= per_host]
    return min(fitting, key=lambda item: (item.cloud, item.gpus), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nics:
    fabric: str
    count: int
    bytes_per_s: float
    nic: str
    known: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def _nics(seen: Inventory, server: Server | None) -> _Nics:
    chosen = _chosen(seen)
    network, ports = next(iter(networks(seen)), ""), up_ports(seen)
    known, assumed, unknown = [], [], []
    used = max((*adapters(seen), *_counted(seen, "socket_interfaces")), default=0)
    there = _fastest(ports)
    # A server may have more ports of one rate than a job should use: two are for storage.
    count = used or (min(there, server.nics) if server else there)
    if count:
        said = "adapters a host that NCCL uses" if used else "ports of one rate a host"
        known.append(f"{count} {said}")
        if server and count < server.nics:
            unknown.append(f"whether a host has {server.nics} NICs ({server.title}) or {count}")
    else:
        count = server.nics if server else 1
        assumed.append(f"NICs of a host: {count}")
        unknown.append(
            "the NICs of a host (give the log of NCCL_DEBUG=INFO or ibstat beside the run, or "
            "cluster.yaml)"
        )
    rate = _rate(seen, chosen, ports)
    if rate is None:
        rate = float(server.nic_bytes_per_s) if server else units.parse_rate("100Gb/s")
        unknown.append("the rate of the NICs")
        assumed.append(f"rate of a NIC: {units.show_rate(rate)}")
    else:
        known.append(f"NICs of {units.show_rate(rate)}")
    kind, is_said = _fabric(chosen, network, ports)
    (known if is_said else assumed).append(f"fabric: {kind}")
    if kind == "tcp":
        unknown.append("whether sockets were meant, or RDMA was and did not come up")
    return _Nics(
        fabric=kind, count=count, bytes_per_s=rate, nic=server.nic if server else "connectx7",
        known=tuple(known), assumed=tuple(assumed), unknown=tuple(unknown),
    )  # fmt: skip


def _with_racks(nics: _Nics, sweep: Sweep, seen: Inventory, *, racks: int) -> _Nics:
    """Add what is assumed of hosts that NVLink joins; inside one rack NICs do not matter."""
    if sweep.host_count in (None, racks):
        return nics
    words = f"{sweep.host_count} hosts in {racks} NVLink domain{'s' * (racks > 1)}"
    own = replace(nics, known=(), assumed=(), unknown=()) if racks == 1 else nics
    if _said(seen, "mnnvl"):
        return replace(own, known=(*own.known, words))
    ask = f"whether NVLink joins the {sweep.host_count} hosts (MNNVL in NCCL's log)"
    return replace(own, assumed=(*own.assumed, words), unknown=(ask, *own.unknown))


def _rate(seen: Inventory, chosen: Mapping[str, str], ports: list[ActivePort]) -> float | None:
    told = [seen.value(adapter, "rate") for adapter, _ in seen.of("adapter")]
    rates = [text for text in told if isinstance(text, float)]
    if rates:
        return rates[0]
    used = [port.rate_bytes_per_s for port in ports if not chosen or port.adapter in chosen]
    return max(used, default=None)


def _fastest(ports: list[ActivePort]) -> int:
    """Return how many ports of a host have the highest rate there is."""
    most = max((port.rate_bytes_per_s for port in ports), default=0.0)
    by_host: dict[str, set[str]] = defaultdict(set)
    for port in ports:
        if port.rate_bytes_per_s == most:
            by_host[port.host].add(f"{port.adapter}:{port.port}")
    return max(map(len, by_host.values()), default=0)


def adapters(seen: Inventory) -> tuple[int, ...]:
    """Return how many RDMA ports the log says that each host uses; of sockets none."""
    return _counted(seen, "adapters")


def _counted(seen: Inventory, name: str) -> tuple[int, ...]:
    by_host: dict[str, set[str]] = defaultdict(set)
    for process, found in seen.of("process"):
        for reading in found.get(name, ()):
            listed = reading.value if isinstance(reading.value, tuple) else ()
            # A device that is made of several is no port of its own.
            by_host[process.field("host")] |= {text for text in listed if "+" not in text}
    return tuple(len(found) for found in by_host.values() if found)


def _chosen(seen: Inventory) -> dict[str, str]:
    """Return the link layer of each RDMA device that NCCL lists, by its name."""
    listed = [
        _LISTED.match(word)
        for _, found in seen.of("process")
        for reading in found.get("adapters", ())
        for word in (reading.value if isinstance(reading.value, tuple) else ())
    ]
    return {item[1]: _LAYERS.get(item[3], "") for item in listed if item}


def _fabric(
    chosen: Mapping[str, str], network: str, ports: list[ActivePort]
) -> tuple[str, bool]:
    """Return the fabric, and whether the log says it."""
    if "socket" in network.lower():
        return "tcp", True
    if "libfabric" in network.lower() or "ofi" in network.lower():
        return "efa", True
    layers = set(chosen.values())
    if "ethernet" in layers:
        return "roce", True
    seen = {port.link_layer for port in ports}
    if not layers & {*_KINDS} and seen == {"ethernet"}:
        return "roce", True
    return "infiniband", "infiniband" in layers | seen


def _host(gpu: str, per_host: int, server: Server | None, nics: _Nics) -> Host:
    device = catalogue.find("gpus", gpu)
    kinds: dict[str, Literal["nvlink", "xgmi", "pcie"]] = {"nvlink": "nvlink", "xgmi": "xgmi"}
    kind = kinds.get(device.scale_up_kind, "pcie")
    rate = float(device.scale_up_bytes_per_s or units.parse_rate("25GB/s"))
    cpus: dict[str, Literal["intel", "amd", "arm"]] = {"amd": "amd", "arm": "arm"}
    up = ScaleUp.model_construct(
        kind=kind, gpus=server.gpus if server else per_host, bytes_per_s=rate,
        in_network_reduction=device.generation in ("hopper", "blackwell"),
    )  # fmt: skip
    return Host.model_construct(
        gpu=gpu, gpus=max(per_host, server.gpus if server else per_host), nic=nics.nic,
        nics=nics.count, nic_bytes_per_s=nics.bytes_per_s,
        cpu=cpus.get(server.cpu if server else "", "intel"), scale_up=up,
        gpudirect=nics.fabric != "tcp",
    )  # fmt: skip
