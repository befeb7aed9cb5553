"""Small messages are fast as a rule and slow now and then: tails, not means, set the pace.

What it checks: the 99th percentile (or maximum) of small messages against their typical time.
Why it matters: a collective waits for its slowest message, so a tail of one in a hundred is
the time of all; on RoCE it comes from pauses and retransmissions.
What to do: look at pauses and losses on the path, then at processors' power states.
References: perftest, ib_write_lat; Dean and Barroso, The Tail at Scale, 2013.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, suspect, suspected
from weft.observe.facts.benchmarks import MeasuredLatency

_SMALL_BYTES = 4096
_TIMES = 10
_ENOUGH = 1000


def _check(facts: Facts) -> Iterator[Finding]:
    seen = [one for one in facts.of(MeasuredLatency) if one.size_bytes <= _SMALL_BYTES]
    slow = [one for one in seen if _tail(one) >= _TIMES]
    if slow:
        yield suspected(
            (
                suspect("roce-packet-loss", 0.35),
                Suspect(
                    cause="pfc-storm",
                    confidence_ratio=0.25,
                    question="do pauses rise meanwhile on either port?",
                    next_command="ethtool -S <interface> | grep pause, before and after",
                ),
            ),
            slow,
            severity=Severity.WARNING,
            message="one small message in a hundred takes many times as long as usual",
            advice="read the counters before and after: pauses, losses; then power states",
        )


def _tail(measured: MeasuredLatency) -> float:
    usual = measured.typical_s or measured.average_s
    tail = measured.p99_s
    few = measured.iterations is not None and measured.iterations < _ENOUGH
    return 0.0 if few or not usual or tail is None else tail / usual


latency_tail = Rule(causes=("roce-packet-loss", "pfc-storm"), check=_check)
