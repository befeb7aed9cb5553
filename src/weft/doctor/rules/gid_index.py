"""The pinned or chosen entry of the GID table is another one, or none.

What it checks: the index in use against the table; queue pairs that failed with ENODATA, EINVAL
or ENODEV; an empty GID; RoCE transfers that use a GID without an IPv4 address although the
port has one, or a link-local one although it has one that can be routed; changes of the table
while the job ran, or between two times at which it was read.
Why it matters: the first transfer fails, on some hosts only, after an address or pod changed.
What to do: leave NCCL_IB_GID_INDEX unset with NCCL 2.21 or newer; else look the index up on
each host with show_gids.
References: NCCL user guide, NCCL_IB_GID_INDEX and NCCL_IB_ADDR_FAMILY; RoCE v2 annex.
"""

import errno
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weft.doctor import job, links
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.adapters import Gid
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError

_LOOK = "show_gids; echo $NCCL_IB_GID_INDEX   # on both hosts"
_ADVICE = (
    "unset NCCL_IB_GID_INDEX (NCCL 2.21 or newer) or name the RoCEv2 IPv4 entry of each host"
)
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.VERBS_CALL, "fabric-path-unreachable",
    "hca-selection-wrong",
)  # fmt: skip
_MOVED = re.compile(
    r"^.{0,120}\bgid[ _]?(?:ind(?:ex|exes|ices)|idx|table|entr(?:y|ies))\b"
    r"(?!.{0,40}\b(?:not|never)\b).{0,40}\b(?:moved|changed|shifted|renumbered|drifted|jumped)\b.{0,80}",
    re.IGNORECASE | re.MULTILINE,
)
_UNANSWERED = frozenset({12, 13})
_LAST_LINK_LOCAL = 1
"""The table of a port with an address begins with its link-local GID, as RoCE v1 and v2."""
_LAST_OF_ONE_ADDRESS = 3
"""The last entry of a port with one address: each GID is there as RoCE v1 and v2."""
_SURE = {errno.ENODATA: 0.8, errno.EINVAL: 0.55, errno.ENODEV: 0.55}
_FIRST_VERSION_THAT_CHOOSES = (2, 21)


def _check(facts: Facts) -> Iterator[Finding]:
    pinned = job.gid_indices(facts)
    asked: list[Fact] = [fact for _, fact in pinned]
    unusable = list(_unusable(facts))
    if unusable or links.layer(facts) is LinkLayer.INFINIBAND:
        yield from unusable
        return
    found = list(_moved(facts, pinned)) or list(_against_table(facts, pinned))
    found = found or list(_between_hosts(facts, pinned))
    found = found or list(_unlike(facts, pinned)) or list(_refused(facts, asked))
    found = found or list(_link_local_used(facts)) or list(_said_so(facts))
    found = found or list(_pinned_to_link_local(facts))
    yield from found
    if not found:
        yield from _without_address(facts)
    gone = _vanished(facts)
    if gone:
        yield _wrong(gone, 0.85, "the GID in use is in the adapter's table no more")
    changed = [one for one in facts.of(AdapterEvent) if "gid" in one.event.lower()]
    if changed:
        found_so = _wrong(changed, 0.75, "the GID table changed while the job ran")
        failed = facts.any_of(CompletionError, CallFailed, CollectiveTimeout)
        yield found_so if failed else replace(found_so, severity=Severity.WARNING)


def _wrong(
    seen: Iterable[Fact], confidence_ratio: float, message: str,
    suspects: tuple[Suspect, ...] = (),
) -> Finding:  # fmt: skip
    return finding(
        "gid-index-wrong",
        seen,
        confidence_ratio,
        message=message,
        advice=_ADVICE,
        next_command=_LOOK,
        explains=_FOLLOW,
        suspects=suspects,
    )


def _moved(facts: Facts, pinned: list[tuple[int, Fact]]) -> Iterator[Finding]:
    """Find a GID that a port had at one index and has at another: read twice, or said so.

    In one table a GID of one version stands once for an interface.
    """
    places: dict[tuple[str, str, int, str, int, str], dict[int, Gid]] = {}
    for gid in facts.of(Gid):
        if gid.version and not links.is_empty(gid.gid):
            place = gid.host or gid.evidence.file
            key = (place, gid.adapter, gid.port, gid.gid, gid.version, gid.interface)
            places.setdefault(key, {})[gid.index] = gid
    moved = [[*at.values()] for at in places.values() if len(at) > 1]
    told = job.told(facts, _MOVED) if not moved else []
    for index, asked in pinned:
        left = [at for at in moved if at[0].index == index]
        if left:
            what = f"the GID that was at index {index}, which is asked for, is at "
            what += f"{left[0][-1].index} now"
            yield _wrong([asked, *left[0]], 0.88, what)
            return
    if told and pinned:
        asked_for = [fact for _, fact in pinned]
        yield _wrong([*told, *asked_for], 0.7, "an index is asked for, and the table has moved")
    elif moved and not pinned:
        found = _wrong(moved[0], 0.55, "the GID table is not what it was: entries have moved")
        yield replace(found, severity=Severity.WARNING)


def _against_table(facts: Facts, pinned: list[tuple[int, Fact]]) -> Iterator[Finding]:
    """Compare pinned indices with the tables of the ports in use."""
    tables: dict[tuple[str, str, int], list[Gid]] = {}
    failed = facts.any_of(CompletionError, CallFailed, CollectiveTimeout)
    for gid in facts.of(Gid):
        # each host's table is in a file of its own; while nothing fails, any may be the job's
        place = gid.host or (gid.evidence.file if failed else "")
        table = tables.setdefault((place, gid.adapter, gid.port), [])
        if table and gid.sample > table[-1].sample:  # it was read anew
            table.clear()
        table.append(gid)
    used = {one.adapter for one in job.verbs_adapters(facts)}
    for index, one in pinned:
        for (_, adapter, _port), table in tables.items():
            if used and adapter not in used:
                continue
            at = [gid for gid in table if gid.index == index]
            routable = [gid for gid in table if gid.version == 2 and links.is_ipv4(gid.gid)]  # noqa: PLR2004 - RoCE v2
            if not at or (routable and at[0] not in routable):
                what = "names no GID" if not at else "names a GID that cannot be routed"
                yield _wrong(
                    [one, *at, *routable],
                    0.85,
                    f"the GID index asked for, {index}, {what} of {adapter}",
                )
                return


def _between_hosts(facts: Facts, pinned: list[tuple[int, Fact]]) -> Iterator[Finding]:
    """Compare what an index names on two hosts: one may have the right entry elsewhere."""
    tables: dict[str, dict[str, list[Gid]]] = {}
    for gid in facts.of(Gid):
        if links.is_ipv4(gid.gid) and gid.version != 1:
            place = gid.host or gid.evidence.file
            tables.setdefault(gid.adapter, {}).setdefault(place, []).append(gid)
    failed = [one for one in links.pairs(facts)
              if isinstance(one, CallFailed) or one.status in _UNANSWERED]  # fmt: skip
    for index, asked in pinned:
        for table in tables.values():
            at = {place: gid for place, held in table.items() for gid in held
                  if gid.index == index}  # fmt: skip
            meant = {links.subnet(gid.gid): gid for gid in at.values()}
            astray = [
                (gid, other) for place, gid in at.items() for other in table[place]
                if other.index != index and len(meant) > 1
                and links.subnet(other.gid) in meant.keys() - {links.subnet(gid.gid)}
            ]  # fmt: skip
            if astray:
                gid, other = astray[0]
                what = (
                    f"index {index} of {gid.adapter} names another network's GID on one host; "
                    f"there the peers' network is at index {other.index}"
                )
                told = _wrong([asked, gid, other, *at.values(), *failed], 0.9, what)
                yield replace(
                    told,
                    severity=Severity.ERROR if failed else Severity.WARNING,
                    explains=told.explains | {"rail-isolated"},
                )
                return


def _unlike(facts: Facts, pinned: list[tuple[int, Fact]]) -> Iterator[Finding]:
    """Find hosts on which no index names a routable GID on both, for who takes one for all.

    NCCL looks an index up on each host by itself.
    """
    failed = [
        one for one in facts.of(CompletionError)
        if one.status in _UNANSWERED and one.library and one.library != "NCCL"
    ]  # fmt: skip
    tables: dict[str, dict[str, dict[int, Gid]]] = {}
    for gid in facts.of(Gid):
        if links.is_ipv4(gid.gid) and gid.version != 1 and gid.host:
            at = tables.setdefault(gid.adapter, {}).setdefault(gid.host, {})
            at[gid.index] = gid
    for table in tables.values():
        common = set.intersection(*(set(at) for at in table.values()))
        if failed and not pinned and len(table) > 1 and not common:
            yield _wrong(
                [*failed, *(gid for at in table.values() for gid in at.values())],
                0.65,
                "no index names a routable GID on all hosts: their tables are laid out unlike",
            )
            return


def _refused(facts: Facts, pinned: list[Fact]) -> Iterator[Finding]:
    of_mpi = job.uses_mpi(facts)
    calls = [
        one for one in facts.of(CallFailed)
        if ("modify_qp" in one.call or "query_gid" in one.call or "create_ah" in one.call)
        and not (one.library.upper() == "UCX" and (of_mpi or one.errno == errno.ENODEV))
    ]  # fmt: skip
    empty = [
        one for one in calls if links.is_empty(one.local_gid) or links.is_empty(one.remote_gid)
    ]
    alone = [one for one in facts.of(TransferSetup) if _is_alone(one)]
    unmade = [one for one in calls if one.next_state == "RTR" and not one.local_gid]
    if alone and unmade and not facts.any_of(Gid):
        yield _wrong(
            [*alone, *unmade, *pinned],
            0.65,
            "a link-local GID is used, and cannot connect",
            (_NO_ADDRESS,),
        )
        return
    unread = [
        one for one in calls
        if "query_gid" in one.call and one.gid_index
        and (not one.errno or one.gid_index > _LAST_OF_ONE_ADDRESS)
    ]  # fmt: skip
    if unread:
        what = f"there is no GID at index {unread[0].gid_index}, which was asked for"
        yield _wrong([*unread, *pinned], 0.7, what)
        return
    nobody = [one for one in facts.of(TransferSetup) if _is_nobody(one)]
    if empty or nobody:
        seen: list[Fact] = [*empty, *nobody, *pinned]
        first = not empty and not pinned and all(one.gid_index == 0 for one in nobody)
        yield _wrong(seen, 0.55 if first else 0.85, "the GID in use is empty", (_IN_A_POD,))
        return
    yield from _unconnected(calls, pinned)


def _unconnected(calls: list[CallFailed], pinned: list[Fact]) -> Iterator[Finding]:
    """Read what the refusal itself says: nothing, or an error that wrong indices give."""
    unsaid = [
        one for one in calls
        if (one.errno is None and one.next_state == "RTR"
            and one.library in {"perftest", "verbs program", "NVSHMEM"})
        or (one.errno is None and one.library == "NVSHMEM" and "create_ah" in one.call)
        or (one.errno == errno.EREMOTEIO and one.next_state == "RTR")  # firmware refused
    ]  # fmt: skip
    if unsaid:
        yield suspected(
            (_AT_WRONG_INDEX, *_BETWEEN),
            unsaid,
            symptom=Symptom.VERBS_CALL,
            message="a benchmark's queue pair could not be connected",
            advice="compare GIDs and MTU of both ends, and the device given to each (-d, -x)",
        )
        return
    for one in calls:
        sure = _SURE.get(one.errno or 0)
        if sure and not links.is_link_local(one.local_gid):
            yield _wrong(
                [one, *pinned],
                min(0.9, sure + (0.15 if pinned or one.gid_index else 0)),
                "a queue pair could not be set up with the GID of this index",
                () if one.errno == errno.ENODATA else _OTHERS,
            )
            return


def _unusable(facts: Facts) -> Iterator[Finding]:
    """Find an adapter that is listed and not usable: none of InfiniBand is asked for an index.

    That somebody left one out as well says that it was this one.
    """
    refused = [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call and one.errno == errno.ENODEV
    ]  # fmt: skip
    named = job.settings(facts, "NCCL_IB_HCA")
    without = [one for one in named if one.value.startswith("^")]
    if refused and (without or links.layer(facts) is LinkLayer.INFINIBAND):
        yield suspected(
            (*_OF_ONE_ADAPTER, suspect("fabric-path-unreachable", 0.2)),
            [*refused, *named],
            symptom=Symptom.VERBS_CALL,
            message="an adapter that is listed cannot be used: no such device",
            advice="leave the adapter out; compare the RDMA stacks of container and host",
        )


def _said_so(facts: Facts) -> Iterator[Finding]:
    """Find a transport that says of an entry of the table that it is not valid."""
    invalid = job.said(facts, r"\binvalid s?gid ?\[\d+\]")
    if invalid:
        asked = [fact for _, fact in job.gid_indices(facts)]
        found = _wrong([*invalid, *asked], 0.8, "there is no GID at the index that is used")
        yield replace(found, explains=found.explains | {"mpi-ucx-not-nccl"})


def _pinned_to_link_local(facts: Facts) -> Iterator[Finding]:
    """Find an index pinned to one of the first entries, which are always link-local."""
    unmet = [one for one in facts.of(CompletionError) if one.status in _UNANSWERED]
    pinned = [fact for index, fact in job.gid_indices(facts) if index <= _LAST_LINK_LOCAL]
    over: list[Fact] = [
        one for one in unmet
        if links.is_link_local(one.local_gid)
        or (links.is_link_local(one.remote_gid) and links.is_ipv4(one.local_gid))
    ]  # fmt: skip
    over += [
        one for one in facts.of(TransferSetup)
        if unmet and links.is_link_local(one.local_gid or one.remote_gid)
    ]  # fmt: skip
    if pinned and over:
        yield _wrong(
            [*pinned, *over, *unmet], 0.75, "the index asked for is that of a link-local GID"
        )


def _is_alone(setup: TransferSetup) -> bool:
    """Return whether a program uses a link-local GID over Ethernet."""
    ethernet = setup.link_layer is LinkLayer.ETHERNET
    return ethernet and setup.gid_index is not None and links.is_link_local(setup.local_gid)


def _is_nobody(setup: TransferSetup) -> bool:
    """Return whether a benchmark over Ethernet has an empty GID at an end."""
    return setup.link_layer is LinkLayer.ETHERNET and (
        links.is_empty(setup.local_gid) or links.is_empty(setup.remote_gid)
    )


_AT_WRONG_INDEX = suspect(
    "gid-index-wrong",
    0.45,
    question="is the GID of the index in use (-x) a RoCEv2 one with an address, at both ends?",
)
_BETWEEN = (
    suspect("fabric-path-unreachable", 0.3),
    suspect("mtu-mismatch", 0.15),
)
_NO_ADDRESS = suspect(
    "gid-link-local", 0.35, question="has the adapter's interface an IPv4 address at all?"
)
_IN_A_POD = suspect("k8s-no-roce-gid", 0.4)
_AT_FIRST = suspect("gid-index-wrong", 0.45, next_command=_LOOK)
_ONE_ADAPTER = Suspect(
    cause="hca-selection-wrong",
    confidence_ratio=0.3,
    question="does it fail on one adapter alone, and work without it?",
    next_command="NCCL_IB_HCA=^<adapter> for one run",
)
_OF_ONE_ADAPTER = (
    replace(_ONE_ADAPTER, confidence_ratio=0.45),
    suspect("verbs-provider-incompatible", 0.3),
)
_OTHERS = (
    _ONE_ADAPTER,
    Suspect(
        cause="gid-table-sparse",
        confidence_ratio=0.25,
        question="does the GID table of the port begin at 0 (show_gids)?",
        next_command=_LOOK,
    ),
)


def _vanished(facts: Facts) -> list[Fact]:
    """Return failures with a local IPv4 GID that the table of this very adapter lacks."""
    tables: dict[str, list[Gid]] = {}
    for gid in facts.of(Gid):
        tables.setdefault(gid.adapter, []).append(gid)
    if len({gid.host for gid in facts.of(Gid)}) > 1:
        return []
    held = {name: {links.address(g.gid) for g in table} for name, table in tables.items()}
    lost = [
        one for one in facts.of(CompletionError)
        if one.adapter in tables and links.is_ipv4(one.local_gid)
        and any(links.is_ipv4(gid.gid) for gid in tables[one.adapter])
        and held[one.adapter].isdisjoint(map(links.address, (one.local_gid, one.remote_gid)))
    ]  # fmt: skip
    return [*lost, *[g for one in lost for g in tables[one.adapter] if links.is_ipv4(g.gid)]]


def _link_local_used(facts: Facts) -> Iterator[Finding]:
    """Find failures at an index whose GID is link-local, though the port has a routable one.

    A routable GID need not hold an IPv4 address: a network may be IPv6 throughout.
    """
    failed = [one for one in facts.of(CompletionError) if one.status == 12]  # noqa: PLR2004 - verbs status
    tables: dict[str, list[Gid]] = {}
    for gid in facts.of(Gid):
        tables.setdefault(gid.adapter, []).append(gid)
    for one in facts.of(TransferSetup):
        table = tables.get(one.adapter, [])
        at = [gid for gid in table if gid.index == one.gid_index]
        better = [gid for gid in table if gid.version == 2 and _is_routable(gid.gid)]  # noqa: PLR2004 - RoCE v2
        if failed and at and better and all(links.is_link_local(gid.gid) for gid in at):
            what = f"the GID at index {one.gid_index} of {one.adapter} is link-local"
            advice = f"let the program use index {better[0].index}, a routable RoCEv2 GID"
            found = _wrong([one, *at, *better, *failed], 0.8, what)
            yield replace(found, advice=f"{advice} (NCCL_IB_GID_INDEX, or its own variable)")
            return


def _is_routable(gid: str) -> bool:
    return (
        links.address(gid) is not None
        and not links.is_link_local(gid)
        and not links.is_empty(gid)
    )


def _without_address(facts: Facts) -> Iterator[Finding]:
    """Find RoCE transfers without an IPv4 GID on ports that have one at another index."""
    failed = [one for one in facts.of(CompletionError) if one.status == 12]  # noqa: PLR2004 - verbs status
    routable = [gid for gid in facts.of(Gid) if gid.version == 2 and links.is_ipv4(gid.gid)]  # noqa: PLR2004 - RoCE v2
    bare = [one for one in failed if one.local_gid and not links.is_ipv4(one.local_gid)]
    setups = [
        one for one in facts.of(TransferSetup)
        if failed and one.gid_index is not None and routable
        and one.gid_index not in {gid.index for gid in routable}
    ]  # fmt: skip
    pinned = job.settings(facts, "NCCL_IB_GID_INDEX")
    old = [
        one for one in job.versions(facts)
        if job.version(one.version) < _FIRST_VERSION_THAT_CHOOSES
    ]  # fmt: skip
    seen: list[Fact] = [*failed, *bare, *setups, *routable]
    if failed and routable and (bare or setups):
        yield _wrong(seen, 0.75, "the transfer uses another GID than the RoCEv2 IPv4 one")
    elif failed and routable and not pinned and old and min(g.index for g in routable) > 0:
        yield _wrong(
            seen, 0.6, "no GID index is set, and the RoCEv2 IPv4 GID is not at index 0"
        )
    elif failed and _of_first_entry(facts, routable):
        yield suspected(
            (
                _AT_FIRST,
                suspect("peer-process-died", 0.3),
                suspect("fabric-path-unreachable", 0.25),
            ),
            seen,
            symptom=Symptom.TRANSPORT_RETRY,
            message="a peer did not answer, and index 0 of the port is no routable GID",
            advice="see which version of NCCL runs: before 2.21 it takes index 0 unless told",
        )


def _of_first_entry(facts: Facts, routable: list[Gid]) -> bool:
    """Return whether a library of unknown version, not told an index, may take a wrong one."""
    untold = not (job.gid_indices(facts) or job.versions(facts) or facts.of(TransferSetup))
    first = [one for one in facts.of(Gid) if one.index == 0 and links.is_link_local(one.gid)]
    return untold and bool(first and routable)


gid_index = Rule(causes=("gid-index-wrong",), check=_check)
