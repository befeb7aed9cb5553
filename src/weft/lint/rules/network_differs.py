"""One network or pool of a set of rails is not like the others.

What it checks: networks of one kind whose names differ in a number, four or more: MTU, the
namespace, whether they take addresses from a pool, what they set in the pod; pools likewise:
the namespace, routes, lengths and the place of the gateway. What few do otherwise is reported.
Why it matters: rails are the same eight times. A rail that differs has another MTU, no address
or no route, and only its GPU shows it.
What to do: write it as the others are.
References: NVIDIA network operator, multi-rail; NVIDIA IPAM plug-in.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import re2

from weft.lint.facts import AddressPool, Fact, Network
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

F = TypeVar("F", Network, AddressPool)
_NUMBER: Final = re2.compile(r"\d+")
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


def _check(case: Case) -> Found:
    for networks in _kinds(case.of(Network)):
        yield from _odd(networks, _OF_NETWORKS, "network")
    for pools in _kinds(case.of(AddressPool)):
        yield from _odd(pools, _OF_POOLS, "pool")


def _kinds(facts: Sequence[F]) -> Iterator[list[F]]:
    groups: dict[str, list[F]] = {}
    for one in facts:
        stem = _NUMBER.sub("#", one.name)
        groups.setdefault(f"{one.kind} {stem}", []).append(one)
    yield from (group for group in groups.values() if len(group) >= _SET)


def _odd(facts: list[F], looks: Mapping[str, Callable[[F], object]], what: str) -> Found:
    for name, look in looks.items():
        values = Counter(look(one) for one in facts)
        usual, count = values.most_common(1)[0]
        if len(facts) - count > len(facts) * _FEW_RATIO:
            continue
        shown: Fact = next(one for one in facts if look(one) == usual)
        for one in facts:
            if look(one) != usual:
                yield problem(
                    [one, shown],
                    f"{what} {one.name}: {name} is {look(one)}, and {usual} for {count} others",
                    "write it as the others are",
                )


network_differs = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://github.com/Mellanox/nvidia-k8s-ipam",
    check=_check,
)
