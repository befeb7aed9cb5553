"""A switch says that it is two models: profiles of another one are loaded.

What it checks: the model number in hwsku against that in platform.
Why it matters: ports, lanes and buffers of the wrong model: the configuration is refused, or
ports stay down.
What to do: take hwsku from the switch itself (show platform summary).
References: SONiC, DEVICE_METADATA.
"""

from typing import Final

import re2

from weft.lint.facts import Hardware
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MODEL: Final = re2.compile(r"(?i)sn(\d{4})")


def _check(case: Case) -> Found:
    for one in case.of(Hardware):
        name, platform = (_MODEL.search(text) for text in (one.name, one.platform))
        if name and platform and name[1] != platform[1]:
            yield problem(
                one,
                f"{one.device} has the profile of an SN{name[1]} and is an SN{platform[1]}",
                "use the hwsku of its own model",
            )


switch_model = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
