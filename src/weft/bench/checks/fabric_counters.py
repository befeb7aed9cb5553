"""Pauses, marks, discards and uneven uplinks while the benchmark runs."""

from weft.bench.check import Check

fabric_counters = Check(
    title="pauses, discards and the load of uplinks during the run",
    command="ethtool -S IFACE; show interfaces counters",
)
