"""A class without PFC shares the queue or the priority group of one with it.

What it checks: classes that are not paused and whose queue, or priority group, is that of a
paused one.
Why it matters: traffic that nobody slows down fills the buffer of the lossless class: pauses
come from it, and storage or web traffic stops RDMA.
What to do: keep queue and priority group of the lossless class for itself.
References: SONiC, TC_TO_PRIORITY_GROUP_MAP; IEEE 802.1Q, traffic classes.
"""

from weft.lint.facts import Map
from weft.lint.quality import lossless_queues, paused, table, target
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        classes = paused(switch)
        groups = table(switch, Map.PAUSE_TO_GROUP)
        lossless = {
            Map.CLASS_TO_QUEUE: lossless_queues(switch),
            Map.CLASS_TO_GROUP: {target(groups, one) for one in classes},
        }
        for kind, targets in lossless.items():
            rows = table(switch, kind)
            held = {target(rows, one) for one in classes}
            for source, row in rows.items() if classes else ():
                if source not in classes and row.target in targets & held:
                    what = kind.value.rpartition(" to ")[2]
                    yield problem(
                        row,
                        f"class {source} of {switch.name} is not paused and shares "
                        f"{what} {row.target} with a class that is",
                        f"give it another {what}",
                    )


lossy_in_lossless = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/SONiC/wiki/Configuration",
    check=_check,
)
