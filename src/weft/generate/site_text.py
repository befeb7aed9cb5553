"""What a site has around the fabric, as the templates of switches write it.

What the document leaves open is a placeholder that begins with ``FILL_IN_``: it is visible in
the file, no switch takes it for a working value, and ``weft lint`` reports it. Secrets are
always placeholders.
"""

from functools import lru_cache
from ipaddress import ip_interface, ip_network
from typing import Final

from weft.errors import SpecError
from weft.generate.plan import Plan
from weft.generate.router import Router
from weft.generate.wiring import wired
from weft.readers.rendered import PLACEHOLDER
from weft.spec.cluster import Cluster

FIRST_HOST: Final = 11
"""Of the management prefix; the addresses below are for gateways."""
BFD_MS: Final = 300
BFD_MULTIPLIER: Final = 3
"""A dead peer is found in 0.9 s: the defaults of EOS, FRR and Cumulus Linux."""


def site_text(plan: Plan, router: Router, vrf: str) -> dict[str, object] | None:
    """Return the site's part of a switch by name; None where the document has no site.

    ``vrf`` is what the system calls its management VRF. Empty are the address of the management
    port where DHCP gives it and the user of SNMP where there is none; gnmi_port is 0 without
    gNMI, secrets are always placeholders. Raises SpecError for a prefix that has
    too few addresses, and for a switch in maintenance that the cluster does not have.
    """
    site = plan.cluster.site
    if site is None:
        return None
    unknown = [text for text in site.maintenance if text not in _switches(plan.cluster)]
    if unknown:
        raise SpecError(
            f"site.maintenance: the cluster has no switch {unknown[0]}; switches are called as "
            f"{router.name}"
        )
    address, gateway = _management(site.management_prefix, router.switch.count)
    protocol = site.aaa.protocol
    return {
        "vrf": site.management_vrf or vrf,
        "address": address,
        "gateway": site.management_gateway or gateway,
        "ntp": site.ntp or (f"{PLACEHOLDER}NTP_SERVER",),
        "syslog": site.syslog or (f"{PLACEHOLDER}SYSLOG_SERVER",),
        "protocol": protocol,
        "servers": site.aaa.servers or (f"{PLACEHOLDER}{protocol.upper()}_SERVER",),
        "secret": f"{PLACEHOLDER}{protocol.upper()}_SECRET",
        "snmp_user": site.snmp_user or "",
        "snmp_auth": f"{PLACEHOLDER}SNMP_AUTH_SECRET",
        "snmp_priv": f"{PLACEHOLDER}SNMP_PRIV_SECRET",
        "gnmi_port": site.gnmi_port or 0,
        "bfd": site.bfd,
        "bfd_ms": BFD_MS,
        "bfd_multiplier": BFD_MULTIPLIER,
        "banner": site.banner,
        "drained": router.name in site.maintenance,
    }


@lru_cache(maxsize=16)
def _switches(cluster: Cluster) -> frozenset[str]:
    return frozenset(item.name for item in wired(cluster))


def _management(prefix: str | None, count: int) -> tuple[str, str]:
    """Return address and gateway of the switch of a number; empty where DHCP gives them.

    >>> _management("192.0.2.0/24", 0)
    ('192.0.2.11/24', '192.0.2.1')
    """
    if prefix is None:
        return "", ""
    network = ip_network(prefix)
    if FIRST_HOST + count >= network.num_addresses - 1:
        raise SpecError(
            f"site.management_prefix {prefix}: has no address for switch {count + 1}; switches "
            f"are numbered from the {FIRST_HOST}th on, so give a larger one"
        )
    own = ip_interface(f"{network[FIRST_HOST + count]}/{network.prefixlen}")
    return str(own), str(network[1])
