"""The times of the watchdog do not fit one another.

What it checks: detection not shorter than polling, restoration not shorter than detection's
half, both between 10 ms and 5 s.
Why it matters: detection below polling never fires or fires by chance; short ones call every
incast a storm and drop it; long ones let a storm spread.
What to do: 200 ms each, more on switches with very many ports.
References: SONiC, PFC watchdog (pfcwd start_default); YANG model of PFC_WD.
"""

from typing import Final

from weft.lint.facts import Watchdog
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_SHORT_MS: Final = 10
_LONG_MS: Final = 5000


def _check(case: Case) -> Found:
    for one in case.of(Watchdog):
        detection, restoration = one.detection_ms, one.restoration_ms
        if detection is None:
            continue
        if one.poll_ms is not None and detection < one.poll_ms:
            yield problem(
                one,
                f"detection {detection:g} ms is shorter than polling {one.poll_ms:g} ms",
                "raise detection",
                severity=Severity.ERROR,
            )
        if not _SHORT_MS <= detection <= _LONG_MS:
            yield problem(
                one,
                f"detection {detection:g} ms: {_LONG_MS} ms at the most, and not "
                f"under {_SHORT_MS} ms",
                "use 200 ms",
            )
        if restoration is not None and not detection / 2 <= restoration <= 5 * detection:
            yield problem(
                one,
                f"restoration {restoration:g} ms beside detection {detection:g} ms: "
                "a storm comes back at once, or traffic stays cut off",
                "use the same time for both",
            )


watchdog_times = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.WARNING,
    reference="https://github.com/sonic-net/SONiC/wiki/PFC-Watchdog",
    check=_check,
)
