"""NVIDIA Cluster Readiness Engine: its custom resources have no field for a threshold."""

from weft.generate.gate import Gate

nvcre = Gate(
    title="Cluster Readiness Engine",
    source="https://docs.nvidia.com/cluster-readiness-engine/v0.7.0/how-to-guides/run-nccl-benchmarks",
    refuses="its thresholds are built in by architecture, and no resource takes one; compare "
    "the bus bandwidth that it reports with weft bench judge",
)
