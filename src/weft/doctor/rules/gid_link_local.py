"""A RoCE port has no routable address, only a link-local GID.

What it checks: failures between GIDs that begin with fe80 on Ethernet ports, and tables that
hold nothing else. On InfiniBand fe80 is the usual prefix: silence.
Why it matters: the two ends are on different links, so the first transfer on this rail fails.
What to do: give the interface of every rail an address.
References: RoCE v2 annex (the GID is the IP address); NCCL user guide, NCCL_IB_GID_INDEX.
"""

from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts import CallFailed, CompletionError, Fact, Gid, LinkLayer

_NO_LAYER = {LinkLayer.UNKNOWN}
_UNANSWERED = frozenset({12, 13})
"""Other statuses are of peers that were reached."""
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.VERBS_CALL, "fabric-path-unreachable",
    "gid-index-wrong",
)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    local = [one for one in links.pairs(facts) if links.is_link_local(one.local_gid)]
    bare = _ports_without_address(facts)
    layers = {name: links.layer(facts, name) for name in {one.adapter for one in local}}
    failing: list[Fact] = [
        one
        for one in local
        if (isinstance(one, CallFailed) or one.status in _UNANSWERED)
        and _on_ethernet(layers[one.adapter], one.local_gid, one.remote_gid)
    ]
    unanswered = [one for one in facts.of(CompletionError) if one.status in _UNANSWERED]
    routable = [
        gid for gid in facts.of(Gid) if links.is_ipv4(gid.gid) and gid.adapter in layers
    ]
    if routable and not bare:
        return
    bare = bare or _job_ports_without_address(facts)
    if failing and len({one.link_layer for one in job.verbs_adapters(facts)} - _NO_LAYER) > 1:
        return  # the port is not of the job's network at all
    if failing:
        rails = {one.adapter for one in local}
        known = LinkLayer.ETHERNET in layers.values()
        yield _unaddressed([*failing, *bare], 0.9 if known else 0.7 if len(rails) == 1 else 0.3)
    elif bare and unanswered:
        yield _unaddressed([*unanswered, *bare], 0.75)
    elif bare:
        yield _unaddressed(bare, 0.6, Severity.WARNING)


def _on_ethernet(layer: LinkLayer, local_gid: str, remote_gid: str) -> bool:
    if layer is LinkLayer.UNKNOWN:
        # A RoCE link-local GID is made of a MAC address: ff:fe stands in its middle.
        return links.is_ipv4(remote_gid) or (_from_mac(local_gid) and _from_mac(remote_gid))
    return layer is LinkLayer.ETHERNET


def _from_mac(gid: str) -> bool:
    found = links.address(gid)
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
