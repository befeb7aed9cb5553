"""Two ports say that the same cable ends at them.

What it checks: descriptions of ports that name a peer and its port, within one fleet of
switches.
Why it matters: a cable has two ends: one of the two descriptions is wrong, and who follows it
pulls the wrong cable.
What to do: describe the port by what LLDP sees.
References: IEEE 802.1AB.
"""

from weft.lint.facts import Port
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        first: dict[tuple[str, str], Port] = {}
        for switch in fleet:
            for one in switch.of(Port):
                if not one.peer_port or not any(letter.isdigit() for letter in one.peer_port):
                    continue
                other = first.setdefault((one.peer, one.peer_port), one)
                if (other.device, other.name) != (one.device, one.name):
                    yield problem(
                        [one, other],
                        f"{other.device} {other.name} and {one.device} {one.name} are both "
                        f"cabled to {one.peer} {one.peer_port}",
                        "correct one of the descriptions",
                    )


link_peer_twice = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://standards.ieee.org/ieee/802.1AB/6047/",
    check=_check,
)
