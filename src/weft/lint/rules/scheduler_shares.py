"""Queues take turns in a way that starves RDMA, or everybody else.

What it checks: the lossless queue scheduled strictly above the rest, or with a share under 20
%, shares that add up to more than 100 %, and management below them all.
Why it matters: strict RDMA starves routing and CNPs until sessions drop; a small share makes
RDMA wait behind storage.
What to do: weighted turns for RDMA and the rest (50 to 50 is usual), strict for CNPs alone.
References: NVIDIA Cumulus, RoCE; SONiC, SCHEDULER.
"""

from collections.abc import Iterator
from typing import Final

from weft.lint.facts import Fact, QueueUse, Scheduler
from weft.lint.quality import lossless_queues
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_SMALL: Final = 20
_ALL: Final = 100


def _check(case: Case) -> Found:
    for switch in case.switches:
        queues = lossless_queues(switch)
        turns = list(_turns(switch))
        for fact, queue, turn in turns:
            if queue in queues and turn.strict and _others_strict(turns) < len(turns):
                yield problem(
                    [fact, turn],
                    f"the lossless queue {queue} of {switch.name} comes "
                    "before all others, always",
                    "take weighted turns",
                )
            elif queue in queues and turn.weight is not None and turn.weight < _SMALL:
                yield problem(
                    [fact, turn],
                    f"RDMA (queue {queue} of {switch.name}) is sure of {turn.weight:g} % alone",
                    "give it half",
                )
        shares: dict[int, float] = {}
        for _, queue, turn in turns:
            shares[queue] = max(shares.get(queue, 0), 0 if turn.strict else turn.weight or 0)
        if (
            turns
            and all(not one.name for one in switch.of(Scheduler))
            and sum(shares.values()) > _ALL
        ):
            yield problem(
                turns[0][0],
                f"shares of {switch.name} add up to {sum(shares.values()):g} %",
                "let them add up to 100 %",
            )


def _turns(switch: Device) -> Iterator[tuple[Fact, int, Scheduler]]:
    by_name = {one.name: one for one in switch.of(Scheduler) if one.name}
    for use in switch.of(QueueUse):
        if use.scheduler in by_name:
            yield use, use.queue, by_name[use.scheduler]
    for one in switch.of(Scheduler):
        if one.queue is not None:
            yield one, one.queue, one


def _others_strict(turns: list[tuple[Fact, int, Scheduler]]) -> int:
    return sum(turn.strict for _, _, turn in turns)


scheduler_shares = Rule(
    layer=Layer.QOS,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking-ethernet-software/cumulus-linux-514/Layer-1-and-Switch-Ports/Quality-of-Service/RDMA-over-Converged-Ethernet-RoCE",
    check=_check,
)
