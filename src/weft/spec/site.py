"""What a site has around the fabric: management, time, logs, logins, telemetry."""

import re
from ipaddress import ip_network
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from weft.spec.base import Part
from weft.spec.kubernetes import Names

_SERVER: Final = re.compile(r"[A-Za-z0-9_.:-]{1,253}")


def _prefix(value: str) -> str:
    try:
        return str(ip_network(value))
    except ValueError as failure:
        message = f"is no prefix: {failure}; write it as 192.0.2.0/24"
        raise ValueError(message) from failure


def _servers(value: tuple[str, ...]) -> tuple[str, ...]:
    wrong = [text for text in value if not _SERVER.fullmatch(text)]
    if wrong:
        message = f"{wrong[0][:40]!r} is no address or name of a server"
        raise ValueError(message)
    return value


def _word(value: str) -> str:
    """Refuse what would end a line or a word of a configuration and begin another."""
    if not value.isprintable() or any(letter in value for letter in "\"'`$;#!^\\{}"):
        message = "holds a character that ends a word of some switch's configuration"
        raise ValueError(message)
    return value


Prefix = Annotated[str, AfterValidator(_prefix)]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$")]
Servers = Annotated[Names, AfterValidator(_servers)]
Text = Annotated[str, AfterValidator(_word)]


class Aaa(Part):
    """Who may log in; secrets are never in this document, files have a placeholder."""

    protocol: Literal["tacacs", "radius"] = "tacacs"
    """tacacs (TACACS+) or radius."""
    servers: Servers = ()
    """Addresses or names of the servers, in their order; none: a placeholder."""


class Site(Part):
    """What the switches of a site need besides the fabric."""

    release: Annotated[str, Field(pattern=r"^\d+\.\d+[0-9A-Za-z.-]*$")] | None = None
    """Release of the switches' system, as 5.15; none: the one that the target names."""
    management_vrf: Word | None = None
    """VRF of the management port; none: as the system calls it (mgmt, MGMT, management)."""
    management_prefix: Prefix | None = None
    """Addresses of the management ports, switch by switch from the eleventh; none: DHCP."""
    management_gateway: Word | None = None
    """Default gateway of the management VRF; none: the first address of its prefix."""
    ntp: Servers = ()
    """Servers of time; none: a placeholder."""
    syslog: Servers = ()
    """Servers of logs; none: a placeholder."""
    aaa: Aaa = Aaa()
    """Who may log in."""
    snmp_user: Word | None = None
    """User of SNMPv3 (authPriv, with placeholders for its secrets); none: no SNMP."""
    gnmi_port: Annotated[int, Field(ge=1, le=65535)] | None = 9339
    """TCP port of gNMI; none: no gNMI."""
    bfd: bool = True
    """Detect a dead peer within a second on every link of the fabric."""
    banner: Text = "Authorized access only"
    """Shown before a login."""
    maintenance: Servers = ()
    """Switches that are rendered drained (BGP graceful shutdown), as spine-0003."""
