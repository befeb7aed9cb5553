"""A lossless priority group has no headroom, or none of its own.

What it checks: a buffer profile with xoff on every priority group that PFC pauses, on the same
ports; xon below xoff, and size that holds both.
Why it matters: SONiC does not pause a group whose profile has no xoff: it is lossy, whatever
PORT_QOS_MAP says, and no schema notices.
What to do: give the group a profile with xoff and xon.
References: SONiC, BUFFER_PG and BUFFER_PROFILE.
"""

from weft.lint.facts import BufferPool, BufferProfile, GroupUse, Pause
from weft.lint.quality import lossless_profiles
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        found = list(lossless_profiles(switch))
        for use, profile in found:
            if profile.xoff_bytes is None or profile.xoff_bytes <= 0:
                yield problem(
                    [use, profile],
                    f"the lossless group {use.group} of {switch.name} uses "
                    f"{profile.name}, which has no headroom",
                    "give it xoff",
                )
        shared = {one.name for one in switch.of(BufferPool) if one.headroom_bytes}
        for profile in {one.name: one for _, one in found}.values():
            yield from _order(switch, profile, shared=profile.pool in shared)
        yield from _ports(switch, [use for use, _ in found])


def _order(switch: Device, profile: BufferProfile, *, shared: bool) -> Found:
    """Compare sizes; where headroom is shared (xoff of the pool) a profile reserves little."""
    size, xon, xoff = profile.size_bytes, profile.xon_bytes, profile.xoff_bytes
    if not shared and size is not None and xoff and size < xoff and size < (xon or 0):
        yield problem(
            profile,
            f"{profile.name} of {switch.name}: size {size} B holds neither xon nor xoff",
            "size is xon + xoff",
        )
    if not shared and xon is not None and xoff and size is not None and xon > size:
        yield problem(
            profile,
            f"{profile.name} of {switch.name}: xon {xon} B lies above size {size} B",
            "lower xon",
        )
    if profile.pool and profile.alpha_exponent is None and profile.static_bytes is None:
        yield problem(
            profile,
            f"{profile.name} of {switch.name} has no share of its pool",
            "give it dynamic_th or static_th",
        )
    if profile.pool and xoff and xon is None:
        yield problem(
            profile,
            f"{profile.name} of {switch.name} says when to pause and not when to go on",
            "give it xon",
        )
    limit = profile.static_bytes
    if xon is not None and limit is not None and xon >= limit:
        yield problem(
            profile,
            f"{profile.name} of {switch.name}: it goes on at {xon} B, above the "
            f"pause at {limit} B",
            "lower xon",
        )


def _ports(switch: Device, uses: list[GroupUse]) -> Found:
    if not switch.of(GroupUse) or not any(one.ingress for one in switch.of(GroupUse)):
        return
    held = {port for use in uses for port in use.ports}
    everywhere = any(not use.ports for use in uses)
    for pause in switch.of(Pause):
        missing = sorted(set(pause.ports) - held)
        if pause.priorities and not everywhere and (missing or (not pause.ports and not uses)):
            where = f"{missing[0]} ({len(missing)} ports)" if missing else "every port"
            yield problem(
                pause,
                f"{where} of {switch.name} is paused and has no buffer profile for "
                f"the lossless group",
                "give the group a profile",
            )


headroom_missing = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
