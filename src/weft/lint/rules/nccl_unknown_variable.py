"""A variable looks like one of NCCL's, and nothing reads it.

What it checks: every NCCL_ variable against the user guide, the names in the library itself,
and the prefixes of the usual plug-ins.
Why it matters: a misspelt variable is silently ignored, so the cluster runs without the setting
that somebody believes is on.
What to do: correct the name, or remove the line.
References: NCCL user guide, environment variables; strings of libnccl 2.27.7 and 2.32.3.
"""

from difflib import get_close_matches

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import RENAMED, documented, exists


def is_read(one: Variable) -> bool:
    """Return whether the script that sets a variable reads it itself."""
    text = one.at.text.content
    return f"${one.name}" in text or f"${{{one.name}" in text


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        named = one.name.startswith("NCCL_") and one.name not in RENAMED
        if named and not exists(one.name) and not is_read(one):
            near = get_close_matches(one.name, documented(), n=1, cutoff=0.8)
            meant = f"write {near[0]}, if that is meant" if near else "remove it"
            yield problem(one, f"nothing reads {one.name}", meant)


nccl_unknown_variable = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
