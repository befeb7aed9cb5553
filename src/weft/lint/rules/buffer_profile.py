"""A lossless group has a buffer profile that keeps no headroom, or takes the wrong pool.

What it checks: the size of a profile with XOFF against that XOFF, where no pool of headroom is
shared; profiles of priority groups in ingress pools and of queues in egress pools; the egress
pool of lossless queues against the ingress pool.
Why it matters: headroom that is not reserved is taken by other packets before the pause
arrives, and an egress pool smaller than what ingress admits drops what was not to be dropped.
What to do: size = XON + XOFF (or a shared headroom pool); the lossless egress pool as large as
the ingress pool at least.
References: SONiC, BUFFER_PROFILE and BUFFER_POOL; SAI, buffer profiles.
"""

from weft.lint.facts import BufferPool, BufferProfile, GroupUse
from weft.lint.quality import lossless_profiles, lossless_queues
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_WAYS = {True: "ingress", False: "egress"}


def _check(case: Case) -> Found:
    for switch in case.switches:
        pools = {one.name: one for one in switch.of(BufferPool)}
        profiles = {one.name: one for one in switch.of(BufferProfile)}
        yield from _unreserved(switch, pools)
        for use in switch.of(GroupUse):
            profile = profiles.get(use.profile)
            pool = pools.get(profile.pool) if profile else None
            if profile and pool and pool.direction in _WAYS.values():
                yield from _turned(switch, use, profile, pool)
        yield from _narrow(switch, pools, profiles)


def _unreserved(switch: Device, pools: dict[str, BufferPool]) -> Found:
    seen = {profile.name: profile for _, profile in lossless_profiles(switch)}
    for one in seen.values():
        pool = pools.get(one.pool)
        if pool is None or pool.headroom_bytes or one.size_bytes is None or not one.xoff_bytes:
            continue
        if one.size_bytes < one.xoff_bytes:
            yield problem(
                one,
                f"{one.name} of {switch.name} reserves {one.size_bytes} B and counts on "
                f"{one.xoff_bytes} B of headroom, which no pool keeps",
                f"make it {one.xoff_bytes + (one.xon_bytes or 0)} B",
            )


def _turned(switch: Device, use: GroupUse, profile: BufferProfile, pool: BufferPool) -> Found:
    way = _WAYS[use.ingress]
    if pool.direction != way:
        what = "priority group" if use.ingress else "queue"
        yield problem(
            [profile, use],
            f"{profile.name} of {switch.name} is of the {pool.direction} pool {pool.name}, and "
            f"a {what} uses it",
            f"give it a pool of {way}",
        )


def _narrow(
    switch: Device, pools: dict[str, BufferPool], profiles: dict[str, BufferProfile]
) -> Found:
    entered = [pools.get(profile.pool) for _, profile in lossless_profiles(switch)]
    admitted = max((one.size_bytes or 0 for one in entered if one), default=0)
    queues = lossless_queues(switch)
    names = {u.profile for u in switch.of(GroupUse) if not u.ingress and u.group in queues}
    for name in sorted(names & profiles.keys()):
        pool = pools.get(profiles[name].pool)
        if pool and pool.direction == "egress" and (pool.size_bytes or admitted) < admitted:
            yield problem(
                [pool, profiles[name]],
                f"{pool.name} of {switch.name} holds {pool.size_bytes} B of what ingress "
                f"admits, {admitted} B: lossless packets are dropped on their way out",
                "make it as large as the ingress pool",
                severity=Severity.WARNING,
            )


buffer_profile = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
