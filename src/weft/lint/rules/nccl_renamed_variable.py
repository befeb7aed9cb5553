"""A variable goes by another name now.

What it checks: variables that PyTorch 2.2 took over under its own name, and names that NCCL
gave up for others.
Why it matters: the old name is ignored or warned about, and what it switched is at its default.
What to do: write the new name.
References: PyTorch, ProcessGroupNCCL environment variables; NCCL release notes.
"""

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import RENAMED


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        new = RENAMED.get(one.name)
        if new is not None:
            yield problem(one, f"{one.name} is called {new} now", f"write {new}={one.value}")


nccl_renamed_variable = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html",
    check=_check,
)
