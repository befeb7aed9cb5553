"""FRR: BGP unnumbered of every switch, for Linux switches whose ports are called swpN."""

from typing import Final

from weft.generate.plan import Plan
from weft.generate.router import OWN_ROUTES, Router, routers
from weft.generate.site_text import site_text
from weft.generate.switch_text import fill
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of

FORWARDING: Final = (
    ("net.ipv4.ip_forward", 1),
    ("net.ipv6.conf.all.forwarding", 1),
    ("net.ipv4.fib_multipath_hash_policy", 1),
    ("net.ipv6.fib_multipath_hash_policy", 1),
)
"""Forward, and hash flows by their ports as well: RoCE has its entropy in the UDP port."""
FIRST_TABLE: Final = 1000
"""Of the kernel's tables of routes, one a tenant: its tag on top."""
_CLOSED: Final = "ip route add table %d unreachable default metric 4278198272"
"""Without it, what a VRF has no route for takes the main table. [Linux, networking/vrf]"""
DAEMONS: Final = ("bgpd=yes", "vtysh_enable=yes", 'zebra_options="-A 127.0.0.1"',
                  'bgpd_options="-A 127.0.0.1"')  # fmt: skip


def _files(plan: Plan) -> Files:
    yield "daemons", daemons(plan)
    head = header(plan, "/etc/sysctl.d/90-weft-forwarding.conf")
    yield (
        "90-weft-forwarding.conf",
        text_of("linux_host/sysctl.j2", head=head, settings=FORWARDING),
    )
    for router in routers(plan):
        yield f"{router.name}/frr.conf", configuration(plan, router)
        what = f"/etc/network/interfaces.d/weft of {router.name}"
        yield f"{router.name}/interfaces", fill(
            "frr", "interfaces.j2", plan, router, port_name, head=header(plan, what),
            first_table=FIRST_TABLE, closed=_CLOSED,
        )  # fmt: skip


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
    return fill(
        "frr", "frr.conf.j2", plan, router, port_name,
        own_routes=OWN_ROUTES,
        site=site_text(plan, router, "mgmt"),
    )  # fmt: skip


def vrf_commands(router: Router) -> list[str]:
    """Return what makes the VRFs and sub-interfaces of tenants in Linux."""
    lines = []
    for vrf in router.vrfs()[1:]:
        lines += [f"ip link add {vrf.name} type vrf table {FIRST_TABLE + vrf.tag}",
                  f"ip link set {vrf.name} up", _CLOSED % (FIRST_TABLE + vrf.tag)]  # fmt: skip
        lines += [f"ip link set {port_name(host.port.number)} master {vrf.name}"
                  for host in vrf.hosts]  # fmt: skip
        for link in vrf.fabric:
            parent = port_name(link.port.number)
            name = f"{parent}.{vrf.tag}"
            lines += [f"ip link add link {parent} name {name} type vlan id {vrf.tag}",
                      f"ip link set {name} master {vrf.name} up"]  # fmt: skip
    return lines


frr = declared("frr", files=_files)
