"""A variable came after the version of NCCL in use.

What it checks: the version that a variable came with, against the version that a cluster
document, NCCL_VERSION or --nccl names.
Why it matters: the library does not know the name and ignores it.
What to do: use a newer NCCL, or do without the setting.
References: NCCL user guide, environment variables (the versions stand with each).
"""

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import documented


def _check(case: Case) -> Found:
    if case.nccl is None:
        return
    in_use = ".".join(map(str, case.nccl))
    for one in case.of(Variable):
        known = documented().get(one.name)
        if known is not None and known.since > case.nccl:
            came = ".".join(map(str, known.since))
            yield problem(
                one,
                f"{one.name} came with NCCL {came}; in use is {in_use}",
                "use a newer NCCL, or remove it",
            )


nccl_newer_variable = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
