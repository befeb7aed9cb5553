"""A configuration refers to something that it does not define.

What it checks: profiles, pools, maps, policies, route maps and peer groups that are named and
not there.
Why it matters: the device refuses the file, or leaves the setting out: a port without a map
treats all traffic as best effort.
What to do: define it, or correct the name.
References: SONiC YANG models (references); vendors' guides.
"""

from weft.lint.facts import Wanted
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Wanted):
        yield problem(
            one,
            f"{one.device} refers to {one.what} {one.name!r}, which is not there",
            "define it, or correct the name",
        )


reference_missing = Rule(
    layer=Layer.FILES,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/tree/master/src/sonic-yang-models",
    check=_check,
)
