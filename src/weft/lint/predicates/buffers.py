"""Predicates on buffers and pause."""

from typing import Final

import re2

from weft import units
from weft.lint import facts
from weft.lint.quality import CNP_DSCP, overlap, target
from weft.lint.rule import Case, Device, Found, Severity, problem
from weft.network.headroom import (
    LIGHT_M_PER_S,
    MAC_BYTES,
    QUANTA,
    QUANTUM_BYTES,
    SMALL_RATIO,
    TILE_BYTES_PER_GBIT,
)

_HIGH: Final = 4
_LOW: Final = -5


def buffer_alpha(switch: Device) -> Found:
    profiles = {profile.name: profile for profile in switch.of(facts.BufferProfile)}
    queues = switch.lossless_queues
    ingress = [profile for _, profile in switch.lossless_profiles]
    for profile in {profile.name: profile for profile in ingress}.values():
        alpha = profile.alpha_exponent
        if alpha is not None and not _LOW <= alpha <= _HIGH:
            said = "one port may take all" if alpha > 0 else "every burst is a pause"
            yield problem("share", profile, alpha=alpha, said=said)
    for use in switch.of(facts.GroupUse):
        held = profiles.get(use.profile)
        if use.ingress or use.group not in queues or held is None:
            continue
        alpha = held.alpha_exponent
        shares = [
            profile.alpha_exponent for profile in ingress if profile.alpha_exponent is not None
        ]
        most = max(shares, default=None)
        if alpha is not None and most is not None and alpha <= most:
            yield problem("egress_share", use, held, *ingress[:1], alpha=alpha, most=most)
            break


_MODEL: Final = re2.compile(r"(?i)(SN\d{4}C?)")


def buffer_pool(switch: Device) -> Found:
    size = _buffer_bytes(switch)
    pools = [pool for pool in switch.of(facts.BufferPool) if pool.direction == "ingress"]
    taken = sum(
        (profile.size_bytes or 0) * max(1, len(use.ports))
        for use, profile in switch.lossless_profiles
    )
    shared = sum(pool.size_bytes or 0 for pool in pools)
    for pool in pools:
        if pool.size_bytes is not None and pool.size_bytes <= 0:
            yield problem("empty", pool)
    if size and pools and shared + taken > size:
        seen, most = [*pools, *switch.of(facts.BufferProfile)[:1]], max(0, size - taken)
        yield problem("size", *seen, shared=shared, taken=taken, size=size, most=most)


def _buffer_bytes(switch: Device) -> float | None:
    from weft.catalogue import find, names  # noqa: PLC0415 - where there is a pool to judge

    for hardware in switch.of(facts.Hardware):
        match = _MODEL.search(hardware.name)
        name = match[1].lower() if match else hardware.name.lower()
        if name in names("switches"):
            buffer = find("switches", name).buffer_bytes
            return buffer.value if buffer else None
    return None


_WAYS = {True: "ingress", False: "egress"}


def buffer_profile(switch: Device) -> Found:
    pools = {pool.name: pool for pool in switch.of(facts.BufferPool)}
    profiles = {profile.name: profile for profile in switch.of(facts.BufferProfile)}
    yield from _unreserved(switch, pools)
    for use in switch.of(facts.GroupUse):
        profile = profiles.get(use.profile)
        pool = pools.get(profile.pool) if profile else None
        if profile and pool and pool.direction in _WAYS.values():
            yield from _turned(use, profile, pool)
    yield from _narrow(switch, pools, profiles)


def _unreserved(switch: Device, pools: dict[str, facts.BufferPool]) -> Found:
    seen = {profile.name: profile for _, profile in switch.lossless_profiles}
    for item in seen.values():
        pool = pools.get(item.pool)
        if (
            pool is None
            or pool.headroom_bytes
            or item.size_bytes is None
            or not item.xoff_bytes
        ):
            continue
        if item.size_bytes < item.xoff_bytes:
            yield problem("unreserved", item, value=item.xoff_bytes + (item.xon_bytes or 0))


def _turned(use: facts.GroupUse, profile: facts.BufferProfile, pool: facts.BufferPool) -> Found:
    way = _WAYS[use.ingress]
    if pool.direction != way:
        what = "priority group" if use.ingress else "queue"
        yield problem("direction", profile, use, pool=pool, what=what, way=way)


def _narrow(
    switch: Device, pools: dict[str, facts.BufferPool], profiles: dict[str, facts.BufferProfile]
) -> Found:
    entered = [pools.get(profile.pool) for _, profile in switch.lossless_profiles]
    admitted = max((pool.size_bytes or 0 for pool in entered if pool), default=0)
    queues = switch.lossless_queues
    leaving = (use for use in switch.of(facts.GroupUse) if not use.ingress)
    names = {use.profile for use in leaving if use.group in queues}
    for name in sorted(names & profiles.keys()):
        pool = pools.get(profiles[name].pool)
        if pool and pool.direction == "egress" and (pool.size_bytes or admitted) < admitted:
            yield problem("narrow", pool, profiles[name], admitted=admitted)


def headroom_missing(switch: Device) -> Found:
    found = switch.lossless_profiles
    for use, profile in found:
        if profile.xoff_bytes is None or profile.xoff_bytes <= 0:
            yield problem("no_headroom", use, profile)
    shared = {pool.name for pool in switch.of(facts.BufferPool) if pool.headroom_bytes}
    for profile in {profile.name: profile for _, profile in found}.values():
        yield from _order(profile, shared=profile.pool in shared)
    yield from _ports(switch, [use for use, _ in found])


def _order(profile: facts.BufferProfile, *, shared: bool) -> Found:
    """Compare sizes; where headroom is shared (xoff of the pool) a profile reserves little."""
    size, xon, xoff = profile.size_bytes, profile.xon_bytes, profile.xoff_bytes
    if not shared and size is not None and xoff and size < xoff and size < (xon or 0):
        yield problem("holds_neither", profile, size=size)
    if not shared and xon is not None and xoff and size is not None and xon > size:
        yield problem("xon_above_size", profile, xon=xon, size=size)
    if profile.pool and profile.alpha_exponent is None and profile.static_bytes is None:
        yield problem("no_share", profile)
    if profile.pool and xoff and xon is None:
        yield problem("no_xon", profile)
    limit = profile.static_bytes
    if xon is not None and limit is not None and xon >= limit:
        yield problem("xon_above_pause", profile, xon=xon, limit=limit)


def _ports(switch: Device, uses: list[facts.GroupUse]) -> Found:
    if not any(use.ingress for use in switch.of(facts.GroupUse)):
        return
    held = {port for use in uses for port in use.ports}
    everywhere = any(not use.ports for use in uses)
    for pause in switch.of(facts.Pause):
        missing = sorted(set(pause.ports) - held)
        if pause.priorities and not everywhere and (missing or (not pause.ports and not uses)):
            where = f"{missing[0]} ({len(missing)} ports)" if missing else "every port"
            yield problem("no_profile", pause, where=where)


_SN5000: Final = re2.compile(r"SN5\d{3}")
_MTU_BYTES: Final = 9216
_VENDORS_RATIO: Final = 0.4
"""Tables of vendors go down to this share of the whole sum. [sonic_headroom]"""
_OCCUPANCY_RATIO: Final = 1 + 2 * SMALL_RATIO
"""Cells that small packets do not fill, of the smallest cells there are. [sonic_headroom]"""


_Sized = tuple[facts.GroupUse, facts.BufferProfile, facts.CableLength]


def headroom_short(switch: Device) -> Found:
    speeds = {port.name: port for port in switch.of(facts.Port)}
    lengths = {p: c for c in switch.of(facts.CableLength) for p in c.ports}
    everywhere = next((c for c in switch.of(facts.CableLength) if not c.ports), None)
    worst: dict[tuple[str, float, float], _Sized] = {}
    for use, profile in switch.lossless_profiles:
        for name in use.ports or tuple(speeds):
            port, cable = speeds.get(name), lengths.get(name, everywhere)
            if port and port.speed_gbit and cable:
                key = (profile.name, port.speed_gbit, cable.length_m)
                worst.setdefault(key, (use, profile, cable))
    shortest: dict[tuple[str, float], float] = {}
    for name, gbit, length_m in worst:
        held = shortest.get((name, gbit), length_m)
        shortest[name, gbit] = min(held, length_m)
    for (name, gbit, length_m), found in worst.items():
        longer = length_m > shortest[name, gbit]
        chip = MAC_BYTES + (TILE_BYTES_PER_GBIT * gbit if _tiled(switch) else 0)
        yield from _judge(found, gbit, length_m, chip if longer else None)


_NAMED: Final = re2.compile(r"pg_lossless_\d+_(\d+)m_profile")


def headroom_cable(case: Case) -> Found:
    """Compare the cables that headroom is sized for with those that there are."""
    planned_m = _planned_m(case)
    for switch in case.switches:
        lengths = {
            port: length for length in switch.of(facts.CableLength) for port in length.ports
        }
        longest = max(
            switch.of(facts.CableLength), key=lambda item: item.length_m, default=None
        )
        if longest and case.cluster and longest.length_m < planned_m:
            yield problem("planned", longest, case.cluster, planned_m=planned_m)
        profiles = dict[tuple[str, float], tuple[facts.GroupUse, facts.CableLength]]()
        for use, profile in switch.lossless_profiles:
            for cable in (lengths[port] for port in use.ports if port in lengths):
                profiles.setdefault((profile.name, cable.length_m), (use, cable))
        for (name, length_m), (use, cable) in profiles.items():
            match = _NAMED.fullmatch(name)
            if match and float(match[1]) != length_m:
                severity = Severity.ERROR if float(match[1]) < length_m else Severity.WARNING
                yield problem("named", use, cable, name=name, m=match[1], severity=severity)


def _planned_m(case: Case) -> float:
    """Return the longest cable of the cluster document; 0 where there is no document."""
    if case.cluster is None:
        return 0.0
    topology = case.cluster.cluster.topology
    given = topology.longest_cable_m
    kinds = (given.host, given.spine, given.core) if given else ()
    return max((length for length in kinds if length), default=float(topology.cable_m))


def _tiled(switch: Device) -> bool:
    """Return whether the chip is of tiles: Spectrum-4 and -5, of the SN5000 series."""
    return any(_SN5000.search(hardware.name) for hardware in switch.of(facts.Hardware))


def _judge(seen: _Sized, gbit: float, length_m: float, chip_bytes: float | None) -> Found:
    """Judge one profile; by the whole sum where what the chip itself adds is given."""
    use, profile, cable = seen
    if profile.xoff_bytes is None:
        return
    flying = 2 * length_m / LIGHT_M_PER_S * units.rate_from_gbit(gbit)
    least = flying + 2 * _MTU_BYTES
    quanta = QUANTA[min((number for number in QUANTA if number >= gbit), default=800)]
    whole_sum = least + quanta * QUANTUM_BYTES
    if chip_bytes is None:
        need, end = max(least, _VENDORS_RATIO * whole_sum), ""
        shown: tuple[facts.Fact, ...] = (profile, use, cable)
    else:
        need = _OCCUPANCY_RATIO * (whole_sum + chip_bytes)
        end, shown = ", or give the long cables a profile of their own", (cable, profile, use)
    if profile.xoff_bytes < need:
        yield problem(
            "short", *shown, profile=profile, cable=cable, length_m=length_m, gbit=gbit,
            flying=flying, least=least, whole_sum=whole_sum, end=end,
            enough=max(need, whole_sum),
        )  # fmt: skip


def ecn_above_pause(switch: Device) -> Found:
    ports = len({port.name for port in switch.of(facts.Port) if port.speed_gbit or port.peer})
    pools = {pool.name: pool for pool in switch.of(facts.BufferPool)}
    queues = switch.lossless_queues
    marks = [queue.marking for queue in switch.marked if queue.queue in queues]
    for use, profile in switch.lossless_profiles:
        limit = _pause_bytes(profile, pools.get(profile.pool), max(ports, 1))
        if limit is None:
            continue
        for marking in {mark.at: mark for mark in marks}.values():
            alone_bytes = _alone_bytes(profile, pools.get(profile.pool))
            yield from _compare(marking, use, (profile, alone_bytes), limit)


def _pause_bytes(
    profile: facts.BufferProfile, pool: facts.BufferPool | None, ports: int
) -> tuple[float, str] | None:
    """Return the fill at which a port pauses when all are busy, and how it follows."""
    if profile.static_bytes is not None:
        return profile.static_bytes, f"{profile.static_bytes} B, as it says"
    if profile.alpha_exponent is None or pool is None or not pool.size_bytes:
        return None
    alpha = 2.0 ** max(-16.0, min(16.0, profile.alpha_exponent))
    limit = alpha * pool.size_bytes / (1 + alpha * ports)
    return limit, f"{alpha:g} x {pool.size_bytes} B / (1 + {alpha:g} x {ports} ports)"


def _alone_bytes(profile: facts.BufferProfile, pool: facts.BufferPool | None) -> float:
    """Return the fill at which a port pauses when no other is busy: no port pauses later."""
    found = _pause_bytes(profile, pool, 1)
    return found[0] if found else 0.0


def _compare(
    marking: facts.Marking,
    use: facts.GroupUse,
    paused: tuple[facts.BufferProfile, float],
    limit: tuple[float, str],
) -> Found:
    fill, shown = limit
    profile, alone_bytes = paused
    for name, value in (("Kmin", marking.kmin_bytes), ("Kmax", marking.kmax_bytes)):
        if value is not None and value >= fill:
            sure = value >= alone_bytes and (name == "Kmin" or fill < value / 4)
            yield problem(
                "above_pause", marking, profile, use, name=name, value=value, fill=fill,
                shown=shown, severity=Severity.ERROR if sure else Severity.WARNING,
            )  # fmt: skip
            return


_LATE: Final = 8
"""256 packets of 4 KiB are a megabyte, more than what PFC waits for."""


def ecn_averaging(switch: Device) -> Found:
    queues = switch.lossless_queues
    for queue in switch.marked:
        weight = queue.marking.averaging_exponent
        if queue.queue in queues and weight is not None and weight >= _LATE:
            yield problem("averaged", queue.marking, one=queue, value=2**weight)


def pfc_asymmetric(case: Case) -> Found:
    switches = [switch for switch in case.switches if switch.paused]
    if not switches:
        return
    pausing = {host.at.text.parent for host in case.of_hosts(facts.Pause)}
    hosts: list[facts.Fact] = [*case.of(facts.Mark), *case.of(facts.Congestion)]
    hosts += case.of_hosts(facts.Trust)
    without = {host.at.text.parent: host for host in reversed(hosts)}
    shown, least = switches[0].of(facts.Pause)[:1], min(switches[0].paused)
    for folder, fact in without.items():
        if folder not in pausing:
            yield problem("no_pause_on_hosts", fact, *shown, switches=switches, least=least)


def pfc_off(case: Case) -> Found:
    for switch in case.switches:
        rows = switch.of(facts.Pause)
        classes = switch.table(facts.Map.DSCP_TO_CLASS)
        special = [row for row in classes.values() if row.target and row.source != CNP_DSCP]
        ecn = any(marking.ecn for marking in switch.of(facts.Marking))
        wanted = special and not switch.paused and (rows or case.host_pauses)
        if wanted and not _lossy(switch):
            seen = [*rows[:1], special[0]]
            yield problem("off", *seen, severity=Severity.WARNING if ecn else None)
    if any(switch.paused for switch in case.switches):
        for host in case.of_hosts(facts.Pause):
            if not host.priorities:
                yield problem("nics_off", host)


def _lossy(switch: Device) -> bool:
    """Return whether the switch is set up for lossy RoCE: NVIDIA's word for it."""
    return any("lossy" in pause.at.evidence().text for pause in switch.of(facts.Pause)[:4])


def pfc_with_link_pause(one: facts.LinkPause, case: Case) -> Found:
    if one.side is facts.Side.HOST:
        both = bool(case.host_pauses) or case.fabric == "roce"
    else:
        both = any(switch.paused for switch in case.switches if switch.name == one.device)
    if one.on and both:
        yield problem("both", one)


def watchdog_off(switch: Device) -> Found:
    on = [pause for pause in switch.of(facts.Pause) if pause.priorities]
    dogs = [
        watchdog
        for watchdog in switch.of(facts.Watchdog)
        if watchdog.detection_ms or watchdog.queues != ()
    ]
    if on and not dogs:
        yield problem("none", *on)
        return
    for dog in dogs:
        if not dog.on and any(overlap(dog.ports, pause.ports) for pause in on):
            yield problem("off", dog)
        elif dog.action and dog.action not in {"drop", "errdisable"}:
            yield problem("action", dog)
    yield from _unwatched(switch, on, dogs)


def _unwatched(switch: Device, on: list[facts.Pause], dogs: list[facts.Watchdog]) -> Found:
    timed = [dog for dog in dogs if dog.detection_ms is not None and dog.ports]
    enabled = [dog for dog in dogs if dog.detection_ms is None and dog.ports and dog.on]
    cabled = {port.name for port in switch.of(facts.Port) if port.peer}
    paused = {port for pause in on for port in pause.ports or cabled}
    for kind in (timed, enabled):
        named = {port for dog in kind for port in dog.ports}
        missing = sorted(paused - named)
        if missing and len(named & paused) * 2 > len(paused):
            shown = next((pause for pause in on if missing[0] in pause.ports), on[0])
            yield problem("unwatched", shown, kind[0], missing=missing)


def watchdog_queues(switch: Device) -> Found:
    rows = switch.table(facts.Map.PAUSE_TO_QUEUE)
    for pause in switch.of(facts.Pause):
        wanted = {target(rows, priority) for priority in pause.priorities}
        for dog in switch.of(facts.Watchdog):
            if dog.queues is None or dog.poll_ms is not None:
                continue
            if overlap(dog.ports, pause.ports) and set(dog.queues) != wanted:
                watched, stopped = dog.queues or ("none",), wanted or ("none",)
                yield problem("queues", dog, pause, watched=watched, stopped=stopped)
