"""The network of a cluster, resolved once: every part a device, checked to fit the others.

``resolve`` is the only place where names of fabrics, switches, NICs and media become what
they stand for; whoever needs one of them takes it from here.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from weft import plugins
from weft.catalogue.devices import Cable, Nic, Provider, Switch
from weft.catalogue.fitting import medium, provider_of
from weft.errors import Infeasible, Mismatch
from weft.network import fabric as fabrics
from weft.network import topologies
from weft.network.fabric import Fabric
from weft.network.topology import Layout, Place, Topology, site_of
from weft.sources import Sourced
from weft.spec import compatibility
from weft.spec.cluster import Cluster, FabricChoice, Host, TopologyChoice

if TYPE_CHECKING:
    from weft.network.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What joins the hosts of a cluster; all parts speak the fabric at the rate of a link."""

    hosts: int
    host: Host
    choice: FabricChoice
    topology: TopologyChoice
    fabric: Fabric
    switch: Switch | None
    """None where no network is needed."""
    nic: Nic | None
    """None where hosts have no NIC."""
    provider: Provider | None
    """Who rents the hosts and their network; none where both are bought."""
    link_bytes_per_s: float
    """Rate of one NIC's link, all planes together."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to join: one host needs no network."""
        return self.switch is not None

    @property
    def planes(self) -> int:
        """Parallel networks that the ports of each NIC are split over."""
        return self.topology.planes

    @property
    def mtu_bytes(self) -> int:
        """Payload of the largest packet."""
        return int(self.choice.mtu_bytes or self.fabric.default_mtu_bytes)

    @property
    def balancing(self) -> str:
        """The load-balancing mode."""
        return self.choice.load_balancing or self.fabric.default_load_balancing

    @property
    def balanced(self) -> Sourced:
        """Share of the bandwidth beyond the leaf that load balancing keeps."""
        return self.fabric.balanced(self.choice.load_balancing)

    @property
    def tuned(self) -> Sourced:
        """Share of the bandwidth that the state of tuning keeps."""
        return self.fabric.tuned(self.choice.tuning)

    @property
    def cable(self) -> Cable | None:
        """Cheapest medium of a link; none where no network is needed."""
        if self.switch is None:
            return None
        return medium(self.link_bytes_per_s, self.topology.cable_m, self.fabric.name)

    @property
    def layout(self) -> Layout:
        """The network in numbers; raise Infeasible when ports run out."""
        found = _joined(self.hosts, self.host, self.choice, self.topology)
        return found if self.hosts > 1 else _without_switches(found)


def resolve(cluster: Cluster) -> Network:
    """Return the network of a cluster; raise Mismatch where its parts do not fit."""
    return _resolved(cluster.hosts, cluster.host, cluster.fabric, cluster.topology)


def layout(cluster: Cluster) -> Layout:
    """Return the network of a cluster in numbers; raise Infeasible when ports run out."""
    return resolve(cluster).layout


def graph(cluster: Cluster) -> "Graph":
    """Build the real graph of a cluster, port by port; that of one host has a switch unused."""
    from weft.network.graph import build  # noqa: PLC0415 - numpy is slow to import

    network = resolve(cluster)
    return build(_joined(network.hosts, network.host, network.choice, network.topology))


@lru_cache(maxsize=4096)
def _resolved(
    hosts: int, host: Host, choice: FabricChoice, topology: TopologyChoice
) -> Network:
    found = list(compatibility.network_problems(hosts, host, choice, topology))
    if found:
        raise Mismatch("\n".join(problem.show("") for problem in found))
    needed = hosts > 1 and host.nics > 0
    return Network(
        hosts=hosts, host=host, choice=choice, topology=topology,
        fabric=fabrics.find(choice.kind),
        switch=compatibility.switch_of(host, choice, topology) if needed else None,
        nic=compatibility.nic_of(host, choice),
        provider=provider_of(host.server),
        link_bytes_per_s=compatibility.link_rate(host, choice),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _joined(hosts: int, host: Host, choice: FabricChoice, topology: TopologyChoice) -> Layout:
    if host.nics == 0:
        raise Infeasible(
            "hosts have no NIC, so there is no network; set host.nics to 1 or more"
        )
    switch = compatibility.switch_of(host, choice, topology)
    rate = compatibility.link_rate(host, choice)
    site = site_of(hosts, host.gpus, host.nics, rate, Place(switch=switch, choice=topology))
    return plugins.load(topologies, topology.kind, Topology).layout(site)


def _without_switches(one_host: Layout) -> Layout:
    """Return the layout of a single host: its NICs are joined to nothing."""
    return replace(
        one_host, leaf=0, spine=0, core=0, host_leaf_cables=0, leaf_spine_cables=0,
        spine_core_cables=0, ports_used=(0, 0, 0), bisection_links=lambda: 0,
    )  # fmt: skip
