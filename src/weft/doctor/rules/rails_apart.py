"""Rails cannot reach one another, and a ring had to cross them.

What it checks: failures whose two ends lie in different subnets while the host's adapters lie
in one subnet a rail, and transfers within each rail do not fail; pings between many pairs;
runs that pass on even numbers of hosts and fail on odd ones.
Why it matters: it works with an even number of hosts and fails with an odd one, or only for
one algorithm, so nobody suspects the addresses.
What to do: NCCL_CROSS_NIC=0, or route between the rails.
References: NCCL user guide, NCCL_CROSS_NIC; rail-only networks, Wang et al. 2023.
"""

import re
from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.reach import are_rails, reach
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.reading import Opening

_RUN = re.compile(
    r"\b(?:run|test|job|log|out|nodes?|hosts?|n|np)?[_-]?(?P<count>\d{1,4})"
    r"(?:n|nodes?|hosts?)?\.(?:log|txt|out)\b(?P<rest>.*)|"
    r"(?<![\d.])(?P<said>\d{1,4}) (?:nodes?|hosts?|servers|machines|pods)\b(?P<told>.*)"
)
"""A run by its number of hosts: in the name of its output, or in words."""
_PASSED = re.compile(
    r"\b(?:ok|okay|works?|worked|fine|pass(?:es|ed)?|runs|completes?|completed|success\w*|"
    r"succe\w+)\b|\bbandwidth\b\W{1,8}\d|\d ?G[Bb](?:/s|ps)|out of bounds values : 0",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:fail\w*|hangs?|hung|errors?|timed? ?out|time-?outs?|crash\w*|abort\w*|stuck|"
    r"error 12|not)\b",
    re.IGNORECASE,
)
_LISTS_FAILED = re.compile(r"\bgrep -\w*l\w* .{0,80}(?:fail|error|timeout|WARN)", re.IGNORECASE)
_ODD = re.compile(
    r"^.{0,160}\bodd (?:numbers?|(?:node|host)? ?counts?|amounts?|nodes|hosts|sizes)\b.{0,60}"
    r"\b(?:fail|hang|hung|error|time|crash|stuck|abort|break).{0,120}|"
    r"^.{0,160}\b(?:fail|hang|hung|error|time|crash|stuck|abort|break).{0,60}"
    r"\bodd (?:numbers?|(?:node|host)? ?counts?|amounts?|nodes|hosts)\b.{0,120}",
    re.IGNORECASE | re.MULTILINE,
)
_FEWEST = 2
"""So many odd numbers that fail and even ones that pass are no chance."""
_LONGEST = 300
_REACHED_ALL_THE_SAME = 0.3
"""How sure it is where pings do pass from one rail to the other."""


def _check(facts: Facts) -> Iterator[Finding]:
    yield from _odd_numbers(facts)
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


def _odd_numbers(facts: Facts) -> Iterator[Finding]:
    """Find jobs that pass on even numbers of hosts and fail on odd ones.

    Rings alternate between rails on the way round: with an odd number one step must cross.
    """
    passed, failed = _by_number(facts)
    even = [fact for count, fact in passed.items() if count % 2 == 0]
    odd = [fact for count, fact in failed.items() if count % 2]
    parted = all(not n % 2 or n == 1 for n in passed) and all(n % 2 for n in failed)
    said = [
        one for one in job.told(facts, _ODD)
        if re.search(r"node|host|machine|server", one.evidence.text, re.IGNORECASE)
    ]  # fmt: skip
    seen = [*odd, *even] if parted and len(odd) >= _FEWEST and len(even) >= _FEWEST else said
    if seen:
        yield finding(
            "rail-isolated",
            seen,
            0.65 if seen is not said else 0.6,
            message="it passes on even numbers of hosts and fails on odd ones, where a ring "
            "has to cross from one rail to another",
            advice="NCCL_CROSS_NIC=0, or route between the subnets of the rails",
            next_command="NCCL_CROSS_NIC=0 for one run; ping -I <interface> <peer of another "
            "rail>",
            missing=("whether an adapter reaches a peer's adapter of another rail",),
            explains=(Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG,
                      "fabric-path-unreachable", "peer-process-died"),
        )  # fmt: skip


def _by_number(facts: Facts) -> tuple[dict[int, Fact], dict[int, Fact]]:
    """Return what lines say of runs with each number of hosts: those that passed and failed."""
    passed: dict[int, Fact] = {}
    failed: dict[int, Fact] = {}
    for one in facts.of(Opening):
        listing = False
        for number, line in enumerate(one.text.split("\n"), 1):
            found = _RUN.search(line) if len(line) < _LONGEST else None
            listing = listing or _LISTS_FAILED.search(line[:_LONGEST]) is not None
            if not found or not line.strip():
                continue
            count = int(found["count"] or found["said"])
            rest = (found["rest"] or found["told"] or "").strip()
            fact = Opening(line, Evidence(one.evidence.file, number, line.strip()))
            if _FAILED.search(rest) or (listing and not rest):
                failed.setdefault(count, fact)
            elif _PASSED.search(rest):
                passed.setdefault(count, fact)
    return passed, failed


rails_apart = Rule(causes=("rail-isolated",), check=_check)
