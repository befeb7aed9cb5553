"""A benchmark's largest messages move at less than half of what the machine should give.

What it checks: all-reduce, all-gather and reduce-scatter of 256 MiB or more against the model
of the server that has these GPUs, when the run used all of them. Where it crosses hosts,
only when the log lists as many adapters as the server has; what cannot be known is not judged
here: `weft bench judge` lays the whole sweep over a cluster file.
Why it matters: nothing failed, so nobody looks, and every step pays for it.
What to do: ask the suspects in order; each leaves its mark in another output.
References: NCCL tests, doc/PERFORMANCE.md; weft's model of collectives, docs/explanation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.catalogue.named import gpu_of
from weft.doctor import job
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    suspect,
    suspected,
)
from weft.observe.facts.base import LinkLayer
from weft.observe.facts.benchmarks import BenchmarkRank, MeasuredCollective
from weft.results import Estimate

_SHORT = (
    r"check_ib_bw\w*: .{0,120}expected > ?[\d.]+ ?\w*, but measured|"
    r"error: (?:bw|msg ?rate) (?:result|peak)?.{0,20}is below .{0,20}limit"
)
_OF_GPUS = re.compile(r"check_ib_bw_gdr|use_cuda|use_rocm")
_LARGE_BYTES = 1 << 28
_SLOWER = 2.0
"""Beyond the band of the model by this factor: no sound server of these GPUs is so slow."""
_NOT_NOISE = 3.0
_ALIKE_RATIO = 0.02
_OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter")
_PRESETS = {
    "a100_sxm_80": "dgx_a100", "h100_sxm": "dgx_h100", "h200_sxm": "dgx_h200",
    "h800_sxm": "hgx_h800", "h20": "hgx_h20", "b200": "dgx_b200", "b300": "dgx_b300",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Where a benchmark ran, as its own lines say."""

    preset: str
    ranks: int
    hosts: int


def _check(facts: Facts) -> Iterator[Finding]:
    yield from _below_a_limit(facts)
    run = _run(facts)
    rows = [
        one for one in facts.of(MeasuredCollective)
        if _operation(one) in _OPERATIONS and one.size_bytes >= _LARGE_BYTES and one.time_s > 0
    ]  # fmt: skip
    if run is None or not rows:
        return
    best = max(rows, key=lambda one: one.size_bytes / one.time_s)
    fair = _expected(run, best)
    if fair is None or best.time_s < _SLOWER * fair.high:
        return
    yield suspected(
        _BETWEEN if run.hosts > 1 else _WITHIN,
        [best, *facts.of(BenchmarkRank)[:2], *job.verbs_adapters(facts)[:4]],
        symptom=Symptom.SLOW,
        severity=_severity(run, best.time_s / fair.high),
        subject=_operation(best),
        message=_message(run, best, best.time_s / fair.value),
        advice="ask the suspects in order; `weft bench judge` tells which fault fits the curve",
    )


def _below_a_limit(facts: Facts) -> Iterator[Finding]:
    """Ask of a transfer between two adapters that a test or a health check found too slow."""
    short = job.said(facts, _SHORT)
    if short:
        of_gpus = any(_OF_GPUS.search(one.evidence.text) for one in short)
        yield suspected(
            _FROM_GPUS if of_gpus else _OF_ADAPTERS,
            short,
            symptom=Symptom.SLOW,
            severity=Severity.WARNING,
            message="a transfer is slower than the limit that its test was given",
            advice="compare the slot and the link of this adapter with those of a sound one",
        )


def _severity(run: _Run, times: float) -> Severity:
    """Return an error only where the machine is known whole and the gap has no other name."""
    sure = run.hosts == 1 and times >= _NOT_NOISE
    return Severity.ERROR if sure else Severity.WARNING


def _message(run: _Run, row: MeasuredCollective, times: float) -> str:
    hosts = "one host" if run.hosts == 1 else f"{run.hosts} hosts"
    return (
        f"{_operation(row)} takes {times:.1f} times as long as on a sound {run.preset} "
        f"({run.ranks} ranks on {hosts})"
    )


def _run(facts: Facts) -> _Run | None:
    """Return where a benchmark ran, if all that the model needs is known."""
    ranks = facts.of(BenchmarkRank)
    names = {one.gpu_name for one in ranks}
    hosts = len({one.host for one in ranks})
    gpu = gpu_of(next(iter(names), "")) if len(names) == 1 else None
    preset = _PRESETS.get(gpu or "")
    if preset is None or not hosts:
        return None
    from weft.spec.load import preset as load  # noqa: PLC0415 - only where there is a benchmark

    cluster = load(preset, hosts=hosts)
    if len(ranks) != hosts * cluster.host.gpus:
        return None
    chosen = job.verbs_adapters(facts)
    used = {one.adapter for one in chosen}
    known = {one.link_layer for one in chosen} == {LinkLayer.INFINIBAND}
    if hosts > 1 and (len(used) < cluster.host.nics or not known):
        return None
    return _Run(preset=preset, ranks=len(ranks), hosts=hosts)


def _operation(row: MeasuredCollective) -> str:
    """Return the operation of a row; where nothing names it, what its two bandwidths tell.

    Of all operations only all-reduce counts each byte almost twice on the bus.
    """
    ranks, algbw, busbw = row.ranks or 0, row.algbw_bytes_per_s, row.busbw_bytes_per_s
    if row.operation or ranks <= 2 or not algbw or not busbw:  # noqa: PLR2004 - all alike there
        return row.operation
    twice = 2 * (ranks - 1) / ranks
    return "all_reduce" if abs(busbw / algbw / twice - 1) < _ALIKE_RATIO else ""


def _expected(run: _Run, row: MeasuredCollective) -> Estimate | None:
    from weft.engines.analytic.collective import collective_time  # noqa: PLC0415 - as above
    from weft.spec.load import preset as load  # noqa: PLC0415 - as above
    from weft.traffic.collective import Group, Operation  # noqa: PLC0415 - as above

    cluster = load(run.preset, hosts=run.hosts)
    group = Group(ranks=run.ranks, ranks_per_domain=run.ranks // run.hosts)
    operation = Operation(_operation(row))
    return collective_time(cluster, operation, float(row.size_bytes), group).time_s


_WITHIN = (
    suspect("nvlink-links-inactive", 0.35),
    suspect(
        "nccl-env-misuse",
        0.3,
        question="is peer access or NVLS switched off (NCCL_P2P_DISABLE, NCCL_NVLS_ENABLE)?",
    ),
    suspect("gpu-thermal-throttle", 0.2),
)
_OF_ADAPTERS = (
    suspect("pcie-link-degraded", 0.4),
    suspect("ib-link-degraded-speed", 0.35),
)
_FROM_GPUS = (
    suspect("pcie-acs-enabled", 0.4),
    suspect("pcie-link-degraded", 0.25),
    suspect("gdr-peermem-not-loaded", 0.15),
)
_BETWEEN = (
    suspect("pcie-acs-enabled", 0.3),
    Suspect(
        cause="gdr-peermem-not-loaded",
        confidence_ratio=0.25,
        question="does the log say GPU Direct RDMA Enabled for every adapter?",
        next_command="lsmod | grep peermem; NCCL_DEBUG=INFO",
    ),
    Suspect(
        cause="ib-link-degraded-speed",
        confidence_ratio=0.2,
        question="do all adapters run at their full rate and width?",
        next_command="ibstat | grep -e CA -e Rate; lspci -vv | grep LnkSta",
    ),
    Suspect(
        cause="hca-selection-wrong",
        confidence_ratio=0.15,
        question="does every rank use the adapter beside its GPU?",
        next_command="nvidia-smi topo -m; NCCL_DEBUG_SUBSYS=GRAPH",
    ),
)

bandwidth_below = Rule(causes=("nvlink-links-inactive", "pcie-acs-enabled"), check=_check)
