"""JSON inside a manifest is broken.

What it checks: configurations of device plug-ins and networks that are JSON in a string.
Why it matters: the API server takes any string: the plug-in crashes, or the network is never
made.
What to do: correct the JSON.
References: NVIDIA network operator; Multus, NetworkAttachmentDefinition.
"""

from weft.lint.facts import Flaw
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Flaw):
        if one.rule == "embedded_json":
            yield problem(one, one.message, one.fix)


embedded_json = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/kubernetes2640/index.html",
    check=_check,
)
