"""The switch uses fewer paths than it has.

What it checks: maximum-paths against the number of sessions to the tier above, and whether
paths over different AS numbers count as equal.
Why it matters: half the uplinks stay idle: half the bandwidth of the fabric.
What to do: maximum-paths of 64 or more; multipath-relax (default on EOS).
References: RFC 7938, section 6; FRR, bgp bestpath as-path multipath-relax.
"""

from collections.abc import Set as AbstractSet

from weft.lint.facts import Neighbor, Port, Speaker
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        speakers = {switch.name: one for switch in fleet for one in switch.of(Speaker)}
        for switch in fleet:
            sessions = [one for one in switch.of(Neighbor) if one.unnumbered or one.remote]
            cables = {port.name: port.peer for port in switch.of(Port) if port.peer}
            paths = len(sessions)
            for one in switch.of(Speaker):
                few = one.paths is not None and one.paths < paths
                if few and (one.paths == 1 or _leaf(switch, speakers.keys() | case.absent)):
                    yield problem(
                        one,
                        f"{switch.name} uses {one.paths} of {paths} paths",
                        f"set maximum-paths to {max(64, paths)}",
                    )
                peers = {
                    speakers[cables[s.peer]].asn
                    for s in sessions
                    if cables.get(s.peer) in speakers
                }
                if one.relaxed is False and len(peers) > 1:
                    yield problem(
                        one,
                        f"{switch.name} has neighbours of {len(peers)} AS numbers and "
                        "takes their paths for unequal",
                        "set bestpath as-path multipath-relax",
                    )


def _leaf(switch: Device, switches: AbstractSet[str]) -> bool:
    """Return whether all sessions lead upwards: the ports to hosts have none."""
    peers = {port.peer for port in switch.of(Port) if port.peer}
    return bool(peers - switches)


bgp_paths = Rule(
    layer=Layer.ROUTING,
    severity=Severity.WARNING,
    reference="https://www.rfc-editor.org/rfc/rfc7938",
    check=_check,
)
