"""Headroom does not hold what still arrives after a pause was sent.

What it checks: the headroom of lossless priority groups against cable length, rate and MTU: the
bytes on the cable both ways and two frames always arrive; the answer of the peer and of the
chip come on top (a published table of the switch may say less, and then holds).
Why it matters: the rest is dropped, on the longest cables first, and only under load.
What to do: raise xoff for the longest cable of the port, or shorten the cable.
References: SONiC sonic-swss, buffer_headroom_mellanox.lua; IEEE 802.1Qbb annex O.
"""

from typing import Final

from weft import units
from weft.lint.facts import BufferProfile, CableLength, GroupUse, Port
from weft.lint.quality import lossless_profiles
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LIGHT_M_PER_S: Final = 198e6
_MTU_BYTES: Final = 9216
_QUANTUM_BYTES: Final = 64
_QUANTA: Final = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
_VENDORS_RATIO: Final = 0.4
"""Tables of vendors go down to this share of the whole sum. [sonic_headroom]"""


def _check(case: Case) -> Found:
    for switch in case.switches:
        speeds = {one.name: one for one in switch.of(Port)}
        lengths = {p: c for c in switch.of(CableLength) for p in c.ports}
        everywhere = next((c for c in switch.of(CableLength) if not c.ports), None)
        worst: dict[tuple[str, float, float], tuple[GroupUse, BufferProfile, CableLength]] = {}
        for use, profile in lossless_profiles(switch):
            for name in use.ports or tuple(speeds):
                port, cable = speeds.get(name), lengths.get(name, everywhere)
                if port and port.speed_gbit and cable:
                    key = (profile.name, port.speed_gbit, cable.length_m)
                    worst.setdefault(key, (use, profile, cable))
        for (_, gbit, length_m), (use, profile, cable) in worst.items():
            yield from _judge((use, profile, cable), gbit, length_m)


def _judge(
    seen: tuple[GroupUse, BufferProfile, CableLength], gbit: float, length_m: float
) -> Found:
    _, profile, cable = seen
    if profile.xoff_bytes is None:
        return
    flying = 2 * length_m / _LIGHT_M_PER_S * units.rate_from_gbit(gbit)
    least = flying + 2 * _MTU_BYTES
    quanta = _QUANTA[min((one for one in _QUANTA if one >= gbit), default=800)]
    whole_sum = least + quanta * _QUANTUM_BYTES
    need = max(least, _VENDORS_RATIO * whole_sum)
    if profile.xoff_bytes < need:
        yield problem(
            [profile, seen[0], cable],
            f"headroom {profile.xoff_bytes} B of {cable.device}: on "
            f"{length_m:g} m at {gbit:g} Gb/s {flying:.0f} B are on the cable and two "
            "frames follow, "
            f"{least:.0f} B at the least and {whole_sum:.0f} B with the peer's answer",
            f"raise xoff to {whole_sum:.0f} B or more",
        )


headroom_short = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-swss",
    check=_check,
)
