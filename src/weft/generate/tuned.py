"""The numbers of a plan that a search by simulation found, in the place of those of the rules.

Marking, DCQCN of the NICs, the share of the buffer at which switches pause (alpha), how far
below they let go on, and headroom where it is more than the sum of cables and responses, which
is never gone below. What no number of the plan stands for is named in ``left_out``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import log2
from typing import Final

from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.generate.lossless import (
    KMAX_OVER_KMIN_AT_LEAST,
    SWITCH_MTU_BYTES,
    Dcqcn,
    Marking,
    Pause,
    pool_of,
    threshold_bytes,
    xoff_of,
)
from weft.generate.planned import Planned, Refused
from weft.network.headroom import KIB
from weft.network.network import resolve
from weft.network.topology import Layout
from weft.spec.cluster import Cluster
from weft.spec.scenario import IncastTraffic, Scenario, TrafficItem
from weft.spec.settings import Tuning
from weft.units import gbit_from_rate

SOURCE: Final = "simulation"
GAIN_STEPS: Final = 1024
"""The NIC counts g in steps of 1/1024, and holds what is left of alpha."""
BYTE_STEP: Final = 64
MOST_STEPS: Final = 32767
"""Of the byte counter. [connectx_firmware]"""
MBIT_PER_GBIT: Final = 1000
LEAST_EXPONENT, MOST_EXPONENT = -5, 3
"""Of alpha, a power of two: what SONiC's profiles have, and weft lint finds sound."""
NEAR_RATIO: Final = 2.0
"""Powers of two come nearer than that to any threshold between the least and the most."""


def tuned_marking(cluster: Cluster, pause: Pause | None, rules: Marking) -> Marking:
    """Return the thresholds of the cluster's tuning; below the pause in any case."""
    tuning = cluster.fabric.settings
    if tuning is None or not tuning.settings.ecn.model_fields_set:
        return rules
    options, found = _options(cluster, tuning), tuning.found()
    most = _most(pause)
    kmax = min(options.kmax_bytes, most) if most else options.kmax_bytes
    kmin = options.kmin_bytes * kmax // options.kmax_bytes
    cut = (
        f"; the search had {options.kmax_bytes} B, but ports of this switch pause at "
        f"{most + SWITCH_MTU_BYTES} B when all are congested"
        if most and options.kmax_bytes > most
        else ""
    )
    return Marking(
        kmin_bytes=_planned(max(1, kmin // KIB) * KIB, found, unit="B"),
        kmax_bytes=_planned(max(1, kmax // KIB) * KIB, found + cut, unit="B"),
        pmax_ratio=_planned(options.pmax_ratio, found),
    )


def tuned_pause(cluster: Cluster, network: Layout, rules: Pause) -> Pause:
    """Return PFC with the headroom, the threshold and the hysteresis of the tuning."""
    tuning = cluster.fabric.settings
    if tuning is None:
        return rules
    room = _headroom(cluster, tuning, rules)
    pool = rules.pool_bytes
    if room is not rules.headroom_bytes:
        pool = pool_of(network, room.whole() if room.number() > rules.headroom_bytes.number()
                       else rules.headroom_bytes.whole())  # fmt: skip
        rules = replace(rules, links={})  # of the search, on every link
    with_room = replace(rules, headroom_bytes=room, pool_bytes=pool)
    alpha = _alpha(cluster, network, tuning, with_room)
    xoff = xoff_of(network, pool, alpha.number())
    offset = _xon_offset(tuning, xoff)
    return replace(
        with_room, buffer_alpha=alpha, xoff_bytes=xoff,
        xon_offset_bytes=offset or rules.xon_offset_bytes,
    )  # fmt: skip


def _headroom(cluster: Cluster, tuning: Tuning, rules: Pause) -> Planned:
    """Return the headroom of the search where it is more than the sum, which always holds."""
    sum_ = rules.headroom_bytes
    if tuning.settings.buffer.headroom_bytes is None:
        return sum_
    asked = _options(cluster, tuning).headroom_bytes or 0
    if asked > sum_.number():
        return _planned(-(-asked // KIB) * KIB, f"{tuning.found()}; the sum is {sum_.value} B",
                        unit="B")  # fmt: skip
    said = (
        f"; {tuning.name} was found with {asked} B where peers obey at once, so the sum holds"
    )
    return replace(sum_, reason=sum_.reason + said)


def _alpha(cluster: Cluster, network: Layout, tuning: Tuning, rules: Pause) -> Planned:
    """Return the share of the buffer that the search had, or that stands for its fixed XOFF."""
    settings, pool = tuning.settings, rules.pool_bytes
    if settings.buffer.shared_bytes is not None and settings.buffer.alpha_ratio is not None:
        ratio = settings.buffer.alpha_ratio
        exponent = _exponent(ratio)
        cut = "" if 2.0**exponent == ratio else f"; the nearest that switches take to {ratio:g}"
        return _planned(2.0**exponent, tuning.found() + cut)
    if settings.pfc.xoff_bytes is None or pool is None:
        return rules.buffer_alpha
    fixed, held = _options(cluster, tuning).xoff_bytes, pool.number()
    asked = _exponent(fixed / (held - fixed)) if fixed < held else MOST_EXPONENT
    exponent = max(asked, _least_exponent(held, network.radix))
    alone = threshold_bytes(held, 2.0**exponent, 1)
    return _planned(
        2.0**exponent,
        f"{tuning.found()}; for its fixed XOFF of {fixed} B: with alpha 2^{exponent} a port "
        f"that is congested alone pauses at {alone} B",
    )


def _exponent(alpha: float) -> int:
    """Return the nearest power of two that switches take.

    >>> _exponent(0.3), _exponent(1e-9), _exponent(100.0)
    (-2, -5, 3)
    """
    return min(MOST_EXPONENT, max(LEAST_EXPONENT, round(log2(alpha))))


def _least_exponent(pool_bytes: float, ports: int) -> int:
    """Return the least alpha that leaves room to mark before all ports pause."""
    least = (KMAX_OVER_KMIN_AT_LEAST + 1) * SWITCH_MTU_BYTES
    fitting = (
        exponent
        for exponent in range(LEAST_EXPONENT, 0)
        if threshold_bytes(pool_bytes, 2.0**exponent, ports) >= least
    )
    return next(fitting, 0)


def _xon_offset(tuning: Tuning, xoff: Planned | None) -> Planned | None:
    """Return how far below the threshold links go on, in the proportion that was searched."""
    pfc = tuning.settings.pfc
    if xoff is None or pfc.xoff_bytes is None or pfc.xon_bytes is None:
        return None
    ratio = pfc.xon_bytes / pfc.xoff_bytes
    return _planned(
        max(0, int((1 - ratio) * xoff.number())) // KIB * KIB,
        f"{tuning.found()}: links go on at {ratio:.0%} of the threshold",
        unit="B",
    )


def unset(pause: Pause) -> tuple[str, ...]:
    """Say what a target leaves to the switch although a search found it; nothing else."""
    if pause.buffer_alpha.source != SOURCE:
        return ()
    return (
        f"Not set here: alpha {pause.buffer_alpha.number():g} of the lossless group, which a",
        f"tuning found, and links that go on {pause.xon_offset_bytes.text()} B below it.",
    )


def left_out(
    cluster: Cluster, *, pause: Pause | None, dcqcn: bool, queue_pairs: int
) -> tuple[Refused, ...]:
    """Name the settings of the tuning that no number of the plan stands for, and why."""
    tuning = cluster.fabric.settings
    if tuning is None:
        return ()
    found = (
        *_lossless_left(cluster, tuning, pause),
        *_control_left(cluster, tuning, dcqcn=dcqcn),
        *_ways_left(cluster, tuning, queue_pairs),
    )
    return tuple(
        Refused(name=name, value=str(value), reason=f"{tuning.name}: {why}", source=SOURCE)
        for name, value, why in found
    )


Left = Iterator[tuple[str, object, str]]


def _lossless_left(cluster: Cluster, tuning: Tuning, pause: Pause | None) -> Left:
    settings, buffer = tuning.settings, tuning.settings.buffer
    if pause is None:
        why = f"the plan of {cluster.fabric.kind} sets no marks, pauses or shares of buffers"
        parts = {"ecn": settings.ecn, "pfc": settings.pfc, "buffer": buffer}
        for name, part in parts.items():
            values = {key: value for key, value in part if value is not None}
            if values:
                yield name, _listed(values), why
    elif settings.pfc.xoff_bytes is not None and buffer.shared_bytes is None:
        yield from _xoff_left(_options(cluster, tuning).xoff_bytes, pause)
    own = {
        "buffer.shared_bytes": buffer.shared_bytes if pause else None,
        "queue_limit_bytes": settings.queue_limit_bytes,
        "credit_bytes": settings.credit_bytes,
        "classes": ", ".join(item.name for item in settings.classes) or None,
    }
    yield from ((name, value, _OWN[name]) for name, value in own.items() if value is not None)


_OWN: Final = {
    "buffer.shared_bytes": "what ports share follows from the switch's own buffer and headroom",
    "queue_limit_bytes": "queues of the plan are bounded by shares of the buffer",
    "credit_bytes": "switches size credits by their own buffers",
    "classes": "the plan has one lossless class, with the settings of all",
}
"""Why a setting of the simulator is in no plan."""


def _xoff_left(fixed_bytes: int, pause: Pause) -> Left:
    """Say where no share of the buffer comes near to a fixed threshold."""
    if pause.pool_bytes is None:
        why = "nobody published the buffer of the switch, so no share of it stands for this"
        yield "pfc.xoff_bytes", f"{fixed_bytes} B", why
        return
    alpha = pause.buffer_alpha.number()
    alone = threshold_bytes(pause.pool_bytes.number(), alpha, 1)
    if not fixed_bytes / NEAR_RATIO <= alone <= fixed_bytes * NEAR_RATIO:
        why = (
            "switches pause at shares of their buffer: a port that is congested alone at "
            f"{alone} B with the nearest sound one, alpha {alpha:g}"
        )
        yield "pfc.xoff_bytes", f"{fixed_bytes} B", why


def _control_left(cluster: Cluster, tuning: Tuning, *, dcqcn: bool) -> Left:
    settings = tuning.settings
    if dcqcn and settings.congestion in {None, "dcqcn"}:
        return
    if settings.congestion not in {None, "none"}:
        yield (
            "congestion", settings.congestion,
            f"the plan of {cluster.fabric.kind} sets "
            + ("DCQCN alone" if dcqcn else "no congestion control of NICs"),
        )  # fmt: skip
    if settings.knobs:
        yield "knobs", _listed(settings.knobs), f"they go with {settings.congestion}"


def _listed(values: Mapping[str, object]) -> str:
    """List settings by name.

    >>> _listed({"kmin_bytes": 4096, "gain_ratio": 0.1})
    'kmin_bytes 4096, gain_ratio 0.1'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _ways_left(cluster: Cluster, tuning: Tuning, queue_pairs: int) -> Left:
    settings = tuning.settings
    kind = resolve(cluster).fabric
    planned = cluster.fabric.load_balancing or kind.default_load_balancing
    if settings.balancing not in {None, planned}:
        yield (
            "balancing", settings.balancing,
            f"the plan has {planned}; fabric.load_balancing of the cluster sets it",
        )  # fmt: skip
    if settings.queue_pairs not in {1, queue_pairs}:
        yield (
            "queue_pairs", settings.queue_pairs,
            f"the plan has {queue_pairs} a connection (NCCL_IB_QPS_PER_CONNECTION)",
        )  # fmt: skip


def tuned_dcqcn(cluster: Cluster, network: Layout, rules: Dcqcn) -> Dcqcn:
    """Return DCQCN of the cluster's tuning, in the units that the NIC counts in."""
    tuning = cluster.fabric.settings
    if tuning is None or tuning.settings.congestion != "dcqcn":
        return rules
    options, found = _options(cluster, tuning), tuning.found()
    knobs = _knobs(options)
    line = gbit_from_rate(network.link_bytes_per_s) * MBIT_PER_GBIT

    def of_line(knob: str) -> Planned:
        return _planned(max(1, round(knobs[knob] * line)), found, unit="Mb/s")

    def micro(picoseconds: float) -> Planned:
        return _planned(max(1, round(picoseconds / PS_PER_S * 1e6)), found, unit="us")

    return replace(
        rules,
        min_time_between_cnps_us=micro(options.cnp_gap_ps),
        ai_rate_mbit_per_s=of_line("additive_increase_ratio"),
        hai_rate_mbit_per_s=of_line("hyper_increase_ratio"),
        time_reset_us=micro(knobs["rate_timer_ps"]),
        byte_reset=_byte_reset(knobs["byte_counter_bytes"], found),
        alpha_gain=_planned(
            round((1 - knobs["gain_ratio"]) * GAIN_STEPS), found, unit=f"/{GAIN_STEPS}"
        ),
        minimum_rate_mbit_per_s=of_line("minimum_rate_ratio"),
        fast_recovery_stages=_planned(round(knobs["fast_recovery_stages"]), found),
        alpha_timer_us=micro(knobs["alpha_timer_ps"]),
    )


def _byte_reset(size_bytes: float, found: str) -> Planned:
    steps = round(size_bytes / BYTE_STEP)
    cut = (
        f"; the search had {steps}, the NIC counts to {MOST_STEPS}"
        if steps > MOST_STEPS
        else ""
    )
    return _planned(min(MOST_STEPS, steps), found + cut, unit=f"x {BYTE_STEP} B")


def _most(pause: Pause | None) -> int:
    """Return the highest Kmax that marks before anybody is paused; 0 where that is unknown."""
    if pause is None or pause.xoff_bytes is None:
        return 0
    return pause.xoff_bytes.whole() - SWITCH_MTU_BYTES


def _planned(value: float, reason: str, *, unit: str = "") -> Planned:
    return Planned(value=value, unit=unit, reason=reason, source=SOURCE)


def _options(cluster: Cluster, tuning: Tuning) -> Options:
    """Return the settings with everything filled in, at the rate of the cluster's links."""
    traffic = (TrafficItem().with_(incast=IncastTraffic(senders=1, size_bytes="1B")),)  # type: ignore[arg-type]  # any will do
    scenario = Scenario(cluster=cluster, traffic=traffic, network=tuning.settings)
    return options_of(scenario, 1)


def _knobs(options: Options) -> dict[str, float]:
    from weft import plugins  # noqa: PLC0415 - with the congestion controls, which compile
    from weft.engines.packet import congestion  # noqa: PLC0415 - as above
    from weft.engines.packet.control import Control  # noqa: PLC0415 - as above

    defaults = plugins.load(congestion, options.congestion, Control).knobs
    return {**defaults, **options.knobs}
