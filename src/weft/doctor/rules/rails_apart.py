"""Rails cannot reach one another, and a ring had to cross them.

What it checks: failures whose two ends lie in different subnets while the host's adapters lie
in one subnet a rail, and transfers within each rail do not fail; pings between many pairs.
Why it matters: it works with an even number of hosts and fails with an odd one, or only for
one algorithm, so nobody suspects the addresses.
What to do: NCCL_CROSS_NIC=0, or route between the rails.
References: NCCL user guide, NCCL_CROSS_NIC; rail-only networks, Wang et al. 2023.
"""

from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.reach import are_rails, reach
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding

_REACHED_ALL_THE_SAME = 0.3
"""How sure it is where pings do pass from one rail to the other."""


def _check(facts: Facts) -> Iterator[Finding]:
    ends = [
        (one, links.subnet(one.local_gid), links.subnet(one.remote_gid))
        for one in links.pairs(facts)
    ]
    known = [(one, here, there) for one, here, there in ends
             if here is not None and there is not None]  # fmt: skip
    crossing = [end for end in known if end[1] != end[2]]
    tried = reach(facts)
    if len(crossing) < len(known) or (not crossing and not tried.rails_apart):
        return
    if tried.lost_within or tried.lost_alone:
        return  # what is lost does not cross
    rails = {here for _, here, _ in known} & {there for _, _, there in known}
    never = [one for one in job.settings(facts, "NCCL_CROSS_NIC") if one.value == "0"]
    sure = 0.5 if never else 0.75 if rails else 0.55
    if tried.rails_apart:
        sure = max(sure, 0.85 if crossing else 0.65)
    elif are_rails(facts, [(here, there) for _, here, there in crossing]):
        sure = max(sure, 0.75 if not never else 0.5)
    elif tried.met_across:
        sure = _REACHED_ALL_THE_SAME
    yield finding(
        "rail-isolated",
        [*(one for one, _, _ in crossing), *tried.lost_across, *never],
        sure,
        severity=Severity.ERROR if crossing else Severity.WARNING,
        message="only transfers from one rail's subnet to another's fail",
        advice="route between the subnets of the rails: rings cross them in spite of "
        "NCCL_CROSS_NIC=0 where the hosts are not alike"
        if never
        else "NCCL_CROSS_NIC=0, or route between the subnets of the rails",
        next_command="NCCL_CROSS_NIC=0 for one run; ping -I <interface> <peer of another rail>",
        missing=("whether ib_write_bw passes between the two adapters",),
        explains=(Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, "fabric-path-unreachable"),
    )


rails_apart = Rule(causes=("rail-isolated",), check=_check)
