"""Predicates on hosts."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from ipaddress import IPv4Network
from typing import Final

import re2

from weft.lint.addresses import address_of
from weft.lint.document import whole
from weft.lint.facts import Address, Fact, Option, PciDevice, RailTable, Route, RouteRule
from weft.lint.names import names
from weft.lint.rule import Case, Found, Severity, grouped, path_of, problem, usual

_ITEMS: Final = frozenset(names("limits.items"))


def host_memlock(case: Case) -> Found:
    for option in case.options("limits"):
        item = option.name.partition(" ")[0]
        if item not in _ITEMS:
            yield problem("item", option, item=item)
    yield from _halves(case)


def _halves(case: Case) -> Found:
    """Yield domains whose soft or hard limit alone is lifted: the other one still holds."""
    memlock = (option for option in case.options("limits") if option.name.startswith("memlock"))
    for rows in grouped(memlock, lambda option: (path_of(option), option.device)).values():
        names = {row.name.rpartition(" ")[2] for row in rows}
        if len(names) == 1 and names != {"-"}:
            other = "hard" if names == {"soft"} else "soft"
            yield problem("one_half", *rows, least=min(names), other=other)


_DEVICE: Final = re2.compile(r"(mlx5|mlx4|bnxt_re|irdma|rocep\w*|rdma)_?\d+")
_MOST_RATIO: Final = 0.75
_KERNELS: Final = frozenset({"0", "253", "254", "255", "main", "local", "default"})


def host_rails(case: Case) -> Found:
    for rows in grouped(case.of(RailTable), path_of).values():
        yield from _rows(rows)
    devices = {table.port: table for table in case.of(RailTable)}
    for loop in case.options("rdma-devices"):
        yield from _loop(loop, devices)


def _rows(rows: list[RailTable]) -> Found:
    hosts: dict[str, dict[str, RailTable]] = {}
    for row in rows:
        own = hosts.setdefault(row.device, {})
        other = next((o for o in own.values() if o.table == row.table), None)
        if row.port in own:
            yield problem("twice", row, own[row.port])
        elif row.table in _KERNELS:
            yield problem("kernels", row)
        elif other is not None:
            yield problem("shared", row, other)
        own.setdefault(row.port, row)
    counts = Counter(port for own in hosts.values() for port in own)
    common = {port for port, count in counts.items() if count >= len(hosts) * _MOST_RATIO}
    for host, own in hosts.items():
        for port in sorted(common - own.keys()):
            yield problem("missing", next(iter(own.values())), host=host, port=port)


def _loop(loop: Option, devices: dict[str, RailTable]) -> Found:
    names = loop.value.split()
    if sum(bool(_DEVICE.fullmatch(name)) for name in names) * 2 <= len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        yield problem("listed_twice", loop, twice=twice)
    missing = sorted(devices.keys() - set(names))
    if missing and len(missing) < len(devices):
        seen: list[Fact] = [loop, devices[missing[0]]]
        yield problem("not_listed", *seen, missing=missing)


_STRICT: Final = re2.compile(r"net\.ipv4\.conf\..+\.rp_filter")


def host_reverse_path(case: Case) -> Found:
    rows = case.rails
    rails = Counter(row.device for row in rows)
    several = any(count > 1 for count in rails.values()) or (
        case.cluster is not None and case.cluster.cluster.host.nics > 1
    )
    for option in case.options("sysctl"):
        if _STRICT.fullmatch(option.name) and option.value == "1":
            yield problem("strict", option, severity=None if several else Severity.WARNING)
        wanted = {"arp_ignore": "1", "arp_announce": "2"}.get(option.name.rpartition(".")[2])
        scope = option.name.rpartition(".")[0] in {"net.ipv4.conf.all", "net.ipv4.conf.default"}
        if several and wanted and scope and option.value == "0":
            yield problem("answers", option, wanted=wanted)


_KERNEL: Final = _KERNELS | {""}


def host_routes(case: Case) -> Found:
    routes, rules = grouped(case.of(Route), path_of), grouped(case.of(RouteRule), path_of)
    for name in dict.fromkeys([*routes, *rules]):
        yield from _tables(routes.get(name, []), rules.get(name, []), case.of(RailTable))
    for route in case.of(Route):
        yield from _prefix(route, case.rails)


def _tables(
    routes: Sequence[Route], rules: Sequence[RouteRule], rails: Sequence[RailTable]
) -> Found:
    """Compare tables that are filled with those that are asked; one half may be elsewhere."""
    filled = {route.table: route for route in routes if route.table not in _KERNEL}
    asked = {rule.table: rule for rule in rules if rule.table not in _KERNEL}
    if not rails and not filled.keys() & asked.keys():  # the other half is set elsewhere
        return
    severity = None if rails else Severity.WARNING
    for table in sorted(asked.keys() - filled.keys()):
        yield problem("no_route", asked[table], *rails[:1], severity=severity)
    for table in sorted(filled.keys() - asked.keys()):
        yield problem("no_rule", filled[table], *rails[:1], severity=severity)
    for rule in asked.values() if rails else ():
        if rule.goal and not rule.source and rule.table in filled:
            yield problem("by_goal", rule)


def _prefix(one: Route, rails: Sequence[Address]) -> Found:
    if "$" in one.prefix or "." not in one.prefix or "/" not in one.prefix:
        return
    try:
        network = IPv4Network(one.prefix)
    except ValueError:
        yield problem("bits", one)
        return
    if one.table in _KERNEL or not rails:
        return
    inside = [rail for rail in rails if address_of(rail.address.partition("/")[0]) in network]
    if len(inside) * 2 < len(rails):
        stray = next(rail for rail in rails if rail not in inside)
        yield problem("outside", one, stray, inside=inside, rails=rails)
    elif not one.gateway:
        yield problem("no_gateway", one, inside[0])


_LEAST: Final = 4 << 20


def host_sysctl_buffers(case: Case) -> Found:
    names = {"net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
    for option in case.options("sysctl", *names):
        most = whole(option.value.split()[-1]) if option.value.split() else None
        if most is not None and most < _LEAST:
            yield problem("small", option, most=most)


_KNOWN: Final[dict[str, list[str]]] = dict(names("sysctl.names"))
_OF_CONF: Final = 5


_NET: Final = tuple(names("sysctl.families"))
_LARGEST: Final = {"rp_filter": 2, "arp_ignore": 8, "arp_announce": 2, "arp_filter": 1}
"""Of the values that these have. [ip-sysctl]"""


def host_sysctl_name(case: Case) -> Found:
    for option in case.options("sysctl"):
        parts = option.name.lstrip("-").replace("/", ".").split(".")
        yield from _value(option, parts)
        if parts[:3] == ["net", "ipv4", "conf"]:
            group, own = "net.ipv4.conf.*.", parts[-1] if len(parts) >= _OF_CONF else ""
        else:
            group, own = ".".join(parts[:-1]) + ".", parts[-1]
        known = _KNOWN.get(group, [])
        near = get_close_matches(own, known, n=1, cutoff=0.8) if own not in known else []
        if own and near:
            yield problem("unknown", option, names=".".join([*parts[:-1], near[0]]))


def _value(one: Option, parts: list[str]) -> Found:
    most = _LARGEST.get(parts[-1])
    if most is not None and one.value.isdecimal() and int(one.value) > most:
        yield problem("value", one, most=most)
    if parts[0] == "net" and len(parts) > 1 and parts[1] not in _NET:
        near = get_close_matches(parts[1], _NET, n=1, cutoff=0.7)
        if near:
            yield problem("family", one, parts=parts, near=near)


def host_topology(case: Case) -> Found:
    for rows in grouped(case.of(PciDevice), path_of).values():
        gpus = [row for row in rows if row.kind == "gpu"]
        nets = [row for row in rows if row.kind == "net"]
        near = {net.switch for net in nets if net.switch}
        sockets = {net.numa for net in nets}
        apart = [g for g in gpus if nets and near and g.switch and g.switch not in near]
        with_near = [g for g in gpus if g.switch in near]
        for gpu in gpus:
            if nets and gpu.numa not in sockets:
                yield problem("no_nic", gpu, nets[0])
            elif gpu in apart and with_near:
                yield problem("apart", gpu)
        for kind in (gpus, nets):
            common, _ = usual(device.width for device in kind if device.width)
            for device in kind:
                if device.width and common and device.width < common:
                    yield problem("lanes", device, usual=common)
