"""The routing tables of a host's rails do not lead where its packets go.

What it checks: scripts that set routes and rules: every rule leads to a table that has routes,
every table of its own is led to, rules look at the source address; prefixes of routes, and
whether they hold the addresses of the rails; a gateway where rails have one.
Why it matters: the rail sends through the main table, so out of another interface, or nowhere:
connections between some pairs of NICs time out.
What to do: for each rail one table: ip route replace POOL via GATEWAY dev RAIL table N, and
ip rule add from ADDRESS table N.
References: ip-route(8), ip-rule(8).
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from weft.lint.facts import Address, RailTable, Route, RouteRule, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_KERNEL: Final = frozenset({"", "main", "local", "default", "254", "255", "253"})
_RULE: Final = "ip rule add from ADDRESS table TABLE"
_ROUTE: Final = "ip route replace POOL via GATEWAY dev RAIL table TABLE"


def _check(case: Case) -> Found:
    files: dict[str, tuple[list[Route], list[RouteRule]]] = {}
    for route in case.of(Route):
        files.setdefault(route.at.text.name, ([], []))[0].append(route)
    for rule in case.of(RouteRule):
        files.setdefault(rule.at.text.name, ([], []))[1].append(rule)
    rails = [one for one in case.of(Address) if one.side is Side.HOST and one.gateway]
    for routes, rules in files.values():
        yield from _tables(routes, rules, case.of(RailTable))
        for one in routes:
            yield from _prefix(one, rails)


def _tables(
    routes: Sequence[Route], rules: Sequence[RouteRule], rails: Sequence[RailTable]
) -> Found:
    """Compare tables that are filled with those that are asked; one half may be elsewhere."""
    filled = {one.table: one for one in routes if one.table not in _KERNEL}
    asked = {one.table: one for one in rules if one.table not in _KERNEL}
    if not rails and not filled.keys() & asked.keys():  # the other half is set elsewhere
        return
    for table in sorted(asked.keys() - filled.keys()):
        yield problem(
            [asked[table], *rails[:1]],
            f"no route stands in the table {table}, which a rule leads to",
            _ROUTE,
            severity=None if rails else Severity.WARNING,
        )
    for table in sorted(filled.keys() - asked.keys()):
        yield problem(
            [filled[table], *rails[:1]],
            f"no rule leads to the table {table}: its routes are never used",
            _RULE,
            severity=None if rails else Severity.WARNING,
        )
    for one in asked.values() if rails else ():
        if one.goal and not one.source and one.table in filled:
            yield problem(
                one,
                f"the table {one.table} is chosen by where packets go, and all rails go to the "
                "same addresses",
                _RULE,
            )


def _prefix(one: Route, rails: Sequence[Address]) -> Found:
    if "$" in one.prefix or "." not in one.prefix or "/" not in one.prefix:
        return
    try:
        network = IPv4Network(one.prefix)
    except ValueError:
        yield problem(one, f"{one.prefix} is no prefix", "set no bits after its length")
        return
    if one.table in _KERNEL or not rails:
        return
    inside = [rail for rail in rails if _holds(network, rail.address)]
    if len(inside) * 2 < len(rails):
        yield problem(
            [one, next(rail for rail in rails if rail not in inside)],
            f"{one.prefix} holds {len(inside)} of the {len(rails)} addresses of the rails",
            "route all of the fabric's addresses",
        )
    elif not one.gateway:
        yield problem(
            [one, inside[0]],
            f"{one.prefix} has no gateway, and the rails have links of their own with one",
            "add via GATEWAY",
        )


def _holds(network: IPv4Network, address: str) -> bool:
    try:
        return IPv4Address(address.partition("/")[0]) in network
    except ValueError:
        return False


host_routes = Rule(
    layer=Layer.HOSTS,
    severity=Severity.ERROR,
    reference="https://man7.org/linux/man-pages/man8/ip-rule.8.html",
    check=_check,
)
