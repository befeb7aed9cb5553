"""A peer did not answer (status 12); the message alone never says why.

What it checks: completions with status 12, or 13 (receiver not ready), and what stands beside
them: the GIDs of both ends, earlier deaths, port events, loss counters, and which pairs failed.
Flushed completions (status 5) after them are consequences.
Why it matters: it is the commonest fatal line of NCCL on RDMA, and eight causes print it.
What to do: settle the questions in order: is the peer alive, do the GIDs reach one another,
did a port go down, do counters rise, does the pair reach itself with ib_write_bw.
References: InfiniBand Architecture Specification, work completion status; NCCL user guide,
NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job, links
from weft.doctor.rule import Facts, Finding, Rule, Suspect, Symptom, suspect, suspected
from weft.observe.facts.adapters import Gid
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.transports import NetworkChosen
from weft.observe.facts.verbs import CompletionError

RETRY = 12
NOT_READY = 13
FLUSHED = 5
_EXAMPLES = re.compile(r"\bFailed status .{5,60}\(\d{1,2}\) for wr_id")
"""What the examples of the verbs library print (``ibv_rc_pingpong``)."""
_PAIR = "ib_write_bw -d <adapter> -x <GID index> <other host>; same for a pair that works"


def _check(facts: Facts) -> Iterator[Finding]:
    retries = [one for one in facts.of(CompletionError) if one.status in {RETRY, NOT_READY}]
    flushed = [one for one in facts.of(CompletionError) if one.status == FLUSHED]
    if retries:
        yield suspected(
            _suspects(facts, retries),
            retries,
            symptom=Symptom.TRANSPORT_RETRY,
            subject=_subject(retries),
            message="a peer stopped answering: the adapter gave up retrying",
            advice="look first for a rank that died earlier; then at GIDs, ports and counters",
        )
    elif flushed:
        first = _first_is_link_local(facts)
        yield suspected(
            (
                *((_FIRST_GID,) if first else ()),
                suspect("peer-process-died", 0.35),
                suspect("fabric-path-unreachable", 0.3, next_command=_PAIR),
            ),
            [*flushed, *first],
            symptom=Symptom.FLUSHED,
            message="work was flushed after an error that this log does not hold",
            advice="collect the logs of all ranks: the first error is on another",
        )


def _first_is_link_local(facts: Facts) -> list[Fact]:
    """Return GIDs that a program takes which asks for none: link-local, beside routable ones.

    NCCL and the like look for a routable one by themselves.
    """
    searches = facts.of(NetworkChosen) or job.versions(facts) or job.gid_indices(facts)
    if searches or not any(links.is_ipv4(one.gid) for one in facts.of(Gid)):
        return []
    return [one for one in facts.of(Gid) if one.index == 0 and links.is_link_local(one.gid)]


def _subject(retries: list[CompletionError]) -> str:
    peers = dict.fromkeys(one.peer for one in retries if one.peer)
    return ", ".join(list(peers)[:4])


def _suspects(facts: Facts, retries: list[CompletionError]) -> list[Suspect]:
    layers = {one.link_layer for one in retries}
    layers |= {links.layer(facts, adapter) for adapter in {one.adapter for one in retries}}
    ethernet = LinkLayer.ETHERNET in layers or any(
        links.is_ipv4(one.local_gid) for one in retries
    )
    infiniband = not ethernet and LinkLayer.INFINIBAND in layers
    alive = _both_ends_speak(facts)
    died = suspect(
        "peer-process-died",
        0.2 if alive or _benchmark(retries) else 0.45 if _all_blame_one(facts) else 0.35,
    )
    path = Suspect(
        cause="fabric-path-unreachable",
        confidence_ratio=0.45 if alive or _benchmark(retries) else 0.3,
        question="did it come at the first transfer, and does ib_write_bw pass for this pair?",
        next_command=_PAIR,
    )
    if _across_rails(retries):
        return [
            _CROSSED,
            replace(path, confidence_ratio=0.3),
            replace(died, confidence_ratio=0.25),
        ]
    flap = suspect("ib-link-flap", 0.15)
    if infiniband:
        return [died, path, flap, _PKEY]
    return [died, path, flap, _GID, _LOSS, _RAIL]


def _benchmark(retries: list[CompletionError]) -> bool:
    """Return whether a benchmark says so, whose other end somebody is watching."""
    return all(
        one.library.lower().startswith("perftest")
        or _EXAMPLES.search(one.evidence.text) is not None
        for one in retries
    )


def _across_rails(retries: list[CompletionError]) -> bool:
    """Return whether every pair that failed is of adapters of unlike names, as rails are named.

    Transfer engines name the adapter of the other end behind its address.
    """
    pairs = [(one.adapter, one.peer.partition("@")[2]) for one in retries]
    return all(here and there and here != there for here, there in pairs)


def _both_ends_speak(facts: Facts) -> bool:
    """Return whether several hosts blame one another: then the processes are alive.

    The length in an error says nothing: on an error most fields of a completion are undefined.
    """
    return _speakers(facts) > 1 and _blamed(facts) > 1


def _all_blame_one(facts: Facts) -> bool:
    return _speakers(facts) > 1 and _blamed(facts) == 1


def _speakers(facts: Facts) -> int:
    return len({one.process.host for one in facts.of(CompletionError) if one.process.host})


def _blamed(facts: Facts) -> int:
    return len({one.peer for one in facts.of(CompletionError) if one.peer})


_FIRST_GID = suspect(
    "gid-index-wrong",
    0.45,
    question="which GID index does the program take? index 0 is link-local here",
)
_PKEY = suspect("ib-pkey-membership", 0.2)
_GID = suspect("gid-index-wrong", 0.25)
_LOSS = suspect("roce-packet-loss", 0.2)
_CROSSED = Suspect(
    cause="rail-isolated",
    confidence_ratio=0.4,
    question="do pairs of adapters of one name work where those of unlike names fail?",
    next_command=_PAIR,
)
_RAIL = suspect("rail-isolated", 0.1)

transport_retry = Rule(causes=("fabric-path-unreachable", "peer-process-died"), check=_check)
