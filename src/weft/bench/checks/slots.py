"""Lanes and generation of the slots of the NICs."""

from weft.bench.check import Check

slots = Check(
    title="slots of the NICs", command='lspci -vv | grep -E "^[0-9a-f]|LnkCap:|LnkSta:"'
)
