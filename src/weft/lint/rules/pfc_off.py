"""Traffic is sorted for a lossless class, and PFC is off.

What it checks: switches and NICs that map a DSCP of RoCE to a class of its own and trust it,
where no port pauses any priority; RoCE fabrics with PFC on one side alone.
Why it matters: RoCE drops under incast; go-back-N repeats everything after the lost packet.
What to do: switch PFC on for the class on every port, with headroom and a watchdog; or run
lossy RoCE on purpose, with ECN on that class.
References: IEEE 802.1Qbb; NVIDIA Cumulus, RoCE lossless and lossy.
"""

from weft.lint.facts import Map, Marking, Pause, Side
from weft.lint.quality import CNP_DSCP, host_pauses, paused, table
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        rows = switch.of(Pause)
        classes = table(switch, Map.DSCP_TO_CLASS)
        special = [row for row in classes.values() if row.target and row.source != CNP_DSCP]
        ecn = any(one.ecn for one in switch.of(Marking))
        if (
            special
            and not paused(switch)
            and (rows or host_pauses(case))
            and not _lossy(switch)
        ):
            seen = [*rows[:1], special[0]]
            yield problem(
                seen,
                f"{switch.name} has a class for RoCE and pauses nothing",
                "switch PFC on for it",
                severity=Severity.WARNING if ecn else None,
            )
    if any(paused(switch) for switch in case.switches):
        for one in case.of(Pause):
            if one.side is Side.HOST and not one.priorities:
                yield problem(
                    one,
                    "the switches pause the NICs, and these NICs have PFC off",
                    "switch it on: mlnx_qos --pfc",
                )


def _lossy(switch: Device) -> bool:
    """Return whether the switch is set up for lossy RoCE: NVIDIA's word for it."""
    return any("lossy" in one.at.evidence().text for one in switch.of(Pause)[:4])


pfc_off = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://1.ieee802.org/dcb/802-1qbb/",
    check=_check,
)
