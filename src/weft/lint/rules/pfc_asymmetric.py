"""The NICs of an RDMA fabric pause nothing that their switch pauses.

What it checks: hosts whose script sets trust, marks or DCQCN and never PFC, on switches with
PFC.
Why it matters: the switch asks the NIC to stop and it does not: headroom overflows, and what
was meant to be lossless drops.
What to do: mlnx_qos --pfc with the priority of the switch, on every boot.
References: IEEE 802.1Qbb; mlnx_qos(8).
"""

from weft.lint.facts import Congestion, Fact, Mark, Pause, Side, Trust
from weft.lint.quality import paused
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    switches = [switch for switch in case.switches if paused(switch)]
    if not switches:
        return
    pausing = {_folder(one) for one in case.of(Pause) if one.side is Side.HOST}
    hosts: list[Fact] = [*case.of(Mark), *case.of(Congestion)]
    hosts += [one for one in case.of(Trust) if one.side is Side.HOST]
    without = {_folder(one): one for one in reversed(hosts) if _folder(one) not in pausing}
    for one in without.values():
        yield problem(
            [one, *switches[0].of(Pause)[:1]],
            f"the hosts set up RDMA and no PFC, and {switches[0].name} pauses "
            f"{min(paused(switches[0]))}",
            "add mlnx_qos --pfc",
        )


def _folder(one: Fact) -> str:
    """Return the folder of a file: scripts that run together lie together."""
    return one.at.text.name.rpartition("/")[0]


pfc_asymmetric = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://1.ieee802.org/dcb/802-1qbb/",
    check=_check,
    needs=(Side.HOST, Side.SWITCH),
)
