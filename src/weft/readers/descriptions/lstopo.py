"""`lstopo --of xml` of hwloc: the PCI devices of one host, and what is near what.

``pci_type`` begins with the class of a device, ``pci_link_speed`` is GB/s [hwloc2.dtd].
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.readers.description import Described, Description
from weft.readers.untrusted import Lines, Malformed

_GPU_CLASSES: Final = ("0302", "0300", "1200")
"""3D controller, display controller, processing accelerator."""
_GPU_VENDORS: Final = ("10de", "1002")
_INFINIBAND_CLASS: Final = "0207"
_OPENFABRICS: Final = "3"
_CPUS: Final = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}
_GIGA: Final = 1e9


@dataclass(frozen=True, slots=True)
class _Device:
    """A PCI device: its address without the function, and all that it hangs on."""

    address: str
    above: tuple[tuple[str, int], ...]
    """Type and number of every object above it, the machine first."""
    kind: str
    vendor: str
    title: str
    bytes_per_s: float
    system_name: str
    """Of its RDMA or network interface."""
    rdma: bool


def _claims(value: Any) -> bool:  # noqa: ANN401 - any document
    return isinstance(value, dict) and isinstance(value.get("topology"), dict)


def _reads(value: Any, lines: Lines) -> Described:  # noqa: ANN401 - any document
    machine = value["topology"]
    devices = list(_devices(machine, lines))
    info = dict(_infos(machine))
    gpus = [
        device
        for device in devices
        if device.kind in _GPU_CLASSES and device.vendor in _GPU_VENDORS
    ]
    if not gpus:
        raise Malformed(
            "holds no GPU; run lstopo on a host with GPUs, without --no-io, as lstopo --of xml",
            lines.get(id(machine), 1),
        )
    nics = _compute_nics(devices, gpus)
    if not nics:
        raise Malformed(
            "holds no RDMA device (OSDev of OpenFabrics); load the driver and run lstopo again",
            lines.get(id(machine), 1),
        )
    slowest = min(nic.bytes_per_s for nic in nics)
    infiniband = nics[0].kind == _INFINIBAND_CLASS
    return Described(
        name=info.get("HostName", "host"), gpu=gpus[0].title, gpus=len(gpus),
        nic=nics[0].title, nics=len(nics), pcie_bytes_per_s=slowest or None,
        cpu="arm" if info.get("Architecture") == "aarch64" else _CPUS.get(
            info.get("CPUVendor", "")),
        fabric="infiniband" if infiniband else "roce",
        near=tuple(_near(gpus, nics)),
    )  # fmt: skip


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - any document
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _infos(element: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any document
    """Yield names and values of the info elements of the machine and what it holds."""
    for item in _listed(element.get("info") if isinstance(element, dict) else None):
        if isinstance(item, dict):
            yield str(item.get("name")), str(item.get("value"))
    for below in _listed(element.get("object") if isinstance(element, dict) else None):
        if isinstance(below, dict) and below.get("type") in {"Machine", "Package"}:
            yield from _infos(below)


def _devices(machine: Any, lines: Lines) -> Iterator[_Device]:  # noqa: ANN401 - as above
    """Yield the PCI devices of a machine, once each, whatever their functions."""
    seen: set[str] = set()
    waiting: list[tuple[Any, tuple[tuple[str, int], ...]]] = [(machine, ())]
    while waiting:
        one, path = waiting.pop()
        children = [row for row in _listed(one.get("object")) if isinstance(row, dict)]
        kind = str(one.get("type", ""))
        if kind == "PCIDev":
            device = _device(one, path, children, lines.get(id(one), 1))
            if device.address not in seen:
                seen.add(device.address)
                yield device
        inner = (*path, (_place(one, kind), id(one)))
        waiting += [(child, inner) for child in reversed(children)]


def _place(element: dict[str, Any], kind: str) -> str:
    return f"{kind} {element.get('depth', '')}".strip() if kind == "Bridge" else kind


def _device(
    one: dict[str, Any], path: tuple[tuple[str, int], ...], children: list[Any], line: int
) -> _Device:
    info = dict(_infos(one))
    below = [child for child in children if child.get("type") == "OSDev"]
    for child in below:
        info |= {name: text for name, text in _infos(child) if name == "GPUModel"}
    rdma = [child for child in below if child.get("osdev_type") == _OPENFABRICS]
    words = str(one.get("pci_type", "")).replace("[", " ").replace("]", " ").split()
    speed = str(one.get("pci_link_speed", "0"))
    try:
        bytes_per_s = float(speed) * _GIGA
    except ValueError as failure:
        raise Malformed(f"pci_link_speed is {speed!r}; lstopo writes GB/s", line) from failure
    named = [*rdma, *below]
    return _Device(
        address=str(one.get("pci_busid", "")).partition(".")[0], above=path,
        kind=words[0] if words else "", vendor=words[1].partition(":")[0] if words[1:] else "",
        title=info.get("GPUModel") or info.get("PCIDevice") or " ".join(words[1:2]),
        bytes_per_s=bytes_per_s, system_name=str(named[0].get("name", "")) if named else "",
        rdma=bool(rdma),
    )  # fmt: skip


def _shared(one: _Device, other: _Device) -> tuple[int, str]:
    """Return how many objects two devices both hang on, and the lowest of them."""
    both = [a for a, b in zip(one.above, other.above, strict=False) if a == b]
    return len(both), both[-1][0] if both else ""


def _compute_nics(devices: Sequence[_Device], gpus: Sequence[_Device]) -> list[_Device]:
    """Return the RDMA devices of the most frequent kind, those alone that are nearest to GPUs.

    Where some share a PCIe switch with a GPU, the others are for storage.
    """
    rdma = [device for device in devices if device.rdma]
    if not rdma:
        return []
    usual = Counter((device.title, device.bytes_per_s) for device in rdma).most_common(1)[0][0]
    nics = [device for device in rdma if (device.title, device.bytes_per_s) == usual]
    near = {nic.address: max(_closeness(_shared(nic, gpu)[1]) for gpu in gpus) for nic in nics}
    return [nic for nic in nics if near[nic.address] == max(near.values())][: len(gpus)]


def _closeness(place: str) -> int:
    """Return 2 below a PCIe switch, 1 below a root complex, 0 elsewhere."""
    return 0 if not place.startswith("Bridge") else 1 + (place != "Bridge 0")


_WORDS: Final = {"Bridge": "behind the same PCIe switch", "Bridge 0": "at the same PCIe root"}


def _near(gpus: Sequence[_Device], nics: Sequence[_Device]) -> Iterator[str]:
    """Say which NIC is nearest to each GPU."""
    for number, gpu in enumerate(gpus):
        far = [(_shared(gpu, nic), nic) for nic in nics]
        most = max(depth for (depth, _), _ in far)
        names = ", ".join(nic.system_name or nic.address for (depth, _), nic in far
                          if depth == most)  # fmt: skip
        lowest = next(kind for (depth, kind), _ in far if depth == most)
        words = _WORDS.get(lowest) or _WORDS.get(lowest.partition(" ")[0])
        where = words or ("in another socket" if lowest in {"", "Machine"} else "in its socket")
        yield f"GPU {number} ({gpu.address}): nearest NIC {names}, {where}"


lstopo = Description(title="lstopo XML (hwloc)", claims=_claims, reads=_reads)
