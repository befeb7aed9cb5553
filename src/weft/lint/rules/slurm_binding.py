"""A batch script gives each rank its own GPU alone.

What it checks: --gpus-per-task and --gpu-bind in scripts and launches with several tasks a
node.
Why it matters: ranks that do not see one another's GPUs cannot use peer access: NVLink is left
for host memory.
What to do: --gpus-per-node and --gpu-bind=none; choose the GPU by local rank.
References: sbatch(1); NCCL, peer access over visible devices.
"""

from weft.lint.facts import Launch
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.options("sbatch", "gpus-per-task", "gpu-bind"):
        if one.name == "gpus-per-task" or one.value not in {"none", "verbose,none"}:
            yield problem(
                one,
                f"--{one.name}={one.value} hides the other GPUs of the host",
                "use --gpus-per-node and --gpu-bind=none",
            )
    for launch in case.of(Launch):
        if launch.tool != "srun":
            continue
        for word in launch.words:
            name, _, value = word.partition("=")
            if name == "--gpus-per-task" or (name == "--gpu-bind" and value != "none"):
                yield problem(
                    launch, f"{word} hides the other GPUs of the host", "use --gpu-bind=none"
                )


slurm_binding = Rule(
    layer=Layer.SLURM,
    severity=Severity.WARNING,
    reference="https://slurm.schedmd.com/sbatch.html",
    check=_check,
)
