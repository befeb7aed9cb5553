"""AS numbers are wrong: not private, the same on both ends, or not what the neighbour has.

What it checks: ranges; a remote-as against the neighbour's own number (by the cable); leaves
that share a number; "external" between equal numbers.
Why it matters: the session stays down, or a leaf drops the routes of another as its own loop.
What to do: one private number a leaf, one for the spines of a group.
References: RFC 7938, section 5.2; RFC 6996 (private numbers).
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Neighbor, Port, Side, Speaker
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_PRIVATE: Final = (range(64512, 65535), range(4_200_000_000, 4_294_967_295))


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        speakers = {switch.name: one for switch in fleet for one in switch.of(Speaker)}
        for one in speakers.values():
            if not any(one.asn in span for span in _PRIVATE):
                yield problem(
                    one,
                    f"AS {one.asn} of {one.device} is not a private number",
                    "use 64512 to 65534, or 4200000000 and on",
                    severity=None
                    if one.asn in {0, 23456, 65535}
                    else Severity.WARNING
                    if case.fabric or Side.JOB in case.sides
                    else Severity.INFO,
                )
        for switch in fleet:
            cables = {port.name: port.peer for port in switch.of(Port) if port.peer}
            for session in switch.of(Neighbor):
                own, other = (
                    speakers.get(switch.name),
                    speakers.get(cables.get(session.peer, "")),
                )
                if own and other:
                    yield from _session(own, other, session)
        yield from _leaves(fleet, case.absent)


def _session(own: Speaker, other: Speaker, session: Neighbor) -> Found:
    remote = whole(session.remote)
    if remote is not None and remote != other.asn:
        yield problem(
            [session, other],
            f"{own.device} expects AS {remote} at {session.peer}, and "
            f"{other.device} is AS {other.asn}",
            "correct the number",
        )
    elif session.remote == "internal" and own.asn != other.asn:
        yield problem(
            [session, own, other],
            f"{own.device} is AS {own.asn} and expects its own at {session.peer}, and "
            f"{other.device} is AS {other.asn}",
            "make the session external",
        )
    elif session.remote == "external" and own.asn == other.asn:
        yield problem(
            [own, other],
            f"{own.device} and {other.device} are both AS {own.asn}: an "
            "external session stays down",
            "give each its own",
        )


def _leaves(fleet: list[Device], absent: frozenset[str]) -> Found:
    names = {switch.name for switch in fleet} | absent
    leaves: dict[int, Speaker] = {}
    for switch in fleet:
        to_hosts = [p for p in switch.of(Port) if p.peer and p.peer not in names]
        for one in switch.of(Speaker) if to_hosts else ():
            first = leaves.setdefault(one.asn, one)
            if first is not one:
                yield problem(
                    [one, first],
                    f"leaves {first.device} and {one.device} are both AS "
                    f"{one.asn}: each drops the other's routes as its own loop",
                    "give each leaf its own number",
                )


bgp_asn = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc7938",
    check=_check,
)
