"""Forwarding tables written by hand for clusters of two tiers, as ibroute prints them."""

from weft.generate.wiring import wired
from weft.network import network as resolver
from weft.spec.load import load_cluster

SMALL = {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}}


def two_tiers(hosts=34, **host):
    """Return a cluster of 16 hosts a leaf, with 16 uplinks to two spines."""
    topology_of = {"kind": "leaf_spine", "switch_ports": 32}
    return load_cluster(
        {
            "preset": "dgx_h100",
            "hosts": hosts,
            "host": {**SMALL, **host},
            "topology": topology_of,
        }
    )


def table_text(cluster, uplink, style="ibroute"):
    """Write the tables where leaf l sends what is for host h over its uplink(l, h).

    Spines turn over the links to a leaf. Ports are looked up in the cables that configurations
    are rendered from, counted from 1.
    """
    switches = {one.name: one for one in wired(cluster)}
    home = {
        port.host: one.name
        for one in switches.values()
        for port in one.ports
        if port.host is not None
    }
    lines = ["# by hand"]
    for one in switches.values():
        lines.append(f"Unicast lids [0x0-0xff] of switch Lid 1 guid 0x1 ({one.name}):")
        ups = [port.number + 1 for port in one.ports if port.host is None]
        for host in range(cluster.hosts):
            here = [p.number + 1 for p in one.ports if p.host == host]
            down = [p.number + 1 for p in one.ports if p.peer == home[host]]
            links = here or down or [ups[uplink(one.number, host) % len(ups)]]
            lines.append(ROWS[style].format(host + 1, links[host % len(links)], host))
        lines.append(f"{cluster.hosts} valid lids dumped")
    return "\n".join(lines) + "\n"


ROWS = {
    "ibroute": "0x{0:04x} {1:03d} : (Channel Adapter portguid 0x1: 'host-{2:04d} mlx5_0')",
    "lfts": "0x{0:04x} {1:03d} # Channel Adapter portguid 0x1: 'host-{2:04d} HCA-1'",
}


def loads_of(cluster, links, flows):
    """Add up what every link of the graph carries, following the tables one flow at a time."""
    graph, found = resolver.graph(cluster), {}
    for source, target, size in flows:
        link = int(graph.start[source])
        while True:
            found[link] = found.get(link, 0) + size
            at = int(graph.target[link])
            if at == target:
                break
            link = int(links[at - graph.first[0], target])
    return found
