"""The pools and the headroom of all ports are more than the switch has.

What it checks: the ingress pool, and headroom and size of every lossless group on every port,
against the buffer of the switch in the catalogue (by its name in hwsku).
Why it matters: the chip refuses the profile or takes from others: some ports have no headroom.
What to do: shrink the pool by what the headroom of all ports takes.
References: SONiC, BUFFER_POOL; data sheets in weft's catalogue.
"""

from typing import Final

import re2

from weft.lint.facts import BufferPool, BufferProfile, Hardware
from weft.lint.quality import lossless_profiles
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_MODEL: Final = re2.compile(r"(?i)(SN\d{4}C?)")


def _check(case: Case) -> Found:
    for switch in case.switches:
        size = _buffer_bytes(switch)
        pools = [one for one in switch.of(BufferPool) if one.direction == "ingress"]
        taken = sum(
            (profile.size_bytes or 0) * max(1, len(use.ports))
            for use, profile in lossless_profiles(switch)
        )
        shared = sum(one.size_bytes or 0 for one in pools)
        for pool in pools:
            if pool.size_bytes is not None and pool.size_bytes <= 0:
                yield problem(
                    pool, f"{pool.name} of {switch.name} holds nothing", "give it a size"
                )
        if size and pools and shared + taken > size:
            yield problem(
                [*pools, *switch.of(BufferProfile)[:1]],
                f"{switch.name}: pool {shared} B "
                f"+ {taken} B of lossless groups are more than its {size:.0f} B",
                f"shrink the pool to {max(0, size - taken):.0f} B",
            )


def _buffer_bytes(switch: Device) -> float | None:
    from weft.catalogue import find, names  # noqa: PLC0415 - where there is a pool to judge

    for one in switch.of(Hardware):
        match = _MODEL.search(one.name)
        name = match[1].lower() if match else one.name.lower()
        if name in names("switches"):
            buffer = find("switches", name).buffer_bytes
            return buffer.value if buffer else None
    return None


buffer_pool = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
