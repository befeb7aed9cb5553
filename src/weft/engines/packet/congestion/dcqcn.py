"""DCQCN: cut the rate on a notification, recover in three stages. [Zhu et al., SIGCOMM 2015]

Timers cost no events: what has expired is applied when the flow next sends or is notified.
Rates are kept as bytes per picosecond in the flow's slots.
"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

RATE, TARGET, ALPHA, ALPHA_AT, RATE_AT, BYTES, TIMER_STAGE, BYTE_STAGE = range(8)
GAIN, ALPHA_TIMER, RATE_TIMER, BYTE_COUNTER, STAGES, ADDITIVE, HYPER, MINIMUM = range(8)
KEEPS = 8
UNBOUNDED_BYTES = 1e18
FULL = 0.999
"""Rates above this share of the line are rounded up to it, which ends the recovery."""


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = UNBOUNDED_BYTES
    flow.pace_ps_per_byte = line_ps_per_byte
    flow.cc[RATE] = 1.0 / line_ps_per_byte
    flow.cc[TARGET] = 1.0 / line_ps_per_byte
    flow.cc[ALPHA] = 1.0
    flow.cc[ALPHA_AT] = now
    flow.cc[RATE_AT] = now
    flow.cc[BYTES] = 0.0
    flow.cc[TIMER_STAGE] = 0.0
    flow.cc[BYTE_STAGE] = 0.0


@inner
def _increase(flow, knobs, line):
    """Fast recovery, then additive, then hyper increase. [section 3.1, figure 7]"""
    stages = knobs[STAGES]
    if max(flow.cc[TIMER_STAGE], flow.cc[BYTE_STAGE]) >= stages:
        both = min(flow.cc[TIMER_STAGE], flow.cc[BYTE_STAGE]) >= stages
        step = knobs[HYPER] if both else knobs[ADDITIVE]
        flow.cc[TARGET] = min(line, flow.cc[TARGET] + step * line)
    flow.cc[RATE] = 0.5 * (flow.cc[RATE] + flow.cc[TARGET])
    if flow.cc[RATE] > FULL * line:
        flow.cc[RATE] = line
        flow.cc[TARGET] = line


@inner
def _catch_up(flow, knobs, line, now):
    """Apply the timers that have expired since the flow was last looked at."""
    if flow.cc[RATE] >= line and flow.cc[TARGET] >= line:
        flow.cc[ALPHA_AT] = now
        flow.cc[RATE_AT] = now
        flow.cc[TIMER_STAGE] = 0.0
        flow.cc[BYTE_STAGE] = 0.0
        return
    while flow.cc[ALPHA_AT] + knobs[ALPHA_TIMER] <= now:
        flow.cc[ALPHA_AT] += knobs[ALPHA_TIMER]
        flow.cc[ALPHA] *= 1.0 - knobs[GAIN]
    while flow.cc[RATE_AT] + knobs[RATE_TIMER] <= now:
        flow.cc[RATE_AT] += knobs[RATE_TIMER]
        flow.cc[TIMER_STAGE] += 1.0
        _increase(flow, knobs, line)


@inner
def _send(flow, knobs, line_ps_per_byte, payload_bytes, now):
    line = 1.0 / line_ps_per_byte
    _catch_up(flow, knobs, line, now)
    flow.cc[BYTES] += payload_bytes
    if flow.cc[BYTES] >= knobs[BYTE_COUNTER]:
        flow.cc[BYTES] -= knobs[BYTE_COUNTER]
        flow.cc[BYTE_STAGE] += 1.0
        _increase(flow, knobs, line)
    flow.pace_ps_per_byte = 1.0 / flow.cc[RATE]


@inner
def _cnp(flow, knobs, line_ps_per_byte, now):
    """Cut the rate by half of alpha and start the recovery again. [equation 1]

    NICs that keep their target cut it only where a timer has raised the rate since the last
    cut: of cuts in a row the recovery knows where it began.
    """
    line = 1.0 / line_ps_per_byte
    _catch_up(flow, knobs, line, now)
    if knobs[KEEPS] == 0.0 or flow.cc[TIMER_STAGE] > 0.0:
        flow.cc[TARGET] = flow.cc[RATE]
    flow.cc[RATE] = max(knobs[MINIMUM] * line, flow.cc[RATE] * (1.0 - 0.5 * flow.cc[ALPHA]))
    flow.cc[ALPHA] = (1.0 - knobs[GAIN]) * flow.cc[ALPHA] + knobs[GAIN]
    flow.cc[ALPHA_AT] = now
    flow.cc[RATE_AT] = now
    flow.cc[BYTES] = 0.0
    flow.cc[TIMER_STAGE] = 0.0
    flow.cc[BYTE_STAGE] = 0.0


dcqcn = Control(
    title="DCQCN, the congestion control of RoCEv2 NICs",
    feedback=Feedback.CNP,
    marking=True,
    knobs={
        "gain_ratio": 1 / 256,
        "alpha_timer_ps": 55e6,
        "rate_timer_ps": 55e6,
        "byte_counter_bytes": 10e6,
        "fast_recovery_stages": 5,
        "additive_increase_ratio": 0.001,
        "hyper_increase_ratio": 0.01,
        "minimum_rate_ratio": 0.0025,
        "keeps_target": 0.0,
    },
    source="Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
    on_begin=_begin,
    on_send=_send,
    on_cnp=_cnp,
)
