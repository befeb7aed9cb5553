"""Shares of the buffer are such that the egress drops before the ingress pauses.

What it checks: alpha (dynamic_th) of the lossless ingress group and of the lossless egress
queue; alpha beyond 2^4 or below 2^-5 at the ingress.
Why it matters: the egress side of a lossless class must never be the one that says no: it
drops, and PFC has no part in it. A tiny ingress share pauses at every burst; a huge one lets
one port take all.
What to do: egress lossless at 2^7 (as good as unlimited), ingress between 2^-3 and 2^1.
References: SONiC, buffers_config.j2; Broadcom and NVIDIA, dynamic thresholds.
"""

from typing import Final

from weft.lint.facts import BufferProfile, GroupUse
from weft.lint.quality import lossless_profiles, lossless_queues
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_HIGH: Final = 4
_LOW: Final = -5


def _check(case: Case) -> Found:
    for switch in case.switches:
        profiles = {one.name: one for one in switch.of(BufferProfile)}
        queues = lossless_queues(switch)
        ingress = [profile for _, profile in lossless_profiles(switch)]
        for profile in {one.name: one for one in ingress}.values():
            alpha = profile.alpha_exponent
            if alpha is not None and not _LOW <= alpha <= _HIGH:
                said = "one port may take all" if alpha > 0 else "every burst is a pause"
                yield problem(
                    profile,
                    f"alpha 2^{alpha:g} of {profile.name} on {switch.name}: {said}",
                    "use 2^-3 to 2^1",
                )
        for use in switch.of(GroupUse):
            held = profiles.get(use.profile)
            if use.ingress or use.group not in queues or held is None:
                continue
            alpha = held.alpha_exponent
            most = max(
                (one.alpha_exponent for one in ingress if one.alpha_exponent is not None),
                default=None,
            )
            if alpha is not None and most is not None and alpha <= most:
                yield problem(
                    [use, held, *ingress[:1]],
                    f"egress of the lossless queue {use.group} on "
                    f"{switch.name} has alpha 2^{alpha:g}, not above the ingress's "
                    f"2^{most:g}: it drops before anybody is paused",
                    "use 2^7",
                    severity=Severity.ERROR,
                )
                break


buffer_alpha = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.WARNING,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
