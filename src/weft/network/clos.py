"""Switch and link counts of a folded Clos of one, two or three tiers, in closed form.

The rules are those that reproduce the published tables (DGX SuperPOD H100, B200, B300):

* a leaf of radix k and oversubscription o has about k / (1 + o) ports up and o times as
  many down, and all its uplinks are cabled even where hosts are missing;
* the uplinks of a leaf are spread evenly, so the spines that it reaches divide its uplinks
  (24 leaves of 32 uplinks get 16 spines of 64 ports, not 12);
* two tiers hold k leaves; beyond, leaves form groups with spines of their own and cores
  join the groups. A group is a pod of whole units or, where that takes fewer cores, the
  leaves of one rail (which also keeps traffic of one rail below the cores).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Final

from weft.errors import Infeasible

_KEPT_UPLINKS: Final = 0.9
"""Share of a leaf's possible uplinks that must remain when they are spread evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clos:
    """One folded Clos network: how many of everything, and how it is wired.

    A unit is a set of leaves (one a rail) that serve the same trays; units are filled one
    after another, so only the last may be partly empty. Groups likewise.
    """

    radix: int
    trays: int
    """Sets of NICs that attach as one (a host, or a compute tray of a rack-scale host)."""
    trays_per_unit: int
    leaves_per_unit: int
    ports_per_leaf: int
    """NIC ports that one tray has on each leaf of its unit."""
    leaf_up: int
    units_per_group: int
    by_rail: bool = False
    """Groups are the leaves of one rail, not pods of whole units."""
    spines_per_group: int = 0
    spine_up: int = 0
    core_groups: int = 0
    cores_per_group: int = 0

    @property
    def units(self) -> int:
        """Units, the last one perhaps not full."""
        return -(-self.trays // self.trays_per_unit)

    @property
    def leaves(self) -> int:
        """All leaves."""
        return self.units * self.leaves_per_unit

    @property
    def tiers(self) -> int:
        """Tiers of switches."""
        return 1 + (self.spines_per_group > 0) + (self.core_groups > 0)

    @property
    def groups_per_rail(self) -> int:
        """Groups that share one set of rails: all of them where groups are pods."""
        return -(-self.units // self.units_per_group)

    @property
    def rail_sets(self) -> int:
        """Sets of rails that have groups of their own: 1 where groups are pods."""
        return self.leaves_per_unit if self.by_rail else 1

    @property
    def groups(self) -> int:
        """Sets of leaves with spines of their own."""
        return self.groups_per_rail * self.rail_sets

    @property
    def spines(self) -> int:
        """All spines."""
        return self.groups * self.spines_per_group

    @property
    def cores(self) -> int:
        """All cores."""
        return self.core_groups * self.cores_per_group

    @property
    def host_links(self) -> int:
        """Links between NICs and leaves."""
        return self.trays * self.leaves_per_unit * self.ports_per_leaf

    @property
    def leaf_links(self) -> int:
        """Links between leaves and spines."""
        return self.leaves * self.leaf_up if self.spines_per_group else 0

    @property
    def spine_links(self) -> int:
        """Links between spines and cores."""
        return self.spines * self.spine_up

    def group_leaves(self, units: int) -> int:
        """Leaves of a group of so many units."""
        return units * (1 if self.by_rail else self.leaves_per_unit)

    @property
    def ports_used(self) -> tuple[int, int, int]:
        """Ports in use on the fullest leaf, spine and core."""
        fullest = min(self.trays, self.trays_per_unit)
        leaf = fullest * self.ports_per_leaf + (self.leaf_up if self.tiers > 1 else 0)
        return leaf, self._spine_ports(), self._core_ports()

    def _spine_ports(self) -> int:
        if not self.spines_per_group:
            return 0
        down = self.group_leaves(min(self.units, self.units_per_group)) * self.leaf_up
        return down // self.spines_per_group + self.spine_up

    def _core_ports(self) -> int:
        return -(-self.spine_links // self.cores) if self.cores else 0


def single_switch(*, radix: int, trays: int, ports_per_tray: int) -> Clos:
    """Return the network that is one switch."""
    return Clos(
        radix=radix, trays=trays, trays_per_unit=trays, leaves_per_unit=1,
        ports_per_leaf=ports_per_tray, leaf_up=0, units_per_group=1,
    )  # fmt: skip


@lru_cache(maxsize=4096)
def clos(
    *,
    radix: int,
    trays: int,
    leaves_per_unit: int,
    ports_per_leaf: int,
    oversubscription: float = 1.0,
    pod_oversubscription: float = 1.0,
    trays_per_pod: int | None = None,
    tiers: int | None = None,
    may_group_by_rail: bool = False,
) -> Clos:
    """Return the Clos for so many trays, with as few tiers as hold them if not told.

    >>> big = clos(radix=64, trays=512, leaves_per_unit=8, ports_per_leaf=1)
    >>> big.leaves, big.spines, big.cores
    (128, 128, 64)
    """
    base = _base(radix, trays, leaves_per_unit, ports_per_leaf, oversubscription)
    if tiers is None:
        podded = trays_per_pod is not None and trays_per_pod < trays
        tiers = 3 if podded or base.leaves > radix else 2
    if tiers == 2:  # noqa: PLR2004 - tiers of switches
        return _two_tiers(base)
    return _three_tiers(base, pod_oversubscription, trays_per_pod, may_group_by_rail)


def _base(
    radix: int, trays: int, leaves_per_unit: int, ports_per_leaf: int, oversubscription: float
) -> Clos:
    """Return the leaves, not joined yet."""
    down = down_ports(radix, oversubscription)
    if down < ports_per_leaf:
        raise Infeasible(
            f"a host brings {ports_per_leaf} ports to one leaf and a leaf of radix {radix} "
            f"has {down} ports down; choose a larger switch or topology rail_optimized"
        )
    return Clos(
        radix=radix, trays=trays, trays_per_unit=down // ports_per_leaf,
        leaves_per_unit=leaves_per_unit, ports_per_leaf=ports_per_leaf,
        leaf_up=up_ports(radix, oversubscription), units_per_group=1,
    )  # fmt: skip


def group_of(
    *,
    radix: int,
    leaves_per_unit: int,
    ports_per_leaf: int,
    oversubscription: float = 1.0,
    pod_oversubscription: float = 1.0,
    trays_per_pod: int | None = None,
) -> Clos:
    """Return the largest leaf-spine group (or one of so many trays) with uplinks for others."""
    base = _base(radix, 1, leaves_per_unit, ports_per_leaf, oversubscription)
    spine_down = _most_down(radix, pod_oversubscription)
    most = spine_down // leaves_per_unit
    units = most if trays_per_pod is None else -(-trays_per_pod // base.trays_per_unit)
    if not 0 < units <= most:
        raise Infeasible(
            f"a group of {max(units, 1) * leaves_per_unit} leaves is more than a spine of "
            f"radix {radix} reaches ({spine_down}); choose a smaller hosts_per_pod or a "
            f"switch of larger radix"
        )
    trays = units * base.trays_per_unit
    spines = _even(base.leaf_up, -(-units * leaves_per_unit * base.leaf_up // spine_down))
    assert spines is not None, "a spine reaches every leaf of the group"
    up = ceil(units * leaves_per_unit * base.leaf_up // spines / pod_oversubscription)
    return replace(
        base, trays=trays if trays_per_pod is None else trays_per_pod,
        units_per_group=units, spines_per_group=spines, spine_up=up,
    )  # fmt: skip


def down_ports(radix: int, oversubscription: float) -> int:
    """Return the ports of a leaf that face hosts.

    >>> down_ports(64, 1), down_ports(64, 3)
    (32, 48)
    """
    return min(int(up_ports(radix, oversubscription) * oversubscription), radix - 1)


def up_ports(radix: int, oversubscription: float) -> int:
    """Return the ports of a leaf that face spines.

    Of the largest numbers that keep the ratio, the one that halves most often: 40 of 128 at
    2:1 spread evenly over 5, 8 or 10 spines, where 43 would need a spine each. Ports left
    over stay free.

    >>> up_ports(64, 1), up_ports(128, 2), down_ports(128, 2)
    (32, 40, 80)
    """
    most = max(1, int(radix / (1 + oversubscription)))
    return max(range(ceil(most * _KEPT_UPLINKS), most + 1), key=lambda up: (up & -up, up))


def two_tier_max(radix: int, oversubscription: float = 1.0) -> int:
    """Return the most NIC ports that two tiers can join.

    >>> two_tier_max(64)
    2048
    """
    return radix * down_ports(radix, oversubscription)


def three_tier_max(radix: int) -> int:
    """Return the most NIC ports that three non-blocking tiers can join.

    >>> three_tier_max(64)
    65536
    """
    return radix * (radix // 2) ** 2


def mesh_max(radix: int) -> int:
    """Return the most NIC ports of a dragonfly+ with one link between every two groups.

    >>> mesh_max(64)
    1049600
    """
    group = (radix // 2) ** 2
    return group * (group + 1)


def _two_tiers(base: Clos) -> Clos:
    radix = base.radix
    if base.leaves > radix:
        most = radix // base.leaves_per_unit * base.trays_per_unit
        raise Infeasible(
            f"{base.trays} hosts or trays need {base.leaves} leaves, and two tiers of radix "
            f"{radix} stop at {radix} leaves ({most} hosts or trays; k*k/2 = "
            f"{radix * radix // 2} ports non-blocking); choose three tiers (fat_tree or "
            f"rail_optimized), more planes, or a switch of larger radix"
        )
    spines = _even(base.leaf_up, -(-base.leaves * base.leaf_up // radix))
    assert spines is not None, "leaves <= radix makes the uplinks of one leaf enough"
    return replace(base, units_per_group=base.units, spines_per_group=spines)


def _three_tiers(
    base: Clos,
    pod_oversubscription: float,
    trays_per_pod: int | None,
    may_group_by_rail: bool,  # noqa: FBT001 - private
) -> Clos:
    spine_down = _most_down(base.radix, pod_oversubscription)
    candidates = list(_pods(base, spine_down, pod_oversubscription, trays_per_pod))
    if may_group_by_rail and trays_per_pod is None:
        units = min(base.units, spine_down)
        by_rail = replace(base, units_per_group=units, by_rail=True)
        candidates += _grouped(by_rail, spine_down, pod_oversubscription)
    if not candidates:
        raise Infeasible(
            f"{base.trays} hosts or trays need {base.leaves} leaves of radix {base.radix}, "
            f"more than three tiers can join (k*k*k/4 = {three_tier_max(base.radix)} ports "
            f"non-blocking); choose a switch of larger radix, more planes or rail_only"
        )
    return min(candidates, key=_preference)


def _pods(
    base: Clos, spine_down: int, oversubscription: float, trays_per_pod: int | None
) -> Iterator[Clos]:
    """Yield the network whose groups are pods of whole units, if there is one."""
    most = spine_down // base.leaves_per_unit
    if trays_per_pod is None:
        units = min(most, base.units)
    else:
        units = min(base.units, -(-trays_per_pod // base.trays_per_unit))
        if units > most:
            raise Infeasible(
                f"a pod of {trays_per_pod} hosts or trays has "
                f"{units * base.leaves_per_unit} leaves, and a spine of radix {base.radix} "
                f"reaches {spine_down}; give hosts_per_pod of at most "
                f"{most * base.trays_per_unit} or a switch of larger radix"
            )
    if units:
        yield from _grouped(replace(base, units_per_group=units), spine_down, oversubscription)


def _grouped(base: Clos, spine_down: int, oversubscription: float) -> Iterator[Clos]:
    """Yield the network with spines and cores for the given groups, if there is one."""
    leaves = base.group_leaves(base.units_per_group)
    spines = _even(base.leaf_up, -(-leaves * base.leaf_up // spine_down))
    if spines is None:
        return
    up = ceil(leaves * base.leaf_up // spines / oversubscription)
    joined = replace(base, spines_per_group=spines, spine_up=up)
    splits = [q for q in _divisors(spines) if _cores(joined, q) <= up]
    if splits:
        best = min(splits, key=lambda q: (q * _cores(joined, q), up % _cores(joined, q) > 0))
        yield replace(joined, core_groups=best, cores_per_group=_cores(joined, best))


def _cores(network: Clos, core_groups: int) -> int:
    """Return the cores of each core group: spine j of every group meets group j mod q."""
    return -(-network.spine_links // core_groups // network.radix)


def _preference(network: Clos) -> tuple[int, bool, int]:
    """Prefer few cores, then uplinks that spread evenly over them, then few spines."""
    return network.cores, network.spine_up % network.cores_per_group > 0, network.spines


def _most_down(radix: int, oversubscription: float) -> int:
    """Return the most ports down of a spine that leave enough ports up."""
    down = int(radix * oversubscription / (1 + oversubscription))
    return down if down + ceil(down / oversubscription) <= radix else down - 1


def _even(uplinks: int, least: int) -> int | None:
    """Return the fewest switches, at least ``least``, that share the uplinks evenly."""
    return min((d for d in _divisors(uplinks) if d >= least), default=None)


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, number + 1) if number % d == 0)


def host_ratio(network: Clos) -> float:
    """Return host ports over uplinks at the fullest leaf; 1 is non-blocking."""
    if network.tiers == 1:
        return 1.0
    hosts = min(network.trays, network.trays_per_unit) * network.ports_per_leaf
    return max(1.0, hosts / network.leaf_up)


def pod_ratio(network: Clos) -> float:
    """Return host ports of a group over its uplinks to the cores, in the worst group."""
    ratio = host_ratio(network)
    if network.tiers < 3:  # noqa: PLR2004 - tiers of switches
        return ratio
    ports = network.group_leaves(1) * network.ports_per_leaf
    trays = min(network.trays, network.units_per_group * network.trays_per_unit)
    return max(ratio, trays * ports / (network.spines_per_group * network.spine_up))


def bisection_links(network: Clos) -> int:
    """Return the links' worth of traffic that can pass between two halves of the trays.

    The halves are the first and the last trays, so that as little as possible stays below
    the spines; traffic meets as low in the tree as it can.
    """
    half, size = network.trays // 2, network.units_per_group * network.trays_per_unit
    uplinks = network.spines_per_group * network.spine_up
    on_leaves = in_groups = left = right = 0
    for first in range(0, network.trays, size):
        trays = min(size, network.trays - first)
        met, here, there = group_sides(network, min(max(0, half - first), trays), trays)
        both = min(here, there)
        on_leaves, in_groups = on_leaves + met, in_groups + both
        left += min(here - both, uplinks)
        right += min(there - both, uplinks)
    return on_leaves + network.rail_sets * (in_groups + min(left, right))


def group_sides(group: Clos, left_trays: int, trays: int) -> tuple[int, int, int]:
    """Return the ports that meet on leaves, and what else each side can send up.

    The sides are the first trays of a group and the others; what goes up is of one set of
    rails.
    """
    met = left = right = 0
    for first in range(0, trays, group.trays_per_unit):
        stop = min(first + group.trays_per_unit, trays)
        here = max(0, min(left_trays, stop) - first) * group.ports_per_leaf
        there = (stop - first) * group.ports_per_leaf - here
        both = min(here, there)
        met += both * group.leaves_per_unit
        left += min(here - both, group.leaf_up) * group.group_leaves(1)
        right += min(there - both, group.leaf_up) * group.group_leaves(1)
    return met, left, right
