"""Open MPI is told to leave loopback in, or to bind a rank to one core.

What it checks: btl_tcp_if_exclude without loopback; mpirun of NCCL jobs with --bind-to core.
Why it matters: the parameter replaces the default list: ranks of other hosts are called at
127.0.0.1 and mpirun hangs. A rank on one core shares it with NCCL's proxy thread, the loader of
data and the interrupts of its NIC.
What to do: begin the list with lo; --bind-to none, or numa.
References: Open MPI FAQ, TCP: btl_tcp_if_exclude; NCCL, CPU affinity.
"""

from weft.lint.facts import Launch
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_TOOLS = frozenset({"mpirun", "mpiexec", "orterun"})


def _check(case: Case) -> Found:
    for one in case.of(Launch):
        if one.tool not in _TOOLS:
            continue
        for name, value in zip(one.words, one.words[1:], strict=False):
            listed = {part.partition("%")[0] for part in value.split(",")}
            if name == "btl_tcp_if_exclude" and not any(_is_loopback(part) for part in listed):
                yield problem(
                    one, f"btl_tcp_if_exclude {value[:60]} leaves loopback in", "add lo to it"
                )
            elif name in {"--bind-to", "-bind-to"} and value == "core" and _of_gpus(one):
                yield problem(
                    one,
                    "each rank is bound to one core, beside NCCL's own threads",
                    "--bind-to none, or numa",
                    severity=Severity.WARNING,
                )


def _is_loopback(part: str) -> bool:
    return part in {"lo", "loopback"} or part.startswith("127.")


def _of_gpus(one: Launch) -> bool:
    return any("NCCL_" in word or "_perf" in word or "torch" in word for word in one.words)


launch_mpi = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://www.open-mpi.org/faq/?category=tcp",
    check=_check,
)
