"""What the ports carry while the job does not run."""

from weft.bench.check import Check

idle_counters = Check(
    title="bytes of the ports while nothing of this job runs",
    command="perfquery -x; ethtool -S IFACE",
)
