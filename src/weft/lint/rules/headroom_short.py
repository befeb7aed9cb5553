"""Headroom does not hold what still arrives after a pause was sent.

What it checks: the headroom of lossless priority groups against cable length, rate and MTU: the
bytes on the cable both ways and two frames always arrive; the answer of the peer and of the
chip come on top (a published table of the switch may say less, and then holds). Where ports of
one rate share a profile, it is the whole sum for those whose cable is longer than the others'.
Why it matters: the rest is dropped, on the longest cables first, and only under load.
What to do: raise xoff for the longest cable of the port, or shorten the cable.
References: SONiC sonic-swss, buffer_headroom_mellanox.lua; IEEE 802.1Qbb annex O.
"""

from typing import Final

import re2

from weft import units
from weft.generate.headroom import (
    LIGHT_M_PER_S,
    MAC_BYTES,
    QUANTA,
    QUANTUM_BYTES,
    SMALL_RATIO,
    TILE_BYTES_PER_GBIT,
)
from weft.lint.facts import BufferProfile, CableLength, GroupUse, Hardware, Port
from weft.lint.quality import lossless_profiles
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_SN5000: Final = re2.compile(r"SN5\d{3}")
_MTU_BYTES: Final = 9216
_VENDORS_RATIO: Final = 0.4
"""Tables of vendors go down to this share of the whole sum. [sonic_headroom]"""
_OCCUPANCY_RATIO: Final = 1 + 2 * SMALL_RATIO
"""Cells that small packets do not fill, of the smallest cells there are. [sonic_headroom]"""


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
        shortest: dict[tuple[str, float], float] = {}
        for name, gbit, length_m in worst:
            held = shortest.get((name, gbit), length_m)
            shortest[name, gbit] = min(held, length_m)
        for (name, gbit, length_m), found in worst.items():
            longer = length_m > shortest[name, gbit]
            chip = MAC_BYTES + (TILE_BYTES_PER_GBIT * gbit if _tiled(switch) else 0)
            yield from _judge(found, gbit, length_m, chip if longer else None)


def _tiled(switch: Device) -> bool:
    """Return whether the chip is of tiles: Spectrum-4 and -5, of the SN5000 series."""
    return any(_SN5000.search(one.name) for one in switch.of(Hardware))


def _judge(
    seen: tuple[GroupUse, BufferProfile, CableLength],
    gbit: float,
    length_m: float,
    chip_bytes: float | None,
) -> Found:
    """Judge one profile; by the whole sum where what the chip itself adds is given."""
    _, profile, cable = seen
    if profile.xoff_bytes is None:
        return
    flying = 2 * length_m / LIGHT_M_PER_S * units.rate_from_gbit(gbit)
    least = flying + 2 * _MTU_BYTES
    quanta = QUANTA[min((one for one in QUANTA if one >= gbit), default=800)]
    whole_sum = least + quanta * QUANTUM_BYTES
    longer = chip_bytes is not None
    if chip_bytes is None:
        need = max(least, _VENDORS_RATIO * whole_sum)
    else:
        need = _OCCUPANCY_RATIO * (whole_sum + chip_bytes)
    if profile.xoff_bytes < need:
        enough = max(need, whole_sum)
        yield problem(
            [cable, profile, seen[0]] if longer else [profile, seen[0], cable],
            f"headroom {profile.xoff_bytes} B of {cable.device}: on "
            f"{length_m:g} m at {gbit:g} Gb/s {flying:.0f} B are on the cable and two "
            "frames follow, "
            f"{least:.0f} B at the least and {whole_sum:.0f} B with the peer's answer",
            f"raise xoff to {enough:.0f} B or more"
            + (", or give the long cables a profile of their own" if longer else ""),
        )


headroom_short = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-swss",
    check=_check,
)
