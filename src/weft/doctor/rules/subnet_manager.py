"""An InfiniBand fabric has no subnet manager, or more than one master.

What it checks: ports whose cable is up and whose state stays INIT without a subnet manager's
LID; answers of the manager itself. Ethernet ports have none, ever.
Why it matters: without a manager no port gets an address, so nothing is sent; two masters give
two sets of addresses.
What to do: start exactly one master (opensm on a host, or the switch's), others as standby.
References: InfiniBand Architecture Specification, subnet management; opensm(8); sminfo(8).
"""

from collections.abc import Iterator

from weft.doctor import job
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
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer, PhysicalState, PortState
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import SubnetManager

_NO_LID = (None, 0, 0xFFFF)
_UNBOUND = (
    r"sm mad controller bind failed|unable to register class 129|"
    r"osm_vendor_bind.{0,40}err|failed to bind to (?:the )?port\b(?! \d{2,5}\b)"
)
_UNSWEPT = "Errors during initialization"
"""What OpenSM says of a sweep that it will begin anew."""
_FOLLOW = (Symptom.TRANSPORT_RETRY, Symptom.SOCKETS, "port-down", "container-no-rdma-device")


def _check(facts: Facts) -> Iterator[Finding]:
    waiting = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.INIT and one.link_layer is not LinkLayer.ETHERNET
        and one.physical_state in {PhysicalState.LINK_UP, PhysicalState.UNKNOWN}
        and one.sm_lid in _NO_LID
    ]  # fmt: skip
    none = [one for one in facts.of(SubnetManager) if one.state == "none"]
    unbound = [*job.said(facts, _UNBOUND), *_stopped(facts)]
    if waiting or none or unbound:
        yield finding(
            "ib-no-subnet-manager",
            [*waiting, *none, *unbound],
            0.9 if waiting else 0.8,
            subject=", ".join(dict.fromkeys(one.adapter for one in waiting)),
            message="the cable is up and no subnet manager has brought the port to Active"
            if waiting
            else "no subnet manager answers on this fabric",
            advice="start one subnet manager (opensm, or the switch's or UFM's)",
            next_command="sminfo; systemctl status opensm",
            explains=_FOLLOW,
        )
    elif idle := _cabled(facts):
        yield suspected(
            (suspect("ib-no-subnet-manager", 0.48), suspect("port-down", 0.3)),
            idle,
            subject=", ".join(dict.fromkeys(one.adapter for one in idle)),
            message="the cable is up, the port is not, and no subnet manager is known",
            advice="start one subnet manager; where one runs, look whether it may bind here",
        )
    else:
        yield from _beginning(facts)
    yield from _several(facts)


def _several(facts: Facts) -> Iterator[Finding]:
    """Find a fabric of which more than one manager says that it is master."""
    masters = {one.guid: one for one in facts.of(SubnetManager) if one.state == "master"}
    if len(masters) > 1 and "" not in masters:
        yield finding(
            "ib-no-subnet-manager",
            masters.values(),
            0.6,
            message=f"{len(masters)} subnet managers say that they are master",
            advice="leave one master on each fabric and give the others a lower priority",
            next_command="sminfo   # on each fabric or plane",
            missing=("whether the outputs are of one fabric or of several planes",),
        )


def _cabled(facts: Facts) -> list[AdapterPort]:
    """Return ports of InfiniBand whose link is trained and whose state is down all the same."""
    return [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.DOWN and one.physical_state is PhysicalState.LINK_UP
        and one.link_layer is LinkLayer.INFINIBAND and one.sm_lid in _NO_LID
    ]  # fmt: skip


def _stopped(facts: Facts) -> list[Fact]:
    """Return a manager that does not run, where ports know of none: LID 0 is nobody's."""
    stopped = [
        one for one in facts.of(ServiceState)
        if one.service.startswith("opensm") and one.state in {"inactive", "failed"}
    ]  # fmt: skip
    asked = job.said(facts, r"do_madrpc failed; dport \(Lid 0\)|sminfo: iberror: failed")
    return [*stopped, *asked] if stopped and asked else []


def _beginning(facts: Facts) -> Iterator[Finding]:
    """Find ports that a manager leaves waiting, and a manager whose own port is down."""
    left: list[Fact] = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.INIT and one.link_layer is LinkLayer.INFINIBAND
        and one.sm_lid not in _NO_LID
    ]  # fmt: skip
    dark = [one for one in facts.of(Message) if one.text == "SM port is down"]
    yield from _unswept(facts)
    if left or dark:
        yield finding(
            "ib-no-subnet-manager",
            [*left, *dark],
            0.7 if dark else 0.5,
            severity=Severity.WARNING,
            message="the port of the subnet manager is down"
            if dark
            else "a subnet manager is known and has not brought the port to Active",
            advice="bind the manager to a port that is up (opensm -g)"
            if dark
            else "look in the manager's log for this port's GUID; a virtual function needs a "
            "GUID of its own and a manager with virtualization on",
            next_command="sminfo; systemctl status opensm",
            missing=("whether the manager still runs and sees this port",),
            explains=_FOLLOW,
        )


def _unswept(facts: Facts) -> Iterator[Finding]:
    """Find a manager whose last sweep of the subnet had errors: ports may be left waiting."""
    last = {
        one.evidence.file: one for one in facts.of(Message)
        if one.software == "OpenSM" and one.text in {_UNSWEPT, "SUBNET UP"}
    }  # fmt: skip
    failed = [one for one in last.values() if one.text == _UNSWEPT]
    if failed:
        yield finding(
            "ib-no-subnet-manager",
            failed,
            0.5,
            severity=Severity.WARNING,
            message="the subnet manager could not finish its sweep: ports may not come up",
            advice="read what its log says above this line: who does not answer",
            next_command="grep -e ERR -e 'SUBNET UP' /var/log/opensm.log; sminfo",
            missing=("whether a later sweep ends with SUBNET UP",),
            explains=_FOLLOW,
        )


subnet_manager = Rule(causes=("ib-no-subnet-manager",), check=_check)
