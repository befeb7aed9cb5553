"""Predicates on networks and device plug-ins of Kubernetes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, TypeVar

import re2

from weft.lint.facts import AddressPool, Fact, Installed, Network, Offered, Workload
from weft.lint.rule import Case, Found, grouped, problem, usual

F = TypeVar("F", Network, AddressPool)
_DIGITS: Final = re2.compile(r"\d+")
_SET: Final = 4
_FEW_RATIO: Final = 0.25

_OF_NETWORKS: Final[Mapping[str, Callable[[Network], object]]] = {
    "the MTU": lambda network: network.mtu_bytes or "none",
    "the namespace": lambda network: network.namespace or "none",
    "a pool of addresses": lambda network: "some" if network.pool else "none",
    "sysctl settings": lambda network: (
        ", ".join(f"{n}={v}" for n, v in network.settings) or "none"
    ),
}
_OF_POOLS: Final[Mapping[str, Callable[[AddressPool], object]]] = {
    "the namespace": lambda pool: pool.namespace or "none",
    "routes": lambda pool: ", ".join(pool.routes) or "none",
    "the prefix of a node": lambda pool: pool.node_prefix or "none",
    "addresses of a node": lambda pool: pool.block or "none",
    "the place of the gateway": lambda pool: (
        "none" if pool.gateway_index is None else pool.gateway_index
    ),
}


def network_differs(case: Case) -> Found:
    for networks in _kinds(case.of(Network)):
        yield from _network_differs_odd(networks, _OF_NETWORKS, "network")
    for pools in _kinds(case.of(AddressPool)):
        yield from _network_differs_odd(pools, _OF_POOLS, "pool")


def _kinds(facts: Sequence[F]) -> Iterator[list[F]]:
    groups = grouped(facts, lambda fact: (fact.kind, _DIGITS.sub("#", fact.name)))
    yield from (group for group in groups.values() if len(group) >= _SET)


def _network_differs_odd(
    facts: list[F], looks: Mapping[str, Callable[[F], object]], what: str
) -> Found:
    for name, look in looks.items():
        common, count = usual(look(fact) for fact in facts)
        if len(facts) - count > len(facts) * _FEW_RATIO:
            continue
        shown = next(fact for fact in facts if look(fact) == common)
        for fact in facts:
            if look(fact) != common:
                yield problem(
                    "odd", fact, shown, what=what, name=name, value=look(fact), usual=common,
                    count=count,
                )  # fmt: skip


def network_master(case: Case) -> Found:
    together = [
        {name.rpartition("/")[2].partition("@")[0] for name in workload.networks}
        for workload in case.of(Workload)
    ]
    seen: dict[str, Network] = {}
    for network in case.of(Network):
        if not network.master:
            continue
        first = seen.setdefault(network.master, network)
        same_stem = _DIGITS.sub("#", first.name) == _DIGITS.sub("#", network.name)
        used = any({first.name, network.name} <= names for names in together)
        if first.name != network.name and (used or same_stem):
            yield problem("shared", network, first)


_SETTINGS: Final = (
    ("rdma", "isRdma"), ("vendor", "vendor"), ("link_type", "link type"),
    ("driver", "device type"), ("named", "naming of devices"), ("mtu_bytes", "MTU"),
)  # fmt: skip
_ENOUGH: Final = 3


def offer_unlike_others(case: Case) -> Found:
    offers = case.of(Offered)
    for offer in offers:
        if offer.rdma and offer.driver == "vfio-pci":
            yield problem("vfio", offer)
    rails = grouped(offers, lambda offer: _DIGITS.sub("#", f"{offer.resource} of {offer.by}"))
    for rows in rails.values():
        for name, words in _SETTINGS:
            yield from _offer_unlike_others_odd(rows, name, words)
    networks = grouped(case.of(Network), lambda each: _DIGITS.sub("#", each.device))
    for peers in networks.values():
        yield from _offer_unlike_others_odd(peers, "plugins", "the chain of plug-ins")
        shapes = [replace(peer, master=_DIGITS.sub("#", peer.master)) for peer in peers]
        yield from _offer_unlike_others_odd(shapes, "master", "the interface")


def _offer_unlike_others_odd(rows: Sequence[Offered | Network], name: str, words: str) -> Found:
    counts = Counter(getattr(row, name) for row in rows)
    common, count = counts.most_common(1)[0]
    for row in rows:
        value = getattr(row, name)
        if value != common and count >= _ENOUGH * counts[value]:
            shown = next(other for other in rows if getattr(other, name) == common)
            yield problem(
                "odd", row, shown, value=_name(row), words=words, value_2=_said(value),
                value_3=_said(common), count=count, value_4=_name(shown),
            )  # fmt: skip


def _name(one: Offered | Network) -> str:
    return one.resource if isinstance(one, Offered) else one.device


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "empty"
    return "not said" if value in {None, ""} else str(value)


_OF_OPERATOR: Final = frozenset({"HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork"})
_POOLS: Final = frozenset({"CIDRPool", "IPPool"})
_PLUGINS: Final = frozenset({"sriovDevicePlugin", "rdmaSharedDevicePlugin"})
_PREFIX: Final = "network-operator-v"


def operator_parts(case: Case) -> Found:
    parts = {installed.part: installed for installed in case.of(Installed)}
    if not parts:
        return
    shown = next(iter(parts.values()))
    networks = [network for network in case.of(Network) if network.kind in _OF_OPERATOR]
    pools = [pool for pool in case.of(AddressPool) if pool.kind in _POOLS]
    wanted: tuple[tuple[list[Fact], frozenset[str], str], ...] = (
        ([*networks], frozenset({"multus"}), "multus"),
        ([*networks], frozenset({"cniPlugins"}), "cniPlugins"),
        ([*pools], frozenset({"nvIpam"}), "nvIpam"),
        ([network for network in networks if network.resource], _PLUGINS, "sriovDevicePlugin"),
    )
    for users, any_of, name in wanted:
        if users and not any_of & parts.keys():
            yield problem("absent", shown, users[0], name=name)
    yield from _versions([*parts.values()])


def _versions(parts: list[Installed]) -> Found:
    """Compare the versions of the operator's own images: they carry its release."""
    own = [part for part in parts if part.version.startswith(_PREFIX)]
    common, _ = usual(installed.version for installed in own)
    odd = [installed for installed in own if installed.version != common][:1]
    for installed in odd:
        shown = next(installed for installed in own if installed.version == common)
        yield problem("versions", installed, shown, usual=common)


def policy_sriov(case: Case) -> Found:
    offers = [offered for offered in case.of(Offered) if offered.devices]
    for offered, other in combinations(offers, 2):
        shared = set(offered.devices) & set(other.devices)
        if shared and offered.resource != other.resource:
            yield problem("twice", other, offered, least=min(shared))
