"""Predicates on partitions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from weft.lint.facts import Partition
from weft.lint.rule import Case, Found, Severity, path_of, problem

_MOST: Final = 0x7FFF
_MEMBER: Final = 0x8000
_LEVELS: Final = 15
_MTUS: Final = 5
"""Codes of 256, 512, 1024, 2048 and 4096 bytes. [InfiniBand specification, PathRecord]"""
_ALL: Final = frozenset({"ALL", "ALL_CAS"})


def ib_partition(case: Case) -> Found:
    rows = list(_merged(case.of(Partition)))
    keys: dict[int, Partition] = {}
    for row in rows:
        key = row.key & _MOST
        if not row.key or row.key > _MOST + _MEMBER:
            yield problem("key", row)
        elif keys.setdefault(key, row).name != row.name:
            yield problem("shared", row, keys[key], value=keys[key].name, key=key)
        if row.mtu_code is not None and not 1 <= row.mtu_code <= _MTUS:
            yield problem("mtu", row)
        if row.service_level is not None and row.service_level > _LEVELS:
            yield problem("level", row)
        yield from _members(row, rows)
    if rows and _MOST not in keys:
        yield problem("none", *rows)
    yield from _tenants(rows)
    for option in case.options("opensm", "part_enforce"):
        if len(keys) > 1 and option.value.lower() == "off":
            yield problem("unenforced", option)


def _merged(rows: Iterable[Partition]) -> Iterator[Partition]:
    """Join the definitions of one partition; each line has its own default membership.

    [man opensm, PARTITION CONFIGURATION: a partition may be defined on several lines]
    """
    found: dict[tuple[str, str, int], Partition] = {}
    for row in rows:
        name, default = (path_of(row), row.name, row.key & _MOST), row.full_by_default
        own = tuple((who, default if full is None else full) for who, full in row.members)
        before = found[name].members if name in found else ()
        found[name] = replace(found.get(name, row), members=before + own)
    yield from found.values()


def _tenants(rows: list[Partition]) -> Found:
    """Report keys of which hosts of two tenants are full members."""
    tenants = [(row, hosts) for row in rows if (hosts := _hosts(row)) and not _is_shared(row)]
    apart = [
        (partition, other) for (partition, hosts), (other, others) in combinations(tenants, 2)
        if partition.at.text.name == other.at.text.name and not hosts & others
    ]  # fmt: skip
    for shared in rows:
        for partition, other in apart:
            if shared in (partition, other) or shared.at.text.name != partition.at.text.name:
                continue
            full = _hosts(shared)
            everyone = _is_shared(shared)
            if everyone or (full & _hosts(partition) and full & _hosts(other)):
                yield problem("tenants", shared, partition, other, value=shared.key & _MOST)
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
    default = one.key & _MOST == _MOST
    if not one.members:
        yield problem("empty", one)
    elif not full:
        yield problem("limited", one)
    elif any(other.at_index_0 and _has_full(other) for other in rows):
        pass  # NCCL takes the key of the job's partition
    elif limited & _ALL and not full - {"SELF", "ALL_SWITCHES", "ALL_ROUTERS"}:
        alone = not any(other is not one and _has_full(other) for other in rows)
        end = "" if alone else ", and NCCL takes P_Key index 0"
        severity = Severity.ERROR if default and alone else Severity.WARNING
        names = " and ".join(sorted(full))
        yield problem("limited_hosts", one, names=names, end=end, severity=severity)
    if default and ("SELF", False) in one.members:
        yield problem("limited_manager", one)
    if default and full and not (full | limited) & _ALL and not _named(one):
        yield problem("no_host", one)
    if default and not full & {"SELF", *_ALL} and not _hosts(one):
        yield problem("no_manager", one)
