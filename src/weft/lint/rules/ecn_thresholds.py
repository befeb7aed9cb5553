"""The thresholds of ECN are in the wrong order, or their slope is useless.

What it checks: Kmin below Kmax, both above a frame, probability between 1 and 100 %, a Kmax of
at least twice Kmin where the slope is to mean anything.
Why it matters: with Kmin at or above Kmax marking jumps or never begins; at 0 % nobody is told.
What to do: Kmin 150 kB or a quarter of the bandwidth-delay product, Kmax several times that.
References: Zhu et al., SIGCOMM 2015, section 5; NVIDIA Cumulus, RoCE.
"""

from typing import Final

from weft.lint.facts import Marking
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_FRAME_BYTES: Final = 9216


def _check(case: Case) -> Found:
    for one in case.of(Marking):
        low, high = one.kmin_bytes, one.kmax_bytes
        name = f"ECN of {one.device} {one.name}".rstrip()
        if low is not None and high is not None and low >= high:
            yield problem(
                one,
                f"{name}: Kmin {low:g} B is not below Kmax {high:g} B",
                "put Kmin below Kmax",
            )
        elif low is not None and 0 < low < _FRAME_BYTES:
            yield problem(
                one,
                f"{name}: Kmin {low:g} B is less than one frame of 9216 B: it marks "
                "whatever waits",
                "raise Kmin",
                severity=Severity.WARNING,
            )
        if one.ecn and (low is None) is not (high is None):
            missing = "Kmin" if low is None else "Kmax"
            yield problem(one, f"{name}: there is no {missing}", f"set {missing}")
        chance = one.pmax_percent
        if chance is not None and not 0 < chance <= 100:  # noqa: PLR2004 - per cent
            yield problem(
                one, f"{name}: a probability of {chance:g} % at Kmax", "use 5 to 100 %"
            )
        elif chance is not None and chance < 1:
            yield problem(
                one,
                f"{name}: a probability of {chance:g} % marks hardly any packet",
                "use 5 to 100 %",
                severity=Severity.WARNING,
            )


ecn_thresholds = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
)
