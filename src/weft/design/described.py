"""A cluster from what another tool described: `lstopo`, InfraGraph."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import catalogue
from weft.catalogue.named import gpu_of, nic_of
from weft.errors import SpecError
from weft.network.network import layout, resolve
from weft.readers.description import Described, read_description
from weft.spec.cluster import Cluster
from weft.spec.load import preset, presets
from weft.units import show_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A cluster that was described."""

    cluster: Cluster
    base: str
    """Preset that gave what the description does not tell."""
    near: tuple[str, ...]
    """Which NIC is near which GPU."""
    notes: tuple[str, ...]
    """What to check."""


def described_cluster(path: Path, base: str | None = None, gpus: int | None = None) -> "Made":
    """Return the cluster of a description.

    What the description does not tell is that of the preset ``base``, by default of the first
    shipped one with the same GPU and fabric; ``gpus`` sets the number of hosts. Raises
    SpecError where a device is unknown and no preset is named, or the parts do not fit.
    """
    found = read_description(path)
    gpu, nic = gpu_of(found.gpu), nic_of(found.nic)
    named = base or _usual(found, gpu, path)
    own = preset(named)
    hosts = found.hosts or own.hosts
    if gpus is not None:
        hosts = -(-gpus // found.gpus)
    host = {**_gpu(found, gpu or own.host.gpu, own), "nics": found.nics}
    if found.cpu is not None:
        host["cpu"] = found.cpu
    host |= _nic(found, nic)
    changes: dict[str, Any] = {"hosts": hosts, "host": host, "topology": dict(found.topology)}
    if found.fabric is not None and own.fabric.kind != found.fabric:
        changes["fabric"] = {"kind": found.fabric}
    made = preset(named, **changes)
    return Made(
        cluster=made.with_(name=_name(found.name)), base=named, near=found.near,
        notes=tuple(_notes(found, made, gpu, nic)),
    )  # fmt: skip


def _usual(found: Described, gpu: str | None, path: Path) -> str:
    """Return the shipped cluster that is nearest: its GPU, bought, its fabric, its NICs."""
    if gpu is None:
        raise SpecError(
            f"{path}: unknown GPU {found.gpu!r}; name the nearest cluster with --preset "
            "(weft init --list); its GPU is used instead"
        )

    def nearness(name: str) -> tuple[bool, ...]:
        own = preset(name)
        return (
            own.host.gpu == gpu, resolve(own).provider is None,
            found.fabric in {None, own.fabric.kind}, own.host.nics == found.nics,
        )  # fmt: skip

    return max(presets(), key=nearness)


def _gpu(found: Described, gpu: str, own: Cluster) -> dict[str, Any]:
    """Return the keys of the GPUs and their scale-up network."""
    keys: dict[str, Any] = {"gpu": gpu, "gpus": found.gpus}
    if (gpu, found.gpus) == (own.host.gpu, own.host.gpus):
        return keys
    device = catalogue.find("gpus", gpu)
    scale_up: dict[str, Any] = {"gpus": found.gpus}
    if gpu != own.host.gpu:
        scale_up |= {"kind": device.scale_up_kind, "in_network_reduction": False}
        if device.scale_up_bytes_per_s is not None:
            scale_up["bytes_per_s"] = show_rate(float(device.scale_up_bytes_per_s))
    return {**keys, "server": "", "scale_up": scale_up}


def _nic(found: Described, nic: str | None) -> dict[str, Any]:
    """Return the keys of the NIC; its rate is the described one, else that of the catalogue."""
    keys: dict[str, Any] = {}
    if nic is not None:
        keys |= {"nic": nic, "nic_bytes_per_s": show_rate(_rate(nic))}
    if found.nic_bytes_per_s is not None:
        keys["nic_bytes_per_s"] = show_rate(found.nic_bytes_per_s)
        if nic is None or found.nic_bytes_per_s > _rate(nic):
            keys["nic"] = ""
    if found.pcie_bytes_per_s is not None:
        keys["pcie_bytes_per_s"] = show_rate(found.pcie_bytes_per_s)
    return keys


def _rate(nic: str) -> float:
    return float(catalogue.find("nics", nic).bytes_per_s)


def _name(text: str) -> str:
    plain = "".join(item if item.isalnum() else "-" for item in text.lower()).strip("-")
    return plain[:60] or "cluster"


def _notes(found: Described, made: Cluster, gpu: str | None, nic: str | None) -> Iterator[str]:
    """Say what was taken from elsewhere, and where weft's network differs."""
    if gpu is None:
        yield f"unknown GPU {found.gpu!r}: {made.host.gpu} is used instead"
    if nic is None:
        yield f"unknown NIC {found.nic!r}: check host.nic"
    if found.nic_bytes_per_s is None:
        yield (
            f"nic_bytes_per_s is the most that {made.host.nic or 'the NIC'} can: the file has "
            "no rate of a link; check it with ibstat or ethtool"
        )
    if found.hosts is None:
        yield f"hosts: {made.hosts}: the file describes one host; set it, as --gpus does"
    if found.switches:
        plan = layout(made)
        built = tuple(count for count in (plan.leaf, plan.spine, plan.core) if count)
        if built != found.switches:
            shown = " + ".join(map(str, found.switches))
            yield (
                f"the file has {shown} switches by tier and weft builds "
                f"{' + '.join(map(str, built))}: compare topology with it"
            )
