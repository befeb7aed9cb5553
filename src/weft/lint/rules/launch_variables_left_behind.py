"""Variables are exported in a script, or set in a launcher, and mpirun does not pass them on.

What it checks: NCCL variables that a script exports before an mpirun of Open MPI, or that the
launcher of an MPIJob has in its environment, without -x for them (and without a prefix of
-x NCCL_*, --export or a list in a parameter).
Why it matters: Open MPI starts processes on other hosts with the environment of their login:
rank 0 has the settings, the others do not.
What to do: add -x NAME for each, or put them into /etc/nccl.conf.
References: mpirun(1) of Open MPI, -x.
"""

from weft.lint.facts import Launch, Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import exists


def _check(case: Case) -> Found:
    for launch in case.of(Launch):
        operated = launch.device.startswith("MPIJob")
        if launch.tool not in {"mpirun", "orterun"} or (_single(launch) and not operated):
            continue
        passed = {
            word.partition("=")[0]
            for flag, word in zip(launch.words, launch.words[1:], strict=False)
            if flag in {"-x", "--x", "-genv", "-env"}
        }
        text = " ".join(launch.words)
        if "mca_base_env_list" in text or "-genvall" in text or "$" in "".join(passed):
            continue
        here = [
            one
            for one in case.of(Variable)
            if one.at.text is launch.at.text
            and one.device == launch.device
            and one.name.startswith(("NCCL_", "UCX_", "TORCH_NCCL_"))
            and (operated or one.at.line < launch.at.line)
            and one.name not in passed
            and not (one.name.startswith("NCCL_") and not exists(one.name))
            and not one.everywhere
        ]
        if here:
            names = ", ".join(sorted({one.name for one in here}))
            yield problem(
                [launch, *here],
                f"mpirun does not pass on {names}",
                "add -x for each, or use /etc/nccl.conf",
            )


def _single(launch: Launch) -> bool:
    """Return whether all processes are on this host: no hosts are named."""
    return not any(
        word in launch.words
        for word in (
            "-H",
            "--host",
            "-host",
            "--hostfile",
            "-hostfile",
            "--machinefile",
            "-machinefile",
        )
    )


launch_variables_left_behind = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html",
    check=_check,
)
