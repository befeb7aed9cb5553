"""Predicates on partitions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from weft.lint.facts import Partition
from weft.lint.rule import Case, Found, Severity, problem

_MOST: Final = 0x7FFF
_MEMBER: Final = 0x8000
_LEVELS: Final = 15
_MTUS: Final = 5
"""Codes of 256, 512, 1024, 2048 and 4096 bytes. [InfiniBand specification, PathRecord]"""
_ALL: Final = frozenset({"ALL", "ALL_CAS"})


def ib_partition(case: Case) -> Found:
    rows = list(_merged(case.of(Partition)))
    keys: dict[int, Partition] = {}
    for one in rows:
        key = one.key & _MOST
        if not one.key or one.key > _MOST + _MEMBER:
            yield problem(
                one, f"partition {one.name} has the key {one.key:#x}", "use 0x1 to 0x7fff"
            )
        elif keys.setdefault(key, one).name != one.name:
            yield problem(
                [one, keys[key]],
                f"{one.name} and {keys[key].name} share the key {key:#06x}",
                "give each its own",
            )
        if one.mtu_code is not None and not 1 <= one.mtu_code <= _MTUS:
            yield problem(
                one, f"mtu={one.mtu_code} is no code of an MTU", "use 4 (2048) or 5 (4096)"
            )
        if one.service_level is not None and one.service_level > _LEVELS:
            yield problem(one, f"service level {one.service_level}", "use 0 to 15")
        yield from _members(one, rows)
    if rows and _MOST not in keys:
        yield problem(rows, "there is no default partition (0x7fff)", "define Default=0x7fff")
    yield from _tenants(rows)
    for option in case.options("opensm", "part_enforce"):
        if len(keys) > 1 and option.value.lower() == "off":
            yield problem(
                option,
                "partitions are not enforced by switches",
                "set both",
                severity=Severity.WARNING,
            )


def _merged(rows: Iterable[Partition]) -> Iterator[Partition]:
    """Join the definitions of one partition; each line has its own default membership.

    [man opensm, PARTITION CONFIGURATION: a partition may be defined on several lines]
    """
    found: dict[tuple[str, str, int], Partition] = {}
    for one in rows:
        name = (one.at.text.name, one.name, one.key & _MOST)
        own = tuple(
            (who, one.full_by_default if kind is None else kind) for who, kind in one.members
        )
        first = found.get(name)
        found[name] = (
            replace(first, members=first.members + own) if first else replace(one, members=own)
        )
    yield from found.values()


def _tenants(rows: list[Partition]) -> Found:
    """Report keys of which hosts of two tenants are full members."""
    tenants = [(one, hosts) for one in rows if (hosts := _hosts(one)) and not _is_shared(one)]
    apart = [
        (one, other) for (one, hosts), (other, others) in combinations(tenants, 2)
        if one.at.text.name == other.at.text.name and not hosts & others
    ]  # fmt: skip
    for shared in rows:
        for one, other in apart:
            if shared in (one, other) or shared.at.text.name != one.at.text.name:
                continue
            full = _hosts(shared)
            everyone = _is_shared(shared)
            if everyone or (full & _hosts(one) and full & _hosts(other)):
                yield problem(
                    [shared, one, other],
                    f"hosts of {one.name} and {other.name} are full members of {shared.name} "
                    f"({shared.key & _MOST:#06x}): the two tenants reach each other",
                    f"make hosts limited members of {shared.name}: ALL=limited, SELF=full",
                    severity=Severity.WARNING,
                )
                break


def _hosts(one: Partition) -> set[str]:
    """Return the GUIDs that are full members."""
    return {who for who, full in one.members if full and who.startswith("0x")}


def _is_shared(one: Partition) -> bool:
    """Return whether every host is a full member."""
    return any(full and who in _ALL for who, full in one.members)


def _has_full(one: Partition) -> bool:
    """Return whether hosts are full members of a partition."""
    return any(full and (who in _ALL or who.startswith("0x")) for who, full in one.members)


def _named(one: Partition) -> bool:
    """Return whether hosts are named one by one, or by a group of the file."""
    special = {"SELF", "ALL_SWITCHES", "ALL_ROUTERS", "ALL_VCAS"}
    return any(who not in special for who, _ in one.members)


def _members(one: Partition, rows: list[Partition]) -> Found:
    full = {who for who, is_full in one.members if is_full}
    limited = {who for who, _ in one.members} - full
    if not one.members:
        yield problem(one, f"partition {one.name} has no members", "name them")
    elif not full:
        yield problem(
            one,
            f"all members of {one.name} are limited: none can talk to another",
            "make them full",
        )
    elif any(other.at_index_0 and _has_full(other) for other in rows):
        pass  # NCCL takes the key of the job's partition
    elif limited & _ALL and not full - {"SELF", "ALL_SWITCHES", "ALL_ROUTERS"}:
        default = one.key & _MOST == _MOST
        alone = not any(other is not one and _has_full(other) for other in rows)
        yield problem(
            one,
            f"hosts are limited members of {one.name}: they can talk to "
            f"{' and '.join(sorted(full))} alone, not to one another"
            + ("" if alone else ", and NCCL takes P_Key index 0"),
            "make hosts full members, or name the job's partition with NCCL_IB_PKEY",
            severity=Severity.ERROR if default and alone else Severity.WARNING,
        )
    default = one.key & _MOST == _MOST
    if default and ("SELF", False) in one.members:
        yield problem(
            one,
            "the subnet manager is a limited member: limited hosts cannot ask it for paths",
            "write SELF=full",
        )
    if default and full and not (full | limited) & _ALL and not _named(one):
        yield problem(
            one, "no host is a member of the default partition: none reaches its "
            "subnet manager", "add ALL=limited or ALL=full",
        )  # fmt: skip
    if (
        default
        and not full & {"SELF", "ALL", "ALL_CAS"}
        and not any(w[:2] == "0x" for w in full)
    ):
        yield problem(
            one,
            "the subnet manager is no full member of the default partition",
            "add SELF=full",
        )
