"""A line of nccl.conf is not what NCCL reads.

What it checks: quotes, spaces, export, comments after the first column, lines without =.
Why it matters: NCCL takes everything after = as it stands, quotes too: the value is wrong or
the line is dropped, without a word.
What to do: write NAME=value from the first column on.
References: NCCL user guide, configuration files; param.cc of NCCL.
"""

from weft.lint.facts import Flaw
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Flaw):
        if one.rule == "nccl_conf_syntax":
            yield problem(one, one.message, one.fix)


nccl_conf_syntax = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
