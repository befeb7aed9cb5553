"""ECN begins, or is certain, only after PFC has already stopped the sender.

What it checks: Kmin and Kmax of the lossless queue against the fill at which its priority group
sends a pause: alpha x pool / (1 + alpha x ports) for a dynamic share, xoff or size for a static
one.
Why it matters: senders never hear of congestion: PFC stops links first, and congestion spreads.
What to do: lower Kmax below the pause; Kmin to a quarter of it or less.
References: Zhu et al., SIGCOMM 2015, section 4; weft plan --explain shows the arithmetic.
"""

from weft.lint.facts import BufferPool, BufferProfile, GroupUse, Marking, Port
from weft.lint.quality import lossless_profiles, lossless_queues, marked
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        ports = len({one.name for one in switch.of(Port) if one.speed_gbit or one.peer})
        pools = {one.name: one for one in switch.of(BufferPool)}
        queues = lossless_queues(switch)
        marks = [one.marking for one in marked(switch) if one.queue in queues]
        for use, profile in lossless_profiles(switch):
            limit = _pause_bytes(profile, pools.get(profile.pool), max(ports, 1))
            if limit is None:
                continue
            for marking in {one.at: one for one in marks}.values():
                alone_bytes = _alone_bytes(profile, pools.get(profile.pool))
                yield from _compare(switch, marking, use, (profile, alone_bytes), limit)


def _pause_bytes(
    profile: BufferProfile, pool: BufferPool | None, ports: int
) -> tuple[float, str] | None:
    """Return the fill at which a port pauses when all are busy, and how it follows."""
    if profile.static_bytes is not None:
        return profile.static_bytes, f"{profile.static_bytes} B, as it says"
    if profile.alpha_exponent is None or pool is None or not pool.size_bytes:
        return None
    alpha = 2.0 ** max(-16.0, min(16.0, profile.alpha_exponent))
    limit = alpha * pool.size_bytes / (1 + alpha * ports)
    return limit, f"{alpha:g} x {pool.size_bytes} B / (1 + {alpha:g} x {ports} ports)"


def _alone_bytes(profile: BufferProfile, pool: BufferPool | None) -> float:
    """Return the fill at which a port pauses when no other is busy: no port pauses later."""
    found = _pause_bytes(profile, pool, 1)
    return found[0] if found else 0.0


def _compare(
    switch: Device,
    marking: Marking,
    use: GroupUse,
    paused: tuple[BufferProfile, float],
    limit: tuple[float, str],
) -> Found:
    fill, shown = limit
    profile, alone_bytes = paused
    for name, value in (("Kmin", marking.kmin_bytes), ("Kmax", marking.kmax_bytes)):
        if value is not None and value >= fill:
            yield problem(
                [marking, profile, use],
                f"{name} {value:g} B of {switch.name} is above the pause at "
                f"{fill:.0f} B ({shown})",
                f"lower {name}",
                # Where few ports are busy, marks may still come first.
                severity=Severity.ERROR
                if value >= alone_bytes and (name == "Kmin" or fill < value / 4)
                else Severity.WARNING,
            )
            return


ecn_above_pause = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
)
