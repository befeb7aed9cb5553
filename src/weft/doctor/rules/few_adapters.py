"""A job on many GPUs uses one adapter of several.

What it checks: adapters in use on each host against those that are active there.
Why it matters: every adapter left out takes its rail's share of the bandwidth with it.
What to do: list them all in NCCL_IB_HCA, or unset it.
References: NCCL user guide, NCCL_IB_HCA; rail-optimised topologies.
"""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, finding
from weft.observe.facts.base import LinkLayer

_FEW_RATIO = 0.5


def _check(facts: Facts) -> Iterator[Finding]:
    used = {one.adapter for one in job.verbs_adapters(facts)}
    layers = {one.link_layer for one in job.verbs_adapters(facts)} - {LinkLayer.UNKNOWN}
    there = {
        one.adapter for one in job.active_ports(facts)
        if not layers or one.link_layer in layers
    }  # fmt: skip
    rates = {one.rate_bytes_per_s for one in job.active_ports(facts) if one.adapter in there}
    alike = len(rates) == 1
    if used and used < there and alike and len(used) <= _FEW_RATIO * len(there):
        yield finding(
            "hca-selection-wrong",
            [*job.settings(facts, "NCCL_IB_HCA"), *job.verbs_adapters(facts)],
            0.55,
            severity=Severity.WARNING,
            message=f"the job uses {len(used)} of {len(there)} active adapters of one kind",
            advice="list all adapters of the compute network in NCCL_IB_HCA, or unset it",
            next_command="ibdev2netdev; nvidia-smi topo -m",
            fault=Fault.RAIL_LOST,
            left_ratio=len(used) / len(there),
        )


few_adapters = Rule(causes=("hca-selection-wrong",), check=_check)
