"""A variable was removed or is given up in the version of NCCL in use.

What it checks: variables that the user guide calls removed or deprecated, against the version
in use; without a version, against the newest.
Why it matters: a removed variable does nothing; a deprecated one will, one upgrade later.
What to do: use what the guide names in its place, or remove the line.
References: NCCL user guide, environment variables.
"""

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import documented, version


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        known = documented().get(one.name)
        if known is None or not known.ended:
            continue
        since = version(known.ended)
        if case.nccl is None or since <= case.nccl:
            yield problem(one, f"{one.name}: {known.ended}", "remove it, or use its successor")


nccl_removed_variable = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
