"""Equal paths are chosen without the ports of UDP: every flow of RoCE takes the same one.

What it checks: the fields of ECMP of SONiC and NX-OS, the seed of the hash of switches that are
connected (SONiC chooses it by the type of the device), and the kernel's policy of hashing on
machines that route by BGP over several paths.
Why it matters: queue pairs between two NICs differ in the UDP source port alone; without it
they share one of many uplinks, and the collective runs at the rate of that one. Two tiers with
one seed choose alike: the second uses a part of its links only.
What to do: hash addresses, protocol and the ports of layer 4; give each tier its own seed.
References: RFC 7424; SONiC, SWITCH_HASH; Linux, fib_multipath_hash_policy.
"""

from typing import Final

from weft.lint.facts import Hash, HashSeed, Option, Port, Side, Speaker
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_POLICIES: Final = ("net.ipv4.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_policy")
_FORWARDS: Final = {
    "net.ipv4.ip_forward": _POLICIES[0], "net.ipv6.conf.all.forwarding": _POLICIES[1],
}  # fmt: skip
_LAYER_3: Final = "0"
_OFF: Final = "0"


def _check(case: Case) -> Found:
    for one in case.of(Hash):
        if one.side is Side.SWITCH and not one.layer_4:
            yield problem(
                one,
                f"{one.device} spreads flows by addresses alone",
                "add the ports of layer 4",
            )
    yield from _seeds(case)
    if any((one.paths or 2) > 1 for one in case.of(Speaker)):
        yield from _kernel(case)


def _seeds(case: Case) -> Found:
    """Report the switches that share a seed with a switch that they are connected to."""
    for fleet in case.fleets():
        seeds = {one.device: one for switch in fleet for one in switch.of(HashSeed)}
        for switch in fleet:
            own = seeds.get(switch.name)
            peers = sorted({port.peer for port in switch.of(Port)} & seeds.keys())
            same = [seeds[one] for one in peers if own and seeds[one].seed == own.seed]
            if own and same and own.device < same[0].device:
                yield problem(
                    [own, same[0]],
                    f"{own.device} and {same[0].device} are connected and seed the hash alike "
                    f"({own.seed})",
                    "give each tier its own seed; in SONiC, its own type in DEVICE_METADATA",
                )


def _kernel(case: Case) -> Found:
    """Judge the kernel of machines that forward: what they set is in a file of its own."""
    files: dict[str, dict[str, Option]] = {}
    for one in case.options("sysctl"):
        files.setdefault(one.at.text.name, {})[one.name] = one
    for rows in files.values():
        if not rows.keys() & _FORWARDS.keys():
            continue
        for forward, policy in _FORWARDS.items():
            sets, hashes = rows.get(forward), rows.get(policy)
            if sets and sets.value == _OFF:
                yield problem(sets, "a machine that speaks BGP forwards nothing", "set it to 1")
            elif sets and (hashes is None or hashes.value == _LAYER_3):
                yield problem(
                    hashes or sets,
                    "the kernel spreads flows by addresses alone"
                    + ("" if hashes else ", its default"),
                    f"{policy} = 1",
                )


ecmp_hash = Rule(
    layer=Layer.ROUTING,
    severity=Severity.WARNING,
    reference="https://docs.kernel.org/networking/ip-sysctl.html",
    check=_check,
)
