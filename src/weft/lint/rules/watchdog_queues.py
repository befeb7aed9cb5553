"""The watchdog does not watch the queues that PFC pauses.

What it checks: the queues of the PFC watchdog on every port against its PFC priorities.
Why it matters: a storm in an unwatched queue is never broken: it spreads through the fabric
until everything stands.
What to do: watch exactly the lossless queues.
References: SONiC, PFC watchdog; edge-core/sonic-buildimage pull request 689.
"""

from collections.abc import Iterable

from weft.lint.facts import Map, Pause, Watchdog
from weft.lint.quality import overlap, table, target
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        rows = table(switch, Map.PAUSE_TO_QUEUE)
        for pause in switch.of(Pause):
            wanted = {target(rows, one) for one in pause.priorities}
            for dog in switch.of(Watchdog):
                if dog.queues is None or dog.poll_ms is not None:
                    continue
                if overlap(dog.ports, pause.ports) and set(dog.queues) != wanted:
                    yield problem(
                        [dog, pause],
                        f"{switch.name} watches queue {_list(dog.queues)}, and PFC "
                        f"pauses {_list(sorted(wanted))}",
                        "watch what is paused",
                    )


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


watchdog_queues = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/SONiC/wiki/PFC-Watchdog",
    check=_check,
)
