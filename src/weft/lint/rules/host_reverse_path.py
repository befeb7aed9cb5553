"""The kernel drops packets of a rail, or answers on the wrong one.

What it checks: rp_filter 1 (strict), arp_ignore and arp_announce on hosts with several rails.
Why it matters: with strict checks a packet that comes back on another rail is dropped in
silence; without arp_ignore one NIC answers for the addresses of all, so rails cross.
What to do: rp_filter 2, arp_ignore 1, arp_announce 2.
References: kernel documentation, ip-sysctl.
"""

from collections import Counter
from typing import Final

import re2

from weft.lint.facts import Address, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_STRICT: Final = re2.compile(r"net\.ipv4\.conf\..+\.rp_filter")


def _check(case: Case) -> Found:
    rows = [one for one in case.of(Address) if one.side is Side.HOST and one.gateway]
    rails = Counter(one.device for one in rows)
    several = any(count > 1 for count in rails.values()) or (
        case.cluster is not None and (case.cluster.cluster.host.nics > 1)
    )
    for one in case.options("sysctl"):
        if _STRICT.fullmatch(one.name) and one.value == "1":
            yield problem(
                one,
                f"{one.name} is strict",
                "set 2",
                severity=None if several else Severity.WARNING,
            )
        wanted = {"arp_ignore": "1", "arp_announce": "2"}.get(one.name.rpartition(".")[2])
        scope = one.name.rpartition(".")[0] in {"net.ipv4.conf.all", "net.ipv4.conf.default"}
        if several and wanted and scope and one.value == "0":
            yield problem(
                one,
                f"{one.name} is 0: a NIC answers for the other rails' addresses",
                f"set {wanted}",
                severity=Severity.WARNING,
            )


host_reverse_path = Rule(
    layer=Layer.HOSTS,
    severity=Severity.ERROR,
    reference="https://docs.kernel.org/networking/ip-sysctl.html",
    check=_check,
)
