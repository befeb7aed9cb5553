"""Two ports share a lane, or a port has none.

What it checks: lanes of SONiC's PORT table: each at most once, and as many as others of the
same speed have.
Why it matters: the switch stops at boot, or one of the ports never comes up.
What to do: lanes as platform.json of the switch gives them.
References: SONiC, PORT lanes; platform.json.
"""

from collections import Counter

from weft.lint.facts import Port
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        taken: dict[int, Port] = {}
        widths: dict[float | None, Counter[int]] = {}
        rows = [one for one in switch.of(Port) if one.lanes]
        for one in rows:
            widths.setdefault(one.speed_gbit, Counter())[len(one.lanes)] += 1
            for lane in one.lanes:
                first = taken.setdefault(lane, one)
                if first is not one:
                    yield problem(
                        [one, first],
                        f"{one.name} and {first.name} of {switch.name} share lane {lane}",
                        "give each its own lanes",
                    )
                    break
        for one in rows:
            usual = widths[one.speed_gbit].most_common(1)[0][0]
            if len(one.lanes) != usual:
                yield problem(
                    one,
                    f"{one.name} of {switch.name} has {len(one.lanes)} lanes, its like {usual}",
                    "give it as many",
                )


link_lanes = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/tree/master/src/sonic-yang-models",
    check=_check,
)
