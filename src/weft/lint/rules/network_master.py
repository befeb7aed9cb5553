"""Two networks of different rails hang on the same interface of the host.

What it checks: the masters of macvlan and IPoIB networks that pods are attached to together.
Why it matters: two rails of a pod share one NIC, and another NIC is unused: half the bandwidth,
and addresses of a rail on the wrong leaf.
What to do: one interface for each rail.
References: NVIDIA network operator, MacvlanNetwork and IPoIBNetwork.
"""

from typing import Final

import re2

from weft.lint.facts import Network, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_DIGITS: Final = re2.compile(r"\d+")


def _check(case: Case) -> Found:
    together = [
        {name.rpartition("/")[2].partition("@")[0] for name in one.networks}
        for one in case.of(Workload)
    ]
    seen: dict[str, Network] = {}
    for one in case.of(Network):
        if not one.master:
            continue
        first = seen.setdefault(one.master, one)
        alike = _DIGITS.sub("#", first.name) == _DIGITS.sub("#", one.name)
        used = any({first.name, one.name} <= names for names in together)
        if first.name != one.name and (used or alike):
            yield problem(
                [one, first],
                f"{first.name} and {one.name} both hang on {one.master}",
                "give each rail its own interface",
            )


network_master = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/kubernetes/customizations/crds.html",
    check=_check,
)
