"""FRR: BGP unnumbered of every switch, for Linux switches whose ports are called swpN."""

from collections.abc import Iterator
from typing import Final

from weft.generate.plan import Feature, Plan
from weft.generate.router import (
    OWN_ROUTES,
    PREFIX,
    FabricLink,
    Router,
    routers,
    underlay_of,
)
from weft.generate.target import Files, Proof, Target, header

GROUP: Final = "FABRIC"
ACROSS: Final = "ACROSS"
"""Peers in other groups, and what they are told."""
OWN: Final = "OWN"
FORWARDING: Final = (
    ("net.ipv4.ip_forward", 1),
    ("net.ipv6.conf.all.forwarding", 1),
    ("net.ipv4.fib_multipath_hash_policy", 1),
    ("net.ipv6.fib_multipath_hash_policy", 1),
)
"""Forward, and hash flows by their ports as well: RoCE has its entropy in the UDP port."""
DAEMONS: Final = ("bgpd=yes", "vtysh_enable=yes", 'zebra_options="-A 127.0.0.1"',
                  'bgpd_options="-A 127.0.0.1"')  # fmt: skip


def _files(plan: Plan) -> Files:
    yield "daemons", daemons(plan)
    sysctl = [f"{key} = {value}" for key, value in FORWARDING]
    where = "/etc/sysctl.d/90-weft-forwarding.conf"
    yield "90-weft-forwarding.conf", "\n".join([header(plan, where), *sysctl]) + "\n"
    for router in routers(plan):
        yield f"{router.name}/frr.conf", configuration(plan, router)
        yield f"{router.name}/interfaces", "\n".join(_interfaces(plan, router)) + "\n"


def port_name(number: int) -> str:
    """Return the name of a port, counted from 1 as on the front of the switch."""
    return f"swp{number + 1}"


def daemons(plan: Plan) -> str:
    """Return which of FRR's daemons run."""
    return "\n".join([header(plan, "/etc/frr/daemons"), *DAEMONS]) + "\n"


def configuration(plan: Plan, router: Router) -> str:
    """Return frr.conf of one switch."""
    return "\n".join(_conf(plan, router)) + "\n"


def _conf(plan: Plan, router: Router) -> Iterator[str]:
    yield header(plan, f"/etc/frr/frr.conf of {router.name}")
    yield from ("frr defaults datacenter", f"hostname {router.name}",
                "service integrated-vtysh-config", "!")  # fmt: skip
    yield from _ports(router)
    yield from _bgp(plan, router)
    yield from _filters(plan)
    if ACROSS in _groups(router):
        yield from (f"bgp as-path access-list {ACROSS} seq 5 permit {OWN_ROUTES}", "!",
                    f"route-map {ACROSS} permit 10", f" match as-path {ACROSS}",
                    "exit", "!")  # fmt: skip
    yield "end"


def _ports(router: Router) -> Iterator[str]:
    yield from ("interface lo", f" ip address {router.loopback}/32", "exit", "!")
    for link in router.hosts:
        yield f"interface {port_name(link.port.number)}"
        yield f" description {link.port.peer} {link.device}"
        yield from (f" ip address {link.address}/{PREFIX}", "exit", "!")
    for one in router.fabric:
        yield f"interface {port_name(one.port.number)}"
        yield f" description {one.port.peer} {port_name(one.port.peer_port)}"
        # The link-local address of the other end is learnt from its advertisements.
        yield from (" ipv6 nd ra-interval 6", " no ipv6 nd suppress-ra", "exit", "!")


def _bgp(plan: Plan, router: Router) -> Iterator[str]:
    underlay = underlay_of(plan)
    yield f"router bgp {router.asn}"
    yield f" bgp router-id {router.loopback}"
    yield " no bgp ebgp-requires-policy"
    yield " bgp bestpath as-path multipath-relax"
    groups = _groups(router)
    for group in groups:
        yield f" neighbor {group} peer-group"
        yield f" neighbor {group} remote-as external"
        timers = f"{underlay.keepalive_s.text()} {underlay.hold_s.text()}"
        yield f" neighbor {group} timers {timers}"
        yield f" neighbor {group} capability extended-nexthop"
    for one in router.fabric:
        yield f" neighbor {port_name(one.port.number)} interface peer-group {_group(one)}"
    yield " !"
    yield " address-family ipv4 unicast"
    yield f"  redistribute connected route-map {OWN}"
    if router.block is not None:
        yield f"  aggregate-address {router.block} summary-only"
    for group in groups:
        yield f"  neighbor {group} activate"
    if ACROSS in groups:
        yield f"  neighbor {ACROSS} route-map {ACROSS} out"
    yield f"  maximum-paths {underlay.most_paths.text()}"
    yield from (" exit-address-family", "exit", "!")


def _group(one: FabricLink) -> str:
    return ACROSS if one.across else GROUP


def _groups(router: Router) -> list[str]:
    """Return the groups of peers of a switch, each once."""
    return list(dict.fromkeys(_group(one) for one in router.fabric))


def _filters(plan: Plan) -> Iterator[str]:
    """Yield what may be announced: the fabric's own addresses, so not the management port."""
    underlay = underlay_of(plan)
    yield f"ip prefix-list {OWN} seq 5 permit {underlay.loopbacks.text()} ge 32"
    yield f"ip prefix-list {OWN} seq 10 permit {underlay.pool.text()} ge {PREFIX}"
    yield "!"
    yield f"route-map {OWN} permit 10"
    yield from (f" match ip address prefix-list {OWN}", "exit", "!")


def _interfaces(plan: Plan, router: Router) -> Iterator[str]:
    """Yield the ports for ifupdown: the MTU is the kernel's, not FRR's."""
    link = plan.link
    assert link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of its switches"
    yield header(plan, f"/etc/network/interfaces.d/weft of {router.name}")
    for port in router.switch.ports:
        name = port_name(port.number)
        yield from (f"auto {name}", f"iface {name} inet manual",
                    f"    mtu {link.switch_mtu_bytes.text()}")  # fmt: skip


frr = Target(
    title="FRR: BGP unnumbered on Linux switches",
    supports=frozenset({Feature.IP, Feature.PLANES, Feature.MESH, Feature.RACK}),
    needs=frozenset({Feature.IP}),
    files=_files,
    proofs={
        "SWITCH/frr.conf": Proof.SOFTWARE,
        "SWITCH/interfaces": Proof.GOLDEN,
        "daemons": Proof.GOLDEN,
        "90-weft-forwarding.conf": Proof.SCHEMA,
    },
)
