"""A file is not the YAML, JSON or XML that its name promises.

What it checks: syntax, keys that stand twice, nesting and size.
Why it matters: whoever applies the file stops there, or reads half of it; of a key that stands
twice one value is silently lost.
What to do: correct the line.
References: YAML 1.2.2; RFC 8259 (JSON); XML 1.0.
"""

from weft.lint.facts import Flaw
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Flaw):
        if one.rule == "broken_document":
            yield problem(one, one.message, one.fix)


broken_document = Rule(
    layer=Layer.FILES,
    severity=Severity.ERROR,
    reference="https://yaml.org/spec/1.2.2/",
    check=_check,
)
