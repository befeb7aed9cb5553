"""BGP waits no longer for a sign of life than signs take to come.

What it checks: the hold time against the keepalive interval.
Why it matters: one late keepalive, as behind a pause, ends the session: the leaf is gone for
seconds, and jobs with it.
What to do: hold for three keepalives: 3 and 9 s are usual in data centres.
References: RFC 4271, section 4.4.
"""

from typing import Final

from weft.lint.facts import Timers
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_SIGNS: Final = 3


def _check(case: Case) -> Found:
    for one in case.of(Timers):
        short = one.hold_s < one.keepalive_s * _SIGNS and one.hold_s > 0
        if short:
            yield problem(
                one,
                f"{one.device} says every {one.keepalive_s} s that it lives, and waits "
                f"{one.hold_s} s for it",
                f"hold for {one.keepalive_s * _SIGNS} s",
                severity=Severity.ERROR if one.hold_s <= one.keepalive_s else None,
            )


bgp_timers = Rule(
    layer=Layer.ROUTING,
    severity=Severity.WARNING,
    reference="https://www.rfc-editor.org/rfc/rfc4271",
    check=_check,
)
