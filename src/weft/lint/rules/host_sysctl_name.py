"""A setting of the kernel has a name that the kernel does not know.

What it checks: names below net.ipv4.conf, net.ipv4, net.core and vm that are almost those of
a setting.
Why it matters: sysctl complains in a log that nobody reads, and the setting stays as it was.
What to do: correct the name.
References: Linux, networking/ip-sysctl.
"""

from difflib import get_close_matches
from typing import Final

from weft.lint.facts import Option
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_KNOWN: Final[dict[str, list[str]]] = {
    "net.ipv4.conf.*.": [
        "accept_local",
        "accept_redirects",
        "accept_source_route",
        "arp_accept",
        "arp_announce",
        "arp_evict_nocarrier",
        "arp_filter",
        "arp_ignore",
        "arp_notify",
        "bc_forwarding",
        "bootp_relay",
        "disable_policy",
        "disable_xfrm",
        "drop_gratuitous_arp",
        "drop_unicast_in_l2_multicast",
        "force_igmp_version",
        "forwarding",
        "ignore_routes_with_linkdown",
        "log_martians",
        "mc_forwarding",
        "medium_id",
        "promote_secondaries",
        "proxy_arp",
        "proxy_arp_pvlan",
        "route_localnet",
        "rp_filter",
        "secure_redirects",
        "send_redirects",
        "shared_media",
        "src_valid_mark",
        "tag",
        "igmpv2_unsolicited_report_interval",
        "igmpv3_unsolicited_report_interval",
    ],
    "net.core.": [
        "rmem_max",
        "wmem_max",
        "rmem_default",
        "wmem_default",
        "optmem_max",
        "netdev_max_backlog",
        "netdev_budget",
        "netdev_budget_usecs",
        "somaxconn",
        "default_qdisc",
        "busy_poll",
        "busy_read",
    ],
    "net.ipv4.": [
        "tcp_rmem",
        "tcp_wmem",
        "tcp_mem",
        "udp_mem",
        "udp_rmem_min",
        "udp_wmem_min",
        "tcp_congestion_control",
        "tcp_ecn",
        "tcp_sack",
        "tcp_timestamps",
        "tcp_window_scaling",
        "tcp_mtu_probing",
        "ip_forward",
        "tcp_low_latency",
        "tcp_adv_win_scale",
        "tcp_moderate_rcvbuf",
        "tcp_no_metrics_save",
        "tcp_slow_start_after_idle",
        "tcp_max_syn_backlog",
        "ip_local_port_range",
        "fib_multipath_hash_policy",
        "fib_multipath_use_neigh",
        "tcp_fin_timeout",
        "tcp_tw_reuse",
    ],
}
_OF_CONF: Final = 5


_NET: Final = (
    "appletalk", "bridge", "core", "ipv4", "ipv6", "iw_cm", "mptcp", "netfilter",
    "nf_conntrack", "rds", "sctp", "smc", "sunrpc", "tipc", "unix", "vsock", "xfrm",
)  # fmt: skip
_LARGEST: Final = {"rp_filter": 2, "arp_ignore": 8, "arp_announce": 2, "arp_filter": 1}
"""Of the values that these have. [ip-sysctl]"""


def _check(case: Case) -> Found:
    for one in case.options("sysctl"):
        parts = one.name.lstrip("-").replace("/", ".").split(".")
        yield from _value(one, parts)
        if parts[:3] == ["net", "ipv4", "conf"]:
            group, own = "net.ipv4.conf.*.", parts[-1] if len(parts) >= _OF_CONF else ""
        else:
            group, own = ".".join(parts[:-1]) + ".", parts[-1]
        known = _KNOWN.get(group, [])
        near = get_close_matches(own, known, n=1, cutoff=0.8) if own not in known else []
        if own and near:
            yield problem(
                one,
                f"the kernel has no {one.name}",
                f"is {'.'.join([*parts[:-1], near[0]])} meant?",
            )


def _value(one: Option, parts: list[str]) -> Found:
    most = _LARGEST.get(parts[-1])
    if most is not None and one.value.isdecimal() and int(one.value) > most:
        yield problem(one, f"{one.name} has no value {one.value}", f"use 0 to {most}")
    if parts[0] == "net" and len(parts) > 1 and parts[1] not in _NET:
        near = get_close_matches(parts[1], _NET, n=1, cutoff=0.7)
        if near:
            yield problem(one, f"the kernel has no net.{parts[1]}", f"is {near[0]} meant?")


host_sysctl_name = Rule(
    layer=Layer.HOSTS,
    severity=Severity.WARNING,
    reference="https://docs.kernel.org/networking/ip-sysctl.html",
    check=_check,
)
