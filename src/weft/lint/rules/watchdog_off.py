"""PFC is on, and no watchdog breaks a storm.

What it checks: ports that pause a priority, without a watchdog, or with one that is off or only
reports.
Why it matters: one broken NIC that sends pauses for ever stops its switch, then the switches
before it, then the job.
What to do: switch the watchdog on, with the action drop, on every port with PFC.
References: SONiC, PFC watchdog; Guo et al., SIGCOMM 2016, section 4.3.
"""

from weft.lint.facts import Pause, Port, Watchdog
from weft.lint.quality import overlap
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        on = [one for one in switch.of(Pause) if one.priorities]
        dogs = [one for one in switch.of(Watchdog) if one.detection_ms or one.queues != ()]
        if on and not dogs:
            yield problem(on, f"{switch.name} pauses without a watchdog", "switch it on")
            continue
        for dog in dogs:
            if not dog.on and any(overlap(dog.ports, one.ports) for one in on):
                yield problem(dog, f"the watchdog of {switch.name} is off", "switch it on")
            elif dog.action and dog.action not in {"drop", "errdisable"}:
                yield problem(
                    dog, f"the watchdog's action {dog.action} lets a storm go on", "use drop"
                )
        yield from _unwatched(switch, on, dogs)


def _unwatched(switch: Device, on: list[Pause], dogs: list[Watchdog]) -> Found:
    timed = [dog for dog in dogs if dog.detection_ms is not None and dog.ports]
    enabled = [dog for dog in dogs if dog.detection_ms is None and dog.ports and dog.on]
    cabled = {one.name for one in switch.of(Port) if one.peer}
    paused = {port for one in on for port in one.ports or cabled}
    for kind in (timed, enabled):
        named = {port for dog in kind for port in dog.ports}
        missing = sorted(paused - named)
        if missing and len(named & paused) * 2 > len(paused):
            shown = next((one for one in on if missing[0] in one.ports), on[0])
            yield problem(
                [shown, kind[0]],
                f"{len(missing)} ports of {switch.name} pause without a "
                f"watchdog, {missing[0]} first",
                "watch every port with PFC",
            )


watchdog_off = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.WARNING,
    reference="https://github.com/sonic-net/SONiC/wiki/PFC-Watchdog",
    check=_check,
)
