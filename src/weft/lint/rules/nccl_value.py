"""A variable has a value that NCCL does not accept.

What it checks: numbers, ranges, switches and words against the user guide.
Why it matters: NCCL reads whatever is no number as 0, without a word: queue pairs become 0, a
time-out becomes infinite.
What to do: give a value that the guide names.
References: NCCL user guide, environment variables; ncclParam reads numbers with strtoll.
"""

from typing import Final

import re2

from weft.lint.document import whole
from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem
from weft.lint.variables import Known, documented

_RANGE: Final = re2.compile(r"(\d+)\.\.(\d+)")
_CHOICES: Final = re2.compile(r"[A-Za-z0-9_:]+(?:, [A-Za-z0-9_:]+)+")
_LEVELS: Final = frozenset({"0", "1", "2", "3", "4", "5"})
_NUMBERS: Final = frozenset({"int", "int32", "int64", "uint64", "bytes", "bool"})


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        known = documented().get(one.name)
        if known is None or not one.value or "$" in one.value:
            continue
        wrong = _wrong(known, one.value.strip())
        if wrong:
            yield problem(
                one,
                f"{one.name}={one.value}: {wrong}",
                f"the user guide accepts: {known.accepted}",
            )


def _wrong(known: Known, value: str) -> str:
    if known.kind in _NUMBERS:
        return _wrong_number(known, value)
    if known.kind != "enum" or ":" in known.accepted:
        return ""
    words = re2.sub(r"\(.*", "", known.accepted).strip()
    if _CHOICES.fullmatch(words) and value.upper() not in words.upper().split(", "):
        legacy = "legacy" in known.accepted and value in _LEVELS
        return "" if legacy or value.upper() == "ABORT" else "is none of its words"
    return ""


def _wrong_number(known: Known, value: str) -> str:
    digits = whole(value)
    if digits is None:
        return "is no number, and NCCL reads 0"
    if known.kind == "bool":
        return "" if digits in {0, 1} else "is neither 0 nor 1"
    span = _RANGE.match(known.accepted)
    if span and not int(span[1]) <= digits <= int(span[2]) and "-1" not in known.accepted:
        return f"lies outside {span[1]} to {span[2]}"
    if known.accepted.startswith((">0", ">=1")) and digits < 1:
        return "is to be 1 or more"
    choices = re2.fullmatch(r"\d(?:, \d)+", known.accepted)
    return "is none of its values" if choices and value not in known.accepted else ""


nccl_value = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
