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
    for vrf in db.get("VRF", {}):
        lines += [f"vrf {vrf}", "exit-vrf"]
    inside = db.get("VLAN_SUB_INTERFACE", {})
    ports = db["INTERFACE"] | inside
    for key in [*db["LOOPBACK_INTERFACE"], *ports]:
        name, _, address = key.partition("|")
        if address:
            vrf = ports.get(name, {}).get("vrf_name", "")
            name = "lo" if name.startswith("Loopback") else name
            lines += [f"interface {name}{vrf and f' vrf {vrf}'}", f" ip address {address}",
                      "exit"]  # fmt: skip
    for vrf in db["BGP_GLOBALS"]:
        lines += _sonic_bgp(db, vrf)
    for name in (one for one in inside if "|" not in one):
        assert name.endswith(f".{inside[name]['vlan']}")
    return "\n".join([*lines, *_sonic_policy(db), "end"]) + "\n"


def _of(db, table, vrf):
    """Return the rows of a table that belong to a VRF, by the rest of their key."""
    rows = db.get(table, {}).items()
    return {key.partition("|")[2]: row for key, row in rows if key.partition("|")[0] == vrf}


def _sonic_bgp(db, vrf):
    own = db["BGP_GLOBALS"][vrf]
    yield f"router bgp {own['local_asn']}" + ("" if vrf == "default" else f" vrf {vrf}")
    yield f" bgp router-id {own['router_id']}"
    if own["load_balance_mp_relax"] == "true":
        yield " bgp bestpath as-path multipath-relax"
    for name, group in _of(db, "BGP_PEER_GROUP", vrf).items():
        yield f" neighbor {name} peer-group"
        yield f" neighbor {name} remote-as {group['peer_type']}"
        yield f" neighbor {name} timers {group['keepalive']} {group['holdtime']}"
        if group.get("capability_ext_nexthop") == "true":
            yield f" neighbor {name} capability extended-nexthop"
    for peer, row in _of(db, "BGP_NEIGHBOR", vrf).items():
        if peer in db["INTERFACE"]:
            assert db["INTERFACE"][peer] == {"ipv6_use_link_local_only": "enable"}
        port = " interface" if peer in db["INTERFACE"] else ""
        yield f" neighbor {peer}{port} peer-group {row['peer_group_name']}"
    yield from (" address-family ipv4 unicast", *_sonic_family(db, vrf))
    yield from (" exit-address-family", "exit")


def _sonic_family(db, vrf):
    for row in _of(db, "ROUTE_REDISTRIBUTE", vrf).values():
        yield f"  redistribute connected route-map {row['route_map'][0]}"
    for key, row in _of(db, "BGP_GLOBALS_AF_AGGREGATE_ADDR", vrf).items():
        only = " summary-only" if row["summary_only"] == "true" else ""
        yield f"  aggregate-address {key.rpartition('|')[2]}{only}"
    for key, row in _of(db, "BGP_PEER_GROUP_AF", vrf).items():
        name = key.partition("|")[0]
        yield f"  neighbor {name} activate"
        for way in ("in", "out"):
            for policy in row.get(f"route_map_{way}", ()):
                yield f"  neighbor {name} route-map {policy} {way}"
    for row in _of(db, "BGP_GLOBALS_AF", vrf).values():
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


_BGP = r"vrf (\S+) router bgp"
_GROUP = rf"{_BGP} peer-group (\S+)"
_FAMILY = rf"{_BGP} address-family ipv4-unicast"
NVUE = (
    (r"vrf (\S+) table auto", ("vrf {0}", "exit-vrf")),
    (r"interface (\S+) ipv4 address (\S+)",
     ("interface {0}{in_vrf}", " ip address {1}", "exit")),
    (rf"{_BGP} router-id (\S+)", ("bgp: bgp router-id {1}",)),
    (rf"{_BGP} path-selection multipath aspath-ignore enabled",
     ("bgp: bgp bestpath as-path multipath-relax",)),
    (rf"{_GROUP} remote-as (\S+)",
     ("bgp: neighbor {1} peer-group", "bgp: neighbor {1} remote-as {2}")),
    (rf"{_BGP} neighbor (\S+) type (un)?numbered", ()),
    (rf"{_BGP} neighbor (swp\S+) peer-group (\S+)",
     ("bgp: neighbor {1} interface peer-group {2}",)),
    (rf"{_BGP} neighbor (\S+) peer-group (\S+)", ("bgp: neighbor {1} peer-group {2}",)),
    (rf"{_GROUP} timers keepalive (\S+)", ("bgp: neighbor {1} timers {2} {hold}",)),
    (rf"{_GROUP} timers hold (\S+)", ()),
    (rf"{_GROUP} address-family ipv4-unicast state enabled",
     ("bgp: neighbor {1} capability extended-nexthop", "family: neighbor {1} activate")),
    (rf"{_GROUP} address-family ipv4-unicast policy (in|out)bound route-map (\S+)",
     ("family: neighbor {1} route-map {3} {2}",)),
    (rf"{_FAMILY} redistribute connected route-map (\S+)",
     ("family: redistribute connected route-map {1}",)),
    (rf"{_FAMILY} aggregate-route (\S+) summary-only enabled",
     ("family: aggregate-address {1} summary-only",)),
    (rf"{_FAMILY} multipaths ebgp (\d+)", ("family: maximum-paths {1}",)),
    (r"router policy prefix-list (\S+) rule (\d+) match (\S+) (min|max)-prefix-len (\d+)",
     ("list: {0} {1} {2} {3} {4}",)),
    (r"router policy route-map (\S+) rule (\d+) match ip-prefix-list (\S+)",
     ("route-map {0} permit {1}", " match ip address prefix-list {2}", "exit")),
)  # fmt: skip
"""Commands of NVUE, and what FRR is told; ``bgp:`` and ``family:`` stand inside a VRF's."""
SILENT = re.compile(
    r".* (description|mtu|breakout|hash-seed|qos|hostname|autonomous-system|vrf)\b.*"
    r"|router bgp router-id .*|.*( state enabled| action permit| type ipv4)"
)
"""What FRR has no part in, or what is read apart; ``action permit`` is there by itself."""


def of_nvue(text):
    """Return frr.conf of the commands of a switch."""
    commands = [one.removeprefix("nv set ") for one in text.splitlines() if one[:1] != "#"]
    own_id = re.search(r"router bgp router-id (\S+)", text)[1]
    asn = re.search(r"router bgp autonomous-system (\d+)", text)[1]
    tops, lists = [], []
    bgp = {"default": [f"bgp router-id {own_id}"]}
    family = {"default": []}
    for command in commands:
        vrf = re.match(r"vrf (\S+)", command)
        name = vrf[1] if vrf else "default"
        for part in _of_command(command, text):
            where, _, rest = part.partition(": ")
            if where in {"bgp", "family"}:
                {"bgp": bgp, "family": family}[where].setdefault(name, []).append(rest)
            elif where == "list":
                lists.append(rest)
            else:
                tops.append(part)
    lines = [*HEAD, *tops]
    for name, rows in bgp.items():
        groups = [one for one in rows if re.fullmatch(r"neighbor \S+ peer-group", one)]
        lines += [
            f"router bgp {asn}" + ("" if name == "default" else f" vrf {name}"),
            *(f" {one}" for one in [*groups, *(one for one in rows if one not in groups)]),
            " address-family ipv4 unicast", *(f"  {one}" for one in family[name]),
            " exit-address-family", "exit",
        ]  # fmt: skip
    return "\n".join([*lines, *map(_prefix_list, lists), "end"]) + "\n"


def _of_command(command, text):
    for pattern, parts in NVUE:
        found = re.fullmatch(pattern, command)
        if found:
            own = rf"^nv set interface {re.escape(found[1])} vrf (\S+)$"
            vrf = re.search(own, text, re.MULTILINE)
            hold = re.search(r"timers hold (\d+)", text)
            more = {"in_vrf": f" vrf {vrf[1]}" if vrf else "", "hold": hold and hold[1]}
            return [part.format(*found.groups(), **more) for part in parts]
    assert SILENT.fullmatch(command), f"not known: {command}"
    return []


def _prefix_list(row):
    name, number, prefix, bound, length = row.split()
    word = "ge" if bound == "min" else "le"
    return f"ip prefix-list {name} seq {number} permit {prefix} {word} {length}"
