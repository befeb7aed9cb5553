"""OpenSM: configuration of master and standby, partitions, QoS policy, roots."""

from collections.abc import Iterator
from typing import Final

from weft.generate import names
from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.network import naming
from weft.network.network import layout

FOLDER: Final = "/etc/opensm"
WEIGHTS: Final = (64, 192)
"""Of the lane of all else, and of that of collectives."""


def _files(plan: Plan) -> Files:
    subnet = plan.subnet
    assert subnet is not None, "an InfiniBand plan has a subnet"
    roots = [plan.guids[name] for name in _top(plan)] if plan.guids else []

    def file(name: str, **values: object) -> str:
        return text_of(f"opensm/{name}.j2", subnet=subnet, head=header(plan, name), **values)

    priorities = {"master": subnet.master_priority, "standby": subnet.standby_priority}
    for role, priority in priorities.items():
        yield (
            f"opensm.{role}.conf",
            file(
                "opensm.conf",
                folder=FOLDER,
                weights=WEIGHTS,
                roots=roots,
                priority=priority.text(),
            ),
        )
    yield "partitions.conf", file("partitions.conf", tenants=_tenants(plan))
    yield "qos-policy.conf", file("qos-policy.conf")
    if roots:
        yield "root_guid.conf", "\n".join(roots) + "\n"


def _tenants(plan: Plan) -> list[tuple[str, str, list[list[str]]]]:
    """Return the tenants, a list of their hosts, and the port GUIDs of each host."""
    last = plan.cluster.hosts
    return [
        (tenant, names.hosts_list(hosts.start, hosts.stop, last),
         [[plan.guids[port] for port in _ports(plan, host)] for host in hosts])
        for tenant, hosts in (plan.cluster.groups() if plan.cluster.tenants else ())
    ]  # fmt: skip


def _ports(plan: Plan, host: int) -> Iterator[str]:
    """Yield the names of the NICs of a host, as a map of names has them."""
    for device in plan.names.device_list():
        yield f"{naming.host(host, plan.cluster.hosts)} {device}"


def _top(plan: Plan) -> list[str]:
    network = layout(plan.cluster)
    tier, count = (2, network.core) if network.core else (1, network.spine)
    return [naming.switch(tier, number) for number in range(count)]


def _refuses(plan: Plan) -> str | None:
    missing = [name for name in _top(plan) if name not in plan.guids] if plan.guids else []
    if unnamed := [
        port
        for _, hosts in (plan.cluster.groups() if plan.cluster.tenants else ())
        for host in hosts
        for port in _ports(plan, host)
        if port not in plan.guids
    ]:
        return (
            f"the partitions of tenants list the ports of their NICs, and the map of names "
            f'has no "{unnamed[0]}" ({len(unnamed)} are missing): write its port GUID '
            "(ibstat -p on the host) and this name, and give the map by --node-names"
        )
    if missing:
        return (
            f"the map of names has no {missing[0]} ({len(missing)} of the top switches are "
            "missing): name every switch as weft does, or give no map"
        )
    return None


opensm = declared("opensm", files=_files, refuses=_refuses)
