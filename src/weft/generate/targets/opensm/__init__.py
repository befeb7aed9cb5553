"""OpenSM: configuration of master and standby, partitions, QoS policy, roots."""

from collections.abc import Iterator
from typing import Final

from weft.generate import names
from weft.generate.plan import Feature, Plan
from weft.generate.subnet import Subnet
from weft.generate.target import Files, Proof, Target, header
from weft.network import naming
from weft.network.network import layout

FOLDER: Final = "/etc/opensm"
SERVICE_LEVELS: Final = 16
MANAGEMENT_VL: Final = 15
COLLECTIVE_WEIGHT: Final = 192
OTHER_WEIGHT: Final = 64


def _files(plan: Plan) -> Files:
    subnet = plan.subnet
    assert subnet is not None, "an InfiniBand plan has a subnet"
    roots = _roots(plan)
    priorities = (("master", subnet.master_priority), ("standby", subnet.standby_priority))
    for role, priority in priorities:
        lines = _conf(plan, subnet, priority.whole(), with_roots=bool(roots))
        yield f"opensm.{role}.conf", "\n".join(lines) + "\n"
    yield "partitions.conf", _partitions(plan, subnet)
    yield "qos-policy.conf", _policy(plan, subnet)
    if roots:
        yield "root_guid.conf", "\n".join(roots) + "\n"


def _conf(plan: Plan, subnet: Subnet, priority: int, *, with_roots: bool) -> list[str]:
    lanes = subnet.max_vls.whole()
    own = subnet.sl.whole()
    sl2vl = [subnet.vl.text() if sl == own else "0" for sl in range(SERVICE_LEVELS - 1)]
    lines = [
        header(plan, "opensm.conf"),
        f"# {subnet.routing_engine.reason}",
        f"routing_engine {subnet.routing_engine.text()}",
        f"# {subnet.master_priority.reason}; the standby has {subnet.standby_priority.text()}",
        f"sm_priority {priority}",
        "# caches the routes of a switch that comes back",
        "use_ucast_cache TRUE",
        f"partition_config_file {FOLDER}/partitions.conf",
        "part_enforce both",
        *_keys(subnet),
        f"# {subnet.max_vls.reason}",
        "qos TRUE",
        f"qos_policy_file {FOLDER}/qos-policy.conf",
        f"qos_max_vls {lanes}",
        "qos_high_limit 0",
        f"qos_vlarb_high {_arbitration(subnet)}",
        f"qos_vlarb_low {_arbitration(subnet)}",
        f"qos_sl2vl {','.join([*sl2vl, str(MANAGEMENT_VL)])}",
    ]
    if with_roots:
        lines += ["# the spines of the top tier", f"root_guid_file {FOLDER}/root_guid.conf"]
    return lines


def _keys(subnet: Subnet) -> list[str]:
    if subnet.m_key is None:
        return []
    return [
        f"# {subnet.m_key.reason}",
        f"m_key {subnet.m_key.text()}",
        f"# {subnet.m_key_protection_level.reason}",
        f"m_key_protection_level {subnet.m_key_protection_level.text()}",
        f"# {subnet.m_key_lease_s.reason}",
        f"m_key_lease_period {subnet.m_key_lease_s.text()}",
    ]


def _arbitration(subnet: Subnet) -> str:
    lane = subnet.vl.whole()
    return f"0:{OTHER_WEIGHT},{lane}:{COLLECTIVE_WEIGHT}"


def _partitions(plan: Plan, subnet: Subnet) -> str:
    ipoib = f"ipoib, mtu={subnet.mtu_code.text()}"
    lines = [header(plan, "partitions.conf"), f"# {subnet.p_key.reason}"]
    default = f"Default={subnet.p_key.text()}"
    if not subnet.tenants:
        own = f"{default}, {ipoib}, defmember=full : ALL, ALL_SWITCHES=full, SELF=full ;"
        return "\n".join([*lines, own]) + "\n"
    lines.append(f"{default}, defmember=limited : ALL, ALL_SWITCHES=full, SELF=full ;")
    for tenant, hosts in plan.cluster.groups():
        key, last = subnet.tenants[tenant].text(), plan.cluster.hosts
        lines.append(f"# {names.hosts_list(hosts.start, hosts.stop, last)}")
        lines.append(f"{tenant}={key}, indx0, {ipoib}, defmember=full :")
        each = [", ".join(plan.guids[port] for port in _ports(plan, host)) for host in hosts]
        lines += [",\n".join(f"    {ports}" for ports in each) + " ;"]
    return "\n".join(lines) + "\n"


def _ports(plan: Plan, host: int) -> Iterator[str]:
    """Yield the names of the NICs of a host, as a map of names has them."""
    for device in plan.names.device_list():
        yield f"{naming.host(host, plan.cluster.hosts)} {device}"


def _policy(plan: Plan, subnet: Subnet) -> str:
    return "\n".join(
        [
            header(plan, "qos-policy.conf"),
            f"# NCCL asks for SL {subnet.sl.text()} itself (NCCL_IB_SL); all else stays on 0",
            "qos-ulps",
            "    default : 0",
            "end-qos-ulps",
        ]
    ) + "\n"  # fmt: skip


def _top(plan: Plan) -> list[str]:
    network = layout(plan.cluster)
    tier, count = (2, network.core) if network.core else (1, network.spine)
    return [naming.switch(tier, number) for number in range(count)]


def _roots(plan: Plan) -> list[str]:
    return [plan.guids[name] for name in _top(plan)] if plan.guids else []


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


opensm = Target(
    title="OpenSM: master and standby",
    supports=frozenset({Feature.SUBNET, Feature.RACK}),
    needs=frozenset({Feature.SUBNET}),
    refuses=_refuses,
    files=_files,
    proofs={
        "opensm.master.conf, opensm.standby.conf": Proof.SOFTWARE,
        "partitions.conf": Proof.SOFTWARE,
        "qos-policy.conf": Proof.SOFTWARE,
        "root_guid.conf": Proof.SOFTWARE,
    },
)
