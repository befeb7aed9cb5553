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
    "the MTU": lambda one: one.mtu_bytes or "none",
    "the namespace": lambda one: one.namespace or "none",
    "a pool of addresses": lambda one: "some" if one.pool else "none",
    "sysctl settings": lambda one: ", ".join(f"{n}={v}" for n, v in one.settings) or "none",
}
_OF_POOLS: Final[Mapping[str, Callable[[AddressPool], object]]] = {
    "the namespace": lambda one: one.namespace or "none",
    "routes": lambda one: ", ".join(one.routes) or "none",
    "the prefix of a node": lambda one: one.node_prefix or "none",
    "addresses of a node": lambda one: one.block or "none",
    "the place of the gateway": lambda one: (
        "none" if one.gateway_index is None else one.gateway_index
    ),
}


def network_differs(case: Case) -> Found:
    for networks in _kinds(case.of(Network)):
        yield from _network_differs_odd(networks, _OF_NETWORKS, "network")
    for pools in _kinds(case.of(AddressPool)):
        yield from _network_differs_odd(pools, _OF_POOLS, "pool")


def _kinds(facts: Sequence[F]) -> Iterator[list[F]]:
    groups = grouped(facts, lambda one: (one.kind, _DIGITS.sub("#", one.name)))
    yield from (group for group in groups.values() if len(group) >= _SET)


def _network_differs_odd(
    facts: list[F], looks: Mapping[str, Callable[[F], object]], what: str
) -> Found:
    for name, look in looks.items():
        common, count = usual(look(one) for one in facts)
        if len(facts) - count > len(facts) * _FEW_RATIO:
            continue
        shown = next(one for one in facts if look(one) == common)
        for one in facts:
            if look(one) != common:
                yield problem(
                    "odd", one, shown, what=what, name=name, value=look(one), usual=common,
                    count=count,
                )  # fmt: skip


def network_master(case: Case) -> Found:
    together = [
        {name.rpartition("/")[2].partition("@")[0] for name in one.networks}
        for one in case.of(Workload)
    ]
    seen: dict[str, Network] = {}
    for one in case.of(Network):
        if not one.master:
            continue
        first = seen.setdefault(one.master, one)
        same_stem = _DIGITS.sub("#", first.name) == _DIGITS.sub("#", one.name)
        used = any({first.name, one.name} <= names for names in together)
        if first.name != one.name and (used or same_stem):
            yield problem("shared", one, first)


_SETTINGS: Final = (
    ("rdma", "isRdma"), ("vendor", "vendor"), ("link_type", "link type"),
    ("driver", "device type"), ("named", "naming of devices"), ("mtu_bytes", "MTU"),
)  # fmt: skip
_ENOUGH: Final = 3


def offer_unlike_others(case: Case) -> Found:
    offers = case.of(Offered)
    for one in offers:
        if one.rdma and one.driver == "vfio-pci":
            yield problem("vfio", one)
    rails = grouped(offers, lambda one: _DIGITS.sub("#", f"{one.resource} of {one.by}"))
    for rows in rails.values():
        for name, words in _SETTINGS:
            yield from _offer_unlike_others_odd(rows, name, words)
    networks = grouped(case.of(Network), lambda each: _DIGITS.sub("#", each.device))
    for peers in networks.values():
        yield from _offer_unlike_others_odd(peers, "plugins", "the chain of plug-ins")
        shapes = [replace(one, master=_DIGITS.sub("#", one.master)) for one in peers]
        yield from _offer_unlike_others_odd(shapes, "master", "the interface")


def _offer_unlike_others_odd(rows: Sequence[Offered | Network], name: str, words: str) -> Found:
    counts = Counter(getattr(one, name) for one in rows)
    common, count = counts.most_common(1)[0]
    for one in rows:
        value = getattr(one, name)
        if value != common and count >= _ENOUGH * counts[value]:
            shown = next(other for other in rows if getattr(other, name) == common)
            yield problem(
                "odd", one, shown, value=_name(one), words=words, value_2=_said(value),
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
    parts = {one.part: one for one in case.of(Installed)}
    if not parts:
        return
    shown = next(iter(parts.values()))
    networks = [one for one in case.of(Network) if one.kind in _OF_OPERATOR]
    pools = [one for one in case.of(AddressPool) if one.kind in _POOLS]
    wanted: tuple[tuple[list[Fact], frozenset[str], str], ...] = (
        ([*networks], frozenset({"multus"}), "multus"),
        ([*networks], frozenset({"cniPlugins"}), "cniPlugins"),
        ([*pools], frozenset({"nvIpam"}), "nvIpam"),
        ([one for one in networks if one.resource], _PLUGINS, "sriovDevicePlugin"),
    )
    for users, any_of, name in wanted:
        if users and not any_of & parts.keys():
            yield problem("absent", shown, users[0], name=name)
    yield from _versions([*parts.values()])


def _versions(parts: list[Installed]) -> Found:
    """Compare the versions of the operator's own images: they carry its release."""
    own = [one for one in parts if one.version.startswith(_PREFIX)]
    common, _ = usual(one.version for one in own)
    odd = [one for one in own if one.version != common][:1]
    for one in odd:
        shown = next(one for one in own if one.version == common)
        yield problem("versions", one, shown, usual=common)


def policy_sriov(case: Case) -> Found:
    offers = [one for one in case.of(Offered) if one.devices]
    for one, other in combinations(offers, 2):
        shared = set(one.devices) & set(other.devices)
        if shared and one.resource != other.resource:
            yield problem("twice", other, one, least=min(shared))
