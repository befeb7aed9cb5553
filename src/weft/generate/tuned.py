"""The numbers of a plan that a search by simulation found, in the place of those of the rules.

Only what a search can know enters: marking, and DCQCN of the NICs. Headroom, pools and the
pause threshold follow from the switch's buffer and the cables, as without a tuning.
"""

from dataclasses import replace
from typing import Final

from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.generate.headroom import KIB
from weft.generate.lossless import SWITCH_MTU_BYTES, Dcqcn, Marking, Pause
from weft.generate.planned import Planned
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


def tuned_marking(cluster: Cluster, pause: Pause | None, rules: Marking) -> Marking:
    """Return the thresholds of the cluster's tuning; below the pause in any case."""
    tuning = cluster.fabric.settings
    if tuning is None:
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
    """Return PFC as the rules have it, and say how the search's fixed XOFF relates to it."""
    tuning = cluster.fabric.settings
    if tuning is None or rules.xoff_bytes is None or rules.pool_bytes is None:
        return rules
    fixed, alpha = _options(cluster, tuning).xoff_bytes, rules.buffer_alpha.number()
    alone = int(alpha * rules.pool_bytes.number() / (1 + alpha)) // KIB * KIB
    said = (
        f"; {tuning.name} was found with a fixed XOFF of {fixed} B, and of {network.radix} "
        f"ports one that is congested alone pauses at {alone} B"
    )
    xoff = rules.xoff_bytes
    return replace(rules, xoff_bytes=replace(xoff, reason=xoff.reason + said))


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
