"""A job of many GPUs runs over TCP sockets.

What it checks: sockets between hosts with more than sixteen ranks. Smaller jobs, and jobs on
one host, are left alone; whether RDMA could have been used is the question of another rule.
Why it matters: TCP costs processor time and a memory copy for each byte, and its share of a
step grows with the number of hosts; below sixteen GPUs, and for inference, it does well.
What to do: use RDMA where the adapters have it; else expect the network to set the pace, and
ask `weft predict` by how much.
References: NCCL user guide, NCCL_NSOCKS_PERTHREAD and NCCL_SOCKET_NTHREADS; operators' practice
of TCP up to sixteen GPUs.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, finding
from weft.observe.facts.communicators import CommunicatorRank, CommunicatorShape

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_MOST_RANKS = 16


def _check(facts: Facts) -> Iterator[Finding]:
    sockets: list[Fact] = [*job.uses_sockets(facts)]
    large: list[Fact] = [
        one for one in facts.of(CommunicatorShape) if (one.ranks or 0) > _MOST_RANKS
    ]
    large += [one for one in facts.of(CommunicatorRank) if one.ranks > _MOST_RANKS]
    if sockets and large and not job.uses_rdma(facts) and not job.on_one_host(facts):
        yield finding(
            "sockets-at-scale",
            [*sockets[:2], *large[:2]],
            0.6,
            severity=Severity.INFO,
            message=f"more than {_MOST_RANKS} GPUs meet over TCP sockets",
            advice="use RDMA where the adapters have it; TCP suits up to sixteen GPUs",
            next_command="ibv_devices; weft predict -f cluster.yaml -f job.yaml",
            fault=Fault.SOCKETS,
        )


sockets_at_scale = Rule(causes=("sockets-at-scale",), check=_check)
