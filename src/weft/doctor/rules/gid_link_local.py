"""A RoCE port has no routable address, only a link-local GID.

What it checks: failures between GIDs that begin with fe80 on Ethernet ports, and tables that
hold nothing else. On InfiniBand fe80 is the usual prefix: silence.
Why it matters: the two ends are on different links, so the first transfer on this rail fails.
What to do: give the interface of every rail an address.
References: RoCE v2 annex (the GID is the IP address); NCCL user guide, NCCL_IB_GID_INDEX.
"""

import errno
from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.adapters import Gid
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.verbs import CallFailed, CompletionError

_NO_LAYER = {LinkLayer.UNKNOWN}
_UNANSWERED = frozenset({12, 13})
"""Other statuses are of peers that were reached."""
_NO_WAY = frozenset({errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH})
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.VERBS_CALL, "fabric-path-unreachable",
    "gid-index-wrong", "mpi-ucx-not-nccl",
)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    local = [one for one in links.pairs(facts) if links.is_link_local(one.local_gid)]
    bare = _ports_without_address(facts) or _interfaces_without_address(facts)
    layers = {name: links.layer(facts, name) for name in {one.adapter for one in local}}
    failing: list[Fact] = [
        one
        for one in local
        if (isinstance(one, CallFailed) or one.status in _UNANSWERED)
        and _on_ethernet(layers[one.adapter], one.local_gid, one.remote_gid)
    ]
    failing += _handles(facts)
    failing += _shown(facts) if failing else []
    unanswered = [one for one in facts.of(CompletionError) if one.status in _UNANSWERED]
    failing += _used(facts) if unanswered else []
    routable = [
        gid for gid in facts.of(Gid)
        if links.is_ipv4(gid.gid) and (gid.adapter in layers or not any(layers))
    ]  # fmt: skip
    if (routable and not bare) or _chosen(facts):
        return
    bare = bare or _job_ports_without_address(facts)
    if failing and len({one.link_layer for one in job.verbs_adapters(facts)} - _NO_LAYER) > 1:
        return  # the port is not of the job's network at all
    if failing:
        rails = {one.adapter for one in local}
        known = LinkLayer.ETHERNET in layers.values() or bool(_handles(facts) and _shown(facts))
        yield _unaddressed([*failing, *bare], 0.9 if known else 0.3 if len(rails) > 1 else 0.7)
    elif bare and unanswered:
        yield _unaddressed([*unanswered, *bare], 0.75)
    elif bare:
        yield _unaddressed(bare, 0.6, Severity.WARNING)


def _handles(facts: Facts) -> list[Fact]:
    """Return address handles that could not be made to a link-local GID of an Ethernet port.

    MPI chooses its adapters itself, so there another adapter may be all that is needed.
    """
    return [
        one for one in facts.of(CallFailed)
        if "create_ah" in one.call and one.errno in _NO_WAY and _from_mac(one.remote_gid)
        and (not job.uses_mpi(facts) or _is_bare(facts, one.adapter))
    ]  # fmt: skip


def _shown(facts: Facts) -> list[Fact]:
    """Return the link-local entries of the ports that failed, where their tables are known."""
    bare = {one.adapter for one in facts.of(CallFailed) if _is_bare(facts, one.adapter)}
    return [one for one in facts.of(Gid) if one.adapter in bare
            and links.is_link_local(one.gid)]  # fmt: skip


def _is_bare(facts: Facts, adapter: str) -> bool:
    """Return whether the table of an Ethernet port was shown and holds link-local GIDs only."""
    table = [one for one in facts.of(Gid) if one.adapter == adapter and adapter]
    held = [one for one in table if not links.is_empty(one.gid)]
    ethernet = links.layer(facts, adapter) is LinkLayer.ETHERNET
    return ethernet and bool(held) and all(links.is_link_local(one.gid) for one in held)


def _used(facts: Facts) -> list[Fact]:
    """Return transfers over Ethernet of which every end named has a link-local GID."""
    return [
        one for one in facts.of(TransferSetup)
        if all(_from_mac(gid) for gid in (one.local_gid, one.remote_gid) if gid)
        and (one.local_gid or one.remote_gid)
        and (one.link_layer is LinkLayer.ETHERNET or (one.local_gid and one.remote_gid))
    ]  # fmt: skip


def _chosen(facts: Facts) -> bool:
    """Return whether somebody asked for one of the first entries, which are link-local."""
    table = facts.any_of(Gid)
    return not table and any(index <= 1 for index, _ in job.gid_indices(facts))


def _on_ethernet(layer: LinkLayer, local_gid: str, remote_gid: str) -> bool:
    if layer is LinkLayer.UNKNOWN:  # GUIDs of InfiniBand are not made so
        return links.is_ipv4(remote_gid) or (_from_mac(local_gid) and _from_mac(remote_gid))
    return layer is LinkLayer.ETHERNET


def _from_mac(gid: str) -> bool:
    """Return whether a GID is link-local and made of a MAC address: ff:fe in its middle."""
    found = links.address(gid) if links.is_link_local(gid) else None
    return found is not None and (int(found) >> 24) & 0xFFFF == 0xFFFE  # noqa: PLR2004 - EUI-64


def _ports_without_address(facts: Facts) -> list[Fact]:
    """Return link-local GIDs of RoCE ports that hold nothing else, where other ports do."""
    ports: dict[tuple[str, str, int], list[Gid]] = {}
    for gid in facts.of(Gid):
        if gid.version is not None:
            ports.setdefault((gid.host, gid.adapter, gid.port), []).append(gid)
    bare = {
        key: table for key, table in ports.items()
        if all(links.is_link_local(gid.gid) for gid in table)
    }  # fmt: skip
    if not bare or len(bare) == len(ports):
        return []
    return [gid for table in bare.values() for gid in table]


def _interfaces_without_address(facts: Facts) -> list[Fact]:
    """Return link-local GIDs of interfaces that are listed with no other address."""
    bare = {
        (one.host, one.interface) for one in facts.of(Interface)
        if one.addresses and all(address.startswith("fe80") for address in one.addresses)
    }  # fmt: skip
    own = [one for one in facts.of(Gid) if one.version is not None and one.interface]
    return [one for one in own if (one.host, one.interface) in bare
            and links.is_link_local(one.gid)]  # fmt: skip


def _job_ports_without_address(facts: Facts) -> list[Fact]:
    """Return the link-local GIDs of the adapters that the job uses, if they have no others."""
    used = {one.adapter for one in job.verbs_adapters(facts)}
    own = [gid for gid in facts.of(Gid) if gid.adapter in used and gid.version is not None]
    return [*own] if all(links.is_link_local(gid.gid) for gid in own) else []


def _unaddressed(
    seen: list[Fact], confidence_ratio: float, severity: Severity = Severity.ERROR
) -> Finding:
    return finding(
        "gid-link-local",
        seen,
        confidence_ratio,
        severity=severity,
        message="a RoCE port has a link-local GID only, so peers cannot be reached over it",
        advice="give the interface of every rail an IP address (and keep it over reboots)",
        next_command="ip -br addr; show_gids   # on both hosts",
        explains=_FOLLOW,
    )


gid_link_local = Rule(causes=("gid-link-local",), check=_check)
