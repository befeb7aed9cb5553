"""How hosts can be joined to a fabric: which NICs, how many, at which rate."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from weft import catalogue, units
from weft.advise.pins import Pins
from weft.catalogue.devices import Nic
from weft.design.bom import server_of
from weft.errors import Infeasible
from weft.network import fabric
from weft.spec.cluster import Cluster, Host
from weft.spec.compatibility import nic_of

SLOT_BYTES_PER_S: Final = {
    gen: units.rate_from_gbit(gbit) for gen, gbit in {3: 100, 4: 200, 5: 400, 6: 800}.items()
}
"""The fastest NIC that an x16 slot of a PCIe generation feeds: 100G NICs were sold for PCIe 3,
200G for 4, 400G for 5 and 800G for 6 [ConnectX-5 to ConnectX-8 data sheets]."""
SLACK: Final = 1 + 1e-9
SHARES: Final = (1, 2, 4, 8)
"""A host may have all NICs that it has room for, or a half, a quarter or an eighth of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """NICs of one host; rate of each, one way."""

    nic: Nic
    count: int
    bytes_per_s: float

    @property
    def host_bytes_per_s(self) -> float:
        """What all NICs of a host send."""
        return self.count * self.bytes_per_s

    def on(self, cluster: Cluster, *, pinned_gpudirect: bool) -> Host:
        """Return a host with these NICs; GPUDirect is on where NIC and fabric have it."""
        kind = fabric.find(cluster.fabric.kind)
        gpudirect = cluster.host.gpudirect if pinned_gpudirect else kind.gpudirect
        pcie = cluster.host.pcie_bytes_per_s
        return cluster.host.with_(
            nic=self.nic.name, nics=self.count, nic_bytes_per_s=self.bytes_per_s,
            gpudirect=gpudirect,
            pcie_bytes_per_s=pcie if self.nic.name == cluster.host.nic else None,
        )  # fmt: skip


def attachments(cluster: Cluster, pins: Pins) -> tuple[Attachment, ...]:
    """Return what the hosts of a cluster can have on its fabric, most bandwidth first.

    Of NICs with one rate the cheapest is taken, unless one is pinned. A rented host has the
    NICs that it is rented with. Raises Infeasible where no NIC fits.
    """
    found = sorted(
        {(n.name, c, r): Attachment(nic=n, count=c, bytes_per_s=r)
         for n, r in _nics(cluster, pins) for c in _counts(cluster, pins)}.values(),
        key=lambda a: (-a.host_bytes_per_s, -a.count),
    )  # fmt: skip
    if not found:
        raise Infeasible(_none_fits(cluster, pins))
    return tuple(found)


def _none_fits(cluster: Cluster, pins: Pins) -> str:
    kind, own = cluster.fabric.kind, cluster.host
    if is_cloud(cluster):
        return f"{own.server} is rented with {own.nic}, which does not support {kind}"
    at = ""
    if "host.nic_bytes_per_s" in pins:
        at = f" at {units.show_rate(own.nic_bytes_per_s)}, which host.nic_bytes_per_s asks for"
    return f"no NIC of the catalogue supports {kind}{at}"


def is_cloud(cluster: Cluster) -> bool:
    """Tell whether hosts are rented, with the NICs that the provider gives them."""
    server = server_of(cluster)
    return server is not None and server.cloud


def _nics(cluster: Cluster, pins: Pins) -> Iterator[tuple[Nic, float]]:
    """Yield the NICs to choose from with the rate of each."""
    own = nic_of(cluster.host, cluster.fabric)
    kind, rate = cluster.fabric.kind, cluster.host.nic_bytes_per_s
    fixed_rate = "host.nic_bytes_per_s" in pins
    fits_pin = own is not None and kind in own.fabrics and rate <= own.bytes_per_s.value * SLACK
    if is_cloud(cluster) or ("host.nic" in pins and fits_pin):
        if own is not None and fits_pin:
            yield own, rate
        return
    by_rate: dict[float, list[Nic]] = {}
    for nic, fastest in _speaking(cluster):
        if not fixed_rate:
            by_rate.setdefault(fastest, []).append(nic)
        elif fastest * SLACK >= rate:
            by_rate.setdefault(rate, []).append(nic)
    for each, nics in by_rate.items():
        yield min(nics, key=partial(_rank, cluster)), each


def _speaking(cluster: Cluster) -> Iterator[tuple[Nic, float]]:
    """Yield priced NICs that speak the fabric and may be bought, as fast as their slot."""
    slot = _slot_bytes_per_s(cluster)
    allowed = cluster.constraints.vendors
    for nic in catalogue.all_of("nics").values():
        assert isinstance(nic, Nic)
        if cluster.fabric.kind not in nic.fabrics or nic.price_usd is None:
            continue
        if not allowed or nic.vendor in allowed:
            yield nic, min(nic.bytes_per_s.value, slot)


def _slot_bytes_per_s(cluster: Cluster) -> float:
    """Return the fastest NIC that the slots of a host feed; where PCIe is unknown, its own."""
    gpu = catalogue.find("gpus", cluster.host.gpu)
    return SLOT_BYTES_PER_S.get(gpu.pcie_gen, cluster.host.nic_bytes_per_s)


def _rank(cluster: Cluster, nic: Nic) -> tuple[bool, float]:
    """Order NICs by price, those that are owned before all others."""
    assert nic.price_usd is not None, f"NIC {nic.name} has no price"
    return nic.name not in cluster.constraints.owned.nics, nic.price_usd.value


def _counts(cluster: Cluster, pins: Pins) -> tuple[int, ...]:
    """Return the numbers of NICs that a host can have."""
    if is_cloud(cluster) or "host.nics" in pins:
        return (cluster.host.nics,)
    return counts(cluster)


def counts(cluster: Cluster) -> tuple[int, ...]:
    """Return the numbers of NICs that a host has room for, the most first."""
    host = cluster.host
    server = server_of(cluster)
    room = max(host.nics, server.nics if server else min(host.gpus, 8))
    return tuple(room // share for share in SHARES if room % share == 0)
