"""Two interfaces of a host lie in one subnet, so the way out is chance.

What it checks: routes to the same network with the same metric on two interfaces, and two
interfaces with addresses of one subnet; addresses for which several adapters answer.
Why it matters: replies leave by another interface than requests came in; RoCE and the
bootstrap then fail for some pairs of hosts and not for others.
What to do: one subnet for each rail, or policy routing by source address.
References: Linux ip-route(8), ip-rule(8), sysctl arp_ignore and arp_announce.
"""

import errno
import re
from collections.abc import Iterator
from ipaddress import ip_interface

from weft.doctor import job, links
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.interfaces import HostReached, Interface, NeighbourAddress, Route
from weft.observe.facts.transports import AdapterChosen
from weft.observe.facts.verbs import CallFailed, CompletionError

_MARTIAN = (
    r"martian (?:source|destination) (?!255\.|0\.|127\.|[\d.]{5,12}\.255 ).{7,100}?on dev "
)
_INNER = re.compile(
    r"on dev (?:lo|wl|docker|br-|veth|cali|cni|virbr|flannel|tun|eno|lxc|kube|podman)"
)
"""Interfaces within a host and those of its management."""
_PAIR = 2
_DOTS = 3
_HOST_BITS = 32
_NOT_COUNTED = ("default", "0.0.0.0/0", "fe80", "ff", "::")


def _check(facts: Facts) -> Iterator[Finding]:
    routes: dict[tuple[str, str], list[Route]] = {}
    by_design = _not_counted(facts)
    for one in facts.of(Route):
        if not one.destination.startswith(by_design) and not one.via:
            routes.setdefault((one.host, one.destination), []).append(one)
    failing = (
        facts.any_of(CallFailed, CompletionError)
        or any(not one.received for one in facts.of(HostReached))
        or bool(job.said(facts, r"closed by remote peer"))
    )
    yield from _answering_for_another(facts, failing=failing)
    yield from _answered_by_many(facts, failing=failing)
    yield from _strictly_filtered(facts, failing=failing)
    yield from _unexpected(facts)
    yield from _from_elsewhere(facts)
    if not any("/" in one.destination for one in facts.of(Route)):  # no table was shown
        yield from _same_subnet(facts, failing=failing)
        if failing:
            yield from _offered_together(facts)
    for (host, destination), ways in routes.items():
        interfaces = sorted({one.interface for one in ways})
        alike = len({one.metric for one in ways}) < len(interfaces)
        if len(interfaces) > 1 and (alike or (failing and all(one.source for one in ways))):
            yield finding(
                "host-routing-ambiguous",
                ways,
                0.6 if not (failing and alike) else 0.75,
                severity=Severity.ERROR if failing else Severity.WARNING,
                subject=host,
                message=f"{' and '.join(interfaces)} both lead to {destination}",
                advice="give each interface a subnet of its own, or route by source address",
                next_command="ip route; ip rule; ip -br addr   # on every host",
                explains=(Symptom.CONNECT, Symptom.TRANSPORT_RETRY, Symptom.WATCHDOG,
                          "peer-process-died"),
            )  # fmt: skip


def _answered_by_many(facts: Facts, *, failing: bool) -> Iterator[Finding]:
    """Find an address that several adapters answer for, of one host or of two.

    Linux answers for any of its addresses on every interface, unless told not to (arp_ignore).
    """
    for answers in job.answered_by_several(facts)[:1]:
        address = answers[0].address
        yield suspected(
            (
                suspect("host-routing-ambiguous", 0.48),
                suspect("k8s-ipam-duplicate-address", 0.3),
            ),
            answers,
            severity=Severity.ERROR if failing or len(answers) > _PAIR else Severity.INFO,
            subject=address,
            message=f"{len(answers)} adapters answer for {address}",
            advice="see whose these hardware addresses are: of one host, set arp_ignore=1 "
            "and arp_announce=2, or give each interface a subnet of its own",
        )


def _strictly_filtered(facts: Facts, *, failing: bool) -> Iterator[Finding]:
    """Find a host that drops what comes in over another way than its answer would go out.

    It is said of every host with that setting; it does harm where peers are not reached.
    """
    strict = job.said(facts, r"rp_filter is set to strict")
    unmet = [one for one in facts.of(CallFailed) if one.errno == errno.ETIMEDOUT]
    if strict and failing and unmet:
        yield finding(
            "host-routing-ambiguous",
            [*strict, *unmet],
            0.55,
            message="peers do not answer, and the host drops what comes in over another "
            "interface than its answer would take (rp_filter)",
            advice="set rp_filter to 2, or give each interface a subnet of its own",
            next_command="sysctl -a | grep '\\.rp_filter'; ip route get <address>; ip rule",
            missing=("the routing table of the host (ip route)",),
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )


def _from_elsewhere(facts: Facts) -> Iterator[Finding]:
    """Find a peer whose connection comes from an address that it did not name as its own."""
    strange = job.said(facts, r"source IP of socket:")
    if strange and not job.worked_after(facts, strange):
        yield finding(
            "host-routing-ambiguous",
            strange,
            0.6,
            message="a peer connects from an address that is none of those it offers: its host "
            "routes over another interface, or its address is translated",
            advice="name the one network that joins the hosts (btl_tcp_if_include), or route "
            "by source address",
            next_command="ip route get <address of the other host>; ip rule   # on the peer",
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            suspects=(suspect("bootstrap-wrong-interface", 0.3),),
        )


def _answering_for_another(facts: Facts, *, failing: bool) -> Iterator[Finding]:
    """Find an address that answers with the hardware address of its host's other interface."""
    macs: dict[str, dict[str, str]] = {}
    owners: dict[str, dict[str, Interface]] = {}
    for one in facts.of(Interface):
        if one.mac:
            macs.setdefault(one.host, {})[one.interface] = one.mac
        for address in one.addresses:
            owners.setdefault(address.partition("/")[0], {})[one.host] = one
    for seen in facts.of(NeighbourAddress):
        for host, owner in owners.get(seen.address, {}).items():
            own = macs.get(host, {})
            mac = own.get(owner.interface, "")
            if host != seen.host and mac and seen.mac != mac and seen.mac in own.values():
                yield finding(
                    "host-routing-ambiguous",
                    [seen, owner],
                    0.85 if failing else 0.6,
                    severity=Severity.ERROR if failing else Severity.WARNING,
                    subject=host,
                    message=f"{seen.address} of {owner.interface} answers with the hardware "
                    "address of another interface of its host",
                    advice="give each interface a subnet of its own, or set arp_ignore=1 and "
                    "arp_announce=2 and route by source address",
                    next_command="ip neigh; ip -br link; sysctl net.ipv4.conf.all.arp_ignore",
                    explains=(Symptom.CONNECT, Symptom.TRANSPORT_RETRY, Symptom.WATCHDOG),
                )
                return


def _unexpected(facts: Facts) -> Iterator[Finding]:
    """Find packets that the kernel did not expect on the interface they came in by."""
    lines = [one for one in job.said(facts, _MARTIAN) if not _INNER.search(one.evidence.text)]
    if lines:
        yield finding(
            "host-routing-ambiguous",
            lines,
            0.5,
            severity=Severity.WARNING,
            message="packets come in by another interface than the way back to their sender",
            advice="give each interface a subnet of its own, or route by source address",
            next_command="ip route get <sender>; ip rule; sysctl net.ipv4.conf.all.rp_filter",
            missing=("whether two interfaces of this host have addresses of one subnet",),
        )


def _not_counted(facts: Facts) -> tuple[str, ...]:
    """Return how networks begin that several interfaces have by design.

    Addresses that hosts gave themselves count where transfers between such ones fail.
    """
    own = any(links.is_self_assigned(one.local_gid) for one in links.pairs(facts))
    return _NOT_COUNTED if own else (*_NOT_COUNTED, "169.254")


def _same_subnet(facts: Facts, *, failing: bool) -> Iterator[Finding]:
    """Find two interfaces of one host whose addresses lie in one subnet.

    Where nothing fails they may be routed by their source: a question, not yet a fault.
    """
    held: dict[tuple[str, str], dict[str, Interface]] = {}
    for one in facts.of(Interface):
        for text in one.addresses:
            network = _network(text)
            if network and one.up is not False and one.interface != "lo":
                place = one.host or one.evidence.file
                held.setdefault((place, network), {}).setdefault(one.interface, one)
    for (host, network), interfaces in held.items():
        if len(interfaces) == _PAIR:  # more are rails, which are routed by source as a rule
            yield finding(
                "host-routing-ambiguous",
                interfaces.values(),
                0.6 if failing else 0.5,
                severity=Severity.ERROR if failing else Severity.WARNING,
                subject=host,
                message=f"{' and '.join(interfaces)} both have addresses in {network}",
                advice="give each interface a subnet of its own, or route by source address",
                next_command="ip route; ip rule; ip -br addr   # on every host",
                missing=("the routes and rules of the host (ip route; ip rule)",),
                explains=(Symptom.CONNECT, Symptom.TRANSPORT_RETRY, Symptom.WATCHDOG),
            )


def _offered_together(facts: Facts) -> Iterator[Finding]:
    """Find sockets offered on two interfaces of one net, where a peer of that net is lost.

    The log gives no lengths of prefixes: the first three numbers are taken for the net.
    """
    offered: dict[tuple[str, str], dict[str, AdapterChosen]] = {}
    for one in facts.of(AdapterChosen):
        if one.port is None and one.address.count(".") == _DOTS:
            place = (one.process.host, _first_three(one.address))
            offered.setdefault(place, {}).setdefault(one.adapter, one)
    lost = [one for one in facts.of(CallFailed) if one.errno == errno.ETIMEDOUT and one.peer]
    for (host, net), interfaces in offered.items():
        peers = [one for one in lost if _first_three(one.peer) == net]
        if len(interfaces) == _PAIR and peers:
            yield finding(
                "host-routing-ambiguous",
                [*interfaces.values(), *peers],
                0.55,
                subject=host,
                message=f"{' and '.join(interfaces)} both have addresses in {net}.*, and peers "
                "there do not answer",
                advice="give each interface a subnet of its own, or route by source address",
                next_command="ip route; ip rule; ip -br addr   # on every host",
                missing=("the routing table of the host (ip route)",),
                explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            )


def _first_three(address: str) -> str:
    """Return the first three numbers of an address that may carry a port.

    >>> _first_three("192.168.1.212<39012>"), _first_three("10.0.7.2:4000")
    ('192.168.1', '10.0.7')
    """
    return ".".join(address.split(".")[:_DOTS])


def _network(text: str) -> str:
    """Return the IPv4 network of an address with its length, or nothing."""
    try:
        network = ip_interface(text).network
    except ValueError:
        return ""
    routed = network.version == 4 and network.prefixlen < _HOST_BITS  # noqa: PLR2004 - IPv4
    return str(network) if routed else ""


routing_ambiguous = Rule(causes=("host-routing-ambiguous",), check=_check)
