"""FRR has a configuration of BGP, and its BGP daemon is not started.

What it checks: /etc/frr/daemons beside frr.conf.
Why it matters: no session comes up, and nothing says why: the lines of BGP are not even read.
What to do: bgpd=yes.
References: FRR, basic setup.
"""

from weft.lint.facts import Speaker
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    speakers = [one for one in case.of(Speaker) if "frr" in one.at.text.stem]
    for one in case.options("frr", "bgpd"):
        if one.value == "no" and speakers:
            yield problem(
                [one, speakers[0]], "bgpd is not started, and frr.conf needs it", "bgpd=yes"
            )


bgp_daemon_off = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://docs.frrouting.org/en/latest/setup.html",
    check=_check,
)
