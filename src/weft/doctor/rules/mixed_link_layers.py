"""InfiniBand and Ethernet adapters are used together by one rank.

What it checks: the link layer of the adapters a rank chose.
Why it matters: the two cannot reach one another, so a channel from one to the other fails, or
the job mixes its compute network with storage.
What to do: name the adapters of the compute network in NCCL_IB_HCA.
References: NCCL user guide, NCCL_IB_HCA.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding, suspect
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.communicators import ChannelPath
from weft.observe.facts.verbs import CallFailed, CompletionError

if TYPE_CHECKING:
    from weft.observe.facts.transports import AdapterChosen


_STOPPED = r"remote process exited or there was a network error|unhandled system error"
"""What the library says of a job that stopped at its network, where it says no more."""


def _check(facts: Facts) -> Iterator[Finding]:
    chosen = job.verbs_adapters(facts)
    layers = {one.link_layer for one in chosen} - {LinkLayer.UNKNOWN}
    said = job.said(facts, r"incompatible (with the local|devices).{0,120}link type")
    if said:
        yield _refused([*said, *chosen])
        return
    if len(layers) == 1 or not layers or job.on_one_host(facts):
        return
    failing: list[Fact] = [*facts.of(CompletionError), *facts.of(CallFailed)]
    failing = failing or job.said(facts, _STOPPED)
    odd: list[Fact] = [*_of_the_few(facts), *_over_the_few(facts)]
    odd = odd or (_unlike_peers(facts) if failing else [])
    yield finding(
        "mixed-link-layers",
        [*odd, *chosen, *failing],
        0.9 if odd else 0.65 if failing else 0.6,
        severity=Severity.ERROR if failing else Severity.WARNING,
        message="InfiniBand and Ethernet adapters are used together",
        advice="name the adapters of the compute network alone in NCCL_IB_HCA",
        next_command="ibstat | grep -e CA -e 'Link layer' -e Rate",
        missing=() if failing else ("whether the job fails or only mixes its networks",),
        explains=(
            Symptom.TRANSPORT_RETRY,
            Symptom.VERBS_CALL,
            Symptom.FLUSHED,
            "gid-index-wrong",
            "gid-link-local",
            "fabric-path-unreachable",
        )
        if failing
        else (),
        suspects=(_PATH,) if failing and not odd else (),
    )


_PATH = suspect("fabric-path-unreachable", 0.2)


def _refused(seen: list[Fact]) -> Finding:
    return finding(
        "mixed-link-layers",
        seen,
        0.85,
        message="an InfiniBand adapter was to be joined to an Ethernet one",
        advice="name adapters of one kind alone in NCCL_IB_HCA, the same on every host",
        next_command="ibstat | grep -e CA -e 'Link layer' -e Rate   # on both hosts",
        explains=(Symptom.VERBS_CALL, Symptom.CONNECT),
    )


def _of_the_few(facts: Facts) -> list[CompletionError]:
    """Return errors of adapters whose link layer is not that of most adapters in use."""
    chosen = {one.adapter: one.link_layer for one in job.verbs_adapters(facts)}
    usual = _usual(facts)
    errors = [one for one in facts.of(CompletionError) if one.adapter in chosen]
    alone = len({chosen[one.adapter] for one in errors}) == 1
    return [one for one in errors if alone and chosen[one.adapter] is not usual]


def _usual(facts: Facts) -> LinkLayer:
    """Return the link layer of most adapters in use."""
    layers = {one.adapter: one.link_layer for one in job.verbs_adapters(facts)}
    return Counter(layers.values()).most_common(1)[0][0]


def _over_the_few(facts: Facts) -> list[CallFailed]:
    """Return failed set-ups of processes whose every way out is over one of the few."""
    usual = _usual(facts)
    layers = {(one.process, one.index): one.link_layer for one in job.verbs_adapters(facts)}
    ways: dict[tuple[str, int | None], set[LinkLayer]] = {}
    for one in facts.of(ChannelPath):
        if one.transport == "NET" and (one.process, one.device) in layers:
            place = (one.process.host, one.process.pid)
            ways.setdefault(place, set()).add(layers[one.process, one.device])
    return [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call
        and (over := ways.get((one.process.host, one.process.pid)))
        and usual not in over and LinkLayer.UNKNOWN not in over
    ]  # fmt: skip


def _unlike_peers(facts: Facts) -> list[Fact]:
    """Return adapters of one number on two hosts of a job that have other link layers."""
    numbered: dict[int, dict[LinkLayer, AdapterChosen]] = {}
    hosts = {one.process.host for one in job.verbs_adapters(facts)}
    if "" in hosts or len(job.companies(facts, hosts)) != 1:
        return []
    for one in job.verbs_adapters(facts):
        if one.index is not None and one.link_layer is not LinkLayer.UNKNOWN:
            numbered.setdefault(one.index, {})[one.link_layer] = one
    unlike = [by for by in numbered.values() if len(by) > 1]
    return [one for by in unlike for one in by.values()]


mixed_link_layers = Rule(causes=("mixed-link-layers",), check=_check)
