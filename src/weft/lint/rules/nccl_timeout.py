"""Time-outs or retries are set so that faults are hidden for minutes or end a job at once.

What it checks: NCCL_IB_TIMEOUT (4.096 us x 2^value, seven times) and NCCL_IB_RETRY_CNT.
Why it matters: below about 14 a route that moves ends the job; above 22 a dead link is found
after minutes; 0 waits for ever; fewer retries make every lost packet an error.
What to do: unset both: NCCL's defaults are 20 and 7.
References: NCCL user guide, NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT; IBTA, local ACK timeout.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_SHORT: Final = 14
_LONG: Final = 22
_RETRIES: Final = 7


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_TIMEOUT"):
        value = whole(one.value)
        if value is None:
            continue
        if value == 0 or value > _LONG:
            long = "for ever" if value == 0 else f"{4.096e-6 * 2**value * _RETRIES:.0f} s"
            yield problem(
                one, f"NCCL_IB_TIMEOUT={value}: a dead link is noticed after {long}", "unset it"
            )
        elif value < _SHORT:
            yield problem(
                one,
                f"NCCL_IB_TIMEOUT={value}: a short pause of the network ends the job",
                "unset it",
            )
    for one in case.variables("NCCL_IB_RETRY_CNT"):
        value = whole(one.value)
        if value is not None and 0 <= value < _RETRIES:
            yield problem(
                one,
                f"NCCL_IB_RETRY_CNT={value}: fewer repeats than the 7 there can be",
                "unset it",
            )


nccl_timeout = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
