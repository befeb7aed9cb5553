"""MPI's own transport failed before the collective library began.

What it checks: errors of UCX or libfabric in a log without a word of the collective library.
Why it matters: people tune NCCL for hours while mpirun's transport is what fails.
What to do: let MPI use TCP (--mca pml ob1 --mca btl tcp,self or UCX_TLS=tcp): it only starts
the ranks. Then see whether the collective library works.
References: UCX FAQ; Open MPI, selecting a PML and BTL.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Symptom, finding
from weft.observe.facts import (
    BootstrapInterface,
    CallFailed,
    CommunicatorRank,
    CompletionError,
    Fact,
    Message,
    NetworkChosen,
)

_FOREIGN = ("ucx", "openmpi", "open mpi", "mpi", "pmix")


def _check(facts: Facts) -> Iterator[Finding]:
    seen: list[Fact] = [
        *[one for one in facts.of(CallFailed) if one.library.lower() in _FOREIGN],
        *[one for one in facts.of(CompletionError) if one.library.lower() in _FOREIGN],
    ]
    seen += [
        one for one in facts.of(Message)
        if one.level == "error" and one.software.lower() in _FOREIGN
    ]  # fmt: skip
    begun = facts.any_of(BootstrapInterface, CommunicatorRank, NetworkChosen)
    if seen and not begun:
        yield finding(
            "mpi-ucx-not-nccl",
            seen,
            0.6,
            message="MPI's own transport failed; the collective library had not begun",
            advice="start the ranks over TCP: --mca pml ob1 --mca btl tcp,self, or UCX_TLS=tcp",
            next_command="mpirun --mca pml ob1 --mca btl tcp,self ...   # as before",
            missing=("NCCL_DEBUG=INFO output of a run with MPI over TCP",),
            explains=(Symptom.TRANSPORT_RETRY, Symptom.VERBS_CALL, "gid-index-wrong",
                      "fabric-path-unreachable"),
        )  # fmt: skip


other_transport = Rule(causes=("mpi-ucx-not-nccl",), check=_check)
