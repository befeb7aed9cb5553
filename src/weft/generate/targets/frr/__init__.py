"""FRR: BGP unnumbered of every switch, for Linux switches whose ports are called swpN."""

from collections.abc import Iterator
from typing import Final

from weft.generate.plan import Feature, Plan
from weft.generate.rendered import BY_WEFT
from weft.generate.router import OWN_ROUTES, Router, routers
from weft.generate.site_text import site_text
from weft.generate.switch_text import fill
from weft.generate.target import Files, Proof, Target, header

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
    site = plan.cluster.site
    more = ("bfdd=yes",) if site is not None and site.bfd else ()
    return "\n".join([header(plan, "/etc/frr/daemons"), *more, *DAEMONS]) + "\n"


def configuration(plan: Plan, router: Router) -> str:
    """Return frr.conf of one switch.

    Each group of peers has a policy both ways: without one, eBGP exchanges nothing [RFC 8212].
    """
    groups = dict.fromkeys("ACROSS" if one.across else "FABRIC" for one in router.fabric)
    return fill(
        "frr", "frr.conf.j2", plan, router, port_name,
        groups=list(groups), own_routes=OWN_ROUTES, by=BY_WEFT,
        site=site_text(plan, router, "mgmt"),
    )  # fmt: skip


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
    applied="whole: frr.conf replaces FRR's (`systemctl reload frr`); the rest of the Linux "
    "switch stays",
    proofs={
        "SWITCH/frr.conf": Proof.SOFTWARE,
        "SWITCH/interfaces": Proof.GOLDEN,
        "daemons": Proof.GOLDEN,
        "90-weft-forwarding.conf": Proof.SCHEMA,
    },
)
