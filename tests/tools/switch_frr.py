"""FRR's configuration as a switch's own system makes it of what weft rendered.

SONiC: tables of CONFIG_DB as frrcfgd turns them into commands (sonic-buildimage,
src/sonic-frr-mgmt-framework/frrcfgd). Cumulus Linux: NVUE's commands for router and vrf. Only
what weft writes is known; anything else fails, so that nothing is left out in silence. FRR's
own defaults stay on, among them that eBGP exchanges nothing without a policy [RFC 8212].
"""

import json
import re

HEAD = ["frr defaults traditional", "service integrated-vtysh-config"]


def of_sonic(text):
    """Return frr.conf of a config_db.json."""
    db = json.loads(text)
    host = db["DEVICE_METADATA"]["localhost"]
    lines = [*HEAD, f"hostname {host['hostname']}"]
    for key in [*db["LOOPBACK_INTERFACE"], *db["INTERFACE"]]:
        name, _, address = key.partition("|")
        if address:
            name = "lo" if name.startswith("Loopback") else name
            lines += [f"interface {name}", f" ip address {address}", "exit"]
    return "\n".join([*lines, *_sonic_bgp(db), *_sonic_policy(db), "end"]) + "\n"


def _sonic_bgp(db):
    own = db["BGP_GLOBALS"]["default"]
    yield f"router bgp {own['local_asn']}"
    yield f" bgp router-id {own['router_id']}"
    if own["load_balance_mp_relax"] == "true":
        yield " bgp bestpath as-path multipath-relax"
    for key, group in db.get("BGP_PEER_GROUP", {}).items():
        name = key.partition("|")[2]
        yield f" neighbor {name} peer-group"
        yield f" neighbor {name} remote-as {group['peer_type']}"
        yield f" neighbor {name} timers {group['keepalive']} {group['holdtime']}"
        if group["capability_ext_nexthop"] == "true":
            yield f" neighbor {name} capability extended-nexthop"
    for key, row in db["BGP_NEIGHBOR"].items():
        port = key.partition("|")[2]
        assert db["INTERFACE"][port] == {"ipv6_use_link_local_only": "enable"}
        yield f" neighbor {port} interface peer-group {row['peer_group_name']}"
    yield from (" address-family ipv4 unicast", *_sonic_family(db))
    yield from (" exit-address-family", "exit")


def _sonic_family(db):
    for row in db["ROUTE_REDISTRIBUTE"].values():
        yield f"  redistribute connected route-map {row['route_map'][0]}"
    for key, row in db.get("BGP_GLOBALS_AF_AGGREGATE_ADDR", {}).items():
        only = " summary-only" if row["summary_only"] == "true" else ""
        yield f"  aggregate-address {key.rpartition('|')[2]}{only}"
    for key, row in db.get("BGP_PEER_GROUP_AF", {}).items():
        name = key.split("|")[1]
        yield f"  neighbor {name} activate"
        for way in ("in", "out"):
            for policy in row.get(f"route_map_{way}", ()):
                yield f"  neighbor {name} route-map {policy} {way}"
    for row in db["BGP_GLOBALS_AF"].values():
        yield f"  maximum-paths {row['max_ebgp_paths']}"


def _sonic_policy(db):
    for key, row in db["PREFIX"].items():
        name, number, prefix, lengths = key.split("|")
        least, most = lengths.split("..")
        own = prefix.rpartition("/")[2]
        bounds = ("" if least == own else f" ge {least}") + f" le {most}"
        yield f"ip prefix-list {name} seq {number} {row['action']} {prefix}{bounds}"
    for name, row in db.get("AS_PATH_SET", {}).items():
        for pattern in row["as_path_set_member"]:
            yield f"bgp as-path access-list {name} {row['action']} {pattern}"
    for key, row in db["ROUTE_MAP"].items():
        name, number = key.split("|")
        yield f"route-map {name} {row['route_operation']} {number}"
        if "match_prefix_set" in row:
            yield f" match ip address prefix-list {row['match_prefix_set']}"
        if "match_as_path" in row:
            yield f" match as-path {row['match_as_path']}"
        yield "exit"


_GROUP = r"vrf default router bgp peer-group (\S+)"
_FAMILY = "vrf default router bgp address-family ipv4-unicast"
NVUE = (
    (r"interface (\S+) ipv4 address (\S+)", ("interface {0}", " ip address {1}", "exit")),
    (r"router bgp autonomous-system (\d+)", ("router bgp {0}", "exit")),
    (r"router bgp router-id (\S+)", ("bgp: bgp router-id {0}",)),
    (r"vrf default router bgp path-selection multipath aspath-ignore enabled",
     ("bgp: bgp bestpath as-path multipath-relax",)),
    (rf"{_GROUP} remote-as (\S+)",
     ("bgp: neighbor {0} peer-group", "bgp: neighbor {0} remote-as {1}")),
    (r"vrf default router bgp neighbor (\S+) type unnumbered", ()),
    (r"vrf default router bgp neighbor (\S+) peer-group (\S+)",
     ("bgp: neighbor {0} interface peer-group {1}",)),
    (rf"{_GROUP} address-family ipv4-unicast state enabled",
     ("bgp: neighbor {0} capability extended-nexthop", "family: neighbor {0} activate")),
    (rf"{_GROUP} address-family ipv4-unicast policy (in|out)bound route-map (\S+)",
     ("family: neighbor {0} route-map {2} {1}",)),
    (rf"{_FAMILY} redistribute connected route-map (\S+)",
     ("family: redistribute connected route-map {0}",)),
    (rf"{_FAMILY} aggregate-route (\S+) summary-only enabled",
     ("family: aggregate-address {0} summary-only",)),
    (rf"{_FAMILY} multipaths ebgp (\d+)",
     ("family: maximum-paths {0}",)),
    (r"router policy prefix-list (\S+) rule (\d+) match (\S+) (min|max)-prefix-len (\d+)",
     ("list: {0} {1} {2} {3} {4}",)),
    (r"router policy route-map (\S+) rule (\d+) match ip-prefix-list (\S+)",
     ("route-map {0} permit {1}", " match ip address prefix-list {2}", "exit")),
)  # fmt: skip
"""Commands of NVUE, and what FRR is told; ``bgp:`` and ``family:`` stand inside."""
SILENT = re.compile(
    r".* (description|mtu|breakout|hash-seed|qos|hostname)\b.*"
    r"|.*( state enabled| action permit| type ipv4)"
)
"""What FRR has no part in, or what is there by itself; ``action permit`` is checked apart."""


def of_nvue(text):
    """Return frr.conf of the commands of a switch."""
    tops, bgp, family, timers, lists = [], [], [], {}, []
    asn = re.search(r"autonomous-system (\d+)", text)[1]
    for line in text.splitlines():
        command = line.removeprefix("nv set ")
        if line.startswith("#"):
            continue
        timer = re.fullmatch(r"vrf default .* (\S+) timers (keepalive|hold) (\d+)", command)
        if timer:
            timers.setdefault(timer[1], {})[timer[2]] = timer[3]
            continue
        for part in _of(command):
            where, _, rest = part.partition(": ")
            {"bgp": bgp, "family": family, "list": lists}.get(where, tops).append(
                rest if where in {"bgp", "family", "list"} else part
            )
    bgp += [f"neighbor {name} timers {one['keepalive']} {one['hold']}"
            for name, one in timers.items()]  # fmt: skip
    groups = [one for one in bgp if one.endswith(" peer-group")]
    ordered = [*groups, *(one for one in bgp if one not in groups)]
    tops = [one for one in tops if not one.startswith("router bgp")]
    return "\n".join([
        *HEAD, *_stanzas(tops), f"router bgp {asn}", *(f" {one}" for one in ordered),
        " address-family ipv4 unicast", *(f"  {one}" for one in family),
        " exit-address-family", "exit", *map(_prefix_list, lists), "end",
    ]) + "\n"  # fmt: skip


def _of(command):
    for pattern, parts in NVUE:
        found = re.fullmatch(pattern, command)
        if found:
            return [part.format(*found.groups()) for part in parts]
    assert SILENT.fullmatch(command), f"not known: {command}"
    return []


def _stanzas(lines):
    """Drop the ends of a router that was only named."""
    kept = []
    for line in lines:
        if line == "exit" and (not kept or kept[-1] == "exit"):
            continue
        kept.append(line)
    return kept


def _prefix_list(row):
    name, number, prefix, bound, length = row.split()
    word = "ge" if bound == "min" else "le"
    return f"ip prefix-list {name} seq {number} permit {prefix} {word} {length}"
