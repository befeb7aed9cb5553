"""The clock of the CPUs while the job runs."""

from weft.bench.check import Check

cpu_clock = Check(title="clock of the CPUs during the run", command="cpupower frequency-info")
